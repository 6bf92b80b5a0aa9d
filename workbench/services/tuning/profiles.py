"""Retrieval profiles: the built-in ones and a person's own, one TOML file each."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from workbench.core.errors import InvalidRecord, StoreProblem, UnknownRecord, WorkbenchError
from workbench.core.files.atomic import write_file
from workbench.core.record import iso
from workbench.core.toml_text import parse_toml
from workbench.core.tuning.factors import FACTORS, KNOBS, WEIGHT_KEYS, listed
from workbench.core.tuning.profile import (
    BUILT_IN,
    FrozenBounds,
    HalfLives,
    LexicalRule,
    PinnedHandling,
    Profile,
    ProfileInUse,
    RankOrder,
    RecencyMode,
    Scope,
    Scorer,
    check_profile,
    parameters_of,
    with_value,
)
from workbench.services.tuning.provenance import ProfileProvenance, birth_of

_NAME = re.compile(r"[\w][\w .-]{0,59}")
_CHOICES = {
    name: get_args(kind)
    for name, kind in (
        ("mode", RecencyMode), ("rank_order", RankOrder), ("scope", Scope), ("scorer", Scorer),
        ("pinned", PinnedHandling), ("lexical", LexicalRule),
    )
}  # fmt: skip
_ABOUT = frozenset({"birth", "snapshot"})
"""Tables that say where settings come from; they are no settings."""

_OTHERS = "others"
"""The field of a profile whose values stand in its file as every other parameter does."""

_KNOWN = {f.name for f in fields(Profile) if f.name != _OTHERS} | _ABOUT


class Profiles:
    """The profiles a person can choose from; `folder` holds their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the built-in names, then the person's own, sorted."""
        own = sorted(p.stem for p in self._folder.glob("[!.]*.toml")) if self._folder.is_dir() else []
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
            raise UnknownRecord(f"{error.message} It is set by: {used.origin}.", error.hint) from error

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
                found |= {profile.name} if birth is not None and birth.query_set == query_set else set()
        return frozenset(found)

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots, beside the profiles."""
        return self._folder / "snapshots"

    def is_built_in(self, name: str) -> bool:
        """Tell whether a name is that of a built-in profile, in any letter case."""
        return any(p.name.casefold() == name.casefold() for p in BUILT_IN)

    def check_name(self, name: str, parent: str = "") -> None:
        """Raise `InvalidRecord` when a profile that comes from `parent` cannot be saved under `name`.

        Built-in profiles are never replaced, and of a person's own only the one it comes from.
        """
        path = self.path(name)
        if self.is_built_in(name):
            raise InvalidRecord(f"“{name}” is a built-in profile.", "Save yours under another name.")
        if name != parent and path.exists():
            raise InvalidRecord(f"There is a profile “{name}” already.", "Take another name, or load it first.")

    def birth(self, name: str) -> ProfileProvenance | None:
        """Return the birth certificate of a profile, `None` when it has none; raises as `get` does."""
        if any(p.name == name for p in BUILT_IN):
            return None
        raw = _toml_of(name, self.text(name)).get("birth")
        return None if raw is None else birth_of(name, raw if isinstance(raw, dict) else {})

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

        A person's own profile of that name may be replaced when it is the parent, or when `replacing`.
        Raises `InvalidRecord` for a bad name or value, and `StoreProblem` when it cannot be written.
        """
        self.check_name(profile.name, profile.name if replacing else parent)
        check_profile(profile)
        path = self.path(profile.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # No profile's name can begin with a dot, so the draft is nobody's.
            write_file(path, to_toml(profile, now, parent, birth).encode("utf-8"), ".profile-")
        except OSError as error:
            raise StoreProblem(f"The profile cannot be written: {error.strerror}.", f"It would be {path}.") from error
        return path

    def text(self, name: str) -> str:
        """Return the file of one of a person's own profiles, as it is. Raises `UnknownRecord`."""
        try:
            return self.path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(self.names())
            raise UnknownRecord(f"There is no profile “{name}”.", f"Known ones: {known}.") from error

    def path(self, name: str) -> Path:
        """Return where a profile of a person's own is, or would be. Raises `InvalidRecord` for a name that is none."""
        if not _NAME.fullmatch(name):
            raise InvalidRecord(f"“{name}” cannot be a profile name.", "Use letters, digits, spaces, dots and hyphens.")
        return self._folder / f"{name}.toml"


def tuned_from(parent: str, queries: str = "") -> str:
    """Return what a profile says about itself that was tuned from another one, by the queries of that name."""
    return f"tuned from {parent} on {queries}" if queries else f"tuned from {parent}"


def to_toml(profile: Profile, now: datetime, parent: str, birth: ProfileProvenance | None = None) -> str:
    """Write a profile as TOML, one parameter a line, so that two profiles can be compared with diff."""
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
    raw = _toml_of(name, text)
    beyond = {key: default for key, default in _parameters().items() if key.partition(".")[0] not in _KNOWN}
    unknown = sorted(set(raw) - _KNOWN - set(beyond))
    if unknown:
        raise InvalidRecord(f"The profile “{name}” has an unknown parameter: {unknown[0]}.", "It was not used.")
    base = Profile(name, 1 / 3, 1 / 3, 1 / 3)
    plain = {key: value for key, value in raw.items() if key not in {"half_lives", "frozen", *_ABOUT, *beyond}}
    values = {key: _value(name, key, value, getattr(base, key)) for key, value in plain.items()}
    lives = _half_lives(name, raw.get("half_lives", {}))
    frozen = _frozen(name, raw["frozen"]) if "frozen" in raw else None
    profile = replace(base, **{**values, "name": name, "half_lives": lives, "frozen": frozen})
    for key in sorted(set(raw) & set(beyond)):
        number = _value(name, key, raw[key], 0.0)
        profile = with_value(profile, key, (number or None) if beyond[key] is None else number, beyond[key])
    check_profile(profile)
    return profile


def _parameters() -> dict[str, float | None]:
    """Return every key with what it is where a file leaves it out."""
    return {**dict.fromkeys(WEIGHT_KEYS, 0.0), **{knob.key: knob.default for knob in KNOBS}}


def _toml_of(name: str, text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except ValueError as error:
        raise InvalidRecord(f"The profile “{name}” is not TOML: {error}.", "It was not used.") from error


def _half_lives(name: str, raw: Mapping[str, Any]) -> HalfLives:
    known = {f.name for f in fields(HalfLives)}
    if not isinstance(raw, dict) or set(raw) - known:
        raise InvalidRecord(f"The profile “{name}” has a half-life for an unknown memory type.", "It was not used.")
    return HalfLives(**{key: _value(name, key, value, 1.0) or None for key, value in raw.items()})


def _frozen(name: str, raw: object) -> FrozenBounds:
    """Read the frozen bounds: a pair of numbers for each factor."""
    factors = [factor.id for factor in FACTORS]
    pairs: dict[str, Any] = raw if isinstance(raw, dict) else {}
    found = {factor: (float(pair[0]), float(pair[1])) for factor, pair in pairs.items() if _is_pair(pair)}
    own = {f.name for f in fields(FrozenBounds) if f.name != _OTHERS}
    if len(found) != len(pairs) or not own <= set(found) <= set(factors):
        hint = f"Write {listed()}, each as [minimum, maximum]."
        raise InvalidRecord(f"The profile “{name}” has frozen bounds that cannot be read.", f"It was not used. {hint}")
    return FrozenBounds.by_factor({factor: found[factor] for factor in factors if factor in found})


def _is_pair(value: Any) -> bool:
    numbers = isinstance(value, list) and all(isinstance(v, int | float) and type(v) is not bool for v in value)
    return numbers and len(value) == 2


def _value(name: str, key: str, value: object, like: object) -> Any:
    """Check a TOML value against the type of the default."""
    if isinstance(like, float) or key == "feedback_half_life":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return (float(value) or None) if key == "feedback_half_life" else float(value)
    elif type(value) is type(like) and (key not in _CHOICES or value in _CHOICES[key]):
        return value
    raise InvalidRecord(f"The profile “{name}”: {key} cannot be {value!r}.", "It was not used.")
