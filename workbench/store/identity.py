"""What this machine remembers of its stores, outside them: so a loss is noticed, and lines from
elsewhere are known.

A store can come from anywhere: a clone, a pull, a copy. What it says reaches agents, so what this
machine did not write is read, but not believed, until a person has seen it. For that a fingerprint
of every line that was written here or shown is kept, by the id of the store, so that a store that
was moved, cut or put back is still known.

The head says what this machine last wrote to a store. There is one small file for each store and
each place it lies at. A writer notes it under the store's write lock after the journal's fsync, and
makes no fsync of its own: after a power loss the head is a lower bound. It is one sealed line,
written over in place in one call: a torn one fails its checksum and counts as none.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.files.atomic import write_file
from workbench.core.health import Damage, Gone
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.store.files import DOCUMENTS, read_regular
from workbench.store.journal import segments
from workbench.store.journal.codec import BadLine, fingerprint, seal, unseal
from workbench.store.journal.segments import NAME, Position, Tail

FOLDER = "heads"
"""Name of the folder of all that is remembered, in the person's state folder."""

_SCHEMA = 2
_CHECKPOINTS = 8
_KNOWN = 16
_ROOM = 512
"""The size of a head's file is a multiple of this: one sector, which is written whole or not at
all.
"""

_HINT = "Nothing was changed; `workbench trust` shows what came and asks."
_ELSEWHERE = "Nothing was changed; copy it to a folder of yours, or list it in WORKBENCH_TRUST."

Range = tuple[int, int]
"""The first and the last revision of some that follow each other."""


