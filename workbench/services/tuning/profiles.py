"""Retrieval profiles: the built-in ones and a person's own, one TOML file each."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple, get_args, get_type_hints

from workbench.core.files.atomic import write_file
from workbench.core.record import (
    InvalidRecord,
    StoreProblem,
    UnknownRecord,
    WorkbenchError,
    as_object,
    iso,
    parse_time,
    without,
)
from workbench.core.toml_text import parse_toml
from workbench.core.tuning.profile import (
    BUILT_IN,
    FACTORS,
    FrozenBounds,
    HalfLives,
    Profile,
    ProfileInUse,
    check_profile,
    listed,
    parameters_of,
)

# The birth certificate of a saved profile: what it was measured on when it was saved.


class ProfileProvenance(NamedTuple):
    """Where a profile comes from and what it gained over its parent.

    `query_set` is the hash of the judged queries, `judgments` how many grades they hold; `delta` is
    the mean gain of `metric` over `parent`, `low` and `high` its 95 % band, and `how` says how it
    was measured. `verdict` is `better`, `worse` or `unclear`.
    """

    at: datetime
    parent: str
    query_set: str
    queries: int
    judgments: int
    metric: str
    delta: float
    low: float
    high: float
    verdict: str
    how: str = ""

    @property
    def lines(self) -> tuple[tuple[str, str | int | float], ...]:
        """Its values as TOML knows them, in order."""
        values = self._asdict().items()
        return tuple((n, iso(v) if isinstance(v, datetime) else _short(v)) for n, v in values)


def _short(value: str | int | float) -> str | int | float:
    return round(value, 4) if isinstance(value, float) else value


def birth_of(profile: str, raw: object) -> ProfileProvenance:
    """Read the `[birth]` table of a profile's file. Raises `InvalidRecord`."""
    try:
        values = _read(profile, raw, {**get_type_hints(ProfileProvenance), "at": str})
        return ProfileProvenance(**{**values, "at": parse_time(values["at"])})
    except (InvalidRecord, KeyError, TypeError, ValueError) as error:
        problem = f"The provenance of the profile “{profile}” cannot be read."
        raise InvalidRecord(problem, "It was not used.") from error


_PROFILES_NAME = re.compile(r"[\w][\w .-]{0,59}")
_ABOUT = ("birth", "snapshot")
"""Tables that say where settings come from; they are no settings."""

_OWN = without(get_type_hints(Profile), "half_lives", "frozen")


