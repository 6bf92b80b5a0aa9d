"""Retrieval profiles: the built-in ones and a person's own, one TOML file each."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.core.errors import InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.profile import BUILT_IN, HalfLives, Profile, check_profile
from workbench.core.record import iso

_NAME = re.compile(r"[\w][\w .-]{0,59}")
_KNOWN = {f.name for f in fields(Profile)}


class Profiles:
    """The profiles a person can choose from; `folder` holds their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the built-in names, then the person's own, sorted."""
        own = sorted(p.stem for p in self._folder.glob("*.toml")) if self._folder.is_dir() else []
        built_in = [p.name for p in BUILT_IN]
        return (*built_in, *(name for name in own if name not in built_in))

    def get(self, name: str) -> Profile:
        """Return a profile; raises `UnknownRecord`, or `InvalidRecord` when its file is broken."""
        found = next((p for p in BUILT_IN if p.name == name), None)
        if found is not None:
            return found
        path = self._path(name)
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(self.names())
            raise UnknownRecord(f"There is no profile “{name}”.", f"Known ones: {known}.") from error
        return _parsed(name, text)

    def save(self, profile: Profile, now: datetime, parent: str) -> Path:
        """Write a profile with where it comes from; raises `InvalidRecord` for a bad name or value."""
        if any(p.name == profile.name for p in BUILT_IN):
            raise InvalidRecord(f"“{profile.name}” is a built-in profile.", "Save yours under another name.")
        check_profile(profile)
        path = self._path(profile.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_text(to_toml(profile, now, parent), "utf-8")
        except OSError as error:
            raise StoreProblem(f"{path} cannot be written: {error.strerror}.", "The profile was not saved.") from error
        return path

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InvalidRecord(f"“{name}” cannot be a profile name.", "Use letters, digits, spaces, dots and hyphens.")
        return self._folder / f"{name}.toml"


def to_toml(profile: Profile, now: datetime, parent: str) -> str:
    """Write a profile as TOML, one parameter a line, so that two profiles can be compared with diff."""
    values = asdict(profile)
    lives = values.pop("half_lives")
    lines = [f"# Saved {iso(now)} from {parent}."]
    lines += [f"{name} = {_toml(value)}" for name, value in values.items()]
    lines += ["", "[half_lives]  # days; 0 means no decay"]
    lines += [f"{name} = {_toml(value)}" for name, value in lives.items()]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if value is None:
        return "0"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _parsed(name: str, text: str) -> Profile:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRecord(f"The profile “{name}” is not TOML: {error}.", "It was not used.") from error
    unknown = sorted(set(raw) - _KNOWN)
    if unknown:
        raise InvalidRecord(f"The profile “{name}” has an unknown parameter: {unknown[0]}.", "It was not used.")
    base = Profile(name, 1 / 3, 1 / 3, 1 / 3)
    values = {key: _value(name, key, value, getattr(base, key)) for key, value in raw.items() if key != "half_lives"}
    lives = _half_lives(name, raw.get("half_lives", {}))
    profile = replace(base, **{**values, "name": name, "half_lives": lives})
    check_profile(profile)
    return profile


def _half_lives(name: str, raw: Mapping[str, Any]) -> HalfLives:
    known = {f.name for f in fields(HalfLives)}
    if not isinstance(raw, dict) or set(raw) - known:
        raise InvalidRecord(f"The profile “{name}” has a half-life for an unknown memory type.", "It was not used.")
    return HalfLives(**{key: _value(name, key, value, 1.0) or None for key, value in raw.items()})


def _value(name: str, key: str, value: object, like: object) -> Any:
    """Check a TOML value against the type of the default."""
    if isinstance(like, float) or key == "feedback_half_life":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return (float(value) or None) if key == "feedback_half_life" else float(value)
    elif type(value) is type(like):
        allowed = {"mode": ("hours", "rank", "off"), "rank_order": ("newest", "oldest"), "scope": ("pool", "top")}
        if key not in allowed or value in allowed[key]:
            return value
    raise InvalidRecord(f"The profile “{name}”: {key} cannot be {value!r}.", "It was not used.")
