"""The lines of an ACE playbook: telling headings and bullets, and rendering them in the strict
form.

The strict form is what the reference reader takes: `[id] helpful=n harmful=m :: text` on one line.
The tolerant one also takes a list dash, commas between the counts, `neutral=` among them, negative
counts (read as 0), `###` headings and, without counts, `[id] text`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import get_args

from workbench.core.files.format import Dialects, Format, Parsed, ReadContext, Reason, Sure
from workbench.core.playbook.book import (
    Book,
    Bullet,
    Dialect,
    Playbook,
    Section,
    bullet_id,
    next_number,
    section_key,
)
from workbench.core.text import counted
from workbench.formats.claude_memory import BEGIN
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import FreeNames

MAX_ID = 200
_COUNTED = re.compile(
    r"(?:[-*•+]\s*)?\[([^\]]+)\]\s*((?:(?:helpful|harmful|neutral)\s*=\s*[+-]?[0-9]{1,12}[\s,;|]*)+)::\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_COUNT = re.compile(r"(helpful|harmful|neutral)\s*=\s*([+-]?[0-9]+)", re.IGNORECASE)
_BARE = re.compile(r"(?:[-*•+]\s+)?\[([^\]\s]+)\](?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BulletLine:
    """What a bullet's lines say. `form` is how they are written; a bare bullet counts 0."""

    id: str
    content: str
    form: Dialect
    helpful: int = 0
    harmful: int = 0
    neutral: int = 0
    negative: bool = False


def heading(line: str) -> str | None:
    """Return the title when `line` starts a section (`##` or more), else None."""
    plain = line.strip()
    return plain.lstrip("#").strip() if plain.startswith("##") else None


def bullet_line(raw: str) -> BulletLine | None:
    """Read a bullet from its lines, joined by newlines; None when the first one is not a bullet.

    Lines after the first belong to the content, without their trailing white space.
    """
    first, *rest = raw.split("\n")
    plain = first.strip()
    found = _counted(plain) or _bare(plain)
    if found is None or not rest:
        return found
    content = "\n".join((found.content, *(line.rstrip() for line in rest))).strip("\n")
    return replace(found, content=content)


def _counted(plain: str) -> BulletLine | None:
    match = _COUNTED.fullmatch(plain)
    if match is None or len(match[1]) > MAX_ID:
        return None
    counts = {name.lower(): int(number) for name, number in _COUNT.findall(match[2])}
    helpful, harmful, neutral = (
        max(counts.get(name, 0), 0) for name in ("helpful", "harmful", "neutral")
    )
    return BulletLine(
        match[1], match[3], "counts", helpful, harmful, neutral, min(counts.values()) < 0
    )


def _bare(plain: str) -> BulletLine | None:
    """Without counts only a bracket that can be an id counts: one word with a letter and a digit."""
    match = _BARE.fullmatch(plain)
    if match is None or len(match[1]) > MAX_ID:
        return None
    name = match[1]
    is_id = any(c.isalpha() for c in name) and any(c.isdigit() for c in name)
    return BulletLine(name, match[2] or "", "bare") if is_id else None


def render(item: Bullet, dialect: Dialect) -> str:
    """Write a bullet on one line; line breaks become the two characters `\\n`.

    A bullet that could not be read back from the bare form is written with its counts.
    """
    content = flat(item.content)
    if dialect == "bare":
        line = f"[{item.id}] {content}".rstrip()
        again = bullet_line(line)
        if again is not None and (again.id, again.content, again.form) == (
            item.id,
            content,
            "bare",
        ):
            return line
    return f"[{item.id}] helpful={item.helpful_count} harmful={item.harmful_count} :: {content}".rstrip()


def flat(text: str) -> str:
    """Put text on one line: line breaks become the two characters `\\n`."""
    # Replaced one after the other: that takes a third of what a pattern takes.
    return text.strip().replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")


# Writing an ACE playbook: the lines it was read from wherever they still say what the playbook
# says.


_OTHERS = Section("others", "others", "OTHERS")


