"""Replaying a session: what its agent would have been given at each step, by the store as it was
then, and now.

Both are ranked with today's model and profile as of the step's time, so that what differs is what
curation did. What was purged is gone from the past, too; that is said.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt, short_paths
from workbench.core.agents.transcript.failures import line_of, trouble_in
from workbench.core.agents.transcript.summaries import words_of
from workbench.core.record import UnknownRecord, parse_time
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import Profile
from workbench.services.agents.capture.reading import events_of, session_in
from workbench.services.agents.serving import Served, give
from workbench.services.context import Context
from workbench.services.safety.safety import Safety
from workbench.services.tuning.tuning import Tuning

if TYPE_CHECKING:
    from workbench.store.history import Event as PastEvent

StepKind = Literal["prompt", "task", "failure"]
Change = Literal["", "gone", "archived", "held", "below", "later"]
"""What parts one time from the other for a memory: nothing; it is gone; it is archived; it is held
back; others come before it, or it is not relevant; it came later.
"""

ASKED = 2_000
"""Characters of a step that are asked with."""

_TASKS = frozenset({"Task", "Agent"})


class Step(NamedTuple):
    """Something in a session at which its agent might have been given memories: when, and what is
    asked with.
    """

    kind: StepKind
    at: datetime
    text: str


class Given(NamedTuple):
    """A memory that would be given: its id, its line (its secrets masked), its score and its
    relevance.

    `change` says what it is at the other time, at which it is not given.
    """

    id: str
    line: str
    score: float
    change: Change = ""
    relevance: float = 0.0


class Replayed(NamedTuple):
    """A step, what would have been given at it by the store at revision `rev`, and what is given
    now.

    `purged` counts the purges since: what they erased cannot be told.
    """

    step: Step
    rev: int
    then: tuple[Given, ...]
    now: tuple[Given, ...]
    purged: int = 0


class Past(Protocol):
    """The same store as it was at a revision."""

    context: Context
    safety: Safety

    @property
    def tuning(self) -> Tuning:
        """Its rankings."""


class Replay:
    """Replays sessions; `open_at` opens the same store as it was at a revision."""

    def __init__(
        self, context: Context, tuning: Tuning, safety: Safety, open_at: Callable[[int], Past]
    ) -> None:
        self._context, self._library = context, context.library
        self._tuning, self._safety, self._open_at = tuning, safety, open_at

    def steps(self, path: Path) -> tuple[Step, ...]:
        """Return the steps of a session's transcript, the first one first. Raises `UnreadableFile`."""
        session_in(path)
        return tuple(_steps(events_of(path)))

    def run(
        self,
        steps: Sequence[Step],
        agent: str,
        *,
        k: int | None = None,
        profile: str = "",
        rev: int | None = None,
        tick: Callable[[int, int], bool] | None = None,
    ) -> Iterator[Replayed]:
        """Yield each step with what `agent` would have been given, by revision `rev` or the one of
        the step's time.

        `tick` is told how many of all are done, and stops it by saying so. Nothing counts as read.
        Raises `UnknownRecord` for a revision or a profile that there is not.
        """
        chosen = self._tuning.profiles.get(profile) if profile else self._tuning.default()
        if rev is not None and not 0 <= rev <= self._library.revision:
            message = f"There is no revision {rev}; the latest is {self._library.revision}."
            raise UnknownRecord(message, "Nothing was replayed.")
        moments, past = _Moments(self._library.past.events(accesses=True)), {}
        for place, step in enumerate(steps):
            if tick is not None and tick(place, len(steps)):
                return
            at = moments.rev_at(step.at) if rev is None else rev
            if at and at not in past:
                past = {at: self._open_at(at)}
            bench = past.get(at)
            then = (
                given(bench.context, bench.tuning, bench.safety, step, agent, k, chosen)
                if bench
                else ()
            )
            now = given(self._context, self._tuning, self._safety, step, agent, k, chosen)
            before, after = {one.id for one in then}, {one.id for one in now}
            gone = [
                one if one.id in after else one._replace(change=self._since(one.id)) for one in then
            ]
            come = [
                one if one.id in before else one._replace(change=_why_not(bench, one.id))
                for one in now
            ]
            yield Replayed(step, at, tuple(gone), tuple(come), moments.purges_after(at))

    def _since(self, id: str) -> Change:
        """Say what became of a memory that was given then."""
        memory = self._library.memories.find(id)
        return "gone" if memory is None else _left_out(memory, self._safety)


def _why_not(past: Past | None, id: str) -> Change:
    """Say why a memory that is given now was not given then."""
    memory = None if past is None else past.context.library.memories.find(id)
    return "later" if past is None or memory is None else _left_out(memory, past.safety)


def _left_out(memory: Memory, safety: Safety) -> Change:
    if memory.status == "archived":
        return "archived"
    return "held" if safety.held_from_agents(memory) else "below"


class _Moments:
    """When each revision of a store was made, and which ones purged."""

    def __init__(self, events: "Iterator[PastEvent]") -> None:
        self._times: list[datetime] = []
        self._revs: list[int] = []
        self._purges: list[int] = []
        for event in reversed(list(events)):
            when = parse_time(event.at)
            # A clock that was set back makes nothing undone.
            self._times.append(max(when, self._times[-1]) if self._times else when)
            self._revs.append(event.rev)
            if event.kind == "purge":
                self._purges.append(event.rev)

    def rev_at(self, at: datetime) -> int:
        """Return the latest revision at a moment; 0 before the first."""
        place = bisect_right(self._times, at)
        return self._revs[place - 1] if place else 0

    def purges_after(self, rev: int) -> int:
        """Return how many times something was purged after a revision."""
        return len(self._purges) - bisect_right(self._purges, rev)


def given(
    context: Context,
    tuning: Tuning,
    safety: Safety,
    step: Step,
    agent: str,
    k: int | None,
    profile: Profile,
) -> tuple[Given, ...]:
    """Return what an agent would be given for a step, as of its time."""
    asking = replace(context, actor=f"agent:{agent}", clock=lambda: step.at)
    served: Served = give(asking, tuning, step.text, k, profile, safety)
    return tuple(
        Given(one.memory.id, one.memory.line, round(one.total, 6), relevance=round(relevance, 6))
        for one, relevance in zip(served.top, served.relevances, strict=True)
    )


def _steps(events: Sequence[Event]) -> Iterator[Step]:
    """Yield what a person asked, what subagents were to do, and what failed; each needs a time."""
    calls: dict[str, Call] = {}
    said: set[str] = set()
    for event in events:
        at = event.at
        if isinstance(event, Call):
            calls[event.id] = event
            task = str(event.given.get("prompt") or "") if event.tool in _TASKS else ""
            if task and at is not None:
                yield Step("task", at, _asked(task))
        elif isinstance(event, Prompt) and not event.agent and at is not None:
            words = words_of(event.text)
            if words and words not in said:
                said.add(words)
                yield Step("prompt", at, _asked(words))
        elif isinstance(event, Answer) and event.failed and at is not None:
            call = calls.get(event.id)
            line = "" if call is None else line_of(call, event.text)
            trouble = trouble_in(event.text) if line else None
            if trouble is not None:
                yield Step("failure", at, _asked(f"{line[:300]}\n{trouble.text}"))


def _asked(text: str) -> str:
    return short_paths(text.strip()[:ASKED])
