"""A correction reaches its copies: where else a text stands that is being corrected, and updating
that with it.

Copies are what promoting wrote, bullets and insights that say the same, and files that a playbook
was exported to. They are looked for before a correction is saved, shown, and on a person's word
written in the same transaction; undo takes back all of it. What cannot be updated that way is named
with the reason.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from workbench.core.agents.actors import require_person
from workbench.core.file_state import FileState
from workbench.core.files.format import Format, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.files.fresh import hash_of
from workbench.core.files.replacing import bytes_of, present_bytes, text_of
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.promotion import Placement
from workbench.core.record import Conflict, UnreadableFile, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.formats import managed_block
from workbench.formats.exports import OUTLETS
from workbench.services.agents.documents import documents
from workbench.services.context import Context
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.placements import FileEdit, Placing, note_files
from workbench.services.promotion.promotion import (
    HOOK,
    SKILL,
    about_of,
    content_of,
    cut,
    file_line,
    index_line,
    one_line,
    title_of,
)
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import kept_summary
from workbench.store.library import Tx
from workbench.store.records import place_of

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

LEAST = 12
"""Characters of the shortest text that is looked for in files that are only written as a whole."""


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
    to update it: `files` are those of the placements.
    """

    corrected: tuple[Correction, ...]
    copies: tuple[Copy, ...] = ()
    records: tuple[Correction, ...] = ()
    placements: tuple[Placement, ...] = ()
    files: tuple[FileEdit, ...] = ()
    exports: tuple[FileEdit, ...] = ()

    @property
    def updated(self) -> tuple[Copy, ...]:
        """The copies that are updated on a person's word."""
        return tuple(copy for copy in self.copies if not copy.obstacle)

    @property
    def left(self) -> tuple[Copy, ...]:
        return tuple(copy for copy in self.copies if copy.obstacle)


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
        placed = tuple(self._placing.committed().values())
        pairs = list(given) if files_only else self._spread(given, placed)
        held = {
            place_of(one.record) for one in self._safety.unpermitted(after for _, after in pairs)
        }
        moved, copies = self._placed(placed, pairs, held)
        records = tuple(pairs[len(given) :])
        copies += map(_of_record, records)
        copies += [] if files_only else self._citing(pairs)
        files, exports = list[FileEdit](), list[FileEdit]()
        for path in dict.fromkeys(p.path for p in moved if p.kind != "bullet"):
            here = [p for p in moved if p.path == path]
            try:
                edits, _ = self._placing.planned(here)
            except WorkbenchError:
                edits = ()
            if not edits:
                copies.append(Copy("file", path, (), "changed", here[0].outside))
                moved = [p for p in moved if p.path != path]
            files += edits
            copies += [Copy("file", e.name, e.lines(1), "", here[0].outside) for e in edits]
        written = (state for state in self._library.files.all() if state.origin == "written")
        outgoing = [pair for pair in pairs if place_of(pair[1]) not in held]
        for state in written:
            copy, edit = self._exported(state, outgoing)
            copies += [copy] if copy else []
            exports += [edit] if edit else []
        return CopyPlan(
            given, tuple(dict.fromkeys(copies)), records, tuple(moved), tuple(files), tuple(exports)
        )

    def carry_out(
        self, plan: CopyPlan, write: Callable[[], object], label: str, *, files_only: bool = False
    ) -> None:
        """Save what is corrected (`write` does it) and update its copies, as one action called
        `label`.

        Raises `Conflict` when a copy, a file or a record was changed since the plan, `NotTrusted`,
        and what `write` raises; then nothing is written.
        """
        require_person(self._context.actor, "update copies")
        if plan.files or plan.exports:
            self._library.require_trust()
        again = "Nothing was written; save again to see the new state."
        with (
            self._placing.guarded() as follow,
            documents.guarded(self._context) as rewrite,
            self._library.transaction(self._context.actor, label) as tx,
        ):
            if self.of(plan.corrected, files_only=files_only) != plan:
                raise Conflict("A copy was changed meanwhile.", again)
            write()
            for _, after in plan.corrected:
                # What is masked goes nowhere unmasked.
                table, key = place_of(after)
                stored = self._library.table_named(table).find(key)
                if stored is None or stored.content != after.content:
                    raise Conflict(f"{after.id} was not stored as shown.", again)
            self._put(tx, plan)
            follow()
            documents.stage(self._context, tx, plan.exports)
            note_files(self._library, plan.exports)
            rewrite()

    def _put(self, tx: Tx, plan: CopyPlan) -> None:
        for _, after in plan.records:
            if isinstance(after, Bullet):
                self._playbooks().edit(after.book, after.id, after.content)
            else:
                tx.put(after)
        for placement in plan.placements:
            tx.put(placement)

    # Records that say the same, or cite what is corrected

    def _spread(self, given: Sequence[Correction], placed: Sequence[Placement]) -> list[Correction]:
        """Return the corrections, and those of all records that say the same and so change with
        them.
        """
        pairs = list(given)
        known = {place_of(before) for before, _ in pairs}
        for before, after in pairs:  # grows meanwhile
            if before.content == after.content:
                continue
            old, new = _content(before), _content(after)
            same = list[Correction]()
            if isinstance(before, Bullet):
                path = place_of(before)[1]
                sources = (self._library.memories.find(p.memory) for p in placed if p.path == path)
                memories = [m for m in sources if m is not None and content_of(m) == old]
            else:
                bullets = (one for one in self._library.bullets.all() if one.content == old)
                same += ((one, replace(one, content=new, raw=None)) for one in bullets)
                memories = [
                    one
                    for one in self._library.memories.all()
                    if one.status != "archived"
                    and (
                        one.content == before.content
                        or (before.id in one.citations and old in one.content)
                    )
                ]
            same += ((memory, _with(memory, old, new)) for memory in memories)
            for copy in same:
                if place_of(copy[0]) not in known:
                    known.add(place_of(copy[0]))
                    pairs.append(copy)
        return pairs

    def _citing(self, pairs: Sequence[Correction]) -> list[Copy]:
        """Return the memories that cite what is corrected and say something of their own."""
        changed = {before.id for before, after in pairs if before.content != after.content}
        own = {before.id for before, _ in pairs}
        return [
            Copy("insight", memory.id, (), "cites")
            for memory in self._library.memories.all()
            if memory.status != "archived"
            and memory.id not in own
            and not changed.isdisjoint(memory.citations)
        ]

    # What promoting wrote

    def _placed(
        self,
        placed: Sequence[Placement],
        pairs: Sequence[Correction],
        held: set[tuple[str, str]],
    ) -> tuple[list[Placement], list[Copy]]:
        """Return the placements of corrected memories as they become, and the copies that stay as
        they are.
        """
        moved, left = list[Placement](), list[Copy]()
        together = {place_of(after) for _, after in pairs}
        for before, after in pairs:
            for placement in placed:
                if not (
                    isinstance(before, Memory)
                    and isinstance(after, Memory)
                    and placement.memory == before.id
                ):
                    continue
                fresh = reworded(placement, before, after)
                if fresh == placement:
                    continue
                kind: CopyKind = "file"
                if placement.kind == "bullet":
                    kind = "bullet"
                    bullet = self._library.bullets.find(placement.path)
                    if bullet is None or bullet.content != placement.text:
                        fresh = None
                    elif ("bullets", placement.path) not in together:
                        continue  # it is not to change
                is_held = kind == "file" and place_of(after) in held
                if fresh is not None and not is_held:
                    moved.append(fresh)
                else:
                    why: Obstacle = "held" if fresh else "rewritten"
                    left.append(Copy(kind, placement.path, (), why, placement.outside))
        return moved, left

    # Files that the store was exported to: one record moves, every other byte stays

    def _exported(
        self, state: FileState, corrected: Sequence[Correction]
    ) -> tuple[Copy | None, FileEdit | None]:
        """Return the copy in a file that the store wrote, and what the file becomes.

        There is no edit of one that somebody else changed, or that is only ever written as a whole.
        """
        path, kind = Path(state.id), next((k for k in OUTLETS if k.name == state.format), None)
        try:
            data = present_bytes(path) if path.is_absolute() and path.is_file() else None
            text = "" if data is None else text_of(path, data)
        except (OSError, ValueError, WorkbenchError):
            return None, None
        if kind is None or data is None:
            return None, None
        if not (kind.reads and kind.holds == "playbook"):
            olds = (old.content.strip() for old, new in corrected if old.content != new.content)
            holds = any(len(old) >= LEAST and old in text for old in olds)
            return (Copy("export", str(path), (), "whole") if holds else None), None
        after = self._rewritten(kind, path, text, corrected)
        if after is None:
            return None, None
        if hash_of(data) != state.sha256:
            return Copy("export", str(path), (), "changed"), None
        edit = FileEdit(path, str(path), data, bytes_of(after))
        return Copy("export", str(path), edit.lines(1)), edit

    def _rewritten(
        self, kind: Format, path: Path, text: str, corrected: Sequence[Correction]
    ) -> str | None:
        """Return a file's text with corrected bullets; `None` where it holds none of them, or would
        not only change so.
        """
        new = {
            (before.id, before.content): after.content
            for before, after in corrected
            if isinstance(before, Bullet)
        }
        reader = format_named(kind.name)
        place = ReadContext(now=self._context.now(), file=str(path), path=str(path))
        try:
            parsed = reader.read(text, place)
            if new.keys().isdisjoint((b.id, b.content) for b in _bullets(parsed)):
                return None
            books = tuple(_corrected(book, new) for book in parsed.playbooks)
            wanted = replace(parsed, playbooks=books)
            written = kind.write(wanted, text)
            again = reader.read(written, place)
        except (UnreadableFile, WorkbenchError):
            return None
        sides = ([(b.id, b.section, b.content) for b in _bullets(one)] for one in (again, wanted))
        return written if next(sides) == next(sides) else None


