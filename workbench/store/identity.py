"""What this machine remembers of its stores, outside them: so a loss is noticed, and lines from
elsewhere are known.

A store can come from anywhere: a clone, a pull, a copy. What it says reaches agents, so what this
machine did not write is read, but not believed, until a person has seen it. A line that was written
here is signed with this machine's key, and says whether all lines before it were known then (see
`codec`). So the newest signature covers the whole chain up to it, wherever the store was moved, cut
or put back. It holds for a line wherever that stands: a line of one's own that is taken out, or
brought from another store of one's own, makes nothing foreign; what is missing is said by the mark
and by gaps in the revisions. What else a person trusts is kept in the mark.

The mark says what this machine last knew of a store. There is one small file for each store and
each place it lies at. A writer notes it under the store's write lock after the journal's fsync, and
makes no fsync of its own: after a power loss the mark is a lower bound. It is one sealed line,
written over in place in one call: a torn one fails its hash and counts as none.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from workbench.store.journal.codec import BadLine, Seal, fingerprint, seal, unseal
from workbench.store.journal.segments import NAME, Line, Tail
from workbench.store.maintenance import checkpoint_writer

FOLDER = "heads"
"""Name of the folder of all that is remembered, in the person's state folder."""

_SCHEMA = 3
_ROOM = 512
"""The size of a mark's file is a multiple of this: one sector, which is written whole or not at
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


# Lines from elsewhere.


class Known(NamedTuple):
    """Who wrote a line of a journal; `actor` is `None` for a header."""

    seal: Seal
    actor: str | None


def uncovered(lines: Sequence[Known], key: bytes, trusted: Iterable[str]) -> list[Known]:
    """Return those of some lines, in order, that are covered neither by one of the hashes that are
    `trusted` nor by a line of the machine with this key; its own lines that cover none among them.
    """
    covered, rest = set(trusted), list[Known]()
    for line in reversed(lines):
        if line.seal.hash in covered or line.seal.covers(key) == "all":
            covered.add(line.seal.prev)
        else:
            rest.append(line)
    return rest[::-1]


# Marks.


class Mark(NamedTuple):
    """What this machine last knew of the store with id `store` at `path`: its last line's revision,
    hash and uid.

    `look` is what the active segment looked like then, and `closed` the others; `checked` says that
    every line up to there is sound, and was written here or shown to a person. `trusted` are hashes
    of what was shown to one: the last lines of what others wrote, and `memory.json`. `gone` holds
    revisions that are missing and that nobody has accepted, `accepted` those that somebody has.
    """

    path: str
    store: str
    rev: int = 0
    hash: str = ""
    uid: str = ""
    look: str = ""
    closed: str = ""
    checked: bool = False
    trusted: tuple[str, ...] = ()
    gone: tuple[Gone, ...] = ()
    accepted: tuple[Range, ...] = ()


def read(folder: Path | None, store: str, where: Path) -> Mark | None:
    """Return the mark of the store with id `store` at `where`; `None` when none is kept or can be
    read.

    Without an id (the journal is gone, or its header) the mark that was noted last for this place
    counts. The mark of a store that was moved here is found by its id; a living copy elsewhere
    keeps its own.
    """
    if folder is None:
        return None
    place = os.path.realpath(where)
    with suppress(OSError):
        if not store:
            return max(_marks(folder, "", _suffix(place)), key=lambda mark: mark.rev, default=None)
        if (known := _load(_file_of(folder, store, place))) is not None:
            return known
        moved = (
            mark
            for mark in _marks(folder, f"{store}-", ".json")
            if mark.path != place and not _lives(mark)
        )
        best = max(moved, key=lambda mark: mark.rev, default=None)
        # Moving may have been copying, so what the files looked like says nothing.
        return None if best is None else best._replace(path=place, look="", closed="")
    return None


def note(folder: Path | None, mark: Mark) -> bool:
    """Keep a mark, under the write lock of its store; one that cannot be kept is no reason to fail
    a change.
    """
    if folder is None:
        return False
    try:
        line = seal({"schema": _SCHEMA, **mark._asdict(), "gone": [list(one) for one in mark.gone]})
        size = -(-len(line) // _ROOM) * _ROOM
        _write_over(_file_of(folder, mark.store, mark.path), line[:-1].ljust(size - 1) + b"\n")
    except (OSError, InvalidRecord):  # the folder is not to be written to, or the path is no text
        return False
    return True


def beside_mark(folder: Path, store: str, where: Path, what: str) -> Path:
    """Return the file in which something else is kept of the store with id `store` at `where`."""
    return _file_of(folder, store, os.path.realpath(where)).with_suffix(f".{what}")


def can_keep(folder: Path) -> bool:
    """Tell whether marks can be kept in a folder, which may have to be made."""
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

    `store` is the store's id; one is made for a store without any, and the next header carries it.
    Without a folder of marks nothing is remembered, and everything is trusted; with `believed` a
    person said outside the store that it can be. Methods raise `OSError` where they read the
    journal.
    """

    def __init__(self, heads: Path | None, folder: Path, *, believed: bool = False) -> None:
        self.store = ""
        self.gone: tuple[Gone, ...] = ()
        self.highest = 0
        """The highest revision that is known to have been stored, whether it is still there or not."""
        self._heads = heads
        self._folder = folder
        self._believed = believed
        self._key = b""
        self._uncovered: list[Known] = []
        self._new: list[Known] = []
        """Lines of others that were not looked at yet."""
        self._strange: list[Known] = []
        self._mark = Mark(os.path.realpath(folder), "")
        self._closed = ""
        self._sound = True
        self._own: str | None = None
        """The look of the active segment up to which every line is known; `None` where some are
        not.
        """
        self._is_only_checkpoint = False
        """Whether a `memory.json` that nobody here knows is all that speaks."""

    @property
    def accepted(self) -> frozenset[Range]:
        """The gaps that somebody accepted, as first and last revision."""
        return frozenset(self._mark.accepted)

    @property
    def strange(self) -> list[Known]:
        """The changes that are not known on this machine, in order."""
        if self._new:
            new, self._new = self._new, []
            self._look([*self._uncovered, *new])
        return self._strange

    @property
    def strange_hashes(self) -> frozenset[str]:
        return frozenset(one.seal.hash for one in self.strange)

    @property
    def trust(self) -> StoreTrust:
        """How far the store is trusted."""
        if self._believed or not (self.strange or self._is_only_checkpoint):
            return StoreTrust()
        return StoreTrust(trusted=False, foreign=len(self.strange))

    @property
    def key(self) -> bytes:
        """This machine's key, as far as there is one by now."""
        self._key = self._key or key_in(self._heads, make=False)
        return self._key

    @property
    def believed_key(self) -> bytes | None:
        """The key of the machine whose checkpoints may stand for the journal, `None` for all."""
        return None if self._heads is None or self._believed else self.key

    @property
    def watches(self) -> bool:
        """Whether `add_line` is to be told of the lines that others write from now on."""
        return self._heads is not None and not self._believed and not self._is_only_checkpoint

    def seal(
        self,
        value: Mapping[str, object] | bytes,
        prev: str,
        old: Seal | None = None,
        is_behind_strange: bool = False,
    ) -> bytes:
        """Return a transaction as a line after the one with hash `prev`, written by this machine.

        It covers all lines before it when they are known; in place of an `old` line no more than
        that did, and behind lines that are not known only itself.
        """
        covers = "all"
        if self.strange or self._is_only_checkpoint:
            covers = "one" if old is None else old.covers(self.key)
            covers = "one" if covers and is_behind_strange else covers
        if not self.key:
            self._key = key_in(self._heads)
        return seal(value, prev, self.key if covers else b"", covers)

    def look_through(self) -> Tail | None:
        """Find out how far the store is trusted. Its files are read for that, and are sound, unless
        they look as they were left; return the journal as it was read.
        """
        self._sound, self._is_only_checkpoint, self._new = True, False, []
        self._look([])
        if self._heads is None:
            return None
        store = segments.store_id(self._folder)
        self._find_mark(store)
        look, self._closed = look_at(self._folder), _look_at_closed(self._folder)
        self._own = look
        if self._mark.checked and (self._mark.look, self._mark.closed) == (look, self._closed):
            return None
        tail, lines = self._read_lines()
        self._sound = self.is_sound(tail.damage)
        self._look(lines)
        # Without a change in the journal, memory.json is all that speaks.
        self._is_only_checkpoint = not (_has_changes(lines) or self._is_own_checkpoint())
        if self.strange or self._is_only_checkpoint:
            self._own = None
        return tail

    def is_sound(self, damage: Iterable[Damage]) -> bool:
        """Tell whether nothing is damaged but what somebody accepted."""
        return all(place.missing is not None and place.missing in self.accepted for place in damage)

    def add_line(self, line: Line) -> None:
        """Take note of a line that somebody else wrote."""
        self._new.append(_known(line))

    def recheck(self) -> None:
        """Find out whether what came since the store was opened was trusted by now."""
        if self.strange:
            before = self._mark.trusted
            self._find_mark(self.store)
            if self._mark.trusted != before:
                self.look_through()

    def open(self, tail: Tail) -> None:
        """Find the mark of the store whose journal was read."""
        self._find_mark(tail.store)
        self.store = tail.store or self._mark.store or self.store or segments.new_store_id()

    def compare(self, rev: int, checkpoint_rev: int) -> None:
        """Find out what is gone from a journal that ends at revision `rev`, by the mark and the
        newest checkpoint.
        """
        mark = self._mark
        gone, known = list(mark.gone), max(checkpoint_rev, mark.rev)
        if known > rev:
            now = Gone(rev + 1, known)
            gone = [
                one
                for one in gone
                if one.replaced or not (now.first <= one.first and one.last <= now.last)
            ]
            gone.append(now)
        elif mark.hash and not segments.holds(self._folder, mark.hash, mark.uid):
            gone.append(Gone(mark.rev, mark.rev, replaced=True))
        self.highest = max([known, *(one.last for one in gone)])
        self.gone = tuple(dict.fromkeys(gone))

    def before_writing(self) -> None:
        """Look, under the write lock, whether all that stands there now is known: what is written
        next is then, too.
        """
        is_known = not (self.strange or self._is_only_checkpoint)
        if self._heads is not None and is_known and self._own != look_at(self._folder):
            self.look_through()

    def note(self, tail: Tail, seen: os.stat_result | None) -> None:
        """Remember a change right after its line was appended to `tail`."""
        if self._heads is not None:
            self._keep(self._at(tail)._replace(gone=self.gone), look_of(seen))

    def note_files(self, tail: Tail) -> None:
        """Remember what the files look like, after they were made or rewritten without a change."""
        if self._heads is not None and not self.gone:
            self._closed = _look_at_closed(self._folder)
            mark = self._mark._replace(store=self.store) if self.strange else self._at(tail)
            self._keep(mark, look_at(self._folder))

    def trust_all(self, tail: Tail) -> None:
        """Remember that all that stands there now is trusted, under the write lock."""
        if self._heads is not None:
            lines = self._read_lines()[1]
            rest = uncovered(lines, self.key, ())
            before = {one.seal.prev for one in rest}
            trusted = [one.seal.hash for one in rest if one.seal.hash not in before]
            if not _has_changes(lines):
                with suppress(FileNotFoundError):
                    trusted.append(fingerprint(read_regular(self._folder / DOCUMENTS)))
            self._closed, self._own = _look_at_closed(self._folder), ""
            mark = self._at(tail)._replace(gone=self.gone, trusted=tuple(trusted))
            self._keep(mark, look_at(self._folder))
        self._is_only_checkpoint = False
        self._look([])

    def accept(self, tail: Tail, gaps: tuple[Range, ...]) -> None:
        """Remember that a person takes the journal as it is: nothing of it is missed any more, nor
        at places where this store does not lie any more.
        """
        lost = ((one.first, one.last) for one in self.gone if not one.replaced)
        accepted = tuple(sorted({*self.accepted, *gaps, *lost}))
        self.gone, self.highest, self._sound = (), tail.rev, False
        self._keep(self._at(tail)._replace(gone=(), accepted=accepted), "")
        with suppress(OSError):
            for other in _marks(self._heads, f"{self.store}-", ".json") if self._heads else ():
                if other.path != self._mark.path and not _lives(other):
                    _file_of(self._heads, other.store, other.path).unlink(missing_ok=True)

    def _read_lines(self) -> tuple[Tail, list[Known]]:
        """Read the whole journal."""
        tail, lines = Tail(self._folder), list[Known]()
        tail.on_line = lambda line: lines.append(_known(line))
        for _ in tail.entries():
            pass
        return tail, lines

    def _look(self, lines: list[Known]) -> None:
        """Find out which lines nobody here knows."""
        key = self.key if lines else b""
        self._uncovered = uncovered(lines, key, self._mark.trusted)
        self._strange = [
            one for one in self._uncovered if one.actor is not None and not one.seal.covers(key)
        ]

    def _at(self, tail: Tail) -> Mark:
        """Return the mark at the last line of a journal."""
        last = tail.mark if tail.rev else ""
        return self._mark._replace(store=self.store, rev=tail.rev, hash=last, uid=tail.uid)

    def _find_mark(self, store: str) -> None:
        found = read(self._heads, store, self._folder)
        self._mark = found or Mark(self._mark.path, "")

    def _keep(self, mark: Mark, look: str) -> None:
        """Note a mark, which says what the files look like now."""
        is_known = self._own is not None and bool(look)
        self._own = look if is_known else None
        self._mark = mark._replace(look=look, closed=self._closed, checked=is_known and self._sound)
        note(self._heads, self._mark)

    def _is_own_checkpoint(self) -> bool:
        """Tell whether `memory.json` was written on this machine or shown to a person, or is not
        there.
        """
        try:
            digest = fingerprint(read_regular(self._folder / DOCUMENTS))
        except FileNotFoundError:
            return True
        own = checkpoint_writer.stamps_of(self._folder, self.key)
        return digest in (*self._mark.trusted, *(stamp.hash for stamp in own))


