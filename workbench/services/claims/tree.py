"""A working tree as it is now: which files there are, which words they hold, and what its build tools can be asked."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

from workbench.core.claims import Name

MOST_FILES = 50_000
"""Files and folders that are looked at, at most."""

_LONGEST = 1_000_000
"""Bytes of a file in which words are looked for."""

_PASSED_OVER = frozenset((
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", ".mypy_cache",
    ".ruff_cache", ".pytest_cache", ".workbench", ".idea",
))  # fmt: skip
PROSE = frozenset((".md", ".rst", ".txt", ".adoc", ".mdx", ".mdc", ".org", ".log", ".lock", ".jsonl", ".po", ".svg"))
"""Endings of what tells of things rather than has them: a name in a changelog is not there for that."""

_TOOLS = {"make": ("makefile", "gnumakefile"), "just": ("justfile", ".justfile"), "npm": ("package.json",)}
"""The files in which a tool's targets are, in small letters."""


class WorkingTree:
    """The files below a folder, read once; links are not followed out of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_whole = True

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths of its files and folders, relative, with `/`."""
        found: list[str] = []
        for above, folders, files in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
            begin = Path(above).relative_to(self.folder).as_posix()
            lead = "" if begin == "." else f"{begin}/"
            found += (f"{lead}{name}" for name in (*folders, *sorted(files)))
            if len(found) > MOST_FILES:
                self.is_whole = False
                break
        return tuple(found)

    @cached_property
    def _endings(self) -> frozenset[str]:
        """Every path, and each of its ends that begins with a folder or a file."""
        ends: set[str] = set()
        for path in self.paths:
            ends.add(path)
            while "/" in path:
                path = path.partition("/")[2]
                ends.add(path)
        return frozenset(ends)

    def has_path(self, path: str) -> bool:
        """Tell whether something lies at a path, or at one that ends with it."""
        if path in self._endings:
            return True
        try:
            return os.path.lexists(self.folder / path)
        except ValueError:
            return False

    def has_ending(self, name: Name) -> bool:
        """Tell whether a path is there that a name means, a module's also as a package."""
        return self.has_path(name.text) or (name.text.endswith(".py") and self.has_path(name.text[:-3]))

    def without(self, words: Iterable[str]) -> frozenset[str]:
        """Return those of some words that stand in none of the files, prose aside; an option with its dashes is one."""
        missing = {word: re.compile(word_pattern(word)) for word in words}
        for text in self._texts():
            for word in [word for word, pattern in missing.items() if word in text and pattern.search(text)]:
                del missing[word]
            if not missing:
                break
        return frozenset(missing)

    def has_target(self, tool: str, target: str) -> bool:
        """Tell whether a build tool of the tree can be asked for a target; also where that cannot be told."""
        texts = [text for path in self.paths if is_of(tool, path) if (text := self._read(path)) is not None]
        if tool == "npm":
            return any(target in scripts for scripts in map(_scripts, texts))
        return any(re.search(target_line(target), text, re.M) for text in texts)

    def ignores(self, path: str) -> bool:
        """Tell whether a part of a path is named by the tree's `.gitignore`: it is made anew, and may be missing."""
        return not self._ignored.isdisjoint(path.split("/")) or any(
            PurePosixPath(path).match(pattern) for pattern in self._ignored if "*" in pattern
        )

    @cached_property
    def _ignored(self) -> frozenset[str]:
        text = self._read(".gitignore") or ""
        lines = (line.strip().strip("/") for line in text.splitlines())
        return frozenset(line.rpartition("/")[2] for line in lines if line and not line.startswith(("#", "!")))

    def _texts(self) -> Iterator[str]:
        for path in self.paths:
            if PurePosixPath(path).suffix.lower() not in PROSE and (text := self._read(path)) is not None:
                yield text

    def _read(self, path: str) -> str | None:
        """Return the text of a file; `None` for what is none, too long, or cannot be read."""
        place = self.folder / path
        try:
            if place.is_symlink() or not place.is_file() or place.stat().st_size > _LONGEST:
                return None
            data = place.read_bytes()
        except OSError:
            return None
        return None if b"\0" in data[:4096] else data.decode("utf-8", "replace")


def word_pattern(word: str) -> str:
    """Return a pattern for a symbol or an option that stands by itself."""
    edge = "-" if word.startswith("-") else ""
    return rf"(?<![A-Za-z0-9_{edge}]){re.escape(word)}(?![A-Za-z0-9_{edge}])"


def is_prose(path: str) -> bool:
    """Tell whether a file tells of things rather than has them."""
    return PurePosixPath(path).suffix.lower() in PROSE


def is_of(tool: str, path: str) -> bool:
    """Tell whether a file is one in which the targets of a build tool are."""
    name = path.rpartition("/")[2].lower()
    return name in _TOOLS[tool] or (tool == "make" and name.endswith(".mk"))


def target_line(target: str) -> str:
    """Return a pattern for the line in which a file of make or just begins a target."""
    names = r"[\w./%$(){}=\"'+*-]+"
    return rf"^ *@?(?:{names} +)*{re.escape(target)}(?: +{names})* *:(?!=)"


def _scripts(text: str) -> frozenset[str]:
    try:
        doc = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    scripts = doc.get("scripts") if isinstance(doc, dict) else None
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()
