"""What stands in a `config.toml`, read softly and written out.

Whatever cannot be used keeps its default and is named in one sentence.
"""

import contextlib
import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from workbench.config.settings import Loaded, Settings
from workbench.core.agents.actors import SERVE
from workbench.core.limits import DedupThresholds
from workbench.core.record import InvalidRecord
from workbench.core.stream.confidence import DATES, Arranged, SavedView, find_order
from workbench.core.stream.importance import TABLES
from workbench.core.text import one_line

# The keys of `config.toml`: their names, what they mean, and which values they take.


Read = Callable[[object], object]


class Key(NamedTuple):
    """One key of the file: its dotted name, and which values it takes.

    `read` takes the raw value and raises `ValueError` when it will not do; `attribute` is where the
    value lives in `Settings`, when that is not its name.
    """

    name: str
    about: str
    expected: str
    read: Read
    attribute: str = ""

    @property
    def place(self) -> str:
        return self.attribute or self.name

    def value(self, raw: object, folder: Path) -> object:
        """Return a raw value as a setting; paths count from the folder of the file. Raises
        `ValueError`.
        """
        value = self.read(raw)
        return (folder / value).absolute() if isinstance(value, Path) else value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value.strip()


def _name(value: object) -> str:
    if not (text := _text(value)):
        raise ValueError
    return text


def _names(value: object) -> tuple[str, ...]:
    return tuple(
        name.strip().removeprefix("agent:") for name in _text(value).split(",") if name.strip()
    )


def _path(value: object) -> Path | None:
    text = _text(value)
    if "\0" in text:
        raise ValueError
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError as error:  # "~someone" without such a user
        raise ValueError from error


def _one_of(*names: str) -> tuple[str, Read]:
    def read(value: object) -> str:
        if (name := _text(value)) not in names:
            raise ValueError
        return name

    return " or ".join(f'"{name}"' for name in names), read