def write_playbook(playbook: Playbook, *, dialect: Dialect | None = None) -> str:
    """Return the text of a playbook.

    Without `dialect` an unchanged playbook gives the bytes it was read from, a changed bullet one
    changed line (in the form its line had, or else the book's dialect), and a playbook that was
    never a file gets every section and `## OTHERS`. With `dialect` it is a strict export for the
    reference tools: every bullet in that form on one line, nothing above the first heading, and
    `## OTHERS` present. Deprecated bullets are left out. Votes cannot be written in the bare form.
    """
    book, lines = playbook.book, list[str]()
    for section, bullets in as_written(playbook, strict=dialect is not None):
        lines += section_lines(section, lines[-1] if lines else None, strict=dialect is not None)
        for bullet in bullets:
            lines += bullet_lines(bullet, book, dialect)
    lines += book.tail
    return book.newline.join(lines) + (book.newline if book.final_newline and lines else "")


def as_written(
    playbook: Playbook, *, strict: bool = False
) -> Iterator[tuple[Section, Sequence[Bullet]]]:
    """Yield the sections with their bullets as they are written; `strict`: as for the reference
    tools.
    """
    sections, groups = (
        sorted(playbook.sections, key=lambda section: section.order),
        _grouped(playbook.bullets),
    )
    if strict or _is_new(playbook):
        sections, groups = _complete(
            [section for section in sections if not _unwritten(section)], groups
        )
    elif groups.keys() - {section.id for section in sections}:
        sections, groups = _complete(sections, groups)
    for section in sections:
        yield section, groups.pop(section.id, ())


def section_lines(section: Section, above: str | None, *, strict: bool = False) -> list[str]:
    """Return what is written of a section before its bullets, under the line `above` (`None`: at
    the top).
    """
    if _unwritten(section):
        return []
    lines = [] if strict and above is None else list(section.lead)
    raw = section.raw
    if raw is not None and heading(raw) == section.title:
        return [*lines, raw]
    above = lines[-1] if lines else above
    if raw is None and above is not None and above.strip():
        lines.append("")
    return [*lines, f"## {flat(section.title)}"]


def bullet_lines(bullet: Bullet, book: Book, dialect: Dialect | None = None) -> list[str]:
    """Return what is written of a bullet, the lines above it included (see `write_playbook`)."""
    if bullet.state == "deprecated":
        return list(bullet.lead)
    if dialect is not None:
        return [*bullet.lead, render(bullet, dialect)]
    raw = bullet.raw
    said = None if raw is None else bullet_line(raw)
    form: Dialect = "counts" if said and said.form == "counts" else book.dialect
    if raw is not None and said is not None and _still_says(bullet, said, form):
        return [*bullet.lead, *raw.split("\n")]
    ending = "\r" if raw is not None and raw.endswith("\r") else ""
    return [*bullet.lead, render(bullet, form) + ending]


def _grouped(bullets: tuple[Bullet, ...]) -> dict[str, list[Bullet]]:
    groups: dict[str, list[Bullet]] = {}
    for bullet in sorted(bullets, key=lambda bullet: bullet.order):
        groups.setdefault(bullet.section, []).append(bullet)
    return groups


def _is_new(playbook: Playbook) -> bool:
    records: tuple[Section | Bullet, ...] = (*playbook.sections, *playbook.bullets)
    return not playbook.book.tail and all(record.raw is None for record in records)


def _complete(
    sections: list[Section], groups: dict[str, list[Bullet]]
) -> tuple[list[Section], dict[str, list[Bullet]]]:
    """Add `## OTHERS` where it is missing, and put every bullet whose section is not there into it."""
    others = next(
        (section for section in reversed(sections) if section.key == _OTHERS.key and section.title),
        None,
    )
    if others is None:
        others = _OTHERS
        sections = [*sections, others]
    known = {section.id for section in sections}
    out: dict[str, list[Bullet]] = {}
    for name, bullets in groups.items():
        out.setdefault(name if name in known else others.id, []).extend(bullets)
    return sections, out


def _unwritten(section: Section) -> bool:
    """Whether this is the section of the bullets above the first heading."""
    return section.raw is None and not section.title.strip()


