"""Files that the store was read from and that hold something else by now, a proposal for each file or folder."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.text import one_line
from workbench.services.agents.documents.instructions import look_of
from workbench.services.claims.checking import KIND
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.files.folder_files import place_of
from workbench.services.files.imports.importing import ImportPlan, replacement_said, said
from workbench.services.files.overwriting import BLOCK, FileChange, changes
from workbench.services.review.finders.finder import Finder, Parts

LARGEST = 4_000_000
"""Bytes of a file that is read for this; a larger one is only named."""

_LINES = 60
_CELLS = 300
_TOO_LARGE = "too large to be shown here"


def mark_of(paths: Iterable[Path]) -> str:
    """Return what tells files as they are now: no two writes leave it alike."""
    looks = "\n".join(f"{path} {look_of(path)}" for path in sorted(paths))
    return blake2b(looks.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    found = list[Proposal]()
    if not parts.context.library.standing.trusted:
        return ()  # whoever wrote the store chose which files of this machine it names
    for place, changed in _places(parts, changes(parts.context)).items():
        if cancelled():
            break
        found.append(_proposal(parts, place, changed))
    return tuple(found)


def _places(parts: Parts, changed: Sequence[FileChange]) -> dict[Path, list[FileChange]]:
    """Return what changed by what is imported to take it over: the file, or the folder that a note was read with."""
    found: defaultdict[Path, list[FileChange]] = defaultdict(list)
    for one in changed:
        if one.format != BLOCK:  # what stands around a managed block was never the store's
            found[place_of(one.path, one.format, parts.context.library)].append(one)
    return found


def _proposal(parts: Parts, place: Path, changed: Sequence[FileChange]) -> Proposal:
    paths = [one.path for one in changed]
    gone = [one.path for one in changed if one.what == "gone"]
    operation: dict[str, object] = {
        "path": str(place), "files": [str(path) for path in paths], "gone": [str(path) for path in gone],
        "mark": mark_of(paths), "lines": [],
    }  # fmt: skip
    reasons, flags = list[str](), list[str]()
    if len(gone) < len(paths):
        try:
            plan = _plan(parts, place, [path for path in paths if path not in gone])
        except WorkbenchError as error:
            flags.append(one_line(str(error), _CELLS))
        else:
            operation["lines"] = _said(plan)
            reasons.append(_counted(plan))
    if gone:
        reasons.append(f"{_files(len(gone))} deleted: approving stops watching for this; imported records stay")
    name = blake2b(str(place).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return Proposal(
        id=f"file-{name}-{operation['mark']}", kind="file", actor=WORKBENCH,
        title=_title(place, len(paths), len(gone)), created_at=parts.context.now(),
        flags=tuple(flags), reasons=tuple(reasons), operation=operation,
    )  # fmt: skip


def _plan(parts: Parts, place: Path, files: Sequence[Path]) -> ImportPlan:
    for file in files:
        if file.is_file() and file.stat().st_size > LARGEST:
            hint = f"`workbench import {place.name} --theirs` imports it."
            raise WorkbenchError(f"{file.name} is {_TOO_LARGE}.", hint)
    return parts.importer.plan(place, theirs=True, only=() if place in files else files)


def _title(place: Path, files: int, gone: int) -> str:
    if files == gone:
        return f"{place.name} is gone" if files == 1 else f"{files} files of {place.name} are gone"
    return place.name if files == 1 and place.suffix else f"{place.name}: {_files(files)} changed"


def _counted(plan: ImportPlan) -> str:
    replaced = len(plan.replaced)
    new = len(plan.records) - replaced - len(plan.filled)
    parts = [f"{replaced} {'record differs' if replaced == 1 else 'records differ'}"] if replaced else []
    parts += [f"{new} new"] if new else []
    return ", ".join(parts) or "no record differs: approving only marks the file as seen"


def _said(plan: ImportPlan) -> list[str]:
    lines = [line for pair in plan.replaced for line in replacement_said(*pair)]
    known = {id(new) for _, new in (*plan.replaced, *plan.filled)}
    lines += [f"+ {said(record)}" for record in plan.records if id(record) not in known]
    shown = [one_line(line[: 2 * _CELLS], _CELLS) for line in lines[:_LINES]]
    return [*shown, f"… and {len(lines) - _LINES} more"] if len(lines) > _LINES else shown


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _stamp(parts: Parts) -> str:
    """Tell the files that the store knows as they look, without reading them; not while it is not trusted."""
    if not parts.context.library.standing.trusted:
        return "not trusted"
    states = sorted(parts.context.library.files.all(), key=lambda one: one.id)
    known = "\n".join(f"{state.id} {state.sha256}" for state in states)
    return f"{mark_of(Path(state.id) for state in states)} {blake2b(known.encode(errors='replace')).hexdigest()}"


FILES = Finder(_find, searching=False, stamp=_stamp)


# Memories that name what is not in the working tree any more.


def _find_stale(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Bullets are asked about as the Curator's are, once somebody put what was found into Review."""
    folder = parts.still_true.folder
    if folder is None or not folder.is_dir():
        return ()
    found = parts.still_true.plan(folder, cancelled).found
    return tuple(one.proposal for one in found if one.proposal.kind == KIND)


STALE = Finder(_find_stale, by_hand=True)


# What came from elsewhere and nobody has looked at yet: lines of the store, and documents that are followed.


def _store(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    del cancelled
    library = parts.context.library
    if library.standing.trusted:
        return ()
    title = "Lines of this store that came from elsewhere"
    return (Proposal(f"trust-{library.revision}", "trust", WORKBENCH, title, parts.context.now(), importance=10.0),)


def _documents(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    folders, _ = parts.documents.folders()
    found = []
    for folder in folders:
        if cancelled():
            break
        try:
            opened = parts.documents.opened(folder.root)
        except UnreadableFile:
            continue  # it went meanwhile
        changes = opened.changes
        if changes.are_none:
            continue
        parted = (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone))
        reasons = [f"{what}: {path}" for what, paths in parted for path in paths]
        reasons += [f"{changes.messages:,} bytes of messages"] if changes.messages else []
        marks = "\n".join(f"{path} {mark.sha256} {mark.size}" for path, mark in sorted(changes.marks.items()))
        name = blake2b(f"{folder.root}\n{marks}".encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        title = f"{folder.name}: {_unseen(len(reasons))}"
        found.append(Proposal(
            f"documents-{name}", "documents", WORKBENCH, title, parts.context.now(), reasons=tuple(reasons[:_NAMED]),
            operation={"path": str(folder.root)},
        ))  # fmt: skip
    return tuple(found)


_NAMED = 20
"""Documents of one folder that are named at most."""


def _unseen(count: int) -> str:
    return "1 document that you have not seen" if count == 1 else f"{count} documents that you have not seen"


STORE = Finder(_store, searching=False)
DOCUMENTS = Finder(_documents, searching=False)
