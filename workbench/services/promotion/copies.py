"""A correction reaches its copies: where else a text stands that is being corrected, and updating that with it.

Copies are what promoting wrote, bullets and insights that say the same, and files that a playbook was exported to. They
are looked for before a correction is saved, shown, and on a person's word written in the same transaction; undo takes
back all of it. What cannot be updated that way is named with the reason.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.core.agents.actors import require_person
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.playbook.book import Bullet
from workbench.core.promotion.placement import Placement
from workbench.core.stream.memory import Memory
from workbench.services.agents.documents import editing
from workbench.services.context import Context
from workbench.services.files.diff import DiffLine, diff_texts
from workbench.services.files.states import FileStates
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.exported import Exported, exported
from workbench.services.promotion.placement_files import FileEdit
from workbench.services.promotion.placement_moves import NO_MOVES, Moves
from workbench.services.promotion.placements import Placing
from workbench.services.promotion.rewording import reworded
from workbench.services.promotion.texts import content_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import kept_summary
from workbench.store.library import Library, Tx
from workbench.store.records import place_of

Record = Memory | Bullet

Correction = tuple[Record, Record]
"""A record before and after."""

CopyKind = Literal["file", "bullet", "memory", "insight", "export"]
"""`file`: what promoting wrote into a file; `bullet`, `memory`: a record that says the same; `insight`: a memory that
cites the corrected one; `export`: a file that the store was exported to."""

Obstacle = Literal["", "rewritten", "changed", "held", "cites", "whole"]
"""Why a copy is not updated: its words are a person's own by now; its file was changed since, or cannot be written; the
corrected text is held back; it only cites; or such a file is only ever written as a whole."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A place where a corrected text stands, by its name, with what updating changes there.

    A record's `lines` hold its text, a file's what differs with a line around; none where there is an `obstacle`.
    """

    kind: CopyKind
    name: str
    lines: tuple[DiffLine, ...] = ()
    obstacle: Obstacle = ""
    outside: bool = False


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What saving `corrected` records leaves behind elsewhere (`copies`), and what would be written to update it."""

    corrected: tuple[Correction, ...]
    copies: tuple[Copy, ...] = ()
    records: tuple[Correction, ...] = ()
    placements: tuple[Placement, ...] = ()
    files: Moves = NO_MOVES
    exports: tuple[FileEdit, ...] = ()

    @property
    def updated(self) -> tuple[Copy, ...]:
        """The copies that are updated on a person's word."""
        return tuple(copy for copy in self.copies if not copy.obstacle)

    @property
    def left(self) -> tuple[Copy, ...]:
        """The copies that stay as they are."""
        return tuple(copy for copy in self.copies if copy.obstacle)

    @property
    def writes_files(self) -> bool:
        """Whether updating writes into files."""
        return bool(self.files.edits or self.exports)


class Copies:
    """Finds the copies of what is corrected, and updates them with it."""

    def __init__(self, context: Context, playbooks: Callable[[], Playbooks], safety: Safety, placing: Placing) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks
        self._safety = safety
        self._placing = placing

    def of(self, corrected: Iterable[Correction], *, files_only: bool = False) -> CopyPlan:
        """Return where else stands what is corrected; writes nothing.

        `corrected` are the records as they are and as they would be stored. With `files_only` no other record is
        looked at. Raises `StoreProblem`.
        """
        given = tuple(pair for pair in corrected if pair[0] != pair[1])
        if not given:
            return CopyPlan(())
        found = _Found(self._library, self._placing.committed().values())
        pairs = list(given) if files_only else found.spread(given)
        held = {place_of(one.record) for one in self._safety.unpermitted(after for _, after in pairs)}
        placements, copies = self._placed(found, pairs, held)
        records = tuple(pairs[len(given) :])
        copies += map(_of_record, records)
        copies += [] if files_only else found.citing(pairs)
        files, said = self._files(placements)
        exports = exported(self._context, [pair for pair in pairs if place_of(pair[1]) not in held])
        copies += [*said, *(_of_export(one) for one in exports)]
        edits = tuple(one.edit for one in exports if one.edit is not None)
        changed = {copy.name for copy in said if copy.obstacle}
        kept = tuple(p for p in placements if p.path not in changed)
        return CopyPlan(given, tuple(dict.fromkeys(copies)), records, kept, files, edits)

    def carry_out(self, plan: CopyPlan, write: Callable[[], object], label: str, *, files_only: bool = False) -> None:
        """Save what is corrected (`write` does it) and update its copies, as one action called `label`.

        Raises `Conflict` when a copy, a file or a record was changed since the plan, `NotTrusted`, and what `write`
        raises; then nothing is written.
        """
        require_person(self._context.actor, "update copies")
        if plan.writes_files:
            self._library.require_trust()
        with (
            self._placing.guarded() as follow,
            editing.guarded(self._context) as rewrite,
            self._library.transaction(self._context.actor, label) as tx,
        ):
            if self.of(plan.corrected, files_only=files_only) != plan:
                raise Conflict("A copy was changed meanwhile.", "Nothing was written; save again to look again.")
            write()
            self._require_stored(plan.corrected)
            for _, after in plan.records:
                self._put(tx, after)
            for placement in plan.placements:
                tx.put(placement)
            follow()
            self._export(tx, plan.exports)
            rewrite()

    def _require_stored(self, corrected: Sequence[Correction]) -> None:
        """Raise unless the store holds what the copies were made of: what is masked goes nowhere unmasked."""
        for _, after in corrected:
            table = self._library.memories if isinstance(after, Memory) else self._library.bullets
            stored = table.find(place_of(after)[1])
            if stored is None or stored.content != after.content:
                raise Conflict(f"{after.id} was not stored as shown.", "Nothing was written; save again to look again.")

    def _put(self, tx: Tx, after: Record) -> None:
        if isinstance(after, Bullet):
            self._playbooks().edit(after.book, after.id, after.content)
        else:
            tx.put(after)

    def _export(self, tx: Tx, edits: Sequence[FileEdit]) -> None:
        editing.stage(self._context, tx, edits)
        states = FileStates(self._library)
        for edit in edits:
            states.moved_on(tx, edit.path, edit.before, edit.after)

    def _placed(
        self, found: "_Found", pairs: Sequence[Correction], held: set[tuple[str, str]]
    ) -> tuple[list[Placement], list[Copy]]:
        """Return the placements of corrected memories as they become, and the copies that stay as they are."""
        moved: list[Placement] = []
        left: list[Copy] = []
        together = {place_of(after) for _, after in pairs}
        for before, after in pairs:
            for placement in found.placements_of(before):
                kind: CopyKind = "bullet" if placement.kind == "bullet" else "file"
                fresh = reworded(placement, before, after)
                if fresh == placement:
                    continue
                if kind == "bullet" and ("bullets", placement.path) not in together and found.says_still(placement):
                    continue  # it is not to change
                if fresh is None or (kind == "bullet" and not found.says_still(placement)):
                    left.append(Copy(kind, placement.path, (), "rewritten", placement.outside))
                elif place_of(after) in held and kind == "file":
                    left.append(Copy(kind, placement.path, (), "held", placement.outside))
                else:
                    moved.append(fresh)
        return moved, left

    def _files(self, placements: Sequence[Placement]) -> tuple[Moves, list[Copy]]:
        """Return what becomes of the files of placements; a file that was changed since stays, and says so."""
        edits: list[FileEdit] = []
        copies: list[Copy] = []
        for path in dict.fromkeys(p.path for p in placements if p.kind != "bullet"):
            here = {p.id: p for p in placements if p.path == path}
            outside = any(p.outside for p in here.values())
            try:
                found = self._placing.planned(here)
            except WorkbenchError:
                copies.append(Copy("file", path, (), "changed", outside))
                continue
            if not found.edits:
                copies.append(Copy("file", path, (), "changed", outside))
            edits += found.edits
            copies += [Copy("file", edit.name, edit.lines(1), "", outside) for edit in found.edits]
        return Moves(tuple(edits)), copies


