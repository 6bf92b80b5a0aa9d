"""Files that follow the store: promoting writes into them, undo and redo take that back and put it there again.

The store is the truth. A change of placements writes the files first, inside the store's transaction, and the journal
line last; before the first file a note of what is going on is left beside the journal, and taken away at the end. Who
finds such a note later brings the files to what the store says: nothing is half done.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.bench.placing_files import carry_out
from workbench.bench.placing_left import Left, left_in, of_id
from workbench.bench.placing_moves import Moves, Placements, moves
from workbench.bench.placing_paths import Places, places_of
from workbench.core.errors import WorkbenchError
from workbench.core.placement import Placement, PlacementKind
from workbench.core.record import from_doc, to_doc
from workbench.store.files import write_atomically
from workbench.store.library import Library
from workbench.store.lock import cannot_write

NOTES = "placing-*.json"
"""The files in the store's folder that say that a process is changing files."""

TABLE = "placements"


class Following:
    """Brings the files after the placements of the transaction that is open; `moves` is what that came to."""

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
        self.places: Places = places_of(library.folder)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[Following]:
        """Hand out what writes the files; after an error they are brought back to what the store says."""
        try:
            yield Following(self)
        except BaseException:
            with contextlib.suppress(WorkbenchError):
                self.settle(trusted=True)
            raise
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)

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
        return found

    def planned(self, new: Mapping[str, Placement]) -> Moves:
        """Return what new placements would change in the files; writes nothing."""
        before = self.committed()
        return moves(self.places, before, {**before, **new})

    def take_out(self, ids: Iterable[str], memories: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[Left, ...]]:
        """Take placements out of the files for good; return the files changed, and what may still hold the text.

        The records stay; for whoever erases them next. Of placements erased before, whose ids name one of the
        `memories`, the files are looked at again. Raises `WorkbenchError` when a file cannot be written.
        """
        ids = tuple(ids)
        before = self.committed()
        doomed = {id: before[id] for id in ids if id in before}
        found = moves(self.places, before, {id: p for id, p in before.items() if id not in doomed}, again=True)
        carry_out(found.edits)
        names = tuple(edit.name for edit in found.edits)
        living = [p for id, p in before.items() if id not in doomed]
        asked: list[tuple[PlacementKind, str, str]] = [
            (p.kind, p.path, p.text) for p in doomed.values() if p.kind != "bullet"
        ]
        gone = (of_id(id, memory) for id in ids if id not in before for memory in memories if id.startswith(memory))
        asked += [(*place, "") for place in gone if place is not None]
        folder = self.places.project or Path()
        left = (left_in(folder / path, kind, text, [p for p in living if p.path == path]) for kind, path, text in asked)
        return names, tuple(dict.fromkeys(one for one in left if one is not None))

    def settle(self, *, trusted: bool = False) -> tuple[str, ...]:
        """Finish or take back what was broken off, as the store says; return sentences about it.

        Files outside the project are only named, unless the note is this process's own (`trusted`). Raises
        `WorkbenchError` when a file cannot be written; the note stays then.
        """
        if not any(self._notes()):
            return ()
        remarks: list[str] = []
        with self._library.journal.exclusive():
            for note in self._notes():
                sides = _read_note(note)
                if sides is None:
                    remarks.append("A promotion was broken off; which files it had written is not known any more.")
                else:
                    remarks += self._brought_back(sides, self.committed(), trusted)
                note.unlink(missing_ok=True)
        return tuple(remarks)

    def _brought_back(self, sides: tuple[Placements, Placements], now: Placements, trusted: bool) -> list[str]:
        """Bring the files of both sides of a broken change to what the store says now."""
        ids = {*sides[0], *sides[1]}
        here = {id: p for id, p in now.items() if id in ids}
        other = sides[0] if here == sides[1] else sides[1]
        far = {p.path for side in sides for p in side.values() if p.outside} if not trusted else set()
        near = [{id: p for id, p in side.items() if p.path not in far} for side in (other, here)]
        found = moves(self.places, *near, again=True)
        carry_out(found.edits)
        said = [f"{e.name} was brought to what the store says: a change was broken off." for e in found.edits]
        return [*said, *(f"A change of {path} was broken off; look at the file." for path in sorted(far))]

    @property
    def _note(self) -> Path:
        return self._library.folder / NOTES.replace("*", str(os.getpid()))

    def _notes(self) -> list[Path]:
        return sorted(self._library.folder.glob(NOTES))

    def _leave_note(self, before: Placements, after: Placements) -> None:
        differing = [id for id in {**before, **after} if before.get(id) != after.get(id)]
        paths = {side[id].path for side in (before, after) for id in differing if id in side}
        sides = [[to_doc(p) for p in side.values() if p.path in paths] for side in (before, after)]
        try:
            write_atomically(self._note, json.dumps(sides).encode())
        except OSError as error:
            raise cannot_write(self._library.folder, error) from error

    def _staged(self) -> dict[str, Placement]:
        """Return the placements as the open transaction has them."""
        journal = self._library.journal
        docs: dict[str, Any] = dict(journal.state.tables.get(TABLE, {}))
        for (table, doc_id), doc in (journal.staged.docs if journal.staged else {}).items():
            if table == TABLE:
                docs[doc_id] = doc
        return {p.id: p for doc in docs.values() if doc is not None and (p := _placement(doc))}


def settle(library: Library) -> None:
    """Finish or take back what another process broke off; what came of it is said among the store's notices."""
    try:
        library.journal.notices.extend(Placing(library).settle())
    except WorkbenchError as error:
        library.journal.notices.append(f"Files of a promotion that was broken off could not be put right: {error}")


def _read_note(note: Path) -> tuple[Placements, Placements] | None:
    try:
        before, after = ({p.id: p for p in map(_placement, side)} for side in json.loads(note.read_bytes()))
    except (OSError, ValueError, TypeError, WorkbenchError):
        return None
    return before, after


def _placement(doc: Mapping[str, object]) -> Placement:
    return from_doc(Placement, doc)


__all__ = ["NOTES", "Following", "Placing", "settle"]
