"""Memories, and what else can be searched, as columns: what the fast ranking reads instead of one value at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from msgspec.structs import fields
from numpy.typing import NDArray

from workbench.core.document import are_readable
from workbench.core.record import Doc, UnknownRecord
from workbench.core.served import SERVED, SETTLED
from workbench.core.stream.filter import Filter
from workbench.core.stream.memory import AGENTS_MARKS, MEMORY_TYPES, Memory, MemoryType
from workbench.core.text import clean_for_store
from workbench.core.tuning.candidates import candidate_filter
from workbench.core.tuning.episodic import domains_of, success_of, use_of
from workbench.core.tuning.naming import question_share
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.memory_rows import MemoryRows
from workbench.retrieval.ranking.times import Micros, micros, parsed_micros
from workbench.retrieval.text import content_and_summary, text_of
from workbench.retrieval.text_keys import Keys, first_of_equals, text_keys

# Many documents at once: their fields as columns, and whether all of them can be read as records.
#
# Reading each document on its own takes several times as long: a store's documents lie far apart in memory, and
# few fields hold anything but a text or a number.


_NULL = type(None)

Convert = Callable[[Sequence[Any]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class _Part:
    """A field in the documents of one shape."""

    rows: Rows
    values: tuple[Any, ...]
    types: frozenset[type]


class DocColumns:
    """The fields of n documents, each of which is looked at once; an absent field is a null."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self._size = len(docs)
        # Documents of one store have few shapes, that is: names that they hold, in order.
        shapes: dict[tuple[str, ...], int] = {}
        shape = np.array([shapes.setdefault(names, len(shapes)) for names in map(tuple, docs)], np.intp)
        values = [tuple(doc.values()) for doc in docs]
        self._parts: dict[str, list[_Part]] = {}
        for names, number in shapes.items():
            rows = np.flatnonzero(shape == number)
            columns = zip(*[values[row] for row in rows.tolist()], strict=True)
            for name, column in zip(names, columns, strict=True):
                self._parts.setdefault(name, []).append(_Part(rows, column, frozenset(map(type, column))))

    def types(self, name: str) -> frozenset[type]:
        parts = self._parts.get(name, [])
        found = frozenset(chain.from_iterable(part.types for part in parts))
        everywhere = sum(len(part.rows) for part in parts) == self._size
        return found if everywhere else found | {_NULL}

    def given(self, name: str) -> Iterator[tuple[Rows, Sequence[Any]]]:
        """Yield the rows in which a field is not null, and its values there."""
        for part in self._parts.get(name, []):
            if _NULL in part.types:
                there = [at for at, value in enumerate(part.values) if value is not None]
                yield part.rows[there], [part.values[at] for at in there]
            else:
                yield part.rows, part.values

    def column(self, name: str, default: object, dtype: type[np.generic], convert: Convert = np.array) -> NDArray[Any]:
        """Return a field of all documents as numbers, with `default` for null; what `convert` raises is raised."""
        out = np.full(self._size, default, dtype)
        for rows, values in self.given(name):
            out[rows] = convert(values)
        return out

    def readable(self, kind: type, apart: frozenset[str] = frozenset()) -> bool:
        """Tell whether `from_doc(kind, doc)` succeeds for every document.

        Of the fields named in `apart` it is only looked at whether they are texts; the caller reads them.
        """
        for spec in fields(kind):
            types = self.types(spec.name)
            if spec.required and _NULL in types:
                return False
            if spec.name in apart:
                fit = types <= {str, _NULL}
            else:
                columns = (column for _, column in self.given(spec.name))
                fit = are_readable(kind, spec.name, chain.from_iterable(columns))
            if not fit:
                return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeFields:
    """One value per memory: whether it is an episode, its success (NaN: unknown), its use, and what it is about.

    `domain` holds indexes into `domains`; each entry of those is a tuple of names.
    """

    episode: Mask
    success: Column
    use: Column
    domain: Rows
    domains: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, memories: MemoryRows) -> Self:
        count = len(memories)
        kinds = memories.values("memory_type")
        metadata = [found if isinstance(found, dict) else {} for found in memories.values("metadata")]
        success = (success_of(one) for one in metadata)
        reads = (found if isinstance(found, int) else 0 for found in memories.values("access_count"))
        names: dict[tuple[str, ...], int] = {}
        rows = zip(memories.values("category"), memories.values("section"), metadata, strict=True)
        about = (domains_of(str(category or ""), str(section or ""), one) for category, section, one in rows)
        return cls(
            np.fromiter(((kind or "episodic") == "episodic" for kind in kinds), np.bool_, count),
            np.fromiter((np.nan if value is None else value for value in success), np.float64, count),
            np.fromiter(map(use_of, reads), np.float64, count),
            np.fromiter((names.setdefault(name, len(names)) for name in about), np.intp, count),
            tuple(names),
        )


