"""Episodes in the store: what an agent did is kept as it was, and a person corrects it by notes, tags and deletion.

The whole of one is masked before it is named by its hash, and lies beside the store before its head is written.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.core.agents.actors import require_person
from workbench.core.agents.episodes.cluster import EpisodeCluster
from workbench.core.agents.episodes.criteria import CLOSED, Criteria, Phase, checked, phase_of
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
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.record import InvalidRecord, UnknownRecord, iso, parse_time
from workbench.core.text import clean_for_store
from workbench.services.agents.patterns.evidence import EpisodeEvidence
from workbench.services.context import Context
from workbench.services.safety.bodies import body_of, cleaned, packed
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.blobs import BlobProblem
from workbench.store.library import Tx

NOTHING = "Nothing was changed."

LONGEST_NOTE = 2_000
"""Characters of a note at the most."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An episode that was given to the store: its head, whether it `is_new`, and what was masked in it, by name."""

    episode: Episode
    is_new: bool
    masked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Beside:
    """What of an episode was written beside the store: its hash, its values, and what was masked in them."""

    hash: str
    body: EpisodeBody
    masked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """An episode, whole: its head, what lies beside the store, how it is used, its phase and a person's notes.

    `cluster` is what it was consolidated with.
    """

    episode: Episode
    body: EpisodeBody
    use: EpisodeUse
    phase: Phase
    notes: tuple[EpisodeNote, ...] = ()
    cluster: EpisodeCluster | None = None

    def doc(self, *, trace: bool = True) -> dict[str, object]:
        """Return it in the form in which episodes are given (source 004, section 2.2), perhaps without its trace."""
        doc: dict[str, object] = {"episode_id": self.episode.id, "timestamp": iso(self.episode.at), **self.body.doc}
        execution = doc.get("execution")
        if not trace and isinstance(execution, Mapping):
            doc["execution"] = {name: value for name, value in execution.items() if name != "trace"}
        metadata = doc.get("metadata")
        known = self.body.texts("metadata.tags")
        added = [tag for tag in self.episode.tags if tag not in known]
        if added:
            doc["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {}), "tags": [*known, *added]}
        lifecycle, last = doc.pop("lifecycle", None), self.use.last_accessed_at
        doc["lifecycle"] = {
            "access_count": self.use.access_count,
            "last_accessed": None if last is None else iso(last),
            "referenced_by": list(self.use.referenced_by),
            "archival_status": self.episode.status,
            **(lifecycle if isinstance(lifecycle, Mapping) else {}),
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

    def listed(self, criteria: Criteria) -> list[Episode]:
        """Return the heads that are meant by what they say themselves, the latest first. Raises `InvalidQuery`."""
        now = self._context.now()
        return [one for one in self.all() if checked(criteria).fit(one, now)]

    def get(self, id: str) -> Episode:
        """Return the head of an episode; raises `UnknownRecord`."""
        found = self._table.find(id)
        if found is None:
            raise UnknownRecord(f"There is no episode {id} in this store.", "`workbench episode list` shows them.")
        return found

    def open(self, id: str) -> Opened:
        """Return an episode, whole. Raises `UnknownRecord`, and `BlobProblem` where its file cannot be read."""
        episode = self.get(id)
        body = EpisodeBody(body_of(self._library, episode.hash))
        phase = phase_of(episode, self._context.now())
        use, clusters = self.use_of(id), self._library.table(EpisodeCluster)
        found = (cluster for by in reversed(use.referenced_by) if (cluster := clusters.find(by)) is not None)
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
        """Keep an episode of JSON values; one that is there already, word for word, is left as it is.

        `session` is the agent's, where the episode names none. Raises `InvalidEpisode`, and `InvalidRecord` when
        another episode has its name: what was is not changed.
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

        With `goes_on` they are of tasks that went on since, and say so, but where a person decided something on one.
        """
        bodies = [read_episode(doc) for doc in docs]
        self._library.maintenance.begin()
        with self._library.turn():
            ready = self._beside(bodies, session)
            said = label or ("store an episode" if len(docs) == 1 else f"store {len(docs):,} episodes")
            actor = self._context.actor
            with self._library.transaction(actor, said, group=group, part=part, more=more) as tx:
                evidence = EpisodeEvidence(self._context)
                done = [self._put(tx, body, one, evidence, goes_on) for body, one in zip(bodies, ready, strict=True)]
                if len(done) == 1 and not label:
                    tx.relabel(f"store episode {done[0].episode.id}")
        return done

    def _beside(self, bodies: Sequence[EpisodeBody], session: str) -> "list[_Beside]":
        """Write what of episodes lies beside the store, without their secrets."""
        self._library.require_present()
        gate, ready = SecretFilter(), list[tuple[EpisodeBody, tuple[str, ...]]]()
        for body in bodies:
            gate.masked.clear()
            kept = body.kept if body.session or not session else {**body.kept, "session_id": session}
            clean = cleaned(kept, lambda text: gate.cleaned(clean_for_store(text), lambda _: False))
            assert isinstance(clean, dict)
            ready.append((EpisodeBody(clean), tuple(dict.fromkeys(gate.masked))))
        hashes = self._library.blobs.put_all([packed(body.doc) for body, _ in ready])
        return [_Beside(hash, *one) for hash, one in zip(hashes, ready, strict=True)]

    def _put(self, tx: Tx, body: EpisodeBody, beside: "_Beside", evidence: EpisodeEvidence, goes_on: bool) -> Stored:
        known = self._table.find(body.id) if body.id else None
        is_free = known is not None and known.status == "active" and not known.approved
        if known is not None and not (goes_on and is_free and known.hash != beside.hash):
            if known.hash != beside.hash and not goes_on:
                message = f"There is an episode {body.id} already, and it says something else."
                raise InvalidRecord(message, "Nothing was stored: what was is not changed; leave episode_id out.")
            return Stored(known, is_new=False, masked=beside.masked)
        at, clean = body.at or self._context.now(), beside.body
        tags, of, about = clean.texts("metadata.tags"), clean.text("metadata.task_type"), clean.text("metadata.domain")
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
        """Note something on an episode. Raises `WorkbenchError` for an agent, and `InvalidRecord` for no text."""
        require_person(self._context.actor, "note anything on an episode")
        episode, said = self.get(id), text.strip()
        if not said or len(said) > LONGEST_NOTE:
            raise InvalidRecord(f"A note has 1 to {LONGEST_NOTE:,} characters.", NOTHING)
        note = EpisodeNote(f"note-{uuid.uuid4().hex[:12]}", episode.id, said, self._context.now(), self._context.actor)
        with self._library.transaction(self._context.actor, f"note on {id}") as tx:
            tx.put(note)
        return self._library.table(EpisodeNote).get(note.id)

    def tag(self, id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Episode:
        """Give an episode other tags. Raises `WorkbenchError` for an agent, and `InvalidRecord` without room."""
        require_person(self._context.actor, "tag an episode")
        with self._library.transaction(self._context.actor, f"tag {id}") as tx:
            tx.put(tagged(self.get(id), tuple(tag.strip() for tag in add), tuple(remove)))
        return self.get(id)

    def approve(self, id: str, *, withdraw: bool = False) -> Episode:
        """Stand by what an episode says, so that agents get it who are given only that; or no longer."""
        require_person(self._context.actor, "approve an episode")
        label = f"no longer approve {id}" if withdraw else f"approve {id}"
        with self._library.transaction(self._context.actor, label) as tx:
            tx.put(replace(self.get(id), approved=not withdraw))
        return self.get(id)

    def delete(self, id: str) -> Episode:
        """Delete an episode, with a way back: it is kept until its retention is over, and given to nobody."""
        require_person(self._context.actor, "delete an episode")
        with self._library.transaction(self._context.actor, f"delete {id}") as tx:
            tx.put(replace(self.get(id), status="deleted", deleted_at=self._context.now().replace(microsecond=0)))
        return self.get(id)

    def restore(self, id: str) -> Episode:
        """Take a deletion back, or bring an archived episode back by hand."""
        require_person(self._context.actor, "bring an episode back")
        with self._library.transaction(self._context.actor, f"restore {id}") as tx:
            tx.put(replace(self.get(id), status="active", deleted_at=None))
        return self.get(id)

    def archive(self, ids: Sequence[str]) -> None:
        """Put active episodes away, to be found on request only; `restore` brings one back."""
        require_person(self._context.actor, "archive episodes")
        label = f"archive {ids[0] if len(ids) == 1 else f'{len(ids):,} episodes'}"
        with self._library.transaction(self._context.actor, label) as tx:
            for id in ids:
                tx.put(replace(self.get(id), status="archived"))

    # What is counted

    def count_for_patterns(self, tx: Tx, episode: Episode, body: EpisodeBody, evidence: EpisodeEvidence) -> None:
        """Count an episode for the patterns that it names or was served, unless somebody recorded how they went."""
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
        """Count, in a transaction, that a record rests on episodes; one that does so already counts once."""
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
