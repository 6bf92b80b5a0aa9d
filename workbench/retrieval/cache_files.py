"""Caches on disk: folders beside each other, and files of arrays that are made again when they are
not sound.

A cache folder lies in the store's own, which is never made for the sake of a cache.
"""

import contextlib
import json
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from workbench.core.files.atomic import write_file

Arrays = dict[str, NDArray[Any]]

_STATE = "state"

UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, NotImplementedError, BadZipFile, zlib.error,
)  # fmt: skip
"""What a file of arrays raises that is none, or damaged."""


def make(folder: Path) -> None:
    """Make a cache folder and its parent. Raises `OSError` where the folder above them is missing:
    that of a store that was deleted is not made again.
    """
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def write_arrays(path: Path, state: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep arrays that were made of a `state` of something; where that cannot be done, nothing is
    kept.
    """
    held = BytesIO()
    np.savez(held, allow_pickle=False, **{_STATE: from_texts([state]), **arrays})
    with contextlib.suppress(OSError):
        make(path.parent)
        write_file(path, held.getvalue(), durable=False)


def read_arrays(path: Path, state: str) -> Arrays | None:
    """Return the arrays that were made of a state, `None` when there are none or the file is not
    sound.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            if to_texts(file[_STATE]) == [state]:
                return {name: file[name] for name in file.files}
    except UNREADABLE:
        pass
    return None


def from_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts as an array."""
    return np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)


def to_texts(array: NDArray[np.uint8]) -> list[str]:
    """Return the texts that `from_texts` was given."""
    found: list[str] = json.loads(array.tobytes())
    return found
