"""TOML that somebody else may have written: what would take the parser no end is refused before it
begins.
"""

import re
import tomllib
from typing import Any

PARTS = 200
"""Parts of one dotted key; the parser copies those before it for each, so that a file of one key is
quadratic.
"""

_NAME = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = rf"(?<![\w-]){_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{PARTS}}}"


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a text says. Raises `ValueError` with a sentence, also where it is nested too
    deeply.
    """
    if re.search(_LONG_KEY, text) is not None:
        raise tomllib.TOMLDecodeError(f"a key has more than {PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from error
