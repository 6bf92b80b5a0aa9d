"""Skillbook JSON: `{skills: {id: …}, sections: {name: [ids]}, next_id, …}`; older files say
`bullets` for `skills`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from workbench.core.files.format import Format, Layout, Parsed, ReadContext, Reason, Signature
from workbench.core.playbook.book import Bullet, Playbook, next_number
from workbench.core.record import as_list, iso
from workbench.formats.patch import Lines, Node, dumps, opened, patch, scan_file
from workbench.formats.shared import books, values
from workbench.formats.shared.records import (
    Doc,
    Key,
    fresh,
    remembered,
    restored,
    take,
    take_count,
    with_records,
)
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, an_object

NAME = "skillbook"
OTHERS = "others"


def _times(bullet: Bullet) -> str | None:
    return iso(bullet.created_at) if bullet.created_at else None


KEYS: tuple[Key[Bullet], ...] = (
    Key("id", lambda bullet: bullet.id),
    Key("section", lambda bullet: bullet.section),
    Key("content", lambda bullet: bullet.content),
    Key("helpful", lambda bullet: bullet.helpful_count),
    Key("harmful", lambda bullet: bullet.harmful_count),
    Key("neutral", lambda bullet: bullet.neutral_count),
    Key("created_at", _times),
    Key("status", lambda bullet: "active" if bullet.state == "active" else "invalid"),
)


def bullet(name: str, doc: Any, listed: str | None) -> tuple[Bullet, Notes]:
    """Read one skill; its section is a name. `listed` is the section whose list it stands in.

    Raises `ValueError` when it has no content.
    """
    doc = an_object(doc, "a skill")
    content, notes = doc.get("content"), Notes()
    if not isinstance(content, str):
        raise ValueError("it has no content")
    section = take(doc, "section", values.text, listed, notes) or listed or OTHERS
    found = Bullet(
        id=name,
        section=section,
        content=content,
        helpful_imported=take_count(doc, "helpful", notes),
        harmful_imported=take_count(doc, "harmful", notes),
        neutral_count=take_count(doc, "neutral", notes),
        created_at=take(doc, "created_at", values.time, None, notes),
        state="active" if doc.get("status") in (None, "active") else "deprecated",
    )
    if doc.get("status") not in (None, "active", "invalid"):
        notes.append(("status", f"{shown(doc['status'])} read as deprecated"))
    return remembered(found, doc, KEYS, NAME), notes


def again(doc: Doc) -> Bullet:
    """Read a skill from its own document alone."""
    return bullet(str(doc.get("id", "")), doc, None)[0]


INSIDE = frozenset({"skills", "bullets", "sections"})


_SIGNATURE = Signature(
    "a JSON object of “skills” by id",
    (
        r'\A\s*\{\s*"(?:skills|bullets|sections|next_id|schema_version)"\s*:',
        r'"(?:skills|bullets)"\s*:\s*\{',
    ),
    0.5,
    r'"(?:next_id|similarity_decisions|justification|helpful|harmful|neutral)"\s*:',
    0.45,
)


def read(text: str, context: ReadContext) -> Parsed:
    """Read every skill that can be read. Raises `UnreadableFile` when the text holds no object of
    skills.
    """
    report = Report(context.file)
    root, lines = opened(text, report, INSIDE, records, "“skills” object")
    return report.parsed(NAME, playbooks=(playbook(root, context.file, lines, report),))


def playbook(root: Node, file: str, lines: Lines, report: Report) -> Playbook:
    """Return the playbook of the skills, in the order of the sections that list them."""
    names, listed = listing(root)
    found = list(_bullets(root, lines, listed, report))
    skills = records(root)
    known = {str(entry.key) for entry in skills.entries} if skills is not None else set[str]()
    for name, section in listed.items():
        if name not in known and not root.damage:
            pattern = "the section {} lists {}, which no skill has"
            report.remark(1, Reason(pattern, (shown(section), shown(name))))
    return books.playbook(file, names, _in_order(found, names, listed))


def records(root: Node) -> Node | None:
    """Return the object of skills."""
    return root.inside("{", "skills", "bullets")


def listing(root: Node) -> tuple[list[str], dict[str, str]]:
    """Return the section names in order, and the section each id is first listed in."""
    found = root.inside("{", "sections")
    if found is None:
        return [], {}
    listed: dict[str, str] = {}
    for entry in found.entries:
        for name in entry.value if isinstance(entry.value, list) else ():
            if isinstance(name, str):
                listed.setdefault(name, str(entry.key))
    return [str(entry.key) for entry in found.entries], listed


def _bullets(root: Node, lines: Lines, listed: dict[str, str], report: Report) -> Iterator[Bullet]:
    node = records(root)
    entries = ((lines.at(e.start), e, e.changes) for e in (node.entries if node else ()))
    for line, skill in report.each(
        entries, lambda e: bullet(str(e.key), e.value, listed.get(str(e.key)))
    ):
        if listed.get(skill.id, skill.section) != skill.section:
            values = (shown(skill.id), shown(listed[skill.id]), shown(skill.section))
            report.remark(
                line, Reason("{} is listed under {} but says {}: read as it says", values)
            )
        yield skill


def _in_order(
    found: list[Bullet], names: list[str], listed: dict[str, str]
) -> list[tuple[str, Bullet]]:
    """Put the skills in the order of the sections and of their lists; unlisted ones follow in file
    order.
    """
    place = {name: index for index, name in enumerate(names)}
    rank = {name: index for index, name in enumerate(listed)}
    ordered = sorted(
        found, key=lambda b: (place.get(b.section, len(place)), rank.get(b.id, len(rank)))
    )
    return [(bullet.section, bullet) for bullet in ordered]


_NEW = Layout()


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed`; with `original`, only what changed in it is new."""
    book = parsed.playbooks[0] if parsed.playbooks else None
    if original is not None and book is not None:
        return _woven(book, original)
    bullets = books.named(book) if book else {}
    empty: dict[str, list[str]] = {name: [] for name in books.titles(book)} if book else {}
    doc = {
        "skills": {name: _document(bullet) for name, bullet in bullets.items()},
        "sections": empty | books.grouped(bullets),
        "next_id": _highest(bullets.values()),
        "similarity_decisions": {},
    }
    return dumps(doc, _NEW)


