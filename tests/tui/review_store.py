"""A small store for the Review tests: candidates of every kind, by a clock that the tests move."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.pilot import Pilot
from textual.screen import Screen

from workbench.bench.ingest import Observation
from workbench.bench.workbench import Workbench, open_workbench
from workbench.core.memory import Memory
from workbench.tui.app import AppOptions, WorkbenchApp
from workbench.tui.screens.review import ReviewScreen
from workbench.tui.screens.stream import StreamScreen

NOW = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)

TEXTS = {
    "c1": "Read the contract before writing the client: the field names differ between versions.",
    "c2": "Deploys on Friday afternoon need a second person who can roll back.",
    "c3": "The cache must be cleared after the commit, never before it.",
    "c4": "Flaky tests hide real races; find the race before adding a retry.",
}


class Ticking:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        return self.at

    def move(self, **span: float) -> None:
        """Move the clock on."""
        self.at += timedelta(**span)


class ReviewApp(WorkbenchApp):
    """The app with the two areas these tests need."""

    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {"stream": StreamScreen, "review": ReviewScreen}  # type: ignore[misc]
    DEFAULT_MODE = "review"
    BINDINGS: ClassVar[list[BindingType]] = []

    @property
    def review(self) -> ReviewScreen:
        """The screen under test."""
        return next(s for stack in self._screen_stacks.values() for s in stack if isinstance(s, ReviewScreen))

    @property
    def ids(self) -> list[str]:
        """The listed ids, in order."""
        return [p.id for p in self.review.rows.rows]

    @property
    def current(self) -> str:
        """The id under the cursor."""
        row = self.review.rows.current
        return row.id if row else ""

    @property
    def count(self) -> str:
        """The progress as shown."""
        return str(self.review.query_one("#count").render())


def memory(id: str, content: str, **fields: Any) -> Memory:
    """Return a memory made an hour before `NOW`, unless the fields say otherwise."""
    at = fields.pop("created_at", NOW - timedelta(hours=1))
    return Memory(id=id, content=content, created_at=at, last_accessed_at=at, **fields)


def put(bench: Workbench, *records: object, actor: str = "agent:test") -> None:
    """Write records as another actor."""
    with bench.library.transaction(actor, "prepare") as tx:
        for record in records:
            tx.put(record)


def open_store(folder: Path, clock: Callable[[], datetime]) -> Workbench:
    """Open a store with four candidates (c1 first), what they cite, and nothing else."""
    bench = open_workbench(folder / "store", profiles=folder / "profiles", clock=clock)
    put(
        bench,
        memory("o1", "The client read `amount`, the contract says `amount_minor`.", importance_score=7),
        memory("o2", "Cleared the cache before the commit: readers put the old value back.", importance_score=8),
        memory("o3", "An old note.", status="archived", archived_reason="forgotten"),
        *(
            memory(id, text, status="candidate", importance_score=9 - n, is_synthetic=True, citations=("o1",))
            for n, (id, text) in enumerate(TEXTS.items())
        ),
    )
    bench.library.journal.save_checkpoint()
    return bench


def add_merge(bench: Workbench) -> str:
    """Take in an observation that asks for a merge; return the proposal's id."""
    put(bench, memory("o5", "Always run the migration twice on staging, because the first run warms the cache."))
    asked = "Never run the migration twice on staging, because the first run warms the cache."
    taken = bench.ingest.add(Observation(asked))
    assert taken.outcome == "proposed"
    return f"merge-{taken.memory.id}"


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until the model is loaded and the evidence of the open item is there."""
    app = pilot.app
    assert isinstance(app, ReviewApp)

    def done() -> bool:
        shown = app.review.shown
        return app.bench.retriever.ready and (shown is None or (shown.evidence is not None and shown.evidence.searched))

    await until(pilot, done)


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Wait for a condition."""
    for _ in range(2000):
        if holds():
            await pilot.pause()
            return
        await pilot.pause(0.005)
    raise AssertionError("the condition never came true")


def app_for(bench: Workbench) -> ReviewApp:
    """Return the app over a bench."""
    return ReviewApp(bench, AppOptions(title="test"))
