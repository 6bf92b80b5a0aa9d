"""A correction reaches its copies: where else a text stands that is being corrected, and updating
that with it.

Copies are what promoting wrote, bullets and insights that say the same, and files that a playbook
was exported to. They are looked for before a correction is saved, shown, and on a person's word
written in the same transaction; undo takes back all of it. What cannot be updated that way is named
with the reason.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from workbench.core.agents.actors import require_person
from workbench.core.file_state import FileState
from workbench.core.files.format import ExportFormat, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.files.replacing import bytes_of, present_bytes, restored, text_of
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.promotion import Placement
from workbench.core.record import Conflict, UnreadableFile, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.formats import managed_block
from workbench.formats.exports import OUTLETS
from workbench.services.agents.documents import documents
from workbench.services.context import Context
from workbench.services.files.overwriting import FileStates, hash_of
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.placements import NO_MOVES, FileEdit, Moves, Placing
from workbench.services.promotion.promotion import (
    HOOK,
    about_of,
    content_of,
    cut,
    head_lines,
    index_line,
    one_line,
    title_of,
)
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import kept_summary
from workbench.store.library import Library, Tx
from workbench.store.records import place_of

# Files that a playbook was exported to, with a corrected bullet in them: one record moves, every
# other byte stays.


Corrections = Sequence[tuple[Memory | Bullet, Memory | Bullet]]

LEAST = 12
"""Characters of the shortest text that is looked for in files that are only written as a whole."""


def exported(context: Context, corrected: Corrections) -> "list[tuple[Copy, FileEdit | None]]":
    """Return the files that the store wrote and that hold what is corrected, and what they become;
    writes none.

    There is no edit of one that somebody else changed, or that is only ever written as a whole.
    """
    written = [state for state in context.library.files.all() if state.origin == "written"]
    kinds = {kind.name: kind for kind in OUTLETS}
    found = (_in_file(context, state, kinds.get(state.format), corrected) for state in written)
    return [one for one in found if one is not None]


def _in_file(
    context: Context, state: FileState, kind: ExportFormat | None, corrected: Corrections
) -> "tuple[Copy, FileEdit | None] | None":
    path = Path(state.id)
    try:
        data = present_bytes(path) if path.is_absolute() and path.is_file() else None
        text = None if data is None else text_of(path, data)
    except (OSError, ValueError, WorkbenchError):
        return None
    if kind is None or data is None or text is None:
        return None
    if not (kind.reads and kind.holds == "playbook"):
        olds = [
            before.content.strip() for before, after in corrected if before.content != after.content
        ]
        holds = any(len(old) >= LEAST and old in text for old in olds)
        return (Copy("export", str(path), (), "whole"), None) if holds else None
    after = _rewritten(
        context, kind, path, text, [pair for pair in corrected if isinstance(pair[0], Bullet)]
    )
    if after is None:
        return None
    if hash_of(data) != state.sha256:
        return Copy("export", str(path), (), "changed"), None
    edit = FileEdit(path, str(path), data, bytes_of(after))
    return Copy("export", str(path), edit.lines(1)), edit


def _rewritten(
    context: Context, kind: ExportFormat, path: Path, text: str, corrected: Corrections
) -> str | None:
    """Return a file's text with corrected bullets; `None` where it holds none of them, or would not
    only change so.
    """
    reader = format_named(kind.name)
    place = ReadContext(now=context.now(), file=str(path), path=str(path))
    try:
        parsed = reader.read(text, place)
        wanted = _replaced(parsed, corrected)
        if wanted is None:
            return None
        written = _written(kind, wanted, text)
        again = reader.read(written, place)
    except (UnreadableFile, WorkbenchError):
        return None
    return written if list(_export_notes(again)) == list(_export_notes(wanted)) else None


def _replaced(parsed: Parsed, corrected: Corrections) -> Parsed | None:
    """Return what a file holds with the new texts in place; `None` when none of the old ones is
    there.
    """
    new = {(before.id, before.content): after.content for before, after in corrected}
    held = {(bullet.id, bullet.content) for book in parsed.playbooks for bullet in book.bullets}
    if held.isdisjoint(new):
        return None

    def fresh(bullet: Bullet) -> Bullet:
        content = new.get((bullet.id, bullet.content))
        return bullet if content is None else replace(bullet, content=content, raw=None)

    books = tuple(
        Playbook(book.book, book.sections, tuple(map(fresh, book.bullets)))
        for book in parsed.playbooks
    )
    return replace(parsed, playbooks=books)


def _written(kind: ExportFormat, parsed: Parsed, own: str) -> str:
    if kind.dialects is not None:
        return restored(kind.dialects.write(parsed.playbooks[0], None), own)
    return kind.write(parsed, own)


def _export_notes(parsed: Parsed) -> Iterator[tuple[str, str, str]]:
    return (
        (bullet.id, bullet.section, bullet.content)
        for book in parsed.playbooks
        for bullet in book.bullets
    )


# What a promoted text becomes when its memory is corrected: what was made of the memory, made anew.
#
# Only what follows from the memory moves along. A title or a description that a person typed for it
# stays.


SKILL = "SKILL.md"


def reworded(
    placement: Placement, before: Memory | Bullet, after: Memory | Bullet
) -> Placement | None:
    """Return a placement of `before` as one of `after`; the same when nothing in it moves.

    `None` for a text that was not made of `before`: it was changed since, or in another way.
    """
    if not (isinstance(before, Memory) and isinstance(after, Memory)):
        return None
    match placement.kind:
        case "entry":
            text = _entry(placement.text, before, after)
        case "file":
            text = _file(placement, before, after)
        case "bullet":
            text = content_of(after) if placement.text == content_of(before) else None
    return None if text is None else replace(placement, text=text)


def _entry(text: str, before: Memory, after: Memory) -> str | None:
    """Return an entry that holds the memory itself, or a line of an index that names its file."""
    if text == managed_block.item(content_of(before)):
        return managed_block.item(content_of(after))
    title, link, rest = text.partition("](")
    file, close, about = rest.partition(")")
    if not (title.startswith("- [") and link and close and PurePosixPath(file).suffix == ".md"):
        return None
    title, about = title.removeprefix("- ["), about.removeprefix(" — ")
    (was, now), (old, new) = _said(before, after)
    hook = cut(old, HOOK)
    is_made = about == hook or (not about and hook == was)
    return managed_block.item(
        index_line(now if title == _bracketed(was) else title, file, new if is_made else about)
    )


def _file(placement: Placement, before: Memory, after: Memory) -> str | None:
    """Return a topic file or a skill with the memory's new text, and what was derived from the old
    one.
    """
    head, body, rest = placement.text.partition(f"\n{content_of(before)}\n")
    if not body:
        return None
    is_named = (
        PurePosixPath(placement.path).name != SKILL
    )  # a skill keeps its name, which is that of its folder
    for was, now in _said(before, after):
        for old, new in zip(
            head_lines(was, named=is_named), head_lines(now, named=is_named), strict=True
        ):
            head = f"{head}\n".replace(f"\n{old}\n", f"\n{new}\n", 1)[:-1]
    return f"{head}\n{content_of(after)}\n{rest}"


def _said(before: Memory, after: Memory) -> tuple[tuple[str, str], ...]:
    """Return the title and the description that are made of a memory, before and after."""
    pairs = ((make(before), make(after)) for make in (title_of, about_of))
    return tuple((one_line(was), one_line(now)) for was, now in pairs)


def _bracketed(title: str) -> str:
    return title.replace("[", "(").replace("]", ")")


Record = Memory | Bullet

Correction = tuple[Record, Record]
"""A record before and after."""

CopyKind = Literal["file", "bullet", "memory", "insight", "export"]
"""`file`: what promoting wrote into a file; `bullet`, `memory`: a record that says the same;
`insight`: a memory that cites the corrected one; `export`: a file that the store was exported to.
"""

Obstacle = Literal["", "rewritten", "changed", "held", "cites", "whole"]
"""Why a copy is not updated: its words are a person's own by now; its file was changed since, or
cannot be written; the corrected text is held back; it only cites; or such a file is only ever
written as a whole.
"""


@dataclass(frozen=True, slots=True)
class Copy:
    """A place where a corrected text stands, by its name, with what updating changes there.

    A record's `lines` hold its text, a file's what differs with a line around; none where there is
    an `obstacle`.
    """

    kind: CopyKind
    name: str
    lines: tuple[DiffLine, ...] = ()
    obstacle: Obstacle = ""
    outside: bool = False


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What saving `corrected` records leaves behind elsewhere (`copies`), and what would be written
    to update it.
    """

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
        return tuple(copy for copy in self.copies if copy.obstacle)

    @property
    def writes_files(self) -> bool:
        return bool(self.files.edits or self.exports)


