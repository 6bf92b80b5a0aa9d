"""A log in memory that several machines share, by the rules of the one in a database."""

import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from threading import RLock
from typing import Any, get_args

from workbench.core.record import StoreProblem, iso
from workbench.store import blobs
from workbench.store.entry import LEVELS, Kind, Level
from workbench.store.journal import codec, segments
from workbench.store.journal.engine import utc_now
from workbench.store.log import (
    Body,
    Clash,
    Entry,
    LogState,
    actor_of,
    hash_after,
)

_TABLE = re.compile("[a-z_]{1,60}")


class Shared:
    """What the machines share."""

    def __init__(self) -> None:
        first = segments.header(0, segments.new_store_id())
        self.header = codec.seal(first, codec.START)
        self.entries: list[Entry] = []
        self.touched: list[frozenset[str] | None] = []
        """What each entry touches; None where it was rewritten."""
        self.revs: dict[str, int] = {}
        self.counters: dict[str, int] = {}
        self.blobs: dict[str, bytes] = {}
        self.lock = RLock()

    def hash_at(self, rev: int) -> str:
        """Return the hash of an entry, or of the header; empty for one that is not there."""
        if not rev:
            return codec.hash_of(self.header[:-1])
        return self.entries[rev - 1].hash if rev <= len(self.entries) else ""


class MemoryLog:
    """What one machine sees of it, that connects in a role. While `away`, every method raises
    `StoreProblem`.
    """

    def __init__(
        self,
        shared: Shared | None = None,
        role: str = "ann",
        level: Level = "owner",
        is_agent: bool = False,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.shared = shared or Shared()
        self.header = self.shared.header
        self.away = False
        self.level = level
        self._role, self._is_agent = role, is_agent
        self._clock = clock

    def name(self, claim: str) -> str:
        return actor_of(claim, self._role, self._is_agent)

    def state(self) -> LogState:
        with self.shared.lock:
            self._require("reader")
            rev = len(self.shared.entries)
            return LogState(rev, self.shared.hash_at(rev))

    def append(self, seen: LogState, body: Body) -> Entry:
        with self.shared.lock:
            self._require("writer" if body.needs == "reader" else body.needs)
            said = _check(body)
            self._require_own(body.kind, said)
            known = self.shared.revs.get(body.uid)
            if known is not None:
                return self.shared.entries[known - 1]
            if self.shared.hash_at(seen.rev) != seen.hash:
                raise Clash
            touched = frozenset(body.touched)
            for rev in range(len(self.shared.entries), seen.rev, -1):
                theirs = self.shared.touched[rev - 1]
                if touched and (theirs is None or touched & theirs):
                    raise Clash(self.shared.entries[rev - 1].actor)
            return self.add(
                iso(self._clock()),
                self.name(body.claim),
                body.kind,
                body.uid,
                body.data,
                touched,
                self.level,
            )

    def read(self, after: int) -> Iterator[Entry]:
        with self.shared.lock:
            self._require("reader")
            return iter(self.shared.entries[after:])

    def reserve(self, table: str, least: int, count: int) -> int:
        with self.shared.lock:
            self._require("writer")
            farthest = max(10**12, self.shared.counters.get(table, 0))
            if not (1 <= least <= farthest and 1 <= count <= 1000 and _TABLE.fullmatch(table)):
                raise StoreProblem("These are no numbers of new records.", "Nothing was changed.")
            first = max(self.shared.counters.get(table, 0), least)
            self.shared.counters[table] = first + count
            return first

    def rewrite(self, last: str, entries: Iterator[Entry]) -> None:
        new = list(entries)
        with self.shared.lock:
            self._require("owner")
            if last != self.shared.hash_at(len(self.shared.entries)):
                raise Clash
            if [entry.rev for entry in new] != list(range(1, len(new) + 1)):
                raise StoreProblem("The revisions have gaps.", "Nothing was changed.")
            self.shared.entries.clear()
            self.shared.touched.clear()
            self.shared.revs.clear()
            for entry in new:
                self.add(*entry[1:6], None, entry.level)

    def put_blob(self, data: bytes) -> str:
        with self.shared.lock:
            self._require("writer")
            name = blobs.hash_of(data)
            self.shared.blobs[name] = data
            return name

    def get_blob(self, name: str) -> bytes | None:
        with self.shared.lock:
            self._require("reader")
            return self.shared.blobs.get(name)

    def blob_names(self) -> tuple[str, ...]:
        with self.shared.lock:
            self._require("reader")
            return tuple(sorted(self.shared.blobs))

    def drop_blobs(self, names: Collection[str]) -> None:
        with self.shared.lock:
            self._require("owner")
            for name in names:
                self.shared.blobs.pop(name, None)

    def add(
        self,
        at: str,
        actor: str,
        kind: str,
        uid: str,
        data: bytes,
        touched: frozenset[str] | None,
        level: str,
    ) -> Entry:
        rev = len(self.shared.entries)
        unchained = Entry(rev + 1, at, actor, kind, uid, data, "", level)
        entry = unchained._replace(hash=hash_after(unchained, self.shared.hash_at(rev)))
        self.shared.entries.append(entry)
        self.shared.touched.append(touched)
        self.shared.revs[uid] = entry.rev
        return entry

    def _require_own(self, kind: str, said: dict[str, Any]) -> None:
        """Leave it to reviewers to take back what somebody else did."""
        if "takes" in said:
            self._require("reviewer")
        if kind in ("undo", "redo"):
            its = [e for e in self.shared.entries if e.rev == said["target"]]
            is_own = [(_role(e.actor), _group(e.data)) for e in its] == [
                (self._role, said.get("group"))
            ]
            self._require("writer" if is_own else "reviewer")

    def _require(self, needs: Level) -> None:
        if self.away:
            raise StoreProblem("The team's store cannot be reached.", "Try again later.")
        if LEVELS.index(self.level) < LEVELS.index(needs):
            raise StoreProblem(
                f"{self._role} is a {self.level} of this store; this takes a {needs}.",
                "Nothing was written; ask an owner.",
            )


def _role(actor: str) -> str:
    return actor.partition(":")[2].partition("/")[0]


def _group(data: bytes) -> object:
    return codec.loads(b"{%s}" % data).get("group")


def _check(body: Body) -> dict[str, Any]:
    """Return what an entry says; refuse what no machine could read, what could name another actor,
    and what begins another line of the journal.
    """
    try:
        said: dict[str, Any] = codec.loads(b"{%s}" % body.data)
    except ValueError as error:
        raise StoreProblem("This is no entry of a journal.", "Nothing was changed.") from error
    if (
        b"\n" in body.data
        or not body.data.startswith(b'"label":')
        or not {"changes"} <= said.keys() <= _KEYS
        or body.kind not in get_args(Kind)
        or (body.kind in ("undo", "redo") and "target" not in said)
        or not 1 <= len(body.uid) <= 64
        or not body.claim.partition(":")[0]
        or len(body.claim) > 1000
        or len(body.data) > 48 << 20
        or len(body.touched) > 1_000_000
    ):
        raise StoreProblem("This is no entry of a journal.", "Nothing was changed.")
    return said


_KEYS = {"label", "group", "part", "more", "target", "takes", "next", "changes"}
