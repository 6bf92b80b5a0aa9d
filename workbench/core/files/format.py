"""What reading a file gives, and what a format is."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from workbench.core.playbook.book import Dialect, Playbook
from workbench.core.playbook.operations import Analysis, Curation
from workbench.core.playbook.usage import Run
from workbench.core.record import InvalidRecord, UnreadableFile
from workbench.core.runtime import Progress
from workbench.core.stream.importance import base_importance
from workbench.core.stream.memory import Memory
from workbench.core.text import ELLIPSIS, counted
from workbench.core.tuning.judgment import MAX_GRADE


class Reason(NamedTuple):
    """What is wrong: `pattern` is the sentence, with a `{}` for each of the `values` that only this
    place has.

    Reasons with one pattern are of one kind. A pattern without values is plain text, braces and
    all.
    """

    pattern: str
    values: tuple[object, ...] = ()

    def __str__(self) -> str:
        return self.pattern.format(*self.values) if self.values else self.pattern

    @property
    def kind(self) -> str:
        """The sentence without what only this place has."""
        return (
            self.pattern.format(*(ELLIPSIS for _ in self.values)) if self.values else self.pattern
        )

    def under(self, pattern: str, *values: object) -> "Reason":
        """Return the reason with what it is about in front of it."""
        if not values and not self.values:
            return Reason(f"{pattern}: {self.pattern}")
        head = pattern if values else braced(pattern)
        rest = self.pattern if self.values else braced(self.pattern)
        return Reason(f"{head}: {rest}", (*values, *self.values))


class Unread(ValueError):
    """A record cannot be read, for a `reason` that is told of its place in the file."""

    def __init__(self, pattern: str, *values: object) -> None:
        self.reason = Reason(pattern, values)
        super().__init__(str(self.reason))


def reason_of(error: ValueError) -> Reason:
    """Return why a record could not be read."""
    return error.reason if isinstance(error, Unread) else Reason(str(error))


def braced(text: str) -> str:
    """Return a text as it stands in a pattern."""
    return text.replace("{", "{{").replace("}", "}}")


Fate = Literal["kept", "left out"]
"""What becomes of a text that is no record: it stays in the file it stands in, or does not get into
another one.
"""

_FATES: dict[Fate, str] = {"kept": "kept in the file", "left out": "left out"}


@dataclass(frozen=True, slots=True)
class Issue:
    """Something in a file that a person should know, printed as `file:line: reason`.

    `line` counts from 1. `records` is how many records are *not* read because of it: 1 for a broken
    record, 0 for a remark about one that was read. `what` is found there; `fate` is what becomes of
    it when it is no record, and `no_part_of` what it does not belong to ("playbook").
    """

    file: str
    line: int
    what: Reason | str
    records: int = 1
    fate: Fate | None = None
    no_part_of: str = ""

    @property
    def reason(self) -> str:
        """What a person is told: what was found, and what becomes of it."""
        return self._told(str(self.what))

    @property
    def kind(self) -> str:
        """The same without what only this place has: alike for places with the same reason."""
        return self._told(self.what.kind if isinstance(self.what, Reason) else self.what)

    def _told(self, what: str) -> str:
        if self.fate is None:
            return what
        beside = f", not part of the {self.no_part_of}" if self.no_part_of else ""
        return f"{what}: {_FATES[self.fate]}{beside}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class MappingNote:
    """How the values of one field were changed while reading, and in how many records."""

    field: str
    how: str
    count: int

    def __str__(self) -> str:
        return f"{self.field}: {self.how} ({counted(self.count, 'record')})"


def in_scale(grade: int) -> int:
    """Return the grade of 0–3 that a grade on another scale is read as."""
    return min(max(grade, 0), MAX_GRADE)


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One line of a query set: the text, graded memory ids (0–3), tags, and the moment it is asked
    at.

    `topic` is what TREC files call it. `beyond` are the grades outside 0–3 as a file has them: they
    are written back where `relevant` still has what they were read as. `raw` is the line it was
    read from; it is written back as long as it still says the same.
    """

    text: str
    relevant: Mapping[str, int] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    now: datetime | None = None
    raw: str | None = field(default=None, compare=False)
    topic: str = ""
    beyond: Mapping[str, int] = field(default_factory=dict)

    @property
    def grades(self) -> dict[str, int]:
        held = {
            id: grade
            for id, grade in self.beyond.items()
            if self.relevant.get(id) == in_scale(grade)
        }
        return {**self.relevant, **held}


