"""Episodes from files and into files: JSON as source 004 has it, and agent-playbook's
`episodic/*.json`.
"""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from workbench.core.agents.episodes.criteria import (
    CLOSED,
    EpisodeCluster,
    Phase,
    phase_of,
)
from workbench.core.agents.episodes.episode import (
    PREFIX,
    Episode,
    EpisodeBody,
    EpisodeNote,
    EpisodeUse,
    head,
    read_episode,
    tagged,
    unused,
    uses_id,
)
from workbench.core.agents.episodes.episode import Outcome as Ended
from workbench.core.agents.patterns.pattern import Application, Basis, Outcome, Pattern
from workbench.core.duplicates.dedup import content_words
from workbench.core.files.atomic import write_file
from workbench.core.record import (
    InvalidRecord,
    UnknownRecord,
    UnreadableFile,
    as_list,
    as_object,
    iso,
    parse_time,
    why_failed,
    without,
)
from workbench.core.text import clean_for_store
from workbench.core.values import cleaned, texts_in
from workbench.core.words import words
from workbench.formats import episodes as agent_playbook
from workbench.formats.episodes import Found, episodes_in, files_in, read_text
from workbench.services.agents.sessions import AgentSession, AgentSessions
from workbench.services.context import Context
from workbench.services.safety.secret_filter import IMPORT, SecretFilter
from workbench.services.safety.texts import body_of, name_of, packed
from workbench.store.blobs import BlobProblem
from workbench.store.library import Tx

# What episodes say of patterns by themselves: those that they name, and those that were served to
# them in time.


OUTCOMES: Mapping[Ended, Outcome] = {
    "SUCCESS": "success",
    "PARTIAL": "partial",
    "FAILURE": "failure",
}

APPLIED = ("metadata.patterns_applied", "metadata.strategies_applied")
"""Where an episode names the patterns that were applied in it, by their ids, names or approaches."""

MOST = 50
"""Patterns, and memories, that one episode may name."""

FOLLOWED, SAID = 1 / 2, 2 / 3
"""The share of a pattern's steps that a trace has to have, and the share of a step's words in one
of its entries.
"""


class EpisodeEvidence:
    """Compares episodes with the patterns and readings of a store as they are now."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._patterns = context.library.table(Pattern)

    def of(self, episode: Episode, body: EpisodeBody) -> Iterator[Application]:
        """Yield a row for each pattern that an episode names or was served; `body` is the masked
        one.
        """
        if not len(self._patterns):
            return
        found: dict[str, Basis] = {}
        for one in self._served(body):
            found[one.id] = "followed" if follows(one, body) else "served"
        found |= {one.id: "named" for one in self._called(episode, body)}
        seconds = body.number("execution.duration")
        lasted = timedelta(seconds=0 if body.get("metadata.captured") else seconds or 0)
        at = min(episode.at + lasted, self._context.now())
        for id, basis in found.items():
            if basis != "served" and body.is_unproven:
                basis = "unproven"
            yield Application(
                f"{id}/{episode.id}", id, episode.id, OUTCOMES[episode.outcome], at, body.task, "", seconds, None,
                self._context.actor, basis=basis,
            )  # fmt: skip

    def _called(self, episode: Episode, body: EpisodeBody) -> Iterator[Pattern]:
        names = dict.fromkeys(
            name.strip().casefold() for path in APPLIED for name in body.texts(path)
        )
        for name in list(names)[:MOST]:
            yield from (one for one in self._names.get(name, ()) if _calls(one, name, episode))

    @cached_property
    def _names(self) -> dict[str, list[Pattern]]:
        names = defaultdict[str, list[Pattern]](list)
        for one in self._patterns.all():
            if one.status != "deprecated":
                for name in {one.id.casefold(), one.name.casefold(), _approach(one)} - {""}:
                    names[name].append(one)
        return names

    def _served(self, body: EpisodeBody) -> Iterator[Pattern]:
        """Yield the patterns that the session of an episode was served before its outcome."""
        duration, end = body.number("execution.duration"), self._context.now()
        if body.at is not None and duration is not None:
            # Capture notes when a task ended, an agent when it began.
            end = min(
                end,
                body.at if body.get("metadata.captured") else body.at + timedelta(seconds=duration),
            )
        reads = [
            read
            for one in self._sessions.get(body.session, ())
            for read in one.reads
            if read.at <= end
        ]
        for id in dict.fromkeys(id for read in reads for id in read.documents):
            pattern = self._patterns.find(id)
            if pattern is not None and pattern.status != "deprecated":
                yield pattern

    @cached_property
    def _sessions(self) -> dict[str, list[AgentSession]]:
        """The sessions by their ids; a server's and that of its hooks are one."""
        found = defaultdict[str, list[AgentSession]](list)
        for one in AgentSessions(self._context).readings():
            for id in {one.id, *(read.session for read in one.reads)} - {""}:
                found[id].append(one)
        return found