def _bullets(parsed: Parsed) -> Iterator[Bullet]:
    return (bullet for book in parsed.playbooks for bullet in book.bullets)


def _corrected(book: Playbook, new: dict[tuple[str, str], str]) -> Playbook:
    return replace(
        book,
        bullets=tuple(
            replace(bullet, content=content, raw=None)
            if (content := new.get((bullet.id, bullet.content))) is not None
            else bullet
            for bullet in book.bullets
        ),
    )


def reworded(placement: Placement, before: Memory, after: Memory) -> Placement | None:
    """Return a placement of `before` as one of `after`; the same when nothing in it moves.

    What was made of the memory is made anew, a title or a description that a person typed stays.
    `None` for a text that was not made of `before`: it was changed since, or in another way.
    """
    match placement.kind:
        case "entry":
            text = _entry(placement.text, before, after)
        case "file":
            text = _file(placement, before, after)
        case _:
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
    if title == was.replace("[", "(").replace("]", ")"):
        title = now
    if about == hook or (not about and hook == was):
        about = new
    return managed_block.item(index_line(title, file, about))


def _file(placement: Placement, before: Memory, after: Memory) -> str | None:
    """Return a topic file or a skill with the memory's new text, and what was made of the old one
    in its head.
    """
    head, body, rest = placement.text.partition(f"\n{content_of(before)}\n")
    if not body:
        return None
    # A skill keeps its name, which is that of its folder.
    is_skill = PurePosixPath(placement.path).name == SKILL
    titles, descriptions = _said(before, after)
    named = [f"# {title}" if is_skill else file_line("name", title) for title in titles]
    for was, now in (named, [file_line("description", about) for about in descriptions]):
        head = f"{head}\n".replace(f"\n{was}\n", f"\n{now}\n", 1)[:-1]
    return f"{head}\n{content_of(after)}\n{rest}"


def _said(before: Memory, after: Memory) -> tuple[tuple[str, str], ...]:
    """Return the title and the description that are made of a memory, before and after."""
    return tuple((one_line(make(before)), one_line(make(after))) for make in (title_of, about_of))


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
