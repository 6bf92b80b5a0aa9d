"""The demo store: the shipped files, imported into a fresh folder, with their times moved to the
present.
"""

import contextlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench.core.agents.actors import stands_by
from workbench.core.agents.document import FollowedFolder
from workbench.core.agents.episodes.episode import Episode, EpisodeBody
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.patterns.schema import pattern_from
from workbench.core.agents.read import AgentRead
from workbench.core.document import from_doc
from workbench.core.files.fresh import open_handle
from workbench.core.files.locks import locked, try_lock
from workbench.core.record import UnreadableFile, iso, parse_time
from workbench.core.reflection.trigger import ReflectionState
from workbench.core.review.proposal import Proposal
from workbench.core.stream.confidence import unmarked
from workbench.core.stream.memory import Memory, Verdict, Vote, vote_id
from workbench.core.text import counted
from workbench.core.tuning.judgment import Judgment, SavedQuery, judgment_id, query_id
from workbench.services.agents.documents.instructions import open_folder
from workbench.services.agents.episodes import Episodes
from workbench.services.open import Workbench
from workbench.services.safety.secret_filter import IMPORT
from workbench.store.library import Library

# What the agents of the demo did and learned: its episodes, its patterns, and how applying those
# went.


EPISODES, PATTERNS, APPLICATIONS = "episodes.jsonl", "patterns.jsonl", "applications.jsonl"

LEARNER = "agent:claude"
"""The agent that noted the patterns; episodes say themselves whose they are."""

Doc = dict[str, Any]


def act(bench: Workbench, folder: Path, shift: timedelta, actor: str) -> None:
    """Add the episodes and patterns of a folder, moved in time; the `actor` counted how they were
    used.

    A pattern stands where its applications put it, as a validation of today finds it.
    """
    docs = [_moved_session(doc, shift) for doc in _lines(folder / EPISODES)]
    for agent in sorted({_agent(doc) for doc in docs}):
        mine = [doc for doc in docs if _agent(doc) == agent]
        theirs = Episodes(replace(bench.context, actor=f"agent:{agent}"))
        theirs.store_all(mine, label=f"store {len(mine)} episodes")
    done = _applications(bench, _lines(folder / APPLICATIONS), docs)
    patterns = [_pattern(doc, shift, done) for doc in _lines(folder / PATTERNS)]
    with bench.library.transaction(LEARNER, f"add {len(patterns)} patterns") as tx:
        for pattern in patterns:
            tx.put(pattern)
        for one in done:
            tx.put(one)
    _count(bench, docs, done, actor)
    with bench.library.transaction(actor, "validate all patterns") as tx:
        for found in bench.patterns.validations():
            if found.after != found.before:
                tx.put(found.after)


def _lines(file: Path) -> list[Doc]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _moved_session(doc: Doc, shift: timedelta) -> Doc:
    return {**doc, "timestamp": iso(parse_time(doc["timestamp"]) + shift)}


def _agent(doc: Mapping[str, Any]) -> str:
    return str(doc["metadata"]["agent"])


def _applications(bench: Workbench, rows: Sequence[Doc], docs: Sequence[Doc]) -> list[Application]:
    """Return how patterns were applied in episodes: at their end, and for as long as they took."""
    bodies = {str(doc["episode_id"]): EpisodeBody(doc) for doc in docs}
    made = []
    for row in rows:
        body = bodies[row["episode"]]
        seconds = float(str(body.get("execution.duration")))
        at = min((body.at or bench.context.now()) + timedelta(seconds=seconds), bench.context.now())
        id, note = f"{row['pattern']}/{body.id}", str(row.get("note", ""))
        actor = f"agent:{_agent(body.doc)}"
        made.append(
            Application(
                id,
                row["pattern"],
                body.id,
                row["outcome"],
                at,
                note=note,
                time=seconds,
                actor=actor,
            )
        )
    return made


def _pattern(doc: Doc, shift: timedelta, done: Sequence[Application]) -> Pattern:
    made: datetime = parse_time(doc["created_at"]) + shift
    times = [one.at for one in done if one.pattern == doc["pattern_id"]]
    pattern = pattern_from({**doc, "created_at": iso(made)}, made)
    return replace(pattern, usage_count=len(times), last_used=max(times, default=None))


