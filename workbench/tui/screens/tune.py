"""Tune: move the weights, watch the ranking move, see why, save a profile."""

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.judgment import SavedQuery
from workbench.core.profile import WORKBENCH, Profile
from workbench.retrieval.flips import Direction, just_beyond, nearest_flip
from workbench.retrieval.ranking import Factor
from workbench.store.library import Touched
from workbench.tui import tune_dialogs as dialogs
from workbench.tui.actions import bindings
from workbench.tui.areas import TUNE
from workbench.tui.asking import asking
from workbench.tui.screens.tune_tools import TuneTools
from workbench.tui.tune_desk import LOADING, NO_MODEL, NO_QUERY, NO_QUERY_SAVED, Desk
from workbench.tui.tune_messages import HELP, Asked, Hinted
from workbench.tui.tune_parameters import TIME, Parameter
from workbench.tui.tune_ranking import RankingPane
from workbench.tui.tune_rows import Line, memory_of
from workbench.tui.tune_sliders import TuneSliders
from workbench.tui.tune_verdict import VerdictLine
from workbench.tui.tune_why import WhyPane
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.safe_input import SafeInput
from workbench.tui.widgets.slider import Slider

REST_SECONDS = 0.06
"""How long the hand rests before hints are worked out."""


class TuneScreen(TuneTools):
    """Sliders on the left, the live ranking beside them, and the explanation of the row under the cursor."""

    AREA = "tune"
    BINDINGS: ClassVar[list[BindingType]] = bindings(TUNE)
    help_text = HELP
    DEFAULT_CSS = """
    TuneScreen {
        #query-line { height: 1; padding: 0 1; }
        #query-label { width: auto; color: $text-muted; }
        #query { width: 1fr; background: $background; }
        #sliders { width: 40; border-right: solid $panel; }
        #stage { layout: vertical; width: 1fr; }
        #ranking { height: 1fr; min-height: 8; }
        #why { height: 55%; min-height: 9; max-height: 22; border-top: solid $panel; }
        #why:focus { border-top: solid $accent; }
        &.-wide #stage { layout: horizontal; }
        &.-wide #ranking { width: 1fr; }
        &.-wide #why { width: 64; height: 1fr; max-height: 100%; border-top: none; border-left: solid $panel; }
        &.-wide #why:focus { border-left: solid $accent; }
        &.-narrow #sliders { width: 34; }
        &.-narrow #why { display: none; border-top: none; }
        &.-narrow.-open #why { display: block; height: 1fr; max-height: 100%; }
        &.-narrow.-open #ranking, &.-narrow.-open #sliders { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._saved_query: SavedQuery | None = None
        self._asking = False
        self._again = False
        self._failed = False
        self._hinting = False
        self._hints_stale = False
        self._desk = Desk(WORKBENCH, WORKBENCH, datetime.min)

    def contents(self) -> Iterable[Widget]:
        """Return the query line, the sliders, the ranking and the explanation."""
        now, profile = self.bench.context.now(), WORKBENCH
        with self.workbench_app.reporting():
            profile = self.bench.tuning.default()
        self._desk = Desk(profile, profile, now)
        box = SafeInput(placeholder="/ what an agent might ask", id="query")
        yield Horizontal(Static(Content("query "), id="query-label"), box, id="query-line")
        yield Horizontal(
            TuneSliders(profile, id="sliders"),
            Container(
                RankingPane(id="ranking"),
                WhyPane(id="why"),
                id="stage",
            ),
        )
        yield VerdictLine()

    def on_mount(self) -> None:
        """Start on the first saved query, with the first slider under the hand."""
        queries = self.bench.tuning.queries()
        self.sliders.show(self._desk.profile, self._desk.saved)
        self.query_one("#slider-recency").focus()
        if queries:
            self._take_query(queries[0])

    @property
    def rows(self) -> LineView[Line]:
        """The list of the ranking."""
        return self.query_one(RankingPane).rows

    @property
    def sliders(self) -> TuneSliders:
        """The column of sliders."""
        return self.query_one(TuneSliders)

    @property
    def why(self) -> WhyPane:
        """The explanation."""
        return self.query_one(WhyPane)

    # Asking

    def show_store(self) -> None:
        """Ask anew over the store as it is."""
        self._ask()

    def show_changes(self, touched: Touched) -> None:
        """Ask anew when memories changed; the cursor, the sliders and the query stay."""
        if any(table == "memories" for table, _ in touched.keys):
            self._ask()

    def retriever_ready(self) -> None:
        """Rank what was asked meanwhile."""
        self._failed = not self.bench.tuning.ready
        self._ask()

    def _ask(self) -> None:
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

    @work(thread=True, group="tune")
    def _score(self, text: str) -> None:
        worker = get_current_worker()
        question, problem = None, ""
        try:
            question = self.bench.tuning.question(text)
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

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        self._text, self._saved_query = event.value, None
        self._ask()

    @on(Input.Submitted, "#query")
    def _entered(self) -> None:
        self.rows.focus()

    def _take_query(self, query: SavedQuery) -> None:
        box = self.query_one("#query", SafeInput)
        with box.prevent(Input.Changed):
            box.value = query.text
        self._text, self._saved_query = box.value, query
        self.rows.cursor = 0
        self._ask()

    # Showing

    def _show(self) -> None:
        """Show the ranking as it is now; the hints follow."""
        self.query_one(RankingPane).show(self._desk, self._obstacle(), self.bench.context.now())
        self._show_why()
        self.want_verdict()

    def _obstacle(self) -> str:
        if not self._text.strip():
            return NO_QUERY_SAVED if self.bench.tuning.queries() else NO_QUERY
        if not self.bench.tuning.ready:
            return NO_MODEL if self._failed else LOADING
        return self._desk.obstacle()

    @on(LineView.Highlighted, "#list")
    def _show_why(self) -> None:
        """Explain the row under the cursor."""
        self.why.show(self._desk, self.rows.current)
        self._want_hints()

    def _want_hints(self) -> None:
        """Have the hints worked out behind the screen, once more when something moved meanwhile."""
        self._hints_stale = True
        if not self._hinting:
            self._hinting, self._hints_stale = True, False
            self._work_out(replace(self._desk), self.sliders.parameter, self.sliders.highs, self.why.memory)

    @work(thread=True, group="hints")
    def _work_out(self, desk: Desk, parameter: Parameter | None, highs: dict[Factor, float], memory: str) -> None:
        # A slider held down is not slowed by hints that would be stale at once.
        time.sleep(REST_SECONDS)
        hints = None if self._hints_stale else desk.hints(parameter, highs, memory)
        if not get_current_worker().is_cancelled:
            self.post_message(Hinted(hints))

    @on(Hinted)
    def _hinted(self, event: Hinted) -> None:
        self._hinting = False
        if self._hints_stale or event.hints is None:
            self._want_hints()
            return
        self.sliders.show_hints(event.hints)
        self.why.show_ways(event.hints.memory, event.hints.ways)

    # Tuning

    @on(TuneSliders.Moved)
    def _moved(self, event: TuneSliders.Moved) -> None:
        if event.parameter is None:
            self._desk.days = event.value or 0.0
        else:
            self._desk.profile = event.parameter.put(self._desk.profile, event.value)
            self.sliders.follow(self._desk.profile, self._desk.saved)
        self._desk.rerank()
        self._show()

    @on(TuneSliders.Focused)
    def _focused(self) -> None:
        self._want_hints()

    def _put_profile(self, profile: Profile, saved: Profile) -> None:
        self._desk.profile, self._desk.saved = profile, saved
        self._desk.rerank()
        self.sliders.show(profile, saved)
        self._show()

    def action_next_flip(self) -> None:
        """Just beyond the next value at which two rows swap."""
        self._jump(1)

    def action_previous_flip(self) -> None:
        """Just below the last value at which two rows swap."""
        self._jump(-1)

    def _jump(self, direction: Direction) -> None:
        slider, parameter = self.sliders.current, self.sliders.parameter
        if parameter is None or parameter.factor is None:
            self.workbench_app.say("Flips are known for the three weights. Go to one of their sliders first.")
            return
        limit = slider.scale.maximum if direction > 0 else 0.0
        found = self._desk.flips(parameter.factor, slider.scale.maximum) or ()
        flip = nearest_flip(found, slider.value or 0.0, direction)
        beyond = just_beyond(found, flip, direction, limit) if flip else None
        if beyond is None:
            self.workbench_app.say(f"No {'more' if direction > 0 else 'less'} {parameter.label} changes the order.")
        else:
            slider.value = beyond

    def action_earlier(self) -> None:
        """Move `now` back."""
        self.query_one(f"#slider-{TIME}", Slider).action_less()

    def action_later(self) -> None:
        """Move `now` on."""
        self.query_one(f"#slider-{TIME}", Slider).action_more()

    def action_revert(self) -> None:
        """Put every parameter back to the saved profile, and `now` to the time of the query."""
        slider = self.query_one(f"#slider-{TIME}", Slider)
        with slider.prevent(Slider.Changed):
            slider.value = 0.0
        self._desk.days = 0.0
        self._put_profile(self._desk.saved, self._desk.saved)

    # Going about

    def action_query(self) -> None:
        """Go to the query."""
        self.set_focus(self.query_one("#query"))

    def action_next_pane(self) -> None:
        """To the next pane."""
        self._to_pane(1)

    def action_last_pane(self) -> None:
        """To the pane before."""
        self._to_pane(-1)

    def _to_pane(self, step: int) -> None:
        panes = [w for w in (self.sliders.current, self.rows, self.why) if w.focusable and w.is_on_screen]
        here = next((i for i, w in enumerate(panes) if w is self.focused), -1 if step > 0 else 0)
        if panes:
            panes[(here + step) % len(panes)].focus()

    def go_back(self) -> None:
        """Close the explanation, leave the query, or let go of the memory that was asked for."""
        if self.has_class("-open"):
            self.remove_class("-open")
            self.rows.focus()
        elif self.focused is self.query_one("#query"):
            self.sliders.current.focus()
        elif self._desk.watched is not None:
            self._desk.watched = None
            self._show()
        elif self.focused is self.why:
            self.rows.focus()

    @on(LineView.Opened, "#list")
    def _open(self) -> None:
        self.add_class("-open")
        self.why.focus()

    def action_copy(self) -> None:
        """Copy the text of the memory under the cursor."""
        if (memory := memory_of(self.rows.current)) is not None:
            self.copy(memory.content)

    def action_history(self) -> None:
        """Show who changed the memory under the cursor."""
        if (memory := memory_of(self.rows.current)) is not None:
            self.show_history(memory.id)

    # Choosing

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

    @asking
    async def action_load(self) -> None:
        """Load a profile; changed settings go only after a yes."""
        profile = await dialogs.choose_profile(self.workbench_app, self._desk)
        if profile is not None:
            self._put_profile(profile, profile)
            self.workbench_app.say(f"Loaded {profile.name}. {profile.about}")

    @asking
    async def action_save(self) -> None:
        """Save the settings as a profile; the movement marks then start from it."""
        profile = await dialogs.save_profile(self.workbench_app, self._desk, await self.birth())
        if profile is not None:
            self._put_profile(profile, profile)
            self.workbench_app.say(f"Saved {profile.name}.")

    @asking
    async def action_options(self) -> None:
        """Choose how recency counts and what normalises."""
        profile = await dialogs.choose_option(self.workbench_app, self._desk.profile)
        if profile is not None:
            self._put_profile(profile, self._desk.saved)

    @asking
    async def action_why(self) -> None:
        """Choose any memory; it stands in the list until esc, with its place and its parts."""
        if self._desk.ranking is None:
            self.workbench_app.say("Nothing is ranked yet. / writes a query.")
            return
        chosen = await dialogs.choose_memory(self.workbench_app, self._desk)
        if chosen is not None:
            self._desk.watched = chosen if chosen in self._desk.ranking.pool.row_of else None
            self._show()
            place = self.rows.index_of(("memory", chosen))
            if place is not None:
                self.rows.cursor = place
                self.rows.focus()
            if self.has_class("-narrow"):
                self._open()
