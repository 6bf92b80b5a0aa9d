"""The one way git is run here: without anything of a repository but its objects, its index and its ignore files.

A repository that came from elsewhere says in its `.git/config` which programs git is to run: for a difference, a
filter, a signature, a file watcher, a missing object. None of it is read: git is given a folder of ours for its own,
which holds nothing but the commit that is looked at, and the repository's objects beside it. It writes nothing there.
"""

import io
import os
import re
import shutil
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EFBIG, EROFS
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from workbench.core.files.atomic import write_file
from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem, WorkbenchError

if TYPE_CHECKING:
    from zlib import _Decompress


# Reading the files of a store, and what fails.
#
# Git carries links, and a folder may hold anything: whatever is read from a store's folder is opened here, so that it
# is a regular file that stands there itself, of a size that makes sense.


LOCK = "lock"
"""The lock file that every writer of a store holds."""

CHECKPOINT_LOCK = "checkpoint.lock"
"""The lock file that whoever writes a checkpoint holds, taken before the other one."""

LARGEST = 1 << 30
"""Bytes of a file that is read as a whole, at most."""

_SETTLED_NS = 100_000_000
"""Nanoseconds after which a folder's time tells of whatever comes next: it is rounded to ticks of a clock."""


class Standstill:
    """Tells by one look at a folder that nothing came into it or went since its names were read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._since = -1

    def holds(self) -> bool:
        """Whether the names are still those of the moment that was noted."""
        return self._since >= 0 and self.moment() == self._since

    def moment(self) -> int:
        """Return what tells this moment from others, before the names are read; -1 where it does not tell yet."""
        try:
            at = self._folder.stat().st_mtime_ns
        except OSError:
            return -1
        return at if time.time_ns() - at > _SETTLED_NS else -1

    def note(self, moment: int) -> None:
        """Remember the moment before the names were read."""
        self._since = moment


class TooLarge(OSError):
    """Something in a store's folder is larger than it ever is; `what` it is, and the limit in bytes."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(EFBIG, f"{what} is larger than {limit >> 20:,} MiB")


def open_regular(path: Path) -> io.FileIO:
    """Open a regular file of a store for reading, unbuffered; raises as `open_handle` does."""
    return io.FileIO(open_handle(path, os.O_RDONLY), "rb")


def read_regular(path: Path, most: int = LARGEST) -> bytes:
    """Return what is in a regular file of a store; raises as `open_handle` does, and `TooLarge` above `most` bytes."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise TooLarge(path.name, most)
        data = file.readall()
    if len(data) > most:
        raise TooLarge(path.name, most)
    return data


def closed(folder: Path, *names: str) -> OSError | None:
    """Return why nothing can be written to a folder, or to those of its files that are there; `None` when it can."""
    there = [folder, *(path for name in names if (path := folder / name).exists())]
    if not folder.exists() or all(os.access(path, os.W_OK) for path in there):
        return None
    fixed = hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY
    number = EROFS if fixed else EACCES
    return OSError(number, os.strerror(number))


def taken_away(folder: Path) -> StoreProblem:
    """Say in one sentence that the journal that was open is not there any more."""
    message = f"The journal of {folder} is gone: somebody removed or renamed it."
    return StoreProblem(message, "Nothing was changed; put it back, or open the store again.")


def overtaken(folder: Path) -> StoreProblem:
    """Say in one sentence that somebody else wrote, without the lock, what was about to be written."""
    message = f"Another program wrote to {folder} while its lock file was replaced."
    return StoreProblem(message, "Nothing was changed; try again.")


# What git is to see of a store that lies in a repository: nothing, unless it was made to be shared.


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


# Segments as they are read: one line at a time, packed ones unpacked piece by piece, both within bounds.
#
# A file of a store may come from anybody. A line is at most `LONGEST` bytes and a packed segment at most `LARGEST`
# unpacked; three megabytes of gzip can hold three gigabytes, and none of it is ever in memory as a whole.


LONGEST = 64 << 20
"""Bytes of a line at most."""

"""Bytes of a packed segment at most, unpacked."""

_STRIDE = 4 << 20
"""Bytes unpacked between two places that can be gone back to."""

_CHUNK = 1 << 16
_GZIP = 31


class NotPacked(OSError):
    """What stands behind a packed part is neither another one nor padding."""


DAMAGED = (EOFError, zlib.error, NotPacked)
"""What reading a packed segment raises where it is damaged or cut off."""


class Lines(io.BufferedReader):
    """An open file whose lines are read one by one; raises `TooLarge` for one that is too long."""

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line, or what is left of the last one."""
        most = LONGEST + 1 if size is None or size < 0 else min(size, LONGEST + 1)
        line = super().readline(most)
        if len(line) > LONGEST:
            raise TooLarge("a line", LONGEST)
        return line


def open_lines(path: Path) -> BinaryIO:
    """Open a segment for reading, packed or not. Raises `OSError`.

    Reading it raises `TooLarge`, and of a packed one what `DAMAGED` names.
    """
    file = open_regular(path)
    return cast(BinaryIO, Lines(_Unpacked(file) if path.suffix == ".gz" else file, _CHUNK))


class _Place(NamedTuple):
    """Where unpacking goes on: the offset in the packed file, bytes that were read before it, and the unpacker."""

    offset: int
    pending: bytes
    unpacker: "_Decompress"


