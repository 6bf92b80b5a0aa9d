"""One text for bullets that are to become one, with Claude's help; a person takes it or leaves it."""

from collections.abc import Sequence

from workbench.core.reflection.reflector import Preview, Tell
from workbench.core.runtime import Cancelled
from workbench.core.text import clean_for_store
from workbench.services.reflection.reflection import CLAUDE, AsksClaude


class BookWording(AsksClaude):
    """Asks Claude for a merged text."""

    def preview(self, texts: Sequence[str]) -> Preview:
        """Return exactly what the first call about some texts would send."""
        from workbench.reflect.claude import asks

        more = len(texts) - 2
        again = f"{more} more call{'' if more == 1 else 's'} follow, one for each further text" if more > 0 else ""
        return self._claude.open().preview_of(asks.merge(self._mask(texts[0]), self._mask(texts[1])), more=again)

    def ask(self, texts: Sequence[str], tell: Tell, cancelled: Cancelled) -> tuple[str, int]:
        """Return one text that holds everything of all, and the tokens it took. Raises `ReflectionProblem`."""
        reflector = self._claude.open()
        try:
            merged = self._mask(texts[0])
            for text in texts[1:]:
                merged = reflector.merged_text(merged, self._mask(text), tell, cancelled)
        finally:
            self._claude.runs.record(CLAUDE, reflector.used)
        return clean_for_store(merged).strip(), reflector.used.total
