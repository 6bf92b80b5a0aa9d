"""A store's floors on disk, with the texts that they were reckoned from; checked before it is
believed.

The file is not truth: one that is missing, torn, foreign or of other background questions is like
none, and the floor is computed again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.core.record import WorkStopped
from workbench.core.runtime import Cancelled
from workbench.core.tuning.floor import (
    ENOUGH,
    OF_OTHERS,
    Floor,
    Reach,
    floor_of,
    has_changed,
    written,
)
from workbench.core.words import ENGLISH, script_of
from workbench.retrieval.arrays import Mask, Rows
from workbench.retrieval.cache_files import from_texts, read_arrays, to_texts, write_arrays
from workbench.retrieval.fulltext import terms
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.ranker import Ranker
from workbench.retrieval.text_keys import Keys, searched_text

# What questions reach over the memories that may be served: the best cosine and the best full-text
# score.


BACKGROUND = Path(__file__).with_name("background")
"""Questions from many fields, a file for each language, one a line; a store has nothing to do with
nearly all.
"""

CELLS = 1 << 21
"""Cosines held at a time (8 MB): as many questions as have room are put in one matrix product."""


@cache
def background() -> Mapping[str, tuple[str, ...]]:
    """Return the background questions of each language."""
    files = sorted(BACKGROUND.glob("*.txt"))
    return {file.stem: tuple(file.read_text("utf-8").splitlines()) for file in files}


@cache
def edition() -> str:
    """Name the background questions, and how texts are searched, by their content: 16 hexadecimal
    digits.
    """
    asked = "\n".join((terms.edition(), *chain.from_iterable(background().values())))
    return blake2b(asked.encode(), digest_size=8).hexdigest()


def reach_of(scores: QueryScores, served: Mask) -> Reach | None:
    """Return what a query reaches over the rows of a mask, `None` when it has none."""
    if not served.any():
        return None
    known = scores.known is None or bool((scores.known & served).any())
    cosine, lexical, memory = (
        float(c[served].max()) for c in (scores.dense, scores.lexical, scores.relevance)
    )
    return Reach(cosine, lexical, memory, known)


def weak_rows(floor: Floor, scores: QueryScores, rows: Rows) -> Mask:
    """Tell of each of some rows whether it is weak: the fast form of `Floor.is_weak`."""
    found: Mask = (scores.relevance[rows] < floor.memory) & (scores.lexical[rows] < ENOUGH)
    return found


def floors_of(ranker: Ranker, served: Mask, cancelled: Cancelled | None = None) -> dict[str, Floor]:
    """Return the floor of each script in which enough is written: the highest of its languages.

    Languages in Latin letters have one each, those that the store has; so has English, where it has
    any of them. Raises `WorkStopped` when `cancelled()` becomes true.
    """
    scripts = written(map(searched_text, ranker.pool.memories_at(np.flatnonzero(served))))
    floors: dict[str, Floor] = {}
    for language, questions in background().items():
        script = script_of(questions[0])
        name, is_other = (language, language != ENGLISH) if script == "latin" else (script, False)
        if script in scripts and (not is_other or language in ranker.lexical.languages):
            found = list(reached(ranker, served, questions, cancelled))
            floor = floor_of(found, OF_OTHERS) if is_other else floor_of(found)
            floors[name] = max(floors.get(name, floor), floor, key=lambda one: one.query)
    return floors


def reached(
    ranker: Ranker, served: Mask, questions: Sequence[str], cancelled: Cancelled | None = None
) -> Iterator[Reach]:
    """Yield what each question reaches over the rows of a mask, which has at least one.

    Raises `WorkStopped` when `cancelled()` becomes true.
    """
    for scores in ranker.relevances(questions, max(1, CELLS // len(served))):
        if cancelled is not None and cancelled():
            raise WorkStopped(
                "The background questions were stopped.", "The floor is computed next time."
            )
        if (reach := reach_of(scores, served)) is not None:
            yield reach


Texts = NDArray[np.uint64]
"""The distinct texts of a pool, ascending: the first halves of their keys."""


@dataclass(frozen=True, eq=False)
class Kept:
    """The floors by language or script, and the texts of the memories that they were reckoned from."""

    floors: Mapping[str, Floor]
    texts: Texts

    def fits(self, texts: Texts) -> bool:
        """Tell whether a pool with these texts is still much the same."""
        common = np.intersect1d(self.texts, texts, assume_unique=True)
        return not has_changed(len(self.texts), len(texts), len(common))


class FloorFile(NamedTuple):
    """The floors of a store under one model, whose `fingerprint` names the file in `folder`."""

    folder: Path
    fingerprint: str

    @property
    def path(self) -> Path:
        return self.folder / f"{self.fingerprint}.npz"

    def read(self) -> Kept | None:
        """Return what is kept, `None` when there is nothing sound."""
        arrays = read_arrays(self.path, self._state)
        if arrays is None:
            return None
        floors = zip(to_texts(arrays["names"]), map(Floor, *arrays["floors"].tolist()), strict=True)
        return Kept(dict(floors), arrays["texts"])

    def write(self, kept: Kept) -> None:
        """Keep floors; where it cannot be written it is computed again next time."""
        reached = [(floor.query, floor.memory) for floor in kept.floors.values()]
        floors = np.array(reached, np.float64).reshape(-1, 2).T
        write_arrays(
            self.path,
            self._state,
            {"names": from_texts([*kept.floors]), "floors": floors, "texts": kept.texts},
        )

    @property
    def _state(self) -> str:
        return f"{self.fingerprint} {edition()}"


def texts_of(keys: Keys, served: Mask) -> Texts:
    """Return the distinct texts of the rows of a mask."""
    return np.unique(keys[served, 0]).astype(np.uint64, copy=False)