class Profiles:
    """The profiles a person can choose from; `folder` holds their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the built-in names, then the person's own, sorted."""
        own = (
            sorted(p.stem for p in self._folder.glob("[!.]*.toml")) if self._folder.is_dir() else []
        )
        built_in = [p.name for p in BUILT_IN]
        return (*built_in, *(name for name in own if name not in built_in))

    def get(self, name: str) -> Profile:
        """Return a profile; raises `UnknownRecord`, or `InvalidRecord` when its file is broken."""
        found = next((p for p in BUILT_IN if p.name == name), None)
        return read_profile(name, self.text(name)) if found is None else found

    def used(self, used: ProfileInUse) -> Profile:
        """Return the profile that ranks; raises as `get` does."""
        if used.text and used.name not in self.names():
            return read_profile(used.name, used.text)
        try:
            return self.get(used.name)
        except UnknownRecord as error:
            raise UnknownRecord(
                f"{error.message} It is set by: {used.origin}.", error.hint
            ) from error

    def own(self) -> tuple[Profile, ...]:
        """Return a person's own profiles, without those that cannot be read."""
        found = []
        for name in self.names():
            with suppress(WorkbenchError):
                found += [] if self.is_built_in(name) else [self.get(name)]
        return tuple(found)

    def tuned_on(self, query_set: str) -> frozenset[str]:
        """Return which of a person's own profiles were chosen on the judged queries of that digest."""
        found = set()
        for profile in self.own():
            with suppress(WorkbenchError):
                birth = self.birth(profile.name)
                found |= (
                    {profile.name} if birth is not None and birth.query_set == query_set else set()
                )
        return frozenset(found)

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots, beside the profiles."""
        return self._folder / "snapshots"

    def is_built_in(self, name: str) -> bool:
        """Tell whether a name is that of a built-in profile, in any letter case."""
        return any(p.name.casefold() == name.casefold() for p in BUILT_IN)

    def check_name(self, name: str, parent: str = "") -> None:
        """Raise `InvalidRecord` when a profile that comes from `parent` cannot be saved under
        `name`.

        Built-in profiles are never replaced, and of a person's own only the one it comes from.
        """
        path = self.path(name)
        if self.is_built_in(name):
            raise InvalidRecord(
                f"“{name}” is a built-in profile.", "Save yours under another name."
            )
        if name != parent and path.exists():
            raise InvalidRecord(
                f"A profile “{name}” already exists.", "Choose another name, or load it first."
            )

    def birth(self, name: str) -> ProfileProvenance | None:
        """Return the birth certificate of a profile, `None` when it has none; raises as `get` does."""
        if any(p.name == name for p in BUILT_IN):
            return None
        raw = _toml_of(name, self.text(name)).get("birth")
        return None if raw is None else birth_of(name, raw)

    def save(
        self,
        profile: Profile,
        now: datetime,
        parent: str,
        birth: ProfileProvenance | None = None,
        *,
        replacing: bool = False,
    ) -> Path:
        """Write a profile with where it comes from and its birth certificate, whole or not at all.

        A person's own profile of that name may be replaced when it is the parent, or when
        `replacing`. Raises `InvalidRecord` for a bad name or value, and `StoreProblem` when it
        cannot be written.
        """
        self.check_name(profile.name, profile.name if replacing else parent)
        check_profile(profile)
        path = self.path(profile.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # No profile's name can begin with a dot, so the draft is nobody's.
            write_file(path, to_toml(profile, now, parent, birth).encode("utf-8"), ".profile-")
        except OSError as error:
            raise StoreProblem(
                f"The profile cannot be written: {error.strerror}.", f"It would be {path}."
            ) from error
        return path

    def text(self, name: str) -> str:
        """Return the file of one of a person's own profiles, as it is. Raises `UnknownRecord`."""
        try:
            return self.path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(self.names())
            raise UnknownRecord(f"Unknown profile “{name}”.", f"Known ones: {known}.") from error

    def path(self, name: str) -> Path:
        """Return where a profile of a person's own is, or would be. Raises `InvalidRecord` for a
        name that is none.
        """
        if not _PROFILES_NAME.fullmatch(name):
            raise InvalidRecord(
                f"“{name}” cannot be a profile name.",
                "Use letters, digits, spaces, dots and hyphens.",
            )
        return self._folder / f"{name}.toml"


def tuned_from(parent: str, queries: str = "") -> str:
    """Return what a profile says about itself that was tuned from another one, by the queries of
    that name.
    """
    return f"tuned from {parent} on {queries}" if queries else f"tuned from {parent}"


