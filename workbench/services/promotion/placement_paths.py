"""Which files a store may write promoted memories to, and how their places are stored.

A place is stored relative to the project: the folder that holds the store's `.workbench`, or the scratch project that a
demo store has in its own folder. Links are followed when a place is named; afterwards the real file is meant, and a
path that has become a link since is refused.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.config.paths import PROJECT_STORE
from workbench.core.promotion import Placement
from workbench.core.record import WorkbenchError

SUFFIXES = (".md", ".markdown", ".mdc")
NOTHING = "Nothing was written."
_CLOSED = (PROJECT_STORE, ".git")
_SCRATCH = "scratch-project"


class UnsafePath(WorkbenchError):
    """A file that promoted memories may not be written to."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file: where it really is, the path that is stored, and whether it lies outside the project."""

    path: Path
    stored: str
    outside: bool


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one store. `project` is `None` for a store that belongs to none; `is_scratch` says that it is there
    to try things on.
    """

    project: Path | None
    is_scratch: bool = False

    def named(self, path: Path) -> Place:
        """Return the place that a person names; a relative path counts from the project.

        Raises `UnsafePath`, or `WorkbenchError` when it is relative and there is no project.
        """
        if not path.is_absolute() and self.project is None:
            raise WorkbenchError(f"This store belongs to no project, so {path} may be anywhere.", "Give a full path.")
        try:
            real = ((self.project or path) / path).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UnsafePath(f"{path} is not a valid path.", NOTHING) from error
        _require_markdown(real)
        if self.project is None or not real.is_relative_to(self.project):
            return Place(real, str(real), True)
        inside = real.relative_to(self.project)
        _require_open(inside.parts, path)
        return Place(real, inside.as_posix(), False)

    def stored(self, placement: Placement) -> Path:
        """Return the file that a stored placement means; raises `UnsafePath` when that is not what it was."""
        if placement.outside:
            path = Path(placement.path)
            sound = path.is_absolute() and ".." not in path.parts
        else:
            inside = PurePosixPath(placement.path)
            if self.project is None:
                raise UnsafePath(f"{placement.path} cannot be found: this store belongs to no project.", NOTHING)
            sound = not inside.is_absolute() and ".." not in inside.parts and bool(inside.parts)
            path = self.project / inside
            _require_open(inside.parts, path)
        _require_markdown(path)
        try:
            real = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UnsafePath(f"{placement.path} is not a valid path.", NOTHING) from error
        if not sound or real != path:
            raise UnsafePath(f"{placement.path} now leads to another place.", f"{NOTHING} Look at {real}.")
        return path


def places_of(store: Path) -> Places:
    real = store.resolve()
    if real.name == PROJECT_STORE:
        return Places(real.parent)
    scratch = scratch_of(real)
    is_there = scratch.is_dir() and not scratch.is_symlink()
    return Places(scratch if is_there else None, is_there)


def scratch_of(store: Path) -> Path:
    """Return where a store folder has a scratch project, if it has one."""
    return store / _SCRATCH


def _require_markdown(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise UnsafePath(f"{path.name or path} is not a Markdown file.", f"Name one that ends in .md. {NOTHING}")


def _require_open(parts: tuple[str, ...], path: Path) -> None:
    if parts and parts[0] in _CLOSED:
        raise UnsafePath(f"{path} lies in {parts[0]}, which is not for notes.", NOTHING)
