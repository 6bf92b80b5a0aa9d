"""Reading a cass playbook; of a damaged file, the bullets above the damage."""

from collections.abc import Iterator

from workbench.core.files.format import Parsed, ReadContext
from workbench.core.files.reason import Unread
from workbench.core.playbook.book import Bullet
from workbench.formats.cass.entry import NAME, bullet
from workbench.formats.shared import books
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.yamllist import Tree, tree
from workbench.formats.shared.yamltree import SequenceNode, plain

LIST = "bullets"
"""The key of the list."""


def read(text: str, context: ReadContext) -> Parsed:
    """Read every bullet that can be read. Raises `UnreadableFile` when the text holds no list of bullets."""
    report, whole = Report(context.file), tree(text, context.file, LIST)
    found = [item for _, item in bullets(whole, report)]
    if whole.damage:
        report.skip(whole.line, whole.damage)
    patterns = whole.top.get("deprecatedPatterns")
    if patterns is not None and isinstance(patterns[1], SequenceNode) and patterns[1].value:
        number = len(patterns[1].value)
        line = patterns[0].start_mark.line + 1
        report.no_records(line, f"deprecated patterns are no bullets ({number:,} of them)", number)
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
                raise Unread("the id {} was already used on line {}", shown(item.id), seen[item.id])
        except ValueError as reason:
            report.skip(line, reason)
            continue
        seen[item.id] = line
        report.mapped_all(notes)
        yield index, item
