"""Changing single values of the front matter that a Markdown file begins with; every other byte of it stays."""

import re
from collections.abc import Mapping, Sequence

from workbench.core.files.textedit import Edit, applied, newline_of
from workbench.formats.shared.yamledit import changed, line_end, scalar
from workbench.formats.shared.yamltree import DamagedYaml, MappingNode, Node, SequenceNode, compose, entries, plain
from workbench.formats.update_file.merge_lines import Unplaced

Value = str | int | Sequence[str]
"""What front matter says of a name: a text, a number, or a list of texts."""

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def has_front(text: str) -> bool:
    """Tell whether a text begins with front matter in which values can be changed."""
    found = _FRONT.match(text)
    try:
        return found is not None and isinstance(compose(found[1]), MappingNode)
    except DamagedYaml:
        return False


def placed(text: str, values: Mapping[str, Value], *, makes_front: bool) -> str:
    """Return a text whose front matter says these values where it has some, or is to get some; else the text."""
    if values and has_front(text):
        return with_facts(text, values)
    if not values or not makes_front or _FRONT.match(text) is not None:
        return text
    mark, newline = text[: text.startswith("\ufeff")], newline_of(text)
    plain = ((name, value if isinstance(value, str | int) else list(value)) for name, value in values.items())
    lines = "".join(f"{name}: {scalar(value)}{newline}" for name, value in plain)
    return f"{mark}---{newline}{lines}---{newline}{text[len(mark) :]}"


def with_facts(text: str, values: Mapping[str, Value]) -> str:
    """Return a text whose front matter says these values; a new name gets a line at its end, a list keeps its form.

    Raises `Unplaced` when there is no front matter, or none that can be read.
    """
    for name, value in values.items():
        found = _FRONT.match(text)
        if found is None:
            raise Unplaced("it has no front matter")
        text = text[: found.start(1)] + _with(found[1], name, value) + text[found.end(1) :]
    return text


def _with(front: str, name: str, value: Value) -> str:
    try:
        node = compose(front)
    except DamagedYaml as error:
        raise Unplaced(f"its front matter is {error}") from None
    if not isinstance(node, MappingNode):
        raise Unplaced("its front matter has no names and values")
    old = next((there for known, _, there in entries(node) if known == name), None)
    if isinstance(value, str | int):
        return applied(front, changed(front, node, {name: value}))
    if isinstance(old, SequenceNode) and not old.flow_style and old.value:
        return applied(front, _listed(front, old, value))
    is_list = old is None or isinstance(old, SequenceNode)
    return applied(front, changed(front, node, {name: list(value) if is_list else ", ".join(value)}))


def _listed(front: str, old: SequenceNode, wanted: Sequence[str]) -> list[Edit]:
    """Return the edits that take lines out of a list, or add lines below it; each item stands on one."""
    said = [(str(plain(item)), item) for item in old.value]
    edits: list[Edit] = []
    for value, item in said:
        if value not in wanted:
            edits.append((_line_start(front, item), _after_line(front, item), ""))
    last: Node = said[-1][1]
    start, known = _line_start(front, last), {value for value, _ in said}
    lead, newline = front[start : last.start_mark.index], newline_of(front)
    new = "".join(f"{lead}{scalar(value, None)}{newline}" for value in wanted if value not in known)
    return [*edits, (_after_line(front, last), _after_line(front, last), new)] if new else edits


def _line_start(front: str, item: Node) -> int:
    return front.rfind("\n", 0, item.start_mark.index) + 1


def _after_line(front: str, item: Node) -> int:
    end = front.find("\n", line_end(front, item.start_mark.index))
    return len(front) if end < 0 else end + 1
