"""Who holds a lock file, as far as the operating system tells."""

import os
import sys
from pathlib import Path

from workbench.core.waiting import Holder

_LOCKS = Path("/proc/locks")
_LONGEST = 200
_TELLS = sys.platform == "linux"


def note(handle: int) -> None:
    """Write into a lock file that is held who holds it, where the system does not tell; a failure is no harm.

    Linux tells; there a write would only make the journal's fsync dearer.
    """
    if _TELLS:
        return
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {Path(sys.argv[0]).name}\n".encode(errors="replace"))
    except OSError:
        return


def holder_of(*paths: Path) -> Holder | None:
    """Return who holds a lock on the first of `paths` that is locked, or `None` when that cannot be known."""
    for path in paths:
        pid, command = _locked_by(path) if _TELLS else _noted(path)
        if pid:
            return Holder(pid, command, own=pid == os.getpid())
    return None


def _locked_by(path: Path) -> tuple[int, str]:
    """Ask the kernel: a line is `1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`, hexadecimal devices."""
    try:
        seen = path.stat()
        lines = [line.split() for line in _LOCKS.read_text("ascii").splitlines()]
        held = [words for words in lines if len(words) > 5 and words[1] == "FLOCK" and _inode(words[5]) == seen.st_ino]
        device = f"{os.major(seen.st_dev):02x}:{os.minor(seen.st_dev):02x}:"
        # Some file systems show another device there than `stat` does; then the inode alone tells.
        best = next((words for words in held if words[5].startswith(device)), held[0] if held else None)
        pid = int(best[4]) if best else 0
    except (OSError, ValueError):
        return 0, ""
    return (pid, _command(pid)) if pid > 0 else (0, "")


def _inode(place: str) -> int:
    return int(place.rpartition(":")[2])


def _command(pid: int) -> str:
    try:
        return _plain(Path(f"/proc/{pid}/comm").read_text("utf-8", "replace"))
    except OSError:
        return ""


def _noted(path: Path) -> tuple[int, str]:
    try:
        with path.open("rb") as file:
            pid, _, command = file.read(_LONGEST).decode("utf-8", "replace").partition(" ")
        return int(pid), _plain(command)
    except (OSError, ValueError):
        return 0, ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.strip() if letter.isprintable())