def _has_changes(lines: Iterable[Known]) -> bool:
    return any(one.actor is not None for one in lines)


def _known(line: Line) -> Known:
    assert line.value is not None
    assert line.seal is not None
    is_header = segments.is_header(line.value)
    return Known(line.seal, None if is_header else str(line.value.get("actor", "")))


def _lives(mark: Mark) -> bool:
    """Tell whether a store with the mark's id still lies at its place."""
    try:
        return segments.store_id(Path(mark.path)) == mark.store
    except OSError:
        return False


def _marks(folder: Path, begin: str, end: str) -> Iterator[Mark]:
    """Yield the marks in files of such names, those that can be read."""
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    for path in paths:
        if (
            path.name.startswith(begin)
            and path.name.endswith(end)
            and (mark := _load(path)) is not None
        ):
            yield mark


def _load(path: Path) -> Mark | None:
    try:
        value: dict[str, Any] = unseal(path.read_bytes().rstrip())
        if value.pop("schema") != _SCHEMA:
            return None
        gone = tuple(Gone(*one) for one in value["gone"])
        accepted = tuple((first, last) for first, last in value["accepted"])
        trusted = tuple(value["trusted"])
        return Mark(**{**value, "gone": gone, "accepted": accepted, "trusted": trusted})
    except (FileNotFoundError, BadLine, KeyError, TypeError, ValueError):
        return None