def follows(pattern: Pattern, body: EpisodeBody) -> bool:
    """Tell whether at least half of what a pattern says to do stands in the trace of an episode."""
    entries = [" ".join(texts_in(one)) for one in as_list(body.get("execution.trace"))]
    done = [set(content_words(text)) for text in (*entries, *body.texts("metadata.tools_used"))]
    steps = [step for text in _steps(pattern) if (step := set(content_words(text)))]
    return bool(steps) and sum(_stands(step, done) for step in steps) >= FOLLOWED * len(steps)


def _stands(step: set[str], done: Iterable[set[str]]) -> bool:
    return any(len(step & entry) >= SAID * len(step) for entry in done)


def _steps(pattern: Pattern) -> Sequence[str]:
    """Return the steps of a pattern, or the tools that it needs where it has none."""
    body, found = pattern.body, list[str]()
    if body is not None and pattern.category != "failure":
        found += [step.text for step in (body.procedure.steps if body.procedure else ())]
        found += _parts(body.template.structure if body.template else None)
        found += [body.heuristic.action] if body.heuristic else []
        if body.strategy is not None:
            found += body.strategy.key_principles or body.strategy.approach.split("→")
    return found or pattern.applicability.task_features.required_capabilities


def _parts(value: object) -> Iterator[str]:
    """Yield what the parts of a template are called."""
    inner = value.values() if isinstance(value, Mapping) else as_list(value)
    if isinstance(value, Mapping):
        yield next((str(value[key]) for key in ("name", "task", "text", "id") if key in value), "")
    for item in inner:
        if not isinstance(item, str):
            yield from _parts(item)
        elif inner is value:
            yield item


def _approach(pattern: Pattern) -> str:
    """Return the approach of a strategy, by which an episode of its place may call it."""
    body = pattern.body
    return (
        body.strategy.approach.casefold()
        if pattern.category == "strategy" and body and body.strategy
        else ""
    )


def _calls(pattern: Pattern, name: str, episode: Episode) -> bool:
    if name in (pattern.id.casefold(), pattern.name.casefold()):
        return True
    where = pattern.applicability
    asked = ((where.problem_types, episode.type), (where.task_features.domain, episode.domain))
    return all(not names or had.casefold() in map(str.casefold, names) for names, had in asked)


# Episodes in the store: what an agent did is kept as it was, and a person corrects it by notes,
# tags and deletion.
#
# The whole of one is masked before it is named by its hash, and lies beside the store before its
# head is written.


NOTHING = "Nothing was changed."

LONGEST_NOTE = 2_000
"""Characters of a note at the most."""


class Stored(NamedTuple):
    """An episode that was given to the store: its head, whether it `is_new`, and what was masked in
    it, by name.
    """

    episode: Episode
    is_new: bool
    masked: tuple[str, ...] = ()


