"""Reading an ACE playbook: every line of the file ends up in a section, a bullet, a `lead` or the tail."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from workbench.core.files.reason import Reason
from workbench.core.free_names import FreeNames
from workbench.core.playbook.book import Book, Bullet, Dialect, Playbook, Section, bullet_id, next_number, section_key
from workbench.formats.ace import lines as ace_lines
from workbench.formats.ace.lines import BulletLine
from workbench.formats.shared.report import Report, shown

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