class NotTrusted(StoreProblem):
    """A change of a store that came from elsewhere and that nobody on this machine has looked at."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"The store {folder} came from elsewhere and is not trusted.", _HINT)


class StoreTrust(NamedTuple):
    """How far the lines of a store are trusted: `foreign` is how many changes of it are not known
    on this machine.
    """

    trusted: bool = True
    foreign: int = 0


def require_own(folder: Path) -> None:
    """Raise `StoreProblem` for a store that belongs to another user or that can only be read: it is
    not taken over.
    """
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        raise StoreProblem(f"{folder} belongs to another user.", _ELSEWHERE)
    if not os.access(folder, os.W_OK):
        raise StoreProblem(f"{folder} is read-only, so it cannot be trusted.", _ELSEWHERE)


# The lines and the checkpoints that are known.


def fingerprint_of(line: bytes) -> bytes:
    """Return what a sealed line, with or without its line end, is known by."""
    return blake2b(line.rstrip(b"\n"), digest_size=_KNOWN).digest()


def note_lines(folder: Path | None, store: str, marks: Iterable[bytes]) -> None:
    """Remember fingerprints of lines of the store with id `store` that are written here.

    A line is noted before it is written: one too many is no harm, one too few would make the store
    somebody else's if this process ended in between. What cannot be kept makes the lines unknown,
    and no change fail.
    """
    if folder is not None and store:
        with (
            suppress(OSError),
            os.fdopen(_open(_lines_of(folder, store), os.O_APPEND), "wb") as file,
        ):
            file.writelines(marks)


def known_lines(folder: Path, store: str) -> frozenset[bytes]:
    """Return the fingerprints of all lines of a store that are known here."""
    try:
        data = _lines_of(folder, store).read_bytes() if store else b""
    except OSError:
        return frozenset()
    return frozenset(data[at : at + _KNOWN] for at in range(0, len(data), _KNOWN))


def trust_lines(folder: Path | None, store: str, journal: Path) -> None:
    """Remember every line that stands in a journal, and no other. Raises `OSError` where it cannot
    be read.
    """
    if folder is not None and store:
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        marks = [mark for mark, _ in every_line(journal)]
        with suppress(OSError):
            write_file(_lines_of(folder, store), marks, durable=False)


def strange_lines(folder: Path, heads: Path | None, store: str) -> Iterator[tuple[bytes, str]]:
    """Yield every change that is not known on this machine, in order: its line's fingerprint, and
    its actor.

    Raises `OSError`.
    """
    known = known_lines(heads, store) if heads is not None else frozenset()
    yield from (each for each in every_line(folder) if each[0] not in known)


def every_line(folder: Path) -> Iterator[tuple[bytes, str]]:
    """Yield the fingerprint and the actor of every change of a journal, in order. Raises `OSError`."""
    for line in segments.follow(folder, Position()):
        if line.value is not None and not segments.is_header(line.value):
            yield fingerprint_of(line.raw), str(line.value.get("actor", ""))


def note_checkpoint(folder: Path | None, where: Path, digest: str) -> None:
    """Remember that this machine wrote the `memory.json` with this hash, under the lock that guards
    it.
    """
    if folder is not None:
        kept = [digest, *(known for known in checkpoints(folder, where) if known != digest)][
            :_CHECKPOINTS
        ]
        with suppress(OSError):
            _write_over(folder / _checkpoints_of(where), seal({"checkpoints": kept}))


def checkpoints(folder: Path, where: Path) -> list[str]:
    """Return the hashes of the latest `memory.json` that this machine wrote to the store at
    `where`.
    """
    try:
        value = unseal((folder / _checkpoints_of(where)).read_bytes().rstrip())
        return [str(digest) for digest in value["checkpoints"]]
    except (OSError, BadLine, KeyError, TypeError):
        return []


# Heads.


class Head(NamedTuple):
    """The last line that this machine wrote to, or accepted of, the store with id `store` at
    `path`.

    `rev` and `mark` are that line's revision and checksum, `edition` the journal's edition. `look`
    is what the active segment looked like then, and `closed` the others; `checked` says that every
    line up to there is sound, and was written here or shown to a person. `gone` holds revisions
    that are missing and that nobody has accepted, `accepted` those that somebody has.
    """

    path: str
    store: str
    rev: int
    mark: str
    edition: int = 0
    look: str = ""
    closed: str = ""
    checked: bool = False
    gone: tuple[Gone, ...] = ()
    accepted: tuple[Range, ...] = ()


def read(folder: Path | None, store: str, where: Path) -> Head | None:
    """Return the head of the store with id `store` at `where`; `None` when none is kept or can be
    read.

    Without an id (the journal is gone, or its header) the head that was noted last for this place
    counts. The head of a store that was moved here is found by its id; a living copy elsewhere
    keeps its own.
    """
    if folder is None:
        return None
    place = os.path.realpath(where)
    with suppress(OSError):
        if not store:
            return max(_heads(folder, "", _suffix(place)), key=lambda head: head.rev, default=None)
        if (known := _load(_file_of(folder, store, place))) is not None:
            return known
        moved = (
            head
            for head in _heads(folder, f"{store}-", ".json")
            if head.path != place and not _lives(head)
        )
        best = max(moved, key=lambda head: head.rev, default=None)
        # Moving may have been copying, so what the files looked like says nothing.
        return None if best is None else best._replace(path=place, look="", closed="")
    return None


def note(folder: Path | None, head: Head) -> bool:
    """Keep a head, under the write lock of its store; one that cannot be kept is no reason to fail
    a change.
    """
    if folder is None:
        return False
    try:
        line = seal({"schema": _SCHEMA, **head._asdict(), "gone": [list(one) for one in head.gone]})
        size = -(-len(line) // _ROOM) * _ROOM
        _write_over(_file_of(folder, head.store, head.path), line[:-1].ljust(size - 1) + b"\n")
    except (OSError, InvalidRecord):  # the folder is not to be written to, or the path is no text
        return False
    return True


def beside_head(folder: Path, store: str, where: Path, what: str) -> Path:
    """Return the file in which something else is kept of the store with id `store` at `where`."""
    return _file_of(folder, store, os.path.realpath(where)).with_suffix(f".{what}")


def can_keep(folder: Path) -> bool:
    """Tell whether heads can be kept in a folder, which may have to be made."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    return os.access(place, os.W_OK | os.X_OK)