def to_toml(
    profile: Profile, now: datetime, parent: str, birth: ProfileProvenance | None = None
) -> str:
    """Write a profile as TOML, one parameter a line, so that two profiles can be compared with
    diff.
    """
    values = parameters_of(profile)
    lives, frozen = values.pop("half_lives"), values.pop("frozen")
    lines = [f"# Saved {iso(now)} from {parent}."]
    lines += [f"{name} = {_toml(value)}" for name, value in values.items()]
    lines += ["", "[half_lives]  # days; 0 means no decay"]
    lines += [f"{name} = {_toml(value)}" for name, value in lives.items()]
    if frozen is not None:
        lines += ["", "[frozen]  # minimum and maximum of each raw factor"]
        lines += [f"{name} = {_toml(list(pair))}" for name, pair in frozen.items()]
    if birth is not None:
        lines += ["", "[birth]"]
        lines += [f"{name} = {_toml(value)}" for name, value in birth.lines]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if value is None:
        return "0"
    if isinstance(value, str):
        # What JSON escapes, TOML reads; the one control character that JSON leaves alone is DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def read_profile(name: str, text: str) -> Profile:
    """Read the text of a profile's file as the profile `name`. Raises `InvalidRecord`."""
    raw = without(_toml_of(name, text), *_ABOUT)
    lives = _read(name, raw.pop("half_lives", {}), {f.name: float for f in fields(HalfLives)})
    frozen = _frozen(name, raw.pop("frozen")) if "frozen" in raw else None
    own = _read(name, raw, _OWN)
    own["half_lives"] = HalfLives(**{kind: days or None for kind, days in lives.items()})
    if "feedback_half_life" in own:
        own["feedback_half_life"] = own["feedback_half_life"] or None
    profile = replace(Profile(name, 1 / 3, 1 / 3, 1 / 3), **{**own, "name": name, "frozen": frozen})
    check_profile(profile)
    return profile