def _document(bullet: Bullet) -> Doc:
    return restored(bullet, KEYS, NAME, again) or fresh(bullet, KEYS)


def _woven(book: Playbook, original: str) -> str:
    root = scan_file(original, "the file", INSIDE)
    skills = records(root)
    if skills is None:
        return original
    new, value = books.named(book), root.value
    before = books.named(playbook(root, "", Lines(""), Report("")))
    name = "skills" if root.inside("{", "skills") is skills else "bullets"
    kept, added = with_records(skills.value, new, partial(_found, before), lambda _: KEYS)
    value[name] = kept | {bullet.id: _document(bullet) for bullet in added}
    if root.inside("{", "sections") is not None:
        value["sections"] = _sections(value["sections"], before, new, books.titles(book))
    number = _highest(added)
    if type(value.get("next_id")) is int and number > max(value["next_id"], 0):
        value["next_id"] = number
    return patch(original, value, root)


def _found(skills: Mapping[str, Bullet], name: str, *_: object) -> Bullet:
    if name not in skills:
        raise ValueError("not read")
    return skills[name]


def _sections(
    lists: Mapping[str, Any],
    old: Mapping[str, Bullet],
    new: Mapping[str, Bullet],
    titles: Sequence[str],
) -> dict[str, Any]:
    """Return the lists of the sections, changed only where the members of a section changed."""
    before, after = books.grouped(old), books.grouped(new)
    rank = {name: index for index, name in enumerate(new)}
    out: dict[str, Any] = {}
    for name, ids in lists.items():
        now = after.get(name, [])
        if before.get(name, []) == now:
            out[name] = ids
        elif now or name in titles:
            known = [item for item in as_list(ids) if isinstance(item, str)]
            out[name] = _merged(known, set(old), sorted(now, key=rank.__getitem__))
    for name in (*titles, *after):
        if name not in lists and (name not in before or before[name] != after.get(name, [])):
            out[name] = after.get(name, [])
    return out


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


FORMAT = Format(
    NAME,
    "skillbook (JSON)",
    _SIGNATURE,
    read,
    write,
    holds="playbook",
    suffix=".json",
    endings=(".json",),
)
