"""What texts hold that should not travel, looked at once: long texts are remembered across runs, and never keep the
app waiting.

A verdict stands for a text (by its hash) and a version of the rules; it never holds a part of the text. The memory is
a file in the user's cache folder, nobody else's; without it, or with a broken one, texts are simply looked at again.
"""

import contextlib
import json
import os
import stat
import threading
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.safety import FINDING_KINDS, Finding, FindingKind
from workbench.core.text import clean_for_store
from workbench.safety import scanning
from workbench.store.library import Library, Touched

if TYPE_CHECKING:
    from queue import SimpleQueue

    from workbench.core.agents.provenance import Provenance
    from workbench.services.safety.kept_origins import KeptOrigins


# Where texts come from, as far as it was found out already: the journal is not read again for what did not change.


Place = tuple[str, str]
"""Table and key of a record."""


class Origins:
    """What is known of one store. What a transaction touches is forgotten, whoever made it. Any thread may ask.

    In the cache `folder` it is kept for the next process (`None`: nowhere).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[Place, Provenance] = {}
        self._lock = threading.Lock()
        self._touches = 0
        self._heard = -1
        """The last transaction that was heard of."""
        self._library: Library | None = None
        self._is_new = False

    def known(self, library: Library, table: str, keys: Collection[str]) -> "tuple[dict[str, Provenance], int]":
        """Return what is known of some records, and a moment to give to `learn` with what is found out of others."""
        self._follow(library)
        with self._lock:
            found, moment = self._among(table, keys), self._touches
        rest = [key for key in keys if key not in found]
        if rest and (kept := self._kept()) is not None and (read := kept.read(table, rest)):
            with self._lock:
                if moment == self._touches:
                    self._known.update(((table, key), one) for key, one in read.items())
                return self._among(table, keys), self._touches
        return found, moment

    def learn(self, table: str, found: "Mapping[str, Provenance]", moment: int) -> None:
        """Keep what was found out, unless something was changed since that moment."""
        with self._lock:
            if moment == self._touches:
                self._known.update(((table, key), one) for key, one in found.items())
                self._is_new = self._is_new or bool(found)

    def keep(self) -> None:
        """Keep for the next process what was found out in this one; nothing fails for it."""
        kept = self._kept() if self._is_new else None
        if kept is None:
            return
        now = kept.now()
        with self._lock:
            known, is_whole = dict(self._known), self._heard == now.rev
        # What was taken in and not heard of yet may have touched what is known.
        if is_whole:
            kept.write(known, now)
            self._is_new = False

    def _among(self, table: str, keys: Collection[str]) -> "dict[str, Provenance]":
        return {key: self._known[table, key] for key in keys if (table, key) in self._known}

    def _kept(self) -> "KeptOrigins | None":
        """Return what lies in the store's cache."""
        if self._folder is None or self._library is None:
            return None
        from workbench.services.safety.kept_origins import KeptOrigins

        return KeptOrigins(self._library, self._folder)

    def _follow(self, library: Library) -> None:
        with self._lock:
            if self._library is library:
                return
            self._library, self._known = library, {}
            self._heard = library.revision
        library.listen(self._forget)

    def _forget(self, touched: Touched) -> None:
        with self._lock:
            self._heard = touched.rev
            if touched.kind == "access":
                return  # a reading changes no text, and approves of none
            self._touches += 1
            for place in touched.keys:
                self._known.pop(place, None)


LONG = 2048
"""Characters from which a text is remembered, and in the app is looked at on another thread: below, that takes less
than a drawn row."""

REMEMBERED = 32_768
"""Texts whose verdicts are kept in memory, and verdicts that the file holds at most."""

HUGE = 65_536
"""Characters from which also what the file says about a text is put together on another thread in the app."""

MOST = 50_000
"""Findings of a text whose verdict is written down."""

_RULES = Path(scanning.__file__).parent

_NAME = slice(2, 34)
"""Where in a line of the file the hash of its text stands."""

PENDING = "not checked yet"
"""What a long text is called until its verdict has come; it is masked as a whole."""

Arrived = Callable[[str], None]


