"""Importing files: read, compare with the store, write what is new in chunks that undo as one
action.
"""

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

from workbench.core.agents.actors import require_person
from workbench.core.files.format import Issue, JudgedQuery, Parsed, ReadContext
from workbench.core.files.replacing import present
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.playbook.usage import UsageTally
from workbench.core.record import UnreadableFile, WorkbenchError, WorkStopped
from workbench.core.reflection.trigger import record_observation
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.confidence import brought
from workbench.core.stream.importance import base_importance, table_named
from workbench.core.stream.memory import Memory
from workbench.core.text import MAX_KEPT
from workbench.core.tuning.judgment import Judgment, SavedQuery, judgment_id, query_id
from workbench.formats import notes, opening
from workbench.formats.update_file import differing
from workbench.services.agents.documents.instructions import Skipped, Why, open_folder
from workbench.services.context import Service
from workbench.services.files.folders import FolderExporter, FolderFiles, root_of
from workbench.services.files.overwriting import FileStates, is_written, real_name, what_became
from workbench.services.files.theirs import (
    Guard,
    Removal,
    in_place,
    new_parts,
    new_proposals,
    new_tallies,
    replaced,
    suggestions,
)
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.reflection.gauge import state_of
from workbench.services.safety.secret_filter import IMPORT
from workbench.services.safety.texts import name_of
from workbench.services.stream.observation import appended
from workbench.services.stream.returned import Purged
from workbench.store.library import Library, Tx
from workbench.store.records import place_of

NOTHING = "Nothing was written"

CHUNK = 1000
"""Records that are committed with one fsync."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file of a folder that was read: where it is, as what, the SHA-256 of its bytes, and the ids
    in it.
    """

    path: Path
    format: str
    digest: str
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What a file holds and what of it is new: exactly what importing would write.

    `present` counts records that are there already, `kept` names those whose stored version differs
    from the file's and stays as it is. `rev` is the store's revision that it was compared with.
    `agrees` tells that nothing in the file says something else than the store will after that.
    `replaced` are pairs of a stored record and the one of `records` that takes its place, or its
    `Removal`. Of a folder `files` are those that were read, and `unchanged` counts those that are
    as they were read last; `passed` is what else is there. `known` are stored notes that another
    file brought: the same ones of this file are left out.
    """

    path: Path
    parsed: Parsed
    records: tuple[object, ...]
    present: int
    kept: tuple[str, ...]
    rev: int = 0
    replaced: tuple[tuple[object, object], ...] = ()
    agrees: bool = True
    files: tuple[ReadFile, ...] = ()
    unchanged: int = 0
    purged: tuple[str, ...] = ()
    passed: tuple[Skipped, ...] = ()
    known: tuple[Memory, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many new records of each kind, by a word a person knows."""
        kinds = (
            ("memories", Memory),
            ("bullets", Bullet),
            ("queries", SavedQuery),
            ("judgments", Judgment),
        )
        known = [new for _, new in self.replaced]
        found = {
            word: sum(isinstance(r, kind) for r in self.records)
            - sum(isinstance(r, kind) for r in known)
            for word, kind in kinds
        }
        found["runs"] = (
            len(self.parsed.runs) if any(isinstance(r, UsageTally) for r in self.records) else 0
        )
        found["suggestions"] = sum(isinstance(r, Proposal) for r in self.records)
        return found


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `group` undoes it; `written` < the plan's records when it was cancelled.

    `overtaken` are the keys of records that somebody else stored since the plan was made: theirs
    stay.
    """

    plan: ImportPlan
    written: int
    group: str
    cancelled: bool = False
    overtaken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that changed since it was read or written: its new lines against those that are known,
    and a way in.

    `plan` takes the file's side into the store; it is `None` for a file that brings no records, of
    which `problem` may say why.
    """

    path: Path
    lines: tuple[DiffLine, ...] = ()
    plan: ImportPlan | None = None
    problem: str = ""


