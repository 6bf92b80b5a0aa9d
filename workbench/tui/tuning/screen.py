"""Tune: move the weights, watch the ranking move, see why, save a profile."""

import asyncio
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from textual import on, work
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled
from workbench.core.text import printable
from workbench.core.tuning.floor import UNKNOWN
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import FACTORS, WORKBENCH, Profile
from workbench.services.context import Touched
from workbench.services.tuning.evaluation import Compared, Measuring, ScoredSet
from workbench.services.tuning.profiles import ProfileProvenance
from workbench.services.tuning.session import TuningSession
from workbench.tui.actions import SLIDER, TUNE
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.records.actions import TO_THE_ROWS, ActsBesideSliders, Place
from workbench.tui.tuning import profiles as choosing
from workbench.tui.tuning.judging import AutoTune, Better, JudgeDialog, MetricsDialog
from workbench.tui.tuning.profiles import LibraryDialog, choose_side, compare, sides, use
from workbench.tui.tuning.ranking import Heading, Line, RankingPane, VerdictLine, draw, memory_of
from workbench.tui.tuning.sliders import Hints, Parameter, TuneSliders, hints_of
from workbench.tui.tuning.why import DifferenceDialog, WhyPane
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.content import key_of, keyed
from workbench.tui.widgets.dialog import SafeInput
from workbench.tui.widgets.figures import absolute, number
from workbench.tui.widgets.line_list import LineView

REST_SECONDS = 0.12
"""How long the hand rests before anything but the ranking is worked out."""

NO_QUERY = "No query yet: {tune.query} writes one."
LOADING = "The embedding model is loading. Keep typing; the ranking follows."
NO_MODEL = (
    "The embedding model could not be loaded, so nothing can be ranked. Everything else works."
)
NONE_SERVED = (
    "None of the {count} memories would be served at this time: they are archived, not yet reviewed, or newer. "
    "The slider “now” moves the time."
)
EMPTY_STORE = "No memories yet. `workbench import FILE` imports some; agents add theirs with `workbench ingest`."

APART = timedelta(hours=1)
"""From how far on the moment that a query is asked at is not the present any more."""

