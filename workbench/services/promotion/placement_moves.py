"""What the files become when the placements of a store change.

Only what changed is touched: an entry is put into its managed block or taken out of it, a file is made or deleted.
Everything else in a file stays, also what somebody else wrote into the block.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.core.promotion import Placement, in_order
from workbench.core.record import Conflict, WorkbenchError
from workbench.formats import managed_block
from workbench.formats.managed_block import BrokenBlock
from workbench.services.promotion.placement_files import FileEdit, decoded, encoded, missing_folders, read
from workbench.services.promotion.placement_paths import Places

Placements = Mapping[str, Placement]
"""Placements by their id."""


class EditedBlock(Conflict):
    """An entry that is to be taken out of a managed block was changed by hand; `found` is the block as it is."""

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


@dataclass(frozen=True, slots=True)
class _Change:
    """The placements in one file before and after."""

    before: tuple[Placement, ...]
    after: tuple[Placement, ...]

    @property
    def gone(self) -> list[Placement]:
        return [p for p in self.before if p not in self.after]

    @property
    def new(self) -> list[Placement]:
        return [p for p in self.after if p not in self.before]

    @property
    def reworded(self) -> list[tuple[Placement, Placement]]:
        """What stays where it is with another text, before and after."""
        then = {p.id: p for p in self.new}
        return [(p, then[p.id]) for p in self.gone if p.id in then]


def moves(places: Places, before: Placements, after: Placements, *, again: bool = False) -> Moves:
    """Return what leads the files from one state of the placements to another.

    `again` means that it may have been done in part already: what is missing is no conflict then. Raises
    `EditedBlock`, `BrokenBlock`, `UnsafePath`, or `WorkbenchError` for a file that cannot be read or replaced.
    """
    edits: list[FileEdit] = []
    remarks: list[str] = []
    for path in _touched(before, after):
        change = _Change(_at(before, path), _at(after, path))
        edit, said = _file(places, change, again)
        edits += [edit] if edit else []
        remarks += said
    return Moves(tuple(edits), tuple(remarks))


def _touched(before: Placements, after: Placements) -> Iterable[str]:
    """Return the paths of files in which something differs, each once."""
    ids = (id for id in dict.fromkeys((*before, *after)) if before.get(id) != after.get(id))
    found = (side[id] for id in ids for side in (before, after) if id in side)
    return dict.fromkeys(p.path for p in found if p.kind != "bullet")


def _at(placements: Placements, path: str) -> tuple[Placement, ...]:
    return tuple(in_order([p for p in placements.values() if p.path == path and p.kind != "bullet"]))


def _file(places: Places, change: _Change, again: bool) -> tuple[FileEdit | None, list[str]]:
    one = (*change.after, *change.before)[0]
    try:
        path = places.stored(one)
    except WorkbenchError as error:
        if change.new:
            raise
        return None, [f"{one.path} was left as it is: {error.message}"]
    present = read(path)
    data, said = _whole(change, present, again)
    data, more = _entries(change, data, again)
    folders = max((p.folders for p in (*change.before, *change.after)), default=0)
    if data == present:
        return None, said + more
    folders = missing_folders(path) if present is None else folders
    return FileEdit(path, one.path, present, data, folders), said + more


def _whole(change: _Change, data: bytes | None, again: bool) -> tuple[bytes | None, list[str]]:
    """Make or delete a file that was written as a whole; one that was changed since is left.

    One that is to say something else must be as it was written: raises `Conflict`.
    """
    for was, now in change.reworded:
        if was.kind == "file" and not again and data not in (was.text.encode(), now.text.encode()):
            raise Conflict(f"{was.path} was changed by hand since it was written.", "Nothing was changed.")
    for gone in (p for p in change.gone if p.kind == "file"):
        if data is None:
            return None, [f"{gone.path} was already deleted."]
        if data != gone.text.encode():
            return data, [f"{gone.path} was changed since and was left."]
        data = None
    for new in (p for p in change.new if p.kind == "file"):
        if data is None:
            data = new.text.encode()
        elif data != new.text.encode():
            return data, [f"{new.path} was there already and was left as it is."]
    return data, []


def _entries(change: _Change, data: bytes | None, again: bool) -> tuple[bytes | None, list[str]]:
    """Put entries into the managed block, take others out, and put new texts in the place of old ones."""
    gone, new = ([p for p in side if p.kind == "entry"] for side in (change.gone, change.new))
    if not gone and not new:
        return data, []
    one = (*new, *gone)[0]
    if data is None and not new:
        return None, [] if again else [f"{one.path} was already deleted."]
    text, encoding = decoded(one.head.encode() if data is None else data, one.path)
    try:
        block = managed_block.find(text)
        items = _reworded(change, block.items if block else (), again)
        items = _without(_still(gone, items, change), items, one.path, again) if block else []
        remarks = [] if block or again else _lost(change, data, one.path)
        if block is not None or new:
            wanted = [p for p in change.after if p.kind == "entry"] if block is None else new
            items = _with(items, wanted, change.after)
            text = managed_block.written(text, items, one.lead, one.section)
    except BrokenBlock as error:
        raise BrokenBlock(f"{one.path}: {error.message}", error.hint) from error
    empty = text.removeprefix("\ufeff") in ("", one.head) and not new and one.created
    return None if empty else encoded(text, encoding), remarks


def _reworded(change: _Change, items: Sequence[str], again: bool) -> list[str]:
    """Put the new texts of entries where the old ones stand; one that is not there as written was edited by hand."""
    out = list(items)
    for was, now in change.reworded:
        place = _index(out, was) if was.kind == "entry" else None
        if place is not None:
            out[place] = now.text
        elif was.kind == "entry" and not again and _index(out, now) is None:
            raise EditedBlock(was.path, was.text, "\n".join(items))
    return out


def _still(gone: Sequence[Placement], items: Sequence[str], change: _Change) -> list[Placement]:
    """Return the entries that are yet to be taken out."""
    done = {was.id for was, now in change.reworded if _index(items, now) is not None}
    return [p for p in gone if p.id not in done]


def _without(gone: Sequence[Placement], items: Sequence[str], name: str, again: bool) -> list[str]:
    """Take entries out; an entry that is not there as it was written was edited by hand."""
    left = list(items)
    for placement in gone:
        place = _index(left, placement)
        if place is not None:
            del left[place]
        elif not again:
            raise EditedBlock(name, placement.text, "\n".join(items))
    return left


def _with(items: Sequence[str], new: Sequence[Placement], order: Sequence[Placement]) -> list[str]:
    """Put entries in where they belong: behind the nearest older one, else before the next younger one."""
    out = list(items)
    entries = [p for p in order if p.kind == "entry"]
    for placement in new:
        if _index(out, placement) is not None:
            continue
        at = entries.index(placement)
        behind = next((i for p in reversed(entries[:at]) if (i := _index(out, p)) is not None), None)
        ahead = next((i for p in entries[at + 1 :] if (i := _index(out, p)) is not None), None)
        place = len(out) if behind is None and ahead is None else behind + 1 if behind is not None else ahead or 0
        out.insert(place, placement.text)
    return out


def _index(items: Sequence[str], placement: Placement) -> int | None:
    return next((i for i, item in enumerate(items) if managed_block.same(item, placement.text)), None)


def _lost(change: _Change, data: bytes | None, name: str) -> list[str]:
    """Say that a block which should be there is not."""
    known = [p for p in change.before if p.kind == "entry"]
    if not known:
        return []
    what = f"The managed block of {name} was deleted" if data is not None else f"{name} was deleted"
    kept = [p for p in known if p in change.after]
    if change.new and kept:
        entry = "its other entry" if len(kept) == 1 else f"its {len(kept)} other entries"
        return [f"{what}; it is put back with {entry}."]
    return [f"{what} already."]
