"""What stands in a `config.toml`, read softly and written out.

Whatever cannot be used keeps its default and is named in one sentence.
"""

import difflib
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config.keys import KEYS, Key
from workbench.config.settings import Loaded, Settings
from workbench.core.duplicates.thresholds import DedupThresholds
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.stream.orders import SavedView

VIEWS = "views"
"""The table of saved views, which is read where there is one."""


def read(raw: bytes, path: Path) -> Loaded:
    """Return the settings in the bytes of the file at `path`. Never raises for what they hold."""
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
    for key in KEYS:
        table, _, name = key.name.rpartition(".")
        if table != section:
            lines += [f"[{table}]"]
            section = table
        lines += [f"# {key.about} Expected: {key.expected}. Default: {_toml(_get(Settings(), key))}."]
        lines += [f"{name} = {_toml(_get(settings, key))}", ""]
    lines += ["[keys]", '# Your own keys: action = "key" or "key,key". The palette (ctrl+p) names the actions.']
    lines += [f"{_toml(action)} = {_toml(keys)}" for action, keys in sorted(settings.keys.items())]
    if settings.views:
        from workbench.config.views import show_views

        lines += show_views(settings.views)
    return "\n".join(lines) + "\n"


_BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}
_SECTIONS = frozenset(key.name.partition(".")[0] for key in KEYS if "." in key.name)


def _settings(table: Mapping[str, object], path: Path) -> Loaded:
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    problems: list[str] = []
    views, wrong = _views(table, path)
    for name, raw in _flatten(table):
        if name == VIEWS:
            problems += wrong
        elif name.startswith("keys."):
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
    settings = _with(Settings(keys=keys, views=views), values)
    if settings.thresholds.review > settings.thresholds.flag:
        problems.append(_crossed(settings.thresholds, path))
        settings = settings._replace(thresholds=DedupThresholds()._replace(order=settings.thresholds.order))
        values.pop("thresholds.duplicate", None)
        values.pop("thresholds.review", None)
    return Loaded(settings, tuple(problems), frozenset(values) | {f"keys.{action}" for action in keys})


def _views(table: Mapping[str, object], path: Path) -> "tuple[tuple[SavedView, ...], list[str]]":
    if VIEWS not in table:
        return (), []
    from workbench.config.views import read_views

    return read_views(table[VIEWS], path.name)


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
            settings = settings._replace(**{section: inner._replace(**{attribute: value})})
        else:
            settings = settings._replace(**{attribute: value})
    return settings


def _get(settings: Settings, key: Key) -> object:
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
    known = [*_BY_NAME, *_SECTIONS, "keys", VIEWS]
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
        case tuple():
            return _toml(", ".join(map(str, value)))
        case list():
            return f"[{', '.join(_toml(item) for item in value)}]"
        case _:
            return str(value)
