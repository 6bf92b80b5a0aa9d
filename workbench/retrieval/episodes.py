"""The score of episodes (source 004, section 2.4) over columns; its terms and weights are those of
`core.tuning`.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.core.agents.episodes.criteria import EDITION, Digest, digest_from
from workbench.core.files.fresh import open_handle
from workbench.core.files.locks import locked
from workbench.core.tuning.episodic import TERMS, WEIGHTS
from workbench.core.tuning.floor import BY_WORDS as WORDS
from workbench.core.tuning.floor import OF_FOUR, OF_TEN
from workbench.retrieval import cache_files
from workbench.retrieval.arrays import Column, Embed, Mask, Micros, Rows, Vectors, micros
from workbench.retrieval.floor import background
from workbench.retrieval.ranking.episodic import TermColumns

# What is searched of episodes, as JSON lines in the user's cache: each made once of the file beside
# the store.
#
# Nothing here is truth. A file that is torn, damaged or of another edition is made anew.


NAME = f"digests-{EDITION}.jsonl"


class DigestCache:
    """The digests of one store's episodes, by the hash of what they are made of. Not for several
    threads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Digest] = {}
        self._read_to = 0
        self._inode = 0

    def digests(
        self, names: Iterable[str], make: Callable[[str], Digest | None]
    ) -> dict[str, Digest]:
        """Return the digests of hashes; `make` gives those that are not known, or `None` where it
        cannot.
        """
        wanted = list(dict.fromkeys(names))
        if any(name not in self._known for name in wanted):
            self._read()
        new = {
            name: made
            for name in wanted
            if name not in self._known and (made := make(name)) is not None
        }
        if new:
            self._known.update(new)
            self._write(new)
        return {name: self._known[name] for name in wanted if name in self._known}

    def _read(self) -> None:
        """Take in the lines that came since the last look; what cannot be read is like nothing."""
        try:
            handle = open_handle(self._folder / NAME, os.O_RDONLY)
            with os.fdopen(handle, "rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if inode != self._inode:
                    self._inode, self._read_to = inode, 0
                file.seek(self._read_to)
                data = file.read()
        except OSError:
            return
        whole = data.rpartition(b"\n")[0]
        self._read_to += len(whole) + 1 if whole else 0
        for line in whole.split(b"\n"):
            found = _unsealed(line)
            if found is not None:
                self._known[found[0]] = found[1]

    def _write(self, new: dict[str, Digest]) -> None:
        """Add lines, unless somebody else does at this moment or the disk refuses; then they are
        made again.
        """
        try:
            cache_files.make(self._folder)
            with locked(self._folder / "writer.lock", make=True) as alone:
                if alone:
                    handle = open_handle(
                        self._folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND
                    )
                    with os.fdopen(handle, "ab") as file:
                        # What a killed process began ends here.
                        file.write(
                            b"\n"
                            + b"\n".join(_sealed(name, digest) for name, digest in new.items())
                            + b"\n"
                        )
        except OSError:
            return


def _sealed(name: str, digest: Digest) -> bytes:
    said = json.dumps([name, digest], separators=(",", ":")).encode()
    return _sum(said) + b" " + said


def _unsealed(line: bytes) -> tuple[str, Digest] | None:
    """Return the hash and the digest of a line, `None` for one that is not whole."""
    sum, _, said = line.partition(b" ")
    if not said or sum != _sum(said):
        return None
    try:
        name, values = json.loads(said)
        return str(name), digest_from(values)
    except (ValueError, TypeError):
        return None


def _sum(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()


# The floor under episodes: what questions reach that a store's episodes have nothing to do with
# (`core.tuning.floor`).
#
# By cosine alone, over a sample of the rows: the score of episodes knows no words.


SAMPLE = 4_096
"""Rows that the background questions are held against, at most."""

LEAST, FEW = 30, 0.4
"""Episodes below which there is no floor, and the similarity below which nothing is relevant then."""


class EpisodeFloor(NamedTuple):
    """What background questions reach: nine of ten stay below `query`, three of four find a better
    one than `row`.
    """

    query: float
    row: float


BY_WORDS = EpisodeFloor(WORDS.query, WORDS.memory)
"""The floor where words alone tell."""


def floor_of(tasks: Vectors, wholes: Vectors, embed: Embed) -> EpisodeFloor:
    """Return the floor under episodes with these vectors."""
    if len(tasks) < LEAST:
        return EpisodeFloor(FEW, FEW)
    rows = np.unique(np.linspace(0, len(tasks) - 1, SAMPLE).astype(np.intp))
    asked = embed(list(background()["en"]))
    best = np.maximum(asked @ tasks[rows].T, asked @ wholes[rows].T).max(axis=1)
    return EpisodeFloor(
        float(np.quantile(best, OF_TEN / 10)), float(np.quantile(best, 1 - OF_FOUR / 4))
    )


DECAY_DAYS = 30.0
"""Days in which the term of recency falls to 1/e."""

_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class EpisodeScores(TermColumns):
    """The terms of some rows, one number each in 0–1, and their totals. `rows` are the rows, in the
    order of the rest.

    The best come first; those with equal totals stand in the order of their rows.
    """

    rows: Rows

    @property
    def totals(self) -> Column:
        """The printed sum."""
        total: Column = np.zeros(len(self.rows))
        for term in TERMS:
            total += WEIGHTS[term] * getattr(self, term)
        return total

    def best(self, k: int) -> NDArray[np.intp]:
        """Return the places of the best, at most so many."""
        return np.argsort(-self.totals, kind="stable")[:k]


def scored(
    rows: Rows,
    similarity: Column,
    at: Micros,
    success: Mask,
    use: Column,
    domain: Mask,
    now: datetime,
) -> EpisodeScores:
    """Return the terms of some rows. All columns but `rows` and `similarity` are of every row there
    is.
    """
    days = np.maximum(micros(now) - at[rows], 0) / _DAY
    return EpisodeScores(
        np.clip(similarity, 0.0, 1.0),
        np.exp(-days / DECAY_DAYS),
        success[rows].astype(np.float64),
        use[rows],
        domain[rows].astype(np.float64),
        rows,
    )
