"""Files of records in any format that is read: what the reader skipped, equal texts, references to nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from workbench.core.duplicates.identity import Described, says_all_the_same, text_key
from workbench.core.errors import WorkbenchError
from workbench.core.files.format import Issue, Parsed, WriteText
from workbench.core.files.lint import COMPARED, Fix, LintFinding, Rule
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory
from workbench.formats.shared.report import shown

R = TypeVar("R", Memory, Bullet)

MOST = 20
"""Fixes that are worked out at a time; once they are made, the next ones are."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The text of a file whose format is written too, and how: what makes a fix of other records."""

    text: str
    write: WriteText

    def fix(self, label: str, parsed: Parsed) -> tuple[int, Fix | None]:
        """Return the line that changes first when the file gets these records, and the fix that does it, if any."""
        try:
            new = self.write(parsed, self.text)
        except WorkbenchError:
            return 1, None  # the format cannot say it
        old, start, end = self.text, 0, 0
        shorter = min(len(old), len(new))
        while start < shorter and old[start] == new[start]:
            start += 1
        while end < shorter - start and old[len(old) - 1 - end] == new[len(new) - 1 - end]:
            end += 1
        line = old.count("\n", 0, start) + 1
        return line, Fix(label, ((start, len(old) - end, new[start : len(new) - end]),)) if old != new else None


@dataclass(frozen=True, slots=True)
class _Wrong:
    """Something that is wrong with records, and the records that would put it right, where it is sure which."""

    rule: Rule
    message: str
    label: str = ""
    right: Parsed | None = None


def lint(parsed: Parsed, file: str, writer: Writer | None = None) -> list[LintFinding]:
    """Return what is wrong with the records of a file, with fixes where a `writer` can make them."""
    out = [LintFinding(file, issue.line, "unreadable", issue.reason, kind=issue.kind) for issue in _damage(parsed)]
    tried = 0
    for wrong in (*_duplicates(parsed, is_stream=writer is None), *_dangling(parsed)):
        line, fix = 1, None
        if writer is not None and wrong.right is not None and tried < MOST:
            tried += 1
            line, fix = writer.fix(wrong.label, wrong.right)
        out.append(LintFinding(file, line, wrong.rule, wrong.message, fix))
    return out


def _damage(parsed: Parsed) -> Iterator[Issue]:
    """Yield what should have been a record; what is none and stays in the file is nothing wrong."""
    yield from (issue for issue in parsed.issues if issue.records and issue.fate is None)


def _duplicates(parsed: Parsed, *, is_stream: bool) -> Iterator[_Wrong]:
    """Find records that say the same; in a stream that a program keeps, what happens again is told again."""
    for gone, kept in _equal(parsed.memories):
        if is_stream and gone.created_at != kept.created_at and (gone.memory_type == "episodic" or gone.is_synthetic):
            continue
        fewer = replace(parsed, memories=tuple(_merged(parsed.memories, kept.id, gone.id)))
        yield _same(gone, kept, fewer)
    for at, book in enumerate(parsed.playbooks):
        for found, first in _equal(book.bullets):
            merged = replace(book, bullets=tuple(_merged(book.bullets, first.id, found.id)))
            playbooks = (*parsed.playbooks[:at], merged, *parsed.playbooks[at + 1 :])
            yield _same(found, first, replace(parsed, playbooks=playbooks))


def _same(gone: R, kept: R, fewer: Parsed) -> _Wrong:
    """Say that two records have one text; only of two that are equal in everything else, too, one may go."""
    message = f"{shown(gone.id)} says the same as {shown(kept.id)}"
    if says_all_the_same(gone, kept):
        return _Wrong("duplicate-text", message, f"keep {kept.id} and add the counts up", fewer)
    return _Wrong("duplicate-text", f"{message}, but they are not the same in everything: see which one to keep")


def _equal(records: Iterable[R]) -> Iterator[tuple[R, R]]:
    """Yield every record whose text another one about the same thing has before it, and that one.

    Of those before it the one comes that it is equal to in everything, if any.
    """
    first: dict[str, list[Described[R]]] = {}
    for record in records:
        new, before = Described(record), first.setdefault(text_key(record.content), [])
        about = [other for other in before[:COMPARED] if new.may_be_one(other)]
        if about:
            yield record, next((other for other in about if new.said == other.said), about[0]).record
        before.append(new)


def _merged(records: Sequence[R], kept: str, gone: str) -> Iterator[R]:
    """Yield the records without one, its counts added to the one that is kept."""
    lost = next(record for record in records if record.id == gone)
    for record in records:
        if record.id == kept:
            yield replace(
                record,
                helpful_imported=record.helpful_imported + lost.helpful_count,
                harmful_imported=record.harmful_imported + lost.harmful_count,
            )
        elif record.id != gone:
            yield record


def _dangling(parsed: Parsed) -> Iterator[_Wrong]:
    """Find citations and cross-references to records that the file does not hold."""
    known = {m.id for m in parsed.memories} | {alias for m in parsed.memories for alias in m.aliases}
    for at, memory in enumerate(parsed.memories):
        for id in dict.fromkeys((*memory.citations, *memory.related)):
            if id not in known:
                citations, related = (tuple(i for i in ids if i != id) for ids in (memory.citations, memory.related))
                without = replace(memory, citations=citations, related=related)
                right = replace(parsed, memories=(*parsed.memories[:at], without, *parsed.memories[at + 1 :]))
                message = f"{shown(memory.id)} rests on {shown(id)}, which is not in the file"
                yield _Wrong("dangling-reference", message, "take the reference out", right)