class Verdict(NamedTuple):
    """What was found in a text, one finding of each sort, and the text without its secrets (`None`: not made yet).

    `complete` says that another look at the text without them would find no more of them.
    """

    findings: tuple[Finding, ...]
    sorts: tuple[Finding, ...]
    masked: str | None = None
    complete: bool = False


class Verdicts:
    """The verdicts of this process over those in a file of the cache folder (`None`: nothing is written down)."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[str, Verdict] = {}
        self._storable: set[str] = set()
        """Of the long texts that are known, those that can be written as they are."""
        self._arrived: Arrived | None = None
        self._waiting: set[str] = set()
        self._queue: SimpleQueue[str | None] | None = None
        self._guard = threading.Lock()
        self._app: int | None = None
        self._at_once = 0
        self._read = False
        """Whether the file was read, which the app's thread never does."""

    def find(self, text: str) -> tuple[Finding, ...]:
        """Return what a text holds; on the app's thread a long unknown one is `PENDING` until it was looked at."""
        return self._verdict(text).findings

    def sorts(self, text: str) -> tuple[Finding, ...]:
        """Return the first finding of each kind, rule and reason in a text, which may hold ten thousands of them."""
        return self._verdict(text).sorts

    def masked(self, text: str) -> str:
        """Return a text without its secrets; one that is `PENDING` as a whole."""
        verdict = self._verdict(text)
        if not any(finding.kind == "secret" for finding in verdict.sorts):
            return text
        if verdict.masked is None:
            found = _secrets(verdict.findings)
            verdict = verdict._replace(
                masked=scanning.without(text, found) if verdict.complete else scanning.mask(text)
            )
            self._remember(text, verdict)
        return verdict.masked or ""

    def storable(self, text: str) -> str:
        """Return a text as it can be written; of a long one, which takes a millisecond to tell, that is remembered."""
        if text in self._storable:
            return text
        clean = clean_for_store(text)
        if clean is text and len(text) >= LONG and text in self._known:
            self._storable.add(text)
        return clean

    def in_background(self, arrived: Arrived, at_once: int = 0) -> None:
        """From now on look at no long text on this thread; `arrived` is told the text, on another one.

        Of the first of them `at_once` characters are looked at here all the same.
        """
        from queue import SimpleQueue

        self.in_foreground()
        self._at_once = at_once
        self._app, self._arrived, self._queue = threading.get_ident(), arrived, SimpleQueue()
        threading.Thread(target=self._work, args=(self._queue,), name="verdicts", daemon=True).start()

    def in_foreground(self) -> None:
        """Look at every text where it is asked for again, and let the other thread end: it holds all it works for."""
        if self._queue is not None:
            self._queue.put(None)
        self._app = self._arrived = self._queue = None
        self._waiting.clear()

    def _verdict(self, text: str) -> Verdict:
        known = self._known.get(text)
        if known is not None:
            return known
        if len(text) >= LONG:
            on_app = threading.get_ident() == self._app
            allowed = not on_app or len(text) <= self._at_once
            if on_app and (text in self._waiting or len(text) >= HUGE or not (self._read or allowed)):
                self._ask(text)
                return _pending(text)
            if (written := self._written(text)) is not None:
                return self._remember(text, _verdict(written)._replace(complete=True))
            if not allowed:
                self._ask(text)
                return _pending(text)
            if on_app:
                self._at_once -= len(text)
        return self._looked_at(text)

    def _looked_at(self, text: str) -> Verdict:
        found = scanning.scan(text)
        if len(text) < LONG:
            return self._remember(text, _verdict(found))
        once = scanning.without(text, _secrets(found))
        masked = scanning.mask(once) if _secrets(found) else text
        # Only what one look has found to its end may be told from its places again.
        if len(found) <= MOST and masked == once:
            self._write(text, found)
        return self._remember(text, _verdict(found, masked))

    def _remember(self, text: str, verdict: Verdict) -> Verdict:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
            self._storable.clear()
        self._known[text] = verdict
        return verdict

    def _ask(self, text: str) -> None:
        if self._queue is not None and text not in self._waiting:
            self._waiting.add(text)
            self._queue.put(text)

    def _work(self, queue: "SimpleQueue[str | None]") -> None:
        len(self._file)
        self._read = True
        while (text := queue.get()) is not None:
            self._verdict(text)
            self._waiting.discard(text)
            if (arrived := self._arrived) is not None:
                arrived(text)

    # The file

    @cached_property
    def _place(self) -> Path | None:
        return None if self._folder is None else self._folder / f"verdicts-{version_of(_RULES)}.jsonl"

    @cached_property
    def _file(self) -> dict[bytes, bytes]:
        """The lines of the file by the hash in front of each, none of one that is too large or not the user's own."""
        if self._place is None:
            return {}
        try:
            with open(self._place, "rb", opener=_opened) as file:
                lines = file.read(REMEMBERED * 512).splitlines()
        except OSError:
            return {}
        if len(lines) > REMEMBERED:
            with contextlib.suppress(OSError):
                self._place.unlink()
        return {line[_NAME]: line for line in lines[-REMEMBERED:]}

    def _written(self, text: str) -> tuple[Finding, ...] | None:
        """Return what the file says about a text, if it knows it; a line is read when its text is asked for."""
        line = self._file.get(_hash(text).encode())
        if line is not None:
            with contextlib.suppress(ValueError, TypeError, IndexError, RecursionError):
                _, kinds, places = json.loads(line)
                return _findings(kinds, places)
        return None

    def _write(self, text: str, found: tuple[Finding, ...]) -> None:
        if self._folder is None or self._place is None:
            return
        kinds = list(dict.fromkeys((f.kind, f.rule, f.reason) for f in found))
        number = {kind: place for place, kind in enumerate(kinds)}
        places = [(number[f.kind, f.rule, f.reason], f.start, f.end) for f in found]
        line = json.dumps([_hash(text), kinds, places], separators=(",", ":")).encode()
        self._file[line[_NAME]] = line
        with contextlib.suppress(OSError), self._guard:
            if not self._folder.is_dir():
                self._folder.mkdir(mode=0o700, parents=True)
            if not self._place.exists():
                for old in self._folder.glob("verdicts-*.jsonl"):
                    old.unlink()
            with open(self._place, "ab", opener=_opened) as file:
                file.write(line + b"\n")


