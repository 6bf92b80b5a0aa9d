"""Other words with Claude's help: rounds for a candidate, and one text for bullets that are to
become one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from workbench.core.reflection.reflector import (
    Insight,
    Preview,
    Reflection,
    ReflectionProblem,
    Tell,
    Usage,
)
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store, counted
from workbench.services.reflection.reflection import CLAUDE, AsksClaude, masked


class Refined(NamedTuple):
    """The new texts that came of it, in order, what they cost, and what went wrong after them, if
    anything did.
    """

    texts: tuple[str, ...]
    usage: Usage
    problem: ReflectionProblem | None = None


class Refinement(AsksClaude):
    """Asks Claude for other words for a candidate."""

    def preview(self, memory: Memory, text: str) -> Preview:
        """Return exactly what asking about `text`, one of a candidate's rounds, would send first."""
        from workbench.reflect.claude import asks

        prompt = asks.refine(self._mask(text), self._cited(memory))
        return self._claude().preview_of(
            prompt, more="A round that is not specific enough is followed by another"
        )

    def ask(self, memory: Memory, text: str, tell: Tell, cancelled: Cancelled) -> Refined:
        """Ask for the rounds after `text`. Raises `ReflectionProblem` when nothing came of it."""
        reflector = self._claude()
        before = Insight(self._mask(text), memory.citations, rounds=())
        problem: ReflectionProblem | None = None
        try:
            after = reflector.refine(before, self._cited(memory), tell, cancelled, force=True)
        except ReflectionProblem as raised:
            found = raised.found or Reflection(CLAUDE, ())
            after, problem = next(iter(found.insights), before), raised
        usage = reflector.used
        unread = problem.found.unread if problem is not None and problem.found is not None else ()
        self.runs.record(CLAUDE, usage, unread, memory.citations, self._mask)
        texts = tuple(
            clean_for_store(t).strip() for t in (*after.rounds[1:], after.text) if t != before.text
        )
        if not texts and problem is not None:
            raise problem
        return Refined(texts, usage, problem)

    def _cited(self, memory: Memory) -> tuple[Memory, ...]:
        found = (self._context.library.memories.find(id) for id in memory.citations)
        return masked([m for m in found if m is not None], self._mask)


# One text for bullets that are to become one, with Claude's help; a person takes it or leaves it.


class BookWording(AsksClaude):
    """Asks Claude for a merged text."""

    def preview(self, texts: Sequence[str]) -> Preview:
        """Return exactly what the first call about some texts would send."""
        from workbench.reflect.claude import asks

        more = len(texts) - 2
        again = (
            f"{counted(more, 'more call')} follow, one for each further text" if more > 0 else ""
        )
        return self._claude().preview_of(
            asks.merge(self._mask(texts[0]), self._mask(texts[1])), more=again
        )

    def ask(self, texts: Sequence[str], tell: Tell, cancelled: Cancelled) -> tuple[str, int]:
        """Return one text that holds everything of all, and the tokens it took. Raises
        `ReflectionProblem`.
        """
        reflector = self._claude()
        try:
            merged = self._mask(texts[0])
            for text in texts[1:]:
                merged = reflector.merged_text(merged, self._mask(text), tell, cancelled)
        finally:
            self.runs.record(CLAUDE, reflector.used)
        return clean_for_store(merged).strip(), reflector.used.total