class _Unpacked(io.RawIOBase):
    """A packed file as it is unpacked. Going back starts at the nearest place that was noted on the way."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__()
        self._file = file
        self._at = 0
        self._places = [_Place(0, b"", zlib.decompressobj(_GZIP))]
        self._block: tuple[int, bytes] = (-1, b"")
        self._end: int | None = None
        self._error: Exception | None = None

    def close(self) -> None:
        """Close the packed file, too."""
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        """Return the place, in unpacked bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place; the end is where nothing more can be unpacked."""
        base = 0 if whence == io.SEEK_SET else self._at if whence == io.SEEK_CUR else self._size()
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: "memoryview | bytearray", /) -> int:  # type: ignore[override]
        """Read unpacked bytes; raises what stopped the unpacking when nothing is left before it."""
        number, within = divmod(self._at, _STRIDE)
        piece = self._read(number)[within : within + len(buffer)]
        if not piece and self._error is not None:
            raise self._error
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _size(self) -> int:
        number = len(self._places) - 1
        while self._end is None:
            self._read(number)
            number += 1
        return self._end

    def _read(self, number: int) -> bytes:
        """Return one stride of unpacked bytes, fewer at the end."""
        if self._block[0] != number:
            for step in range(min(number, len(self._places) - 1), number + 1):
                if self._end is not None and step * _STRIDE >= self._end:
                    return b""
                self._block = (step, self._unpack(step))
        return self._block[1]

    def _unpack(self, number: int) -> bytes:
        place = self._places[number]
        data, error = bytearray(), None
        try:
            if number * _STRIDE >= LARGEST:
                raise TooLarge("a packed segment", LARGEST)
            place = self._on(place, data)
        except (EOFError, zlib.error, OSError) as stopped:
            error = stopped
        if len(data) < _STRIDE or error is not None:
            self._end, self._error = number * _STRIDE + len(data), error
        elif number + 1 == len(self._places):
            self._places.append(place)
        return bytes(data)

    def _on(self, place: _Place, data: bytearray) -> _Place:
        """Unpack a stride from a place into `data`; return the place after it."""
        offset, pending, unpacker = place.offset, place.pending, place.unpacker.copy()
        self._file.seek(offset)
        while (room := _STRIDE - len(data)) > 0:
            pending = pending or self._file.read(_CHUNK)
            if not pending:
                data += unpacker.decompress(b"", room)
                if unpacker.eof or self._file.tell() == 0:
                    break
                if len(data) < _STRIDE:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
                continue
            if unpacker.eof:
                # Zeros may stand behind the end, or another packed part.
                pending = pending.lstrip(b"\0")
                if pending[:1] not in (b"", b"\x1f"):
                    raise NotPacked("Not a gzipped file")
                unpacker = zlib.decompressobj(_GZIP) if pending else unpacker
                continue
            data += unpacker.decompress(pending, room)
            pending = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
        return _Place(self._file.tell(), pending, unpacker)


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

        With `tree` the files of the working tree are read, too. Raises `WorkbenchError` when git cannot be started.
        """
        with tempfile.TemporaryDirectory(prefix="workbench-git-") as own:
            environment = _isolated(Path(own), self._objects, self.head, self._folder if tree else None)
            if tree:
                with _started([self._program, "read-tree", self.head], Path(own), environment) as reading:
                    reading.communicate()
            command = [self._program, "--no-pager", "-c", "core.quotePath=false", *arguments]
            with _started(command, self._folder if tree else Path(own), environment) as running:
                assert running.stdout is not None
                read = running.stdout.readline
                try:
                    yield (line.decode("utf-8", "replace").rstrip("\n") for line in iter(lambda: read(_LONGEST), b""))
                finally:
                    running.kill()


def _isolated(own: Path, objects: Path, head: str, tree: Path | None) -> dict[str, str]:
    """Make git's own folder, and return the environment that leaves it nothing else to read but a working tree."""
    for name in ("objects", "refs"):
        (own / name).mkdir()
    (own / "HEAD").write_text(f"{head or 'ref: refs/heads/main'}\n", "ascii")
    form = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n"
    (own / "config").write_text(form if len(head) > 40 else "[core]\nrepositoryformatversion = 0\n", "ascii")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_DIR": str(own), "GIT_OBJECT_DIRECTORY": str(objects), "GIT_INDEX_FILE": str(own / "index"),
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
        **({"GIT_WORK_TREE": str(tree)} if tree is not None else {}),
    }  # fmt: skip


def ask(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run a git command that reads the names in the working tree around `folder` and in its index, from `folder`.

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
                (Path(own) / "info/exclude").write_bytes(read_regular(common / "info/exclude", _PACKED))
            return subprocess.run(
                [program, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_SECONDS, check=False,
            )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None


def _started(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise WorkbenchError(f"git cannot be started: {error.strerror}.", "Nothing was changed.") from error


def repository_at(folder: Path) -> Repository | None:
    """Return the repository whose working tree begins in a folder; `None` without one, without git, or a commit."""
    program = shutil.which("git")
    common, own = _folders(folder / ".git")
    if program is None or common is None or own is None:
        return None
    head = _commit(own, common)
    objects = common / "objects"
    return Repository(program, folder, objects, head) if head and objects.is_dir() else None


def _folders(mark: Path) -> tuple[Path | None, Path | None]:
    """Return the folder that a repository's objects lie in and the one with its HEAD: two for a linked worktree."""
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
    """Return what a file of git's own says; raises `OSError`, also for a pipe, a device or one that is too large."""
    return read_regular(path, most).decode("utf-8", "surrogateescape")