def look_of(seen: os.stat_result | None) -> str:
    """Return what tells one state of the active segment from another; nothing when it could not be
    looked at.
    """
    return "" if seen is None else f"{seen.st_ino}:{seen.st_size}:{seen.st_mtime_ns}"


def look_at(folder: Path) -> str:
    """Return the look of the active segment of a store; nothing when there is none."""
    try:
        return look_of((folder / NAME).stat())
    except OSError:
        return ""


def _look_at_closed(folder: Path) -> str:
    """Return what tells one state of all closed segments from another."""
    try:
        seen = [(segment.path.name, segment.path.stat()) for segment in segments.closed(folder)]
    except OSError:
        return "?"
    told = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in seen]
    return blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()


class Identity:
    """What this machine knows of one store, beside its open journal: who wrote it, what was stored,
    what was checked.

    `trust` says how far the store is trusted; with `believed` a person said so outside it. `store`
    is the store's id; one is made for a store without any, and the next header carries it. Without
    a folder of heads nothing is remembered, and everything is trusted. Methods raise `OSError`
    where they read the journal.
    """

    def __init__(self, heads: Path | None, folder: Path, *, believed: bool = False) -> None:
        self.trust = StoreTrust()
        self.store = ""
        self.gone: tuple[Gone, ...] = ()
        self.highest = 0
        """The highest revision that is known to have been stored, whether it is still there or not."""
        self._heads = heads
        self._folder = folder
        self._place = os.path.realpath(folder)
        self._believed = believed
        self._unknown: list[bytes] = []
        self._head: Head | None = None
        self._closed = ""
        self._sound = True
        self._own: str | None = None
        """The look of the active segment up to which every line is known; `None` where some are
        not.
        """
        self._strange = False

    @property
    def accepted(self) -> frozenset[Range]:
        """The gaps that somebody accepted, as first and last revision."""
        return frozenset(() if self._head is None else self._head.accepted)

    @property
    def watches(self) -> bool:
        """Whether `add_line` is to be told of the lines that others write from now on."""
        return (
            self._heads is not None
            and not self._believed
            and (self.trust.trusted or bool(self._unknown))
        )

    def look_through(self) -> Tail | None:
        """Find out how far the store is trusted. Its files are read for that, and are sound, unless
        they look as they were left; return the journal as it was read.
        """
        self.trust, self._unknown, self._sound, self._strange = StoreTrust(), [], True, False
        if self._heads is None:
            return None
        store = segments.store_id(self._folder)
        self._head = head = read(self._heads, store, self._folder)
        look, self._closed = look_at(self._folder), _look_at_closed(self._folder)
        self._own = look
        if head is not None and head.checked and (head.look, head.closed) == (look, self._closed):
            return None
        lines: list[bytes] = []
        tail = Tail(self._folder, Position(), "", 0)
        tail.on_line = lambda line: lines.append(fingerprint_of(line))
        for _ in tail.entries():
            pass
        # A writer notes a line before it writes it, so what was written here meanwhile is known by
        # now.
        known = known_lines(self._heads, store or ("" if head is None else head.store))
        unknown = [mark for mark in lines if mark not in known]
        self._sound = self.is_sound(tail.damage)
        # Without a journal, memory.json is all that speaks.
        if unknown or not (lines or self._is_own_checkpoint(self._heads)):
            self._own, self._strange = None, True
            if not self._believed:
                self._unknown, self.trust = unknown, StoreTrust(trusted=False, foreign=len(unknown))
        return tail

    def is_sound(self, damage: Iterable[Damage]) -> bool:
        """Tell whether nothing is damaged but what somebody accepted."""
        return all(place.missing is not None and place.missing in self.accepted for place in damage)

    def add_line(self, line: bytes) -> None:
        """Take note of a sealed line that somebody else wrote."""
        self._unknown.append(fingerprint_of(line))

    def recheck(self) -> None:
        """Find out whether what came since the store was opened was written here, or was trusted by
        now.
        """
        if self._unknown and self._heads is not None:
            known = known_lines(self._heads, self.store)
            self._unknown = [mark for mark in self._unknown if mark not in known]
            self.trust = StoreTrust(not self._unknown, len(self._unknown))

    def open(self, tail: Tail) -> None:
        """Find the head of the store whose journal was read."""
        self._head = read(self._heads, tail.store, self._folder)
        self.store = (
            tail.store
            or (self._head.store if self._head else "")
            or self.store
            or segments.new_store_id()
        )

    def compare(self, rev: int, checkpoint_rev: int) -> None:
        """Find out what is gone from a journal that ends at revision `rev`, by the head and the
        newest checkpoint.
        """
        head = self._head
        gone = [] if head is None else list(head.gone)
        known = max(checkpoint_rev, 0 if head is None else head.rev)
        if known > rev:
            now = Gone(rev + 1, known)
            gone = [
                one
                for one in gone
                if one.replaced or not (now.first <= one.first and one.last <= now.last)
            ]
            gone.append(now)
        elif (
            head is not None
            and head.mark
            and not segments.holds(self._folder, head.mark, head.edition)
        ):
            gone.append(Gone(head.rev, head.rev, replaced=True))
        self.highest = max([known, *(one.last for one in gone)])
        self.gone = tuple(dict.fromkeys(gone))

    def before_writing(self) -> None:
        """Look, under the write lock, whether all that stands there now is known: what is written
        next is then, too.
        """
        if self._heads is not None and not self._strange and self._own != look_at(self._folder):
            self.look_through()

    def expect(self, lines: Iterable[bytes]) -> None:
        """Remember lines that are about to be written: they are this machine's own, whatever ends
        this process.
        """
        note_lines(self._heads, self.store, map(fingerprint_of, lines))

    def note(self, rev: int, tail: Tail, seen: os.stat_result | None) -> None:
        """Remember a change right after its line was appended to `tail`."""
        if self._heads is not None:
            head = Head(self._place, self.store, rev, tail.mark, tail.edition, gone=self.gone)
            self._keep(
                head._replace(accepted=() if self._head is None else self._head.accepted),
                look_of(seen),
            )

    def note_files(self, tail: Tail) -> None:
        """Remember what the files look like, after they were made or rewritten without a change."""
        if self._heads is None or self.gone:
            return
        self._closed = _look_at_closed(self._folder)
        known = self._head or Head(self._place, self.store, 0, "", tail.edition)
        if known.edition != tail.edition:
            known = known._replace(rev=tail.rev, mark=tail.mark)
            if self._own is not None:
                trust_lines(self._heads, self.store, self._folder)
        self._keep(known._replace(store=self.store, edition=tail.edition), look_at(self._folder))

    def trust_all(self, rev: int, tail: Tail) -> None:
        """Remember that all that stands there now is trusted, under the write lock."""
        if self._heads is not None:
            trust_lines(self._heads, self.store, self._folder)
            self._closed, self._strange, self._own = _look_at_closed(self._folder), False, ""
            known = self._head or Head(self._place, self.store, rev, tail.mark)
            known = known._replace(
                store=self.store, rev=rev, mark=tail.mark, edition=tail.edition, gone=self.gone
            )
            self._keep(known, look_at(self._folder))
        self.trust, self._unknown = StoreTrust(), []

    def accept(self, rev: int, tail: Tail, gaps: tuple[Range, ...]) -> None:
        """Remember that a person takes the journal as it is, up to revision `rev`: nothing of it is
        missed any more, nor at places where this store does not lie any more.
        """
        lost = ((one.first, one.last) for one in self.gone if not one.replaced)
        accepted = tuple(sorted({*self.accepted, *gaps, *lost}))
        self.gone, self.highest, self._sound = (), rev, False
        self._keep(
            Head(self._place, self.store, rev, tail.mark, tail.edition, accepted=accepted), ""
        )
        with suppress(OSError):
            for other in (
                [] if self._heads is None else list(_heads(self._heads, f"{self.store}-", ".json"))
            ):
                if other.path != self._place and not _lives(other):
                    _file_of(self._heads, other.store, other.path).unlink(missing_ok=True)

    def _keep(self, head: Head, look: str) -> None:
        """Note a head, which says what the files look like now."""
        is_known = self._own is not None and bool(look)
        self._own = look if is_known else None
        self._head = head._replace(look=look, closed=self._closed, checked=is_known and self._sound)
        note(self._heads, self._head)

    def _is_own_checkpoint(self, heads: Path) -> bool:
        """Tell whether `memory.json` was written on this machine, or is not there."""
        try:
            return fingerprint(read_regular(self._folder / DOCUMENTS)) in checkpoints(
                heads, self._folder
            )
        except FileNotFoundError:
            return True


