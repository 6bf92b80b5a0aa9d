"""Writing a skillbook: changed skills in place, and the lists of the sections whose members changed."""

from collections.abc import Iterable, Mapping, Sequence

from workbench.core.files.format import Parsed
from workbench.core.playbook.book import Bullet, Playbook, next_number
from workbench.formats.shared import books
from workbench.formats.shared.jsonrecords import member, rewritten
from workbench.formats.shared.jsonstyle import Style, dumps, replacement, style_of
from workbench.formats.shared.jsontree import Lines, Node, indentation, rewrite, scan_file
from workbench.formats.shared.records import Doc, fresh, restored
from workbench.formats.shared.report import Report
from workbench.formats.skillbook import entry as skillbook_entry
from workbench.formats.skillbook.entry import KEYS, NAME
from workbench.formats.skillbook.reading import INSIDE, bullets_by_entry, listing, playbook, records

_NEW = Style()


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed`; with `original`, only what changed in it is new."""
    book = parsed.playbooks[0] if parsed.playbooks else None
    if original is not None and book is not None:
        return _woven(book, original)
    bullets = books.named(book) if book else {}
    groups = {name: books.grouped(bullets).get(name, []) for name in books.titles(book)} if book else {}
    doc = {
        "skills": {name: _document(bullet) for name, bullet in bullets.items()},
        "sections": {**groups, **books.grouped(bullets)},
        "next_id": _highest(bullets.values()),
        "similarity_decisions": {},
    }
    return dumps(doc, _NEW)


def _document(bullet: Bullet) -> Doc:
    return restored(bullet, KEYS, NAME, skillbook_entry.again) or fresh(bullet, KEYS)


def _woven(book: Playbook, original: str) -> str:
    root, style = scan_file(original, "the file", INSIDE), style_of(original)
    skills = records(root)
    if skills is None:
        return original
    _, listed = listing(root)
    old, new = bullets_by_entry(skills, listed), books.named(book)
    before = books.named(playbook(root, skills, "", Lines(""), Report("")))

    def entry(bullet: Bullet, outer: str) -> str:
        return member(bullet.id, _document(bullet), style, outer)

    values: dict[int, str | None] = {}
    for index, found in enumerate(root.entries):
        if found.inner is skills:
            values[index] = rewritten(original, skills, old, new, lambda _: KEYS, entry, style)
        elif found.inner is not None and found.inner is root.inside("sections", "{"):
            values[index] = _sections(original, found.inner, before, new, books.titles(book), style)
        elif found.key == "next_id" and isinstance(found.value, int):
            number = _highest(bullet for name, bullet in new.items() if name not in before)
            values.update({index: str(number)} if number > max(found.value, 0) else {})
    body = rewrite(original, root, values, (), style)
    return original[: root.start] + body + original[root.end :]


def _sections(
    text: str, node: Node, old: Mapping[str, Bullet], new: Mapping[str, Bullet], titles: Sequence[str], style: Style
) -> str:
    """Return the lists of the sections, changed only where the members of a section changed."""
    before, after = books.grouped(old), books.grouped(new)
    rank = {name: index for index, name in enumerate(new)}
    values: dict[int, str | None] = {}
    for index, entry in enumerate(node.entries):
        name = str(entry.key)
        was, now = before.get(name, []), after.get(name, [])
        listed = [item for item in entry.value if isinstance(item, str)] if isinstance(entry.value, list) else []
        if was == now:
            continue
        if not now and name not in titles:
            values[index] = None
            continue
        raw = text[entry.at : entry.end]
        ids = _merged(listed, set(old), sorted(now, key=rank.__getitem__))
        values[index] = replacement(ids, style, raw if listed else "\n", indentation(text, entry.start))
    known = {str(entry.key) for entry in node.entries}
    outer = indentation(text, node.start) + style.unit
    names = [
        name
        for name in dict.fromkeys((*titles, *after))
        if name not in known and (name not in before or before[name] != after.get(name, []))
    ]
    return rewrite(text, node, values, [member(name, after.get(name, []), style, outer) for name in names], style)


def _merged(listed: list[str], known: set[str], wanted: list[str]) -> list[str]:
    """Return `wanted`, with what the list names beyond the file's skills left in its place."""
    rest = iter(wanted)
    out: list[str] = []
    for item in listed:
        if item not in known:
            out.append(item)
        elif (following := next(rest, None)) is not None:
            out.append(following)
    return [*out, *rest]


def _highest(bullets: Iterable[Bullet]) -> int:
    """Return the highest number an id ends in, as the tool counts on from there."""
    return next_number(tuple(bullets)) - 1
