"""Refining a candidate with Claude's help (source 000, algorithm 9): rounds of words, each one kept."""

from dataclasses import dataclass

from workbench.core.reflection.reflector import Insight, Preview, Reflection, ReflectionProblem, Tell, Usage
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store
from workbench.services.reflection.reflection import CLAUDE, AsksClaude, masked


@dataclass(frozen=True, slots=True)
class Refined:
    """The new texts that came of it, in order, what they cost, and what went wrong after them, if anything did."""

    texts: tuple[str, ...]
    usage: Usage
    problem: ReflectionProblem | None = None


class Refinement(AsksClaude):
    """Asks Claude for other words for a candidate."""

    def preview(self, memory: Memory, text: str) -> Preview:
        """Return exactly what asking about `text`, one of a candidate's rounds, would send first."""
        from workbench.reflect.claude import asks

        prompt = asks.refine(self._mask(text), self._cited(memory))
        return self._claude.open().preview_of(prompt, more="A round that is not specific enough is followed by another")

    def ask(self, memory: Memory, text: str, tell: Tell, cancelled: Cancelled) -> Refined:
        """Ask for the rounds after `text`. Raises `ReflectionProblem` when nothing came of it."""
        reflector = self._claude.open()
        before = Insight(self._mask(text), memory.citations, rounds=())
        problem: ReflectionProblem | None = None
        try:
            after = reflector.refine(before, self._cited(memory), tell, cancelled, force=True)
        except ReflectionProblem as raised:
            found = raised.found or Reflection(CLAUDE, ())
            after, problem = next(iter(found.insights), before), raised
        usage = reflector.used
        unread = problem.found.unread if problem is not None and problem.found is not None else ()
        self._claude.runs.record(CLAUDE, usage, unread, memory.citations, self._mask)
        texts = tuple(clean_for_store(t).strip() for t in (*after.rounds[1:], after.text) if t != before.text)
        if not texts and problem is not None:
            raise problem
        return Refined(texts, usage, problem)

    def _cited(self, memory: Memory) -> tuple[Memory, ...]:
        found = (self._context.library.memories.find(id) for id in memory.citations)
        return masked([m for m in found if m is not None], self._mask)
