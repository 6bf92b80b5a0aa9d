"""What a reflection reads: the latest of what an agent would be served, reflections included."""

import heapq
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.duplicates.groups import group_mark, kept_first, text_mark
from workbench.core.files.locks import irreplaceable
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.core.reflection.llm import LlmRun, UnreadReply, spent_in_month
from workbench.core.reflection.reflector import (
    RETRIEVED,
    Insight,
    Preview,
    Reflection,
    ReflectionProblem,
    Reflector,
    Request,
    Tell,
    depth_citing,
)
from workbench.core.reflection.trigger import Gauge, ReflectionState
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import MAX_CONTENT, Memory, is_served
from workbench.core.text import clean_for_store, counted
from workbench.reflect.claude.keys import HOW_TO, has_key
from workbench.safety.scanning import mask as mask_of
from workbench.services.context import Context, Service
from workbench.services.duplicates.plan import Settled
from workbench.services.reflection.gauge import gauge_of, state_of

if TYPE_CHECKING:
    from workbench.core.reflection.reflector import Usage
    from workbench.reflect.claude.asker import Budget
    from workbench.reflect.claude.reflector import ClaudeReflector
    from workbench.reflect.extractive import Vectors
    from workbench.services.tuning.retriever import Retriever


LOCAL_MEMORIES = 1_000
"""How many of the latest memories a reflection on this machine reads."""

_KEPT = ("candidate", "confirmed", "promoted")

Mask = Callable[[str], str]
"""Takes what must not travel out of a text."""


def latest(context: Context, count: int) -> tuple[Memory, ...]:
    """Return the latest served memories, oldest first. Candidates are not among them, whatever
    wrote them.
    """
    now = context.now()
    served = (m for m in context.library.memories.all() if is_served(m, now))
    return tuple(reversed(heapq.nlargest(count, served, key=_when)))


def known_texts(context: Context) -> list[str]:
    """Return what need not be proposed again: what was confirmed, waits for review, or was
    rejected.
    """
    return [
        m.content
        for m in context.library.memories.all()
        if m.status in _KEPT or m.archived_reason == "rejected" or m.is_synthetic
    ]


def parted(
    context: Context, drafts: Sequence[Memory]
) -> tuple[tuple[Memory, ...], tuple[Memory, ...]]:
    """Return the drafts that are new, and the memories that say the others already.

    One that waits or was approved is seen again: what is cited beyond its citations counts. What
    was rejected is new only with evidence that it had not.
    """
    from workbench.reflect.languages import KnownTexts  # only what Claude found needs it

    memories: dict[str, list[Memory]] = {}
    for m in context.library.memories.all() if drafts else ():
        if m.status in _KEPT or m.archived_reason == "rejected":
            memories.setdefault(m.content, []).append(m)
    known, fresh, again = KnownTexts(memories), list[Memory](), dict[str, Memory]()
    for draft in drafts:
        same = [again.get(m.id, m) for text in known.same(draft.content) for m in memories[text]]
        before = next((m for m in same if m.status != "archived"), same[-1] if same else None)
        more = [
            id for id in draft.citations if all(id != m.id and id not in m.citations for m in same)
        ]
        if before is None or (before.status == "archived" and more):
            fresh.append(draft)
        elif more:
            seen = before.helpful_absorbed + 1
            again[before.id] = replace(
                before, citations=(*before.citations, *more), helpful_absorbed=seen
            )
        else:
            again[before.id] = before
    return tuple(fresh), tuple(again.values())


def masked(memories: Sequence[Memory], mask: Mask) -> tuple[Memory, ...]:
    """Return memories with nothing in them that must not travel."""
    return tuple(replace(m, content=mask(m.content), summary=mask(m.summary)) for m in memories)


def _when(memory: Memory) -> tuple[object, str]:
    return memory.created_at, memory.id


# Reflecting: from the latest memories to candidates in Review, on this machine or with Claude's
# help.


# Keeps what was asked of a language model: the tokens of each month, and the replies that could not
# be read.


REFLECTING = frozenset({"questions", "insights", "refine", "rate"})
"""The stages whose replies become candidates."""

ACE_STAGES = frozenset({"analyse", "curate"})
"""The stages whose replies become suggestions for a playbook."""


class Waiting(NamedTuple):
    """A reply that could not be read and still waits for somebody: the run's id and its place
    there.
    """

    run: str
    place: int
    reply: UnreadReply


