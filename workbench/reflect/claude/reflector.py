"""The reflector that asks Claude (source 000, algorithms 7–9; source 003, the ACE roles).

What it sends is exactly what `preview` and the functions of `asks` return; texts are masked before
they come here. The key is never stored here: the SDK finds it when a call is made.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from workbench.core.agents.plan import ActionType
from workbench.core.limits import LlmSettings
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.operations import Analysis, Curation, read_analysis, read_curation
from workbench.core.reflection.llm import UnreadableReply, UnreadReply, needs_round
from workbench.core.reflection.reflector import (
    RETRIEVED,
    STOPPED,
    Insight,
    Preview,
    Reflection,
    ReflectionProblem,
    Request,
    Step,
    Tell,
    Usage,
)
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.reflect.claude import asks
from workbench.reflect.claude.asker import (
    NAME,
    Asker,
    Budget,
    Kind,
    Reach,
    host_of,
    minus,
    trouble_of,
)
from workbench.reflect.claude.asks import Prompt
from workbench.reflect.languages import KnownTexts
from workbench.reflect.replies import (
    Questions,
    complete_lines,
    cut_off,
    read_actions,
    read_citations,
    read_insights,
    read_questions,
    read_ratings,
    read_text,
)

# One reflection by Claude: questions, insights on each, ratings. What was found survives whatever
# happens.


Relevant = Callable[[str, Sequence[Memory]], Sequence[Memory]]
"""Picks the memories that bear on a question; oldest first."""

GOES_ON: tuple[Kind | None, ...] = (None, "cut", "refusal", "empty")
"""Ends of a call that say nothing against the next one."""


def latest(_question: str, memories: Sequence[Memory]) -> Sequence[Memory]:
    return memories[-RETRIEVED:]


class ReflectionRun:
    """The state of one reflection while it runs; made for one use."""

    def __init__(
        self,
        asker: Asker,
        memories: Sequence[Memory],
        relevant: Relevant,
        tell: Tell,
        cancelled: Cancelled,
    ) -> None:
        self._asker, self._memories, self._relevant = asker, memories, relevant
        self._tell, self._cancelled = tell, cancelled
        self._before = asker.used
        self._questions: tuple[str, ...] = ()
        self._insights: list[Insight] = []
        self._unread: list[UnreadReply] = []
        self._problem: ReflectionProblem | None = None
        self._was_cancelled = False

    def all(self, focus: str) -> Reflection:
        rates = self._asker.settings.rate_importance
        total = 1 + asks.QUESTIONS + rates
        reply, kind = self._ask(asks.questions(self._memories, focus), 0, total)
        found = read_questions(reply, asks.QUESTIONS) if reply.strip() else Questions()
        self._questions = found.texts
        self._unread += found.unread
        # A stream that broke behind a whole question has asked something all the same.
        goes_on = kind in (*GOES_ON, "dropped")
        for place, question in enumerate(self._questions, start=1):
            goes_on = goes_on and self._ask_for_insights(question, place, total)
        if goes_on and rates and self._insights:
            self._rate(total)
        return self._result()

    def one(self, question: str) -> Reflection:
        """Ask for insights on one question only."""
        self._questions = (question,)
        self._ask_for_insights(question, 0, 1)
        return self._result()

    def _ask_for_insights(self, question: str, done: int, total: int) -> bool:
        """Add the insights on one question; return whether another call is worth making."""
        memories = tuple(self._relevant(question, self._memories))
        sent = tuple(memory.id for memory in memories)
        reply, kind = self._ask(asks.insights(question, memories), done, total, question)
        if reply.strip():
            read = read_insights(reply, memories, question)
            self._insights = once([*self._insights, *read.found])
            self._unread += read.unread
        self._unread = [
            replace(one, memories=sent) if one.question == question else one for one in self._unread
        ]
        return kind in GOES_ON

    def _rate(self, total: int) -> None:
        prompt = asks.rate([insight.text for insight in self._insights])
        reply, _ = self._ask(prompt, total - 1, total, stream=False)
        if reply.strip():
            ratings, unread = read_ratings(reply, len(self._insights))
            self._unread += unread
            self._insights = [
                replace(insight, importance=ratings.get(at, insight.importance))
                for at, insight in enumerate(self._insights)
            ]

    def _ask(
        self, prompt: Prompt, done: int, total: int, question: str = "", *, stream: bool = True
    ) -> tuple[str, Kind | None]:
        """Return what can be read of the reply (of a broken one the whole lines) and what went
        wrong, if anything.
        """
        try:
            answer = self._asker.ask(
                prompt, self._tell, self._cancelled, done=done, total=total, stream=stream
            )
        except ReflectionProblem as problem:  # no key, or the budget does not hold the call
            self._problem = problem
            return "", "broken"
        trouble = trouble_of(answer)
        if trouble is None:
            return answer.text, None
        message, hint = self._asker.sentences(trouble)
        self._problem = ReflectionProblem(message, hint)
        self._was_cancelled = trouble.kind == "cancelled"
        if trouble.kind in ("refusal", "empty"):
            self._unread.append(UnreadReply(prompt.stage, answer.text, message, question))
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
    """Return insights that say the same, or nearly, only once, at their first place, with all that
    they cite.

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