class _Found:
    """The records and placements of a store among which copies are looked for."""

    def __init__(self, library: Library, placements: Iterable[Placement]) -> None:
        self._memories = library.memories
        self._bullets = library.bullets
        self._placements = tuple(placements)

    def spread(self, given: Sequence[Correction]) -> list[Correction]:
        """Return the corrections, and those of all records that say the same and so change with them."""
        pairs = list(given)
        known = {place_of(before) for before, _ in pairs}
        for before, after in pairs:  # grows meanwhile
            for copy in self._same(before, after) if before.content != after.content else ():
                if place_of(copy[0]) not in known:
                    known.add(place_of(copy[0]))
                    pairs.append(copy)
        return pairs

    def placements_of(self, record: Record) -> Iterator[Placement]:
        """Yield what promoting a memory wrote."""
        return (p for p in self._placements if isinstance(record, Memory) and p.memory == record.id)

    def says_still(self, placement: Placement) -> bool:
        """Tell whether the bullet of a placement is there, and says what the placement wrote."""
        bullet = self._bullets.find(placement.path)
        return bullet is not None and bullet.content == placement.text

    def citing(self, pairs: Sequence[Correction]) -> list[Copy]:
        """Return the memories that cite what is corrected and say something of their own."""
        changed = {before.id for before, after in pairs if before.content != after.content}
        own = {before.id for before, _ in pairs}
        return [Copy("insight", m.id, (), "cites") for m in self._citing(changed) if m.id not in own]

    def _citing(self, ids: Container[str]) -> list[Memory]:
        """Return the memories that cite one of these and are not archived."""
        citing = (memory for memory in self._memories.all() if memory.citations)
        return [m for m in citing if m.status != "archived" and any(id in ids for id in m.citations)]

    def _same(self, before: Record, after: Record) -> Iterator[Correction]:
        """Yield the records that hold the text of a corrected one, with its new text in place."""
        old, new = _content(before), _content(after)
        if isinstance(before, Bullet):
            place = f"{before.book}/{before.id}"
            sources = (self._memories.find(p.memory) for p in self._placements if p.path == place)
            same = [m for m in sources if m is not None and content_of(m) == old]
        else:
            bullets = (bullet for bullet in self._bullets.all() if bullet.content == old)
            yield from ((bullet, replace(bullet, content=new, raw=None)) for bullet in bullets)
            same = [memory for memory in self._citing((before.id,)) if old in memory.content]
        yield from ((memory, _with(memory, old, new)) for memory in same)


def _content(record: Record) -> str:
    return content_of(record) if isinstance(record, Memory) else record.content


def _with(memory: Memory, old: str, new: str) -> Memory:
    summary = memory.summary.replace(old, new) if old in memory.summary else ""
    text = memory.content.replace(old, new)
    return replace(memory, content=text, summary=summary or kept_summary(memory.summary, memory.content))


def _of_record(pair: Correction) -> Copy:
    before, after = pair
    if isinstance(before, Bullet):
        kind: CopyKind = "bullet"
    else:
        kind = "insight" if before.citations else "memory"
    name = place_of(before)[1]
    return Copy(kind, name, diff_texts(f"{before.content}\n", f"{after.content}\n", 1))


def _of_export(one: Exported) -> Copy:
    if one.edit is None:
        return Copy("export", str(one.path), (), one.obstacle)
    return Copy("export", str(one.path), one.edit.lines(1))