def _count(bench: Workbench, docs: Sequence[Doc], done: Sequence[Application], actor: str) -> None:
    """Count how often agents read each episode, and which patterns rest on it."""
    episodes = Episodes(bench.context)
    with bench.library.transaction(actor, "how episodes were used", kind="access") as tx:
        for doc in docs:
            at, many = (
                bench.library.table(Episode).get(doc["episode_id"]).at,
                doc.get("lifecycle", {}),
            )
            use = episodes.use_of(doc["episode_id"])
            if many:
                tx.put(replace(use, access_count=many["access_count"], last_accessed_at=at))
        for one in done:
            episodes.refer(tx, [one.episode], one.pattern)


ANCHOR = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)
"""The present of the shipped files; everything in them is before it."""

ACTOR = "demo"
"""Not a person: undo in the demo starts from what the person does."""

BEGUN = datetime(2026, 2, 6, 9, tzinfo=UTC)
"""The moment before everything in the shipped files; the playbook was there already."""

FILES = ("playbook.txt", "memories.jsonl", "queries.jsonl")

READS = "reads.jsonl"
"""What two agents asked in those weeks, and were given by the ranking at that moment."""

DECISIONS, VOTES, RECALLED = "decisions.jsonl", "votes.jsonl", "recalled.jsonl"
"""What a person decided in those weeks, what agents voted, and what they recalled from documents."""

DOCUMENTS, SESSIONS, NOTES = "documents", "sessions", "notes"
"""The folders of documents: three sessions of external memory, and notes."""

TRUSTED = ("tp-webhooks", "tp-audit", NOTES)
"""The folders of documents that count as looked at; the one that is left shows how that is done."""

PROJECT = "scratch-project"
"""The folder of the files that agents read, to try promotion on."""

PLACED = "CLAUDE.md"
"""The file of it in which what was promoted there stands."""

WRITTEN = timedelta(days=4)
"""How long before the present documents were written that do not say when."""

_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

R = TypeVar("R")


class Happened(NamedTuple):
    """What became of a record at a moment: what was done (a place in `_DONE`), and by whom."""

    at: datetime
    done: int
    actor: str
    record: Memory | Proposal | AgentRead | Vote


_DONE: tuple[tuple[str, str, str], ...] = (
    ("keep", "memory", "memories"),
    ("decide on", "proposal", ""),
    ("keep", "reading", ""),
    ("vote on", "memory", "memories"),
)
"""What happens on a day of the demo, in its order."""

_KEPT, _DECIDED, _READ, _VOTED = range(len(_DONE))


def fill(bench: Workbench, folder: Path) -> None:
    """Import the demo files of `folder` into an empty store, so that they end a moment ago.

    The memories, what a person decided, and what agents read and voted are in the history on the
    days on which it happened.
    """
    shift = bench.context.now() - ANCHOR
    for name in FILES:
        plan = bench.importer.plan(folder / name)
        names = {r.id: _moved_query(r, shift).id for r in plan.records if isinstance(r, SavedQuery)}
        moved = tuple(_moved(record, shift, names) for record in plan.records)
        memories = {record.id: record for record in moved if isinstance(record, Memory)}
        if memories:
            _happen(bench.library, _happened(folder, memories, shift), memories)
            continue
        at = BEGUN + shift if name == FILES[0] else bench.context.now()
        with bench.library.dated(at):
            bench.importer.carry_out(replace(plan, records=moved), actor=ACTOR)
    _start_gauge(bench)
    bench.library.save_checkpoint()


def _happened(folder: Path, memories: Mapping[str, Memory], shift: timedelta) -> Iterator[Happened]:
    """Yield what happened to memories in those weeks; a memory begins without its votes, and
    undecided.
    """
    given: Counter[tuple[str, Verdict]] = Counter()
    for vote in _records(Vote, folder / VOTES):
        id, at = vote_id(vote.table, vote.target, vote.actor, vote.session), vote.at + shift
        given[vote.target, vote.verdict] += 1
        yield Happened(at, _VOTED, vote.actor, replace(vote, id=id, at=at))
    accepted: set[str] = set()
    for decision in _records(Proposal, folder / DECISIONS):
        made, at = decision.created_at + shift, (decision.decided_at or ANCHOR) + shift
        yield Happened(at, _DECIDED, ACTOR, replace(decision, created_at=made, decided_at=at))
        accepted.update(decision.evidence if decision.state == "accepted" else ())
    yield from _read(folder / READS, shift)
    for memory in memories.values():
        begun = replace(
            replace(memory, status="signal", archived_reason=None)
            if memory.id in accepted
            else memory,
            helpful_imported=memory.helpful_imported - given[memory.id, "helpful"],
            harmful_imported=memory.harmful_imported - given[memory.id, "harmful"],
        )
        yield Happened(memory.created_at, _KEPT, ACTOR, begun)