def _opened(path: str, flags: int) -> int:
    """Open a file of the user's own, and nothing that a link or a pipe leads to; raises `OSError`."""
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(handle)
        raise PermissionError(path)
    return handle


def _findings(kinds: list[tuple[FindingKind, str, str]], places: list[tuple[int, int, int]]) -> tuple[Finding, ...]:
    """Return findings as they were written down; raises `ValueError` or `TypeError` for what is none."""
    sorts = [(kind, str(rule), str(reason)) for kind, rule, reason in kinds if kind in FINDING_KINDS]
    if len(sorts) < len(kinds) or not {int}.issuperset(map(type, chain.from_iterable(places))):
        raise ValueError(kinds)
    found = tuple(Finding(*sorts[sort], start, end) for sort, start, end in places if 0 <= start < end and sort >= 0)
    if len(found) < len(places):
        raise ValueError(places)
    return found


def _pending(text: str) -> Verdict:
    return _verdict((Finding("secret", PENDING, "It is not checked yet.", 0, len(text)),), f"[{PENDING}]")


def _verdict(found: tuple[Finding, ...], masked: str | None = None) -> Verdict:
    first: dict[tuple[str, str, str], Finding] = {}
    for finding in found:
        first.setdefault((finding.kind, finding.rule, finding.reason), finding)
    return Verdict(found, tuple(first.values()), masked)


def _secrets(found: tuple[Finding, ...]) -> list[Finding]:
    return [finding for finding in found if finding.kind == "secret"]


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def version_of(rules: Path) -> str:
    """Return what changes whenever the rules in a folder do: a hash of their source, and of the lists they read."""
    digest = blake2b(digest_size=6)
    for path in sorted(path for path in rules.rglob("*") if path.suffix in (".py", ".txt")):
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()
