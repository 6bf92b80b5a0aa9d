"""A store's folder before it is opened: whether there is a store, making one on purpose, and what
git sees of it.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from workbench.core.record import StoreProblem, cannot_write
from workbench.core.team import POINTER
from workbench.store import folder as folders


def holds_store(folder: Path) -> bool:
    """Tell whether a folder holds a store, a damaged one included. Raises `StoreProblem` when it
    cannot be read.
    """
    return folders.is_store(folder)


def make_store(folder: Path, clock: Callable[[], datetime], *, shared: bool) -> None:
    """Make an empty store in `folder`, which may exist but must not hold one. Raises
    `StoreProblem`.

    A `shared` one is made to be committed: git sees its journal, and nothing else.
    """
    from workbench.store.library import Library  # whoever only asks for a store does not load one

    if folders.is_store(folder):
        raise StoreProblem(f"{folder} already has a store.", "Nothing was changed.")
    if (folder / POINTER).exists():
        raise StoreProblem(
            f"{folder} points to the store of a team, which is used here.",
            f"Nothing was created; remove {folder / POINTER} first to have one of your own.",
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shared:
            folders.share(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    Library(folder, clock).begin()


def in_repository(folder: Path) -> bool:
    """Tell whether a folder lies in the working tree of a git repository."""
    return folders.repository_of(folder) is not None


def kept_out_by(folder: Path) -> str:
    """Return the file that keeps a store in a git repository out of it; empty where there is none."""
    return folders.IGNORE if (folder / folders.IGNORE).exists() and in_repository(folder) else ""


def is_open_to_git(folder: Path) -> bool:
    """Tell whether `git add` would take in the journal of a store that was not made to be shared;
    asks git itself.
    """
    from workbench.store import repository

    if not in_repository(folder) or (folder / folders.ATTRIBUTES).exists():
        return False
    asked = repository.ask(folder, "check-ignore", "-q", "journal.jsonl")
    return asked is not None and asked.returncode == 1


# What an empty store can begin with: files of agents in a folder, and on this machine. Names and
# counts only; nothing is opened.


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
