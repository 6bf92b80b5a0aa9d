"""Tune: move the weights, watch the ranking move, see why, save a profile."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import FACTORS, WORKBENCH, Factor, Profile
from workbench.services.context import Touched
from workbench.services.tuning.measuring import Measuring
from workbench.services.tuning.session import TuningSession
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import asking
from workbench.tui.records.links import TO_THE_ROWS, ActsBesideSliders, Place
from workbench.tui.tuning import keeping
from workbench.tui.tuning.actions import TUNE
from workbench.tui.tuning.judging.verdict import VerdictLine
from workbench.tui.tuning.keeping import Keeping
from workbench.tui.tuning.parameters import Hints, Line, Parameter, hints_of, memory_of
from workbench.tui.tuning.profiles import use
from workbench.tui.tuning.query import QueryLine
from workbench.tui.tuning.sliders import RankingPane, TuneSliders
from workbench.tui.tuning.tools import Tools
from workbench.tui.tuning.why import WhyPane
from workbench.tui.widgets.actions import SLIDER
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.content import keyed
from workbench.tui.widgets.lists.line_list import LineView

# What waits until the hand rests: the decay curve, the verdict, and the hints, which a thread works out.


REST_SECONDS = 0.12
"""How long the hand rests before anything but the ranking is worked out."""


class Debounced:
    """Puts off what is slow until nothing has moved for a moment; `waiting` until the hints of the last move show."""

    def __init__(
        self, screen: Screen[object], session: TuningSession, sliders: TuneSliders, why: WhyPane, verdict: VerdictLine
    ) -> None:
        self._screen, self._session = screen, session
        self._sliders, self._why, self._verdict = sliders, why, verdict
        self._moves = 0
        self._timer: Timer | None = None
        self.waiting = False

    def start(self) -> None:
        """Begin to wait, once the screen stands."""
        self._timer = self._screen.set_interval(REST_SECONDS, self._at_rest, pause=True)

    def touch(self) -> None:
        """Wait anew: something has moved."""
        self._moves += 1
        self.waiting = True
        if self._timer is not None:
            self._timer.reset()
            self._timer.resume()

    def _at_rest(self) -> None:
        if self._timer is not None:
            self._timer.pause()
        self._why.show_curve()
        self._verdict.rest()
        asked = (self._moves, self._session.copy(), self._sliders.parameter, self._sliders.highs, self._why.memory)
        self._screen.run_worker(
            partial(self._work_out, *asked), thread=True, exclusive=True, group="hints", description="hints"
        )

    def _work_out(
        self, moves: int, session: TuningSession, parameter: Parameter | None, highs: dict[Factor, float], memory: str
    ) -> None:
        worker = get_current_worker()
        hints = hints_of(session, parameter, highs, memory, lambda: worker.is_cancelled or moves != self._moves)
        if hints is not None and not worker.is_cancelled:
            self._screen.call_later(self._show, moves, hints)

    def _show(self, moves: int, hints: Hints) -> None:
        if moves == self._moves:
            self.waiting = False
            self._sliders.show_hints(hints)
            self._why.show_ways(hints.memory, hints.ways)


HELP = f"""The ranking
  {" ".join(f.glyph for f in FACTORS):17}the weighted parts: {", ".join(f.label for f in FACTORS)}
  ▲2 ▼1            places gained or lost against the saved profile at the time of the query
  new / out        entered or left the top k, which agents are served
  0.412            relevance: (own cosine + own full text) ÷ 2, whatever the profile; full text alone
                   where the model does not know the language
  weak matches     below the floor: unrelated questions match as well; not served to agents
  nothing relevant the query matches no better than unrelated background questions do
The sliders
  ← →              one step, from any pane; with shift a fine one
  enter            types a value; the wheel nudges, a click sets
  ▹                the slider that ← → move while another pane has the focus
  0.37: #4 ↔ #5    at this weight the two rows swap; {{tune.previous-flip}} and {{tune.next-flip}} jump just beyond
  ┼                such a value on the bar
