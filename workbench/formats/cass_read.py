"""Reading a cass playbook; of a damaged file, the bullets above the damage."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.core.errors import UnreadableFile
from workbench.core.playbook import Bullet
from workbench.formats import books
from workbench.formats.cass_entry import NAME, bullet
from workbench.formats.model import Parsed, ReadContext
from workbench.formats.report import Report, shown
from workbench.formats.yamltree import DamagedYaml, Node, SequenceNode, compose, entries, plain

_TRIES = 4
_ITEM = re.compile(r"^[ \t]*- ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tree:
    """A playbook file as a tree: its keys with their nodes, and the damage that ended it early."""

    top: dict[str, tuple[Node, Node]]
    damage: str = ""
    line: int = 0

    @property
    def listed(self) -> SequenceNode | None:
        """The list of bullets."""
        found = self.top.get("bullets")
        return found[1] if found is not None and isinstance(found[1], SequenceNode) else None

    @property
    def empty(self) -> bool:
        """Whether the file says that it has no bullets (`bullets:` with nothing behind it)."""
        found = self.top.get("bullets")
        return found is not None and plain(found[1]) is None


def tree(text: str, file: str) -> Tree:
    """Return the tree of a file. Raises `UnreadableFile` when it is no YAML, or has no bullets."""
    damage, line, part = "", 0, text
    for _ in range(_TRIES):
        try:
            root = compose(part)
        except DamagedYaml as error:
            damage, line = damage or str(error), line or error.line
            part = _before(part, error.line)
            continue
        found = Tree({name: (key, value) for name, key, value in entries(root)} if root else {}, damage, line)
        nothing = found.listed is None or not found.listed.value
        if nothing and (damage or not (found.listed is not None or found.empty)):
            damage = damage or "it has no list of “bullets”"
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


def read(text: str, context: ReadContext) -> Parsed:
    """Read every bullet that can be read. Raises `UnreadableFile` when the text holds no list of bullets."""
    report, whole = Report(context.file), tree(text, context.file)
    found = [item for _, item in bullets(whole, report)]
    if whole.damage:
        report.skip(whole.line, whole.damage)
    patterns = whole.top.get("deprecatedPatterns")
    if patterns is not None and isinstance(patterns[1], SequenceNode) and patterns[1].value:
        number = len(patterns[1].value)
        line = patterns[0].start_mark.line + 1
        report.skip(line, f"deprecated patterns are no bullets: not read ({number:,} of them)", number)
    book = books.playbook(context.file, [], [(item.section, item) for item in found])
    return report.parsed(NAME, playbooks=(book,))


def bullets(whole: Tree, report: Report) -> Iterator[tuple[int, Bullet]]:
    """Yield the readable bullets by their place in the list; the section of each is its category."""
    seen: dict[str, int] = {}
    for index, node in enumerate(whole.listed.value if whole.listed is not None else ()):
        line = node.start_mark.line + 1
        try:
            item, notes = bullet(plain(node))
            if item.id in seen:
                raise ValueError(f"the id {shown(item.id)} was already used on line {seen[item.id]}")
        except ValueError as reason:
            report.skip(line, str(reason))
            continue
        seen[item.id] = line
        report.mapped_all(notes)
        yield index, item
