"""What the files become when the placements of a store change.

Only what changed is touched: an entry is put into its managed block or taken out of it, a file is
made or deleted. Everything else in a file stays, also what somebody else wrote into the block.
"""

import codecs
import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from workbench.config.paths import PROJECT_STORE
from workbench.core.document import from_doc, to_doc
from workbench.core.files.atomic import write_file
from workbench.core.files.replacing import present_bytes, remove_file, replace_bytes
from workbench.core.promotion import Placement, PlacementKind, in_order
from workbench.core.record import Conflict, StoreProblem, WorkbenchError, cannot_write
from workbench.formats import managed_block
from workbench.formats.managed_block import BrokenBlock
from workbench.services.files.overwriting import FileStates
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.store.files import read_regular
from workbench.store.library import Library

# Changes to a person's files for promoted memories: what each file becomes, and making it so.


NOTHING = "Nothing was written."
_NEW = ".workbench-new"
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file before and after, in bytes (`None`: no file).

    `name` is how a person knows it. `folders` is how many folders are made for a new file, or go
    with one that is deleted when they are empty.
    """

    path: Path
    name: str
    before: bytes | None
    after: bytes | None
    folders: int = 0

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        return diff_texts(_shown(self.before), _shown(self.after), context)


def read(path: Path) -> bytes | None:
    """Return what is in a file, `None` when there is none; raises `WorkbenchError` for what cannot
    be replaced.

    Folders that are missing above it are no obstacle: they are made when it is written.
    """
    missing = missing_folders(path)
    if missing:
        present_bytes(path.parents[missing] / _NEW)  # raises unless something could be made there
        return None
    return present_bytes(path)


def missing_folders(path: Path) -> int:
    """Return how many of the folders above a file are not there yet."""
    return sum(not folder.exists() for folder in path.parents)


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """Return a file's text and its encoding; bytes that are no UTF-8 are carried along. Raises
    `WorkbenchError`.
    """
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            try:
                return data.decode(encoding, "surrogatepass"), encoding
            except UnicodeDecodeError as error:
                raise WorkbenchError(f"{name} is not a text file.", NOTHING) from error
    if b"\0" in data:
        raise WorkbenchError(f"{name} is not a text file.", NOTHING)
    return data.decode("utf-8", "surrogateescape"), "utf-8"


def encoded(text: str, encoding: str) -> bytes:
    """Return the bytes of a text that `decoded` returned, or of what became of it."""
    return text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "surrogatepass")


def carry_out(edits: Iterable[FileEdit], *, through_links: bool = True) -> None:
    """Make the files what they are to become, each in one step; raises `StoreProblem`.

    Not `through_links`, a path with a link in it by now is a conflict: nothing is written where it
    leads.
    """
    for edit in edits:
        try:
            if edit.after is None:
                _delete(edit, through_links)
            else:
                edit.path.parent.mkdir(parents=True, exist_ok=True)
                replace_bytes(edit.path, edit.after, edit.before, through_links=through_links)
        except OSError as error:
            raise StoreProblem(
                f"{edit.name} cannot be written: {error.strerror}.", NOTHING
            ) from error


def _delete(edit: FileEdit, through_links: bool) -> None:
    remove_file(edit.path, edit.before, through_links=through_links)
    folder = edit.path.parent
    for _ in range(edit.folders):
        # A folder that holds something else by now stays, and so do those above it.
        with contextlib.suppress(OSError):
            folder.rmdir()
        folder = folder.parent


def _shown(data: bytes | None) -> str:
    return "" if data is None else decoded(data, "the file")[0]


# Which files a store may write promoted memories to, and how their places are stored.


SUFFIXES = (".md", ".markdown", ".mdc")
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
    """The files of one store. `project` is `None` for a store that belongs to none; `is_scratch`
    says that it is there to try things on.
    """

    project: Path | None
    is_scratch: bool = False

    def named(self, path: Path) -> Place:
        """Return the place that a person names; a relative path counts from the project.

        Raises `UnsafePath`, or `WorkbenchError` when it is relative and there is no project.
        """
        if not path.is_absolute() and self.project is None:
            raise WorkbenchError(
                f"This store belongs to no project, so {path} may be anywhere.", "Give a full path."
            )
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
        """Return the file that a stored placement means; raises `UnsafePath` when that is not what
        it was.
        """
        if placement.outside:
            path = Path(placement.path)
            sound = path.is_absolute() and ".." not in path.parts
        else:
            inside = PurePosixPath(placement.path)
            if self.project is None:
                raise UnsafePath(
                    f"{placement.path} cannot be found: this store belongs to no project.", NOTHING
                )
            sound = not inside.is_absolute() and ".." not in inside.parts and bool(inside.parts)
            path = self.project / inside
            _require_open(inside.parts, path)
        _require_markdown(path)
        try:
            real = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UnsafePath(f"{placement.path} is not a valid path.", NOTHING) from error
        if not sound or real != path:
            raise UnsafePath(
                f"{placement.path} now leads to another place.", f"{NOTHING} Look at {real}."
            )
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
        raise UnsafePath(
            f"{path.name or path} is not a Markdown file.", f"Name one that ends in .md. {NOTHING}"
        )


def _require_open(parts: tuple[str, ...], path: Path) -> None:
    if parts and parts[0] in _CLOSED:
        raise UnsafePath(f"{path} lies in {parts[0]}, which is not for notes.", NOTHING)


Placements = Mapping[str, Placement]
"""Placements by their id."""


class EditedBlock(Conflict):
    """An entry that is to be taken out of a managed block was changed by hand; `found` is the block
    as it is.
    """

    def __init__(self, name: str, entry: str, found: str) -> None:
        first = entry.split("\n", 1)[0]
        super().__init__(
            f"The managed block of {name} was edited by hand: it no longer holds “{first[:80]}”.",
            "Nothing was changed. Put that entry back, or delete the whole block, and try again.",
        )
        self.entry = entry
        self.found = found


@dataclass(frozen=True, slots=True)
class Moves:
    """The changes to files, and sentences about what was found there."""

    edits: tuple[FileEdit, ...] = ()
    remarks: tuple[str, ...] = ()


NO_MOVES = Moves()


def moves(places: Places, before: Placements, after: Placements, *, again: bool = False) -> Moves:
    """Return what leads the files from one state of the placements to another.

    `again` means that it may have been done in part already: what is missing is no conflict then.
    Raises `EditedBlock`, `BrokenBlock`, `UnsafePath`, or `WorkbenchError` for a file that cannot be
    read or replaced.
    """
    edits: list[FileEdit] = []
    remarks: list[str] = []
    ids = [id for id in dict.fromkeys((*before, *after)) if before.get(id) != after.get(id)]
    found = (side[id] for id in ids for side in (before, after) if id in side)
    for path in dict.fromkeys(p.path for p in found if p.kind != "bullet"):
        here = [
            {
                p.id: p
                for p in in_order(
                    [p for p in side.values() if p.path == path and p.kind != "bullet"]
                )
            }
            for side in (before, after)
        ]
        edit, said = _file(places, here[0], here[1], again)
        edits += [edit] if edit else []
        remarks += said
    return Moves(tuple(edits), tuple(remarks))


Pairs = list[tuple[Placement | None, Placement | None]]
"""Placements in one file that differ, before and after; `None` where there is none."""


def _file(
    places: Places, before: Placements, after: Placements, again: bool
) -> tuple[FileEdit | None, list[str]]:
    every = (*after.values(), *before.values())
    one = every[0]
    changed: Pairs = [
        (before.get(id), after.get(id))
        for id in dict.fromkeys((*before, *after))
        if before.get(id) != after.get(id)
    ]
    try:
        path = places.stored(one)
    except WorkbenchError as error:
        if any(now for _, now in changed):
            raise
        return None, [f"{one.path} was left as it is: {error.message}"]
    present = read(path)
    data, said = _whole([pair for pair in changed if _kind(pair) == "file"], present, again)
    entries = [pair for pair in changed if _kind(pair) == "entry"]
    data, more = _entries(entries, before, after, data, again) if entries else (data, [])
    folders = max(p.folders for p in every)
    if data == present:
        return None, said + more
    return FileEdit(
        path, one.path, present, data, missing_folders(path) if present is None else folders
    ), said + more


def _kind(pair: tuple[Placement | None, Placement | None]) -> str:
    one = pair[0] or pair[1]
    return one.kind if one else ""


def _whole(changed: Pairs, data: bytes | None, again: bool) -> tuple[bytes | None, list[str]]:
    """Make or delete a file that was written as a whole; one that was changed since is left.

    One that is to say something else must be as it was written: raises `Conflict`.
    """
    for was, now in changed:
        if was and now and not again and data not in (was.text.encode(), now.text.encode()):
            raise Conflict(
                f"{was.path} was changed by hand since it was written.", "Nothing was changed."
            )
    for gone in (was for was, _ in changed if was):
        if data is None:
            return None, [f"{gone.path} was already deleted."]
        if data != gone.text.encode():
            return data, [f"{gone.path} was changed since and was left."]
        data = None
    for new in (now for _, now in changed if now):
        if data is None:
            data = new.text.encode()
        elif data != new.text.encode():
            return data, [f"{new.path} was there already and was left as it is."]
    return data, []


def _entries(
    changed: Pairs, before: Placements, after: Placements, data: bytes | None, again: bool
) -> tuple[bytes | None, list[str]]:
    """Put entries into the managed block, take others out, and put new texts in the place of old
    ones.

    An entry that is not there as it was written was edited by hand.
    """
    new = [now for _, now in changed if now]
    one = (*new, *(was for was, _ in changed if was))[0]
    if data is None and not new:
        return None, [] if again else [f"{one.path} was already deleted."]
    text, encoding = decoded(one.head.encode() if data is None else data, one.path)
    remarks: list[str] = []
    try:
        block = managed_block.find(text)
        items = list(block.items) if block else []
        for was, now in changed if block else ():
            at = _index(items, was) if was else None
            if at is not None:
                items[at : at + 1] = [now.text] if now else []
            elif was and not again and (now is None or _index(items, now) is None):
                raise EditedBlock(was.path, was.text, "\n".join(items))
        if block is None and not again:
            remarks = _lost(before, after, bool(new), data, one.path)
        if block is not None or new:
            order = [p for p in after.values() if p.kind == "entry"]
            items = _with(items, order if block is None else new, order)
            text = managed_block.written(text, items, one.lead, one.section)
    except BrokenBlock as error:
        raise BrokenBlock(f"{one.path}: {error.message}", error.hint) from error
    empty = text.removeprefix("\ufeff") in ("", one.head) and not new and one.created
    return None if empty else encoded(text, encoding), remarks


def _with(items: Sequence[str], new: Sequence[Placement], order: Sequence[Placement]) -> list[str]:
    """Put entries in where they belong: behind the nearest older one, else before the next younger
    one.
    """
    out = list(items)
    for placement in new:
        if _index(out, placement) is not None:
            continue
        at = order.index(placement)
        behind = next((i for p in reversed(order[:at]) if (i := _index(out, p)) is not None), None)
        ahead = next((i for p in order[at + 1 :] if (i := _index(out, p)) is not None), None)
        place = (
            len(out)
            if behind is None and ahead is None
            else behind + 1
            if behind is not None
            else ahead or 0
        )
        out.insert(place, placement.text)
    return out


def _index(items: Sequence[str], placement: Placement) -> int | None:
    return next(
        (i for i, item in enumerate(items) if managed_block.same(item, placement.text)), None
    )


def _lost(
    before: Placements, after: Placements, is_written: bool, data: bytes | None, name: str
) -> list[str]:
    """Say that a block which should be there is not."""
    known = [p for p in before.values() if p.kind == "entry"]
    if not known:
        return []
    what = f"The managed block of {name} was deleted" if data is not None else f"{name} was deleted"
    kept = [p for p in known if after.get(p.id) == p]
    if is_written and kept:
        entry = "its other entry" if len(kept) == 1 else f"its {len(kept)} other entries"
        return [f"{what}; it is put back with {entry}."]
    return [f"{what} already."]


# Files that follow the store: promoting writes into them, undo and redo take that back and put it
# there again.


# What may still be left in a file of a promoted text that could not be taken out of it: somebody
# edited it.


ALIKE = 0.6
"""How much of a line must be the same (0–1) to be taken for an edited one."""

_LEAST = 12
"""Characters of a line that is worth looking for."""


@dataclass(frozen=True, slots=True)
class Left:
    """A place that may still hold an erased text: a file, and the line (from 1), when one is
    suspected.
    """

    path: Path
    line: int | None = None

    def __str__(self) -> str:
        """Return `FILE:LINE`."""
        return str(self.path) if self.line is None else f"{self.path}:{self.line}"


def left_in(path: Path, kind: PlacementKind, text: str, living: Iterable[Placement]) -> Left | None:
    """Return where a file may still hold what a placement wrote, or `None` when nothing in it looks
    like that.

    `text` is what was written, or empty when nobody knows it any more. `living` are the placements
    that are there by right. A file that cannot be read may hold anything.
    """
    try:
        data = read(path)
        if data is None:
            return None
        lines = decoded(data, str(path))[0].splitlines()
        at = _alike(lines, text) or (
            1 if kind == "file" else _foreign(lines, [p.text for p in living])
        )
    except WorkbenchError:
        return Left(path)
    return None if at is None else Left(path, at)


def of_id(id: str, memory: str) -> tuple[PlacementKind, str] | None:
    """Return the kind and the path that the id of a memory's placement names; `None` for bullets
    and other ids.
    """
    kind, _, path = id.removeprefix(f"{memory}:").partition(":")
    return (
        ("entry" if kind == "entry" else "file", path)
        if kind in ("entry", "file") and path
        else None
    )


def _alike(lines: list[str], text: str) -> int | None:
    """Return the number of the line that looks most like one of the text, if one does."""
    wanted = [line.strip() for line in text.splitlines() if len(line.strip()) >= _LEAST]
    best, at = ALIKE, None
    for number, line in enumerate(lines, 1):
        for needle in wanted if len(line.strip()) >= _LEAST else ():
            alike = SequenceMatcher(None, line.strip(), needle, autojunk=False).ratio()
            if alike > best:
                best, at = alike, number
    return at


def _foreign(lines: list[str], known: list[str]) -> int | None:
    """Return the number of the first line of the managed block that no placement wrote, if there is
    one.
    """
    block = managed_block.find("\n".join(lines))
    for item in block.entries if block is not None else ():
        if not any(managed_block.same(item, text) for text in known):
            first = item.strip().split("\n", 1)[0].strip()
            return next((n for n, line in enumerate(lines, 1) if first and first in line), None)
    return None


_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class HalfDone:
    """A change of files that was broken off, as `note` in the store's folder tells it.

    `edits` are what brings the files to what the store says; files `outside` the project are only
    named. `readable` tells whether the note can be read; `problem` is why the files cannot be
    brought there, or empty.
    """

    note: Path
    edits: tuple[FileEdit, ...] = ()
    outside: tuple[str, ...] = ()
    readable: bool = True
    problem: str = ""


class Following:
    """Brings the files after the placements of the transaction that is open; `moves` is what that
    came to.
    """

    def __init__(self, placing: "Placing") -> None:
        self._placing = placing
        self.moves = Moves()

    def __call__(self) -> None:
        """Write the files; called inside the transaction, after everything is staged."""
        self.moves = self._placing.follow()

    @property
    def remarks(self) -> str:
        """What was found in the files, in words."""
        return " ".join(self.moves.remarks)


class Placing:
    """The files of a store that hold promoted memories."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._note: Path | None = None
        self.places: Places = places_of(library.folder)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[Following]:
        """Hand out what writes the files; after an error they are brought back to what the store
        says.
        """
        try:
            yield Following(self)
        except BaseException:
            with contextlib.suppress(WorkbenchError):
                self._take_back()
            raise
        if self._note is not None:
            with contextlib.suppress(OSError):
                self._note.unlink(missing_ok=True)
            self._note = None

    def committed(self) -> dict[str, Placement]:
        """Return the placements in the store, by id."""
        return {placement.id: placement for placement in self._library.placements.all()}

    def follow(self) -> Moves:
        """Bring the files from the committed placements to those of the open transaction."""
        before, after = self.committed(), self._staged()
        found = moves(self.places, before, after)
        if found.edits:
            self._leave_note(before, after)
            carry_out(found.edits)
            self._note_files(found.edits)
        return found

    def _note_files(self, edits: Iterable[FileEdit]) -> None:
        """Let the store know, in the open transaction, that what it knew files to hold was changed
        by itself.
        """
        states = FileStates(self._library)
        with self._library.transaction("", "") as tx:  # joins the one that is open
            for edit in edits:
                states.moved_on(tx, edit.path, edit.before, edit.after)

    def planned(self, new: Mapping[str, Placement]) -> Moves:
        """Return what new placements would change in the files; writes nothing."""
        before = self.committed()
        return moves(self.places, before, {**before, **new})

    def take_out(
        self, ids: Iterable[str], memories: Iterable[str] = ()
    ) -> tuple[tuple[str, ...], tuple[Left, ...]]:
        """Take placements out of the files for good; return the files changed, and what may still
        hold the text.

        The records stay; for whoever erases them next. Of placements erased before, whose ids name
        one of the `memories`, the files are looked at again. Raises `WorkbenchError` when a file
        cannot be written.
        """
        ids = tuple(ids)
        before = self.committed()
        doomed = {id: before[id] for id in ids if id in before}
        found = moves(
            self.places, before, {id: p for id, p in before.items() if id not in doomed}, again=True
        )
        carry_out(found.edits)
        names = tuple(edit.name for edit in found.edits)
        living = [p for id, p in before.items() if id not in doomed]
        asked: list[tuple[PlacementKind, str, str]] = [
            (p.kind, p.path, p.text) for p in doomed.values() if p.kind != "bullet"
        ]
        gone = (
            of_id(id, memory)
            for id in ids
            if id not in before
            for memory in memories
            if id.startswith(memory)
        )
        asked += [(*place, "") for place in gone if place is not None]
        folder = self.places.project or Path()
        left = (
            left_in(folder / path, kind, text, [p for p in living if p.path == path])
            for kind, path, text in asked
        )
        return names, tuple(dict.fromkeys(one for one in left if one is not None))

    def half_done(self) -> tuple[HalfDone, ...]:
        """Return the changes that were broken off, and what would finish or take back each; nothing
        is changed.
        """
        return tuple(self._about(note) for note in self._library.surroundings.notes())

    def finish(self, shown: HalfDone) -> None:
        """Bring the files of one broken change to what the store says, just as `half_done` showed
        it.

        A note that cannot be read goes. Raises `Conflict` when it is no longer as shown, or
        `WorkbenchError` when a file cannot be written; the note stays then.
        """
        with self._library.exclusive():
            found = self._about(shown.note)
            if found != shown:
                raise Conflict(
                    "The interrupted write changed since it was shown.",
                    "Nothing was written; look again.",
                )
            if found.problem:
                raise WorkbenchError(
                    found.problem, f"Nothing was written; {shown.note} can be deleted to forget it."
                )
            carry_out(found.edits)
            try:
                shown.note.unlink(missing_ok=True)
            except OSError as error:
                raise cannot_write(self._library.folder, error) from error

    def _about(self, note: Path) -> HalfDone:
        sides = _read_note(note)
        if sides is None:
            return HalfDone(note, readable=False)
        far = tuple(sorted({p.path for side in sides for p in side.values() if p.outside}))
        try:
            return HalfDone(note, self._way_back(sides, far).edits, far)
        except WorkbenchError as error:
            return HalfDone(note, outside=far, problem=error.message)

    def _take_back(self) -> None:
        """Bring the files that this process was changing to what the store says; notes of others
        are not its own.
        """
        if self._note is None:
            return
        with self._library.exclusive():
            sides = _read_note(self._note)
            if sides is not None:
                carry_out(self._way_back(sides, ()).edits)
            self._note.unlink(missing_ok=True)
            self._note = None

    def _way_back(self, sides: tuple[Placements, Placements], without: Iterable[str]) -> Moves:
        """Return what brings the files of both sides of a broken change, but for some, to what the
        store says now.
        """
        ids, now = {*sides[0], *sides[1]}, self.committed()
        here = {id: p for id, p in now.items() if id in ids}
        other = sides[0] if here == sides[1] else sides[1]
        near = [
            {id: p for id, p in side.items() if p.path not in without} for side in (other, here)
        ]
        return moves(self.places, *near, again=True)

    def _leave_note(self, before: Placements, after: Placements) -> None:
        differing = [id for id in {**before, **after} if before.get(id) != after.get(id)]
        paths = {side[id].path for side in (before, after) for id in differing if id in side}
        sides = [[to_doc(p) for p in side.values() if p.path in paths] for side in (before, after)]
        note = self._library.surroundings.new_note()
        self._note = note
        try:
            write_file(note, json.dumps(sides).encode())
        except OSError as error:
            raise cannot_write(self._library.folder, error) from error

    def _staged(self) -> dict[str, Placement]:
        """Return the placements as the open transaction has them."""
        return {placement.id: placement for placement in self._library.placements.staged()}


def _read_note(note: Path) -> tuple[Placements, Placements] | None:
    try:
        before, after = (
            {p.id: p for p in map(_placement, side)}
            for side in json.loads(read_regular(note, _LARGEST))
        )
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, WorkbenchError):
        return None
    return before, after


def _placement(doc: Mapping[str, object]) -> Placement:
    return from_doc(Placement, doc)


__all__ = ["Following", "HalfDone", "Placing"]