@dataclass(frozen=True, slots=True)
class Layout:
    """How JSON is written. `unit` is one level of indentation, empty where everything stands on one
    line; `final_newline` tells whether a file ends with one.
    """

    unit: str = "  "
    newline: str = "\n"
    colon: str = ": "
    comma: str = ", "
    ascii_only: bool = False
    final_newline: bool = True


class Detection(NamedTuple):
    """How sure a format is (0–1) that a file is its own, and why."""

    format: str
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """Everything one file held. `records_in` = records here + the sum of `Issue.records`.

    `in_steps` says that records were created at a step that is counted, not at a time that is
    named. `digest` is the SHA-256 of the file's bytes (set by `opening.read_file`, empty for a
    database), to be compared before the file is replaced. `offered` is how many statements a
    document has of which records can be made when somebody asks for them, `closed` how many closed
    issues.
    """

    format: str = ""
    memories: tuple[Memory, ...] = ()
    playbooks: tuple[Playbook, ...] = ()
    queries: tuple[JudgedQuery, ...] = ()
    issues: tuple[Issue, ...] = ()
    mappings: tuple[MappingNote, ...] = ()
    records_in: int = 0
    layout: Layout = Layout()
    digest: str = ""
    runs: tuple[Run, ...] = ()
    replies: tuple[Curation | Analysis, ...] = ()
    in_steps: bool = False
    offered: int = 0
    closed: int = 0
    detected: Detection | None = field(default=None, compare=False)

    @property
    def records_read(self) -> int:
        """Memories, bullets, queries, runs and the parts of replies together."""
        bullets = sum(len(p.bullets) for p in self.playbooks)
        return (
            len(self.memories)
            + bullets
            + len(self.queries)
            + len(self.runs)
            + sum(map(parts_in, self.replies))
        )


def parts_in(reply: Curation | Analysis) -> int:
    """Return how many operations or tags a reply holds."""
    return len(reply.operations) if isinstance(reply, Curation) else len(reply.bullet_tags)


def unwatched(done: int, total: int) -> None:
    """Stand in for somebody who wants to know how far a reader is."""
    del done, total