PINNED = len(MEMORY_TYPES)
"""What is added to the kind of a pinned memory, so that each memory type has one kind more."""

FILTERS = 32
"""Candidate filters whose rows a pool remembers at most."""

_KINDS = {name: code for code, name in enumerate(MEMORY_TYPES)}
_HELPFUL = ("helpful_imported", "helpful_created", "helpful_absorbed", "helpful_votes")
_HARMFUL = ("harmful_imported", "harmful_votes")
_TIMES = frozenset({"created_at", "last_accessed_at", "last_feedback_at"})


COLUMNS = ("created", "accessed", "feedback", "importance", "net", "kind", "session", "speaker", "servable", "settled")
"""The columns that are read from memories; all others follow from them."""


class Token:
    """The identity of a state of some columns: a new one for every change, so caches never mix them up."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Pool:
    """All memories of a store, in row order, as columns; unchanged columns are shared between versions.

    `created`, `accessed` and `feedback` (the last vote, else the creation) are in microseconds; `importance`
    is 0–10 before votes; `net` is helpful − harmful; `kind` the index of the memory type, plus `PINNED`;
    `session` a number per session and `speaker` one per speaker, −1 for none; `servable` whether the status may be
    served at all, `settled` whether it was confirmed. The three tokens change with what they cover: layout
    (membership, sessions, speakers, creation, servable), access, importance.
    """

    memories: MemoryRows
    row_of: Mapping[str, int]
    sessions: Mapping[str, int]
    speakers: Mapping[str, int]
    created: Micros
    accessed: Micros
    feedback: Micros
    importance: NDArray[np.float64]
    net: NDArray[np.float64]
    kind: NDArray[np.int8]
    session: NDArray[np.int32]
    speaker: NDArray[np.int32]
    servable: Mask
    settled: Mask
    layout_token: Token = field(default_factory=Token)
    access_token: Token = field(default_factory=Token)
    importance_token: Token = field(default_factory=Token)

    @classmethod
    def build(cls, memories: Sequence[Memory]) -> Self:
        """Read the columns of `memories`; row i is `memories[i]`. Raises `ValueError` when an id occurs twice."""
        names = _Names({}, {})
        row_of = _rows_of([memory.id for memory in memories])
        return cls(MemoryRows(memories), row_of, *names, **_columns(memories, names))

    @classmethod
    def read(cls, docs: Sequence[Doc]) -> Self | None:
        """Read the columns from the documents of memories, which become memories when they are looked at.

        The documents must not be changed any more. Returns `None` when one of them cannot be read as a memory,
        or an id occurs twice.
        """
        columns, names = DocColumns(docs), _Names({}, {})
        if not columns.readable(Memory, _TIMES):
            return None
        try:
            row_of = _rows_of([str(doc["id"]) for doc in docs])
            return cls(MemoryRows(docs), row_of, *names, **_read_columns(columns, names))
        except (ValueError, TypeError, KeyError, OverflowError):
            return None

    @classmethod
    def restored(
        cls,
        rows: MemoryRows,
        ids: Sequence[str],
        names: tuple[Mapping[str, int], Mapping[str, int]],
        columns: Mapping[str, NDArray[Any]],
    ) -> Self:
        """Return a pool of columns that were read before, those that follow from others (`asks`, …) among them."""
        row_of = _rows_of(ids)
        read: dict[str, Any] = {name: columns[name] for name in COLUMNS}
        pool = cls(rows, row_of, *names, **read)
        pool.take_keys(columns["text_keys"])
        pool.__dict__.update({name: columns[name] for name in ("asks", "id_rank", "order")})
        return pool

    def __len__(self) -> int:
        return len(self.memories)

    def memory(self, id: str) -> Memory:
        """Return the memory with this id. Raises `UnknownRecord`."""
        return self.memories[self.row(id)]

    def among(self, ids: Iterable[str]) -> Mask:
        """Return a flag for each row, set where its id is one of some; what is not in the pool flags nothing."""
        flags = np.zeros(len(self), np.bool_)
        flags[[row for id in ids if (row := self.row_of.get(id)) is not None]] = True
        return flags

    def row(self, id: str) -> int:
        """Return the row of this id. Raises `UnknownRecord`."""
        row = self.row_of.get(id)
        if row is None:
            raise UnknownRecord(f"No memory {id} takes part in the ranking.")
        return row

    def served(self, now: datetime) -> Mask:
        """Tell for each row whether an agent asking at `now` may be given it (`core.served`)."""
        return self.servable & (self.created <= micros(now))

    def later(self, now: datetime) -> int:
        """Return how many would be served but that they are dated after `now`."""
        return int(np.count_nonzero(self.servable & (self.created > micros(now))))

    def memories_at(self, rows: Rows) -> list[Memory]:
        """Return the memories of some rows, in their order; no other is read for it."""
        return [self.memories[row] for row in rows.tolist()]

    def is_pinned(self) -> Mask:
        """Tell for each row whether it is pinned."""
        return self.kind >= PINNED

    def is_of(self, *types: MemoryType) -> Mask:
        """Tell for each row whether its memory type is one of these."""
        return np.isin(self.kind % PINNED, [_KINDS[name] for name in types])

    def matching(self, candidates: str, now: datetime) -> Mask:
        """Tell for each row whether a candidate filter lets it take part; only relative times look at `now`.

        Raises `InvalidQuery` for a filter that cannot be read.
        """
        found = candidate_filter(candidates, now)
        known: dict[Filter, Mask] = self.__dict__.setdefault("_matching", {})
        mask = known.get(found)
        if mask is None:
            passes = found.predicate()
            mask = np.fromiter(map(passes, self.memories), np.bool_, len(self))
            if len(known) >= FILTERS:
                known.clear()
            known[found] = mask
        return mask

    def with_replaced(self, memories: Iterable[Memory]) -> Self:
        """Return a pool in which these memories have their new values; their ids must be known.

        Costs a copy of the columns that really change, no rebuild. Raises `UnknownRecord`.
        """
        new = list(memories)
        rows = np.array([self.row(m.id) for m in new], np.intp)
        names = _Names(dict(self.sessions), dict(self.speakers))
        changed: dict[str, Any] = {}
        for name, values in _columns(new, names).items():
            column = getattr(self, name)
            if not np.array_equal(column[rows], values):
                changed[name] = column.copy()
                changed[name][rows] = values
        everything = self.memories.replaced(dict(zip(rows.tolist(), new, strict=True)))
        pool = replace(self, memories=everything, **names._asdict(), **changed, **_tokens(changed))
        _carry_over(self, pool, rows)
        return pool

    def with_added(self, memories: Sequence[Memory]) -> Self:
        """Return a pool with more rows at the end. Raises `ValueError` when an id is already there."""
        row_of = {**self.row_of, **{m.id: len(self) + i for i, m in enumerate(memories)}}
        if len(row_of) != len(self) + len(memories):
            raise ValueError("an id occurs twice")
        names = _Names(dict(self.sessions), dict(self.speakers))
        added = _columns(memories, names)
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), values]) for name, values in added.items()
        }
        pool = type(self)(self.memories.added(memories), row_of, *names, **columns)
        if "text_keys" in self.__dict__:
            pool.take_keys(np.concatenate([self.text_keys, _text_keys(map(content_and_summary, memories))]))
        if "asks" in self.__dict__:
            pool.__dict__["asks"] = np.concatenate([self.asks, _asking(map(content_and_summary, memories))])
        return pool

    @cached_property
    def id_rank(self) -> Rows:
        """Return each row's place in the order of ids: the tie-breaker of rankings."""
        order = sorted(self.row_of)
        rank = np.empty(len(self), np.intp)
        rank[[self.row_of[id] for id in order]] = np.arange(len(self))
        return rank

    @cached_property
    def order(self) -> Rows:
        """Return the rows by session, then creation, then id, so that neighbours stand side by side."""
        return np.lexsort((self.id_rank, self.created, self.session))

    @cached_property
    def twins(self) -> Rows | None:
        """Return for each row the first row with the same text, or `None` when all texts differ.

        A BLAS product rounds differently at different rows, so equal texts would get scores that
        differ in the last digit; giving them one score keeps ties, and so rankings, stable.
        """
        first: dict[tuple[str, str], int] = {}
        rows = [first.setdefault(text, row) for row, text in enumerate(self.memories.texts())]
        return None if len(first) == len(self) else np.array(rows, np.intp)

    @cached_property
    def asks(self) -> Column:
        """Return the share of each text that asks, 0…1; nothing but what weighs questions waits for it."""
        return _asking(self.memories.texts())

    @cached_property
    def actors(self) -> frozenset[str]:
        """Return everybody who said at least two memories."""
        counts = np.bincount(self.speaker[self.speaker >= 0], minlength=len(self.speakers))
        return frozenset(name for name, number in self.speakers.items() if counts[number] > 1)

    def said_by(self, row: int) -> str:
        """Return who said a memory, empty when nobody knows."""
        number = int(self.speaker[row])
        return next((name for name, code in self.speakers.items() if code == number), "")

    @cached_property
    def episodes(self) -> EpisodeFields:
        """Return what only the score of episodes reads; nothing else waits for it."""
        return EpisodeFields.read(self.memories)

    @cached_property
    def text_keys(self) -> Keys:
        """Return the name of each row's text (`retrieval.text_keys`), as the caches know it."""
        return _text_keys(self.memories.texts())

    @property
    def has_keys(self) -> bool:
        """Whether the texts were named already."""
        return "text_keys" in self.__dict__

    def take_keys(self, keys: Keys) -> None:
        """Be told the `text_keys`, and so the `twins`, by who has named the texts already."""
        self.__dict__["text_keys"] = keys
        self.__dict__["twins"] = first_of_equals(keys)


