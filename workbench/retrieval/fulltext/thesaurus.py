"""Words of like meaning, read off the embedding model's own vocabulary: nothing in it comes from a store.

A stem's vector is the mean of its words' unit vectors. Its related stems are the nearest ones, at most `MOST`, with a
cosine of `LEAST` or more. It depends on the model only, so it is made once for a model; the bundled one's is shipped.
"""

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from workbench.retrieval.arrays import Vectors
from workbench.retrieval.fulltext.matches import LEAST, Near
from workbench.retrieval.fulltext.stemming import stems

MOST = 16
SHORTEST = 3
"""Letters of the shortest word that takes part."""

BLOCK = 1_024
"""Stems compared at a time with all others."""


class Thesaurus:
    """Which stems are related to which: row i of `cosines` belongs to the stems numbered from `ends[i − 1]`."""

    def __init__(
        self, names: Sequence[str], ends: NDArray[np.int64], others: NDArray[np.int64], cosines: Vectors
    ) -> None:
        self.names = tuple(names)
        self._number = {name: number for number, name in enumerate(self.names)}
        self._ends, self._others, self._cosines = ends, others, cosines

    def __len__(self) -> int:
        return len(self._others)

    def near(self, stem: str) -> Near:
        """Return the stems related to one, the nearest first; nothing for one that the model does not know."""
        number = self._number.get(stem)
        if number is None:
            return ()
        part = slice(int(self._ends[number - 1]) if number else 0, int(self._ends[number]))
        return tuple(
            (self.names[other], float(cosine))
            for other, cosine in zip(self._others[part].tolist(), self._cosines[part].tolist(), strict=True)
        )

    def to_bytes(self) -> bytes:
        """Return it as a file."""
        out = io.BytesIO()
        np.savez_compressed(
            out,
            names=np.frombuffer("\n".join(self.names).encode(), np.uint8),
            counts=np.diff(self._ends, prepend=0).astype(np.uint8),
            others=self._others.astype(np.uint16 if len(self.names) <= 1 << 16 else np.uint32),
            cosines=self._cosines.astype(np.float16),
        )
        return out.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Thesaurus":
        """Read a file. Raises `ValueError` for one that is none."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                names = file["names"].tobytes().decode().split("\n")
                ends = np.cumsum(file["counts"].astype(np.int64))
                others, cosines = file["others"].astype(np.int64), file["cosines"].astype(np.float32)
        except (ValueError, KeyError, OSError, EOFError, BadZipFile, zlib.error) as error:
            raise ValueError(f"no thesaurus: {error}") from error
        sound = len(names) == len(ends) and len(others) == len(cosines) == (int(ends[-1]) if len(ends) else 0)
        if not sound or (len(others) and int(others.max()) >= len(names)):
            raise ValueError("no thesaurus: its parts do not fit together")
        return cls(names, ends, others, cosines)


def built(vocabulary: Mapping[str, int], vectors: Vectors) -> Thesaurus:
    """Make the thesaurus of a model from its tokens, each with its row in `vectors`, shape (tokens, dim)."""
    words = sorted(w for w in vocabulary if w.isascii() and w.isalpha() and w.islower() and len(w) >= SHORTEST)
    units = _unit(np.asarray(vectors[[vocabulary[word] for word in words]], np.float32))
    of_word = stems(words)
    names = sorted(set(of_word))
    place = {name: number for number, name in enumerate(names)}
    sums = np.zeros((len(names), units.shape[1]), np.float32)
    np.add.at(sums, [place[stem] for stem in of_word], units)
    return _compared(names, _unit(sums))


def read(path: Path) -> Thesaurus | None:
    """Return the thesaurus in a file, `None` when there is none or it cannot be read."""
    try:
        return Thesaurus.from_bytes(path.read_bytes())
    except (OSError, ValueError):
        return None


def _compared(names: Sequence[str], units: Vectors) -> Thesaurus:
    others, cosines, counts = [], [], []
    for start in range(0, len(names), BLOCK):
        cosine = units[start : start + BLOCK] @ units.T
        cosine[np.arange(len(cosine)), np.arange(start, start + len(cosine))] = -1.0
        for row in cosine:
            near = np.flatnonzero(row >= LEAST)
            near = near[np.argsort(-row[near], kind="stable")][:MOST]
            others.append(near)
            cosines.append(row[near])
            counts.append(len(near))
    nothing: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    return Thesaurus(
        names, np.cumsum(counts), np.concatenate(others or nothing), np.concatenate(cosines or nothing).astype("f4")
    )


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, 1e-9)
    return unit
