"""The text that stands for a memory, and texts named by their content, so that caches know one
wherever it stands.
"""

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Rows


def searched_text(memory: Memory) -> str:
    """Return the content, preceded by the summary when that says something the content does not
    contain.
    """
    content, summary = memory.content, memory.summary.strip()
    return content if not summary or summary in content else f"{summary}\n{content}"


KEY_SIZE = 16

Keys = NDArray[np.uint64]
"""Names of n texts, shape (n, 2)."""


def text_key(text: str) -> bytes:
    """Name a text by its content: 16 bytes of BLAKE2b."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=KEY_SIZE).digest()


def text_keys(texts: Sequence[str]) -> Keys:
    """Name several texts; about 1 µs each."""
    return keys_of(b"".join(map(text_key, texts)))


def keys_of(raw: bytes) -> Keys:
    """Read keys that stand one after the other."""
    return np.frombuffer(raw, np.dtype("<u8")).reshape(-1, 2)


def first_places(keys: Keys) -> Rows:
    """Return, ascending, where each distinct key stands first."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    # The sort is stable, so the first of a run of equal keys is the first of them all.
    return np.sort(order[new])


def first_of_equals(keys: Keys) -> Rows | None:
    """Return for each key where it stands first, or `None` when all keys differ."""
    ordered = np.sort(keys[:, 0])  # `np.unique` takes ten times as long
    if (ordered[1:] != ordered[:-1]).all():
        return None
    first = first_places(keys)
    return None if len(first) == len(keys) else first[KeyTable(keys[first]).find(keys)]


class KeyTable:
    """Finds keys among n known ones; immutable."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Keys) -> Rows:
        """Return for each of `keys` its place among the known ones, −1 where it is not known.

        Keys that stand where they stand among the known ones, as after a start, are not searched
        for.
        """
        same = min(len(keys), len(self.keys))
        place = np.full(len(keys), -1, np.intp)
        place[:same] = np.where((keys[:same] == self.keys[:same]).all(axis=1), np.arange(same), -1)
        rest = np.flatnonzero(place < 0)
        if len(rest) and len(self.keys):
            order, ordered = self._search
            near = np.searchsorted(ordered, keys[rest, 0])
            found = order[np.minimum(near, len(self.keys) - 1)]
            place[rest] = np.where((self.keys[found] == keys[rest]).all(axis=1), found, -1)
        return place

    @cached_property
    def _search(self) -> tuple[Rows, NDArray[np.uint64]]:
        # One half of a key is as good as unique; the other half is compared, not searched.
        order = np.argsort(self.keys[:, 0])
        return order, self.keys[order, 0]
