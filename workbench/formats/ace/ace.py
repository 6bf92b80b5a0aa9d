"""ACE playbook text (source 003): sections of bullets `[id] helpful=n harmful=m :: text`, or `[id] text`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import get_args

from workbench.core.files.format import Detection, Dialects, Format, Parsed, ReadContext
from workbench.core.files.reason import Reason
from workbench.core.free_names import FreeNames
from workbench.core.playbook.book import Book, Bullet, Dialect, Playbook, Section, bullet_id, next_number, section_key
from workbench.formats.ace import lines
from workbench.formats.ace import lines as ace_lines
from workbench.formats.ace.lines import BulletLine
from workbench.formats.ace.writing import write_playbook
from workbench.formats.claude_memory import BEGIN
from workbench.formats.shared.report import Report, shown

# What an ACE playbook file cannot carry.


def remarks(playbook: Playbook, dialect: Dialect | None) -> list[str]:
    """Say what of the playbook the file will not hold."""
    counted = sum(
        b.helpful_count + b.harmful_count > 0 and not _has_counts(b, playbook, dialect) for b in _kept(playbook)
    )
    broken = sum("\n" in b.content and (b.raw is None or dialect is not None) for b in _kept(playbook))
    left_out = len(playbook.bullets) - len(_kept(playbook))
    said = []
    if counted:
        of = "1 bullet stay" if counted == 1 else f"{counted} bullets stay"
        said.append(f"The bare format has no counts: the votes on {of} in the store and are not in the file.")
    if broken:
        said.append(f"Line breaks in {_bullets(broken)} are written as \\n.")
    if left_out:
        said.append(f"{_bullets(left_out)} marked deprecated {'is' if left_out == 1 else 'are'} left out.")
    return said


def _has_counts(bullet: Bullet, playbook: Playbook, dialect: Dialect | None) -> bool:
    """Whether a bullet's line will carry its counts."""
    line = lines.bullet(bullet.raw) if bullet.raw is not None and dialect is None else None
    return (line.form if line else dialect or playbook.book.dialect) == "counts"


def _kept(playbook: Playbook) -> list[Bullet]:
    return [b for b in playbook.bullets if b.state != "deprecated"]


def _bullets(count: int) -> str:
    return "1 bullet" if count == 1 else f"{count} bullets"


# Reading an ACE playbook: every line of the file ends up in a section, a bullet, a `lead` or the tail.


NO_HEADING = "no-heading"
"""The id of the section that holds bullets above the first heading; its title is empty and it is not written."""


class _Builder:
    """The state of one pass over the lines of a file."""

    def __init__(self, book: str, report: Report) -> None:
        self.book = book
        self.report = report
        self.sections: list[Section] = []
        self.bullets: list[Bullet] = []
        self.lines_of: list[int] = []
        self.gap: list[str] = []
        self.open: tuple[list[str], int] | None = None
        self.names = FreeNames()

    def feed(self, number: int, line: str) -> None:
        """Take the next line of the file."""
        title = ace_lines.heading(line)
        if title is not None:
            self.close()
            self.start_section(title, line)
        elif ace_lines.bullet(line) is not None:
            self.close()
            self.open = ([line], number)
            self.lead, self.gap = tuple(self.gap), []
        elif not line.removeprefix(ace_lines.BOM).strip():
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
        lead, self.gap = tuple(self.gap) if raw is not None else (), [] if raw is not None else self.gap
        order = float(len(self.sections) + 1)
        self.sections.append(Section(self.names.give(name), key, title, self.book, order, raw, lead))

    def close(self) -> None:
        """Finish the bullet whose lines are being gathered."""
        if self.open is None:
            return
        gathered, number = self.open
        self.open = None
        raw = "\n".join(gathered)
        said = ace_lines.bullet(raw)
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
            book=self.book,
            order=float(len(self.bullets) + 1),
            helpful_imported=said.helpful,
            harmful_imported=said.harmful,
            neutral_count=said.neutral,
            raw=raw,
            lead=self.lead,
        )


def read_playbook(
    text: str, *, file: str = "playbook.txt", book: str = "main", report: Report | None = None
) -> Playbook:
    """Read a playbook from any text; what is no playbook line is kept where it stands.

    `write_playbook` of the result gives the same text again. Remarks go to `report`.
    """
    notes = report or Report(file)
    newline, lines, final = split(text)
    builder = _Builder(book, notes)
    for number, line in enumerate(lines, 1):
        builder.feed(number, line)
    builder.close()
    bullets = tuple(_renumbered(builder, notes))
    return Playbook(
        Book(
            id=book,
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
    forms = [said.form for bullet in bullets if bullet.raw and (said := ace_lines.bullet(bullet.raw))]
    return "bare" if forms.count("bare") > len(forms) / 2 else "counts"


NAME = "ace"

__all__ = ["FORMAT", "NAME", "detect", "read", "read_playbook", "write", "write_playbook"]


def detect(head: str, path: str) -> Detection:
    """Sure when there are bullets with counts; headings alone make a playbook only when nothing else is there."""
    del path
    _, lines, _ = split(head)
    used = [line for line in lines if line.strip()]
    headings = sum(ace_lines.heading(line) is not None for line in used)
    forms = [found.form for line in used if (found := ace_lines.bullet(line)) is not None]
    if "counts" in forms:
        return Detection(NAME, 0.97, "bullets with helpful= and harmful= counts")
    if BEGIN in head:
        return Detection(NAME, 0.0, "holds the block that this program keeps in other files, and no counts")
    if forms:
        sure = 0.9 if headings and len(forms) + headings > len(used) / 2 else 0.4
        return Detection(NAME, sure, "bullets that begin with an id in brackets")
    if headings and headings == len(used):
        return Detection(NAME, 0.6, "nothing but section headings")
    return Detection(NAME, 0.0, "no line begins with an id in brackets")


def read(text: str, context: ReadContext) -> Parsed:
    """Read a playbook; text that belongs to no bullet is kept where it stands and remarked upon."""
    report = Report(context.file)
    playbook = read_playbook(text, file=context.file, report=report)
    return report.parsed(NAME, playbooks=(playbook,))


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed` (an empty one when there is none); it remembers its own lines."""
    del original
    return write_playbook(parsed.playbooks[0]) if parsed.playbooks else ""


def _in_dialect(playbook: Playbook, dialect: Dialect | None) -> str:
    return write_playbook(playbook, dialect=dialect)


FORMAT = Format(
    NAME, "ACE playbook", detect, read, write, holds="playbook", endings=(".txt",),
    dialects=Dialects(get_args(Dialect), _in_dialect, remarks),
)  # fmt: skip
