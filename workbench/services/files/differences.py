"""What a file that changed on disk says otherwise than the store, and taking its side."""

from dataclasses import dataclass
from pathlib import Path

from workbench.core.files.replacing import present
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.services.context import Context
from workbench.services.files.exports.folders import FolderExporter
from workbench.services.files.folder_files import root_of
from workbench.services.files.imports.importing import Importer, ImportPlan
from workbench.services.files.overwriting import FileStates
from workbench.services.files.threeway import DiffLine, diff_texts


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that changed since it was read or written: its new lines against those that are known, and a way in.

    `plan` takes the file's side into the store; it is `None` for a file that brings no records, of which `problem` may
    say why.
    """

    path: Path
    lines: tuple[DiffLine, ...] = ()
    plan: ImportPlan | None = None
    problem: str = ""


def difference(context: Context, importer: Importer, folders: FolderExporter, path: Path) -> Difference:
    """Return what changed in a file that the store knows; reads only. Raises `WorkbenchError` for an unreadable one."""
    states = FileStates(context.library)
    known, now = states.known(path), present(path)
    root = None if known is None else root_of(path, known.format, context.library)
    if root is not None:
        edits = folders.plan(root, force=True, only=path).edits
        lines = tuple(line for edit in edits for line in diff_texts(edit.shown[1], edit.shown[0]))
        return _with_plan(importer, Difference(path, lines), root)
    base = states.base(path)
    lines = () if base is None or now is None else diff_texts(base, now)
    return _with_plan(importer, Difference(path, lines), path)


def _with_plan(importer: Importer, found: Difference, place: Path) -> Difference:
    try:
        plan = importer.plan(place, theirs=True, only=(found.path,) if place != found.path else ())
    except (UnreadableFile, WorkbenchError) as error:
        return Difference(found.path, found.lines, problem=error.message)
    return Difference(found.path, found.lines, plan if plan.parsed.records_in or plan.records else None)
