"""Collects what a reader has to say while it reads one file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from workbench.core.files.format import (
    Fate,
    Issue,
    JudgedQuery,
    Layout,
    MappingNote,
    Parsed,
    Reason,
    Unread,
    reason_of,
)
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.operations import Analysis, Curation
from workbench.core.playbook.usage import Run
from workbench.core.stream.memory import Memory
from workbench.core.text import ELLIPSIS, one_line

_SHOWN = 40
_LOOKED_AT = 400
_WORD = 4
"""Characters of a word that is cut off: of a secret they say nothing."""


Told = str | Reason
T = TypeVar("T")
R = TypeVar("R", Memory, Bullet)


class Report:
    """Issues and mapping notes of one file, counted as they arise."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.issues: list[Issue] = []
        self._mapped: dict[tuple[str, str], int] = {}

    def skip(
        self,
        line: int,
        reason: Told | ValueError,
        records: int = 1,
        fate: Fate | None = None,
        no_part_of: str = "",
    ) -> None:
        """Note that `records` records at `line` are not read."""
        told = reason_of(reason) if isinstance(reason, ValueError) else reason
        self.issues.append(Issue(self.file, line, told, records, fate, no_part_of))

    def remark(self, line: int, reason: Told) -> None:
        """Note something about a record, or a line, that is kept."""
        self.skip(line, reason, 0)

    def kept(self, line: int, what: str, no_part_of: str = "") -> None:
        """Note a text that is no record and stays in its file; `no_part_of` is what it does not
        belong to.
        """
        self.skip(line, what, 0, "kept", no_part_of)

    def no_records(self, line: int, what: Told | ValueError, records: int = 1) -> None:
        """Note that `records` parts of the file, as it should have them, are no records: they stay
        in the file.
        """
        self.skip(line, what, records, "kept")

    def mapped(self, field: str, how: str) -> None:
        """Count one record whose `field` does not hold the file's own value."""
        self._mapped[field, how] = self._mapped.get((field, how), 0) + 1

    def mapped_all(self, notes: Iterable[tuple[str, str]], changes: Iterable[str] = ()) -> None:
        """Count the notes on one record, and what its JSON held that could not be kept as it was."""
        for field, how in (*notes, *(("value", change) for change in changes)):
            self.mapped(field, how)

    def each(
        self,
        rows: Iterable[tuple[int, T, Iterable[str]]],
        read: Callable[[T], tuple[R, Sequence[tuple[str, str]]]],
        *,
        by_text: bool = False,
    ) -> Iterator[tuple[int, R]]:
        """Yield the records that can be read with their lines; the others, and those whose id was
        used before, become issues.

        Each row is a line, what stands there, and what of it could not be kept as it was. Ids that
        are made of texts (`by_text`) are no names that anybody knows.
        """
        seen: dict[str, int] = {}
        for line, value, changes in rows:
            try:
                record, notes = read(value)
                if record.id in seen:
                    pattern = (
                        "{} was already read on line {}"
                        if by_text
                        else "the id {} was already used on line {}"
                    )
                    name = record.line if by_text and isinstance(record, Memory) else record.id
                    raise Unread(pattern, shown(name), seen[record.id])
            except ValueError as reason:
                self.skip(line, reason)
                continue
            seen[record.id] = line
            self.mapped_all(notes, changes)
            yield line, record

    def every(
        self,
        rows: Iterable[tuple[int, T, Iterable[str]]],
        read: Callable[[T], tuple[R, Sequence[tuple[str, str]]]],
        *,
        by_text: bool = False,
    ) -> tuple[R, ...]:
        """Return what `each` yields, without the lines."""
        return tuple(record for _, record in self.each(rows, read, by_text=by_text))

    def parsed(
        self,
        format: str,
        *,
        memories: tuple[Memory, ...] = (),
        playbooks: tuple[Playbook, ...] = (),
        queries: tuple[JudgedQuery, ...] = (),
        runs: tuple[Run, ...] = (),
        replies: tuple[Curation | Analysis, ...] = (),
        layout: Layout | None = None,
        in_steps: bool = False,
    ) -> Parsed:
        """Return the result; `records_in` follows from what was read and what was skipped."""
        issues = tuple(sorted(self.issues, key=lambda issue: issue.line))
        notes = tuple(
            MappingNote(field, how, count) for (field, how), count in self._mapped.items()
        )
        found = Parsed(
            format, memories, playbooks, queries, issues, notes, layout=layout or Layout(), runs=runs, replies=replies,
            in_steps=in_steps,
        )  # fmt: skip
        return replace(
            found, records_in=found.records_read + sum(issue.records for issue in issues)
        )


def shown(value: object) -> str:
    """Quote a value found in a file for a message: printable, on one line, at most 40 cells.

    A long word is quoted whole or hardly at all: of a part of a secret nobody could tell that it is
    one.
    """
    text = value if isinstance(value, str) else repr(value)
    line = one_line(text[:_LOOKED_AT], _SHOWN)
    begun, _, word = line.rpartition(" ")
    if not line.endswith(ELLIPSIS) or len(word) <= _WORD:
        return f"“{line}”"
    return f"“{begun} {ELLIPSIS}”" if begun else f"“{word[:_WORD]}{ELLIPSIS}”"