def _asking(texts: Iterable[tuple[str, str]]) -> Column:
    """Return the share of each content that asks."""
    return np.array([question_share(content) for content, _ in texts], np.float64)


def _text_keys(texts: Iterable[tuple[str, str]]) -> Keys:
    """Name texts that are given by their content and summary."""
    return text_keys([clean_for_store(text_of(*text)) for text in texts])


def _rows_of(ids: Sequence[str]) -> dict[str, int]:
    row_of = {id: row for row, id in enumerate(ids)}
    if len(row_of) != len(ids):
        raise ValueError("an id occurs twice")
    return row_of


class _Names(NamedTuple):
    """The numbers that sessions and speakers have."""

    sessions: dict[str, int]
    speakers: dict[str, int]


def _columns(memories: Sequence[Memory], names: _Names) -> dict[str, Any]:
    """Read the columns, numbering sessions and speakers that are new in `names`."""
    return {
        "session": _numbered(names.sessions, [m.session_id for m in memories]),
        "speaker": _numbered(names.speakers, [m.source.speaker or "" for m in memories]),
        **_measured(memories),
    }


def _measured(memories: Sequence[Memory]) -> dict[str, Any]:
    return {
        "created": np.array([micros(m.created_at) for m in memories], np.int64),
        "accessed": np.array([micros(m.last_accessed_at) for m in memories], np.int64),
        "feedback": np.array([micros(m.last_feedback_at or m.created_at) for m in memories], np.int64),
        "importance": np.array([m.importance_score for m in memories], np.float64),
        "net": np.array([m.net_marks for m in memories], np.float64),
        "kind": np.array([_KINDS[m.memory_type] + PINNED * m.pinned for m in memories], np.int8),
        "servable": np.array([m.status in SERVED for m in memories], np.bool_),
        "settled": np.array([m.status in SETTLED for m in memories], np.bool_),
    }