def _write_over(path: Path, data: bytes) -> None:
    """Write a file of the folder over in place; the folder is made when it is not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, flags, 0o600)
    try:
        if os.fstat(handle).st_size > len(data):
            os.ftruncate(handle, len(data))
        os.write(handle, data)
    finally:
        os.close(handle)


def _suffix(place: str) -> str:
    return f"-{blake2b(os.fsencode(place), digest_size=8).hexdigest()}.json"


@lru_cache(maxsize=64)
def _file_of(folder: Path, store: str, place: str) -> Path:
    return folder / f"{store}{_suffix(place)}"


# This machine's key, and keyed hashes of texts: they recognise a text that comes in again, and say
# nothing to whoever lacks the key.


KEY = "key"
"""Name of the file with the key, which stays on this machine."""

_SIZE = 32


def key_in(folder: Path | None, *, make: bool = True) -> bytes:
    """Return this machine's key, which is made once; empty where there is none or none can be
    kept.
    """
    if folder is None:
        return b""
    path = folder / KEY
    try:
        with suppress(FileNotFoundError):
            if len(key := path.read_bytes()) >= _SIZE:
                return key[:_SIZE]
            path.unlink()  # a power loss left it without its bytes
        if not make:
            return b""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # of two processes that make it, the first one's stays
            write_file(path, os.urandom(_SIZE), new=True)
        return path.read_bytes()[:_SIZE]
    except OSError:
        return b""


def marks_key(heads: Path | None, shared: str) -> bytes:
    """Return the key of the marks of texts that were purged: this machine's, and in a store that
    machines share, which has the id `shared`, one that all of them know.
    """
    return blake2b(shared.encode(), digest_size=_SIZE).digest() if shared else key_in(heads)


def mark_of(text: str, key: bytes) -> str:
    """Return the hash of a text; white space and case make no difference."""
    return blake2b(
        " ".join(text.split()).casefold().encode("utf-8", "replace"), digest_size=16, key=key
    ).hexdigest()