def _still_says(bullet: Bullet, said: BulletLine, form: Dialect) -> bool:
    counts = (bullet.helpful_count, bullet.harmful_count)
    same_counts = form == "bare" or counts == (said.helpful, said.harmful)
    return (
        said.content == bullet.content and same_counts and said.id in (bullet.id, *bullet.aliases)
    )


# ACE playbook text (source 003): sections of bullets `[id] helpful=n harmful=m :: text`, or `[id]
# text`.


# What an ACE playbook file cannot carry.


def remarks(playbook: Playbook, dialect: Dialect | None) -> list[str]:
    """Say what of the playbook the file will not hold."""
    kept = [b for b in playbook.bullets if b.state != "deprecated"]
    voted = sum(
        b.helpful_count + b.harmful_count > 0 and not _has_counts(b, playbook, dialect)
        for b in kept
    )
    broken = sum("\n" in b.content and (b.raw is None or dialect is not None) for b in kept)
    left_out = len(playbook.bullets) - len(kept)
    said = []
    if voted:
        of = counted(voted, "bullet")
        said.append(
            f"The bare format has no counts: the votes on {of} stay in the store and are not in the file."
        )
    if broken:
        said.append(f"Line breaks in {counted(broken, 'bullet')} are written as \\n.")
    if left_out:
        are = counted(left_out, "bullet marked deprecated is", "bullets marked deprecated are")
        said.append(f"{are} left out.")
    return said


def _has_counts(bullet: Bullet, playbook: Playbook, dialect: Dialect | None) -> bool:
    """Whether a bullet's line will carry its counts."""
    line = bullet_line(bullet.raw) if bullet.raw is not None and dialect is None else None
    return (line.form if line else dialect or playbook.book.dialect) == "counts"


# Reading an ACE playbook: every line of the file ends up in a section, a bullet, a `lead` or the
# tail.


NO_HEADING = "no-heading"
"""The id of the section that holds bullets above the first heading; its title is empty and it is
not written.
"""