class _Beside(NamedTuple):
    """What of an episode was written beside the store: its hash, its values, and what was masked in
    them.
    """

    hash: str
    body: EpisodeBody
    masked: tuple[str, ...]


class Opened(NamedTuple):
    """An episode, whole: its head, what lies beside the store, how it is used, its phase and a
    person's notes.

    `cluster` is what it was consolidated with.
    """

    episode: Episode
    body: EpisodeBody
    use: EpisodeUse
    phase: Phase
    notes: tuple[EpisodeNote, ...] = ()
    cluster: EpisodeCluster | None = None

    def doc(self, *, trace: bool = True) -> dict[str, object]:
        """Return it in the form in which episodes are given (source 004, section 2.2), perhaps
        without its trace.
        """
        doc: dict[str, object] = {
            "episode_id": self.episode.id,
            "timestamp": iso(self.episode.at),
            **self.body.doc,
        }
        execution = doc.get("execution")
        if not trace and isinstance(execution, Mapping):
            doc["execution"] = without(execution, "trace")
        known = self.body.texts("metadata.tags")
        added = [tag for tag in self.episode.tags if tag not in known]
        if added:
            doc["metadata"] = {**as_object(doc.get("metadata")), "tags": [*known, *added]}
        lifecycle, last = as_object(doc.pop("lifecycle", None)), self.use.last_accessed_at
        doc["lifecycle"] = {
            "access_count": self.use.access_count,
            "last_accessed": None if last is None else iso(last),
            "referenced_by": list(self.use.referenced_by),
            "archival_status": self.episode.status,
            **lifecycle,
        }
        return doc

    @property
    def is_closed(self) -> bool:
        """Whether its trace is opened on request only."""
        return self.phase in CLOSED


