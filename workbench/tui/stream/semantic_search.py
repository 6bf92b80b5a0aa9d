"""Ranks what is near the words of a filter by meaning, away from the keyboard; the next key cancels it."""

import asyncio
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from textual.worker import WorkType

from workbench.core.record import WorkbenchError
from workbench.core.runtime import stoppable
from workbench.services.stream.stream import StreamView
from workbench.tui.app.area import AreaScreen

if TYPE_CHECKING:
    from workbench.services.stream.semantic import SemanticMatches

_SETTLED_S = 0.02
"""How long no key comes before the ranking begins: who types on does not wait for it."""

_GROUP = "near"


class SemanticSearch:
    """Asks for what is near a view's words; `answered` is told, on the screen's thread.

    `by_score` says whether it is also asked what the memories that hold the words are worth.
    """

    def __init__(
        self, area: AreaScreen, answered: Callable[[StreamView, "SemanticMatches"], None], by_score: Callable[[], bool]
    ) -> None:
        self._area, self._answered, self._by_score = area, answered, by_score

    def ask(self, view: StreamView) -> bool:
        """Rank for a view's words in place of whatever was asked before; tell whether it has any to rank for."""
        query = view.question
        if not query or view.is_partial or not self._area.bench.retriever.ready:
            self.forget()
            return False
        # Not its coroutine: one that the next key cancels before it began would be told as never awaited.
        work: WorkType[None] = partial(self._rank, view, query)
        # Described, or Textual would describe it by its arguments: every memory that was found, a second for a key.
        self._area.run_worker(work, group=_GROUP, exclusive=True, description=_GROUP)
        return True

    def forget(self) -> None:
        """Ask for nothing any more."""
        self._area.workers.cancel_group(self._area, _GROUP)

    async def _rank(self, view: StreamView, query: str) -> None:
        await asyncio.sleep(_SETTLED_S)
        bench, by_score, left = self._area.bench, self._by_score(), Event()

        def rank() -> "SemanticMatches":
            from workbench.services.stream.semantic import (
                semantic_matches,  # numeric libraries: not before they are needed
            )

            with stoppable(left.is_set):
                holding = {memory.id for memory in view.memories}
                return semantic_matches(bench.tuning, query, view.tests, holding, bench.context.now(), worth=by_score)

        try:
            found = await asyncio.to_thread(rank)
        except WorkbenchError as error:
            self._area.workbench_app.say(str(error), "error")
        else:
            self._answered(view, found)
        finally:
            left.set()  # a thread goes on until it is told; two at once would both be late