Reading = TypeVar("Reading")


def _stopped(
    insights: tuple[Insight, ...], usage: Usage, unread: tuple[UnreadReply, ...], why: str
) -> Reflection:
    return Reflection(NAME, insights, usage=usage, unread=unread, complete=False, stopped=why)


def quiet(_step: Step) -> None:
    """Hear of progress and do nothing."""


def never() -> bool:
    """Nobody cancels."""
    return False


class ClaudeReflector:
    """Reflects by asking Claude. Callable from any thread, one call at a time.

    `relevant` picks the memories that bear on a question, out of those of the request; without it
    the latest are sent with each question. `used` adds up the tokens of everything this reflector
    did.
    """

    name = NAME

    def __init__(
        self,
        settings: LlmSettings,
        budget: Budget | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        relevant: Relevant = latest,
        timeout: float = 120.0,
        retries: int = 3,
    ) -> None:
        reach = Reach(base_url, api_key, timeout, retries=retries)
        self._asker = Asker(
            settings, Budget(settings.monthly_tokens) if budget is None else budget, reach
        )
        self.relevant = relevant

    @property
    def used(self) -> Usage:
        """The tokens of every call so far, also of those that failed."""
        return self._asker.used

    def preview(self, request: Request) -> Preview:
        """Return the text of the first call, and an estimate of the tokens of all; sends nothing."""
        first = asks.questions(self._latest(request.memories), request.focus)
        few = len(self._latest(request.memories)) <= RETRIEVED
        which = "the memories again" if few else f"those {RETRIEVED} memories that bear most on it"
        how = f"{asks.QUESTIONS} more calls follow, each with one of the questions and {which}"
        return self.preview_of(first, self.estimate(request), how)

    def preview_of(self, prompt: Prompt, estimate: Usage | None = None, more: str = "") -> Preview:
        """Return what a call with this prompt sends; for what the functions of `asks` make."""
        said = f"Goes to {self._asker.settings.model} at {host_of(self._asker.reach.base_url)}."
        cost = self._asker.cost(prompt) if estimate is None else estimate
        return Preview((prompt.text,), cost, f"{said} {more}." if more else said)

    def estimate(self, request: Request) -> Usage:
        """Estimate the tokens of a whole reflection: those of the texts sent, and of replies of
        usual length.
        """
        memories = self._latest(request.memories)
        longest = sorted(memories, key=lambda memory: -len(memory.content))[:RETRIEVED]
        calls = [
            asks.questions(memories, request.focus),
            *[asks.insights("", longest)] * asks.QUESTIONS,
        ]
        if self._asker.settings.rate_importance:
            calls.append(asks.rate([]))
        return sum((self._asker.cost(call) for call in calls), Usage())

    def reflect(self, request: Request, tell: Tell, cancelled: Cancelled) -> Reflection:
        """Ask for questions, then for insights on each, then for ratings if the settings want them.

        Insights found before a call failed or was cancelled are returned, not `complete`. Raises
        `ReflectionProblem` when a call failed and there is no insight; questions, replies and usage
        are then in its `found`.
        """
        memories = self._latest(request.memories)
        if not memories:
            raise ReflectionProblem(
                "There is nothing to reflect on.", "Record or import some memories first."
            )
        self._asker.require(self.estimate(request).total, "This reflection")
        return ReflectionRun(self._asker, memories, self.relevant, tell, cancelled).all(
            request.focus
        )

    def answer(
        self,
        question: str,
        memories: Sequence[Memory],
        tell: Tell = quiet,
        cancelled: Cancelled = never,
    ) -> Reflection:
        """Ask for insights on one question, such as one whose reply could not be read. Raises as
        `reflect` does.
        """
        return ReflectionRun(
            self._asker, self._latest(memories), self.relevant, tell, cancelled
        ).one(question)

    def grouped(
        self, signals: Sequence[Memory], tell: Tell = quiet, cancelled: Cancelled = never
    ) -> tuple[Insight, ...]:
        """Ask for one text of signals that teach one thing, which cites them. Raises
        `ReflectionProblem`.
        """
        return read_insights(
            self._asker.whole_text(asks.group(signals), tell, cancelled), signals
        ).found

    def refine(
        self,
        insight: Insight,
        memories: Sequence[Memory],
        tell: Tell = quiet,
        cancelled: Cancelled = never,
        *,
        force: bool = False,
    ) -> Insight:
        """Refine until the insight is specific enough or the rounds of the settings are made
        (source 000, algorithm 9).

        `memories` are those it cites; with `force` at least one round is made. Each text it had is
        in `rounds`. When a round fails, the insight as it is by then is in `found` of the
        `ReflectionProblem`; a cancelled one is returned as it is by then.
        """
        before, made = self.used, 0
        limit = self._asker.settings.rounds
        while not cancelled() and ((force and made == 0) or needs_round(insight.text, made, limit)):
            made += 1
            try:
                reply = self._asker.whole_text(asks.refine(insight.text, memories), tell, cancelled)
            except ReflectionProblem as problem:
                if cancelled():
                    break
                unread = problem.found.unread if problem.found is not None else ()
                problem.found = _stopped(
                    (insight,), minus(self.used, before), unread, problem.message
                )
                raise
            cited = read_citations(read_text(reply), memories)
            if not cited.text or cited.text == insight.text:
                break
            insight = replace(
                insight,
                text=cited.text,
                citations=cited.ids or insight.citations,
                unresolved=tuple(dict.fromkeys((*insight.unresolved, *cited.unresolved))),
                rounds=(*insight.rounds, insight.text),
            )
        return insight

    def ace_reflect(
        self,
        run: asks.Run,
        bullets: Sequence[Bullet],
        tell: Tell = quiet,
        cancelled: Cancelled = never,
    ) -> Analysis:
        """Ask the ACE Reflector about one run and the bullets used in it. Raises
        `ReflectionProblem`.
        """
        return self._read(asks.analyse(run, bullets), read_analysis, tell, cancelled)

    def ace_curate(
        self,
        lessons: Sequence[str],
        playbook: Playbook,
        tell: Tell = quiet,
        cancelled: Cancelled = never,
        *,
        room: int | None = None,
    ) -> Curation:
        """Ask the ACE Curator how to bring lessons into a playbook. `room`: tokens it may grow by."""
        return self._read(asks.curate(lessons, playbook, room), read_curation, tell, cancelled)

    def merged_text(
        self, first: str, second: str, tell: Tell = quiet, cancelled: Cancelled = never
    ) -> str:
        """Ask for one text that holds everything of both. Raises `ReflectionProblem`."""
        return read_text(
            self._asker.whole_text(asks.merge(first, second), tell, cancelled, stream=False)
        )

    def propose(
        self, context: str, plan: str, known: str, tell: Tell = quiet, cancelled: Cancelled = never
    ) -> tuple[tuple[tuple[ActionType, str], ...], tuple[str, ...]]:
        """Ask for next actions; return those that could be read, and the lines that could not."""
        return read_actions(
            self._asker.whole_text(asks.propose(context, plan, known), tell, cancelled)
        )

    def _read(
        self, prompt: Prompt, reader: Callable[[str], Reading], tell: Tell, cancelled: Cancelled
    ) -> Reading:
        """Return a reply as it is read. Raises `ReflectionProblem`, with one that cannot be read in
        `found`.
        """
        before = self.used
        reply = self._asker.whole_text(prompt, tell, cancelled)
        try:
            return reader(reply)
        except UnreadableReply as error:
            unread = (UnreadReply(prompt.stage, reply, error.message),)
            found = _stopped((), minus(self.used, before), unread, error.message)
            hint = "The reply is kept and can be edited or asked for again."
            raise ReflectionProblem(error.message, hint, found) from None

    def _latest(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        return memories[-self._asker.settings.memories :]