def _lives(head: Head) -> bool:
    """Tell whether a store with the head's id still lies at its place."""
    try:
        return segments.store_id(Path(head.path)) == head.store
    except OSError:
        return False


def _heads(folder: Path, begin: str, end: str) -> Iterator[Head]:
    """Yield the heads in files of such names, those that can be read."""
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    for path in paths:
        if (
            path.name.startswith(begin)
            and path.name.endswith(end)
            and (head := _load(path)) is not None
        ):
            yield head


def _load(path: Path) -> Head | None:
    try:
        value: dict[str, Any] = unseal(path.read_bytes().rstrip())
        value.pop("unsure", None)  # what 0.1 wrote there
        if value.pop("schema") != _SCHEMA:
            return None
        gone = tuple(Gone(*one) for one in value["gone"])
        accepted = tuple((first, last) for first, last in value["accepted"])
        return Head(**{**value, "gone": gone, "accepted": accepted})
    except (FileNotFoundError, BadLine, KeyError, TypeError, ValueError):
        return None


def _open(path: Path, how: int = 0) -> int:
    """Open a file of the folder for writing; the folder is made when it is not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def _write_over(path: Path, data: bytes) -> None:
    handle = _open(path)
    try:
        if os.fstat(handle).st_size > len(data):
            os.ftruncate(handle, len(data))
        os.write(handle, data)
    finally:
        os.close(handle)


def _suffix(place: str) -> str:
    return f"-{blake2b(os.fsencode(place), digest_size=8).hexdigest()}.json"


def _checkpoints_of(where: Path) -> str:
    return _suffix(os.path.realpath(where))[1:].replace(".json", ".checkpoints")


@lru_cache(maxsize=64)
def _file_of(folder: Path, store: str, place: str) -> Path:
    return folder / f"{store}{_suffix(place)}"


@lru_cache(maxsize=64)
def _lines_of(folder: Path, store: str) -> Path:
    return folder / f"{store}.lines"


# Keyed hashes of texts: they recognise a text that comes in again, and say nothing to whoever lacks
# the key.


KEY = "key"
"""Name of the file with the key, which stays on this machine."""

_SIZE = 32


def key_in(folder: Path | None) -> bytes:
    """Return this machine's key, which is made once; empty where none can be kept."""
    if folder is None:
        return b""
    path = folder / KEY
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(
                FileExistsError
            ):  # of two processes that make it at once, the first one's stays
                write_file(path, os.urandom(_SIZE), durable=False, new=True)
        return path.read_bytes()[:_SIZE]
    except OSError:
        return b""


def mark_of(text: str, key: bytes) -> str:
    """Return the hash of a text; white space and case make no difference."""
    return blake2b(
        " ".join(text.split()).casefold().encode("utf-8", "replace"), digest_size=16, key=key
    ).hexdigest()
