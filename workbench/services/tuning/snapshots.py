"""Snapshots of the sliders: settings that were worth a second look and are in no profile yet, one TOML file each.

They lie beside a person's profiles, so they outlive the app, a crash included, and can be read, compared with diff
and copied as those are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from string import ascii_uppercase

from workbench.core.errors import InvalidRecord, StoreProblem, WorkbenchError
from workbench.core.files.atomic import write_file
from workbench.core.record import iso, parse_time
from workbench.core.toml_text import parse_toml
from workbench.core.tuning.profile import Profile, check_profile
from workbench.services.tuning.profiles import read_profile, to_toml

LONGEST = 24
"""Characters of a snapshot's name at most."""

_NAME = re.compile(rf"[\w](?:[\w .-]{{0,{LONGEST - 2}}}[\w.-])?")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The settings at a moment, under the name of the saved profile that they came from.

    Without `profile`, `problem` says why its file cannot be used.
    """

    name: str
    profile: Profile | None
    at: datetime | None
    problem: str = ""


class Snapshots:
    """The snapshots in a folder; the files are the truth, so that two apps see each other's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[Snapshot, ...]:
        """Return the snapshots, the latest last and what cannot be read first."""
        found = []
        for path in sorted(self._folder.glob("[!.]*.toml")) if self._folder.is_dir() else ():
            try:
                written = path.stat().st_mtime_ns
            except OSError:
                continue  # dropped meanwhile
            snapshot = _read(path)
            found.append(((snapshot.at is not None, snapshot.at and snapshot.at.timestamp(), written), snapshot))
        return tuple(snapshot for _, snapshot in sorted(found, key=lambda pair: pair[0]))

    def take(self, profile: Profile, at: datetime) -> Snapshot:
        """Keep settings under the next free letter. Raises `InvalidRecord` for broken ones, and `StoreProblem`."""
        check_profile(profile)
        text = to_toml(profile, at, profile.name) + f'\n[snapshot]\nat = "{iso(at)}"\n'
        taken = self._taken()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for name in (letter for letter in _letters() if letter.casefold() not in taken):
                if self._written(name, text):
                    return Snapshot(name, profile, at)
        except OSError as error:
            why = f"The snapshot cannot be written: {error.strerror}."
            raise StoreProblem(why, f"It would be in {self._folder}; the sliders stay as they are.") from error
        raise AssertionError  # there is always a letter

    def check_name(self, old: str, name: str) -> None:
        """Raise `InvalidRecord` when the snapshot `old` cannot be called `name`."""
        if not name or len(name) > LONGEST:
            raise InvalidRecord(f"A snapshot's name has 1 to {LONGEST} characters.")
        if not _NAME.fullmatch(name):
            raise InvalidRecord("A snapshot's name has letters, digits, spaces, dots and hyphens.")
        if name.casefold() in self._taken() - {old.casefold()}:
            raise InvalidRecord(f"There is a snapshot “{name}” already.")

    def rename(self, old: str, name: str) -> None:
        """Call a snapshot something else. Raises `InvalidRecord`, or `StoreProblem` when it is gone."""
        self.check_name(old, name)
        try:
            self.path(old).rename(self.path(name))
        except OSError as error:
            raise StoreProblem(f"Snapshot “{old}” cannot be renamed: {error.strerror}.", "It is as it was.") from error

    def drop(self, name: str) -> None:
        """Let a snapshot go. Raises `StoreProblem`."""
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreProblem(f"Snapshot “{name}” cannot be dropped: {error.strerror}.", "It is as it was.") from error

    def path(self, name: str) -> Path:
        """Return the file of a snapshot."""
        return self._folder / f"{name}.toml"

    def _taken(self) -> set[str]:
        return {path.stem.casefold() for path in self._folder.glob("[!.]*.toml")} if self._folder.is_dir() else set()

    def _written(self, name: str, text: str) -> bool:
        """Write a new file, whole or not at all; tell whether the name was still free."""
        try:
            write_file(self.path(name), text.encode("utf-8"), ".snapshot-", durable=False, new=True)
        except FileExistsError:
            return False
        return True


def _read(path: Path) -> Snapshot:
    try:
        text = path.read_text("utf-8")
        profile = read_profile(path.stem, text)
        raw = parse_toml(text)
        about = raw.get("snapshot")
        at = parse_time(str(about["at"])) if isinstance(about, dict) and "at" in about else None
        named = raw.get("name")
    except WorkbenchError as error:
        return Snapshot(path.stem, None, None, str(error))
    except (OSError, ValueError) as error:
        return Snapshot(path.stem, None, None, f"The snapshot “{path.stem}” cannot be read: {error}.")
    return Snapshot(path.stem, replace(profile, name=named) if isinstance(named, str) and named else profile, at)


def _letters() -> Iterator[str]:
    """Yield A to Z, then A2 to Z2, and so on."""
    for lap in count(1):
        yield from (letter if lap == 1 else f"{letter}{lap}" for letter in ascii_uppercase)