def _toml_of(name: str, text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except ValueError as error:
        raise InvalidRecord(
            f"The profile “{name}” is not TOML: {error}.", "It was not used."
        ) from error


def _frozen(name: str, raw: object) -> FrozenBounds:
    """Read the frozen bounds: a pair of numbers for each factor."""
    try:
        return FrozenBounds(**_read(name, raw, {factor.id: tuple for factor in FACTORS}))
    except (InvalidRecord, TypeError) as error:
        hint = f"It was not used. Write {listed()}, each as [minimum, maximum]."
        raise InvalidRecord(
            f"The profile “{name}” has frozen bounds that cannot be read.", hint
        ) from error


def _read(name: str, raw: object, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a table of a profile's file by their keys, each of its kind. Raises
    `InvalidRecord`.
    """
    found: dict[str, Any] = {}
    for key, value in (raw if isinstance(raw, dict) else {"": raw}).items():
        if key not in kinds:
            raise InvalidRecord(
                f"The profile “{name}” has an unknown parameter: {key}.", "It was not used."
            )
        try:
            found[key] = _value(value, kinds[key])
        except ValueError as error:
            raise InvalidRecord(
                f"The profile “{name}”: {key} cannot be {value!r}.", "It was not used."
            ) from error
    return found


def _value(value: Any, kind: Any) -> Any:
    """Return a TOML value as one of a kind: a type, a choice, or a pair of numbers. Raises
    `ValueError`.
    """
    if kind is tuple and isinstance(value, list) and len(value) == 2:
        return tuple(_value(one, float) for one in value)
    if kind in (float, float | None) and type(value) in (int, float):
        return float(value)
    if type(value) is kind or value in get_args(kind):
        return value
    raise ValueError


# Snapshots of the sliders: settings that were worth a second look and are in no profile yet, one
# TOML file each.
#
# They lie beside a person's profiles, so they outlive the app, a crash included, and can be read,
# compared with diff and copied as those are.


LONGEST = 24
"""Characters of a snapshot's name at most."""

_NAME = re.compile(rf"[\w](?:[\w .-]{{0,{LONGEST - 2}}}[\w.-])?")


class Snapshot(NamedTuple):
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
            snapshot = _snapshot(path)
            found.append(
                (
                    (snapshot.at is not None, snapshot.at and snapshot.at.timestamp(), written),
                    snapshot,
                )
            )
        return tuple(snapshot for _, snapshot in sorted(found, key=lambda pair: pair[0]))

    def take(self, profile: Profile, at: datetime) -> Snapshot:
        """Keep settings under the next free letter. Raises `InvalidRecord` for broken ones, and
        `StoreProblem`.
        """
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
            raise StoreProblem(
                why, f"It would be in {self._folder}; the sliders are unchanged."
            ) from error
        raise AssertionError  # there is always a letter

    def check_name(self, old: str, name: str) -> None:
        """Raise `InvalidRecord` when the snapshot `old` cannot be called `name`."""
        if not name or len(name) > LONGEST:
            raise InvalidRecord(f"A snapshot's name has 1 to {LONGEST} characters.")
        if not _NAME.fullmatch(name):
            raise InvalidRecord("A snapshot's name has letters, digits, spaces, dots and hyphens.")
        if name.casefold() in self._taken() - {old.casefold()}:
            raise InvalidRecord(f"A snapshot “{name}” already exists.")

    def rename(self, old: str, name: str) -> None:
        """Call a snapshot something else. Raises `InvalidRecord`, or `StoreProblem` when it is
        gone.
        """
        self.check_name(old, name)
        try:
            self.path(old).rename(self.path(name))
        except OSError as error:
            raise StoreProblem(
                f"Snapshot “{old}” cannot be renamed: {error.strerror}.", "It was not changed."
            ) from error

    def drop(self, name: str) -> None:
        """Let a snapshot go. Raises `StoreProblem`."""
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreProblem(
                f"Snapshot “{name}” cannot be deleted: {error.strerror}.", "It was not changed."
            ) from error

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.toml"

    def _taken(self) -> set[str]:
        return (
            {path.stem.casefold() for path in self._folder.glob("[!.]*.toml")}
            if self._folder.is_dir()
            else set()
        )

    def _written(self, name: str, text: str) -> bool:
        """Write a new file, whole or not at all; tell whether the name was still free."""
        try:
            write_file(self.path(name), text.encode("utf-8"), ".snapshot-", durable=False, new=True)
        except FileExistsError:
            return False
        return True


def _snapshot(path: Path) -> Snapshot:
    try:
        text = path.read_text("utf-8")
        profile = read_profile(path.stem, text)
        raw = parse_toml(text)
        about = as_object(raw.get("snapshot"))
        at = parse_time(str(about["at"])) if "at" in about else None
        named = raw.get("name")
    except WorkbenchError as error:
        return Snapshot(path.stem, None, None, str(error))
    except (OSError, ValueError) as error:
        return Snapshot(
            path.stem, None, None, f"The snapshot “{path.stem}” cannot be read: {error}."
        )
    return Snapshot(
        path.stem, replace(profile, name=named) if isinstance(named, str) and named else profile, at
    )


def _letters() -> Iterator[str]:
    """Yield A to Z, then A2 to Z2, and so on."""
    for lap in count(1):
        yield from (letter if lap == 1 else f"{letter}{lap}" for letter in ascii_uppercase)


# What tells two profiles apart, parameter by parameter, under the names their files have.


Value = str | int | float | bool | None


class Changed(NamedTuple):
    """One parameter with its values in the first and in the second profile."""

    parameter: str
    before: Value
    after: Value


def values_of(profile: Profile) -> dict[str, Value]:
    """Return every parameter by the dotted name it has in a file; what only names a profile is left
    out.
    """
    values: dict[str, Value] = {}
    for name, value in parameters_of(profile).items():
        if isinstance(value, dict):
            values |= {f"{name}.{inner}": _plain(one) for inner, one in value.items()}
        elif name not in ("name", "about", "frozen"):
            values[name] = _plain(value)
    return values


def changes(before: Profile, after: Profile) -> tuple[Changed, ...]:
    """Return the parameters that differ, in the order of the file."""
    one, other = values_of(before), values_of(after)
    names = dict.fromkeys((*one, *other))
    return tuple(
        Changed(name, one.get(name), other.get(name))
        for name in names
        if one.get(name) != other.get(name)
    )


def _plain(value: Any) -> Value:
    """Return a pair of numbers as one text; other values as they are."""
    return " … ".join(f"{one:.4g}" for one in value) if isinstance(value, tuple | list) else value
