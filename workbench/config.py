"""The person's settings: `config.toml`, read softly.

Whatever cannot be used keeps its default and is named in one sentence; a mistake in the file never
keeps the app from starting.
"""

import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from workbench.core.dedup import DedupThresholds
from workbench.core.lifecycle import LifecycleLimits
from workbench.core.text import one_line
from workbench.core.trigger import TriggerLimits

FILE_NAME = "config.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. `theme` "" means no theme of ours, `editor` "" the caller's `$VISUAL` or `$EDITOR`,
    `model` `None` the bundled embedding model. `keys` maps action ids to comma-separated key names.
    """

    theme: str = "workbench-dark"
    profile: str = "workbench"
    model: Path | None = None
    editor: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    thresholds: DedupThresholds = field(default_factory=DedupThresholds)
    reflection: TriggerLimits = field(default_factory=TriggerLimits)
    lifecycle: LifecycleLimits = field(default_factory=LifecycleLimits)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings that hold, a sentence for each thing that does not, and the keys the file really sets.

    `given` tells a chosen value from an equal default (dotted names such as `thresholds.duplicate`), since a
    model may bring thresholds of its own.
    """

    settings: Settings
    problems: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()


def load(path: Path) -> Loaded:
    """Read the settings at `path`; a missing file means the defaults. Never raises for what the file holds."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Loaded(Settings())
    except OSError as error:
        return _defaults(f"{path.name} cannot be read ({error.strerror or error})")
    try:
        table = tomllib.loads(raw.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _defaults(f"{path.name}: line {line} is not UTF-8 text")
    except (ValueError, RecursionError) as error:
        return _defaults(f"{path.name}: {_where(error, raw)}")
    return _settings(table, path)


def show(settings: Settings) -> str:
    """Return the effective settings as the TOML text of a config file, a comment above each key."""
    lines, section = [], ""
    for key in _KEYS:
        table, _, name = key.name.rpartition(".")
        if table != section:
            lines += [f"[{table}]"]
            section = table
        lines += [f"# {key.about} Expected: {key.expected}. Default: {_toml(_get(Settings(), key))}."]
        lines += [f"{name} = {_toml(_get(settings, key))}", ""]
    lines += ["[keys]", '# Your own keys: action = "key" or "key,key". The help screen (?) names the actions.']
    lines += [f"{_toml(action)} = {_toml(keys)}" for action, keys in sorted(settings.keys.items())]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Key:
    """One key of the file: its dotted name, where its value lives in `Settings`, and how it is checked.

    `read` takes the raw value and the config file's folder and raises `ValueError` when it will not do.
    """

    name: str
    attribute: str
    about: str
    expected: str
    read: Callable[[object, Path], object]


def _text(value: object, _folder: Path) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value.strip()


def _name(value: object, folder: Path) -> str:
    text = _text(value, folder)
    if not text:
        raise ValueError
    return text


def _path(value: object, folder: Path) -> Path | None:
    text = _text(value, folder)
    if "\0" in text:
        raise ValueError
    try:
        return (folder / Path(text).expanduser()).absolute() if text else None
    except RuntimeError as error:  # "~someone" without such a user
        raise ValueError from error


def _number(low: float, high: float) -> Callable[[object, Path], float]:
    def read(value: object, _folder: Path) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError  # a NaN fails the comparison too
        return float(value)

    return read


def _whole(low: int, high: int) -> Callable[[object, Path], int]:
    def read(value: object, _folder: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError
        return value

    return read


_SHARE = "a number from 0 to 1", _number(0, 1)
_DAYS = "a number of days from 1 to 36500", _number(1, 36_500)

_KEYS: tuple[_Key, ...] = (
    _Key("theme", "theme", "The colours.", 'a theme\'s name, or "" for the terminal\'s own colours', _text),
    _Key("profile", "profile", "The retrieval profile to start with.", "a profile's name", _name),
    _Key(
        "model", "model", "Folder of another embedding model, from this file's folder or ~.",
        'a path, or "" for the bundled model', _path,
    ),
    _Key("editor", "editor", "The editor that E opens.", 'a command, or "" for $VISUAL or $EDITOR', _text),
    _Key("thresholds.duplicate", "thresholds.flag", "Cosine from which two memories are a likely duplicate.", *_SHARE),
    _Key("thresholds.review", "thresholds.review", "Cosine from which a pair joins the review list.", *_SHARE),
    _Key(
        "thresholds.order", "thresholds.order", "Ordered text similarity from which a duplicate may be absorbed.",
        "a number from 0 to 100", _number(0, 100),
    ),
    _Key(
        "reflection.importance", "reflection.importance", "Reflect when this much importance has come in.",
        "a number from 1 to 1000000", _number(1, 1_000_000),
    ),
    _Key(
        "reflection.observations", "reflection.observations", "Reflect after this many observations.",
        "a whole number from 1 to 1000000", _whole(1, 1_000_000),
    ),
    _Key(
        "reflection.hours", "reflection.hours", "Reflect after this many hours.",
        "a number from 0.1 to 87600", _number(0.1, 87_600),
    ),
    _Key("lifecycle.signal_days", "lifecycle.signal_days", "Propose to archive an untouched signal.", *_DAYS),
    _Key("lifecycle.candidate_days", "lifecycle.candidate_days", "Flag a waiting candidate.", *_DAYS),
    _Key("lifecycle.confirmed_days", "lifecycle.confirmed_days", "Ask of a confirmed memory: still true?", *_DAYS),
)  # fmt: skip
_BY_NAME: Mapping[str, _Key] = {key.name: key for key in _KEYS}
_SECTIONS = frozenset(key.name.partition(".")[0] for key in _KEYS if "." in key.name)


def _settings(table: Mapping[str, object], path: Path) -> Loaded:
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    problems: list[str] = []
    for name, raw in _flatten(table):
        if name.startswith("keys."):
            action = name.removeprefix("keys.")
            if isinstance(raw, str):
                keys[action] = raw
            else:
                problems.append(_kept(path, name, raw, 'text such as "j,down"', "the action keeps its default"))
        elif key := _BY_NAME.get(name):
            try:
                values[name] = key.read(raw, path.parent)
            except ValueError:
                problems.append(_kept(path, name, raw, key.expected, f"{_toml(_get(Settings(), key))} stays"))
        elif name in _SECTIONS or name == "keys":
            problems.append(_kept(path, name, raw, f"a table [{name}]", "its defaults stay"))
        else:
            problems.append(f"{path.name}: unknown key {_quoted(name)}; {_nearest(name)}")
    settings = _with(Settings(keys=keys), values)
    if settings.thresholds.review > settings.thresholds.flag:
        problems.append(_crossed(settings.thresholds, path))
        settings = replace(settings, thresholds=replace(DedupThresholds(), order=settings.thresholds.order))
        values.pop("thresholds.duplicate", None)
        values.pop("thresholds.review", None)
    return Loaded(settings, tuple(problems), frozenset(values) | {f"keys.{action}" for action in keys})


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted names and values; only the tables of known sections are looked into."""
    for name, value in table.items():
        inside = prefix.startswith("keys.") or (not prefix and (name in _SECTIONS or name == "keys"))
        if inside and isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _with(settings: Settings, values: Mapping[str, Any]) -> Settings:
    for name, value in values.items():
        section, _, attribute = _BY_NAME[name].attribute.rpartition(".")
        if section:
            inner: Any = getattr(settings, section)
            settings = replace(settings, **{section: replace(inner, **{attribute: value})})
        else:
            settings = replace(settings, **{attribute: value})
    return settings


