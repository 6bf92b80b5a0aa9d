"""YAML with places: the tree of a text, plain values of it, and where each value stands."""

import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

from workbench.core.text import clean_for_store
from workbench.formats.shared.jsontext import MAX_DEPTH

_MAX_VALUES = 100_000
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[+-]?[0-9]{1,18}")

__all__ = ["MappingNode", "Node", "ScalarNode", "SequenceNode", "compose", "end_of", "entries", "plain"]


def compose(text: str) -> Node | None:
    """Return the tree of one document. Raises `DamagedYaml`."""
    parser = YAML(typ="safe", pure=True)
    parser.Scanner = _Scanner
    try:
        found = parser.compose(text)
    except DamagedYaml:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DamagedYaml(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else 1) from None
    except YAMLError as error:
        reason = str(getattr(error, "reason", "")) or "it cannot be parsed"
        at = getattr(error, "position", 0)
        raise DamagedYaml(f"not YAML: {reason}", text.count("\n", 0, at) + 1) from None
    except RecursionError:
        raise DamagedYaml("nested too deeply to be read", 1) from None
    except (ValueError, IndexError, AttributeError) as error:
        # The parser stumbles over some malformed directives and escapes instead of refusing them.
        raise DamagedYaml(f"not YAML: {error}", 1) from None
    return found if isinstance(found, Node) else None


class DamagedYaml(ValueError):
    """A YAML text is damaged at `line`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


class _Scanner(Scanner):
    """Gives up where brackets are nested too deeply: with each more that is open every sign takes longer to read."""

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: str) -> None:  # noqa: N803
        super().fetch_flow_collection_start(TokenClass, to_push)
        if self.flow_level > MAX_DEPTH:
            raise DamagedYaml(f"nested more than {MAX_DEPTH} levels deep", self.reader.line + 1)


def entries(node: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield the keys of a mapping as text, with the nodes of key and value; a key used twice counts once, the last."""
    if isinstance(node, MappingNode):
        last = {key.value: index for index, (key, _) in enumerate(node.value) if isinstance(key, ScalarNode)}
        yield from ((key.value, key, value) for index, (key, value) in enumerate(node.value)
                    if isinstance(key, ScalarNode) and last[key.value] == index)  # fmt: skip


def plain(node: Node) -> object:
    """Return the value of a node as JSON has it; times stay text. Raises `ValueError` when it grows out of hand."""
    return _Plain().value(node, 0)


class _Plain:
    """Counts what it makes, as a few aliases can stand for billions of values."""

    def __init__(self) -> None:
        self.made = 0

    def value(self, node: Node, depth: int) -> object:
        self.made += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        if self.made > _MAX_VALUES:
            raise ValueError(f"more than {_MAX_VALUES:,} values in one record")
        if isinstance(node, SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, MappingNode):
            return {clean_for_store(key): self.value(value, depth + 1) for key, _, value in entries(node)}
        return _scalar(node)


def _scalar(node: Node) -> object:
    text, tag = clean_for_store(str(node.value)), str(node.tag).removeprefix(_TAG)
    if tag == "null":
        return None
    if tag == "bool":
        return text.lower() == "true"
    if tag == "int" and _INT.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    if tag == "float":
        try:
            number = float(text)
        except ValueError:
            return text
        return number if number - number == 0 else None
    return text


def end_of(node: Node, text: str) -> int:
    """Return where the last character of a node stands, without the white space and comments that follow it."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1][1] if isinstance(node, MappingNode) else node.value[-1]
        if last.start_mark.index >= node.start_mark.index:
            return max(end_of(last, text), node.value[-1][0].end_mark.index if isinstance(node, MappingNode) else 0)
    start, end = node.start_mark.index, node.end_mark.index
    return int(start + len(text[start:end].rstrip()))