def nothing_beside(name: str) -> str | None:
    """Stand in for the files around a text that has none."""
    del name
    return None


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a reader may ask of its surroundings: the time, the file's name, rules for missing
    values.

    `now` stands in for absent times. Step counters become one time every `step_hours` hours, the
    first at `epoch`, or the last at `now` when there is no epoch. `importance` rates (observation
    type, content) on 0–10 for records that bring no rating. `agent` names whose memories they are
    where ids are made from it; when empty it is taken from `file`. `path` is the file's absolute
    path where it is known, and `beside` gives the text of a file named relative to it, `None` when
    there is none (both set by `opening.read_file`). With `as_candidates` the statements of a
    document that makes no records otherwise are read as candidates, with `issues` the closed issues
    of a tracker as observations. `text_name` is the field that holds the text, in formats that
    leave it to the file. Readers of files that may be long call `watch` with (lines read, lines in
    all) every now and then; it may raise to stop them.
    """

    now: datetime
    file: str
    epoch: datetime | None = None
    step_hours: float = 1.0
    importance: Callable[[str, str], float] = base_importance
    agent: str = ""
    path: str = ""
    beside: Callable[[str], str | None] = nothing_beside
    watch: Progress = unwatched
    as_candidates: bool = False
    issues: bool = False
    text_name: str = ""


Sure = tuple[float, str]
"""How sure a format is (0–1) that a file is its own, and why."""

DetectFile = Callable[[str, str], Sure | None]
"""`(head, path)`: the first characters of the text (see `formats.HEAD`) and the file's path."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Tells files by how they begin: all of `needs` stand there, and every other one of the `marks`
    makes it surer by `each`.
    """

    reason: str
    needs: tuple[str, ...]
    sure: float = 0.95
    marks: str = ""
    each: float = 0.0

    def __call__(self, head: str, path: str) -> Sure | None:
        del path
        if not all(re.search(need, head, re.MULTILINE) for need in self.needs):
            return None
        found = set(re.findall(self.marks, head, re.MULTILINE)) if self.marks else ()
        return min(self.sure + self.each * len(found), 0.95), self.reason


@dataclass(frozen=True, slots=True)
class Clues:
    """Tells files by the first clue that fits: how sure it makes, why, what stands in the text, and
    what in the path.
    """

    clues: tuple[tuple[float, str, str, str], ...]

    def __call__(self, head: str, path: str) -> Sure | None:
        place = PurePath(path).as_posix()
        fitting = (
            (sure, reason)
            for sure, reason, said, named in self.clues
            if re.search(named, place) and re.search(said, head, re.MULTILINE)
        )
        return next(fitting, None)


ReadText = Callable[[str, ReadContext], Parsed]
"""Reads the whole text. Raises `UnreadableFile` when nothing in it is of the format."""

ReadPath = Callable[[Path, ReadContext], Parsed]
"""Reads a file that is no text (a database). Raises `UnreadableFile`."""

WriteText = Callable[[Parsed, str | None], str]
"""`(parsed, original)`: the file's text. `original`, when given, is the text being replaced: what
in it is unchanged or could not be read stays as it is.
"""


Holds = Literal["playbook", "memories", "either", "queries"]
"""What a file of a kind has in it: bullets, memories, either of them, or judged queries."""


class Dialects(NamedTuple):
    """The ways in which one format is written, by name; `None` stands for the one that a playbook
    was read in.

    `write` gives a playbook's text in one of them, `remarks` says in sentences what of it that text
    does not hold.
    """

    names: tuple[Dialect, ...]
    write: Callable[[Playbook, Dialect | None], str]
    remarks: Callable[[Playbook, Dialect | None], list[str]]


def told_by_nothing(head: str, path: str) -> None:
    """Stand in for what tells files that are only written."""
    del head, path


def only_written(text: str, context: ReadContext) -> Parsed:
    """Stand in for the reader of files that are only written."""
    del text
    raise UnreadableFile(f"{context.file} is of a kind that is only written.", "Nothing was read.")


def only_read(parsed: Parsed, original: str | None = None) -> str:
    """Stand in for the writer of files that are only read."""
    del parsed, original
    raise InvalidRecord("This format can only be read.", "Nothing was written.")


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how to recognise it, read it and write it, as far as that can be done.

    A file that is written `holds` records of one kind, and its name usually ends in `suffix`. With
    `read_path` the file is no text and is read through that; `read` then says so. A file to write
    whose name has one of the `endings` asks for this format. One that `loses_nothing` holds records
    as the store has them, archived ones and secrets too; one that `carries_status` says which of
    its memories nobody approved, and so may hold them all. What `needs_times` cannot be written of
    bullets without one. `dialects` are the ways to write it, where there are several; judged
    queries `by_topic` are told apart by their names, not by their texts.

    What is only written is read back by the format `read_as`, if by any. It may go `inside` a file
    of somebody else, of which everything but our part stays. What stands in a prompt says where it
    comes from.
    """

    name: str
    title: str
    detect: DetectFile = told_by_nothing
    read: ReadText = only_written
    write: WriteText = only_read
    read_path: ReadPath | None = None
    holds: Holds = "memories"
    suffix: str = ".txt"
    endings: tuple[str, ...] = ()
    loses_nothing: bool = False
    carries_status: bool = False
    needs_times: bool = False
    dialects: Dialects | None = None
    by_topic: bool = False
    inside: bool = False
    read_as: str = ""
    is_prompt: bool = False

    @property
    def writes(self) -> bool:
        """Whether files of this format can be written."""
        return self.write is not only_read

    @property
    def reads(self) -> bool:
        """Whether a file that is there already can be read, and so be changed in place."""
        return self.read is not only_written

    @property
    def reader(self) -> str:
        """The format that reads such files; empty for none."""
        return self.name if self.reads else self.read_as
