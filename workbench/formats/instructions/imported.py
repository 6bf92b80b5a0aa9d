"""The files that an instruction file imports by `@path`, as Claude Code reads them."""

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from workbench.core.files.textedit import lines

DEEPEST = 5
"""How many files away an import is followed."""

_AT = re.compile(r"(?:(?<=\s)|^)@([^\s`@]+)")
_CODE = re.compile(r"(`+).*?\1")
_SUFFIXES = ("", ".md", ".mdc", ".mdx", ".markdown", ".txt")
_PLACES = ("./", "../", "~/", "/")


@dataclass(frozen=True, slots=True)
class Imported:
    """A file that is imported on a `line` of the first one, by its path from there; `text` is `None` when not read."""

    line: int
    path: str
    text: str | None


def imported(text: str, name: str, beside: Callable[[str], str | None]) -> Iterator[Imported]:
    """Yield each file that a text and its imports name once, however they name each other; `name` is its own."""
    waiting, seen = [(0, name, text, 0)], {name}
    while waiting:
        first, within, said, depth = waiting.pop(0)
        for line, named in _named(said):
            path = (
                named
                if named.startswith("~/")
                else posixpath.normpath(posixpath.join(posixpath.dirname(within), named))
            )
            there = None if path in seen or path.startswith("~/") else beside(path)
            if path in seen or (there is None and not _is_path(named)):
                continue
            seen.add(path)
            yield Imported(first or line, path, there)
            if there is not None and depth + 1 < DEEPEST:
                waiting.append((first or line, path, there, depth + 1))


def missing(text: str, exists: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Yield the line and the path of each import of a file that does not exist."""
    return ((line, name) for line, name in _named(text) if _is_path(name) and not exists(name))


def _named(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of what may be an import: `@name` outside code."""
    for line in lines(text):
        for found in () if line.code or "@" not in line.text else _AT.finditer(_CODE.sub(" ", line.text)):
            name = found[1].rstrip(".,;:!?)\"'*_")
            if PurePosixPath(name).suffix.lower() in _SUFFIXES and "://" not in name:
                yield line.number, name


def _is_path(name: str) -> bool:
    """Tell a path from a person, a package or a decorator, whether or not there is such a file."""
    return name.startswith(_PLACES) or bool(PurePosixPath(name).suffix)