class Copies:
    """Finds the copies of what is corrected, and updates them with it."""

    def __init__(
        self, context: Context, playbooks: Callable[[], Playbooks], safety: Safety, placing: Placing
    ) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks
        self._safety = safety
        self._placing = placing

    def of(self, corrected: Iterable[Correction], *, files_only: bool = False) -> CopyPlan:
        """Return where else stands what is corrected; writes nothing.

        `corrected` are the records as they are and as they would be stored. With `files_only` no
        other record is looked at. Raises `StoreProblem`.
        """
        given = tuple(pair for pair in corrected if pair[0] != pair[1])
        if not given:
            return CopyPlan(())
        found = _Found(self._library, self._placing.committed().values())
        pairs = list(given) if files_only else found.spread(given)
        held = {
            place_of(one.record) for one in self._safety.unpermitted(after for _, after in pairs)
        }
        placements, copies = self._placed(found, pairs, held)
        records = tuple(pairs[len(given) :])
        copies += map(_of_record, records)
        copies += [] if files_only else found.citing(pairs)
        files, said = self._files(placements)
        exports = exported(self._context, [pair for pair in pairs if place_of(pair[1]) not in held])
        copies += [*said, *(copy for copy, _ in exports)]
        edits = tuple(edit for _, edit in exports if edit is not None)
        changed = {copy.name for copy in said if copy.obstacle}
        kept = tuple(p for p in placements if p.path not in changed)
        return CopyPlan(given, tuple(dict.fromkeys(copies)), records, kept, files, edits)

    def carry_out(
        self, plan: CopyPlan, write: Callable[[], object], label: str, *, files_only: bool = False
    ) -> None:
        """Save what is corrected (`write` does it) and update its copies, as one action called
        `label`.

        Raises `Conflict` when a copy, a file or a record was changed since the plan, `NotTrusted`,
        and what `write` raises; then nothing is written.
        """
        require_person(self._context.actor, "update copies")
        if plan.writes_files:
            self._library.require_trust()
        with (
            self._placing.guarded() as follow,
            documents.guarded(self._context) as rewrite,
            self._library.transaction(self._context.actor, label) as tx,
        ):
            if self.of(plan.corrected, files_only=files_only) != plan:
                raise Conflict(
                    "A copy was changed meanwhile.",
                    "Nothing was written; save again to look again.",
                )
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
        """Raise unless the store holds what the copies were made of: what is masked goes nowhere
        unmasked.
        """
        for _, after in corrected:
            table = self._library.memories if isinstance(after, Memory) else self._library.bullets
            stored = table.find(place_of(after)[1])
            if stored is None or stored.content != after.content:
                raise Conflict(
                    f"{after.id} was not stored as shown.",
                    "Nothing was written; save again to look again.",
                )

    def _put(self, tx: Tx, after: Record) -> None:
        if isinstance(after, Bullet):
            self._playbooks().edit(after.book, after.id, after.content)
        else:
            tx.put(after)

    def _export(self, tx: Tx, edits: Sequence[FileEdit]) -> None:
        documents.stage(self._context, tx, edits)
        states = FileStates(self._library)
        for edit in edits:
            states.moved_on(tx, edit.path, edit.before, edit.after)

    def _placed(
        self, found: "_Found", pairs: Sequence[Correction], held: set[tuple[str, str]]
    ) -> tuple[list[Placement], list[Copy]]:
        """Return the placements of corrected memories as they become, and the copies that stay as
        they are.
        """
        moved: list[Placement] = []
        left: list[Copy] = []
        together = {place_of(after) for _, after in pairs}
        for before, after in pairs:
            for placement in found.placements_of(before):
                kind: CopyKind = "bullet" if placement.kind == "bullet" else "file"
                fresh = reworded(placement, before, after)
                if fresh == placement:
                    continue
                if (
                    kind == "bullet"
                    and ("bullets", placement.path) not in together
                    and found.says_still(placement)
                ):
                    continue  # it is not to change
                if fresh is None or (kind == "bullet" and not found.says_still(placement)):
                    left.append(Copy(kind, placement.path, (), "rewritten", placement.outside))
                elif place_of(after) in held and kind == "file":
                    left.append(Copy(kind, placement.path, (), "held", placement.outside))
                else:
                    moved.append(fresh)
        return moved, left

    def _files(self, placements: Sequence[Placement]) -> tuple[Moves, list[Copy]]:
        """Return what becomes of the files of placements; a file that was changed since stays, and
        says so.
        """
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
        """Return the corrections, and those of all records that say the same and so change with
        them.
        """
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
        return [
            Copy("insight", m.id, (), "cites") for m in self._citing(changed) if m.id not in own
        ]

    def _citing(self, ids: Container[str]) -> list[Memory]:
        """Return the memories that cite one of these and are not archived."""
        citing = (memory for memory in self._memories.all() if memory.citations)
        return [
            m for m in citing if m.status != "archived" and any(id in ids for id in m.citations)
        ]

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
    return replace(
        memory, content=text, summary=summary or kept_summary(memory.summary, memory.content)
    )


def _of_record(pair: Correction) -> Copy:
    before, after = pair
    if isinstance(before, Bullet):
        kind: CopyKind = "bullet"
    else:
        kind = "insight" if before.citations else "memory"
    name = place_of(before)[1]
    return Copy(kind, name, diff_texts(f"{before.content}\n", f"{after.content}\n", 1))
