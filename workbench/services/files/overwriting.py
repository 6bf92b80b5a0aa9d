"""May this file's bytes be replaced by this text? The one answer, for exports, dialogs and the
managed block.

What the store can write back may go: a file whose bytes it read or wrote last, in a format that
carries all of it. Everything else is somebody's, and goes only on a person's word; a copy of it is
kept then (see `replaced`).
"""

import contextlib
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from workbench.core.file_state import FileState, Origin
from workbench.core.files.atomic import write_file
from workbench.core.files.format import Format, Parsed, ReadContext
from workbench.core.files.formats import ALIASES, detect, format_named, known_formats
from workbench.core.files.fresh import hash_of, open_handle
from workbench.core.files.replacing import bytes_of
from workbench.core.record import Conflict, UnreadableFile
from workbench.core.text import counted
from workbench.formats.exports import OUTLETS
from workbench.formats.notes import is_note
from workbench.retrieval import cache_files
from workbench.services.agents.documents.instructions import open_folder
from workbench.services.context import Context
from workbench.services.files.threeway import split_lines
from workbench.services.safety.texts import name_of
from workbench.store.files import open_lines
from workbench.store.library import Library, Tx

# Which files a store knows: the format of each, and the text that both have in common, which is
# what the file held when it was last read or written here.
#
# What is known stands in the journal. The texts lie among the caches of the store, so that erasing
# a record for good takes them along; without one, both sides' changes cannot be told apart, and
# nobody else's file is taken for our own.


LARGEST = 4_000_000
"""Longest text, in characters, that is kept."""

_LARGEST_COPY = 32_000_000
"""Bytes of an unpacked copy at most: a character takes up to six."""

BLOCK = "block"
"""The format of a file in which only the managed block is ours."""