class _Builder:
    """The state of one pass over the lines of a file."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.sections: list[Section] = []
        self.bullets: list[Bullet] = []
        self.lines_of: list[int] = []
        self.gap: list[str] = []
        self.open: tuple[list[str], int] | None = None
        self.names = FreeNames()

    def feed(self, number: int, line: str) -> None:
        """Take the next line of the file."""
        title = heading(line)
        if title is not None:
            self.close()
            self.start_section(title, line)
        elif bullet_line(line) is not None:
            self.close()
            self.open = ([line], number)
            self.lead, self.gap = tuple(self.gap), []
        elif not line.strip():
            self.gap.append(line)
        elif self.open is not None:
            self.open[0].extend((*self.gap, line))
            self.gap = []
        else:
            self.gap.append(line)
            where = "text that is no bullet" if self.sections else "text above the first heading"
            self.report.kept(number, where, no_part_of="playbook")

    def start_section(self, title: str, raw: str | None) -> None:
        """Begin a section; a title used before gets an id of its own."""
        key = section_key(title) if raw is not None else "others"
        name = (key or "section") if raw is not None else NO_HEADING
        lead, self.gap = (
            tuple(self.gap) if raw is not None else (),
            [] if raw is not None else self.gap,
        )
        order = float(len(self.sections) + 1)
        self.sections.append(
            Section(self.names.give(name), key, title, order=order, raw=raw, lead=lead)
        )

    def close(self) -> None:
        """Finish the bullet whose lines are being gathered."""
        if self.open is None:
            return
        gathered, number = self.open
        self.open = None
        raw = "\n".join(gathered)
        said = bullet_line(raw)
        assert said is not None
        if not self.sections:
            self.start_section("", None)
            self.report.remark(number, "bullets stand above the first heading")
        self.bullets.append(self.made(said, raw))
        self.lines_of.append(number)
        if said.negative:
            self.report.mapped("counts", "a negative count read as 0")
        if not said.content.strip():
            self.report.remark(number, Reason("the bullet {} has no text", (shown(said.id),)))

    def made(self, said: BulletLine, raw: str) -> Bullet:
        """Return the bullet value of what the lines say."""
        return Bullet(
            id=said.id,
            section=self.sections[-1].id,
            content=said.content,
            order=float(len(self.bullets) + 1),
            helpful_imported=said.helpful,
            harmful_imported=said.harmful,
            neutral_count=said.neutral,
            raw=raw,
            lead=self.lead,
        )


def read_playbook(
    text: str, *, file: str = "playbook.txt", report: Report | None = None
) -> Playbook:
    """Read a playbook from any text; what is no playbook line is kept where it stands.

    `write_playbook` of the result gives the same text again. Remarks go to `report`.
    """
    notes = report or Report(file)
    newline, lines, final = split(text)
    builder = _Builder(notes)
    for number, line in enumerate(lines, 1):
        builder.feed(number, line)
    builder.close()
    bullets = tuple(_renumbered(builder, notes))
    return Playbook(
        Book(
            name=PurePath(file).stem or "playbook",
            dialect=_dialect(bullets),
            newline=newline,
            final_newline=final,
            tail=tuple(builder.gap),
            source=file,
        ),
        tuple(builder.sections),
        bullets,
    )


def split(text: str) -> tuple[str, list[str], bool]:
    """Return the line end, the lines without it, and whether the last line has one.

    In a file of mixed line ends it is a line feed, and the other lines keep their carriage return.
    """
    newline = "\n"
    if "\r" in text:
        feeds = text.count("\n")
        if feeds == 0:
            newline = "\r"
        elif text.count("\r\n") == feeds:
            newline = "\r\n"
    lines = text.split(newline)
    final = len(lines) > 1 and lines[-1] == ""
    return newline, lines[:-1] if final else lines, final


def _renumbered(builder: _Builder, report: Report) -> Iterator[Bullet]:
    """Give every later bullet of an id used twice the next number; the old id stays as an alias."""
    number = next_number(tuple(builder.bullets))
    taken = {bullet.id for bullet in builder.bullets}
    keys = {section.id: section.key for section in builder.sections}
    first: dict[str, int] = {}
    for bullet, line in zip(builder.bullets, builder.lines_of, strict=True):
        if bullet.id not in first:
            first[bullet.id] = line
            yield bullet
            continue
        while (fresh := bullet_id(keys[bullet.section], number)) in taken:
            number += 1
        taken.add(fresh)
        number += 1
        used = "the id {} was already used on line {}: read as {}, the old id kept as an alias"
        report.remark(line, Reason(used, (shown(bullet.id), first[bullet.id], fresh)))
        yield replace(bullet, id=fresh, aliases=(bullet.id,))


def _dialect(bullets: tuple[Bullet, ...]) -> Dialect:
    forms = [said.form for bullet in bullets if bullet.raw and (said := bullet_line(bullet.raw))]
    return "bare" if forms.count("bare") > len(forms) / 2 else "counts"


NAME = "ace"


def detect(head: str, path: str) -> Sure | None:
    """Sure when there are bullets with counts; headings alone make a playbook only when nothing
    else is there.
    """
    del path
    _, lines, _ = split(head)
    used = [line for line in lines if line.strip()]
    headings = sum(heading(line) is not None for line in used)
    forms = [found.form for line in used if (found := bullet_line(line)) is not None]
    if "counts" in forms:
        return (0.97, "bullets with helpful= and harmful= counts")
    if BEGIN in head:
        return None
    if forms:
        sure = 0.9 if headings and len(forms) + headings > len(used) / 2 else 0.4
        return (sure, "bullets that begin with an id in brackets")
    if headings and headings == len(used):
        return (0.6, "nothing but section headings")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read a playbook; text that belongs to no bullet is kept where it stands and remarked upon."""
    report = Report(context.file)
    playbook = read_playbook(text, file=context.file, report=report)
    return report.parsed(NAME, playbooks=(playbook,))


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed` (an empty one when there is none); it remembers its own
    lines.
    """
    del original
    return write_playbook(parsed.playbooks[0]) if parsed.playbooks else ""


def _in_dialect(playbook: Playbook, dialect: Dialect | None) -> str:
    return write_playbook(playbook, dialect=dialect)


FORMAT = Format(
    NAME, "ACE playbook", detect, read, write, holds="playbook", endings=(".txt",),
    dialects=Dialects(get_args(Dialect), _in_dialect, remarks),
)  # fmt: skip
