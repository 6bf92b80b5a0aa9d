"""One text for bullets that are to become one, with Claude's help; a person takes it or leaves it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.bench.context import Context
from workbench.bench.llm_runs import LlmRuns
from workbench.bench.reflection_source import Mask
from workbench.core.text import clean_for_store
from workbench.reflect.keys import HOW_TO, has_key
from workbench.reflect.model import Cancelled, Preview, Tell

if TYPE_CHECKING:
    from workbench.reflect.budget import Budget
    from workbench.reflect.claude import ClaudeReflector

CLAUDE = "claude"

Connect = Callable[["Budget"], "ClaudeReflector"]
"""Makes the reflector that asks Claude, within a budget."""


class BookWording:
    """Asks Claude for a merged text; writes nothing but what it cost. `mask` goes over every text that is sent."""

    def __init__(self, context: Context, mask: Mask = clean_for_store, connect: Connect | None = None) -> None:
        self._context = context
        self._mask = mask
        self._connect = connect
        self._runs = LlmRuns(context)

    @property
    def missing(self) -> str:
        """Why Claude cannot be asked now, or an empty text."""
        if self._connect is not None or has_key():
            return ""
        return f"There is no API key for Claude. {HOW_TO}"

    def preview(self, texts: Sequence[str]) -> Preview:
        """Return exactly what the first call about some texts would send."""
        from workbench.reflect import asks

        more = len(texts) - 2
        again = f"{more} more call{'' if more == 1 else 's'} follow, one for each further text" if more > 0 else ""
        return self._reflector().preview_of(asks.merge(self._mask(texts[0]), self._mask(texts[1])), more=again)

    def ask(self, texts: Sequence[str], tell: Tell, cancelled: Cancelled) -> tuple[str, int]:
        """Return one text that holds everything of all, and the tokens it took. Raises `ReflectionProblem`."""
        reflector = self._reflector()
        try:
            merged = self._mask(texts[0])
            for text in texts[1:]:
                merged = reflector.merged_text(merged, self._mask(text), tell, cancelled)
        finally:
            self._runs.record(CLAUDE, reflector.used)
        return clean_for_store(merged).strip(), reflector.used.total

    def _reflector(self) -> "ClaudeReflector":
        budget = self._runs.budget()
        if self._connect is not None:
            return self._connect(budget)
        from workbench.reflect.claude import ClaudeReflector

        return ClaudeReflector(self._context.settings.claude, budget)