def _numbered(known: dict[str, int], names: Sequence[str]) -> NDArray[np.int32]:
    """Return the number of each name, −1 for none, numbering those that are new in `known`."""
    for name in dict.fromkeys(names):
        if name:
            known.setdefault(name, len(known))
    return _mapped({**known, "": -1}.__getitem__, names).astype(np.int32)


def _speakers(sources: Sequence[object]) -> list[str]:
    return [str(source.get("speaker") or "") if isinstance(source, dict) else "" for source in sources]


def _read_columns(docs: DocColumns, names: _Names) -> dict[str, Any]:
    """Read the columns from documents, numbering sessions and speakers; raises `ValueError` for a broken time."""
    created = docs.column("created_at", 0, np.int64, parsed_micros)
    kind = docs.column("memory_type", _KINDS["episodic"], np.int8, partial(_mapped, _KINDS.__getitem__))
    kind[docs.column("pinned", False, np.bool_)] += PINNED
    feedback = created.copy()
    for rows, at in docs.given("last_feedback_at"):
        feedback[rows] = parsed_micros(at)
    helpful, harmful = (sum(docs.column(name, 0, np.float64) for name in names) for names in (_HELPFUL, _HARMFUL))
    agents = _votes_of_agents(docs, "helpful") - _votes_of_agents(docs, "harmful")
    settled = docs.column("status", False, np.bool_, partial(_mapped, SETTLED.__contains__))
    lowest = np.where(settled | (kind >= PINNED), 0, -AGENTS_MARKS)
    return {
        "created": created,
        "accessed": docs.column("last_accessed_at", 0, np.int64, parsed_micros),
        "feedback": feedback,
        "importance": docs.column("importance_score", 5.0, np.float64),
        "net": helpful - harmful - agents + np.clip(agents, lowest, AGENTS_MARKS),
        "kind": kind,
        "session": docs.column("session_id", -1, np.int32, partial(_numbered, names.sessions)),
        "speaker": docs.column("source", -1, np.int32, lambda sources: _numbered(names.speakers, _speakers(sources))),
        "servable": docs.column("status", True, np.bool_, partial(_mapped, SERVED.__contains__)),
        "settled": settled,
    }