Why = Literal["unknown", "kind", "changed", "uncarried"]
"""`unknown`: never read or written here; `kind`: of another format; `changed`: by somebody else
since; `uncarried`: what is in it would not come back from being read and written.
"""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a file may not be replaced unasked, and how many of its lines would go; `title` is what
    its format is called, as far as that is known.
    """

    path: Path
    why: Why
    lines: int
    title: str = ""


class FileStates:
    """The files of one store, of the formats that are known."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def known(self, path: Path) -> FileState | None:
        """Return what is known of a file, `None` for one that was never read or written here."""
        return self._library.files.find(real_name(path))

    def base(self, path: Path) -> str | None:
        """Return the text that a file and the store had in common last; `None` when it is not kept
        any more.
        """
        known = self.known(path)
        try:
            with open_lines(self._copy_of(path)) as file:
                text = json.loads(file.read(_LARGEST_COPY))["text"]
            return text if known is not None and known.sha256 == hash_of(bytes_of(text)) else None
        except (
            OSError,
            EOFError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            zlib.error,
        ):
            return None  # no copy, or one that is broken: as if the file had never been seen

    def _keep(self, path: Path, text: str) -> None:
        """Keep the text that the file and the store agree on. A copy that cannot be written is done
        without.
        """
        place = self._copy_of(path)
        with contextlib.suppress(OSError):
            if len(text) > LARGEST:
                place.unlink(missing_ok=True)
                return
            cache_files.make(place.parent)
            data = json.dumps({"path": os.path.realpath(path), "text": text}).encode()
            write_file(place, gzip.compress(data, mtime=0), ".base-", durable=False)

    def _copy_of(self, path: Path) -> Path:
        name = sha256(os.path.realpath(path).encode(errors="surrogateescape")).hexdigest()
        return self._library.surroundings.common_texts / f"{name[:24]}.json.gz"

    def paths(self) -> tuple[Path, ...]:
        """Return every file that the store was read from or written to, as far as is known."""
        return tuple(Path(state.id) for state in self._library.files.all())

    def base_as(self, kind: Format, path: Path) -> str | None:
        """Return the common text of a file, if it is of a format."""
        text, known = self.base(path), self.known(path)
        return text if known is not None and is_of(known, kind) else None

    def is_of(self, kind: Format, path: Path, text: str) -> bool:
        """Tell whether a file's text is of a format: as it was read or written, else as name and
        text say.
        """
        known = self.known(path)
        if known is not None:
            return is_of(known, kind)
        found = detect(path, text)
        return bool(found) and found[0].format == kind.reader

    def agree(self, tx: Tx, path: Path, format: str, digest: str, origin: Origin) -> None:
        """Note in an open transaction that a file of a format has the bytes with this SHA-256."""
        state = FileState(real_name(path), format, digest, origin, self._library.now())
        before = self._library.files.find(state.id)
        if before is None or replace(before, at=state.at) != state:
            tx.put(state)

    def read(self, tx: Tx, path: Path, format: str, digest: str) -> None:
        """Note in an open transaction that a file was read, and says what the store says; ours
        stays known as ours.
        """
        with contextlib.suppress(OSError):
            # Whatever its characters are, more bytes than that are too many.
            data = path.read_bytes() if path.stat().st_size <= 4 * LARGEST else b""
            if hash_of(data) == digest:
                self._keep(path, data.decode("utf-8", "surrogateescape"))
        before = self._library.files.find(real_name(path))
        ours = (
            before is not None
            and before.sha256 == digest
            and format == _readers().get(before.format)
        )
        if not ours:
            self.agree(tx, path, format, digest, "read")

    def wrote(self, path: Path, kind: Format, text: str, before: bytes | None, actor: str) -> None:
        """Note that `actor` wrote a file. Raises `StoreProblem` when the store cannot be written.

        `before` is what it held. Of a file of another format only our block was written: it stays
        what it is.
        """
        digest, known = hash_of(bytes_of(text)), self._library.files.find(real_name(path))
        self._keep(path, text)
        with self._library.transaction(
            actor, f"write {name_of(Path(path.name))}", kind="access"
        ) as tx:
            if not kind.inside or known is None or known.format == BLOCK:
                self.agree(tx, path, kind.name, digest, "written")
            elif before is not None and known.sha256 == hash_of(before):
                self.agree(tx, path, known.format, digest, known.origin)

    def moved_on(self, tx: Tx, path: Path, before: bytes | None, after: bytes | None) -> None:
        """Note in an open transaction that this store changed a part of a file, if it knew what it
        held.
        """
        known = self._library.files.find(real_name(path))
        if known is None or before is None or after is None or known.sha256 != hash_of(before):
            return
        self.agree(tx, path, known.format, hash_of(after), known.origin)
        self._keep(path, after.decode("utf-8", "surrogateescape"))

    # May it be replaced?

    def obstacle(self, path: Path, present: str | None, text: str, kind: Format) -> Obstacle | None:
        """Return what stands in the way of replacing `present` by `text`, or `None`; asks no
        question of the disk.
        """
        if present is None or present == text or not present.strip("\ufeff \t\r\n"):
            return None
        gone, known = _lines(present) - _lines(text), self.known(path)
        judged = self._why_of_block if kind.inside else self._why
        why = judged(path, present, gone, kind)
        if why is None:
            return None
        found = [known.format] if known else [one.format for one in detect(path, present)]
        return Obstacle(path, why, gone.total(), _title(next(iter(found), "")))

    def is_sound(self, path: Path, text: str, sides: tuple[str, str], kind: Format) -> bool:
        """Tell whether a text put together from ours and theirs is a file of its format, and holds
        all of theirs.

        Ours may lack what the format does not carry: then it is no change of ours, and the two
        cannot be told apart.
        """
        known, base = self.known(path), self.base(path)
        if known is None or base is None:
            return False
        if known.origin == "read" and not self._carries(kind, path, base):
            return False
        if not kind.reads:
            return True
        merged, *parts = [
            read_text(kind.reader, side, path, self._library.now()) for side in (text, *sides)
        ]
        most = max((len(part.issues) for part in parts if part), default=0)
        return merged is not None and len(merged.issues) <= most

    def _why(self, path: Path, present: str, _gone: Counter[str], kind: Format) -> Why | None:
        known = self.known(path)
        if known is None:
            return "unknown"
        if not is_of(known, kind):
            return "kind"
        if known.sha256 != hash_of(bytes_of(present)):
            return "changed"
        is_whole = known.origin == "written" or self._carries(kind, path, present)
        return None if is_whole else "uncarried"

    def _why_of_block(
        self, path: Path, present: str, gone: Counter[str], _kind: Format
    ) -> Why | None:
        """Judge a text that leaves everything but our own items where it was."""
        known = self.known(path)
        if not gone:
            return None
        if known is None or known.format != BLOCK:
            return "unknown" if known is None else "kind"
        if known.sha256 == hash_of(bytes_of(present)):
            return None
        base = self.base(path)
        return "changed" if base is None or gone - _lines(base) else None

    def _carries(self, kind: Format, path: Path, present: str) -> bool:
        """Tell whether a file that is read and written unchanged comes out with the same bytes."""
        parsed = read_text(kind.reader, present, path, self._library.now())
        return parsed is not None and kind.write(parsed, present if kind.reads else None) == present


def _readers() -> dict[str, str]:
    """Return the format that reads what each outlet writes, empty for none."""
    return {kind.name: kind.reader for kind in OUTLETS}