def _happen(library: Library, happened: Iterable[Happened], memories: Mapping[str, Memory]) -> None:
    """Put into the history what happened, as one change for each day, doing and actor; `memories`
    are as they become.
    """
    days: dict[tuple[date, int, str], list[Happened]] = defaultdict(list)
    for one in sorted(happened, key=lambda one: one.at):
        days[one.at.date(), one.done, one.actor].append(one)
    last = min(rows[0].at for rows in days.values())
    for (day, done, actor), rows in sorted(days.items()):
        last = max(last, rows[-1].at)
        verb, word, plural = _DONE[done]
        label = f"{verb} {counted(len(rows), word, plural)}"
        group = f"{IMPORT}{day}" if done == _KEPT else ""
        with (
            library.dated(last),
            library.transaction(
                actor, label, group=group, kind="access" if done == _READ else "edit"
            ) as tx,
        ):
            for row in rows:
                tx.put(row.record)
                if isinstance(row.record, Vote):
                    tx.put(_voted(library.memories.get(row.record.target), row.record.verdict))
                elif isinstance(row.record, Proposal) and row.record.state == "accepted":
                    id = row.record.evidence[0]
                    begun, end = library.memories.get(id), memories[id]
                    why = end.archived_reason
                    tx.put(replace(begun, status=end.status, archived_reason=why))


def surround(bench: Workbench, folder: Path, place: Path) -> None:
    """Add to a demo store what agents did, learned and wrote in those weeks.

    The documents are copied to a `place`, and followed; those that `TRUSTED` names count as looked
    at. Nothing of this ranks.
    """
    shift = bench.context.now() - ANCHOR
    library = bench.library
    shift = timedelta(seconds=int(shift.total_seconds()))
    sessions = _copied(folder / DOCUMENTS / SESSIONS, place / SESSIONS, shift)
    notes = _copied(folder / DOCUMENTS, place, shift, (NOTES,))
    with library.transaction(ACTOR, "follow what agents keep in documents") as tx:
        for root in (*sessions, *notes):
            tx.put(FollowedFolder(str(root.resolve()), bench.context.now()))
    with library.transaction(ACTOR, "keep what was recalled", kind="access") as tx:
        for read in _read(folder / RECALLED, shift):
            tx.put(read.record)
    act(bench, folder, shift, ACTOR)
    if stands_by(bench.context.actor):
        for root in (*sessions, *notes):
            if root.name in TRUSTED:
                bench.documents.trust(bench.documents.opened(root))
    library.save_checkpoint()


def lay_out(bench: Workbench, folder: Path) -> Path:
    """Give a demo store a scratch project: files that agents read, with what was promoted to them;
    return its folder.

    It lies in the store's own folder, so that promoting, importing and checking touch no file of
    the person's.
    """
    from workbench.services.promotion.placements import Placing, scratch_of
    from workbench.services.promotion.promotion import Promotion, Target

    library, place = bench.library, scratch_of(bench.library.folder)
    shutil.copytree(folder / PROJECT, place)
    placing = Placing(library)
    there = [memory for memory in library.memories.all() if memory.promoted_to == PLACED]
    promotion = Promotion(bench.context, lambda: bench.playbooks, bench.safety, placing)
    placements = promotion.drafted(there, Target("block", PLACED), bench.context.now())
    with (
        placing.guarded() as follow,
        library.transaction(ACTOR, f"what was promoted to {PLACED}") as tx,
    ):
        for placement in placements:
            tx.put(placement)
        follow()
    library.save_checkpoint()
    return place


def forget(bench: Workbench) -> None:
    """Let this machine remember nothing of a demo store's documents, which go with it."""
    for root in bench.documents.followed():
        with suppress(UnreadableFile):
            bench.documents.seen(open_folder(root)).forget()


def _records(kind: type[R], file: Path) -> list[R]:
    """Return the records of a file, where there is one; one without an id gets it from who puts
    it.
    """
    if not file.exists():
        return []
    return [
        from_doc(kind, {"id": "", **json.loads(line)})
        for line in file.read_text("utf-8").splitlines()
    ]


