"""Whether a store's lines were all written on this machine, or shown to a person who took them over.

A store can come from anywhere: a clone, a pull, a copy. What it says reaches agents, so what this machine did not
write is read, but not believed, until a person has seen it. The memory of that lies outside the store, beside the
heads (see `heads`): a fingerprint of every line written here or shown, by the id of the store, so that a store that
was moved, cut or put back is still known. Files that look as they did when the head was noted are not read for it.
"""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.core.record import StoreProblem
from workbench.store.files import read_regular
from workbench.store.identity import heads
from workbench.store.identity.heads import Head
from workbench.store.journal import chain
from workbench.store.journal.codec import fingerprint
from workbench.store.maintenance.checkpoint_writer import DOCUMENTS

_ENOUGH = 100_000
"""Unknown changes after which no more are counted: packed, a few bytes can hold any number."""

_NOTED_WITHIN = 1.0
"""Seconds that a writer on this machine has to note a line after it stands in the journal."""

_HINT = "Nothing was changed; `workbench trust` shows what came and asks."

_ELSEWHERE = "Nothing was changed; copy it to a folder of your own, or name it in WORKBENCH_TRUST."


class NotTrusted(StoreProblem):
    """A change of a store that came from elsewhere and that nobody on this machine has looked at."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"The store {folder} came from elsewhere and is not trusted.", _HINT)


class StoreTrust(NamedTuple):
    """How far the lines of a store are trusted: `foreign` is how many changes of it are not known on this machine."""

    trusted: bool = True
    foreign: int = 0


class UnverifiedLines:
    """The lines that came into a store while it was open, and that are not known on this machine.

    `unknown` are the fingerprints of those that were there already. A line that is noted later (somebody trusted it in
    another process) is a stranger no longer.
    """

    def __init__(self, heads_folder: Path, unknown: Iterable[bytes] = ()) -> None:
        self._heads = heads_folder
        self._unknown = list(unknown)
        self._since = 0.0

    def add(self, line: bytes) -> None:
        """Take note of a sealed line that somebody else wrote."""
        self._unknown.append(heads.fingerprint_of(line))
        self._since = time.monotonic()

    def strangers(self, store: str, *, noted: bool) -> int | None:
        """Return how many were not written here; `None` while that cannot be told yet.

        `noted` says that nobody is writing: what is not known now is foreign.
        """
        if not self._unknown:
            return 0
        known = heads.known_lines(self._heads, store)
        self._unknown = [line for line in self._unknown if line not in known]
        if self._unknown and not noted and time.monotonic() < self._since + _NOTED_WITHIN:
            return None
        return len(self._unknown)


def stand(folder: Path, heads_folder: Path | None, *, believed: bool = False) -> tuple[StoreTrust, list[bytes]]:
    """Find out whether a store is trusted, and return the fingerprints of the lines that are not known with it.

    `believed` means that a person said so outside it. Raises `OSError`.
    """
    if heads_folder is None or believed:
        return StoreTrust(), []
    store = chain.store_id(folder)
    head = heads.read(heads_folder, store, folder)
    if head is not None and head.trusted and looks_the_same(folder, head):
        return StoreTrust(), []
    store = store or (head.store if head is not None else "")
    known = heads.known_lines(heads_folder, store)
    count, unknown = 0, []
    for line in chain.sealed_lines(folder):
        count += 1
        if (mark := heads.fingerprint_of(line)) not in known:
            unknown.append(mark)
        if len(unknown) > _ENOUGH:
            break
    if unknown:
        # A writer notes a line before it writes it, so what was written here meanwhile is known by now.
        known = heads.known_lines(heads_folder, store)
        unknown = [mark for mark in unknown if mark not in known]
    # Without a journal, memory.json is all that speaks.
    if not unknown and (count or _is_own_checkpoint(folder, heads_folder)):
        return StoreTrust(), []
    return StoreTrust(trusted=False, foreign=len(unknown)), unknown


def strange_lines(folder: Path, heads_folder: Path | None, store: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield every sealed line that is not known on this machine, in the order of the files, after its fingerprint.

    Raises `OSError`.
    """
    known = heads.known_lines(heads_folder, store) if heads_folder is not None else frozenset()
    marked = ((heads.fingerprint_of(line), line) for line in chain.sealed_lines(folder))
    yield from (each for each in marked if each[0] not in known)


def trust(folder: Path, heads_folder: Path | None, store: str) -> None:
    """Remember every line that stands in a store, and no other. Raises `OSError`."""
    lines = (heads.fingerprint_of(line) for line in chain.sealed_lines(folder))
    heads.note_lines(heads_folder, store, lines, anew=True)


def require_own(folder: Path) -> None:
    """Raise `StoreProblem` for a store that belongs to another user or that can only be read: it is not taken over."""
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        raise StoreProblem(f"{folder} belongs to another user.", _ELSEWHERE)
    if not os.access(folder, os.W_OK):
        raise StoreProblem(f"{folder} can only be read, so it cannot be taken over.", _ELSEWHERE)


def looks_the_same(folder: Path, head: Head) -> bool:
    """Tell whether the files of a journal look as they did when a head was noted."""
    return (head.look, head.closed) == (heads.look_at(folder), heads.look_at_closed(folder))


def _is_own_checkpoint(folder: Path, heads_folder: Path) -> bool:
    """Tell whether `memory.json` was written on this machine, or is not there."""
    try:
        return fingerprint(read_regular(folder / DOCUMENTS)) in heads.checkpoints(heads_folder, folder)
    except FileNotFoundError:
        return True
