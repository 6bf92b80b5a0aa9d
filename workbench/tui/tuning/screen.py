"""Tune: move the weights, watch the ranking move, see why, save a profile."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.tuning.factors import Factor
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.ranking.flips import Direction, just_beyond, nearest_flip
from workbench.store.library import Touched
from workbench.tui.app.actions import bindings
from workbench.tui.app.areas import SLIDER, TUNE
from workbench.tui.app.asking import asking
from workbench.tui.tuning import dialogs
from workbench.tui.tuning.asking import TuneAsking
from workbench.tui.tuning.judging.verdict import VerdictLine
from workbench.tui.tuning.messages import HELP, Hinted
from workbench.tui.tuning.moves import Moves, Settings, label_of, value_of
from workbench.tui.tuning.parameters import TIME, Parameter, Value
from workbench.tui.tuning.query import QueryLine
from workbench.tui.tuning.ranking import RankingPane
from workbench.tui.tuning.rows import Line, memory_of
from workbench.tui.tuning.session import Desk
from workbench.tui.tuning.sliders import TuneSliders
from workbench.tui.tuning.why.pane import WhyPane
from workbench.tui.widgets.bars.slider import Slider
from workbench.tui.widgets.lists.line_view import LineView

REST_SECONDS = 0.12
"""How long the hand rests before anything but the ranking is worked out: flips, the curve, the verdict."""

NUDGES = tuple(a for a in SLIDER if a.keys in ("left", "right", "shift+left", "shift+right", "backspace"))
"""What moves the current slider from any pane."""


class TuneScreen(TuneAsking):
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
        self._hinting = False
        self._moves = 0
        self._rest: Timer | None = None
        self._desk = Desk(WORKBENCH, WORKBENCH, datetime.min)
        self._past = Moves()

    def contents(self) -> Iterable[Widget]:
        """Return the query line, the sliders, the ranking and the explanation."""
        now, profile = self.bench.context.now(), WORKBENCH
        try:
            profile = self.bench.tuning.default()
        except WorkbenchError as error:
            self.workbench_app.say(f"{error}\nThe sliders stand as in {profile.name} instead.", "error")
        self._desk = Desk(profile, profile, now, self.bench.recipe)
        yield QueryLine()
        yield Horizontal(
            TuneSliders(profile, self._moved, self._desk.parameters, id="sliders"),
            Container(
                RankingPane(self.bench.safety, id="ranking"),
                WhyPane(self.bench.safety.masked, id="why"),
                id="stage",
            ),
        )
        yield VerdictLine()

    def on_mount(self) -> None:
        """Start on the first saved query, with the first slider under the hand."""
        self._rest = self.set_interval(REST_SECONDS, self._at_rest, pause=True)
        queries = self.bench.tuning.queries()
        self.sliders.show(self._desk.profile, self._desk.saved)
        self.sliders.query(Slider).first().focus()
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

    # Showing

    def _show(self) -> None:
        """Show the ranking as it is now; the rest follows when the hand rests."""
        self.query_one(RankingPane).show(self._desk, self._obstacle())
        self.query_one(VerdictLine).age()
        self._show_why()

    @on(LineView.Highlighted, "#list")
    def _show_why(self) -> None:
        """Explain the row under the cursor."""
        self.why.show(self._desk, self.rows.current)
        self._touch()

    def _first_row(self, *, focus: bool) -> None:
        self.rows.cursor = 0
        if focus:
            self.rows.focus()

    # When the hand rests

    def _touch(self) -> None:
        """Put off everything slow until nothing has moved for a moment."""
        self._moves += 1
        self._hinting = True
        if self._rest is not None:
            self._rest.reset()
            self._rest.resume()

    def _at_rest(self) -> None:
        if self._rest is not None:
            self._rest.pause()
        self.why.show_curve()
        self.want_verdict()
        if not self._measuring:
            self.query_one(VerdictLine).age(False)
        self._work_out(self._moves, replace(self._desk), self.sliders.parameter, self.sliders.highs, self.why.memory)

    @work(thread=True, exclusive=True, group="hints", description="hints")
    def _work_out(
        self, moves: int, desk: Desk, parameter: Parameter | None, highs: dict[Factor, float], memory: str
    ) -> None:
        worker = get_current_worker()
        hints = desk.hints(parameter, highs, memory, lambda: worker.is_cancelled or moves != self._moves)
        if hints is not None and not worker.is_cancelled:
            self.post_message(Hinted(moves, hints))

    @on(Hinted)
    def _hinted(self, event: Hinted) -> None:
        if event.moves != self._moves:
            return
        self._hinting = False
        self.sliders.show_hints(event.hints)
        self.why.show_ways(event.hints.memory, event.hints.ways)

    # Tuning

    def _moved(self, parameter: Parameter | None, value: Value) -> None:
        """Rank anew at once, in the same turn as the key, so that both are painted together."""
        before = self._desk.settings
        if parameter is None:
            self._desk.days = value or 0.0
        else:
            self._desk.profile = parameter.put(self._desk.profile, value)
            self.sliders.follow(parameter, self._desk.profile, self._desk.saved)
        self._past.note(TIME if parameter is None else parameter.id, before, self._desk.settings)
        self._desk.rerank()
        self._show()

    @on(Slider.Refused)
    def _refused(self, event: Slider.Refused) -> None:
        stays = f"{event.slider.label} stays at {event.slider.shown_value}."
        self.workbench_app.say(f"{event.why} {stays}", "warning")

    @on(TuneSliders.Focused)
    def _focused(self) -> None:
        self._touch()

    def _put_profile(self, profile: Profile, saved: Profile, days: float | None = None) -> None:
        before, days = self._desk.settings, self._desk.days if days is None else days
        if saved == self._desk.saved:
            self._past.note("", before, Settings(profile, days))
        else:
            self._past.clear()
        self._desk.saved = saved
        self._put(Settings(profile, days))

    def _put(self, settings: Settings) -> None:
        """Put every slider where it stands in some settings, and rank by them."""
        self._desk.profile, self._desk.days = settings.profile, settings.days
        self._desk.rerank()
        self.sliders.show(settings.profile, self._desk.saved)
        self.sliders.show_time(settings.days)
        self._show()

    def follow(self, touched: Touched) -> None:
        """Let undo mean what this person stored, once something was."""
        if touched.actor == self.bench.context.actor and touched.kind != "access":
            self._past.clear()
        super().follow(touched)

    def undo_own(self) -> bool:
        """Take back the last move of a slider since something was stored."""
        move = self._past.back()
        if move is not None:
            self._put(move.before)
            known = self._desk.parameters
            moved = f"{label_of(move.slider, known)} back to {value_of(move.slider, move.before, known)}"
            self.workbench_app.say(moved)
        return move is not None

    def redo_own(self) -> bool:
        """Make the move again that was taken back."""
        move = self._past.again()
        if move is not None:
            self._put(move.after)
            known = self._desk.parameters
            moved = f"{label_of(move.slider, known)} again to {value_of(move.slider, move.after, known)}"
            self.workbench_app.say(moved)
        return move is not None

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

    def action_less(self) -> None:
        """Move the current slider down one step, whatever has the focus."""
        self._nudge(Slider.action_less)

    def action_more(self) -> None:
        """Move the current slider up one step."""
        self._nudge(Slider.action_more)

    def action_fine_less(self) -> None:
        """Move the current slider down one fine step."""
        self._nudge(Slider.action_fine_less)

    def action_fine_more(self) -> None:
        """Move the current slider up one fine step."""
        self._nudge(Slider.action_fine_more)

    def action_reset(self) -> None:
        """Put the current slider back to its default."""
        self._nudge(Slider.action_reset)

    def _nudge(self, move: Callable[[Slider], None]) -> None:
        slider = self.sliders.current
        if slider.disabled:
            self.workbench_app.say(f"{slider.label} has no effect now: {self.sliders.why_disabled(slider)}.")
        else:
            move(slider)

    def action_earlier(self) -> None:
        """Move `now` back."""
        self.sliders.time.action_less()

    def action_later(self) -> None:
        """Move `now` on."""
        self.sliders.time.action_more()

    def action_revert(self) -> None:
        """Put every parameter back to the saved profile, and `now` to the time of the query."""
        self._put_profile(self._desk.saved, self._desk.saved, 0.0)

    # Going about

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
        elif self.focused is self.box:
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
        profile = await dialogs.choose_option(self.workbench_app, self._desk)
        if profile is not None:
            self._put_profile(profile, self._desk.saved)

    @asking
    async def action_candidates(self) -> None:
        """Choose by a filter which memories take part."""
        profile = await dialogs.choose_candidates(self.workbench_app, self._desk)
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
