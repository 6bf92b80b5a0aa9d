"""How a JSON file is written: indentation, separators, escapes; and writing new values the same way."""

import json
import re
from dataclasses import dataclass

from workbench.formats.shared.jsonlines import keeps_to_ascii

_INDENT = re.compile(r"[\[{][ \t]*(\r?\n|\r)([ \t]+)\S")
_COLON = re.compile(r'"[ \t]*:([ \t]*)\S')
_COMMA = re.compile(r'["\d\]}el],([ \t]*)\S')


@dataclass(frozen=True, slots=True)
class Style:
    """`unit` is one level of indentation, empty where everything stands on one line."""

    unit: str = "  "
    newline: str = "\n"
    colon: str = ": "
    comma: str = ", "
    ascii_only: bool = False


def style_of(text: str) -> Style:
    """Find out how `text` is written, by its first places that tell."""
    indent, colon, comma = _INDENT.search(text), _COLON.search(text), _COMMA.search(text)
    return Style(
        unit=indent[2] if indent else "",
        newline=indent[1] if indent else "\n",
        colon=f":{colon[1]}" if colon else ": ",
        comma=f",{comma[1]}" if comma else ", ",
        ascii_only=keeps_to_ascii(text),
    )


def dumps(value: object, style: Style, outer: str = "", *, inline: bool = False) -> str:
    """Write `value` as it stands behind a key on a line indented by `outer`; with `inline`, on one line."""
    separators = (style.comma if inline or not style.unit else ",", style.colon)
    indent = None if inline or not style.unit else style.unit
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=style.ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=True)
    # Line breaks inside strings are escaped, so every one that is left is layout.
    return text.replace("\n", style.newline + outer)


def replacement(value: object, style: Style, old: str, outer: str = "") -> str:
    """Write a value in the place of `old`: on one line where that was, else indented."""
    return dumps(value, style, outer, inline="\n" not in old and "\r" not in old)