def _get(settings: Settings, key: _Key) -> object:
    return attrgetter(key.attribute)(settings)


def _defaults(problem: str) -> Loaded:
    return Loaded(Settings(), (f"{problem}; the defaults are used.",))


def _kept(path: Path, name: str, raw: object, expected: str, outcome: str) -> str:
    shown = "a table" if isinstance(raw, dict) else one_line(_toml(raw), 40)
    return f"{path.name}: {_quoted(name)} is {shown}; expected {expected}, so {outcome}."


def _crossed(found: DedupThresholds, path: Path) -> str:
    default = DedupThresholds()
    return (
        f'{path.name}: "thresholds.review" ({found.review:g}) is above "thresholds.duplicate" ({found.flag:g}); '
        f"expected it below, so {default.review:g} and {default.flag:g} stay."
    )


def _nearest(name: str) -> str:
    """Name the known key that `name` was probably meant to be; a key without its section is found too."""
    known = [*_BY_NAME, *_SECTIONS, "keys"]
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    if not near:
        leaves = {key.rpartition(".")[2]: key for key in _BY_NAME}
        near = [leaves[leaf] for leaf in difflib.get_close_matches(name.lower(), leaves, n=1, cutoff=0.7)]
    return f'did you mean "{near[0]}"?' if near else "it is ignored."


def _where(error: Exception, raw: bytes) -> str:
    """Say what broke in the TOML text, and in which line."""
    text = str(error)
    at = re.search(r"\s*\(at (?:line (\d+).*|end of document)\)$", text)
    if not at:
        return "it is not TOML"
    line = at[1] or raw.rstrip().count(b"\n") + 1
    return f"line {line} is not TOML ({one_line(text[: at.start()], 80)})"


def _quoted(name: str) -> str:
    return f'"{one_line(name, 60)}"'


def _toml(value: object) -> str:
    """Write a value as TOML."""
    match value:
        case bool():
            return str(value).lower()
        case float() if math.isfinite(value) and value == int(value):
            return str(int(value)) if abs(value) < 1e15 else repr(value)
        case None:
            return '""'
        case str() | Path():
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(_toml(item) for item in value)}]"
        case _:
            return str(value)
