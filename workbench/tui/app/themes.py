"""Colour themes from TOML files, checked when they are read: a bad file is one sentence, never a
crash.

A theme file holds `name`, `dark` (true or false), colours (`primary` … `panel`) and, in a table
`[variables]`, any of Textual's own style variables.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from workbench.config.loading import Settings
from workbench.core.toml_text import parse_toml
from workbench.tui.widgets.content import keyed

COLOURS = (
    "primary", "secondary", "accent", "foreground", "background", "surface", "panel", "boost",
    "warning", "error", "success",
)  # fmt: skip
NEEDED = ("name", "primary", "foreground", "background")
FRACTIONS = ("luminosity_spread", "text_alpha")
KEYS = ("name", "dark", *COLOURS, *FRACTIONS, "variables")

_TEXT_STYLES = frozenset(
    {"none", "bold", "b", "italic", "i", "underline", "u", "reverse", "r", "strike", "dim", "not"}
)


@dataclass(frozen=True, slots=True)
class LoadedThemes:
    """The usable themes, and one sentence for each thing that is wrong in a file."""

    themes: tuple[Theme, ...]
    problems: tuple[str, ...]


def load_themes(folders: Iterable[Path]) -> LoadedThemes:
    """Read every `*.toml` of the folders; a theme of a later folder replaces one of the same name.

    A missing folder holds no themes. An unknown key is named and ignored; any other fault leaves
    out its file.
    """
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            theme, found = _load(path)
            problems += found
            if theme is not None:
                themes[theme.name] = theme
    return LoadedThemes(tuple(themes.values()), tuple(problems))


def unknown_theme(asked: str, themes: Iterable[Theme]) -> tuple[str, ...]:
    """Say so when the theme that is asked for is neither one of `themes` nor of Textual's; nothing
    else.
    """
    names = [*BUILTIN_THEMES, *(theme.name for theme in themes)]
    if not asked or asked in names:
        return ()
    near = difflib.get_close_matches(asked, names, n=1)
    hint = f" Did you mean “{near[0]}”?" if near else ""
    shown = f"There is no theme “{asked}”, so {Settings().theme} is shown"
    return (f"{shown}; {keyed('{app.palette}')}, “Theme” lists them.{hint}",)


def _load(path: Path) -> tuple[Theme | None, list[str]]:
    try:
        data = parse_toml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return None, [f"The theme {path.name} cannot be read ({_short(error)}), so it is left out."]
    variables = data.get("variables", {})
    if not isinstance(variables, dict):
        return None, [
            f"In the theme {path.name}, “variables” is not a table, so the theme is left out."
        ]
    problem = _fault(data) or _variable_fault(variables)
    if problem:
        return None, [f"In the theme {path.name}, {problem}, so the theme is left out."]
    known = {key: value for key, value in data.items() if key in KEYS}
    theme = Theme(**{**known, "variables": {}})
    generated = theme.to_color_system().generate()
    problems = [
        *_unknown(path, (k for k in data if k not in KEYS), KEYS),
        *_unknown(path, (k for k in variables if k not in generated), list(generated)),
    ]
    theme.variables = {k: str(v) for k, v in variables.items() if k in generated}
    theme.to_color_system().generate()
    return theme, problems


def _fault(data: Mapping[str, object]) -> str | None:
    missing = next((key for key in NEEDED if key not in data), None)
    if missing:
        return f"“{missing}” is missing"
    if not isinstance(data["name"], str) or not data["name"].strip():
        return "“name” is not a word"
    if not isinstance(data.get("dark", True), bool):
        return "“dark” is neither true nor false"
    for key in FRACTIONS:
        value = data.get(key, 0.5)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            return f"“{key}” is not a number from 0 to 1"
    return next(
        (fault for key in COLOURS if key in data and (fault := _colour_fault(key, data[key]))), None
    )


def _colour_fault(key: str, value: object) -> str | None:
    try:
        if isinstance(value, str) and Color.parse(value):
            return None
    except ColorParseError:
        pass
    return f"“{key}” is “{value}”, which is not a colour"


def _variable_fault(variables: Mapping[str, object]) -> str | None:
    """Check style variables: text styles by their words, everything else as a colour with an
    optional share.
    """
    for key, value in variables.items():
        text = value if isinstance(value, str) else ""
        if key.endswith(("-text-style", "link-style", "link-style-hover")):
            if not text or not _TEXT_STYLES.issuperset(text.split()):
                return f"“{key}” is “{value}”, which is not a text style"
            continue
        colour, _, share = text.partition(" ")
        if share and not (share.endswith("%") and share[:-1].isdecimal()):
            return f"“{key}” is “{value}”, which is not a colour"
        if colour not in ("auto", "initial") and (fault := _colour_fault(key, colour)):
            return fault
    return None


def _unknown(path: Path, keys: Iterable[str], known: Sequence[str]) -> list[str]:
    sentences = []
    for key in keys:
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"; did you mean “{near[0]}”?" if near else "."
        sentences.append(f"In the theme {path.name}, “{key}” is unknown and was ignored{hint}")
    return sentences


def _short(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or "it cannot be opened"
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
