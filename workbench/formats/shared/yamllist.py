"""A YAML file that is mostly one list of records: its tree; of a damaged file, the records above the damage."""

import re
from dataclasses import dataclass

from workbench.core.errors import UnreadableFile
from workbench.formats.shared.yamltree import DamagedYaml, Node, SequenceNode, compose, entries, plain

_TRIES = 4
_ITEM = re.compile(r"^[ \t]*- ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tree:
    """A file as a tree: its keys with their nodes, the key of its list, and the damage that ended it early."""

    name: str
    top: dict[str, tuple[Node, Node]]
    damage: str = ""
    line: int = 0

    @property
    def listed(self) -> SequenceNode | None:
        """The list of records."""
        found = self.top.get(self.name)
        return found[1] if found is not None and isinstance(found[1], SequenceNode) else None

    @property
    def empty(self) -> bool:
        """Whether the file says that it has no records (its key with nothing behind it)."""
        found = self.top.get(self.name)
        return found is not None and plain(found[1]) is None


def tree(text: str, file: str, list_name: str) -> Tree:
    """Return the tree of a file. Raises `UnreadableFile` when it is no YAML, or has no list of that name."""
    damage, line, part = "", 0, text
    for _ in range(_TRIES):
        try:
            root = compose(part)
        except DamagedYaml as error:
            damage, line = damage or str(error), line or error.line
            part = _before(part, error.line)
            continue
        found = Tree(
            list_name, {name: (key, value) for name, key, value in entries(root)} if root else {}, damage, line
        )
        nothing = found.listed is None or not found.listed.value
        if nothing and (damage or not (found.listed is not None or found.empty)):
            damage = damage or f"it has no list of “{list_name}”"
            break
        return found
    where = f" (line {line})" if line else ""
    raise UnreadableFile(f"{file} cannot be read: {damage}{where}.", "Nothing was read from it.")


def _before(text: str, line: int) -> str:
    """Cut a text before the list item that the damaged line belongs to."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1 or len(text)
    starts = [found.start() for found in _ITEM.finditer(text, 0, at)]
    return text[: starts[-1]] if starts else ""
