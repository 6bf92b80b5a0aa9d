"""The line above the ranking: the query, whether it is saved, which of several equal ones is meant, and its scoring."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import cast

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.core.tuning.floor import UNKNOWN
from workbench.core.tuning.judgment import SavedQuery
from workbench.services.open import Workbench
from workbench.services.tuning.session import TuningSession
from workbench.tui.app.host import Host
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.content import MUTED, key_of, keyed
from workbench.tui.widgets.dialog import Choice, Choose
from workbench.tui.widgets.figures import absolute, number
from workbench.tui.widgets.texts.safe_input import SafeInput

NO_WEIGHTS = "All three weights are zero, so nothing would be ranked. Move one of them up."
NO_QUERY = "Press {tune.query} and write what an agent might ask; the ranking follows while you type."
NO_QUERY_SAVED = "Press {tune.query} and write what an agent might ask, or {tune.queries} for a saved query."
LOADING = "The embedding model is loading. Go on typing; the ranking follows."
NO_MODEL = "The embedding model could not be loaded, so nothing can be ranked. Everything else works."
EMPTY_STORE = "No memories yet. `workbench import FILE` brings some in; agents add theirs with `workbench ingest`."
NONE_SERVED = (
    "None of the {count} memories would be served at this time: they are archived, not yet reviewed, or newer. "
    "The slider “now” moves the time."
)
NONE_CHOSEN = "The candidate filter “{filter}” matches none of the {count} memories. {key} changes it."


def obstacle(session: TuningSession) -> str:
    """Return why there is a question but no ranking, or an empty text."""
    if session.question is None or (session.ranking is not None and session.ranking.ids):
        return ""
    if session.ranking is None:
        return NO_WEIGHTS
    count = len(session.ranking.pool)
    if count and session.profile.candidates:
        return NONE_CHOSEN.format(
            filter=printable(session.profile.candidates), count=number(count), key=key_of("tune.candidates")
        )
    return NONE_SERVED.format(count=number(count)) if count else EMPTY_STORE


APART = timedelta(hours=1)
"""From how far on the moment that a query is asked at is not the present any more."""

_WITH_TIME = 90
"""Cells from which on there is room for the time of day."""


class Asked(Message):
    """A query has been scored, and ranked in a copy of the session (or `problem` says why not)."""

    def __init__(self, ranked: TuningSession, problem: str = "") -> None:
        super().__init__()
        self.ranked = ranked
        self.problem = problem


class FloorSettled(Message):
    """The floor is computed, or `problem` says why not."""

    def __init__(self, problem: str = "") -> None:
        super().__init__()
        self.problem = problem


@survives
class QueryLine(Horizontal):
    """The box for a query, and on the right what the store knows about that query.

    What is written there is the session's query. It is scored away from the keyboard, one text at a time; `answered`
    is called in the turn in which the session has its ranking, so that no other turn paints the old one.
    """

    DEFAULT_CSS = """
    QueryLine {
        height: 1;
        padding: 0 1;
        & #query-label { width: 6; color: $text-muted; }
        & #query { width: 1fr; background: $background; }
        & #query-state { width: auto; }
    }
    """

    def __init__(self, bench: Workbench, session: TuningSession, answered: Callable[[], None]) -> None:
        super().__init__(id="query-line")
        self._bench = bench
        self._session = session
        self._answered = answered
        self.box = SafeInput(placeholder="/ what an agent might ask", id="query")
        self.asking = False
        self._again = False
        self._failed = False
        self._state = ""

    def compose(self) -> ComposeResult:
        """Build label, box and state."""
        yield Static(Content("query "), id="query-label")
        yield self.box
        yield Static(id="query-state")

    def on_resize(self) -> None:
        """Say as much about the query as leaves room for it."""
        self.show_state()

    # What stands in the line

    def show_state(self) -> None:
        """Say beside the query whether it is saved, how much of it is judged, and when it is asked."""
        saved, present, state = self._session.query, self._bench.context.now(), ""
        if saved is not None:
            grades = self._bench.tuning.grades(saved)
            state = f"  saved · {number(grades)} judged" if grades else "  saved · not judged"
            if saved.now and abs(saved.now - present) > APART:
                at = absolute(saved.now)
                state += f" · as of {at if self.size.width >= _WITH_TIME else at.split()[0]}"
        if state != self._state:
            self._state = state
            self.query_one("#query-state", Static).update(Content.styled(state, MUTED))

    def store_changed(self) -> None:
        """Find out whether the query is saved by now, or still is, and say so."""
        held = self._session.query
        if held is None or held.id not in self._bench.library.queries:
            same = self._bench.tuning.saved_like(self._session.text)
            self._session.query = same[0] if same else None
            if same and same[0].now is not None:
                self.ask()
        self.show_state()

    def take(self, query: SavedQuery) -> None:
        """Ask a saved query. What is ranked is what is saved, whatever of it may be shown."""
        shown = self._bench.safety.masked(query.text)
        with self.box.prevent(Input.Changed):
            self.box.value = shown
        self._session.text = self.box.value if shown == query.text else query.text
        self._session.query = query
        self.ask()

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        same = self._bench.tuning.saved_like(event.value)
        self._session.text = event.value
        self._session.query = same[0] if same else None
        self.ask()

    # Asking

    def model_came(self) -> None:
        """Rank what was asked meanwhile."""
        self._failed = not self._bench.tuning.ready
        self.ask()

    def ask(self) -> None:
        """Have the query scored over the store as it is now."""
        self.show_state()
        if not self._session.text.strip() or not self._bench.tuning.ready:
            self._session.put(None, self._now())
            self._answered()
        elif self.asking:
            self._again = True
        else:
            self.asking, self._again = True, False
            self._score(self._session.copy(), self._now())

    def _now(self) -> datetime:
        return self._session.moment(self._bench.context.now())

    @work(thread=True, group="tune", description="score a query")
    def _score(self, session: TuningSession, asked_at: datetime) -> None:
        worker = get_current_worker()
        problem = ""
        try:
            session.put(self._bench.tuning.question(session.text), asked_at)
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(Asked(session, problem))

    @on(Asked)
    def _scored(self, event: Asked) -> None:
        self.asking = False
        if event.problem:
            self._host.say(event.problem, "error")
        elif self._again or event.ranked.text != self._session.text:
            self.ask()
        else:
            self._session.take(event.ranked)
            self._answered()
            if event.ranked.question is not None and event.ranked.question.standard == UNKNOWN:
                self._settle()

    @work(thread=True, exclusive=True, group="floor", description="compute the floor")
    def _settle(self) -> None:
        """Compute the floor, then ask again: the ranking does not wait for it."""
        worker = get_current_worker()
        problem = ""
        try:
            self._bench.tuning.floors.settled(cancelled=lambda: worker.is_cancelled)
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(FloorSettled(problem))

    @on(FloorSettled)
    def _settled(self, event: FloorSettled) -> None:
        if event.problem:
            self._host.say(event.problem, "error")
        else:
            self.ask()

    @on(Input.Submitted, "#query")
    def _entered(self) -> None:
        same = self._bench.tuning.saved_like(self._session.text)
        if len(same) > 1:
            self._choose_moment(same)

    @work
    async def _choose_moment(self, same: Sequence[SavedQuery]) -> None:
        """Choose which of several saved queries with the same words is meant."""
        chosen = await choose_moment(self._host, same, self._session.query)
        if chosen is not None:
            self.take(chosen)

    async def choose(self) -> SavedQuery | None:
        queries = self._bench.tuning.queries()
        if not queries:
            self._host.say(keyed("No saved queries yet. {tune.query} writes one to rank by."))
            return None
        current = self._session.query.id if self._session.query else ""
        mask = self._bench.safety.masked
        found = [Choice(q.id, mask(q.text), mask(", ".join(q.tags))) for q in queries]
        chosen = await self._host.push_screen_wait(Choose("Saved queries", found, current))
        return next((q for q in queries if q.id == chosen), None)

    @property
    def _host(self) -> Host:
        return cast(Host, self.app)

    def obstacle(self) -> str:
        """Return why there is no ranking, or an empty text."""
        if not self._session.text.strip():
            return keyed(NO_QUERY_SAVED if self._bench.tuning.queries() else NO_QUERY)
        if not self._bench.tuning.ready:
            return NO_MODEL if self._failed else LOADING
        return obstacle(self._session)


async def choose_moment(app: Host, same: Sequence[SavedQuery], current: SavedQuery | None) -> SavedQuery | None:
    """Ask which of several saved queries with the same words is meant; they differ in when they are asked."""
    found = [Choice(q.id, moment(q), app.bench.safety.masked(", ".join(q.tags))) for q in same]
    title = f"{len(same)} saved queries have these words"
    chosen = await app.push_screen_wait(Choose(title, found, current.id if current else ""))
    return next((q for q in same if q.id == chosen), None)


def moment(query: SavedQuery) -> str:
    return "asked now" if query.now is None else f"asked at {absolute(query.now)}"
