"""What a Curator may be told: memories that were confirmed, all since the last curation or the
latest ones.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.agents.actors import stands_by
from workbench.core.change import Change, diff
from workbench.core.document import to_doc
from workbench.core.duplicates.dedup import parted
from workbench.core.duplicates.groups import text_mark
from workbench.core.playbook import operations
from workbench.core.playbook.book import Bullet, Playbook, section_key
from workbench.core.playbook.operations import (
    THEN,
    Add,
    Analysis,
    BulletTag,
    CreateMeta,
    Curation,
    Delete,
    Merge,
    Suggested,
    Update,
    from_json,
    named_ids,
    title,
    to_json,
)
from workbench.core.record import InvalidRecord, UnreadableFile, WorkbenchError, parse_time, without
from workbench.core.reflection.reflector import Preview, ReflectionProblem, Tell, Usage
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.confidence import apply_vote
from workbench.core.stream.memory import Memory, Verdict, Vote, vote_id
from workbench.core.text import clean_for_store, counted
from workbench.formats.ace_replies import read_reply
from workbench.formats.opening import read_text
from workbench.reflect.claude import asks
from workbench.reflect.claude.asks import Run
from workbench.safety.scanning import mask as mask_of
from workbench.services.context import Context
from workbench.services.playbook.playbook import Playbooks, clean_text, delete_votes, write_book
from workbench.services.reflection.reflection import ACE_STAGES, AsksClaude, Connect, Mask, Waiting
from workbench.store.library import Tx

if TYPE_CHECKING:
    from workbench.reflect.claude.reflector import ClaudeReflector


CURATED = "curator"
"""What a run is called (with the playbook's name behind a colon) that covered all confirmed until
then.
"""

KNOWN = ("confirmed", "promoted")
LATEST = 30
"""How many of the latest confirmed memories are taken when nothing was curated before."""


class Lessons(NamedTuple):
    """Memories to be told, the oldest first, and how many more there would be.

    `since` is the last curation that they follow, or `None` when they are simply the latest or were
    `chosen` by hand. With `covers` the next curation begins after this one.
    """

    memories: tuple[Memory, ...]
    since: datetime | None = None
    left_out: int = 0
    covers: bool = False
    chosen: bool = False


def _when(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id


# A run of an agent from a JSON file, for the ACE Reflector (source 003).


TASK = ("question", "task")
TRACE = ("reasoning", "trace", "trajectory", "reasoning_trace")
ANSWER = ("answer", "final_answer", "predicted_answer", "outcome")
EXPECTED = ("ground_truth", "expected")
FEEDBACK = ("feedback", "environment_feedback")
BULLETS = ("bullets", "bullet_ids", "bullet_ids_used")

_WANTED = "A run is a JSON object with question, reasoning (or trace), answer and optionally ground_truth."


class Episode(NamedTuple):
    """A run, and the ids of the playbook's bullets that the agent used in it."""

    run: Run
    bullets: tuple[str, ...] = ()


def read_episode(path: Path) -> Episode:
    """Read a run from a file. Raises `UnreadableFile`, which names the file and the reason."""
    try:
        doc = json.loads(read_text(path).removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{path} is not JSON: {error}.", _WANTED) from error
    if not isinstance(doc, dict):
        raise UnreadableFile(f"{path} does not contain a JSON object.", _WANTED)
    if not _text(doc, TASK) or not (_text(doc, TRACE) or _text(doc, ANSWER)):
        raise UnreadableFile(
            f"{path} is not a run: question, and reasoning or answer, are missing.", _WANTED
        )
    feedback = _text(doc, FEEDBACK)
    outcome = "\n\n".join(
        part for part in (_text(doc, ANSWER), feedback and f"Feedback: {feedback}") if part
    )
    return Episode(
        Run(_text(doc, TASK), _text(doc, TRACE), outcome, _text(doc, EXPECTED)), _ids(path, doc)
    )


def used(playbook: Playbook, ids: tuple[str, ...]) -> tuple[tuple[Bullet, ...], tuple[str, ...]]:
    """Return the bullets with these ids, or that were merged from them, each once; and the ids of
    none.
    """
    known = {name: b for b in playbook.bullets for name in (*b.aliases, b.id)}
    found = {known[id].id: known[id] for id in ids if id in known}
    return tuple(found.values()), tuple(id for id in ids if id not in known)


def _text(doc: Mapping[str, object], names: tuple[str, ...]) -> str:
    value = next((doc[name] for name in names if doc.get(name) not in (None, "")), "")
    return (
        value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    )


def _ids(path: Path, doc: Mapping[str, object]) -> tuple[str, ...]:
    """Return the ids of the bullets that were used, each once: a list of ids, or of objects with
    one.
    """
    value = next((doc[name] for name in BULLETS if doc.get(name) is not None), [])
    items = value if isinstance(value, list) else [None]
    ids = [item.get("id") if isinstance(item, dict) else item for item in items]
    if not all(isinstance(id, str) and id.strip() for id in ids):
        raise UnreadableFile(
            f"“bullets” in {path} is not a list of ids.", 'Give them as ["shr-00001", …].'
        )
    return tuple(dict.fromkeys(str(id).strip().strip("[]") for id in ids))


# What a Curator or a Reflector suggests for a playbook (source 003): looked at one by one, applied
# as one action.


SAID = "The playbook already says exactly this."
"""The problem of a suggestion to add what is there, as most of a log of operations that were
carried out.
"""

CURATOR, REFLECTOR = "curator", "reflector"
ACTOR = "human:curator"
"""Who applies suggestions: the person who accepted them, so that undo takes them back."""


class Card(NamedTuple):
    """One suggestion, or a part of a reply that cannot be read (`suggested` is `None`; `raw` is its
    JSON).

    `problem` says why it cannot be accepted. `before` and `after` are the texts that differ;
    `touches` are the bullets it is about, as they are now. One that `repeats` suggests a text that
    the playbook holds already.
    """

    raw: str
    title: str
    suggested: Suggested | None = None
    reason: str = ""
    problem: str = ""
    before: str = ""
    after: str = ""
    touches: tuple[Bullet, ...] = ()
    repeats: bool = False


class Reply(NamedTuple):
    """A reply that was read: who gave it, a short mark of its text, what it says beside its
    suggestions, and those.
    """

    actor: str
    mark: str
    said: str
    parts: tuple[tuple[Suggested, str], ...]
    odd: tuple[tuple[str, str], ...] = ()


def reply_of(found: Curation | Analysis, text: str) -> Reply:
    """Return a reply that was read from `text`."""
    mark = text_mark(text, 6)
    odd = tuple((one.raw, one.reason) for one in found.odd)
    if isinstance(found, Curation):
        operations = tuple((one.operation, one.reason) for one in found.operations)
        return Reply(CURATOR, mark, found.reasoning, operations, odd)
    tags = tuple((tag, "") for tag in found.bullet_tags)
    return Reply(REFLECTOR, mark, found.key_insight, tags, odd)


class Curator:
    """Suggestions for playbooks, as cards and as proposals."""

    def __init__(self, context: Context, playbooks: Playbooks) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks

    def read(self, text: str) -> Reply:
        """Read the reply of a Curator or a Reflector; raises `UnreadableReply`."""
        return reply_of(read_reply(text), text)

    def text_of(self, path: Path) -> str:
        """Return what a file says, as it stands there. Raises `UnreadableFile`."""
        return read_text(path)

    def cards(self, book: str, reply: Reply, skipped: Iterable[int] = ()) -> tuple[Card, ...]:
        """Return a card for every part, in the order of the reply, the unreadable ones last.

        Each is looked at as if those before it were accepted, all but the places in `skipped`.
        """
        left, cards, playbook = frozenset(skipped), list[Card](), self._playbooks.open(book)
        for place, (suggested, reason) in enumerate(reply.parts):
            card, after = self._card(playbook, suggested, reason, reply)
            if isinstance(suggested, BulletTag) and _tags_twice(
                suggested, reply.parts[:place], left
            ):
                card = card._replace(problem=f"The reply marks {suggested.bullet_id} twice.")
            playbook = playbook if place in left else after
            cards.append(card)
        odd = (Card(raw, "cannot be read", problem=reason) for raw, reason in reply.odd)
        return (*cards, *odd)

    def apply(
        self,
        book: str,
        reply: Reply,
        accepted: Sequence[Suggested],
        keep: Callable[[], object] | None = None,
    ) -> int:
        """Apply suggestions in order as one action; raises when one is impossible, and then nothing
        is changed.

        `keep` is called in the same transaction, to let stay what a person typed.
        """
        count = len(accepted)
        label = f"{counted(count, 'suggestion')} of the {reply.actor}"
        own = ACTOR if stands_by(self._context.actor) else self._context.actor
        with self._library.transaction(own, label) as tx:
            if keep is not None:
                keep()
            self._carry_out(tx, book, accepted, reply.mark)
        return count

    def proposals(
        self, book: str, reply: Reply, chosen: Iterable[int] | None = None, *, repeats: bool = True
    ) -> tuple[Proposal, ...]:
        """Return the parts of a reply (those at `chosen` places, or all) as proposals for the
        queue.

        The same suggestion has the same id, so that nothing waits twice; a tag counts once for each
        reply. Without `repeats`, a text that the playbook holds already is not suggested again.
        """
        places = range(len(reply.parts)) if chosen is None else chosen
        cards = self.cards(book, reply)
        made = (
            self._proposal(book, reply, *reply.parts[place], cards[place].problem)
            for place in places
            if repeats or not cards[place].repeats
        )
        return tuple({proposal.id: proposal for proposal in made}.values())

    def put_off(
        self,
        book: str,
        reply: Reply,
        places: Iterable[int],
        keep: Callable[[], object] | None = None,
    ) -> int:
        """Put parts of a reply into Review; return how many are new there. `keep` is as in `apply`."""
        fresh = [
            p for p in self.proposals(book, reply, places) if p.id not in self._library.proposals
        ]
        if fresh:
            label = counted(len(fresh), "suggestion")
            with self._context.transaction(f"{label} into Review") as tx:
                if keep is not None:
                    keep()
                for proposal in fresh:
                    tx.put(proposal)
        return len(fresh)

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what accepting a proposal would do to bullets; raises `WorkbenchError` when it is
        impossible.
        """
        book, mark, suggested = from_json(proposal.operation)
        before = self._playbooks.open(book)
        after = self._after(before, suggested, mark)
        old, new = ({f"{book}/{b.id}": b for b in side.bullets} for side in (before, after))
        return tuple(
            diff("bullets", key, _doc(old.get(key)), _doc(new.get(key)))
            for key in dict.fromkeys((*old, *new))
            if old.get(key) != new.get(key)
        )

    def card_of(self, proposal: Proposal) -> Card:
        """Return a proposal as a card, as the playbook is now; raises `WorkbenchError` when that
        cannot be told.
        """
        book, mark, suggested = from_json(proposal.operation)
        return self._card(
            self._playbooks.open(book), suggested, "", Reply(proposal.actor, mark, "", ())
        )[0]

    def accept(self, tx: Tx, proposal: Proposal) -> None:
        """Carry a proposal out within a transaction; raises `WorkbenchError` when it is impossible."""
        book, mark, suggested = from_json(proposal.operation)
        self._carry_out(tx, book, [suggested], mark)

    def _proposal(
        self, book: str, reply: Reply, suggested: Suggested, reason: str, problem: str
    ) -> Proposal:
        operation = to_json(suggested, book, reply.mark)
        same = {
            k: v for k, v in operation.items() if k != "reply" or isinstance(suggested, BulletTag)
        }
        name = text_mark(repr(sorted(same.items())))
        bullets = self._library.bullets
        now = {
            id: found.content
            for id in named_ids(suggested)
            if (found := bullets.find(f"{book}/{id}"))
        }
        said = {THEN: {id: clean_for_store(text) for id, text in now.items()}} if now else {}
        reasons = [reason] if reason.strip() else []
        return Proposal(
            id=f"{reply.actor}-{name}", kind="curator", actor=reply.actor, title=clean_for_store(title(suggested)),
            created_at=self._context.now(), reasons=tuple(map(clean_for_store, reasons)), operation=operation | said,
            flags=(clean_for_store(problem),) if problem else (),
        )  # fmt: skip

    def _card(
        self, playbook: Playbook, suggested: Suggested, reason: str, reply: Reply
    ) -> tuple[Card, Playbook]:
        known = {name: b for b in playbook.bullets for name in (*b.aliases, b.id)}
        touches = tuple(known[id] for id in named_ids(suggested) if id in known)
        raw, before, after = title(suggested), _joined(touches), _text_after(suggested, touches)
        card = Card(raw, _title(suggested, touches), suggested, reason, "", before, after, touches)
        if isinstance(suggested, Add) and _says(playbook, suggested):
            return card._replace(problem=SAID, repeats=True), playbook
        try:
            return card, self._after(playbook, suggested, reply.mark)
        except WorkbenchError as error:
            return card._replace(problem=error.message), playbook

    def _after(self, playbook: Playbook, suggested: Suggested, mark: str) -> Playbook:
        if isinstance(suggested, BulletTag):
            bullet = operations.find_bullet(playbook, suggested.bullet_id)
            tagged = self._tagged(bullet, suggested, mark)[0]
            return replace(
                playbook, bullets=tuple(tagged if b is bullet else b for b in playbook.bullets)
            )
        return operations.apply(playbook, _cleaned(suggested), self._context.now())

    def _carry_out(self, tx: Tx, book: str, chosen: Sequence[Suggested], mark: str) -> None:
        before = after = self._playbooks.open(book)
        for suggested in chosen:
            was, after = after, self._after(after, suggested, mark)
            if isinstance(suggested, BulletTag):
                bullet = operations.find_bullet(was, suggested.bullet_id)
                vote = self._tagged(bullet, suggested, mark)[1]
                if vote is not None:
                    tx.put(vote)
        write_book(tx, before, after)
        gone = {f"{book}/{one.bullet_id}" for one in chosen if isinstance(one, Delete)}
        delete_votes(tx, self._library, gone)

    def _tagged(self, bullet: Bullet, tag: BulletTag, mark: str) -> tuple[Bullet, Vote | None]:
        """Return a bullet with a Reflector's mark on it: one vote for each reply; neutral ones are
        only counted.
        """
        if tag.tag == "neutral":
            return replace(bullet, neutral_count=bullet.neutral_count + 1), None
        verdict: Verdict = tag.tag
        key = f"{bullet.book}/{bullet.id}"
        name = vote_id("bullets", key, REFLECTOR, mark)
        before = self._library.votes.find(name)
        if before is not None:
            raise InvalidRecord(
                f"This reply's mark on {bullet.id} is already counted.", operations.UNCHANGED
            )
        vote = Vote(
            name,
            "bullets",
            key,
            REFLECTOR,
            verdict,
            self._context.now(),
            mark,
            "tagged by the Reflector",
        )
        return apply_vote(bullet, vote, None), vote


def _tags_twice(
    tag: BulletTag, before: Sequence[tuple[Suggested, str]], skipped: frozenset[int]
) -> bool:
    """Tell whether a tag before this one, which is not skipped, marks the same bullet."""
    earlier = (one for place, (one, _) in enumerate(before) if place not in skipped)
    return any(isinstance(one, BulletTag) and one.bullet_id == tag.bullet_id for one in earlier)


def edited(suggested: Suggested, content: str) -> Suggested:
    """Return a suggestion with another text; raises `InvalidRecord` for one that has none."""
    if isinstance(suggested, Delete | BulletTag):
        raise InvalidRecord("This suggestion has no text to edit.", "Accept or skip it.")
    assert isinstance(suggested, Add | Update | Merge | CreateMeta)
    return replace(suggested, content=clean_for_store(content).strip())


def _says(playbook: Playbook, suggested: Add) -> bool:
    """Tell whether a playbook says already, in that place, what a suggestion would add."""
    try:
        place = operations.find_section(playbook, suggested.section).id
    except WorkbenchError:
        place = section_key(suggested.section)
    added = Bullet("", place, clean_text(suggested.content), playbook.book.id)
    return any(b.content == added.content and not parted(b, added) for b in playbook.bullets)


def _cleaned(operation: operations.Operation) -> operations.Operation:
    if isinstance(operation, Add | Update | Merge | CreateMeta):
        return replace(operation, content=clean_text(operation.content))
    return operation


def _title(suggested: Suggested, touches: Sequence[Bullet]) -> str:
    """Return what would happen, without the text, which the card shows by itself."""
    match suggested:
        case Add():
            return f"add to {suggested.section}"
        case Update():
            return f"change {suggested.bullet_id}"
        case Merge():
            kept = suggested.keep_id or (touches[0].id if touches else "the first")
            return f"merge {', '.join(suggested.source_ids)} into {kept}"
        case Delete():
            return f"delete {suggested.bullet_id}"
        case CreateMeta():
            return f"new section {suggested.section_name}"
        case BulletTag():
            return f"mark {suggested.bullet_id} as {suggested.tag}"
    return title(suggested)


def _text_after(suggested: Suggested, touches: Sequence[Bullet]) -> str:
    if isinstance(suggested, Add | Update | Merge | CreateMeta):
        return suggested.content
    return _joined(touches) if isinstance(suggested, BulletTag) else ""


def _joined(bullets: Sequence[Bullet]) -> str:
    return bullets[0].content if len(bullets) == 1 else ""


def _doc(bullet: Bullet | None) -> dict[str, object] | None:
    return None if bullet is None else without(to_doc(bullet), "raw")


# Asking Claude to curate a playbook (source 003): what would be sent, the call, and replies nobody
# could read.


TRIED = "curator-tried"
"""What a run is called after which the same memories are still to be told."""


class CurationPlan(NamedTuple):
    """A curation about to be made, with every text masked: what is told, about which playbook, and
    what it costs.

    With a `run` the Reflector is asked first, and its analysis is what the Curator is told.
    `unknown` are ids of used bullets that the playbook does not have. `room` is how many tokens the
    playbook may grow by, if bounded. `spent` of `limit` tokens of this month are gone (limit 0:
    none).
    """

    book: str
    told: tuple[str, ...]
    lessons: Lessons
    playbook: Playbook
    preview: Preview
    spent: int
    limit: int
    room: int | None = None
    run: asks.Run | None = None
    used: tuple[Bullet, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def since(self) -> datetime | None:
        """The last curation, after which everything that is told was confirmed."""
        return self.lessons.since


class Asked(NamedTuple):
    """What came of it: the replies that could be read (a Reflector's first), what could not, and
    what went wrong.
    """

    replies: tuple[Reply, ...]
    usage: Usage
    unread: tuple[Waiting, ...] = ()
    problem: ReflectionProblem | None = None


class CuratorRequest(AsksClaude):
    """Asks the ACE roles; keeps replies nobody could read."""

    def __init__(
        self, context: Context, playbooks: Playbooks, curating: Curator, mask: Mask = mask_of,
        connect: Connect | None = None,
    ) -> None:  # fmt: skip
        super().__init__(context, mask, connect)
        self._playbooks, self._curating = playbooks, curating

    def unseen(self, book: str) -> Lessons:
        """Return what was confirmed or promoted since a playbook's last curation; before the first
        one, the latest.
        """
        what, library = f"{CURATED}:{book}", self._context.library
        since = max(
            (run.made_at for run in library.runs.all() if run.what == what and not run.unread),
            default=None,
        )
        if since is None:
            return self.latest()._replace(covers=True)
        fresh, most, memories = (
            self._changed_since(since),
            self._context.settings.claude.memories,
            library.memories,
        )
        found = [
            m
            for m in self._confirmed()
            if m.created_at > since or memories.doc_id_of(m.id) in fresh
        ]
        return Lessons(tuple(found[-most:]), since, max(0, len(found) - most), covers=True)

    def latest(self) -> Lessons:
        """Return what was confirmed or promoted most recently."""
        found = self._confirmed()
        return Lessons(tuple(found[-LATEST:]), left_out=max(0, len(found) - LATEST))

    def marked(self, memories: Sequence[Memory]) -> Lessons:
        """Return memories that a person marked."""
        found = (self._context.library.memories.find(memory.id) for memory in memories)
        return Lessons(tuple(sorted((m for m in found if m is not None), key=_when)), chosen=True)

    def _confirmed(self) -> list[Memory]:
        return sorted(
            (m for m in self._context.library.memories.all() if m.status in KNOWN), key=_when
        )

    def _changed_since(self, since: datetime) -> frozenset[str]:
        """Return the documents of memories whose status was written after a moment."""
        found: set[str] = set()
        for entry in self._context.library.changes_back():
            if parse_time(entry.at) <= since:
                break
            found.update(
                c.doc for c in entry.changes if c.table == "memories" and "status" in c.fields
            )
        return frozenset(found)

    def plan(self, book: str, lessons: Lessons) -> CurationPlan:
        """Gather what would be sent; nothing is. Raises `UnknownRecord` for a playbook that is not
        there.
        """
        told = tuple(self._mask(memory.content) for memory in lessons.memories)
        playbook, room = self._sent(book), self._room(book)
        preview = self._claude().preview_of(asks.curate(told, playbook, room))
        return CurationPlan(book, told, lessons, playbook, preview, *self._month(), room)

    def plan_run(self, book: str, episode: Episode) -> CurationPlan:
        """Gather what would be sent first about a run; the Curator is asked after it. Raises
        `UnknownRecord`.
        """
        run, mask = episode.run, self._mask
        run = asks.Run(mask(run.task), mask(run.trajectory), mask(run.outcome), mask(run.expected))
        playbook, room, claude = self._sent(book), self._room(book), self._claude()
        bullets, unknown = used(playbook, episode.bullets)
        first, then = asks.analyse(run, bullets), asks.curate((), playbook, room)
        cost = claude.preview_of(first).estimate + claude.preview_of(then).estimate
        more = "One more call follows, with its findings and the playbook"
        preview = claude.preview_of(first, cost, more)
        return CurationPlan(
            book, (), Lessons(()), playbook, preview, *self._month(), room, run, bullets, unknown
        )

    def ask(
        self, plan: CurationPlan, tell: Tell, cancelled: Cancelled, *, covers: bool = True
    ) -> Asked:
        """Ask as planned. Raises `ReflectionProblem` when nothing at all came of it.

        With `covers` the next curation begins after this one, if this one was told everything.
        """
        if not plan.told and plan.run is None:
            raise WorkbenchError(
                "Nothing to send to the Curator.", "Approve some candidates in Review first."
            )
        claude, replies, problem = self._claude(), list[Reply](), None
        try:
            self._ask(claude, plan, replies, tell, cancelled)
        except ReflectionProblem as raised:
            problem = raised
        unread = () if problem is None or problem.found is None else problem.found.unread
        done = covers and plan.lessons.covers and (problem is None or bool(unread))
        ids = tuple(memory.id for memory in plan.lessons.memories)
        what = f"{CURATED if done else TRIED}:{plan.book}"
        run = self.runs.record(what, claude.used, unread, ids, self._mask)
        if problem is not None and not unread and not replies:
            raise problem
        kept = tuple(one for one in self.waiting(plan.book) if one.run == run)
        return Asked(tuple(replies), claude.used, kept, problem)

    def waiting(self, book: str) -> tuple[Waiting, ...]:
        """Return the replies about a playbook that nobody could read, the oldest first."""
        found = self.runs.waiting(ACE_STAGES)
        return tuple(one for one in found if self.runs.run(one.run).what.partition(":")[2] == book)

    def read_again(self, waiting: Waiting, text: str) -> Reply:
        """Read a kept reply as a person has edited it; then it waits no longer. Raises
        `UnreadableReply`.
        """
        reply = self._curating.read(text)
        with self._context.transaction("read a reply again") as tx:
            tx.put(self.runs.without(waiting))
        return reply

    def dismiss(self, waiting: Waiting) -> None:
        """Let go of a reply that nobody could read; undo brings it back. What it was told is to be
        told again.
        """
        run = self.runs.without(waiting)
        with self._context.transaction("dismiss an unread reply") as tx:
            tx.put(replace(run, what=f"{TRIED}:{run.what.partition(':')[2]}"))

    def _ask(
        self,
        claude: "ClaudeReflector",
        plan: CurationPlan,
        replies: list[Reply],
        tell: Tell,
        cancelled: Cancelled,
    ) -> None:
        """Ask one role, or both in turn; each reply is added as it comes, so that a later failure
        loses none.
        """
        told = plan.told
        if plan.run is not None:
            analysis = claude.ace_reflect(plan.run, plan.used, tell, cancelled)
            replies.append(reply_of(analysis, repr((plan.run, analysis))))
            told = asks.lessons(analysis)
        if told:
            curation = claude.ace_curate(told, plan.playbook, tell, cancelled, room=plan.room)
            replies.append(reply_of(curation, repr(curation)))

    def _sent(self, book: str) -> Playbook:
        """Return a playbook as it is sent: ids as they are, every text masked."""
        playbook = self._playbooks.open(book)
        return replace(
            playbook,
            sections=tuple(replace(s, title=self._mask(s.title)) for s in playbook.sections),
            bullets=tuple(replace(b, content=self._mask(b.content)) for b in playbook.bullets),
        )

    def _room(self, book: str) -> int | None:
        view = self._playbooks.view(book)
        budget = view.playbook.book.budget
        return max(0, budget - view.tokens) if budget else None

    def _month(self) -> tuple[int, int]:
        return self.runs.spent(), self._context.settings.claude.monthly_tokens