class LlmRuns(Service):
    """The uses of a language model in this store. Undoing what came of one gives no token back, so
    none undoes it.
    """

    def record(
        self,
        what: str,
        usage: "Usage",
        unread: Sequence[UnreadReply] = (),
        memories: Sequence[str] = (),
        mask: Callable[[str], str] = clean_for_store,
    ) -> str:
        """Write down a use, and the replies that could not be read, masked; return the run's id, ""
        for no use.

        However long others hold the store: what was paid for is not given up.
        """
        if not usage.total and not unread:
            return ""
        kept = tuple(
            replace(u, reply=mask(u.reply), reason=mask(u.reason), question=mask(u.question))
            for u in unread
        )
        run = LlmRun(
            f"run-{uuid.uuid4().hex[:12]}", what, self._context.now(), usage.input, usage.output,
            kept, tuple(memories) if kept else (),
        )  # fmt: skip
        label = f"{what} used {usage.total:,} tokens"
        with (
            irreplaceable(),
            self._library.transaction(f"reflector:{what}", label, kind="access") as tx,
        ):
            tx.put(run)
        return run.id

    def spent(self) -> int:
        """Return the tokens of this calendar month (UTC), sent and received."""
        return spent_in_month(self._library.runs.all(), self._context.now())

    def budget(self) -> "Budget":
        """Return the month's budget as it stands."""
        from workbench.reflect.claude.asker import Budget

        return Budget(self._context.settings.claude.monthly_tokens, self.spent())

    def waiting(self, stages: Collection[str] = REFLECTING) -> tuple[Waiting, ...]:
        """Return the replies of some stages that could not be read, the oldest first."""
        runs = sorted(self._library.runs.all(), key=lambda run: (run.made_at, run.id))
        every = (
            Waiting(run.id, place, reply) for run in runs for place, reply in enumerate(run.unread)
        )
        return tuple(one for one in every if one.reply.stage in stages)

    def run(self, id: str) -> LlmRun:
        """Return a run; raises `UnknownRecord`."""
        return self._library.runs.get(id)

    def without(self, waiting: Waiting) -> LlmRun:
        """Return the run of a reply without that reply, to be stored by whoever has dealt with it."""
        run = self.run(waiting.run)
        return replace(run, unread=tuple(reply for reply in run.unread if reply != waiting.reply))


# Candidates out of insights: what a reflection would put into Review.


Find = Callable[[str], Memory | None]
MaskText = Callable[[str], str]


_STATED = "a standing instruction of the user"


def drafts_of(
    insights: Sequence[Insight],
    reflector: str,
    now: datetime,
    find: Find,
    mask: MaskText,
    run: str = "",
) -> tuple[Memory, ...]:
    """Return the candidates that insights become, still without ids; an insight without text
    becomes none.

    What was said twice, in answer to two questions, becomes one candidate that rests on what both
    cite.
    """
    made = (_draft(insight, reflector, now, find, mask, run) for insight in _once(insights))
    return tuple(draft for draft in made if draft is not None)


def why(citations: Sequence[Memory]) -> str:
    """Say in a few words what a reflection rests on: "7 memories, 5 sessions, 6 February to 19
    March".
    """
    if not citations:
        return ""
    sessions = len({m.session_id for m in citations if m.session_id})
    first, last = (pick(m.created_at for m in citations) for pick in (min, max))
    year = "" if first.year == last.year else " %Y"
    days = (
        _day(first, year)
        if first.date() == last.date()
        else f"{_day(first, year)} to {_day(last, year)}"
    )
    parts = [counted(len(citations), "memory", "memories")]
    if sessions:
        parts.append(counted(sessions, "session"))
    return ", ".join((*parts, days))


def _teaches(kinds: Sequence[str]) -> str:
    """Say what an insight is as a lesson: "it corrects and instructs"."""
    return f"it {' and '.join(kinds)}" if kinds else ""


def _once(insights: Sequence[Insight]) -> Iterable[Insight]:
    """Return insights of the same words as one, in the order they came."""
    found: dict[str, Insight] = {}
    for insight in insights:
        words = " ".join(insight.text.split()).casefold()
        first = found.setdefault(words, insight)
        if first is not insight:
            found[words] = replace(
                first,
                citations=tuple(dict.fromkeys((*first.citations, *insight.citations))),
                unresolved=tuple(dict.fromkeys((*first.unresolved, *insight.unresolved))),
                importance=max(first.importance, insight.importance),
            )
    return found.values()


