"""The one way git is run here: without anything of a repository but its objects, its index and its
ignore files.

A repository that came from elsewhere says in its `.git/config` which programs git is to run: for a
difference, a filter, a signature, a file watcher, a missing object. None of it is read: git is
given a folder of ours for its own, which holds nothing but the commit that is looked at, and the
repository's objects beside it. It writes nothing there.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.core.record import WorkbenchError
from workbench.store.files import read_regular
from workbench.store.folder import repository_of

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECONDS = 10
_LINKS = 5
"""References that name another one, at most."""

_LONGEST = 100_000
"""Bytes of a line of git's that are read at most."""

_SMALL, _PACKED = 4096, 64 << 20
"""Bytes of a file that names one thing, and of the one that names all references, at most."""


class Repository:
    """The commits of a working tree `folder`, as of its present one, `head`."""

    def __init__(self, program: str, folder: Path, objects: Path, head: str) -> None:
        self.head = head
        self._program, self._folder, self._objects = program, folder, objects

    @contextmanager
    def lines(self, *arguments: str, tree: bool = False) -> Iterator[Iterator[str]]:
        """Let git run a command that reads, and yield its lines as they come; leaving ends it.

        With `tree` the files of the working tree are read, too. Raises `WorkbenchError` when git
        cannot be started.
        """
        with tempfile.TemporaryDirectory(prefix="workbench-git-") as own:
            environment = _isolated(
                Path(own), self._objects, self.head, self._folder if tree else None
            )
            if tree:
                with _started(
                    [self._program, "read-tree", self.head], Path(own), environment
                ) as reading:
                    reading.communicate()
            command = [self._program, "--no-pager", "-c", "core.quotePath=false", *arguments]
            with _started(command, self._folder if tree else Path(own), environment) as running:
                assert running.stdout is not None
                read = running.stdout.readline
                try:
                    yield (
                        line.decode("utf-8", "replace").rstrip("\n")
                        for line in iter(lambda: read(_LONGEST), b"")
                    )
                finally:
                    running.kill()


def _isolated(own: Path, objects: Path, head: str, tree: Path | None) -> dict[str, str]:
    """Make git's own folder, and return the environment that leaves it nothing else to read but a
    working tree.
    """
    for name in ("objects", "refs"):
        (own / name).mkdir()
    (own / "HEAD").write_text(f"{head or 'ref: refs/heads/main'}\n", "ascii")
    form = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n"
    (own / "config").write_text(
        form if len(head) > 40 else "[core]\nrepositoryformatversion = 0\n", "ascii"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_DIR": str(own), "GIT_OBJECT_DIRECTORY": str(objects), "GIT_INDEX_FILE": str(own / "index"),
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
        **({"GIT_WORK_TREE": str(tree)} if tree is not None else {}),
    }  # fmt: skip


def ask(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run a git command that reads the names in the working tree around `folder` and in its index,
    from `folder`.

    Returns `None` where there is no working tree or no git, or when it takes more than ten seconds.
    """
    tree, program = repository_of(folder.resolve()), shutil.which("git")
    common, git_dir = _folders(tree / ".git") if tree is not None else (None, None)
    if tree is None or program is None or common is None or git_dir is None:
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="workbench-git-") as own:
            environment = _isolated(Path(own), common / "objects", _commit(git_dir, common), tree)
            environment["GIT_INDEX_FILE"] = str(git_dir / "index")
            (Path(own) / "info").mkdir()
            with suppress(FileNotFoundError):
                (Path(own) / "info/exclude").write_bytes(
                    read_regular(common / "info/exclude", _PACKED)
                )
            return subprocess.run(
                [program, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_SECONDS, check=False,
            )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None


def _started(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise WorkbenchError(
            f"git cannot be started: {error.strerror}.", "Nothing was changed."
        ) from error


def repository_at(folder: Path) -> Repository | None:
    """Return the repository whose working tree begins in a folder; `None` without one, without git,
    or a commit.
    """
    program = shutil.which("git")
    common, own = _folders(folder / ".git")
    if program is None or common is None or own is None:
        return None
    head = _commit(own, common)
    objects = common / "objects"
    return Repository(program, folder, objects, head) if head and objects.is_dir() else None


def _folders(mark: Path) -> tuple[Path | None, Path | None]:
    """Return the folder that a repository's objects lie in and the one with its HEAD: two for a
    linked worktree.
    """
    try:
        if mark.is_dir():
            return mark, mark
        told = _text(mark).partition("gitdir:")[2].strip()
        own = (mark.parent / told).resolve()
        link = own / "commondir"
        common = (own / _text(link).strip()).resolve() if link.is_file() else own
    except (OSError, ValueError, RuntimeError):
        return None, None
    return (common, own) if told and own.is_dir() else (None, None)


def _commit(own: Path, common: Path) -> str:
    """Return the commit that HEAD is at, "" where none is found."""
    told = _line(own / "HEAD")
    for _ in range(_LINKS):
        if _HASH.fullmatch(told):
            return told
        name = told.removeprefix("ref:").strip()
        if not told.startswith("ref:") or not name.startswith("refs/") or ".." in name.split("/"):
            return ""
        told = _line(own / name) or _line(common / name) or _packed(common / "packed-refs", name)
    return ""


def _line(path: Path) -> str:
    try:
        return _text(path).partition("\n")[0].strip()
    except OSError:
        return ""


def _packed(path: Path, name: str) -> str:
    try:
        lines = _text(path, _PACKED).splitlines()
    except OSError:
        return ""
    return next((line.split()[0] for line in lines if line.strip().endswith(f" {name}")), "")


def _text(path: Path, most: int = _SMALL) -> str:
    """Return what a file of git's own says; raises `OSError`, also for a pipe, a device or one that
    is too large.
    """
    return read_regular(path, most).decode("utf-8", "surrogateescape")
