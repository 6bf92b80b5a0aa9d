"""What git is to see of a store that lies in a repository: nothing, unless it was made to be shared."""

from pathlib import Path

from workbench.core.files.atomic import write_file

IGNORE, ATTRIBUTES = ".gitignore", ".gitattributes"

_NOTHING = """# Made by workbench: what an agent remembers is not committed. See `workbench init --help`.
*
"""

_SHARED = """# Made by workbench: the journal is the store and is committed; what each machine makes for itself is not.
/lock
/*.lock
/cache/
/drafts/
/memory.json
/checkpoint.json
/memory.edited-*.json
/memory.dismissed-*.json
/placing-*.json
/working/
/backup-*/
.*.tmp
"""

_UNION = """# Made by workbench: lines are only ever added, and two branches keep the lines of both.
/journal*.jsonl -text merge=union
/journal*.jsonl.gz binary
/blobs/** binary
"""


def keep_out(folder: Path) -> None:
    """Let git see nothing of a new store; a `.gitignore` that is there already stays. Raises `OSError`."""
    if not (folder / IGNORE).exists():
        write_file(folder / IGNORE, _NOTHING.encode())


def share(folder: Path) -> None:
    """Let git see the journal of a new store, and merge it by keeping the lines of both sides. Raises `OSError`.

    The checkpoint is made from the journal, so it stays out: two branches could not merge it.
    """
    write_file(folder / IGNORE, _SHARED.encode())
    write_file(folder / ATTRIBUTES, _UNION.encode())


def repository_of(folder: Path) -> Path | None:
    """Return the working tree of git that a folder lies in, or `None`."""
    try:
        return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), None)
    except OSError:
        return None