def _draft(
    insight: Insight, reflector: str, now: datetime, find: Find, mask: MaskText, run: str
) -> Memory | None:
    text = clean_for_store(mask(insight.text)).strip()[:MAX_CONTENT].rstrip()
    if not text:
        return None
    cited = [memory for id in insight.citations if (memory := find(id)) is not None]
    notes: dict[str, object] = {
        "reflector": reflector,
        "run": run,
        "label": insight.label,
        "question": clean_for_store(mask(insight.question)),
        "why": "; ".join(
            filter(None, (_STATED if insight.standing else "", _teaches(insight.kinds), why(cited)))
        ),
        "kinds": list(insight.kinds),
        "rounds": [clean_for_store(mask(text)) for text in insight.rounds],
        "unresolved": [clean_for_store(one) for one in insight.unresolved],
        "depth": depth_citing(insight.citations, find),
    }
    return Memory(
        id="",
        content=text,
        created_at=now,
        last_accessed_at=now,
        memory_type="semantic",
        observation_type="insight",
        importance_score=min(10.0, max(0.0, insight.importance)),
        status="candidate",
        is_synthetic=True,
        citations=insight.citations,
        pinned=insight.standing,
        metadata={name: value for name, value in notes.items() if value},
    )


def _day(at: datetime, year: str) -> str:
    return f"{at.day} {at.strftime('%B' + year)}"


# The way to Claude for everything that asks it: whether there is a key, the month's budget, what a
# call cost.


CLAUDE = "claude"
"""What the runs of Claude are called."""

Connect = Callable[["Budget"], "ClaudeReflector"]
"""Makes the reflector that asks Claude, within a budget."""


class AsksClaude(Service):
    """Asks Claude for something; `mask` goes over every text that is sent.

    `connect` makes the connection when something is asked, by default with the settings of the
    store.
    """

    def __init__(
        self, context: Context, mask: Mask = mask_of, connect: Connect | None = None
    ) -> None:
        super().__init__(context)
        self._mask, self._connect = mask, connect
        self.runs = LlmRuns(context)

    @property
    def missing(self) -> str:
        """Why Claude cannot be asked now, or an empty text."""
        if self._connect is not None or has_key():
            return ""
        return f"No API key for Claude. {HOW_TO}"

    def _claude(self) -> "ClaudeReflector":
        """Return a reflector that keeps within what is left of the month's budget."""
        budget = self.runs.budget()
        if self._connect is not None:
            return self._connect(budget)
        from workbench.reflect.claude.reflector import ClaudeReflector  # with it comes the SDK

        # The SDK would find the address as well, but what is shown before has to name it.
        address = os.environ.get("ANTHROPIC_BASE_URL") or None
        return ClaudeReflector(self._context.settings.claude, budget, address)


EXTRACTIVE = "extractive"
NAMES = (CLAUDE, EXTRACTIVE)
"""The reflectors, the one that is preferred first."""


class Plan(NamedTuple):
    """A reflection about to be made: who makes it, exactly what it is given, and the gauge as it
    stood then.

    `spent` of `limit` tokens of this month are gone (limit 0: none).
    """

    reflector: str
    request: Request
    state: ReflectionState
    preview: Preview
    spent: int = 0
    limit: int = 0

    @property
    def since(self) -> datetime | None:
        """When the oldest memory that is read was made."""
        return self.request.memories[0].created_at if self.request.memories else None

    @property
    def is_over_budget(self) -> bool:
        """Whether the month's limit does not hold what would be sent and come back."""
        return 0 < self.limit < self.spent + self.preview.estimate.total


class Outcome(NamedTuple):
    """What came of a reflection: the candidates as stored (without ids after a dry run), and what
    went wrong, if so.

    `afterwards` is what went wrong with what follows a reflection, which itself is stored. `again`
    are the memories that say already what else was found.
    """

    reflection: Reflection
    candidates: tuple[Memory, ...]
    unread: tuple[Waiting, ...] = ()
    problem: ReflectionProblem | None = None
    afterwards: WorkbenchError | None = None
    again: tuple[Memory, ...] = ()


