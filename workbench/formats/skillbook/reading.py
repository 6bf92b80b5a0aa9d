"""Reading a skillbook: skills by id, in the order of the sections that list them."""

from collections.abc import Iterator

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Parsed, ReadContext
from workbench.core.playbook.book import Bullet, Playbook
from workbench.formats.shared import books
from workbench.formats.shared.jsontree import Lines, Node, scan_file
from workbench.formats.shared.report import Report, shown
from workbench.formats.skillbook import entry as skillbook_entry
from workbench.formats.skillbook.entry import NAME

INSIDE = frozenset({"skills", "bullets", "sections"})


def read(text: str, context: ReadContext) -> Parsed:
    """Read every skill that can be read. Raises `UnreadableFile` when the text holds no object of skills."""
    report, root, lines = Report(context.file), scan_file(text, context.file, INSIDE), Lines(text)
    skills = records(root)
    if skills is None:
        reason = f"{context.file} has no “skills” object" + (f": {root.damage}." if root.damage else ".")
        raise UnreadableFile(reason, "Nothing was read from it.")
    book = playbook(root, skills, context.file, lines, report)
    if root.damage:
        report.skip(lines.at(root.damage_at), root.damage)
    return report.parsed(NAME, playbooks=(book,))


def bullets_by_entry(skills: Node, listed: dict[str, str]) -> dict[int, Bullet]:
    """Return the readable skills by the index of their entry; the section of each is a name."""
    return dict(_bullets(skills, Lines(""), listed, Report("")))


def playbook(root: Node, skills: Node, file: str, lines: Lines, report: Report) -> Playbook:
    """Return the playbook of the skills, in the order of the sections that list them."""
    names, listed = listing(root)
    found = [bullet for _, bullet in _bullets(skills, lines, listed, report)]
    known = {str(entry.key) for entry in skills.entries}
    for name, section in listed.items():
        if name not in known and not root.damage:
            report.remark(1, f"the section {shown(section)} lists {shown(name)}, which no skill has")
    return books.playbook(file, names, _in_order(found, names, listed))


def records(root: Node) -> Node | None:
    """Return the object of skills."""
    return next((found for key in ("skills", "bullets") if (found := root.inside(key, "{")) is not None), None)


def listing(root: Node) -> tuple[list[str], dict[str, str]]:
    """Return the section names in order, and the section each id is first listed in."""
    found = root.inside("sections", "{")
    if found is None:
        return [], {}
    listed: dict[str, str] = {}
    for entry in found.entries:
        for name in entry.value if isinstance(entry.value, list) else ():
            if isinstance(name, str):
                listed.setdefault(name, str(entry.key))
    return [str(entry.key) for entry in found.entries], listed


def _bullets(skills: Node, lines: Lines, listed: dict[str, str], report: Report) -> Iterator[tuple[int, Bullet]]:
    seen: dict[str, int] = {}
    for index, entry in enumerate(skills.entries):
        line, name = lines.at(entry.start), str(entry.key)
        try:
            if name in seen:
                raise ValueError(f"the id {shown(name)} was already used on line {seen[name]}")
            bullet, notes = skillbook_entry.bullet(name, entry.value, listed.get(name))
        except ValueError as reason:
            report.skip(line, str(reason))
            continue
        seen[name] = line
        report.mapped_all(notes, entry.changes)
        if listed.get(name, bullet.section) != bullet.section:
            said = f"{shown(name)} is listed under {shown(listed[name])} but says {shown(bullet.section)}"
            report.remark(line, f"{said}: read as it says")
        yield index, bullet


def _in_order(found: list[Bullet], names: list[str], listed: dict[str, str]) -> list[tuple[str, Bullet]]:
    """Put the skills in the order of the sections and of their lists; unlisted ones follow in file order."""
    place = {name: index for index, name in enumerate(names)}
    rank = {name: index for index, name in enumerate(listed)}
    ordered = sorted(found, key=lambda b: (place.get(b.section, len(place)), rank.get(b.id, len(rank))))
    return [(bullet.section, bullet) for bullet in ordered]