class Episodes:
    """The episodes of a store, for the context's actor."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._table = context.library.table(Episode)
        self._uses = context.library.table(EpisodeUse)

    # Looking

    def all(self) -> list[Episode]:
        """Return the heads of all episodes, deleted ones too, the latest first."""
        return sorted(self._table.all(), key=lambda one: (one.at, one.id), reverse=True)

    def get(self, id: str) -> Episode:
        """Return the head of an episode; raises `UnknownRecord`."""
        found = self._table.find(id)
        if found is None:
            raise UnknownRecord(
                f"There is no episode {id} in this store.", "`workbench episode list` shows them."
            )
        return found

    def open(self, id: str) -> Opened:
        """Return an episode, whole. Raises `UnknownRecord`, and `BlobProblem` where its file cannot
        be read.
        """
        episode = self.get(id)
        body = EpisodeBody(body_of(self._library, episode.hash))
        phase = phase_of(episode, self._context.now())
        use, clusters = self.use_of(id), self._library.table(EpisodeCluster)
        found = (
            cluster
            for by in reversed(use.referenced_by)
            if (cluster := clusters.find(by)) is not None
        )
        return Opened(episode, body, use, phase, self.notes(id), next(found, None))

    def task_of(self, episode: Episode) -> str | None:
        """Return what the task of an episode was; `None` where its file cannot be read."""
        try:
            return EpisodeBody(body_of(self._library, episode.hash)).task
        except BlobProblem:
            return None

    def use_of(self, id: str) -> EpisodeUse:
        return self._uses.find(uses_id(id)) or unused(id)

    def uses(self) -> dict[str, EpisodeUse]:
        """Return how episodes are used that are at all, by id."""
        return {use.episode: use for use in self._uses.all()}

    def notes(self, id: str) -> tuple[EpisodeNote, ...]:
        """Return a person's notes on an episode, the oldest first."""
        found = (note for note in self._library.table(EpisodeNote).all() if note.episode == id)
        return tuple(sorted(found, key=lambda note: (note.at, note.id)))

    # What agents and people bring

    def store(self, doc: object, *, session: str = "") -> Stored:
        """Keep an episode of JSON values; one that is there already, word for word, is left as it
        is.

        `session` is the agent's, where the episode names none. Raises `InvalidEpisode`, and
        `InvalidRecord` when another episode has its name: what was is not changed.
        """
        (stored,) = self.store_all([doc], session=session)
        return stored

    def store_all(
        self,
        docs: Sequence[object],
        *,
        session: str = "",
        label: str = "",
        group: str = "",
        part: int = 1,
        more: bool = False,
        goes_on: bool = False,
    ) -> list[Stored]:
        """Keep several episodes, all or none, in one transaction (see `store`), a part of a group.

        With `goes_on` they are of tasks that went on since, and say so, but where a person decided
        something on one.
        """
        bodies = [read_episode(doc) for doc in docs]
        self._library.begin()
        with self._library.turn():
            ready = self._beside(bodies, session)
            said = label or (
                "store an episode" if len(docs) == 1 else f"store {len(docs):,} episodes"
            )
            actor = self._context.actor
            with self._library.transaction(actor, said, group=group, part=part, more=more) as tx:
                evidence = EpisodeEvidence(self._context)
                done = [
                    self._put(tx, body, one, evidence, goes_on)
                    for body, one in zip(bodies, ready, strict=True)
                ]
                if len(done) == 1 and not label:
                    tx.relabel(f"store episode {done[0].episode.id}")
        return done

    def _beside(self, bodies: Sequence[EpisodeBody], session: str) -> "list[_Beside]":
        """Write what of episodes lies beside the store, without their secrets."""
        self._library.require_present()
        gate, ready = SecretFilter(), list[tuple[EpisodeBody, tuple[str, ...]]]()
        for body in bodies:
            gate.masked.clear()
            kept = (
                body.kept if body.session or not session else {**body.kept, "session_id": session}
            )
            clean = cleaned(kept, lambda text: gate.cleaned(clean_for_store(text), lambda _: False))
            assert isinstance(clean, dict)
            ready.append((EpisodeBody(clean), tuple(dict.fromkeys(gate.masked))))
        hashes = self._library.blobs.put_all([packed(body.doc) for body, _ in ready])
        return [_Beside(hash, *one) for hash, one in zip(hashes, ready, strict=True)]

    def _put(
        self, tx: Tx, body: EpisodeBody, beside: "_Beside", evidence: EpisodeEvidence, goes_on: bool
    ) -> Stored:
        known = self._table.find(body.id) if body.id else None
        is_free = known is not None and known.status == "active" and not known.approved
        if known is not None and not (goes_on and is_free and known.hash != beside.hash):
            if known.hash != beside.hash and not goes_on:
                message = f"Another episode {body.id} already exists."
                raise InvalidRecord(
                    message, "Nothing was stored. Episodes are never changed; leave out episode_id."
                )
            return Stored(known, is_new=False, masked=beside.masked)
        at, clean = body.at or self._context.now(), beside.body
        tags, of, about = (
            clean.texts("metadata.tags"),
            clean.text("metadata.task_type"),
            clean.text("metadata.domain"),
        )
        id = body.id or tx.new_id(Episode, PREFIX, at)
        if known is not None:
            before = EpisodeBody(body_of(self._library, known.hash)).texts("metadata.tags")
            tags = (*tags, *(tag for tag in known.tags if tag not in before))
        episode = head(id, at, body.outcome, beside.hash, of, about, tags, captured=clean.captured)
        if not self._context.actor.startswith("agent:"):
            # What an agent says of how it is used counts nothing.
            deleted = self._context.now() if body.status == "deleted" else None
            episode = replace(episode, status=body.status, deleted_at=deleted)
            use = _use_in(id, body)
            if use != unused(id):
                tx.put(use)
        tx.put(episode)
        self.count_for_patterns(tx, episode, clean, evidence)
        return Stored(episode, is_new=True, masked=beside.masked)

    # A person's corrections

    def note(self, id: str, text: str) -> EpisodeNote:
        """Note something on an episode. Raises `WorkbenchError` for an agent, and `InvalidRecord`
        for no text.
        """
        episode, said = self.get(id), text.strip()
        if not said or len(said) > LONGEST_NOTE:
            raise InvalidRecord(f"A note has 1 to {LONGEST_NOTE:,} characters.", NOTHING)
        note = EpisodeNote(
            f"note-{uuid.uuid4().hex[:12]}",
            episode.id,
            said,
            self._context.now(),
            self._context.actor,
        )
        with self._context.transaction(f"note on {id}", by_person="note on an episode") as tx:
            tx.put(note)
        return self._library.table(EpisodeNote).get(note.id)

    def tag(self, id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Episode:
        """Give an episode other tags. Raises `WorkbenchError` for an agent, and `InvalidRecord`
        without room.
        """
        with self._context.transaction(f"tag {id}", by_person="tag an episode") as tx:
            tx.put(tagged(self.get(id), tuple(tag.strip() for tag in add), tuple(remove)))
        return self.get(id)

    def approve(self, id: str, *, withdraw: bool = False) -> Episode:
        """Stand by what an episode says, so that agents get it who are given only that; or no
        longer.
        """
        return self._change(
            "no longer approve" if withdraw else "approve", id, approved=not withdraw
        )

    def delete(self, id: str) -> Episode:
        """Delete an episode, with a way back: it is kept until its retention is over, and given to
        nobody.
        """
        return self._change(
            "delete", id, status="deleted", deleted_at=self._context.now().replace(microsecond=0)
        )

    def restore(self, id: str) -> Episode:
        """Take a deletion back, or bring an archived episode back by hand."""
        return self._change("restore", id, status="active", deleted_at=None)

    def _change(self, verb: str, id: str, **fields: object) -> Episode:
        with self._context.transaction(f"{verb} {id}", by_person=f"{verb} an episode") as tx:
            tx.put(replace(self.get(id), **fields))  # type: ignore[arg-type]
        return self.get(id)

    def archive(self, ids: Sequence[str]) -> None:
        """Put active episodes away, to be found on request only; `restore` brings one back."""
        label = f"archive {ids[0] if len(ids) == 1 else f'{len(ids):,} episodes'}"
        with self._context.transaction(label, by_person="archive episodes") as tx:
            for id in ids:
                tx.put(replace(self.get(id), status="archived"))

    # What is counted

    def count_for_patterns(
        self, tx: Tx, episode: Episode, body: EpisodeBody, evidence: EpisodeEvidence
    ) -> None:
        """Count an episode for the patterns that it names or was served, unless somebody recorded
        how they went.
        """
        applications, patterns = self._library.table(Application), self._library.table(Pattern)
        for row in evidence.of(episode, body):
            known = applications.find(row.id)
            if known is not None and known.basis == "recorded":
                continue
            tx.put(row)
            if row.counts and not (known and known.counts):
                pattern = patterns.get(row.pattern)
                last = max(pattern.last_used or row.at, row.at)
                tx.put(replace(pattern, usage_count=pattern.usage_count + 1, last_used=last))
                self.refer(tx, [episode.id], pattern.id)

    def refer(self, tx: Tx, ids: Sequence[str], by: str) -> None:
        """Count, in a transaction, that a record rests on episodes; one that does so already counts
        once.
        """
        for id in ids:
            use = self.use_of(id)
            if by not in use.referenced_by:
                tx.put(replace(use, referenced_by=(*use.referenced_by, by)))


def _use_in(id: str, body: EpisodeBody) -> EpisodeUse:
    """Return how an episode was used where it comes from."""
    count, last = body.get("lifecycle.access_count"), body.text("lifecycle.last_accessed")
    at: datetime | None = parse_time(last) if last else None
    referenced = body.texts("lifecycle.referenced_by")
    return EpisodeUse(uses_id(id), id, count if isinstance(count, int) else 0, at, referenced)


__all__ = ["Found", "episodes_in", "name_of"]

CHUNK = 500
"""Episodes that are committed with one line of the journal."""


class Brought(NamedTuple):
    """What came of files: the episodes, and the group that an undo takes back (empty for one that
    was given).
    """

    stored: tuple[Stored, ...]
    group: str = ""


def found_in(place: Path) -> tuple[Found, ...]:
    """Return what stands for episodes in a file, or in all below a folder; each is checked.

    Raises `UnreadableFile`, and `InvalidRecord` with file, field and path.
    """
    files = files_in(place)
    if not files:
        raise UnreadableFile(f"No episode files in {place}.", "Nothing was stored.")
    return tuple(
        one
        for path in files
        for one in checked_docs(episodes_in(read_text(path), name_of(path)), name_of(path))
    )


def checked_docs(found: Sequence[Found], file: str) -> Sequence[Found]:
    """Return what was found in a file, if there is something and each can be an episode; raises
    `InvalidRecord`.
    """
    if not found:
        raise UnreadableFile(f"{file} contains no episode.", "Nothing was stored.")
    for one in found:
        try:
            read_episode(one.doc)
        except InvalidRecord as error:
            raise InvalidRecord(f"{one.place}: {error.message}", error.hint) from error
    return found


def bring(context: Context, found: Sequence[Found], name: str) -> Brought:
    """Store what was found in files, in chunks that undo as one action."""
    episodes, group = Episodes(context), f"{IMPORT}{uuid.uuid4().hex[:12]}"
    stored = list[Stored]()
    for start in range(0, len(found), CHUNK):
        chunk = found[start : start + CHUNK]
        done, part, docs = start + len(chunk), start // CHUNK + 1, [one.doc for one in chunk]
        label, more = f"store episodes of {name}", done < len(found)
        stored += episodes.store_all(docs, label=label, group=group, part=part, more=more)
    return Brought(tuple(stored), group)


def written(context: Context, ids: Sequence[str], dialect: str) -> Iterator[tuple[str, object]]:
    """Yield episodes as JSON values, each with the name of a file for it, below a folder. Raises as
    `Episodes.open`.
    """
    episodes, taken = Episodes(context), set[str]()
    for id in ids:
        opened = episodes.open(id)
        doc: object = opened.doc()
        if dialect == agent_playbook.NAME:
            slug = "-".join(words(opened.body.task)[:6])[:60]
            name = agent_playbook.file_name(opened.episode.at, slug)
            doc = agent_playbook.write(opened.doc())
        else:
            name = (
                f"{id}.json"
                if all(part.isalnum() or part in "-_." for part in id)
                else "episode.json"
            )
        yield _free(name, taken), doc


def write_files(target: Path, docs: Sequence[tuple[str, object]]) -> tuple[Path, ...]:
    """Write episodes into one new file (`.json`), or else each into its own below a folder; 0600.

    What is there already is not replaced, and then none is written. Raises `UnreadableFile`.
    """
    files = {target / name: doc for name, doc in docs}
    if target.suffix == ".json":
        files = {target: docs[0][1] if len(docs) == 1 else [doc for _, doc in docs]}
    taken = next((path for path in files if path.exists() or path.is_symlink()), None)
    if taken is not None:
        raise UnreadableFile(
            f"{taken} already exists.", "Nothing was written; choose another place."
        )
    for path, doc in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, f"{json.dumps(doc, indent=2)}\n".encode(), durable=False, new=True)
        except OSError as error:
            why = why_failed(error)
            raise UnreadableFile(
                f"{path} cannot be written: {why}.", "Nothing in the store was changed."
            ) from error
    return tuple(files)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other one has, whatever its case."""
    stem, number = name.removesuffix(".json"), 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}.json"
    taken.add(name.casefold())
    return name
