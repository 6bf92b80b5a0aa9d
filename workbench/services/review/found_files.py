"""Files that the store was read from and that hold something else by now, a proposal for each file or folder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.review.lifecycle import archive
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted, one_line
from workbench.formats import instructions
from workbench.formats.claude_memory import PREFIX
from workbench.services.agents.documents.instructions import look_of
from workbench.services.claims import KIND
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.files.folders import place_of
from workbench.services.files.importing import ImportPlan, replacement_said, said
from workbench.services.files.overwriting import BLOCK, FileChange, changes
from workbench.services.review.finders import Finder, Parts
from workbench.services.review.kinds import Handler, noted
from workbench.store.library import Tx

if TYPE_CHECKING:
    from workbench.services.files.importing import Importer


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


# Records that were once made of instruction files, which are documents now: a question for each file.


_IMPORT = "import:"


def may_go(memory: Memory) -> bool:
    """Tell whether nobody stands by a record so far that it is to outlive its file: not pinned, placed or praised."""
    return not (memory.pinned or memory.status == "promoted" or memory.helpful_votes > 0)


def _is_of_file(memory: Memory) -> bool:
    """Tell whether a reader noted how the record stands in its file, as none did of the statements of a document."""
    part = memory.metadata.get(FILE_KEY)
    return isinstance(part, Mapping) and "format" in part


def _find_instructions(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    made: defaultdict[str, list[Memory]] = defaultdict(list)
    revisions: dict[str, int] = {}
    for memory, file, revision in _taken_in(parts.context, cancelled):
        made[file].append(memory)
        revisions[file] = max(revision, revisions.get(file, 0))
    found = (_of_file(parts.context, file, made[file], revisions[file]) for file in sorted(made))
    return tuple(one for one in found if one is not None)


def _taken_in(context: Context, cancelled: Cancelled) -> list[tuple[Memory, str, int]]:
    """Return the living records that an import of an instruction file made, the file's name, and the revision."""
    living = {
        memory.id: memory
        for memory in context.library.memories.all()
        if memory.id.startswith(f"{PREFIX}-") and memory.status not in ("archived", "candidate")
        and not _is_of_file(memory)
    }  # fmt: skip
    found = []
    for entry, id, change in context.library.past.changes_of("memories", living) if living else ():
        if cancelled():
            break
        if change.op != "insert" or id not in living:
            continue
        memory, name = living.pop(id), entry.actor.removeprefix(_IMPORT)
        if entry.actor.startswith(_IMPORT) and instructions.detect("", name).confidence > 0:
            found.append((memory, name, entry.rev))
    return found


def _of_file(context: Context, file: str, memories: list[Memory], revision: int) -> Proposal | None:
    going = sorted((memory for memory in memories if may_go(memory)), key=lambda one: one.id)
    if not going:
        return None
    unvoted = sum(not (memory.helpful_votes or memory.harmful_votes) for memory in going)
    stay = len(memories) - len(going)
    reasons = [f"{PurePath(file).name} is a document now: agents load it whole, so they read each of these twice"]
    if stay:
        reasons.append(f"{stay} {'stays' if stay == 1 else 'stay'}: pinned, promoted or voted helpful")
    many = counted(len(going), "record")
    name = blake2b(file.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return Proposal(
        f"instructions-{name}-{revision}", "instructions", WORKBENCH, f"{many} from {file}, {unvoted:,} never voted",
        context.now(), evidence=tuple(memory.id for memory in going), reasons=tuple(reasons),
        operation={"file": file},
    )  # fmt: skip


INSTRUCTIONS = Finder(_find_instructions)


# Files that changed on disk: what they say now is taken over, as an import.


class ChangedFile(Handler):
    """Its operation names the file or folder, the files that changed, and how they looked when they were read."""

    brings_text = True

    @cached_property
    def _importer(self) -> "Importer":
        from workbench.services.files.importing import Importer

        return Importer(self._context)

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Do it, and note that; what the file says is not kept with the note, for nothing is masked in an import."""
        self.apply(tx, proposal)
        kept = {name: value for name, value in proposal.operation.items() if name != "lines"}
        super().accept(tx, replace(proposal, operation=kept), after or ())

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Take over what was shown. Raises `WorkbenchError` when a file was changed since."""
        files, gone = (_paths(proposal, name) for name in ("files", "gone"))
        place = Path(str(proposal.operation.get("path")))
        self._require_known(place, files)
        if proposal.flags:
            raise WorkbenchError(f"It cannot be imported: {proposal.flags[0]}", "Nothing was changed.")
        if mark_of(files) != proposal.operation.get("mark"):
            raise WorkbenchError(
                "It changed again since it was read.",
                "Reject it: its current content is proposed separately. Nothing was changed.",
            )
        if len(gone) < len(files):
            only = () if place in files else [path for path in files if path not in gone]
            self._importer.put(tx, self._importer.plan(place, theirs=True, only=only))
        for path in gone:
            if (state := self._library.files.find(str(path))) is not None:
                tx.delete(state)

    def _require_known(self, place: Path, files: Sequence[Path]) -> None:
        """Raise `WorkbenchError` unless the store may be read from and was read from each file, with that folder."""
        if not self._library.standing.trusted:
            raise WorkbenchError("The store is not trusted.", "`workbench trust` shows why. Nothing was changed.")
        for path in files:
            known = self._library.files.find(str(path))
            if known is None or place_of(path, known.format, self._library) != place:
                raise WorkbenchError(
                    f"The store was not read from {path.name} like that.", "Reject it. Nothing was changed."
                )


def _paths(proposal: Proposal, name: str) -> list[Path]:
    named = proposal.operation.get(name)
    return [Path(str(path)) for path in named] if isinstance(named, list | tuple) else []


# Records made of an instruction file: they are archived, for the file says it all.


class Instructions(Handler):
    """Its evidence are the records that go, its operation names the file."""

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about all of them."""
        del proposal
        return ""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return them archived as superseded, but for those that somebody stands by since."""
        known = (self._library.memories.find(id) for id in proposal.evidence)
        going = [one for one in known if one is not None and one.status != "archived" and may_go(one)]
        if not going:
            raise WorkbenchError("None of these records would be archived now.", "Reject it; nothing was changed.")
        file = str(proposal.operation.get("file", ""))
        return tuple(noted(archive(memory, "superseded"), {"superseded_by": file}) for memory in going)
