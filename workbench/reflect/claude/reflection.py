"""One reflection by Claude: questions, insights on each, ratings. What was found survives whatever happens."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.core.reflection.reflector import (
    RETRIEVED,
    STOPPED,
    Cancelled,
    Insight,
    Reflection,
    ReflectionProblem,
    Tell,
    Unread,
)
from workbench.core.stream.memory import Memory
from workbench.reflect.claude import asks
from workbench.reflect.claude.asker import NAME, Asker, Place, minus, trouble_of
from workbench.reflect.claude.prompting import Prompt
from workbench.reflect.claude.trouble import Kind
from workbench.reflect.known import KnownTexts
from workbench.reflect.replies.parse import (
    Questions,
    complete_lines,
    cut_off,
    read_insights,
    read_questions,
    read_ratings,
)

Relevant = Callable[[str, Sequence[Memory]], Sequence[Memory]]
"""Picks the memories that bear on a question; oldest first."""

GOES_ON: tuple[Kind | None, ...] = (None, "cut", "refusal", "empty")
"""Ends of a call that say nothing against the next one."""


def latest(_question: str, memories: Sequence[Memory]) -> Sequence[Memory]:
    """Pick the latest memories."""
    return memories[-RETRIEVED:]


class ReflectionRun:
    """The state of one reflection while it runs; made for one use."""

    def __init__(
        self, asker: Asker, memories: Sequence[Memory], relevant: Relevant, tell: Tell, cancelled: Cancelled
    ) -> None:
        self._asker, self._memories, self._relevant = asker, memories, relevant
        self._tell, self._cancelled = tell, cancelled
        self._before = asker.used
        self._questions: tuple[str, ...] = ()
        self._insights: list[Insight] = []
        self._unread: list[Unread] = []
        self._problem: ReflectionProblem | None = None
        self._was_cancelled = False

    def all(self, focus: str) -> Reflection:
        """Run the whole reflection."""
        rates = self._asker.settings.rate_importance
        total = 1 + asks.QUESTIONS + rates
        reply, kind = self._ask(asks.questions(self._memories, focus), Place(0, total))
        found = read_questions(reply, asks.QUESTIONS) if reply.strip() else Questions()
        self._questions = found.texts
        self._unread += found.unread
        # A stream that broke behind a whole question has asked something all the same.
        goes_on = kind in (*GOES_ON, "dropped")
        for place, question in enumerate(self._questions, start=1):
            goes_on = goes_on and self._ask_for_insights(question, Place(place, total))
        if goes_on and rates and self._insights:
            self._rate(Place(total - 1, total))
        return self._result()

    def one(self, question: str) -> Reflection:
        """Ask for insights on one question only."""
        self._questions = (question,)
        self._ask_for_insights(question, Place(0, 1))
        return self._result()

    def _ask_for_insights(self, question: str, place: Place) -> bool:
        """Add the insights on one question; return whether another call is worth making."""
        memories = tuple(self._relevant(question, self._memories))
        sent = tuple(memory.id for memory in memories)
        reply, kind = self._ask(asks.insights(question, memories), place, question)
        if reply.strip():
            read = read_insights(reply, memories, question)
            self._insights = once([*self._insights, *read.found])
            self._unread += read.unread
        self._unread = [replace(one, memories=sent) if one.question == question else one for one in self._unread]
        return kind in GOES_ON

    def _rate(self, place: Place) -> None:
        prompt = asks.rate([insight.text for insight in self._insights])
        reply, _ = self._ask(prompt, place, stream=False)
        if reply.strip():
            ratings, unread = read_ratings(reply, len(self._insights))
            self._unread += unread
            self._insights = [
                replace(insight, importance=ratings.get(at, insight.importance))
                for at, insight in enumerate(self._insights)
            ]

    def _ask(self, prompt: Prompt, place: Place, question: str = "", *, stream: bool = True) -> tuple[str, Kind | None]:
        """Return what can be read of the reply (of a broken one the whole lines) and what went wrong, if anything."""
        try:
            answer = self._asker.ask(prompt, self._tell, self._cancelled, place, stream=stream)
        except ReflectionProblem as problem:  # the budget does not hold the call
            self._problem = problem
            return "", "broken"
        trouble = trouble_of(answer)
        if trouble is None:
            return answer.text, None
        message, hint = self._asker.sentences(trouble)
        self._problem = ReflectionProblem(message, hint)
        self._was_cancelled = trouble.kind == "cancelled"
        if trouble.kind in ("refusal", "empty"):
            self._unread.append(Unread(prompt.stage, answer.text, message, question))
            return "", trouble.kind
        whole, beginning = complete_lines(answer.text)
        self._unread += cut_off(prompt.stage, beginning, message, question)
        return whole, trouble.kind

    def _result(self) -> Reflection:
        """Return what was found; raises the problem when nothing was, unless a person cancelled."""
        stopped = self._problem.message if self._problem is not None else ""
        stopped = STOPPED if self._was_cancelled else stopped
        if not stopped and not self._questions:
            stopped = "No question could be read from the reply of Claude."
        usage = minus(self._asker.used, self._before)
        found = Reflection(
            NAME,
            tuple(self._insights),
            self._questions,
            usage,
            tuple(self._unread),
            not stopped,
            stopped,
            by_person=self._was_cancelled,
        )
        if self._problem is None or self._insights or self._was_cancelled:
            return found
        self._problem.found = found
        raise self._problem


def once(insights: Sequence[Insight]) -> list[Insight]:
    """Return insights that say the same, or nearly, only once, at their first place, with all that they cite.

    Several questions may lead to one answer.
    """
    found: dict[str, Insight] = {}
    for insight in insights:
        text = next(iter(KnownTexts(found).same(insight.text)), insight.text)
        known = found.get(text)
        found[text] = (
            insight
            if known is None
            else replace(
                known,
                citations=tuple(dict.fromkeys((*known.citations, *insight.citations))),
                unresolved=tuple(dict.fromkeys((*known.unresolved, *insight.unresolved))),
            )
        )
    return list(found.values())