def _voted(memory: Memory, verdict: Verdict) -> Memory:
    if verdict == "helpful":
        return replace(memory, helpful_votes=memory.helpful_votes + 1)
    return replace(memory, harmful_votes=memory.harmful_votes + 1)


def _copied(
    start: Path, end: Path, shift: timedelta, names: tuple[str, ...] = ()
) -> tuple[Path, ...]:
    """Copy the folders below one, with the times in their texts and of their files moved; return
    the copies.
    """
    made = []
    for folder in sorted(start / name for name in names) if names else sorted(start.iterdir()):
        texts = {
            file: file.read_text("utf-8") for file in sorted(folder.rglob("*")) if file.is_file()
        }
        last = (
            max(map(parse_time, _TIME.findall("\n".join(texts.values()))), default=ANCHOR - WRITTEN)
            + shift
        )
        for file, text in texts.items():
            copy = end / file.relative_to(start)
            copy.parent.mkdir(parents=True, exist_ok=True)
            moved = _TIME.sub(lambda found: iso(parse_time(found[0]) + shift), text)
            copy.write_text(moved, "utf-8", newline="\n")
        for path in (end / folder.name).rglob("*"):
            os.utime(path, (last.timestamp(),) * 2)
        made.append(end / folder.name)
    return tuple(made)


def _moved_query(query: SavedQuery, shift: timedelta) -> SavedQuery:
    """Return a query at its new moment, under the name that it then has."""
    now = query.now + shift if query.now is not None else None
    return replace(query, id=query_id(query.text, now), now=now)


def _moved(record: object, shift: timedelta, names: Mapping[str, str]) -> object:
    if isinstance(record, Memory):
        return replace(
            record,
            metadata=unmarked(record.metadata),
            created_at=record.created_at + shift,
            last_accessed_at=record.last_accessed_at + shift,
            last_feedback_at=record.last_feedback_at + shift if record.last_feedback_at else None,
            review_after=record.review_after + shift if record.review_after else None,
        )
    if isinstance(record, SavedQuery):
        return _moved_query(record, shift)
    if isinstance(record, Judgment):
        name = names[record.query]
        return replace(record, id=judgment_id(name, record.memory), query=name)
    return record


def _read(file: Path, shift: timedelta) -> Iterator[Happened]:
    """Yield the readings of a file; the memories bring the counts of theirs along."""
    for read in _records(AgentRead, file):
        at = read.at + shift
        yield Happened(at, _READ, f"agent:{read.agent}", replace(read, at=at))


def _start_gauge(bench: Workbench) -> None:
    """Set the reflection gauge as if the last reflection had been when the newest candidate was
    made.
    """
    memories = bench.library.memories.all()
    last = max((m.created_at for m in memories if m.is_synthetic), default=bench.context.now())
    since = [m for m in memories if m.created_at > last and not m.is_synthetic]
    state = ReflectionState(sum(m.importance_score for m in since), len(since), last)
    with bench.library.transaction(ACTOR, "start the reflection gauge") as tx:
        tx.put(state)


# The folder of a demo that is not kept.


PREFIX = "workbench-demo-"
LOCK = "running"
"""The file in the folder that the demo's process has locked; it is removed last."""


@contextmanager
def demo_folder() -> Iterator[Path]:
    """Make an empty folder for a demo, and take it away at the end; before that, those that killed
    demos left.
    """
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        handle = _locked(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        yield folder
    finally:
        try:
            _remove(folder)
        finally:
            os.close(handle)


def sweep(place: Path) -> tuple[Path, ...]:
    """Remove the folders of this user's demos below `place` whose processes are gone; return them."""
    return tuple(folder for folder in sorted(place.glob(f"{PREFIX}*")) if _swept(folder))


def _locked(folder: Path) -> int:
    """Make the lock file, which has its name once it is locked: nobody ever finds it without a
    holder that lives.
    """
    new = folder / f"{LOCK}.new"
    handle = open_handle(new, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try_lock(handle)
    new.rename(folder / LOCK)
    return handle


def _swept(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        with locked(folder / LOCK) as alone:
            if alone:
                _remove(folder)
                return not folder.exists()
    return False


def _remove(folder: Path) -> None:
    """Remove a folder whose lock this process holds; what cannot be removed now is found by the
    next demo's sweep.
    """
    with contextlib.suppress(OSError):
        for one in folder.iterdir():
            if one.name == LOCK:
                continue
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one, ignore_errors=True)
            else:
                one.unlink()
        if list(folder.iterdir()) == [folder / LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
