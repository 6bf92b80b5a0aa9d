"""Snapshots of the sliders: settings that were worth a second look and are in no profile yet."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from string import ascii_uppercase

from workbench.core.errors import InvalidRecord
from workbench.core.profile import Profile

LONGEST = 24
"""Characters of a snapshot's name at most."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The settings at a moment; `parent` is the saved profile that they came from."""

    name: str
    profile: Profile
    parent: Profile
    at: datetime


class Shelf:
    """The snapshots of one tuning screen, the latest last; they go when the app closes."""

    def __init__(self) -> None:
        self.snapshots: tuple[Snapshot, ...] = ()

    def take(self, profile: Profile, parent: Profile, at: datetime) -> Snapshot:
        """Keep the settings under the next free letter."""
        taken = {snapshot.name.casefold() for snapshot in self.snapshots}
        name = next(name for name in _letters() if name.casefold() not in taken)
        snapshot = Snapshot(name, profile, parent, at)
        self.snapshots = (*self.snapshots, snapshot)
        return snapshot

    def check_name(self, old: str, name: str) -> None:
        """Raise `InvalidRecord` when the snapshot `old` cannot be called `name`."""
        others = {s.name.casefold() for s in self.snapshots if s.name != old}
        if not name or len(name) > LONGEST:
            raise InvalidRecord(f"A snapshot's name has 1 to {LONGEST} characters.")
        if name.casefold() in others:
            raise InvalidRecord(f"There is a snapshot “{name}” already.")

    def rename(self, old: str, name: str) -> None:
        """Call a snapshot something else. Raises `InvalidRecord`."""
        self.check_name(old, name)
        self.snapshots = tuple(replace(s, name=name) if s.name == old else s for s in self.snapshots)

    def drop(self, name: str) -> None:
        """Let a snapshot go."""
        self.snapshots = tuple(s for s in self.snapshots if s.name != name)


def _letters() -> Iterator[str]:
    """Yield A to Z, then A2 to Z2, and so on."""
    for lap in count(1):
        yield from (letter if lap == 1 else f"{letter}{lap}" for letter in ascii_uppercase)