HELP = f"""The ranking
  {" ".join(f.glyph for f in FACTORS):17}the weighted parts: {", ".join(f.label for f in FACTORS)}
  ▲2 ▼1            places gained or lost against the saved profile at the time of the query
  new / out        entered or left the top k, which agents are served
  match 0.412      (own cosine + own full text) ÷ 2, whatever the profile; full text alone where the
                   model does not know the language; relevance is what the profile makes of them
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

NUDGES = tuple(
    replace(action, run=f"nudge('{action.method}')")
    for action in SLIDER
    if action.keys in ("left", "right", "shift+left", "shift+right", "backspace")
)
"""What moves the current slider from any pane."""


class TuneScreen(AreaScreen):
    """Sliders on the left, the live ranking beside them, and the explanation of the row under the
    cursor.
    """

    AREA = "tune"
    PANES = ("#sliders", "#stage")
    BINDINGS = bindings((*TUNE, *NUDGES))
    help_text = HELP
    DEFAULT_CSS = """
    TuneScreen {
        #query-line { height: 1; padding: 0 1; }
        #query-label { width: 6; color: $text-muted; }
        #query { width: 1fr; background: $background; }
        #query-state { width: auto; color: $text-muted; }
        #sliders { width: 40; border-right: solid $panel; }
        #stage { layout: vertical; width: 1fr; }
        #ranking { height: 1fr; min-height: 8; }
        #why { height: 55%; min-height: 9; max-height: 22; }
        &.-wide #stage { layout: horizontal; }
        &.-wide #ranking { width: 1fr; }
        &.-wide #why { width: 64; height: 1fr; max-height: 100%; border-left: solid $panel; }
        &.-narrow #sliders { width: 34; }
        &.-narrow #why { display: none; }
        &.-narrow.-open #why { display: block; height: 1fr; max-height: 100%; }
        &.-narrow.-open #ranking, &.-narrow.-open #sliders { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        profile, _ = self._default()
        self.session = session = TuningSession(profile, profile, self.bench.context.now())
        self.measuring = Measuring(self.bench.context, self.bench.evaluator)
        self.box = SafeInput(placeholder="/ what an agent might ask", id="query")
        self.sliders = TuneSliders(session, self._show, lambda: self.bench.tuning.used)
        self.ranking = RankingPane(self._draw)
        self.why = WhyPane()
        self.verdict = VerdictLine()
        self.acts = ActsBesideSliders(self, self._row_for, missing=TO_THE_ROWS)
        self.asking = self.resting = False
        self._again = self._no_model = self._why_waits = False
        self._moves = 0
        self._timer: Timer | None = None
        self._measured: tuple[int, Profile, Profile] | None = None
        self._previews: dict[str, Preview] = {}

    def contents(self) -> Iterable[Widget]:
        """Return the query line, the sliders, the ranking and the explanation."""
        label, state = Static(Content("query "), id="query-label"), Static(id="query-state")
        yield Horizontal(label, self.box, state, id="query-line")
        yield Horizontal(self.sliders, Container(self.ranking, self.why, id="stage"))
        yield self.verdict

    def on_mount(self) -> None:
        """Show the sliders where they stand."""
        self.sliders.show()

    def begin(self) -> None:
        """Start as the settings are by now, with the first slider under the hand.

        It begins on the first saved query, unless something is asked already.
        """
        self._timer = self.set_interval(REST_SECONDS, self._at_rest, pause=True)
        if self.focused is None:
            self.sliders.query(Slider).first().focus()
        profile, problem = self._default()
        if problem:
            self.say(problem, "error")
        if profile != self.session.saved:
            self.sliders.put(profile, profile)
            self.session.moves.clear()
        queries = self.bench.tuning.queries()
        if queries and not self.session.text:
            self._take(queries[0])

    def _default(self) -> tuple[Profile, str]:
        """Return the profile that the settings name; the workbench's own, and why, where that
        cannot be had.
        """
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
        kept = (snapshot.profile for snapshot in self.bench.tuning.snapshots.all())
        if not self.session.changed or self.session.profile in kept:
            return ""
        return keyed(
            "The changed sliders of Tune are in no profile and no snapshot yet: {tune.save} saves "
            "them, {tune.snapshot} keeps a snapshot."
        )

    # Following the store

    def show_store(self) -> None:
        """Ask anew over the store as it is."""
        self._ask()

    def show_changes(self, touched: Touched) -> None:
        """Ask anew when memories changed; the cursor, the sliders and the query stay."""
        if any(table == "memories" for table, _ in touched.keys):
            self._ask()

    def follow(self, touched: Touched) -> None:
        """Notice also what is measured by, and let undo mean what this person stored, once
        something was.
        """
        if touched.actor == self.bench.context.actor and touched.kind != "access":
            self.session.moves.clear()
        self.measuring.store_changed(table for table, _ in touched.keys)
        super().follow(touched)
        if any(table == "settings" for table, _ in touched.keys):
            self.sliders.show_head()
        if self._in_sight:
            self._look_up_query()
            self._touch()

    def retriever_ready(self) -> None:
        """Rank what was asked meanwhile."""
        self._no_model = not self.bench.tuning.ready
        self._ask()

    # The query

    def ask(self, text: str) -> None:
        """Rank a question that somebody asked elsewhere, as if it were written here."""
        self.box.value = text
        self._first_row(focus=True)

    def action_query(self) -> None:
        self.set_focus(self.box)

    def _first_row(self, *, focus: bool) -> None:
        self.rows.cursor = 0
        if focus:
            self.rows.focus()

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        same = self.bench.tuning.saved_like(event.value)
        self.session.text, self.session.query = event.value, same[0] if same else None
        self._ask()

    @on(Input.Submitted, "#query")
    @asking
    async def _entered(self) -> None:
        """Go to the rows; of several saved queries with these words choose which is meant."""
        self._first_row(focus=True)
        same = self.bench.tuning.saved_like(self.session.text)
        if len(same) > 1:
            title = f"{len(same)} saved queries have these words"
            chosen = await choosing.choose_query(
                self.workbench_app, title, same, self.session.query
            )
            if chosen is not None:
                self._take(chosen)

    @asking
    async def action_queries(self) -> None:
        """Choose one of the saved queries."""
        queries = self.bench.tuning.queries()
        if not queries:
            self.hint("No saved queries yet. {tune.query} writes one to rank by.")
            return
        chosen = await choosing.choose_query(
            self.workbench_app, "Saved queries", queries, self.session.query
        )
        if chosen is not None:
            self._take(chosen)

    def _take(self, query: SavedQuery) -> None:
        """Ask a saved query. What is ranked is what is saved, whatever of it may be shown."""
        self._first_row(focus=False)
        shown = self.bench.safety.masked(query.text)
        with self.box.prevent(Input.Changed):
            self.box.value = shown
        self.session.text = self.box.value if shown == query.text else query.text
        self.session.query = query
        self._ask()

    def _look_up_query(self) -> None:
        """Find out whether the query is saved by now, or still is, and say so."""
        held = self.session.query
        if held is None or held.id not in self.bench.library.queries:
            same = self.bench.tuning.saved_like(self.session.text)
            self.session.query = same[0] if same else None
            if same and same[0].now is not None:
                self._ask()
        self._show_query()

    def on_resize(self) -> None:
        """Say as much about the query as leaves room for it."""
        self._show_query()

    def _show_query(self) -> None:
        """Say beside the query whether it is saved, how much of it is judged, and when it is asked."""
        saved, state = self.session.query, ""
        if saved is not None:
            grades = len(self.bench.judging.grades(saved.text, saved.now))
            state = f"  saved · {number(grades)} judged" if grades else "  saved · not judged"
            if saved.now and abs(saved.now - self.bench.context.now()) > APART:
                at = absolute(saved.now)
                state += f" · as of {at if self.size.width >= 90 else at.split()[0]}"
        self.query_one("#query-state", Static).update(state)

    # Asking: one text at a time, away from the keyboard

    def _ask(self) -> None:
        """Have the query scored over the store as it is now."""
        self._show_query()
        if not self.session.text.strip() or not self.bench.tuning.ready:
            self.session.put(None, self._moment())
            self._answered()
            return
        self._again = True
        if not self.asking:
            self.asking = True
            self._score()

    def _moment(self) -> datetime:
        return self.session.moment(self.bench.context.now())

    @work(group="tune", description="score a query")
    async def _score(self) -> None:
        try:
            while self._again:
                self._again = False
                ranked, moment = self.session.copy(), self._moment()
                with self.workbench_app.reporting():
                    await asyncio.to_thread(self._rank, ranked, moment)
                    if not self._again and ranked.text == self.session.text:
                        self.session.take(ranked)
                        self._answered()
        finally:
            self.asking = False

    def _rank(self, session: TuningSession, moment: datetime) -> None:
        session.put(self.bench.tuning.question(session.text), moment)

    def _answered(self) -> None:
        """Show the ranking of another query, for whoever typed it, and once that is painted why it
        is so.
        """
        self._why_waits = True
        self._show()
        self.call_after_refresh(self._show_why_at_last)
        if self.session.question is not None and self.session.question.standard == UNKNOWN:
            self._compute_floor()

    @work(exclusive=True, group="floor", description="compute the floor")
    async def _compute_floor(self) -> None:
        """Compute the floor, then ask again: the ranking does not wait for it."""
        worker = get_current_worker()
        with self.workbench_app.reporting():
            await asyncio.to_thread(
                self.bench.tuning.floors.settled, cancelled=lambda: worker.is_cancelled
            )
            self._ask()

    # Showing

    def _show(self) -> None:
        """Show the ranking as it is now; the rest follows when the hand rests."""
        self.ranking.show(self.session, self._obstacle())
        self.verdict.age()
        self._show_why()

    def _draw(self, line: Line, width: int) -> Content:
        memory, safety = memory_of(line), self.bench.safety
        return draw(
            line, width, safety.shown(memory), memory is not None and bool(safety.flags(memory))
        )

    def _obstacle(self) -> str:
        """Return why there is no ranking, or an empty text."""
        session, ranking = self.session, self.session.ranking
        if not session.text.strip():
            or_saved = (
                ", or {tune.queries} for a saved query." if self.bench.tuning.queries() else "."
            )
            return keyed(f"Press {{tune.query}} and write what an agent might ask{or_saved}")
        if not self.bench.tuning.ready:
            return NO_MODEL if self._no_model else LOADING
        if session.question is None:
            return ""
        if ranking is None:
            return "All three weights are zero, so nothing would be ranked. Move one of them up."
        count, filter = len(ranking.pool), printable(session.profile.candidates)
        if count and filter:
            key = key_of("tune.candidates")
            return f"The candidate filter “{filter}” matches none of the {number(count)} memories. {key} changes it."
        return NONE_SERVED.format(count=number(count)) if count else EMPTY_STORE

    @on(LineView.Highlighted, "#list")
    def _show_why(self) -> None:
        """Explain the row under the cursor."""
        if not self._why_waits:
            line, memory = self.rows.current, memory_of(self.rows.current)
            about = line.about if isinstance(line, Heading) else ""
            found = (
                None if memory is None else self.session.explain(memory.id, self.bench.safety.shown)
            )
            self.why.show(found or about, self.session.saved.name)
        self._touch()

    def _show_why_at_last(self) -> None:
        self._why_waits = False
        self._show_why()

    # What waits until the hand rests: the decay curve, the verdict, and the hints, which a thread
    # works out

    @on(TuneSliders.Focused)
    def _touch(self) -> None:
        """Wait anew: something has moved."""
        self._moves += 1
        if self._timer is not None:
            self.resting = True
            self._timer.reset()
            self._timer.resume()

    def _at_rest(self) -> None:
        if self._timer is not None:
            self._timer.pause()
        self.why.show_curve()
        self._measure()
        self._work_out(self._moves, self.session.copy(), self.sliders.parameter, self.why.memory)

    @work(thread=True, exclusive=True, group="hints", description="hints")
    def _work_out(
        self, moves: int, session: TuningSession, parameter: Parameter | None, memory: str
    ) -> None:
        worker = get_current_worker()

        def cancelled() -> bool:
            return worker.is_cancelled or moves != self._moves

        for hints in hints_of(session, parameter, memory, cancelled):
            if cancelled():
                return
            self.call_later(self._show_hints, moves, hints)

    def _show_hints(self, moves: int, hints: Hints) -> None:
        if moves == self._moves:
            self.resting = False
            self.sliders.show_hints(hints)
            self.why.show_hints(hints)

    def _measure(self) -> None:
        """Have the settings measured by the judged queries, unless they are."""
        wanted = self._wanted
        if not self.bench.tuning.ready:
            self.verdict.show("The verdict comes when the model is loaded.")
        elif not self.measuring.judged:
            self.verdict.show(
                keyed(
                    "{tune.judge} grades what could answer a query; a verdict needs judged queries."
                )
            )
        elif wanted == self._measured and self.verdict.found is not None:
            self.verdict.show(self.verdict.found)
        else:
            if self.verdict.found is None:
                self.verdict.show("Measuring the judged queries …")
                self.verdict.age()
            self._against_saved(wanted)

    @property
    def _wanted(self) -> tuple[int, Profile, Profile]:
        return self.measuring.version, self.session.saved, self.session.profile

    @work(exclusive=True, group="verdict", description="verdict")
    async def _against_saved(self, wanted: tuple[int, Profile, Profile]) -> None:
        worker, (_, saved, profile) = get_current_worker(), wanted

        def measured(cancelled: Cancelled) -> Compared:
            return self.measuring.current(cancelled).against(saved, profile, cancelled)

        try:
            found: Compared | str = await asyncio.to_thread(measured, lambda: worker.is_cancelled)
        except WorkbenchError as error:
            found = str(error)
        self._measured = wanted
        self.verdict.show(found)
        if wanted != self._wanted:
            self.verdict.age()

    # Tuning

    def undo_own(self) -> bool:
        """Take back the last move of a slider since something was stored."""
        return self.sliders.undo()

    def redo_own(self) -> bool:
        """Make the move again that was taken back."""
        return self.sliders.undo(again=True)

    def _put(self, profile: Profile, saved: Profile) -> None:
        """Put the sliders where a profile has them, and the cursor on the first row when that is
        another ranking.
        """
        before = self.session.profile
        self.sliders.put(profile, saved)
        if replace(profile, name=before.name, about=before.about) != before:
            self._first_row(focus=False)

    def action_revert(self) -> None:
        """Put every parameter back to the saved profile, and `now` to the time of the query."""
        self.sliders.put(self.session.saved, self.session.saved, 0.0)

    def action_jump(self, direction: Any) -> None:
        """Just beyond the next value at which two rows swap, or just below the last one."""
        self.sliders.jump(direction)

    def action_nudge(self, move: str) -> None:
        """Move the current slider, whatever has the focus."""
        self.sliders.nudge(move)

    @asking
    async def action_options(self) -> None:
        """Choose how recency counts and what normalises."""
        profile = await choosing.choose_option(self.workbench_app, self.session)
        if profile is not None:
            self.sliders.put(profile, self.session.saved)

    @asking
    async def action_candidates(self) -> None:
        """Choose by a filter which memories take part."""
        profile = await choosing.choose_candidates(self.workbench_app, self.session)
        if profile is not None:
            self.sliders.put(profile, self.session.saved)

    # Going about

    def action_pane(self, step: int) -> None:
        """To the next pane, or to the one before."""
        panes = [
            w for w in (self.sliders.current, self.rows, self.why) if w.focusable and w.is_on_screen
        ]
        here = next((i for i, w in enumerate(panes) if w is self.focused), -1 if step > 0 else 0)
        if panes:
            panes[(here + step) % len(panes)].focus()

    def go_back(self) -> None:
        """Close the explanation, leave the query, drop the marks, or let go of the memory that was
        asked for.
        """
        if self.has_class("-open"):
            self.remove_class("-open")
            self.rows.focus()
        elif self.focused is self.box:
            self.sliders.current.focus()
        elif self.session.marked:
            self.session.marked = ()
            self._show()
        elif self.session.watched is not None:
            self.session.watch(None)
            self._show()
        elif self.focused is self.why:
            self.rows.focus()

    @on(LineView.Opened, "#list")
    def _open(self) -> None:
        self.add_class("-open")
        self.why.focus()

    def _row_for(self) -> Place | None:
        memory = memory_of(self.rows.current)
        return None if memory is None else ("memories", memory.id)

    def action_mark(self) -> None:
        """Mark the row under the cursor, and say what two marks are for."""
        if (memory := memory_of(self.rows.current)) is None:
            self.hint(TO_THE_ROWS)
            return
        self.session.mark(memory.id)
        self._show()
        if len(self.session.marked) == 2:
            self.hint("{tune.why} shows why one is above the other.")

    async def _compare_marked(self) -> None:
        """Show what parts the two marked memories; move the weight that swaps them, if wanted."""
        found = self.session.difference(self.sliders.highs)
        if found is None:
            self.say("A marked memory is not ranked now, so there is no difference.")
            return
        dialog = DifferenceDialog(found, self.bench.safety.shown)
        swap = await self.workbench_app.push_screen_wait(dialog)
        if swap is not None:
            self.sliders.take(swap)
            saves = keyed("{tune.save} saves it, {app.undo} takes it back.")
            self.say(f"{swap.factor.label} is set so that they swap. {saves}")

    @asking
    async def action_why(self) -> None:
        """Compare two marked memories; else choose any, which stands in the list until esc."""
        if self.session.ranking is None:
            self.hint("Nothing is ranked yet. {tune.query} writes a query.")
            return
        if len(self.session.marked) == 2:
            await self._compare_marked()
            return
        chosen = await choosing.choose_memory(self.workbench_app, self.session)
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
        """Load a profile; changed settings go only after a yes."""
        profile = await choosing.choose_profile(self.workbench_app, self.session)
        if profile is not None:
            self._put(profile, profile)
            self.say(f"Loaded {profile.name}. {profile.about}")

    @asking
    async def action_save(self) -> None:
        """Save the settings as a profile; the movement marks then start from it."""
        birth = await self._birth(self.session.profile)
        session, profiles = self.session, self.bench.tuning.profiles
        parent = session.saved.name
        offered = "" if profiles.is_built_in(parent) else parent
        name = await choosing.save_profile(
            self.workbench_app, session.profile, parent, birth, offered
        )
        if name is not None:
            profile = profiles.get(name)
            self._put(profile, profile)
            self.hint(f"Saved {name}. {{tune.use}} Use for agents.")

    async def _birth(self, profile: Profile) -> ProfileProvenance | None:
        """Return what to say about settings when they are saved."""
        if not self.bench.tuning.ready:
            return None
        return await asyncio.to_thread(self.measuring.birth, self.session.saved, profile)

    def action_use(self) -> None:
        """Let the store be ranked with the loaded profile, for agents too."""
        if self.session.changed:
            self.hint("The changed sliders are in no profile yet: {tune.save} saves them first.")
        elif use(self.workbench_app, self.session.saved.name):
            self.sliders.show_head()

    def action_snapshot(self) -> None:
        """Keep the settings as they are now."""
        shelf, profile, key = (
            self.bench.tuning.snapshots,
            self.session.profile,
            key_of("tune.library"),
        )
        same = next((s for s in shelf.all() if s.profile == profile), None)
        with self.workbench_app.reporting():
            if same is not None:
                said = (
                    f"Snapshot {same.name} already has these settings. {key} lists the snapshots."
                )
            else:
                taken = shelf.take(profile, self.bench.context.now())
                said = f"Snapshot {taken.name} is taken. {key} lists them: compare, go back, save."
            self.say(said)

    @asking
    async def action_library(self) -> None:
        """Show snapshots and profiles, and take the settings that are chosen there."""
        app, saved = self.workbench_app, self.session.saved
        side = await app.push_screen_wait(LibraryDialog(self.bench, self.session, self._birth))
        if side is None or side.profile is None:
            return
        if side.kind == "snapshot":
            self._put(replace(side.profile, name=saved.name, about=saved.about), saved)
            keys = keyed("{tune.save} saves them, {tune.revert} resets them.")
            app.say(f"The sliders are set to snapshot {side.name}. {keys}")
        else:
            self._put(side.profile, side.profile)
            app.say(f"Loaded {side.name}. {side.profile.about}")

    @asking
    async def action_compare(self) -> None:
        """Show this ranking beside that of a snapshot or a profile."""
        if self._is_ready():
            found = sides(self.bench, self.session)
            usual = next(
                (side.id for side in found if side.name == self.session.saved.name), found[0].id
            )
            other = await choose_side(self.workbench_app, "Compare with", found[1:], usual)
            if other is not None:
                await compare(self.workbench_app, self.session, found, other, found[0])

    @asking
    async def action_export_queries(self) -> None:
        """Write the saved queries, their judgments, or a ranking of them to a file."""
        await choosing.export_queries(self.workbench_app, self.session.saved.name)

    async def action_import_queries(self) -> None:
        """Import a file, such as one of judged queries."""
        await self.app.run_action("app.take_in")

    # Judging

    def _is_ready(self, *, query: bool = True) -> bool:
        """Tell whether there is a model, and a query unless none is needed, or say what is missing."""
        if not self.bench.tuning.ready:
            self.say("The model is still loading. Try again in a moment.")
        elif query and self.session.question is None:
            self.hint(NO_QUERY)
        else:
            return True
        return False

    def _read_first(self, action: str) -> Preview | None:
        """Show once how an action would save the query; then return what is meant by it."""
        preview = self._previews.setdefault(
            action, Preview(self.bench, again=key_of(action), line=True)
        )
        first = preview(self.session.text)
        if first is None:
            return preview
        self.say(first, "warning")
        return None

    def _saved(self) -> SavedQuery | None:
        """Return the saved query that is asked, also where the line holds its words as they are
        stored.
        """
        return self.session.query or self.bench.judging.find(self.session.text)

    @asking
    async def action_judge(self) -> None:
        """Grade the pool of the query."""
        question, judging = self.session.question, self.bench.judging
        if not self._is_ready() or question is None:
            return
        saved = self._saved()
        preview = None if saved else self._read_first("tune.judge")
        if saved is None and preview is None:
            return
        text, now = (saved.text, saved.now) if saved else (preview.stored if preview else "", None)
        pool = await asyncio.to_thread(question.pool, self.session.profile, self.session.asked_at)
        if not pool:
            self.say("Nothing is served for this query, so there is nothing to judge.")
            return

        def give(memory: str, grade: int) -> None:
            with (
                preview.writing("judge a query")
                if preview and not judging.find(text, now)
                else nullcontext()
            ):
                judging.judge(text, now, memory, grade)

        dialog = JudgeDialog(self.bench, text, now, pool, self.session.asked_at, give)
        await self.workbench_app.push_screen_wait(dialog)
        judged = judging.find(text, now)
        self.session.query = judged or self.session.query
        if judged is not None and judged.text != self.session.text and preview is not None:
            self._take(judged)
        self._look_up_query()

    def action_save_query(self) -> None:
        """Save the query without judging it."""
        app, text = self.workbench_app, self.session.text
        if not text.strip():
            app.hint(NO_QUERY)
            return
        with app.reporting():
            if self._saved() is not None:
                app.hint("This query is saved already. {tune.judge} judges it.")
                return
        preview = self._read_first("tune.save-query")
        if preview is None:
            return

        def save() -> None:
            with preview.writing("save a query"):
                saved = self.bench.judging.save_query(preview.stored)
            if self.session.text == text:
                self.session.query = saved
                if saved.text != text:
                    self._take(saved)
            app.hint(
                "Saved the query. {tune.judge} judges it, {tune.queries} lists the saved ones."
            )

        app.change(save)

    async def _scored(self) -> ScoredSet | None:
        """Return the judged queries as they are now; errors become toasts."""
        if self._is_ready(query=False):
            with self.workbench_app.reporting():
                return await asyncio.to_thread(self.measuring.current)
        return None

    @asking
    async def action_metrics(self) -> None:
        """Show every metric of every judged query."""
        scored = await self._scored()
        if scored is None:
            return
        with self.workbench_app.reporting():
            found = await asyncio.to_thread(
                scored.against, self.session.saved, self.session.profile
            )
            shown = self.bench.safety.shown
            place = await self.workbench_app.push_screen_wait(
                MetricsDialog(shown(found), shown(scored.judged.remarks))
            )
            if place is not None:
                asked = found.new.queries[place]
                query = self.bench.judging.find(asked.query, asked.now)
                if query is not None:
                    self._take(query)

    @asking
    async def action_duplicates(self) -> None:
        """Show which pairs would merge at a threshold."""
        if self._is_ready(query=False):
            app = self.workbench_app
            await app.push_screen_wait(
                DuplicatesDialog(self.bench, partial(choosing.keep_thresholds, app))
            )

    @asking
    async def action_auto(self) -> None:
        """Search the best settings for the judged queries."""
        scored = await self._scored()
        if scored is None:
            return
        session, app = self.session, self.workbench_app
        dialog = AutoTune(scored, session.profile, session.changed, self.bench.tuning.profiles)
        answer = await app.push_screen_wait(dialog)
        if answer is None:
            return
        if answer == "keep":
            app.say("The sliders stay where they are.")
        elif dialog.proposal is not None:
            self.measuring.propose(dialog.proposal, scored.judged)
            self._put(dialog.proposal.profile, session.saved)
            app.hint(
                "The sliders are set as proposed. {tune.save} saves them, {tune.revert} resets them."
            )

    @asking
    async def action_better(self) -> None:
        """Learn the weights from answers about pairs."""
        question, session, app = self.session.question, self.session, self.workbench_app
        if not self._is_ready() or question is None:
            return
        with app.reporting():
            profile = await app.push_screen_wait(
                Better(self.bench, question, session.asked_at, session.profile)
            )
            if profile is not None:
                self._put(profile, session.saved)
                keys = keyed("{tune.save} saves them, {tune.revert} resets them.")
                app.say(f"The sliders are set as your answers suggest. {keys}")
