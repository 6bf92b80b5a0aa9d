"""Fields of events: how much of one is looked at, and how paths stand in it."""

import re

LONGEST = 20_000
"""Characters of a field that are looked at; of a longer one its beginning and its end."""


def cut(text: str) -> str:
    """Return a field as far as it is looked at: errors stand at either end."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}\n{text[1 - LONGEST // 2 :]}"


_HOME = r"(?<![\w.])(?:/home/[^/\s'\"`:]+|/Users/[^/\s'\"`:]+|/root|[A-Z]:\\Users\\[^\\\s'\"`]+)(?=[/\\\s'\"`:]|$)"


def short_paths(text: str) -> str:
    """Return a text in which a home folder is `~`."""
    return re.sub(_HOME, "~", text)
