"""What the files become when the placements of a store change.

Only what changed is touched: an entry is put into its managed block or taken out of it, a file is
made or deleted. Everything else in a file stays, also what somebody else wrote into the block.
"""

import codecs
import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from workbench.config.paths import PROJECT_STORE
from workbench.core.document import from_doc, to_doc
from workbench.core.files.atomic import write_file
from workbench.core.files.replacing import present_bytes, remove_file, replace_bytes
from workbench.core.promotion import Placement, in_order
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
    with one that is deleted when they are empty. Of a file of notes, `format` is what it is read
    as, and `records` how many of its records differ; `texts` are the sides of one in another
    encoding.
    """

    path: Path
    name: str
    before: bytes | None
    after: bytes | None
    folders: int = 0
    format: str = ""
    records: int = 0
    texts: tuple[str, str] | None = field(default=None, repr=False)

    @property
    def sides(self) -> tuple[str, str]:
        """The texts before and after."""
        return self.texts or (_shown(self.before), _shown(self.after))

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        return diff_texts(*self.sides, context)


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
            with contextlib.suppress(UnicodeDecodeError):
                return data.decode(encoding, "surrogatepass"), encoding
    if b"\0" in data or data.startswith(tuple(mark for mark, _ in _WIDE)):
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
        real = _resolved((self.project or path) / path, str(path))
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
        real = _resolved(path, placement.path)
        if not sound or real != path:
            raise UnsafePath(
                f"{placement.path} now leads to another place.", f"{NOTHING} Look at {real}."
            )
        return path


def _resolved(path: Path, name: str) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UnsafePath(f"{name} is not a valid path.", NOTHING) from error


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
            f"{path.name or path} is not a Markdown file.",
            f"Choose a name that ends in .md. {NOTHING}",
        )


def _require_open(parts: tuple[str, ...], path: Path) -> None:
    if parts and parts[0] in _CLOSED:
        raise UnsafePath(f"{path} is in {parts[0]}, which is not for notes.", NOTHING)


Placements = Mapping[str, Placement]
"""Placements by their id."""


class EditedBlock(Conflict):
    """An entry that is to be taken out of a managed block was changed by hand."""

    def __init__(self, name: str, entry: str) -> None:
        first = entry.split("\n", 1)[0]
        super().__init__(
            f"The managed block of {name} was edited by hand: it no longer holds “{first[:80]}”.",
            "Nothing was changed. Restore that entry, or delete the whole block, and try again.",
        )


Moves = tuple[tuple[FileEdit, ...], tuple[str, ...]]
"""The changes to files, and sentences about what was found there."""

_Pair = tuple[Placement | None, Placement | None]
"""A placement before and after; `None` where there is none."""


def moves(places: Places, before: Placements, after: Placements, *, again: bool = False) -> Moves:
    """Return what leads the files from one state of the placements to another.

    `again` means that it may have been done in part already: what is missing is no conflict then.
    Raises `EditedBlock`, `BrokenBlock`, `UnsafePath`, or `WorkbenchError` for a file that cannot be
    read or replaced.
    """
    edits, remarks = list[FileEdit](), list[str]()
    pairs = _changed(before, after)
    for path in dict.fromkeys(p.path for pair in pairs for p in pair if p and p.kind != "bullet"):
        edit, said = _file(places, _in_file(before, path), _in_file(after, path), again)
        edits += [edit] if edit else []
        remarks += said
    return tuple(edits), tuple(remarks)


def _changed(before: Placements, after: Placements) -> list[_Pair]:
    pairs = ((before.get(id), after.get(id)) for id in dict.fromkeys((*before, *after)))
    return [(was, now) for was, now in pairs if was != now]


def _in_file(side: Placements, path: str) -> Placements:
    return _by_id(in_order([p for p in side.values() if p.path == path and p.kind != "bullet"]))


def _file(
    places: Places, before: Placements, after: Placements, again: bool
) -> tuple[FileEdit | None, list[str]]:
    every, pairs = (*after.values(), *before.values()), _changed(before, after)
    one = every[0]
    try:
        path = places.stored(one)
    except WorkbenchError as error:
        if any(now for _, now in pairs):
            raise
        return None, [f"{one.path} was left unchanged: {error.message}"]
    present = data = read(path)
    remarks, entries = list[str](), list[_Pair]()
    for was, now in pairs:
        if (was or now or one).kind == "entry":
            entries.append((was, now))
        else:
            data, said = _whole(was, now, data, again)
            remarks += said
    if entries:
        data, said = _entries(entries, before, after, data, again)
        remarks += said
    if data == present:
        return None, remarks
    folders = missing_folders(path) if present is None else max(p.folders for p in every)
    return FileEdit(path, one.path, present, data, folders), remarks


def _whole(
    was: Placement | None, now: Placement | None, data: bytes | None, again: bool
) -> tuple[bytes | None, list[str]]:
    """Make, change or delete a file that was written as a whole; one that was changed since is
    left.

    One that is to say something else must be as it was written: raises `Conflict`.
    """
    old, new = (None if side is None else side.text.encode() for side in (was, now))
    if data == old:
        return new, []
    name = was.path if was else now.path if now else ""
    if was and now and data != new and not again:
        raise Conflict(f"{name} was changed by hand since it was written.", "Nothing was changed.")
    if data is None:
        return None, [f"{name} was already deleted."]
    if data == new:
        return data, []
    how = "changed since, so it was left alone" if was else "already there and left unchanged"
    return data, [f"{name} was {how}."]


def _entries(
    changed: Sequence[_Pair],
    before: Placements,
    after: Placements,
    data: bytes | None,
    again: bool,
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
                raise EditedBlock(was.path, was.text)
        if block is None and not again:
            remarks = _lost(before, after, bool(new), data, one.path)
        if block is not None or new:
            _put_in(items, [p for p in after.values() if p.kind == "entry"], new if block else None)
            text = managed_block.written(text, items, one.lead, one.section)
    except BrokenBlock as error:
        raise BrokenBlock(f"{one.path}: {error.message}", error.hint) from error
    empty = text.removeprefix("\ufeff") in ("", one.head) and not new and one.created
    return None if empty else encoded(text, encoding), remarks


def _put_in(items: list[str], order: Sequence[Placement], new: Sequence[Placement] | None) -> None:
    """Put the new entries (all where the block is gone) before the next younger one, else last."""
    for at, placement in enumerate(order):
        if (new is None or placement in new) and _index(items, placement) is None:
            younger = (_index(items, later) for later in order[at + 1 :])
            place = next((found for found in younger if found is not None), len(items))
            items.insert(place, placement.text)


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
    kept = sum(after.get(p.id) == p for p in known)
    if is_written and kept:
        entry = "its other entry" if kept == 1 else f"its {kept} other entries"
        return [f"{what}; it is restored with {entry}."]
    return [f"{what} already."]


# What may still be left in a file of a promoted text that could not be taken out of it: somebody
# edited it.


ALIKE = 0.6
"""How much of a line must be the same (0–1) to be taken for an edited one."""

_LEAST = 12
"""Characters of a line that is worth looking for."""


def left_in(path: Path, kind: str, text: str, living: Iterable[Placement]) -> str:
    """Return FILE or FILE:LINE where a file may still hold what a placement wrote, empty when
    nothing in it looks like that.

    `text` is what was written, or empty when nobody knows it any more. `living` are the placements
    that are there by right. A file that cannot be read may hold anything.
    """
    try:
        data = read(path)
        if data is None:
            return ""
        lines = decoded(data, str(path))[0].splitlines()
        at = _alike(lines, text) or (1 if kind == "file" else _foreign(lines, living))
    except WorkbenchError:
        return str(path)
    return f"{path}:{at}" if at else ""


def _alike(lines: list[str], text: str) -> int:
    """Return the number of the line that looks most like one of the text, 0 where none does."""
    wanted = [line.strip() for line in text.splitlines() if len(line.strip()) >= _LEAST]
    best, at = ALIKE, 0
    for number, line in enumerate(lines, 1):
        for needle in wanted if len(line.strip()) >= _LEAST else ():
            alike = SequenceMatcher(None, line.strip(), needle, autojunk=False).ratio()
            if alike > best:
                best, at = alike, number
    return at


def _foreign(lines: list[str], known: Iterable[Placement]) -> int:
    """Return the number of the first line of the managed block that no placement wrote, or 0."""
    block, own = managed_block.find("\n".join(lines)), [placement.text for placement in known]
    for item in block.entries if block is not None else ():
        if not any(managed_block.same(item, text) for text in own):
            first = item.strip().split("\n", 1)[0].strip()
            return next((n for n, line in enumerate(lines, 1) if first and first in line), 0)
    return 0


# Files that follow the store: promoting writes into them, undo and redo take that back and put it
# there again.


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


class Placing:
    """The files of a store that hold promoted memories."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.places: Places = places_of(library.folder)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[Callable[[], str]]:
        """Hand out what writes the files, called inside the transaction after everything is staged;
        it says what was found in them.

        After an error the files are brought back to what the store says.
        """
        notes: list[Path] = []

        def follow() -> str:
            before, after = self.committed(), _by_id(self._library.placements.staged())
            edits, remarks = moves(self.places, before, after)
            if edits:
                notes.append(self._library.surroundings.new_note())
                self._leave(notes[0], before, after)
                carry_out(edits)
                note_files(self._library, edits)
            return " ".join(remarks)

        try:
            yield follow
        except BaseException:
            with contextlib.suppress(WorkbenchError):
                for note in notes:
                    self._take_back(note)
            raise
        for note in notes:
            with contextlib.suppress(OSError):
                note.unlink(missing_ok=True)

    def committed(self) -> dict[str, Placement]:
        """Return the placements in the store, by id."""
        return _by_id(self._library.placements.all())

    def planned(self, new: Iterable[Placement]) -> Moves:
        """Return what new placements would change in the files; writes nothing."""
        before = self.committed()
        return moves(self.places, before, {**before, **_by_id(new)})

    def take_out(
        self, ids: Iterable[str], memories: Iterable[str] = ()
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take placements out of the files for good; return the files changed, and what may still
        hold the text.

        The records stay; for whoever erases them next. Of placements erased before, whose ids name
        one of the `memories`, the files are looked at again. Raises `WorkbenchError` when a file
        cannot be written.
        """
        ids, memories = tuple(ids), tuple(memories)
        before = self.committed()
        after = {id: placement for id, placement in before.items() if id not in ids}
        edits, _ = moves(self.places, before, after, again=True)
        carry_out(edits)
        left: list[str] = []
        for id in ids:
            memory = next((one for one in memories if id.startswith(f"{one}:")), id)
            kind, _, path = id.removeprefix(f"{memory}:").partition(":")
            text = ""
            if placement := before.get(id):
                kind, path, text = placement.kind, placement.path, placement.text
            if kind in ("entry", "file") and path:
                living = [p for p in after.values() if p.path == path]
                left.append(left_in((self.places.project or Path()) / path, kind, text, living))
        return tuple(edit.name for edit in edits), tuple(dict.fromkeys(filter(None, left)))

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
                    "The interrupted write changed since the preview.",
                    "Nothing was written; check it again.",
                )
            if found.problem:
                raise WorkbenchError(
                    found.problem, f"Nothing was written; delete {shown.note} to discard it."
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
            return HalfDone(note, self._way_back(sides, far), far)
        except WorkbenchError as error:
            return HalfDone(note, outside=far, problem=error.message)

    def _take_back(self, note: Path) -> None:
        """Bring the files that this process was changing to what the store says."""
        with self._library.exclusive():
            sides = _read_note(note)
            if sides is not None:
                carry_out(self._way_back(sides, ()))
            note.unlink(missing_ok=True)

    def _way_back(
        self, sides: tuple[Placements, Placements], without: Sequence[str]
    ) -> tuple[FileEdit, ...]:
        """Return what brings the files of both sides of a broken change, but for some, to what the
        store says now.
        """
        here = {id: p for id, p in self.committed().items() if id in {*sides[0], *sides[1]}}
        other = sides[0] if here == sides[1] else sides[1]
        before, after = (
            {id: p for id, p in one.items() if p.path not in without} for one in (other, here)
        )
        return moves(self.places, before, after, again=True)[0]

    def _leave(self, note: Path, before: Placements, after: Placements) -> None:
        paths = {p.path for pair in _changed(before, after) for p in pair if p}
        sides = [[to_doc(p) for p in side.values() if p.path in paths] for side in (before, after)]
        try:
            write_file(note, json.dumps(sides).encode())
        except OSError as error:
            raise cannot_write(self._library.folder, error) from error


def note_files(library: Library, edits: Iterable[FileEdit]) -> None:
    """Let the store know, in the open transaction, that what it knew files to hold was changed by
    itself.
    """
    states = FileStates(library)
    with library.transaction("", "") as tx:  # joins the one that is open
        for edit in edits:
            states.moved_on(tx, edit.path, edit.before, edit.after)


def _by_id(placements: Iterable[Placement]) -> dict[str, Placement]:
    return {placement.id: placement for placement in placements}


def _read_note(note: Path) -> tuple[Placements, Placements] | None:
    try:
        before, after = (
            _by_id(from_doc(Placement, doc) for doc in side)
            for side in json.loads(read_regular(note, _LARGEST))
        )
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, WorkbenchError):
        return None
    return before, after