class Reflecting(AsksClaude):
    """Reflections and their trigger. `mask` goes over every text before it is sent or stored.

    `after` is done when one is stored; it may raise `WorkbenchError`. `before` is done ahead of
    one, and says nothing.
    """

    def __init__(
        self,
        context: Context,
        retriever: "Callable[[], Retriever]",
        mask: Mask = mask_of,
        connect: Connect | None = None,
        after: Callable[[], None] = lambda: None,
        before: Callable[[Cancelled], None] = lambda _: None,
    ) -> None:
        super().__init__(context, mask, connect)
        self._retriever = retriever
        self._after, self._before = after, before

    def gauge(self) -> Gauge:
        """Return how far each condition of the trigger is along."""
        return gauge_of(self._context)

    def default(self) -> str:
        """Return the reflector that is used unless another is named: Claude when there is a key."""
        return CLAUDE if has_key() else EXTRACTIVE

    def readable(self) -> int:
        """Return how many memories a reflection by the reflector of this computer would read now."""
        return len(latest(self._context, LOCAL_MEMORIES))

    def plan(self, reflector: str = "", focus: str = "") -> Plan:
        """Gather what a reflection would read and send; nothing is sent. Raises `WorkbenchError`."""
        name = reflector or self.default()
        if name not in NAMES:
            raise WorkbenchError(f"Unknown reflector “{name}”.", f"Choose {' or '.join(NAMES)}.")
        sent = name == CLAUDE
        if sent and self.missing:
            hint = f"{HOW_TO} The extractive reflector needs none."
            raise ReflectionProblem("No API key for Claude.", hint)
        memories = latest(
            self._context, self._context.settings.claude.memories if sent else LOCAL_MEMORIES
        )
        state, asked = state_of(self._context), focus.strip()
        if sent:
            memories, asked = masked(memories, self._mask), self._mask(asked)
        request = Request(memories, asked)
        limits = (
            (self.runs.spent(), self._context.settings.claude.monthly_tokens) if sent else (0, 0)
        )
        preview = self._reflector(name).preview(request)
        if sent and (signals := _signals(memories)):
            from workbench.reflect.claude import asks

            more = self._claude().preview_of(asks.group(signals)).estimate
            remark = (
                f"{preview.remark} A last call asks which of {len(signals):,} signals say the same."
            )
            preview = replace(preview, estimate=preview.estimate + more, remark=remark)
        return Plan(name, request, state, preview, *limits)

    def dry_run(self, plan: Plan, tell: Tell, cancelled: Cancelled) -> Outcome:
        """Reflect and store no candidate; what Claude was asked counts against the budget all the
        same.
        """
        reflection, problem = self._made(plan, tell, cancelled)
        run = self.runs.record(plan.reflector, reflection.usage)
        drafts, again = self._drafts(plan.reflector, reflection, run)
        return Outcome(reflection, drafts, problem=problem, again=again)

    def reflect(
        self, plan: Plan, tell: Tell, cancelled: Cancelled, most: int | None = None
    ) -> Outcome:
        """Reflect, and put what was found into Review, at `most` so many insights.

        What was found before a problem or a cancel is kept.

        Raises `ReflectionProblem` when nothing at all came of it.
        """
        self._before(cancelled)
        reflection, problem = self._made(plan, tell, cancelled)
        reflection = replace(reflection, insights=reflection.insights[:most])
        signals, same = _signals(plan.request.memories), tuple[Insight, ...]()
        if plan.reflector == CLAUDE and reflection.complete and signals:
            claude = self._claude()
            with suppress(ReflectionProblem):  # what was found stands without it
                same = claude.grouped(signals, tell, cancelled)
            reflection = replace(reflection, usage=reflection.usage + claude.used)
        outcome = self._kept(plan.reflector, reflection, problem, plan.request.memories, plan.state)
        self._propose_merges(same)
        return outcome

    def _propose_merges(self, same: Sequence[Insight]) -> None:
        """Put groups of signals that teach one thing into Review, each with the one text for them."""
        settled, now, taken, made = (
            Settled.of(self._library),
            self._context.now(),
            set[str](),
            list[Proposal](),
        )
        for one in same:
            found = [
                m
                for id in one.citations
                if (m := self._library.memories.find(id)) and m.status == "signal"
            ]
            ids = {memory.id for memory in found}
            new = len(ids) > 1 and not one.unresolved and not ids & taken
            if new and settled.is_open(found):
                taken |= ids
                kept, *others = kept_first(found)
                proposal = Proposal(
                    f"merge-{group_mark(found)}", "merge", f"reflector:{CLAUDE}", "Claude reads these as one", now,
                    tuple(memory.id for memory in (*others, kept)),
                    importance=max(memory.importance_score for memory in found),
                    texts=tuple(text_mark(memory.content) for memory in (*others, kept)),
                    operation={"content": self._mask(one.text)},
                )  # fmt: skip
                made += [proposal] if self._library.proposals.find(proposal.id) is None else []
        if made:
            label = f"propose {counted(len(made), 'merge')}"
            with self._library.transaction(f"reflector:{CLAUDE}", label) as tx:
                for proposal in made:
                    tx.put(proposal)

    def ask_again(self, waiting: Waiting, tell: Tell, cancelled: Cancelled) -> Outcome:
        """Ask Claude once more what a reply that could not be read was to answer, and keep what
        comes of it.

        The old reply is let go of when the new one is there. Raises `ReflectionProblem` as
        `reflect` does.
        """
        question = waiting.reply.question
        if not question:
            outcome = self.reflect(self.plan(CLAUDE), tell, cancelled)
        else:
            memories = masked(self._memories_of(waiting), self._mask)
            claude = self._claude()
            reflection, problem = _caught(
                lambda: claude.answer(question, memories, tell, cancelled)
            )
            outcome = self._kept(CLAUDE, reflection, problem, memories, None)
        if outcome.problem is None:
            with irreplaceable():
                self.dismiss(waiting)
        return outcome

    def read_again(self, waiting: Waiting, text: str) -> tuple[Memory, ...]:
        """Make candidates of a reply that could not be read, as a person has edited it.

        A list with citations is read as one; else every paragraph is an insight, flagged for want
        of evidence.
        """
        from workbench.reflect.replies import read_insights

        run, question = self.runs.run(waiting.run), waiting.reply.question
        memories = self._memories_of(waiting)
        # With a memory gone, the numbers would mean others.
        numbered = memories if len(memories) == len(self._counted(waiting)) else ()
        found = read_insights(text, numbered, question).found or _paragraphs(text, question)
        drafts = drafts_of(
            found, run.what, self._context.now(), self._library.memories.find, self._mask, run.id
        )
        if not drafts:
            raise InvalidRecord("No text for a candidate.", "The reply is kept unchanged.")
        label = f"read a reply again: {counted(len(drafts), 'candidate')}"
        with self._context.transaction(label) as tx:
            stored = tuple(
                replace(draft, id=tx.new_memory_id(draft.created_at)) for draft in drafts
            )
            for memory in (*stored, self.runs.without(waiting)):
                tx.put(memory)
        return stored

    def dismiss(self, waiting: Waiting) -> None:
        """Let go of a reply that could not be read; undo brings it back."""
        with self._context.transaction("dismiss an unread reply") as tx:
            tx.put(self.runs.without(waiting))

    def _made(
        self, plan: Plan, tell: Tell, cancelled: Cancelled
    ) -> tuple[Reflection, ReflectionProblem | None]:
        if not plan.request.memories:
            raise ReflectionProblem(
                "No memories to reflect on yet.", "Import or ingest some first."
            )
        reflector = self._reflector(plan.reflector)
        if plan.reflector == CLAUDE and len(plan.request.memories) > RETRIEVED:
            self._retriever().load()  # what may fail fails before anything is paid for
        return _caught(lambda: reflector.reflect(plan.request, tell, cancelled))

    def _kept(
        self,
        reflector: str,
        reflection: Reflection,
        problem: ReflectionProblem | None,
        memories: Sequence[Memory],
        covered: ReflectionState | None,
    ) -> Outcome:
        """Store what came of a reflection on `memories`; `covered` is what it takes off the gauge,
        if anything.
        """
        ids = tuple(memory.id for memory in memories)
        run = self.runs.record(reflector, reflection.usage, reflection.unread, ids, self._mask)
        drafts, again = self._drafts(reflector, reflection, run)
        found = bool(reflection.complete or drafts or again)
        stored = self._store(reflector, drafts, again, covered if found else None)
        unread = tuple(waiting for waiting in self.runs.waiting() if waiting.run == run)
        afterwards = None
        try:
            self._after()
        except WorkbenchError as error:
            afterwards = error
        return Outcome(reflection, stored, unread, problem, afterwards, again)

    def _memories_of(self, waiting: Waiting) -> tuple[Memory, ...]:
        """Return the memories that the citations of a reply count, as far as they are still there."""
        found = (self._library.memories.find(id) for id in self._counted(waiting))
        return tuple(memory for memory in found if memory is not None)

    def _counted(self, waiting: Waiting) -> tuple[str, ...]:
        return waiting.reply.memories or self.runs.run(waiting.run).memories

    def _claude(self) -> "ClaudeReflector":
        claude = super()._claude()
        claude.relevant = self._relevant
        return claude

    def _relevant(self, question: str, memories: Sequence[Memory]) -> Sequence[Memory]:
        """Return those memories that bear most on a question, in their order."""
        if len(memories) <= RETRIEVED:
            return memories
        ranker = self._retriever().ranker()
        scores, row_of = ranker.relevance(question), ranker.pool.row_of
        known = sorted(
            (m for m in memories if m.id in row_of), key=lambda m: -scores.relevance[row_of[m.id]]
        )
        best = {memory.id for memory in known[:RETRIEVED]}
        return [memory for memory in memories if memory.id in best]

    def _reflector(self, name: str) -> Reflector:
        if name == CLAUDE:
            return self._claude()
        from workbench.reflect.extractive import ExtractiveReflector

        return ExtractiveReflector(self._embed, known_texts(self._context))

    def _embed(self, texts: Sequence[str]) -> "Vectors":
        """Embed texts, by their words where the model does not know them; it is loaded when it is
        first needed.
        """
        from workbench.retrieval.embedding.close_pairs import with_words

        return with_words(self._retriever().embedder.embed(texts), texts)

    def _drafts(
        self, reflector: str, reflection: Reflection, run: str
    ) -> tuple[tuple[Memory, ...], tuple[Memory, ...]]:
        """Return the candidates that insights become, and the memories that say the other insights
        already.
        """
        find, now = self._library.memories.find, self._context.now()
        drafts = drafts_of(reflection.insights, reflector, now, find, self._mask, run)
        # The other reflector leaves out by itself what is known.
        return parted(self._context, drafts) if reflector == CLAUDE else (drafts, ())

    def _store(
        self,
        reflector: str,
        drafts: tuple[Memory, ...],
        again: tuple[Memory, ...],
        covered: ReflectionState | None,
    ) -> tuple[Memory, ...]:
        """Store the candidates and what was seen again, and start the gauge anew, as one action.

        What came in while the reflection was made stays on the gauge.
        """
        changed = tuple(
            memory for memory in again if memory != self._library.memories.find(memory.id)
        )
        if not drafts and not changed and covered is None:
            return ()
        now, label = self._context.now(), f"reflect: {counted(len(drafts), 'candidate')}"
        paid = irreplaceable() if reflector == CLAUDE else nullcontext()
        with paid, self._library.transaction(f"reflector:{reflector}", label) as tx:
            stored = tuple(replace(draft, id=tx.new_memory_id(now)) for draft in drafts)
            for memory in (*stored, *changed):
                tx.put(memory)
            if covered is not None:
                tx.put(_started_anew(state_of(self._context), covered, now))
        return stored


def _signals(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Return the signals among memories, if there are two or more to be compared."""
    found = tuple(memory for memory in memories if memory.status == "signal")
    return found if len(found) > 1 else ()


def _started_anew(
    state: ReflectionState, covered: ReflectionState, now: datetime
) -> ReflectionState:
    """Return the gauge after a reflection at `now` that `covered` what was counted when it began."""
    importance = state.accumulated_importance - covered.accumulated_importance
    return replace(
        state,
        accumulated_importance=max(0.0, round(importance, 9)),
        observations_since_last=max(
            0, state.observations_since_last - covered.observations_since_last
        ),
        last_reflection_at=now,
    )


def _caught(make: Callable[[], Reflection]) -> tuple[Reflection, ReflectionProblem | None]:
    """Return what was made; a problem that came after something was found or spent stands beside
    it.
    """
    try:
        return make(), None
    except ReflectionProblem as problem:
        found = problem.found
        if found is None or not (found.insights or found.unread or found.usage.total):
            raise
        return found, problem


def _paragraphs(text: str, question: str) -> tuple[Insight, ...]:
    parts = (part.strip() for part in text.split("\n\n"))
    return tuple(Insight(part, question=question, label=CLAUDE) for part in parts if part)
