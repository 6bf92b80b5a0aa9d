"""A small store for the Review tests: candidates and what they rest on, by a clock that the tests
move.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from textual.widgets import Static

from tests.tui.support import NOW, Driver, app_over, each_key, open_bench
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation
from workbench.tui.review.screen import ReviewScreen
from workbench.tui.widgets.reading_pane import ReadingPane

TEXTS = {
    "c1": "Read the contract before writing the client: the field names differ between versions.",
    "c2": "Deploys on Friday afternoon need a second person who can roll back.",
    "c3": "The cache must be cleared after the commit, never before it.",
    "c4": "Flaky tests hide real races; find the race before adding a retry.",
}
"""The candidates in the order of the queue."""


class Ticking:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> Any:
        return self.at

    def move(self, **span: float) -> None:
        """Move the clock on."""
        self.at += timedelta(**span)


def memory(id: str, content: str, **fields: Any) -> Memory:
    """Return a memory made an hour before `NOW`, unless the fields say otherwise."""
    at = fields.pop("created_at", NOW - timedelta(hours=1))
    return Memory(id=id, content=content, created_at=at, last_accessed_at=at, **fields)


def candidate(id: str, content: str, *citations: str, **fields: Any) -> Memory:
    """Return a candidate."""
    return memory(id, content, status="candidate", is_synthetic=True, citations=citations, **fields)


def put(bench: Workbench, *records: object, actor: str = "agent:test") -> None:
    """Write records as another actor."""
    with bench.library.transaction(actor, "prepare") as tx:
        for record in records:
            tx.put(record)


def store(folder: Path, clock: Callable[[], Any] = Ticking()) -> Workbench:  # noqa: B008 - never moved unless given
    """Open a store with four candidates and what they cite."""
    bench = open_bench(folder, clock)
    put(
        bench,
        memory(
            "o1", "The client read `amount`, the contract says `amount_minor`.", importance_score=7
        ),
        memory(
            "o2",
            "Cleared the cache before the commit: readers put the old value back.",
            importance_score=8,
        ),
        memory("o3", "An old note.", status="archived", archived_reason="forgotten"),
        *(
            candidate(id, text, "o1", importance_score=9.0 - n)
            for n, (id, text) in enumerate(TEXTS.items())
        ),
    )
    return bench


def add_merge(bench: Workbench) -> str:
    """Take in two observations that may be the same; return the id of the proposal to merge them."""
    bench.ingest.add(
        Observation("always run the migration twice on staging, never once, to warm the cache")
    )
    taken = bench.ingest.add(
        Observation("always run the migration twice on staging, never once, to warm up the cache")
    )
    assert taken.outcome == "proposed"
    return next(p.id for p in bench.review.queue() if p.kind == "merge")


class ReviewDriver(Driver):
    """The app at Review."""

    async def start(self) -> None:
        """Go to Review."""
        await self.keys("2")
        await self.until(lambda: isinstance(self.app.screen, ReviewScreen) and self.count != "")

    async def keys(self, *pressed: str) -> None:
        """Press keys, and let each one be dealt with."""
        for key in each_key(pressed):
            await self.pilot.press(key)
            await self.pilot.pause()

    async def settle(self) -> None:
        """Wait until the evidence of the item under the cursor is complete."""
        await self.until(self._searched)

    def _searched(self) -> bool:
        shown = self.screen.shown
        if shown is None:
            return not self.ids
        return (
            shown.proposal.id == self.current
            and shown.evidence is not None
            and shown.evidence.searched
        )

    @property
    def screen(self) -> ReviewScreen:
        """The screen under test, also below a dialog."""
        return next(s for s in reversed(self.app.screen_stack) if isinstance(s, ReviewScreen))

    @property
    def ids(self) -> list[str]:
        """The listed ids."""
        return [p.id for p in self.screen.queue.listed]

    def go(self, id: str) -> None:
        """Move the cursor to an item, or to the heading of a group."""
        self.screen.rows.cursor = next(
            at for at, row in enumerate(self.screen.rows.rows) if row.id == id
        )

    @property
    def current(self) -> str:
        """The id under the cursor."""
        row = self.screen.queue.current
        return row.id if row else ""

    @property
    def count(self) -> str:
        """The progress as shown."""
        return str(self.screen.query_one("#count", Static).content)

    def text(self, pane: str) -> str:
        """What a pane says."""
        return self.screen.query_one(f"#{pane}", ReadingPane).plain


@asynccontextmanager
async def review(
    bench: Workbench, size: tuple[int, int] = (140, 45)
) -> AsyncIterator[ReviewDriver]:
    """Run the app over a bench, at Review."""
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        driver = ReviewDriver(app, pilot)
        await driver.start()
        yield driver