class Importer(Service):
    """Takes files into the store."""

    def plan(
        self,
        path: Path,
        *,
        format: str | None = None,
        epoch: datetime | None = None,
        step_hours: float = 1.0,
        theirs: bool = False,
        as_candidates: bool = False,
        issues: bool = False,
        text_name: str = "",
        only: Collection[Path] = (),
        again: bool = False,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> ImportPlan:
        """Read a file, or a folder of notes (or `only` some of them), and compare it with the
        store; writes nothing.

        Raises `UnreadableFile`, `WorkStopped`.

        With `theirs` records that differ are to become what the file says; otherwise they stay as
        they are stored. With `again` what was purged is taken, and notes that another file brought,
        too. `progress` hears of (lines read, lines in all) of JSON lines, and `cancelled` is asked;
        of other files when they are read. What else is said goes into the `ReadContext`.
        """
        rev, context = self._library.revision, ReadContext(
            now=self._context.now(), file=name_of(path), epoch=epoch, step_hours=step_hours, text_name=text_name,
            importance=partial(base_importance, table=table_named(self._context.settings.importance)),
            watch=_watching(path, progress, cancelled), as_candidates=as_candidates, issues=issues)  # fmt: skip
        if format is None and path.is_dir():
            plan = self._folder_plan(path, context, theirs=theirs, only=only, again=again)
            return self._brought(plan if again else self._without_known(self._without_purged(plan)))
        parsed = opening.read_file(path, format=format, context=context)
        context.watch(parsed.records_in, parsed.records_in)
        for playbook in parsed.playbooks:
            if long := next((one for one in playbook.bullets if len(one.content) > MAX_KEPT), None):
                message = f"{path}: the bullet {long.id} has {len(long.content):,} characters; {MAX_KEPT:,} are stored."
                raise UnreadableFile(message, f"{NOTHING}.")
        if parsed.runs or parsed.replies:
            return replace(self._plan_for_books(path, parsed), rev=rev)
        plan = self._file_plan(path, parsed, context, rev, theirs=theirs)
        return self._brought(plan if again else self._without_known(self._without_purged(plan)))

    def _file_plan(
        self, path: Path, parsed: Parsed, context: ReadContext, rev: int, *, theirs: bool
    ) -> ImportPlan:
        """Plan to take the records of a file in."""
        new, kept = self._compared(parsed, path)
        held = len(parsed.memories) + sum(len(book.bullets) for book in parsed.playbooks)
        present = held - sum(isinstance(r, Memory | Bullet) for r in new) - len(kept)
        plan = ImportPlan(path, parsed, tuple(new), present, tuple(kept), rev)
        return self._with_theirs(plan, context) if theirs else self._compared_whole(plan, context)

    def _without_known(self, plan: ImportPlan) -> ImportPlan:
        """Leave out the new notes that another file brought with the same text; their ids begin and
        end alike.
        """
        new = {
            key: record
            for record in plan.records
            if isinstance(record, Memory) and (key := _note_key(record))
        }
        stored = (m for m in self._library.memories.all() if m.status != "archived") if new else ()
        known = {key: m for m in stored if (key := _note_key(m)) in new and m.id != new[key].id}
        left = _without(plan, [new[key] for key in known])
        return replace(left, known=tuple(known.values()))

    def _brought(self, plan: ImportPlan) -> ImportPlan:
        """Note in each memory when it came and from which file, and that only this says that it is
        confirmed.

        What an agent brings comes in as if it had been appended, and bullets wait in Review.
        """
        whole, files = (
            real_name(plan.path),
            {id: real_name(file.path) for file in plan.files for id in file.ids},
        )
        now = self._context.now()
        if self._context.is_agent:
            if plan.parsed.queries:
                require_person(self._context.actor, "import queries or judgments", NOTHING)
            suggested = suggestions(self._context, plan.parsed, plan.path, plan.records)
            said = (appended(record, now) for record in plan.records if isinstance(record, Memory))
            new = (memory for memory in said if memory.id not in self._library.memories)
            plan = replace(plan, records=(*new, *suggested), agrees=False)
        before = {id(new): old for old, new in plan.replaced}
        made = dict[int, object]()
        for record in plan.records:
            if isinstance(record, Memory):
                old, place = before.get(id(record)), files.get(record.id, whole)
                kept = old if isinstance(old, Memory) else None
                made[id(record)] = brought(record, place, now, before=kept)
        records = tuple(made.get(id(record), record) for record in plan.records)
        return replace(
            plan, records=records, replaced=tuple((o, made.get(id(n), n)) for o, n in plan.replaced)
        )

    def _without_purged(self, plan: ImportPlan) -> ImportPlan:
        """Leave out the new records that were purged, or that have the text of one."""
        purged, known = Purged(self._library), {id(new) for _, new in plan.replaced}
        records = [r for r in plan.records if isinstance(r, Memory | Bullet) and id(r) not in known]
        gone = [r for r in records if purged.find(r.content, place_of(r)) is not None]
        return replace(_without(plan, gone), purged=tuple(record.id for record in gone))

    def _folder_plan(
        self,
        path: Path,
        context: ReadContext,
        *,
        theirs: bool,
        only: Collection[Path],
        again: bool,
    ) -> ImportPlan:
        """Plan to take the notes of a folder in, one record of each file or entry."""
        plan = _read_folder(path, context, self._library, again=theirs or again, only=only)
        memories = plan.parsed.memories
        new, kept = self._compared(plan.parsed, path)
        kept += (m.id for m in memories if m.id not in kept and self._says_otherwise(m))
        present = len(memories) - len(new) - len(kept)
        plan = replace(plan, records=tuple(new), present=present, kept=tuple(kept), agrees=not kept)
        if not theirs:
            return plan
        require_person(self._context.actor, "take the file's version of what is stored", NOTHING)
        pairs = tuple(
            _as_in_file(self._library.memories.get(m.id), m) for m in memories if m.id in kept
        )
        return replace(
            plan,
            records=(*new, *(after for _, after in pairs)),
            kept=(),
            replaced=pairs,
            agrees=True,
        )

    def _says_otherwise(self, memory: Memory) -> bool:
        """Tell whether the front matter of a note says something else than the store; votes here
        are no reason.
        """
        stored = self._library.memories.find(memory.id)
        if stored is None or not {"title", "type", "tags"}.isdisjoint(differing(memory, stored)):
            return stored is not None
        said = (memory.helpful_imported, memory.harmful_imported)
        known = (
            (stored.helpful_imported, stored.harmful_imported),
            (stored.helpful_count, stored.harmful_count),
        )
        return said != (0, 0) and said not in known

    def _compared(self, parsed: Parsed, path: Path) -> tuple[list[object], list[str]]:
        """Return the records that the store lacks, and the ids of those that it has with another
        text.
        """
        new: list[object] = []
        kept: list[str] = []
        stored_too = self._library.memories.all() if parsed.memories else ()
        known = {alias for m in stored_too for alias in m.aliases}
        for memory in parsed.memories:
            stored = self._library.memories.find(memory.id)
            if stored is None and memory.id not in known:
                new.append(memory)
            elif stored is not None and stored.content != memory.content:
                kept.append(memory.id)
        for playbook in parsed.playbooks:
            parts, differing = new_parts(self._library, playbook, path)
            new += parts
            kept += differing
        queries = self._library.queries.all() if parsed.queries else ()
        saved = {name: query for query in queries for name in (query.topic, query.id) if name}
        return [*new, *(r for query in parsed.queries for r in self._query(query, saved))], kept

    def _compared_whole(self, plan: ImportPlan, reading: ReadContext) -> ImportPlan:
        """Note whether a file that holds known records says something else of one; an export would
        take that back.
        """
        if not plan.present or plan.kept or not is_written(plan.parsed.format):
            return replace(plan, agrees=not plan.kept)
        known = FileStates(self._library).known(plan.path)
        if known is not None and known.sha256 == plan.parsed.digest:
            return plan
        return replace(plan, agrees=not replaced(self._context, plan.path, plan.parsed, reading))

    def _with_theirs(self, plan: ImportPlan, reading: ReadContext) -> ImportPlan:
        """Plan to store what the file says where it differs."""
        require_person(self._context.actor, "take the file's version of what is stored", NOTHING)
        pairs = replaced(self._context, plan.path, plan.parsed, reading)
        ids = {memory.id for memory in plan.parsed.memories}
        ids |= {bullet.id for book in plan.parsed.playbooks for bullet in book.bullets}
        known = sum(isinstance(new, Memory | Bullet) and new.id in ids for _, new in pairs)
        records = (*in_place(plan.records, plan.parsed, plan.path), *(new for _, new in pairs))
        present = max(plan.present + len(plan.kept) - known, 0)
        return replace(plan, records=records, kept=(), present=present, replaced=pairs)

    def _plan_for_books(self, path: Path, parsed: Parsed) -> ImportPlan:
        """Plan what only has a meaning for a playbook: runs that used it, suggestions how to change
        it.
        """
        if parsed.runs:
            require_person(self._context.actor, "import how often bullets helped", NOTHING)
        tallies, parsed = new_tallies(self._context, parsed, path)
        text = opening.read_text(path) if parsed.replies else ""
        found = [*tallies, *new_proposals(self._context, parsed, path, text)]
        plan = ImportPlan(path, parsed, tuple(found), 0, ())
        return replace(
            plan, present=parsed.records_read - plan.counts["runs"] - plan.counts["suggestions"]
        )

    def difference(self, path: Path, folders: FolderExporter) -> Difference:
        """Return what changed in a file that the store knows. Raises `WorkbenchError` for an
        unreadable one.
        """
        states, place, only = FileStates(self._library), path, tuple[Path, ...]()
        known, now = states.known(path), present(path)
        root = None if known is None else root_of(path, known.format, self._library)
        if root is not None:
            edits = folders.plan(root, force=True, only=path).edits
            lines = tuple(
                line for edit in edits for line in diff_texts(edit.sides[1], edit.sides[0])
            )
            place, only = root, (path,)
        else:
            base = states.base(path)
            lines = () if base is None or now is None else diff_texts(base, now)
        try:
            plan = self.plan(place, theirs=True, only=only)
        except WorkbenchError as error:
            return Difference(path, lines, problem=error.message)
        return Difference(path, lines, plan if plan.parsed.records_in or plan.records else None)

    def carry_out(
        self,
        plan: ImportPlan,
        *,
        as_new: bool = False,
        actor: str = "",
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> ImportReport:
        """Write what a plan holds, as `actor` (`import:FILE` unless told otherwise).

        `as_new` lets the memories feed the reflection gauge. What somebody else stored since the
        plan was made is left as it is.
        """
        name, group = name_of(Path(plan.path.name)), self._group()
        own = self._context.actor if self._context.is_agent else f"import:{name}"
        actor, label = actor or own, f"import {name}"
        guard = Guard(self._library, plan.rev, plan.replaced)
        done, overtaken = 0, list[str]()
        for part, chunk in enumerate(_chunks(plan.records, CHUNK), 1):
            if cancelled is not None and cancelled():
                return ImportReport(plan, done - len(overtaken), group, True, tuple(overtaken))
            done += len(chunk)
            more = guard.any_new(plan.records, done)
            with self._library.transaction(actor, label, group=group, part=part, more=more) as tx:
                new, there = guard.still_new(chunk)
                _write(tx, new)
                if as_new and new:
                    self._count(tx, new)
                overtaken += there
                if done == len(plan.records) and not overtaken:
                    self._agree(tx, plan)
            if progress is not None:
                progress(done, len(plan.records))
        if not plan.records:
            self._agree_alone(plan, actor)
        return ImportReport(plan, done - len(overtaken), group, False, tuple(overtaken))

    def _group(self) -> str:
        """Name a new group: what an agent brings is its own, and nothing that a file brought."""
        return f"{'append-' if self._context.is_agent else IMPORT}{uuid.uuid4().hex[:12]}"

    def put(self, tx: Tx, plan: ImportPlan) -> None:
        """Write what a plan holds in an open transaction, in which it was made; its group says that
        it is an import.
        """
        _write(tx, plan.records)
        self._agree(tx, plan)

    def _agree_alone(self, plan: ImportPlan, actor: str) -> None:
        """Note what was read of a file that brings nothing new; there is nothing to take back in
        that.
        """
        with self._library.transaction(
            actor, f"read {name_of(Path(plan.path.name))}", kind="access"
        ) as tx:
            self._agree(tx, plan)

    def _agree(self, tx: Tx, plan: ImportPlan) -> None:
        """Note what was read where; and that store and file agree, unless the store says otherwise.

        An export then tells whose changes are whose, and which file it may replace.
        """
        states = FileStates(self._library)
        kept = set(plan.kept)
        for file in plan.files:
            if kept.isdisjoint(file.ids):
                states.agree(tx, file.path, file.format, file.digest, "read")
        digest, format = plan.parsed.digest, plan.parsed.format
        if not digest or not is_written(format):
            return
        if plan.agrees:
            states.read(tx, plan.path, format, digest)
        elif states.known(plan.path) is None:
            states.agree(tx, plan.path, format, "", "read")

    def _count(self, tx: Tx, records: Sequence[object]) -> None:
        state, now = state_of(self._context), self._context.now()
        for record in records:
            if isinstance(record, Memory) and not record.is_synthetic:
                state = record_observation(state, record.importance_score, now)
        tx.put(state)

    def _query(self, query: JudgedQuery, saved: Mapping[str, SavedQuery]) -> Iterator[object]:
        at = self._context.now()
        # A query that is saved already may be named by its id or its topic, as TREC judgments do.
        known = saved.get(query.topic or query.text)
        name = known.id if known else query_id(query.text, query.now)
        if name not in self._library.queries:
            yield SavedQuery(name, query.text, at, query.now, query.tags, topic=query.topic)
        for memory, grade in query.relevant.items():
            if judgment_id(name, memory) not in self._library.judgments:
                yield Judgment(judgment_id(name, memory), name, memory, grade, "import", at)


def _write(tx: Tx, records: Sequence[object]) -> None:
    for record in records:
        if isinstance(record, Removal):
            tx.delete(record.what)
        else:
            tx.put(record)


def _as_in_file(stored: Memory, file: Memory) -> tuple[Memory, Memory]:
    """Return a stored memory of a note, and the same one as its file has it now."""
    metadata = {**stored.metadata, **file.metadata}
    return stored, replace(
        stored, content=file.content, summary=file.summary, category=file.category, tags=file.tags,
        related=file.related, metadata=metadata,
    )  # fmt: skip


_NOTES = frozenset({"cc", "doc", "note"})
"""How the ids of notes begin, which are made from the folder that they lie in and end with what
they are.
"""


def _note_key(memory: Memory) -> tuple[str, str, str] | None:
    """Return what notes have in common that are the same one in two places; `None` for another
    memory.
    """
    start, _, rest = memory.id.partition("-")
    return (start, rest.rpartition("-")[2], memory.content) if start in _NOTES else None


def _without(plan: ImportPlan, records: Sequence[object]) -> ImportPlan:
    """Return a plan that leaves out some of its records."""
    left = set(map(id, records))
    rest = tuple(record for record in plan.records if id(record) not in left)
    return replace(plan, records=rest, agrees=plan.agrees and not left)


def _watching(path: Path, progress: Progress | None, cancelled: Cancelled | None) -> Progress:
    """Return what a reader calls with how far it is; it raises `WorkStopped` when it is to stop."""

    def watch(done: int, total: int) -> None:
        if cancelled is not None and cancelled():
            raise WorkStopped(f"Reading {path.name} was stopped.", "Nothing was written.")
        if progress is not None:
            progress(done, total)

    return watch


def _chunks(records: Sequence[object], size: int) -> Iterator[Sequence[object]]:
    return (records[i : i + size] for i in range(0, len(records), size))


# Folders of notes: every file read by what it is, links among them resolved, unchanged ones passed
# over.


_WHY: dict[Why, str] = {
    "link": "links", "special": "not regular files", "large": "larger than 4 MB", "unreadable": "unreadable",
    "deep": "too deep in the folder", "many": "beyond the first 10,000 files", "hidden": "hidden",
    "session": "not part of the session",
}  # fmt: skip


def passed_over(passed: Iterable[Skipped]) -> dict[str, list[str]]:
    """Return the names of what is not read of a folder by the reason, files that are no notes by
    their suffix.
    """
    found: dict[str, list[str]] = {}
    for one in passed:
        why = _WHY.get(one.why) or f"{PurePosixPath(one.path).suffix.lower() or 'other'} files"
        found.setdefault(why, []).append(one.path)
    return found


def _read_folder(
    path: Path, context: ReadContext, library: Library, *, again: bool, only: Collection[Path]
) -> ImportPlan:
    """Read the notes of a folder, or `only` some of them; those that are as they were read last
    only with `again`. What of them is new is left to be found out.

    Raises `UnreadableFile`.
    """
    rev, folder = library.revision, open_folder(path, only)
    documents = tuple(
        e for e in folder.documents if notes.is_note(e.file) and (not only or e.file in only)
    )
    opener = FolderFiles(folder, context)
    issues, found, files, same, whole = list[Issue](), dict[str, Memory](), list[ReadFile](), 0, 0
    known = {state.id: state.sha256 for state in library.files.all()}
    for done, entry in enumerate(documents, 1):
        context.watch(done, len(documents))
        # The folder is named as it really is and no link in it is followed, so a file's path is its
        # real name.
        before = None if again else known.get(name_of(entry.file))
        if before is not None and what_became(entry.file, before) is None:
            same += 1
            continue
        try:
            file = opener.open(entry)
            read = file.read()
        except UnreadableFile as error:
            issues.append(Issue(entry.path, 1, error.message, 1))
            continue
        issues += [replace(issue, file=entry.path) for issue in read.issues]
        whole += read.records_in
        if others := read.records_read - len(read.memories):
            issues.append(
                Issue(entry.path, 1, f"{file.kind.title}: import that file itself", others)
            )
            continue
        ids = frozenset(memory.id for memory in read.memories)
        files.append(ReadFile(entry.file, read.format, file.sha256, ids))
        for memory in read.memories:
            found.setdefault(memory.id, memory)
    memories = tuple(_linked(found, library.memories.all())) if found else ()
    parsed = Parsed(notes.NAME, memories, issues=tuple(issues), records_in=whole)
    xml = tuple(Skipped(e.path, "kind") for e in folder.documents if not notes.is_note(e.file))
    passed = () if only else (*folder.skipped, *folder.passed, *xml)
    return ImportPlan(
        path, parsed, (), 0, (), rev, files=tuple(files), unchanged=same, passed=passed
    )


def _linked(found: dict[str, Memory], held: Iterable[Memory]) -> Iterator[Memory]:
    """Yield the memories with what they link to as related ones, by path, name, title or permalink."""
    wanted = {
        memory.id: list(dict.fromkeys(notes.links_in(memory.content))) for memory in found.values()
    }
    names: dict[str, str] = {}
    for memory in (*found.values(), *held) if any(wanted.values()) else ():
        for name in _names(memory):
            names.setdefault(name, memory.id)
    for memory in found.values():
        targets = (_target(link, memory.source.file or "", names) for link in wanted[memory.id])
        ids = [id for id in targets if id is not None and id != memory.id]
        yield (
            replace(memory, related=tuple(dict.fromkeys((*memory.related, *ids))))
            if ids
            else memory
        )


def _names(memory: Memory) -> Iterator[str]:
    file = PurePosixPath(memory.source.file or "")
    said = (str(file), str(file.with_suffix("")) if file.name else "", file.stem, memory.summary)
    yield from (name.casefold() for name in said if name and name != ".")
    permalink = memory.metadata.get("permalink")
    if isinstance(permalink, str):
        yield permalink.strip("\"'").casefold()


def _target(link: str, file: str, names: dict[str, str]) -> str | None:
    beside = str(PurePosixPath(file).parent / link).casefold()
    tried = (
        beside,
        link.casefold(),
        link.casefold().removeprefix("./"),
        PurePosixPath(link).stem.casefold(),
    )
    return next((names[name] for name in tried if name in names), None)


# What an import would write, in words: the same at the command line and in the app.


ONE = {
    "memories": "memory", "bullets": "bullet", "queries": "query", "judgments": "judgment", "runs": "run",
    "suggestions": "suggestion",
}  # fmt: skip
"""The word for one record of each kind that a plan counts."""


SHOWN = 3
"""How many names are told of what is not read for one reason."""


def said(record: object) -> str:
    """Say what a record is that would be written; the text may be long, and is not made safe for a
    terminal.
    """
    match record:
        case Memory():
            return f"{record.id}  {record.status} {record.observation_type}  {record.line}"
        case Bullet():
            return f"[{record.id}] helpful={record.helpful_count} harmful={record.harmful_count} :: {record.content}"
        case Section():
            return f"section {record.name}"
        case Book():
            return f"playbook {record.id}"
        case SavedQuery():
            return f"query “{record.text}”"
        case Judgment():
            return f"judgment {record.memory} = {record.grade}"
        case Proposal():
            return f"suggestion {record.title}"
        case UsageTally():
            return f"{record.count} runs of the playbook {record.book}"
        case _:
            return str(getattr(record, "id", record))


def replacement_said(old: object, new: object) -> list[str]:
    """Say what a stored record is and becomes, as lines with signs; only its place in the file
    changes: `~`.
    """
    out = (isinstance(new, Bullet) and new.state == "deprecated") or (
        isinstance(new, Memory) and new.status == "archived"
    )
    if out or isinstance(new, Removal):
        return [f"- {said(old)}"]
    before, after = said(old), said(new)
    return [f"- {before}", f"+ {after}"] if before != after else [f"~ {after}"]


def counts_said(plan: ImportPlan) -> list[str]:
    """Return "3 memories", "1 bullet" for each kind of which anything is new."""
    return [f"{n:,} {ONE[kind] if n == 1 else kind}" for kind, n in plan.counts.items() if n]


def skipped(plan: ImportPlan) -> int:
    """Return how many records of the file are not read; why is said for each place of the file."""
    return sum(issue.records for issue in plan.parsed.issues)


def passed_said(passed: Sequence[Skipped], most: int | None = SHOWN) -> list[str]:
    """Return a line for each reason why something in a folder is not read: how many, and the first
    names.
    """
    lines = []
    for why, names in passed_over(passed).items():
        more = ", …" if len(names) > len(names[:most]) else ""
        lines.append(f"skipped, {why}: {len(names):,} ({', '.join(names[:most])}{more})")
    return lines
