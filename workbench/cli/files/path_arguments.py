"""Files as they were named on the command line: a relative name in, a relative name out."""

from copy import copy
from dataclasses import dataclass
from pathlib import Path

from workbench.core.errors import WorkbenchError


@dataclass(frozen=True, slots=True)
class Given:
    """A file's whole path, and how somebody wrote it."""

    full: Path
    name: Path

    def of(self, path: Path) -> Path:
        """Return the name of this file, or of one in its folder or below that, as somebody would write it here."""
        if path == self.full:
            return self.name
        folder = self.full.parent
        return self.name.parent / path.relative_to(folder) if path.is_relative_to(folder) else path

    def said(self, error: WorkbenchError) -> WorkbenchError:
        """Return an error of the same kind that calls the file as somebody did."""
        said = copy(error)
        said.message, said.hint = (text.replace(str(self.full), str(self.name)) for text in (error.message, error.hint))
        return said


def given(cwd: Path, name: Path) -> Given:
    """Return where a file is that somebody named in the folder `cwd`."""
    return Given(cwd / name.expanduser(), name)
