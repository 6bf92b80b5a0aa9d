"""Writing a cass playbook: the values that changed, in place; everything else byte by byte as it was."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.core.files.format import Parsed, ReadContext
from workbench.core.files.lint import Edit, applied, newline_of
from workbench.core.files.reason import Unread
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidRecord, iso
from workbench.formats.cass.entry import KEYS, NAME, bullet, document
from workbench.formats.shared import books
from workbench.formats.shared.records import changes
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.yamledit import Node, SequenceNode, Tree, changed, end_of, flow, line_end, plain, tree

# Reading a cass playbook; of a damaged file, the bullets above the damage.


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


_HEAD = (
    "schema_version: 2", "name: {name}", 'description: ""', "metadata:", "  createdAt: {since}",
    "  totalReflections: 0", "  totalSessionsProcessed: 0", "deprecatedPatterns: []",
)  # fmt: skip


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed`; with `original`, only what changed in it is new.

    Raises `InvalidRecord` when the file is laid out in a way that a change cannot be fitted into.
    """
    book = parsed.playbooks[0] if parsed.playbooks else None
    if original is not None and book is not None:
        return _woven(books.named(book), original)
    name = flow(book.book.name if book else "playbook")
    times = [bullet.created_at for bullet in (book.bullets if book else ()) if bullet.created_at]
    since = flow(iso(min(times))) if times else ""
    head = [line.replace("{name}", name).replace("{since}", since) for line in _HEAD if since or "{since}" not in line]
    items = [_item(bullet, "  ", "\n") for bullet in (books.named(book).values() if book else ())]
    last = ["bullets:" + "".join(f"\n{item}" for item in items) if items else "bullets: []"]
    return "\n".join(head + last) + "\n"


def _item(bullet: Bullet, indent: str, newline: str) -> str:
    """Write a new item of the list, without a line end."""
    lines = [f"{key}: {flow(value)}" for key, value in document(bullet).items()]
    return f"{indent}- " + f"{newline}{indent}  ".join(lines)


def _woven(new: Mapping[str, Bullet], original: str) -> str:
    whole = tree(original, "the file", LIST)
    old = dict(bullets(whole, Report("")))
    edits, gone = list[Edit](), list[int]()
    listed = whole.listed.value if whole.listed is not None else []
    for index, before in old.items():
        after = new.get(before.id)
        if after is None:
            gone.append(index)
        elif found := changes(before, after, KEYS):
            edits += changed(original, listed[index], found)
    known = {bullet.id for bullet in old.values()}
    added = [bullet for name, bullet in new.items() if name not in known]
    if gone or added:
        edits += _members(original, whole, edits, gone, added)
    if not edits:
        return original
    text = applied(original, edits)
    _check(text, new, whole.damage)
    return text


def _members(text: str, whole: Tree, edits: list[Edit], gone: Sequence[int], added: Sequence[Bullet]) -> list[Edit]:
    """Return the edits that take items out of the list and put items at its end."""
    listed, newline = whole.listed, newline_of(text)
    if listed is None or not listed.value or (len(gone) == len(listed.value)) or listed.flow_style:
        return _rebuilt(text, whole, edits, gone, added)
    out = [_without(text, item) for index, item in enumerate(listed.value) if index in gone]
    if added:
        at = line_end(text, end_of(listed, text))
        indent = " " * listed.start_mark.column
        out.append((at, at, "".join(newline + _item(bullet, indent, newline) for bullet in added)))
    return out


def _without(text: str, item: Node) -> Edit:
    """Return the edit that removes an item from its dash to the end of its last line."""
    dash = text.rindex("-", 0, item.start_mark.index)
    start = text.rfind("\n", 0, dash) + 1
    end = line_end(text, end_of(item, text))
    stop = text.find("\n", end)
    if stop < 0 and start:
        # The last line goes with the line end before it.
        return (start - 1 - (text[start - 2 : start - 1] == "\r"), len(text), "")
    return (start, len(text) if stop < 0 else stop + 1, "")


def _rebuilt(text: str, whole: Tree, edits: list[Edit], gone: Sequence[int], added: Sequence[Bullet]) -> list[Edit]:
    """Return the edit that writes the whole list: one in brackets, an empty one, or one that becomes empty."""
    key, value = whole.top["bullets"]
    listed, newline = whole.listed, newline_of(text)
    start = text.index(":", key.end_mark.index) + 1
    end = (
        start if whole.empty and not value.end_mark.index > value.start_mark.index else max(end_of(value, text), start)
    )
    if listed is not None and listed.flow_style and listed.value:
        kept = [item for index, item in enumerate(listed.value) if index not in gone]
        parts = [applied(text[: item.end_mark.index], _inside(edits, item))[item.start_mark.index :] for item in kept]
        edits.clear()
        return [(start, end, " [" + ", ".join([*parts, *(flow(document(bullet)) for bullet in added)]) + "]")]
    edits.clear()
    if not added:
        return [(start, end, " []")]
    column = " " * (listed.start_mark.column if listed is not None and listed.value else 2)
    return [(start, end, "".join(newline + _item(bullet, column, newline) for bullet in added))]


def _inside(edits: list[Edit], item: Node) -> list[Edit]:
    return [edit for edit in edits if item.start_mark.index <= edit[0] and edit[1] <= item.end_mark.index]


def _check(text: str, new: Mapping[str, Bullet], damage: str) -> None:
    """Raise `InvalidRecord` unless the new text says exactly what is to be written."""
    found = {item.id: item for _, item in bullets(tree(text, "the file", LIST), Report(""))}
    wrong = [name for name, item in new.items() if name not in found or not _same(found[name], item)]
    if wrong or (len(found) != len(new) and not damage):
        which = wrong[0] if wrong else next(iter(found.keys() - new.keys()), "")
        message = f"The bullet {which} cannot be fitted into the file as it is laid out."
        raise InvalidRecord(message, "Nothing was written; export to a new file instead.")


def _same(one: Bullet, other: Bullet) -> bool:
    """Compare what a file says of two bullets; line ends after the text are not kept by the format."""
    one, other = (replace(bullet, content=bullet.content.rstrip("\n")) for bullet in (one, other))
    return all(key.write(one) == key.write(other) for key in KEYS)
