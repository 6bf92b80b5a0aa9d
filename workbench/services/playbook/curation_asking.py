"""Asking Claude to curate a playbook (source 003): what would be sent, the call, and replies nobody could read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.core.errors import WorkbenchError
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.reflection.reflector import Cancelled, Preview, ReflectionProblem, Tell, Usage
from workbench.core.stream.memory import Memory
from workbench.reflect.claude import asks
from workbench.safety.scanning import mask as mask_of
from workbench.services.context import Context
from workbench.services.playbook import curation_lessons
from workbench.services.playbook.curation import Curator, Reply, reply_of
from workbench.services.playbook.curation_lessons import CURATED, Lessons
from workbench.services.playbook.curation_run import Episode, used
from workbench.services.playbook.playbook import Playbooks
from workbench.services.reflection.claude import Claude, Connect
from workbench.services.reflection.llm_runs import ACE_STAGES, Waiting
from workbench.services.reflection.source import Mask

if TYPE_CHECKING:
    from workbench.reflect.claude.reflector import ClaudeReflector

TRIED = "curator-tried"
"""What a run is called after which the same memories are still to be told."""


@dataclass(frozen=True, slots=True)
class CurationPlan:
    """A curation about to be made, with every text masked: what is told, about which playbook, and what it costs.

    With a `run` the Reflector is asked first, and its analysis is what the Curator is told. `unknown` are ids of
    used bullets that the playbook does not have. `room` is how many tokens the playbook may grow by, if bounded.
    `spent` of `limit` tokens of this month are gone (limit 0: none).
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


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of it: the replies that could be read (a Reflector's first), what could not, and what went wrong."""

    replies: tuple[Reply, ...]
    usage: Usage
    unread: tuple[Waiting, ...] = ()
    problem: ReflectionProblem | None = None


class CuratorRequest:
    """Asks the ACE roles; writes nothing but what it cost, and replies nobody could read."""

    def __init__(
        self,
        context: Context,
        playbooks: Playbooks,
        curating: Curator,
        mask: Mask = mask_of,
        connect: Connect | None = None,
    ) -> None:
        self._context = context
        self._playbooks = playbooks
        self._curating = curating
        self._mask = mask
        self._claude = Claude(context, connect)
        self.runs = self._claude.runs

    @property
    def missing(self) -> str:
        """Why Claude cannot be asked now, or an empty text."""
        return self._claude.missing

    def unseen(self, book: str) -> Lessons:
        """Return what was confirmed since a playbook's last curation; before the first one, the latest."""
        return curation_lessons.unseen(self._context, book)

    def latest(self) -> Lessons:
        """Return what was confirmed most recently."""
        return curation_lessons.latest(self._context)

    def marked(self, memories: Sequence[Memory]) -> Lessons:
        """Return memories that somebody marked."""
        found = (self._context.library.memories.find(memory.id) for memory in memories)
        return curation_lessons.chosen([memory for memory in found if memory is not None])

    def plan(self, book: str, lessons: Lessons) -> CurationPlan:
        """Gather what would be sent; nothing is. Raises `UnknownRecord` for a playbook that is not there."""
        told = tuple(self._mask(memory.content) for memory in lessons.memories)
        playbook, room = self._sent(book), self._room(book)
        preview = self._claude.open().preview_of(asks.curate(told, playbook, room))
        return CurationPlan(book, told, lessons, playbook, preview, *self._month(), room)

    def plan_run(self, book: str, episode: Episode) -> CurationPlan:
        """Gather what would be sent first about a run; the Curator is asked after it. Raises `UnknownRecord`."""
        run, mask = episode.run, self._mask
        run = asks.Run(mask(run.task), mask(run.trajectory), mask(run.outcome), mask(run.expected))
        playbook, room, claude = self._sent(book), self._room(book), self._claude.open()
        bullets, unknown = used(playbook, episode.bullets)
        first, then = asks.analyse(run, bullets), asks.curate((), playbook, room)
        cost = claude.preview_of(first).estimate + claude.preview_of(then).estimate
        more = "One more call follows, with what was learned of it and the playbook"
        preview = claude.preview_of(first, cost, more)
        return CurationPlan(book, (), Lessons(()), playbook, preview, *self._month(), room, run, bullets, unknown)

    def ask(self, plan: CurationPlan, tell: Tell, cancelled: Cancelled, *, covers: bool = True) -> Asked:
        """Ask as planned. Raises `ReflectionProblem` when nothing at all came of it.

        With `covers` the next curation begins after this one, if this one was told everything.
        """
        if not plan.told and plan.run is None:
            raise WorkbenchError("There is nothing to tell the Curator.", "Approve some candidates in Review first.")
        claude, replies, problem = self._claude.open(), list[Reply](), None
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
        """Read a kept reply as a person has edited it; then it waits no longer. Raises `UnreadableReply`."""
        reply = self._curating.read(text)
        with self._context.library.transaction(self._context.actor, "read a reply again") as tx:
            tx.put(self.runs.without(waiting))
        return reply

    def dismiss(self, waiting: Waiting) -> None:
        """Let go of a reply that nobody could read; undo brings it back. What it was told is to be told again."""
        run = self.runs.without(waiting)
        with self._context.library.transaction(self._context.actor, "dismiss an unread reply") as tx:
            tx.put(replace(run, what=f"{TRIED}:{run.what.partition(':')[2]}"))

    def _ask(
        self, claude: "ClaudeReflector", plan: CurationPlan, replies: list[Reply], tell: Tell, cancelled: Cancelled
    ) -> None:
        """Ask one role, or both in turn; each reply is added as it comes, so that a later failure loses none."""
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