def is_of(known: FileState, kind: Format) -> bool:
    """Tell whether a known file is one that an outlet writes."""
    return known.format in (kind.name, kind.reader) if known.format else not kind.reader


def is_written(format: str) -> bool:
    """Tell whether files of a format to read can be written, too."""
    return bool(format) and format in _readers().values()


def real_name(path: Path) -> str:
    """Return the absolute path of a file, links followed; bytes that are no text are written out."""
    return name_of(Path(os.path.realpath(path)))


def read_text(format: str, text: str, path: Path | None, now: datetime) -> Parsed | None:
    """Read a text as a file of a format at a path; `None` when nothing in it is of that format."""
    place = str(path or "")
    try:
        return format_named(format).read(text, ReadContext(now=now, file=place, path=place))
    except UnreadableFile:
        return None


def _title(format: str) -> str:
    """Return what a format to read or to write is called; empty for one that is not known."""
    names = (format, ALIASES.get(format, format))
    known = (kind.title for kind in (*OUTLETS, *known_formats()) if kind.name in names)
    return next(known, "")


def _lines(text: str) -> Counter[str]:
    """Count the lines of a text, without the blank ones; how they end does not count."""
    return Counter(line.rstrip("\r\n") for line in split_lines(text) if line.strip())


# What became, on disk, of the files that a store was read from or written to.


What = Literal["changed", "gone", "new"]
"""What became of a file: it holds something else, is not there any more, or lies new in a folder
that was read.
"""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is not as the store knows it, what became of it, and the format it was read or
    written as.
    """

    path: Path
    what: What
    format: str = ""


def changes(context: Context, under: Sequence[Path] = ()) -> tuple[FileChange, ...]:
    """Return what became of the files that a store knows, or of those at and below some places;
    reads only.

    In a place that is a folder, notes that the store does not know are new. Raises `UnreadableFile`
    for a place that is not there and that the store knows nothing of.
    """
    places = [Path(real_name(place)) for place in under]
    known = {state.id: state for state in context.library.files.all()}
    chosen = [
        s
        for s in known.values()
        if not places or any(Path(s.id).is_relative_to(place) for place in places)
    ]
    for place in places:
        if not place.exists() and not any(Path(state.id).is_relative_to(place) for state in chosen):
            raise UnreadableFile(f"File not found: {place}.", "Nothing was read; check the name.")
    found = [
        FileChange(Path(state.id), what, state.format)
        for state in chosen
        if (what := what_became(Path(state.id), state.sha256)) is not None
    ]
    found += [
        FileChange(path, "new") for place in places if place.is_dir() for path in _new(place, known)
    ]
    return tuple(sorted(found, key=lambda one: str(one.path)))


def what_became(path: Path, digest: str) -> What | None:
    """Tell what became of a file that had bytes with a SHA-256; `None` when it has them still."""
    try:
        with os.fdopen(open_handle(path, os.O_RDONLY), "rb") as file:
            return None if sha256(file.read()).hexdigest() == digest else "changed"
    except FileNotFoundError:
        return "gone"
    except (OSError, ValueError):
        return "changed"  # a pipe, a link or a closed file stands in its place


def _new(place: Path, known: Mapping[str, FileState]) -> Iterator[Path]:
    notes = (entry.file for entry in open_folder(place).documents if is_note(entry.file))
    yield from (file for file in notes if real_name(file) not in known)


# Why a file is not replaced, in words: the same at the command line and in the app.


NOTHING = "Nothing was written."

_WHY: dict[Why, str] = {
    "unknown": "exists, and was never read or written here",
    "kind": "exists, and is a file of another kind",
    "changed": "was changed by others since it was read or written here",
    "uncarried": "contains more than this format can write back",
}


class NotReplaced(Conflict):
    """A file holds what the store cannot write back, and nobody said that it may go; `obstacle`
    says what.
    """

    def __init__(self, obstacle: Obstacle, hint: str) -> None:
        super().__init__(why_said(obstacle), f"{NOTHING} {hint}")
        self.obstacle = obstacle


def why_said(obstacle: Obstacle) -> str:
    """Say why a file stays as it is, and what would go."""
    kind = f" ({obstacle.title})" if obstacle.why == "kind" and obstacle.title else ""
    return f"{obstacle.path} {_WHY[obstacle.why]}{kind}; {loss_said(obstacle)}."


def loss_said(obstacle: Obstacle) -> str:
    """Say how many lines replacing a file would take away."""
    if not obstacle.lines:
        return "no line would be lost"
    return f"{counted(obstacle.lines, 'line')} would be lost"
