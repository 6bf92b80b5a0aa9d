"""The reflector that asks Claude (source 000, algorithms 7–9; source 003, the ACE roles).

What it sends is exactly what `preview` and the functions of `asks` return; texts are masked before they come here.
The key is never stored here: the SDK finds it when a call is made.
"""

from collections.abc import Sequence

from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.curation import Analysis, Curation
from workbench.core.reflection.llm import LlmSettings
from workbench.core.reflection.reflector import (
    RETRIEVED,
    Cancelled,
    Insight,
    Preview,
    Reflection,
    ReflectionProblem,
    Request,
    Step,
    Tell,
    Usage,
)
from workbench.core.stream.memory import Memory
from workbench.reflect.claude import asks, single
from workbench.reflect.claude.asker import NAME, Asker
from workbench.reflect.claude.budget import Budget
from workbench.reflect.claude.events import Reach
from workbench.reflect.claude.keys import HOW_TO, has_key
from workbench.reflect.claude.prompting import Prompt
from workbench.reflect.claude.reflection import ReflectionRun, Relevant, latest
from workbench.reflect.claude.trouble import host_of


def quiet(_step: Step) -> None:
    """Hear of progress and do nothing."""


def never() -> bool:
    """Nobody cancels."""
    return False


class ClaudeReflector:
    """Reflects by asking Claude. Callable from any thread, one call at a time.

    `relevant` picks the memories that bear on a question, out of those of the request; without it the latest are sent
    with each question. `used` adds up the tokens of everything this reflector did.
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
        self._asker = Asker(settings, Budget(settings.monthly_tokens) if budget is None else budget, reach)
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
        """Estimate the tokens of a whole reflection: those of the texts sent, and of replies of usual length."""
        memories = self._latest(request.memories)
        longest = sorted(memories, key=lambda memory: -len(memory.content))[:RETRIEVED]
        calls = [asks.questions(memories, request.focus), *[asks.insights("", longest)] * asks.QUESTIONS]
        if self._asker.settings.rate_importance:
            calls.append(asks.rate([]))
        return sum((self._asker.cost(call) for call in calls), Usage())

    def reflect(self, request: Request, tell: Tell, cancelled: Cancelled) -> Reflection:
        """Ask for questions, then for insights on each, then for ratings if the settings want them.

        Insights found before a call failed or was cancelled are returned, not `complete`. Raises `ReflectionProblem`
        when a call failed and there is no insight; questions, replies and usage are then in its `found`.
        """
        memories = self._latest(request.memories)
        if not memories:
            raise ReflectionProblem("There is nothing to reflect on.", "Record or import some memories first.")
        self._begin()
        self._asker.require(self.estimate(request).total, "This reflection")
        return ReflectionRun(self._asker, memories, self.relevant, tell, cancelled).all(request.focus)

    def answer(
        self, question: str, memories: Sequence[Memory], tell: Tell = quiet, cancelled: Cancelled = never
    ) -> Reflection:
        """Ask for insights on one question, such as one whose reply could not be read. Raises as `reflect` does."""
        self._begin()
        return ReflectionRun(self._asker, self._latest(memories), self.relevant, tell, cancelled).one(question)

    def refine(
        self,
        insight: Insight,
        memories: Sequence[Memory],
        tell: Tell = quiet,
        cancelled: Cancelled = never,
        *,
        force: bool = False,
    ) -> Insight:
        """Make an insight more specific by `memories`, those it cites; see `single.refined`."""
        self._begin()
        return single.refined(self._asker, insight, memories, tell, cancelled, force=force)

    def ace_reflect(
        self, run: asks.Run, bullets: Sequence[Bullet], tell: Tell = quiet, cancelled: Cancelled = never
    ) -> Analysis:
        """Ask the ACE Reflector about one run and the bullets used in it. Raises `ReflectionProblem`."""
        self._begin()
        return single.analysed(self._asker, run, bullets, tell, cancelled)

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
        self._begin()
        return single.curated(self._asker, lessons, playbook, room, tell, cancelled)

    def merged_text(self, first: str, second: str, tell: Tell = quiet, cancelled: Cancelled = never) -> str:
        """Ask for one text that holds everything of both. Raises `ReflectionProblem`."""
        self._begin()
        return single.merged(self._asker, first, second, tell, cancelled)

    def _begin(self) -> None:
        if self._asker.reach.api_key is None and not has_key():
            raise ReflectionProblem("There is no API key for Claude.", HOW_TO)

    def _latest(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        return memories[-self._asker.settings.memories :]