def _votes_of_agents(docs: DocColumns, verdict: str) -> Column:
    votes, by_agents = (docs.column(f"{verdict}_{name}", 0, np.float64) for name in ("votes", "by_agents"))
    counted: Column = np.minimum(votes, by_agents)
    return counted


def _mapped(number_of: Callable[[Any], int], values: Sequence[Any]) -> NDArray[np.int64]:
    return np.fromiter(map(number_of, values), np.int64, len(values))


_COVERS = {
    "layout_token": {"session", "speaker", "created", "servable"},
    "access_token": {"accessed", "kind"},
    "importance_token": {"importance", "net", "feedback"},
}


def _tokens(changed: Iterable[str]) -> dict[str, Any]:
    names = set(changed)
    return {token: Token() for token, covered in _COVERS.items() if covered & names}


def _carry_over(old: Pool, new: Pool, rows: Rows) -> None:
    """Keep derived columns that the change at `rows` leaves true."""
    keep = ["id_rank"]
    if new.session is old.session and new.created is old.created:
        keep.append("order")
    if new.speaker is old.speaker:
        keep.append("actors")
    if "text_keys" in old.__dict__:
        now = _text_keys(new.memories.text(row) for row in rows.tolist())
        same = np.array_equal(old.text_keys[rows], now)
        if not same:
            keys = old.text_keys.copy()
            keys[rows] = now
            new.take_keys(keys)
    else:
        same = all(old.memories.text(row) == new.memories.text(row) for row in rows)
    if same:
        keep += ["twins", "asks", "text_keys"]
    elif "asks" in old.__dict__:
        asks = old.asks.copy()
        asks[rows] = _asking(new.memories.text(row) for row in rows.tolist())
        new.__dict__["asks"] = asks
    for name in keep:
        if name in old.__dict__:
            new.__dict__[name] = old.__dict__[name]