def _number(low: float, high: float, what: str = "a number") -> tuple[str, Read]:
    def read(value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise ValueError  # a NaN fails the comparison too
        return float(value)

    return f"{what} from {low} to {high}", read


def _whole(low: int, high: int, what: str = "a whole number", least: str = "") -> tuple[str, Read]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError
        return value

    return f"{what} from {least or low} to {high}", read


def _share_or_none(value: object) -> object:
    return None if value == "" else _number(0, 1)[1](value)


def _yes(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


_SHARE = _number(0, 1)
_DAYS = _number(1, 36_500, "a number of days")
_COUNT = _whole(1, 1_000)
_SWITCH = ("true or false", _yes)

KEYS: tuple[Key, ...] = (
    Key(
        "theme",
        "The colours of the app.",
        "a theme's name, or \"\" for the terminal's own colours",
        _text,
    ),
    Key("profile", "The retrieval profile to start with.", "a profile's name", _name),
    Key(
        "model",
        "Folder of another embedding model, from this file's folder or ~.",
        'a path, or "" for the bundled model',
        _path,
    ),
    Key("editor", "The editor that E opens.", 'a command, or "" for $VISUAL or $EDITOR', _text),
    Key(
        "importance",
        "Importance table: how types and words are rated.",
        *_one_of(*(table.name for table in TABLES)),
    ),
    Key(
        "capture",
        "What capture stores: lessons only, or also code changes and decisions (as signals).",
        *_one_of("lessons", "liberal"),
    ),
    Key(
        "retrieval.floor",
        "Report when nothing is relevant to a query, and do not serve weak matches.",
        *_SWITCH,
        attribute="floor",
    ),
    Key(
        "thresholds.duplicate",
        "Minimum cosine of a likely duplicate.",
        *_SHARE,
        attribute="thresholds.flag",
    ),
    Key("thresholds.review", "Minimum cosine of a pair to review.", *_SHARE),
    Key(
        "thresholds.order",
        "Minimum ordered text similarity to merge automatically.",
        *_number(0, 100),
    ),
    Key(
        "reflection.importance",
        "Reflect after this much new importance.",
        *_number(1, 1_000_000),
    ),
    Key(
        "reflection.observations",
        "Reflect after this many new observations.",
        *_whole(1, 1_000_000),
    ),
    Key("reflection.hours", "Reflect after this many hours.", *_number(0.1, 87_600)),
    Key(
        "reflection.index",
        "Overview file written after each reflection, in the store's project.",
        'a file such as "memory-index.md", or "" for none',
        _text,
        attribute="index_file",
    ),
    Key(
        "reflection.still_true",
        "Check names in memories against the working tree before a reflection.",
        *_SWITCH,
        attribute="still_true",
    ),
    Key("lifecycle.signal_days", "Propose archiving an unused signal after this long.", *_DAYS),
    Key("lifecycle.candidate_days", "Flag a waiting candidate after this long.", *_DAYS),
    Key(
        "lifecycle.confirmed_days",
        "Ask “still true?” of a confirmed memory after this long.",
        *_DAYS,
    ),
    Key("lifecycle.sightings", "Propose confirming a signal seen this often.", *_COUNT),
    Key("lifecycle.references", "Propose a skill when this many memories refer to one.", *_COUNT),
    Key(
        "lifecycle.doubtful",
        "Ask “still true?” of a memory marked harmful at this confidence or below.",
        *_whole(0, 5),
    ),
    Key("claude.model", "The Claude model for reflections.", "a model's name", _name),
    Key(
        "claude.temperature",
        "Temperature; not sent when empty, as some models accept none.",
        'a number from 0 to 1, or "" for the model\'s own',
        _share_or_none,
    ),
    Key(
        "claude.max_tokens",
        "Maximum length of a reply.",
        *_whole(256, 64_000, "a whole number of tokens"),
    ),
    Key(
        "claude.monthly_tokens",
        "Monthly limit of tokens, in and out.",
        *_whole(0, 1_000_000_000, least="0 (no limit)"),
    ),
    Key("claude.memories", "Number of latest memories a reflection reads.", *_whole(5, 1_000)),
    Key("claude.rounds", "Maximum refinement rounds of an insight.", *_whole(1, 10)),
    Key("claude.rate_importance", "Let the model rate the importance of insights.", *_SWITCH),
    Key(
        "agents.serve",
        "What agents are served: everything, or only what you wrote or approved.",
        *_one_of(*SERVE),
    ),
    Key(
        "agents.approved_only",
        "Agents limited to what you wrote or approved, regardless of agents.serve.",
        'names separated by commas, or "" for none',
        _names,
    ),
    Key(
        "agents.recall",
        "Let the hook add matching memories to each prompt.",
        *_SWITCH,
    ),
    Key(
        "memory.enabled",
        "Search the external memory of agents' sessions (~/.ai/sessions).",
        *_SWITCH,
    ),
    Key("memory.default_limit", "Number of results of recall.", *_whole(1, 50)),
    *(
        Key(
            f"context.{layer}",
            f"Tokens for {what} in a context of 20,000; scaled down in smaller ones.",
            *_whole(0, 1_000_000),
        )
        for layer, what in (
            ("pinned", "pinned memories"),
            ("overview", "the overview of an external memory"),
            ("turns", "its latest turns"),
            ("playbook", "the playbook"),
            ("known", "confirmed memories"),
            ("retrieved", "search results for the task"),
            ("patterns", "patterns"),
            ("failures", "similar failures and their fixes"),
            ("episodes", "similar episodes"),
        )
    ),
)


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
        lines += [
            f"# {key.about} Expected: {key.expected}. Default: {_toml(_get(Settings(), key))}."
        ]
        lines += [f"{name} = {_toml(_get(settings, key))}", ""]
    lines += [
        "[keys]",
        '# Your own keys: action = "key" or "key,key". The palette (ctrl+p) names the actions.',
    ]
    lines += [f"{_toml(action)} = {_toml(keys)}" for action, keys in sorted(settings.keys.items())]
    for view in settings.views:
        lines += ["", f"[{VIEWS}.{_toml(view.name)}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in view_values(view).items()]
    return "\n".join(lines) + "\n"


def parse_value(name: str, text: str, folder: Path) -> str | bool | int | float:
    """Return a value that a key takes, read as TOML where that fits it, else as text. Raises
    `InvalidRecord`.
    """
    key = _BY_NAME.get(name)
    if key is None and name.startswith("keys."):
        return text
    if key is None:
        raise InvalidRecord(f"Unknown setting “{name}”.", "`workbench config show` lists them.")
    with contextlib.suppress(ValueError):
        value = tomllib.loads(f"value = {text}")["value"]
        key.value(value, folder)
        if isinstance(value, str | bool | int | float):
            return value
    try:
        key.value(text, folder)
    except ValueError as error:
        raise InvalidRecord(f"{name} cannot be “{text}”.", f"Expected: {key.expected}.") from error
    return text


def value_text(settings: Settings, key: Key) -> str:
    """Return the value of a key as a person writes it: text without quotes, nothing as nothing."""
    value = _get(settings, key)
    return str(value) if isinstance(value, str | Path) else _toml(value).strip('"')


_BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}
_SECTIONS = frozenset(key.name.partition(".")[0] for key in KEYS if "." in key.name)


def _settings(table: Mapping[str, object], path: Path) -> Loaded:
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    problems: list[str] = []
    views, wrong = _views(table.get(VIEWS, {}), path.name)
    for name, raw in _flatten(table):
        if name == VIEWS:
            problems += wrong
        elif name.startswith("keys."):
            action = name.removeprefix("keys.")
            if isinstance(raw, str):
                keys[action] = raw
            else:
                problems.append(
                    _kept(path, name, raw, 'text such as "j,down"', "the action keeps its default")
                )
        elif key := _BY_NAME.get(name):
            try:
                values[name] = key.value(raw, path.parent)
            except ValueError:
                problems.append(
                    _kept(path, name, raw, key.expected, f"{_toml(_get(Settings(), key))} stays")
                )
        elif name in _SECTIONS or name == "keys":
            problems.append(_kept(path, name, raw, f"a table [{name}]", "its defaults stay"))
        else:
            problems.append(f"{path.name}: unknown key {_quoted(name)}; {_nearest(name)}")
    settings = _with(Settings(keys=keys, views=views), values)
    if settings.thresholds.review > settings.thresholds.flag:
        problems.append(_crossed(settings.thresholds, path))
        settings = settings._replace(
            thresholds=DedupThresholds()._replace(order=settings.thresholds.order)
        )
        values.pop("thresholds.duplicate", None)
        values.pop("thresholds.review", None)
    return Loaded(
        settings, tuple(problems), frozenset(values) | {f"keys.{action}" for action in keys}
    )


def _views(table: object, file: str) -> tuple[tuple[SavedView, ...], list[str]]:
    """Return the views of a table and a sentence for each thing that cannot be used.

    A filter is not looked into: a view whose filter is broken opens, and says why it shows nothing.
    """
    if not isinstance(table, Mapping):
        return (), [f'{file}: "{VIEWS}" is not a table of saved views, so there are none.']
    views: list[SavedView] = []
    problems: list[str] = []
    for name, raw in table.items():
        shown = f'{file}: the view "{one_line(str(name), 60)}"'
        if not isinstance(raw, Mapping) or not isinstance(raw.get("filter", ""), str):
            problems.append(f"{shown} has no text as its filter, so it is left out.")
            continue
        order, dates = raw.get("order", ""), raw.get("dates", "")
        known_order = order == "" or (isinstance(order, str) and find_order(order) is not None)
        known_dates = next((one for one in DATES if one == dates), None)
        if not known_order:
            problems.append(f"{shown} has an unknown order; the default is used.")
        if known_dates is None:
            problems.append(
                f'{shown} has dates that are neither "relative" nor "absolute"; the default is used.'
            )
        problems += [
            f'{shown} has an unknown key "{one_line(key, 60)}"; it is ignored.'
            for key in raw
            if key not in ("filter", "order", "dates")
        ]
        arranged = Arranged(str(order) if known_order else "", known_dates or "")
        views.append(SavedView(str(name), raw.get("filter", ""), arranged))
    return tuple(views), problems


def view_values(view: SavedView) -> dict[str, str]:
    """Return what a saved view says in the file."""
    values = {"filter": view.filter, "order": view.arranged.order, "dates": view.arranged.dates}
    return {key: value for key, value in values.items() if value or key == "filter"}


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted names and values; only the tables of known sections are looked into."""
    for name, value in table.items():
        inside = prefix.startswith("keys.") or (
            not prefix and (name in _SECTIONS or name == "keys")
        )
        if inside and isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _with(settings: Settings, values: Mapping[str, Any]) -> Settings:
    for name, value in values.items():
        section, _, attribute = _BY_NAME[name].place.rpartition(".")
        if section:
            inner: Any = getattr(settings, section)
            settings = settings._replace(**{section: inner._replace(**{attribute: value})})
        else:
            settings = settings._replace(**{attribute: value})
    return settings


def _get(settings: Settings, key: Key) -> object:
    return attrgetter(key.place)(settings)


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
    """Name the known key that `name` was probably meant to be; a key without its section is found
    too.
    """
    known = [*_BY_NAME, *_SECTIONS, "keys", VIEWS]
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    if not near:
        leaves = {key.rpartition(".")[2]: key for key in _BY_NAME}
        near = [
            leaves[leaf]
            for leaf in difflib.get_close_matches(name.lower(), leaves, n=1, cutoff=0.7)
        ]
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