The options ({{tune.options}})
  recency          by hours since the last access, days since it was made, rank, or off
  pinned           stay fresh, or fade as the others do
  0 to 1           over all served, over the most relevant, or by frozen bounds
  candidates       {{tune.candidates}}: a filter; excluded memories are not ranked and set no bound
The verdict
  nDCG@10          over all judged queries; {{tune.metrics}} shows every metric and what it means
  Δ [low, high]    mean difference from the saved profile, with its 95 % interval
  inconclusive     chance alone could do this (paired randomisation test, 5 %)
  provisional      fewer than 12 judged queries"""

NUDGES = tuple(a for a in SLIDER if a.keys in ("left", "right", "shift+left", "shift+right", "backspace"))
"""What moves the current slider from any pane."""


class TuneScreen(AreaScreen):
    """Sliders on the left, the live ranking beside them, and the explanation of the row under the cursor."""

    AREA = "tune"
    BINDINGS: ClassVar[list[BindingType]] = bindings((*TUNE, *NUDGES))
    help_text = HELP
    DEFAULT_CSS = """
    TuneScreen {
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
        profile, _ = self._default()
        self.session = TuningSession(profile, profile, self.bench.context.now())
        self._why_waits = False
        self.measuring = Measuring(self.bench.context, self.bench.evaluator)
        self.query_line = QueryLine(self.bench, self.session, self._answered)
        self.sliders = TuneSliders(self.session, self._show, lambda: self.bench.tuning.used)
        self.ranking = RankingPane(self.bench.safety, id="ranking")
        self.why = WhyPane(self.bench.safety.masked, id="why")
        self.verdict = VerdictLine(self.bench.tuning, self.session, self.measuring)
        self.resting = Debounced(self, self.session, self.sliders, self.why, self.verdict)
        self.keeping = Keeping(self, self.session, self.measuring, self._put)
        self.acts = ActsBesideSliders(lambda: self, self._row_for, missing=TO_THE_ROWS)
        keep = self.keeping.keep_thresholds
        self.tools = Tools(self, self.session, self.measuring, self._put, self._take_query, keep)

    def contents(self) -> Iterable[Widget]:
        """Return the query line, the sliders, the ranking and the explanation."""
        yield self.query_line
        yield Horizontal(self.sliders, Container(self.ranking, self.why, id="stage"))
        yield self.verdict

    def on_mount(self) -> None:
        """Show the sliders where they stand."""
        self.sliders.show()

    def begin(self) -> None:
        """Start as the settings are by now, with the first slider under the hand.

        It begins on the first saved query, unless something is asked already.
        """
        self.resting.start()
        if self.focused is None:
            self.sliders.query(Slider).first().focus()
        profile, problem = self._default()
        if problem:
            self.workbench_app.say(problem, "error")
        if profile != self.session.saved:
            self.sliders.put(profile, profile)
            self.session.moves.clear()
        queries = self.bench.tuning.queries()
        if queries and not self.session.text:
            self._take_query(queries[0])

    def _default(self) -> tuple[Profile, str]:
        """Return the profile that the settings name; the workbench's own, and why, where that cannot be had."""
        try:
            return self.bench.tuning.default(), ""
        except WorkbenchError as error:
            return WORKBENCH, f"{error}\nThe sliders are set to {WORKBENCH.name} instead."

    @property
    def rows(self) -> LineView[Line]:
        """The list of the ranking."""
        return self.ranking.rows

    @property
    def unsaved(self) -> str:
        """Say when the sliders stand where no profile and no snapshot has them."""
        return self.keeping.unsaved

    # Following the store

    def show_store(self) -> None:
        """Ask anew over the store as it is."""
        self.query_line.ask()

    def show_changes(self, touched: Touched) -> None:
        """Ask anew when memories changed; the cursor, the sliders and the query stay."""
        if any(table == "memories" for table, _ in touched.keys):
            self.query_line.ask()

    def follow(self, touched: Touched) -> None:
        """Notice also what is measured by, and let undo mean what this person stored, once something was."""
        if touched.actor == self.bench.context.actor and touched.kind != "access":
            self.session.moves.clear()
        self.measuring.store_changed(table for table, _ in touched.keys)
        super().follow(touched)
        if any(table == "settings" for table, _ in touched.keys):
            self.sliders.show_head()
        if self._in_sight:
            self.verdict.want()
            self.query_line.store_changed()

    def retriever_ready(self) -> None:
        """Rank what was asked meanwhile."""
        self.query_line.model_came()

    # Asking

    def _take_query(self, query: SavedQuery) -> None:
        self._first_row(focus=False)
        self.query_line.take(query)

    def _first_row(self, *, focus: bool) -> None:
        self.rows.cursor = 0
        if focus:
            self.rows.focus()

    def ask(self, text: str) -> None:
        """Rank a question that somebody asked elsewhere, as if it were written here."""
        self.query_line.box.value = text
        self._first_row(focus=True)

    @on(Input.Submitted, "#query")
    def _entered(self) -> None:
        self._first_row(focus=True)

    def action_query(self) -> None:
        self.set_focus(self.query_line.box)

    @asking
    async def action_queries(self) -> None:
        """Choose one of the saved queries."""
        chosen = await self.query_line.choose()
        if chosen is not None:
            self._take_query(chosen)

    # Showing

    def _answered(self) -> None:
        """Show the ranking of another query, for whoever typed it, and once that is painted why it is so."""
        self._why_waits = True
        self._show()
        self.call_after_refresh(self._show_why_at_last)

    def _show(self) -> None:
        """Show the ranking as it is now; the rest follows when the hand rests."""
        self.ranking.show(self.session, self.query_line.obstacle())
        self.verdict.age()
        self._show_why()

    @on(LineView.Highlighted, "#list")
    def _show_why(self) -> None:
        """Explain the row under the cursor."""
        if not self._why_waits:
            self.why.show(self.session, self.rows.current)
        self._touch()

    def _show_why_at_last(self) -> None:
        self._why_waits = False
        self._show_why()

    # Tuning

    @on(TuneSliders.Focused)
    def _touch(self) -> None:
        self.resting.touch()

    def undo_own(self) -> bool:
        """Take back the last move of a slider since something was stored."""
        return self.sliders.undo()

    def redo_own(self) -> bool:
        """Make the move again that was taken back."""
        return self.sliders.redo()

    def _put(self, profile: Profile, saved: Profile) -> None:
        """Put the sliders where a profile has them, and the cursor on the first row when that is another ranking."""
        before = self.session.profile
        self.sliders.put(profile, saved)
        if replace(profile, name=before.name, about=before.about) != before:
            self._first_row(focus=False)

    def action_revert(self) -> None:
        """Put every parameter back to the saved profile, and `now` to the time of the query."""
        self.sliders.revert()

    def action_next_flip(self) -> None:
        """Just beyond the next value at which two rows swap."""
        self.sliders.jump(1)

    def action_previous_flip(self) -> None:
        """Just below the last value at which two rows swap."""
        self.sliders.jump(-1)

    def action_less(self) -> None:
        """Move the current slider down one step, whatever has the focus."""
        self.sliders.nudge(Slider.action_less)

    def action_more(self) -> None:
        """Move the current slider up one step."""
        self.sliders.nudge(Slider.action_more)

    def action_fine_less(self) -> None:
        """Move the current slider down one fine step."""
        self.sliders.nudge(Slider.action_fine_less)

    def action_fine_more(self) -> None:
        """Move the current slider up one fine step."""
        self.sliders.nudge(Slider.action_fine_more)

    def action_reset(self) -> None:
        """Put the current slider back to its default."""
        self.sliders.nudge(Slider.action_reset)

    def action_earlier(self) -> None:
        """Move `now` back."""
        self.sliders.time.action_less()

    def action_later(self) -> None:
        """Move `now` on."""
        self.sliders.time.action_more()

    # Going about

    def action_pane(self, step: int) -> None:
        """To the next pane, or to the one before."""
        panes = [w for w in (self.sliders.current, self.rows, self.why) if w.focusable and w.is_on_screen]
        here = next((i for i, w in enumerate(panes) if w is self.focused), -1 if step > 0 else 0)
        if panes:
            panes[(here + step) % len(panes)].focus()

    def go_back(self) -> None:
        """Close the explanation, leave the query, or let go of the memory that was asked for."""
        if self.has_class("-open"):
            self.remove_class("-open")
            self.rows.focus()
        elif self.focused is self.query_line.box:
            self.sliders.current.focus()
        elif self.session.watched is not None:
            self.session.watch(None)
            self._show()
        elif self.focused is self.why:
            self.rows.focus()

    @on(LineView.Opened, "#list")
    def _open(self) -> None:
        self.add_class("-open")
        self.why.focus()

    # Changing the memory of a row

    def _row_for(self, _what: str) -> Place | None:
        memory = memory_of(self.rows.current)
        return None if memory is None else ("memories", memory.id)

    # Choosing

    @asking
    async def action_options(self) -> None:
        """Choose how recency counts and what normalises."""
        profile = await keeping.choose_option(self.workbench_app, self.session)
        if profile is not None:
            self.sliders.put(profile, self.session.saved)

    @asking
    async def action_candidates(self) -> None:
        """Choose by a filter which memories take part."""
        profile = await keeping.choose_candidates(self.workbench_app, self.session)
        if profile is not None:
            self.sliders.put(profile, self.session.saved)

    def action_bounds(self) -> None:
        """Show what set the ends of each factor's scale, or leave it out again."""
        self.why.turn_bounds()

    @asking
    async def action_why(self) -> None:
        """Choose any memory; it stands in the list until esc, with its place and its parts."""
        if self.session.ranking is None:
            self.workbench_app.say(keyed("Nothing is ranked yet. {tune.query} writes a query."))
            return
        chosen = await keeping.choose_memory(self.workbench_app, self.session)
        if chosen is not None:
            self.session.watch(chosen)
            self._show()
            place = self.rows.index_of(("memory", chosen))
            if place is not None:
                self.rows.cursor = place
                self.rows.focus()
            if self.has_class("-narrow"):
                self._open()

    # Keeping

    @asking
    async def action_load(self) -> None:
        await self.keeping.load()

    @asking
    async def action_save(self) -> None:
        """Save the settings as a profile."""
        await self.keeping.save()

    def action_use(self) -> None:
        """Let the store be ranked with the loaded profile, for agents too."""
        if self.session.changed:
            self.workbench_app.say(keyed("The changed sliders are in no profile yet: {tune.save} saves them first."))
        elif use(self.workbench_app, self.session.saved.name):
            self.sliders.show_head()

    def action_snapshot(self) -> None:
        """Keep the settings as they are now."""
        self.keeping.snapshot()

    @asking
    async def action_library(self) -> None:
        """Show snapshots and profiles, and take the settings that are chosen there."""
        await self.keeping.library()

    @asking
    async def action_compare(self) -> None:
        """Show this ranking beside that of a snapshot or a profile."""
        await self.keeping.compare()

    @asking
    async def action_export_queries(self) -> None:
        """Write the saved queries, their judgments, or a ranking of them to a file."""
        await self.keeping.export_queries()

    @work
    async def action_import_queries(self) -> None:
        """Read judged queries from a file."""
        await self.keeping.import_queries()

    # Judging

    @work
    async def action_judge(self) -> None:
        """Grade the pool of the query."""
        await self.tools.judge()
        self.query_line.store_changed()

    def action_save_query(self) -> None:
        """Save the query without judging it."""
        self.tools.save_query()

    @work
    async def action_metrics(self) -> None:
        """Show every metric of every judged query."""
        await self.tools.metrics()

    @work
    async def action_duplicates(self) -> None:
        """Show which pairs would merge at a threshold."""
        await self.tools.duplicates()

    @work
    async def action_auto(self) -> None:
        """Search the best settings for the judged queries."""
        await self.tools.auto()

    @work
    async def action_better(self) -> None:
        """Learn the weights from answers about pairs."""
        await self.tools.better()
