"""What an empty store can begin with: files of agents in a folder, and what agents have on this
machine.

Nothing is opened: names and counts only.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

MOST = 10_000
"""Files that are looked at, at most."""

_BESIDE = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "MEMORY.md", ".claude/CLAUDE.md", ".claude/memory", ".learnings",
    "memory-bank", ".cursor/rules", ".github/copilot-instructions.md", "playbook.txt", "playbooks",
)  # fmt: skip

_ON_MACHINE = (
    ("Claude Code: sessions", ".claude/projects", "*/*.jsonl"),
    ("Claude Code: memory files", ".claude/projects", "*/memory/*.md"),
    ("Claude Code: your instructions", ".claude/CLAUDE.md", ""),
    ("Codex: sessions", ".codex/sessions", "**/*.jsonl"),
    ("Codex: your instructions", ".codex/AGENTS.md", ""),
    ("claude-mem", ".claude-mem/claude-mem.db", ""),
    ("External memory: sessions", ".ai/sessions", "*/messages.jsonl"),
)  # fmt: skip
"""What agents keep below the home folder: its name, where it lies, and what is counted there."""


class Source(NamedTuple):
    """A file, or a folder with so many of them; `pattern` finds them."""

    name: str
    path: Path
    files: int = 1
    pattern: str = ""

    @property
    def sessions(self) -> tuple[Path, ...]:
        """The files of agents' sessions, which are read for what they teach."""
        is_sessions = self.pattern.endswith("*.jsonl")
        return tuple(islice(self.path.glob(self.pattern), MOST)) if is_sessions else ()


def beside(folder: Path, most: int = MOST) -> tuple[Source, ...]:
    """Return what lies in a folder that an import can read; `most` files of each are counted."""
    found = (_source(name, folder / name, "**/*", most) for name in _BESIDE)
    return tuple(source for source in found if source.files)


def on_machine(home: Path) -> tuple[Source, ...]:
    """Return what agents have below a home folder."""
    found = (_source(name, home / path, what) for name, path, what in _ON_MACHINE)
    return tuple(source for source in found if source.files)


def _source(name: str, path: Path, what: str, most: int = MOST) -> Source:
    try:
        if path.is_dir():
            shown = f"{name}/" if path.match(name) else name
            return Source(shown, path, _count(path.glob(what or "*"), most), what)
        return Source(name, path, int(path.is_file() and path.stat().st_size > 0))
    except OSError:
        return Source(name, path, 0)


def _count(found: Iterator[Path], most: int) -> int:
    return sum(1 for _ in islice(filter(Path.is_file, islice(found, MOST)), most))
