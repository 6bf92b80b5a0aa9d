"""Memories, and what else can be searched, as columns: what the fast ranking reads instead of one
value at a time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from workbench.core.record import UnknownRecord
from workbench.core.stream.filter import Filter
from workbench.core.stream.memory import MEMORY_TYPES, SERVED, SETTLED, Memory, MemoryType
from workbench.core.text import clean_for_store
from workbench.core.tuning.episodic import domains_of, success_of, use_of
from workbench.core.tuning.naming import question_share
from workbench.core.tuning.profile import candidate_filter
from workbench.retrieval.arrays import Column, Mask, Micros, Rows, micros
from workbench.retrieval.cache_files import from_texts, read_arrays, to_texts, write_arrays
from workbench.retrieval.text_keys import Keys, first_of_equals, searched_text, text_keys

Read = Callable[[str], Memory]
"""Reads the memory that is found at a place."""


class MemoryRows(Sequence[Memory]):
    """What a pool ranks, in row order: memories, or the places of those that are read when they are
    first looked at.

    A store is opened to answer a question, and the answer shows ten memories of a hundred thousand.
    """

    def __init__(self, items: Iterable[Memory | str], read: Read | None = None) -> None:
        self._items = list(items)
        self._read = read

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, row: int) -> Memory:  # type: ignore[override]
        item = self._items[row]
        if isinstance(item, str):
            assert self._read is not None
            item = self._items[row] = self._read(item)
        return item

    def replaced(self, memories: Mapping[int, Memory]) -> Self:
        """Return the rows with other memories in some places."""
        rows = self.added(())
        for row, memory in memories.items():
            rows._items[row] = memory
        return rows

    def added(self, memories: Iterable[Memory]) -> Self:
        """Return the rows with more at the end."""
        return type(self)([*self._items, *memories], self._read)


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeFields:
    """One value per memory: whether it is an episode, its success (NaN: unknown), its use, and what
    it is about.

    `domain` holds indexes into `domains`; each entry of those is a tuple of names.
    """

    episode: Mask
    success: Column
    use: Column
    domain: Rows
    domains: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, memories: Sequence[Memory]) -> Self:
        success = [success_of(one.metadata) for one in memories]
        about = [domains_of(one.category, one.section, one.metadata) for one in memories]
        names = {name: number for number, name in enumerate(dict.fromkeys(about))}
        return cls(
            np.array([one.memory_type == "episodic" for one in memories], np.bool_),
            np.array([np.nan if value is None else value for value in success], np.float64),
            np.array([use_of(one.access_count) for one in memories], np.float64),
            np.array([names[name] for name in about], np.intp),
            tuple(names),
        )


PINNED = len(MEMORY_TYPES)
"""What is added to the kind of a pinned memory, so that each memory type has one kind more."""

FILTERS = 32
"""Candidate filters whose rows a pool remembers at most."""

_KINDS = {name: code for code, name in enumerate(MEMORY_TYPES)}
"""A type that a newer version may have written counts as the first."""

COLUMNS = (
    "created",
    "accessed",
    "feedback",
    "importance",
    "net",
    "kind",
    "session",
    "speaker",
    "servable",
    "settled",
)
"""The columns that are read from memories; all others follow from them."""

_FILE = "columns.npz"
_EDITION = 6
"""Of another edition a file is not read."""


class Token:
    """The identity of a state of some columns: a new one for every change, so caches never mix them
    up.
    """

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Pool:
    """All memories of a store, in row order, as columns; unchanged columns are shared between
    versions.

    `created`, `accessed` and `feedback` (the last vote, else the creation) are in microseconds;
    `importance` is 0–10 before votes; `net` is helpful − harmful; `kind` the index of the memory
    type, plus `PINNED`; `session` a number per session and `speaker` one per speaker, −1 for none;
    `servable` whether the status may be served at all, `settled` whether it was confirmed. The
    three tokens change with what they cover: layout (membership, sessions, speakers, creation,
    servable), access, importance.
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
        """Read the columns of `memories`; row i is `memories[i]`. Raises `ValueError` when an id
        occurs twice.
        """
        names = _Names({}, {})
        return cls(
            MemoryRows(memories),
            _rows_of([m.id for m in memories]),
            *names,
            **_columns(memories, names),
        )

    @classmethod
    def kept(cls, folder: Path, state: str, read: Read) -> Self | None:
        """Return the pool that was kept for a state of the store, `None` when there is nothing
        sound.
        """
        arrays = read_arrays(folder / _FILE, f"{_EDITION} {state}")
        if arrays is None:
            return None
        ids, places, *named = (
            to_texts(arrays[name]) for name in ("ids", "places", "sessions", "speakers")
        )
        names = _Names(*({name: number for number, name in enumerate(each)} for each in named))
        columns: dict[str, Any] = {name: arrays[name] for name in COLUMNS}
        pool = cls(MemoryRows(places, read), _rows_of(ids), *names, **columns)
        pool.__dict__.update({name: arrays[name] for name in _DERIVED})
        return pool

    def keep(self, folder: Path, state: str, places: Sequence[str]) -> None:
        """Keep the pool for a state of the store, with the `places` that `kept` reads its memories
        from.
        """
        names = {
            "ids": [*self.row_of],
            "places": places,
            "sessions": [*self.sessions],
            "speakers": [*self.speakers],
        }
        arrays = {name: getattr(self, name) for name in (*COLUMNS, *_DERIVED)}
        arrays |= {name: from_texts(names[name]) for name in names}
        write_arrays(folder / _FILE, f"{_EDITION} {state}", arrays)

    def __len__(self) -> int:
        return len(self.memories)

    def memory(self, id: str) -> Memory:
        """Return the memory with this id. Raises `UnknownRecord`."""
        return self.memories[self.row(id)]

    def among(self, ids: Iterable[str]) -> Mask:
        """Return a flag for each row, set where its id is one of some; what is not in the pool
        flags nothing.
        """
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
        """Tell for each row whether an agent asking at `now` may be given it
        (`core.stream.memory`).
        """
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
        """Tell for each row whether a candidate filter lets it take part; only relative times look
        at `now`.

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
        for name, make in _OF_TEXTS.items():
            if name in self.__dict__:
                pool.__dict__[name] = np.concatenate([self.__dict__[name], make(memories)])
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
        """Return the rows by session, then creation, then id, so that neighbours stand side by
        side.
        """
        return np.lexsort((self.id_rank, self.created, self.session))

    @cached_property
    def twins(self) -> Rows | None:
        """Return for each row the first row with the same text, or `None` when all texts differ.

        A BLAS product rounds differently at different rows, so equal texts would get scores that
        differ in the last digit; giving them one score keeps ties, and so rankings, stable.
        """
        return first_of_equals(self.text_keys)

    @cached_property
    def asks(self) -> Column:
        """Return the share of each text that asks, 0…1; nothing but what weighs questions waits for
        it.
        """
        return _asking(self.memories)

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
        return _text_keys(self.memories)

    @property
    def has_keys(self) -> bool:
        """Whether the texts were named already."""
        return "text_keys" in self.__dict__

    def take_keys(self, keys: Keys) -> None:
        """Be told the `text_keys` by who has named the texts already."""
        self.__dict__["text_keys"] = keys


def _asking(memories: Iterable[Memory]) -> Column:
    """Return the share of each content that asks."""
    return np.array([question_share(memory.content) for memory in memories], np.float64)


def _text_keys(memories: Iterable[Memory]) -> Keys:
    return text_keys([clean_for_store(searched_text(memory)) for memory in memories])


_OF_TEXTS: Mapping[str, Callable[[Sequence[Memory]], Any]] = {
    "text_keys": _text_keys,
    "asks": _asking,
}
"""The derived columns that are made of each text alone."""

_DERIVED = (*_OF_TEXTS, "id_rank", "order")
"""What is kept beside the columns that are read from memories."""


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
        "created": np.array([micros(m.created_at) for m in memories], np.int64),
        "accessed": np.array([micros(m.last_accessed_at) for m in memories], np.int64),
        "feedback": np.array(
            [micros(m.last_feedback_at or m.created_at) for m in memories], np.int64
        ),
        "importance": np.array([m.importance_score for m in memories], np.float64),
        "net": np.array([m.net_marks for m in memories], np.float64),
        "kind": np.array(
            [_KINDS.get(m.memory_type, 0) + PINNED * m.pinned for m in memories], np.int8
        ),
        "servable": np.array([m.status in SERVED for m in memories], np.bool_),
        "settled": np.array([m.status in SETTLED for m in memories], np.bool_),
    }


def _numbered(known: dict[str, int], names: Sequence[str]) -> NDArray[np.int32]:
    """Return the number of each name, −1 for none, numbering those that are new in `known`."""
    return np.array(
        [known.setdefault(name, len(known)) if name else -1 for name in names], np.int32
    )


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
    changed = [new.memories[row] for row in rows.tolist()]
    if np.array_equal(old.text_keys[rows], _text_keys(changed)):
        keep += ["twins", *_OF_TEXTS]
    else:
        for name in _OF_TEXTS.keys() & old.__dict__.keys():
            column = new.__dict__[name] = old.__dict__[name].copy()
            column[rows] = _OF_TEXTS[name](changed)
    for name in keep:
        if name in old.__dict__:
            new.__dict__[name] = old.__dict__[name]
