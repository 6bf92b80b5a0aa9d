"""Copies of what was replaced on a person's word: they lie in the user's state folder, where no
agent reads them.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.files.atomic import write_file
from workbench.core.files.fresh import hash_of
from workbench.core.record import StoreProblem, WorkbenchError

_DIGITS = 64

MOST = 50
"""Copies that are kept, the latest ones; more only where one change replaced more."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """The folder of the copies (`None`: there is none, and nothing is replaced that would be lost).

    Each copy is named by the SHA-256 of its bytes, so that a text is kept once.
    """

    folder: Path | None

    def keep(self, path: Path, data: bytes) -> Path:
        """Keep what a file holds and return the copy; raises `WorkbenchError` when that cannot be,
        so nothing goes.
        """
        if self.folder is None:
            raise WorkbenchError(
                f"There is no folder to keep a copy of {path}.", "Nothing was written."
            )
        try:
            copy = self._put(self._made(self.folder), data)
            self._prune(MOST)
        except OSError as error:
            raise self._closed(path, error) from error
        return copy

    def keep_all(self, held: Sequence[tuple[Path, bytes]]) -> None:
        """Keep what one change needs to be taken back, however much that is; raises as `keep` does.

        Of very much not every single copy waits for the disk: one that a power loss cut off is
        known by its hash.
        """
        if not held:
            return
        if self.folder is None:
            raise WorkbenchError(
                "There is no folder to keep copies of replaced files.", "Nothing was written."
            )
        for path, data in held:
            try:
                self._put(self._made(self.folder), data, soon=len(held) > MOST)
            except OSError as error:
                raise self._closed(path, error) from error
        self._prune(max(MOST, len(held)))

    def _made(self, folder: Path) -> Path:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        return folder

    def _put(self, folder: Path, data: bytes, *, soon: bool = False) -> Path:
        """Put a copy into the folder; `soon` does not wait for the disk, and looks for nothing that
        was left there.
        """
        copy = folder / hash_of(data)
        write_file(copy, data, ".copy-", durable=not soon, tidy=not soon)
        return copy

    def _prune(self, most: int) -> None:
        for old in self.copies()[most:]:
            with contextlib.suppress(OSError):
                old.unlink(missing_ok=True)

    def _closed(self, path: Path, error: OSError) -> StoreProblem:
        message = f"A copy of {path} cannot be kept in {self.folder}: {error.strerror}."
        return StoreProblem(message, "Nothing was written.")

    def held(self, sha256: str) -> bytes | None:
        """Return the bytes that have a hash; `None` where no copy of them is kept any more."""
        known = self.folder is not None and len(sha256) == _DIGITS and sha256.isalnum()
        try:
            data = (
                (self.folder / sha256).read_bytes() if self.folder is not None and known else None
            )
        except OSError:
            return None
        return data if data is not None and hash_of(data) == sha256 else None

    def copies(self) -> list[Path]:
        """Return the copies, the latest first; none where the folder cannot be opened."""
        try:
            found = (
                [(path.stat().st_mtime_ns, path) for path in self.folder.iterdir()]
                if self.folder
                else []
            )
        except OSError:
            return []
        return [path for _, path in sorted(found, reverse=True) if path.is_file()]

    def without(self, holds: Callable[[bytes], bool]) -> tuple[Path, ...]:
        """Remove the copies that hold something, and return them; raises `StoreProblem`."""
        gone: list[Path] = []
        for copy in self.copies():
            try:
                if holds(copy.read_bytes()):
                    copy.unlink()
                    gone.append(copy)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreProblem(
                    f"{copy} cannot be removed: {error.strerror}.", "Remove it by hand."
                ) from error
        return tuple(gone)
