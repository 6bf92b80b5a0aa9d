"""What is asked on the tuning screen: the query line, the scoring behind it, and the saved queries."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from textual import on, work
from textual.widgets import Input
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.tuning.judgment import SavedQuery
from workbench.store.library import Touched
from workbench.tui.app.asking import asking
from workbench.tui.tuning import dialogs
from workbench.tui.tuning.messages import Asked
from workbench.tui.tuning.query import QueryLine, choose_moment
from workbench.tui.tuning.session import LOADING, NO_MODEL, NO_QUERY, NO_QUERY_SAVED
from workbench.tui.tuning.tools import TuneTools
from workbench.tui.widgets.texts.safe_input import SafeInput

APART = timedelta(hours=1)
"""From how far on the moment that a query is asked at is not the present any more."""


class TuneAsking(TuneTools):
    """The part of Tune that asks; the screen itself shows the answer."""

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._saved_query: SavedQuery | None = None
        self._asking = False
        self._again = False
        self._failed = False

    def _show(self) -> None:
        raise NotImplementedError

    def _first_row(self, *, focus: bool) -> None:
        raise NotImplementedError

    # Asking

    def show_store(self) -> None:
        """Ask anew over the store as it is."""
        self._ask()

    def follow(self, touched: Touched) -> None:
        """Notice also when queries are saved or judged."""
        super().follow(touched)
        if self._in_sight:
            self._show_query()

    def show_changes(self, touched: Touched) -> None:
        """Ask anew when memories changed; the cursor, the sliders and the query stay."""
        if any(table == "memories" for table, _ in touched.keys):
            self._ask()

    def retriever_ready(self) -> None:
        """Rank what was asked meanwhile."""
        self._failed = not self.bench.tuning.ready
        self._ask()

    def _ask(self) -> None:
        self._show_query()
        if not self._text.strip() or not self.bench.tuning.ready:
            self._desk.put(None, self._asked_at)
            self._show()
        elif self._asking:
            self._again = True
        else:
            self._asking, self._again = True, False
            self._score(self._text)

    @property
    def _asked_at(self) -> datetime:
        saved = self._saved_query
        return saved.now if saved is not None and saved.now is not None else self.bench.context.now()

    @work(thread=True, group="tune", description="score a query")
    def _score(self, text: str) -> None:
        worker = get_current_worker()
        question, problem = None, ""
        try:
            question = self.bench.tuning.question(text)
            for candidates in {self._desk.profile.candidates, self._desk.saved.candidates} - {""}:
                question.ranker.pool.matching(candidates, self._desk.now)
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(Asked(text, question, problem))

    @on(Asked)
    def _answered(self, event: Asked) -> None:
        self._asking = False
        if event.problem:
            self.workbench_app.say(event.problem, "error")
        elif self._again or event.text != self._text:
            self._ask()
        else:
            self._desk.put(event.question, self._asked_at)
            self._show()

    def _obstacle(self) -> str:
        """Return why there is no ranking, or an empty text."""
        if not self._text.strip():
            return NO_QUERY_SAVED if self.bench.tuning.queries() else NO_QUERY
        if not self.bench.tuning.ready:
            return NO_MODEL if self._failed else LOADING
        return self._desk.obstacle()

    # The query line

    @property
    def box(self) -> SafeInput:
        """The box that the query is written in."""
        return self.query_one("#query", SafeInput)

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        self._text = event.value
        same = self.bench.tuning.saved_like(event.value)
        self._saved_query = same[0] if same else None
        self._ask()

    @on(Input.Submitted, "#query")
    def _entered(self) -> None:
        self._first_row(focus=True)
        same = self.bench.tuning.saved_like(self._text)
        if len(same) > 1:
            self._choose_moment(same)

    @work
    async def _choose_moment(self, same: Sequence[SavedQuery]) -> None:
        """Choose which of several saved queries with the same words is meant."""
        chosen = await choose_moment(self.workbench_app, same, self._saved_query)
        if chosen is not None:
            self._take_query(chosen)

    def _take_query(self, query: SavedQuery) -> None:
        shown = self.bench.safety.masked(query.text)
        with self.box.prevent(Input.Changed):
            self.box.value = shown
        # What is ranked is what is saved, whatever of it may be shown.
        self._text, self._saved_query = self.box.value if shown == query.text else query.text, query
        self._first_row(focus=False)
        self._ask()

    def _show_query(self) -> None:
        """Say beside the query whether it is saved, how much of it is judged, and when it is asked."""
        saved, present = self._saved_query, self.bench.context.now()
        grades = self.bench.tuning.grades(saved) if saved else None
        moment = saved.now if saved and saved.now and abs(saved.now - present) > APART else None
        self.query_one(QueryLine).show(grades, moment)

    def action_query(self) -> None:
        """Go to the query."""
        self.set_focus(self.box)

    @asking
    async def action_queries(self) -> None:
        """Choose one of the saved queries."""
        queries = self.bench.tuning.queries()
        if not queries:
            self.workbench_app.say("No saved queries yet. / writes one to rank by.")
            return
        current = self._saved_query.id if self._saved_query else ""
        chosen = await dialogs.choose_query(self.workbench_app, queries, current)
        if chosen is not None:
            self._take_query(chosen)
