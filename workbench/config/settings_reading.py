"""What stands in a `config.toml`, read softly and written out.

Whatever cannot be used keeps its default and is named in one sentence.
"""

import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config.settings import Loaded, Settings
from workbench.core.agents.actors import SERVE
from workbench.core.limits import DedupThresholds
from workbench.core.stream.importance import TABLES
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.stream.confidence import SavedView


# The keys of `config.toml`: their names, what they mean, and which values they take.


@dataclass(frozen=True, slots=True)
class Key:
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


def _table(value: object, folder: Path) -> str:
    name = _text(value, folder)
    if name not in {table.name for table in TABLES}:
        raise ValueError
    return name


def _capture(value: object, folder: Path) -> str:
    name = _text(value, folder)
    if name not in ("lessons", "liberal"):
        raise ValueError
    return name


def _serve(value: object, folder: Path) -> str:
    name = _text(value, folder)
    if name not in SERVE:
        raise ValueError
    return name


def _names(value: object, folder: Path) -> tuple[str, ...]:
    return tuple(name.strip().removeprefix("agent:") for name in _text(value, folder).split(",") if name.strip())


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


def _share_or_none(value: object, folder: Path) -> float | None:
    return None if value == "" else _number(0, 1)(value, folder)


def _yes(value: object, _folder: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


_SHARE = "a number from 0 to 1", _number(0, 1)
_DAYS = "a number of days from 1 to 36500", _number(1, 36_500)

KEYS: tuple[Key, ...] = (
    Key("theme", "theme", "The colours.", 'a theme\'s name, or "" for the terminal\'s own colours', _text),
    Key("profile", "profile", "The retrieval profile to start with.", "a profile's name", _name),
    Key(
        "model", "model", "Folder of another embedding model, from this file's folder or ~.",
        'a path, or "" for the bundled model', _path,
    ),
    Key("editor", "editor", "The editor that E opens.", 'a command, or "" for $VISUAL or $EDITOR', _text),
    Key(
        "importance", "importance", "How observations are rated: which types and words count for more.",
        " or ".join(f'"{table.name}"' for table in TABLES), _table,
    ),
    Key(
        "capture", "capture", "What capture keeps of sessions: lessons, or also code changes and decisions (signals).",
        '"lessons" or "liberal"', _capture,
    ),
    Key(
        "retrieval.floor", "floor", "Say when nothing is relevant to a query, and serve agents nothing weak.",
        "true or false", _yes,
    ),
    Key("thresholds.duplicate", "thresholds.flag", "Cosine from which two memories are a likely duplicate.", *_SHARE),
    Key("thresholds.review", "thresholds.review", "Cosine from which a pair joins the review list.", *_SHARE),
    Key(
        "thresholds.order", "thresholds.order", "Ordered text similarity from which a duplicate may be absorbed.",
        "a number from 0 to 100", _number(0, 100),
    ),
    Key(
        "reflection.importance", "reflection.importance", "Reflect when this much importance has come in.",
        "a number from 1 to 1000000", _number(1, 1_000_000),
    ),
    Key(
        "reflection.observations", "reflection.observations", "Reflect after this many observations.",
        "a whole number from 1 to 1000000", _whole(1, 1_000_000),
    ),
    Key(
        "reflection.hours", "reflection.hours", "Reflect after this many hours.",
        "a number from 0.1 to 87600", _number(0.1, 87_600),
    ),
    Key(
        "reflection.index", "index_file", "An overview that is written after each reflection, in the store's project.",
        'a file such as "memory-index.md", or "" for none', _text,
    ),
    Key(
        "reflection.still_true", "still_true",
        "Look for what memories name in the working tree before a reflection.", "true or false", _yes,
    ),
    Key("lifecycle.signal_days", "lifecycle.signal_days", "Propose to archive an untouched signal.", *_DAYS),
    Key("lifecycle.candidate_days", "lifecycle.candidate_days", "Flag a waiting candidate.", *_DAYS),
    Key("lifecycle.confirmed_days", "lifecycle.confirmed_days", "Ask of a confirmed memory: still true?", *_DAYS),
    Key(
        "lifecycle.sightings", "lifecycle.sightings", "Propose to confirm what was seen again this often.",
        "a whole number from 1 to 1000", _whole(1, 1_000),
    ),
    Key(
        "lifecycle.references", "lifecycle.references", "Propose a skill when this many memories are referred to.",
        "a whole number from 1 to 1000", _whole(1, 1_000),
    ),
    Key(
        "lifecycle.doubtful", "lifecycle.doubtful",
        "Ask of a memory that was marked harmful, once its confidence is this low: still true?",
        "a whole number from 0 to 5", _whole(0, 5),
    ),
    Key("claude.model", "claude.model", "The model that reflects when there is a key.", "a model's name", _name),
    Key(
        "claude.temperature", "claude.temperature", "Sent only when set, as not every model takes one.",
        'a number from 0 to 1, or "" for the model\'s own', _share_or_none,
    ),
    Key(
        "claude.max_tokens", "claude.max_tokens", "Longest reply.",
        "a whole number of tokens from 256 to 64000", _whole(256, 64_000),
    ),
    Key(
        "claude.monthly_tokens", "claude.monthly_tokens", "Stop when a month's tokens, in and out, reach this.",
        "a whole number from 0 (no limit) to 1000000000", _whole(0, 1_000_000_000),
    ),
    Key(
        "claude.memories", "claude.memories", "How many of the latest memories a reflection reads.",
        "a whole number from 5 to 1000", _whole(5, 1_000),
    ),
    Key(
        "claude.rounds", "claude.rounds", "How often an insight may be refined.",
        "a whole number from 1 to 10", _whole(1, 10),
    ),
    Key("claude.rate_importance", "claude.rate_importance", "Let the model rate insights.", "true or false", _yes),
    Key(
        "agents.serve", "agents.serve", "What agents are served: everything, or only what a person wrote or approved.",
        " or ".join(f'"{one}"' for one in SERVE), _serve,
    ),
    Key(
        "agents.approved_only", "agents.approved_only",
        "Agents that get only what a person wrote or approved, whatever agents.serve says.",
        'names with commas between, or "" for none', _names,
    ),
    Key(
        "agents.recall", "agents.recall", "Give an agent at each prompt what the store holds on it, by its hook.",
        "true or false", _yes,
    ),
    Key(
        "memory.enabled", "memory.enabled", "Look through the external memory of agents' sessions (~/.ai/sessions).",
        "true or false", _yes,
    ),
    Key(
        "memory.default_limit", "memory.default_limit", "How many results recall gives.",
        "a whole number from 1 to 50", _whole(1, 50),
    ),
    *(
        Key(
            f"context.{layer}", f"context.{layer}", f"Tokens of a context of 20,000 for {what}; less in a smaller one.",
            "a whole number from 0 to 1000000", _whole(0, 1_000_000),
        )
        for layer, what in (
            ("pinned", "what is pinned"), ("overview", "the overview of an external memory"),
            ("turns", "its last turns"), ("playbook", "the playbook"), ("known", "what is confirmed"),
            ("retrieved", "what is found for the task"), ("patterns", "the patterns that apply"),
            ("failures", "what failed alike, and what helped then"), ("episodes", "tasks like it"),
        )
    ),
)  # fmt: skip


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
