"""What a Markdown file says of itself: front matter between rules, or a META comment in either spelling."""

import re
from collections.abc import Mapping

from workbench.core.files.textedit import BLANKS
from workbench.core.text import clean_for_store

_META = re.compile(r"<!--\s*META:?[ \t]*\r?\n", re.IGNORECASE)
_FACT = re.compile(r"^[ \t]*(?:-[ \t]+)?(\w+):(.*)$", re.MULTILINE)
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def meta(text: str) -> tuple[str, int] | None:
    """Return what the META comment says and where it ends; `None` when there is none, or it never ends."""
    opened = _META.search(text)
    end = text.find("-->", opened.end()) if opened else -1
    return None if opened is None or end < 0 else (text[opened.end() : end], end + len("-->"))


def facts(said: str) -> dict[str, str]:
    """Return the names and values of lines `name: value`, with or without a list dash before them."""
    return {name: value.strip(BLANKS) for name, value in _FACT.findall(clean_for_store(said))}


def front_matter(text: str) -> Mapping[str, str]:
    """Return what a file says of itself; where front matter and a META comment name the same, the comment counts."""
    front, comment = _FRONT.match(text), meta(text)
    return {**facts(front[1] if front else ""), **facts(comment[0] if comment else "")}
