"""Auto-tune: the search with its progress, then the proposal: to move the sliders or to keep them. It saves nothing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError, WorkStopped
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.core.tuning.autotune import Moved, Search, TunedProfile
from workbench.core.tuning.measure import Measure
from workbench.core.tuning.profile import FACTORS, Profile, weight_of
from workbench.core.tuning.verdict import TIE
from workbench.services.safety.masking import masked
from workbench.services.tuning.evaluation import QueryResult
from workbench.services.tuning.measuring import LiveSet, LiveVerdict
from workbench.services.tuning.pairwise import Answer, Outlook, Preferences, begin
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.session import Question
from workbench.tui.app.actions import bindings
from workbench.tui.tuning.actions import AUTO, BETTER, METRICS
from workbench.tui.tuning.judging.verdict import verdict_parts, verdict_text
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, line
from workbench.tui.widgets.dialog import Dialog, Progressed
from workbench.tui.widgets.figures import days, number, since
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell, lay_out

_CELLS = 30

_UNSAVED = "The current slider values would be lost; no profile has them."


@dataclass(frozen=True, slots=True)
class AutoAnswer:
    """What a person did with a proposal: the sliders go where it has them, or they are `kept`."""

    proposal: TunedProfile
    kept: bool


class AutoTune(Dialog[AutoAnswer | None]):
    """Search the grid around `start`, beside the `own` profiles; the result is what a person answered."""

    class Went(Progressed):
        """So many queries are through."""

    class Found(Message):
        """The search is over: a proposal, or why there is none."""

        def __init__(self, proposal: TunedProfile | None, problem: str) -> None:
            super().__init__()
            self.proposal = proposal
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(AUTO)
    DEFAULT_CSS = """
    AutoTune {
        & > .dialog { width: 84; }
        & #auto-text { height: auto; }
    }
    """

    def __init__(self, live: LiveSet, start: Profile, changed: bool, own: Profiles) -> None:
        super().__init__("Auto-tune", AUTO)
        self._live = live
        self._own = own
        self._start = start
        self._changed = changed
        self.proposal: TunedProfile | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the one text: first the progress, then the proposal."""
        yield Static(Content(""), id="auto-text")

    def on_mount(self) -> None:
        """Start the search."""
        self._show_progress(0, len(self._live.judged.queries))
        self._search()

    @work(thread=True, group="auto-tune")
    def _search(self) -> None:
        worker = get_current_worker()
        proposal, problem = None, ""
        try:
            proposal = self._live.scored.tune(
                self._start,
                Search(Measure("ndcg", self._start.k)),
                progress=lambda done, total: _nothing(self.post_message(self.Went(done, total))),
                cancelled=lambda: worker.is_cancelled,
                profiles=self._own,
            )
        except WorkStopped:
            return
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Found(proposal, problem))

    @on(Went)
    def _went(self, event: Went) -> None:
        if self.proposal is None:
            self._show_progress(event.done, event.total)

    def _show_progress(self, done: int, total: int) -> None:
        head = Content(
            f"Trying every setting around {_start(self._start, self._changed)}. Esc stops it; nothing is changed."
        )
        self._say(Content("\n").join([head, Content(""), gauge(done, total, "queries", _CELLS)]))

    @on(Found)
    def _found(self, event: Found) -> None:
        self.proposal = event.proposal
        if event.proposal is None:
            self._say(Content.styled(f"✗ {printable(event.problem)}", "$text-error"))
        else:
            self._say(proposal_text(event.proposal, self._live.judged.judgments, self._changed))

    def _say(self, text: Content) -> None:
        self.query_one("#auto-text", Static).update(text)

    def action_apply(self) -> None:
        """Put the sliders where the proposal has them, or leave them where nothing is better."""
        if self.proposal is None:
            self.app.bell()
        else:
            self.dismiss(AutoAnswer(self.proposal, self.proposal.keeps))

    def action_anyway(self) -> None:
        """Put the sliders where the best setting that was tried has them, whatever it is worth."""
        if self.proposal is None or self.proposal.profile == self.proposal.start:
            self.app.bell()
        else:
            self.dismiss(AutoAnswer(self.proposal, kept=False))

    def action_cancel(self) -> None:
        """Stop the search, or leave the proposal."""
        self.workers.cancel_node(self)
        self.dismiss(None)


def proposal_text(proposal: TunedProfile, judgments: int, changed: bool) -> Content:
    """Return what would move, what it is worth on held-out queries, and the verdict."""
    about = (
        f"{number(proposal.tried)} settings around {_start(proposal.start, changed)} "
        f"on {number(proposal.queries)} queries with {number(judgments)} judgments."
    )
    lines = [Content.styled(about, MUTED), Content("")]
    if proposal.keeps:
        lines.append(Content.styled(_kept(proposal, changed), "bold $text-success"))
    if proposal.profile != proposal.start:
        what = f"Your profile {printable(proposal.contender)}" if proposal.contender else "The best setting tried"
        since = f", from {_start(proposal.start, changed)}" if changed else ""
        lines += [Content(f"{what}{since}:"), *map(_moved, proposal.moved)]
    lines += [
        Content(""),
        assemble(
            [
                (f"{proposal.verdict.metric} ", MUTED),
                (f"{proposal.before:.3f} → {proposal.after:.3f}", "bold"),
                (f" on held-out queries ({proposal.folds} folds)", ""),
            ]
        ),
        Content.styled(f"{proposal.fitted:.3f} on the queries it was chosen on, which is optimistic", MUTED),
        assemble(verdict_parts(proposal.verdict)),
    ]
    for name in proposal.dead:
        left = f"On these queries {name} tells no two memories apart: its weight was left alone"
        lines.append(Content.styled(left, MUTED))
    for name in proposal.seen:
        lines.append(Content.styled(f"{printable(name)} was tuned on these queries, so it is no evidence", MUTED))
    if changed and not proposal.keeps:
        lines += [Content(""), Content.styled(_UNSAVED, "$text-warning")]
    if proposal.keeps and proposal.profile != proposal.start:
        keys = keyed("{auto.apply} keeps the sliders as they are; {auto.anyway} tries this setting.")
        lines += [Content(""), Content.styled(keys, MUTED)]
    return Content("\n").join(lines)


def _start(start: Profile, changed: bool) -> str:
    """Name what the search starts from: what stands on the sliders, be they as they were saved or moved by hand."""
    return f"the current sliders ({printable(start.name)}, changed)" if changed else printable(start.name)


def _kept(proposal: TunedProfile, changed: bool) -> str:
    yours = "the current sliders" if changed else printable(proposal.start.name)
    if proposal.beaten:
        return f"Keep yours: whether this beats {yours} is inconclusive."
    return f"Keep yours: nothing beats {yours} on held-out queries."


def _moved(moved: Moved) -> Content:
    life = moved.parameter == "half-life"
    before, after = (days(v) if life else f"{v or 0:.0%}" for v in (moved.before, moved.after))
    return assemble([(f"  {moved.parameter:<12}", ""), (f"{before:>7}", MUTED), (" → ", MUTED), (after, "bold")])


def _nothing(_sent: object) -> None:
    return None


# Better 1 or 2? Two memories, one question; the weights follow from the answers.


QUERIES = 12
"""How many queries the pairs come from at most: the present one, then the saved ones."""

ENOUGH = 0.005
"""Ten answers that bring no more nDCG@10 than this are not worth asking for."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What the pairs come from: the present question, the saved queries with their moments, and the profile."""

    question: Question
    now: datetime
    saved: tuple[tuple[str, datetime], ...]
    profile: Profile

    def queries(self) -> list[tuple[str, datetime]]:
        """Return the queries, each once, the present one first."""
        return list(dict.fromkeys([(self.question.text, self.now), *self.saved]))[:QUERIES]


class Better(Dialog[Profile | None]):
    """Ask pair after pair; the result is the profile that was applied. `mask` takes secrets out of what is shown."""

    class Prepared(Message):
        """The pairs are there, or `problem` says why not."""

        def __init__(self, preferences: Preferences | None, problem: str) -> None:
            super().__init__()
            self.preferences = preferences
            self.problem = problem

    class Foreseen(Message):
        """What ten more answers could bring, after those of `preferences`."""

        def __init__(self, preferences: Preferences, outlook: Outlook) -> None:
            super().__init__()
            self.preferences = preferences
            self.outlook = outlook

    BINDINGS: ClassVar[list[BindingType]] = bindings(BETTER)
    DEFAULT_CSS = """
    Better {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #better-query { height: 1; margin-bottom: 1; }
        & #better-panes { layout: horizontal; height: 1fr; }
        & ReadingPane { width: 1fr; height: 1fr; border: solid $panel; border-title-color: $text-accent; }
        & #better-state { height: 4; padding-bottom: 1; }
        &.-narrow #better-state { height: 3; padding-bottom: 0; }
        &.-narrow #better-panes { layout: vertical; }
        &.-narrow #better-query { margin-bottom: 0; }
    }
    """

    def __init__(self, ground: Ground, mask: Callable[[str], str]) -> None:
        super().__init__("Better 1 (a) or 2 (b)? · which answers the query better?", [a for a in BETTER if a.show])
        self._ground = ground
        self._mask = mask
        self._queries = ground.queries()
        self._outlook: Outlook | None = None
        self._foreseeing = False
        self._problem = ""
        self.preferences: Preferences | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the query, both memories, and how the weights stand."""
        yield Static(Content.styled("Looking for pairs that settings disagree about …", MUTED), id="better-query")
        yield Container(ReadingPane(id="better-a"), ReadingPane(id="better-b"), id="better-panes")
        yield Static(Content(""), id="better-state")

    def on_mount(self) -> None:
        """Look for the pairs."""
        for pane, title in zip(
            self.query(ReadingPane), (keyed("1 · press {better.a}"), keyed("2 · press {better.b}")), strict=True
        ):
            pane.can_focus = False
            pane.border_title = title
        self._prepare()

    @work(thread=True, group="better")
    def _prepare(self) -> None:
        worker, ranker = get_current_worker(), self._ground.question.ranker
        preferences, problem = None, ""
        try:
            scored = [(self._ground.question.scores, self._ground.now)]
            for text, now in self._queries[1:]:
                if worker.is_cancelled:
                    return
                scored.append((ranker.relevance(text), now))
            preferences = begin(ranker, scored, self._ground.profile)
            # Looked at here, so that the first key does not wait for it.
            _ = preferences.number
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Prepared(preferences, problem))

    @on(Prepared)
    def _prepared(self, event: Prepared) -> None:
        self.preferences, self._problem = event.preferences, event.problem
        self._show()

    # Showing

    def _show(self) -> None:
        preferences = self.preferences
        if preferences is None:
            self._say("better-query", Content.styled(f"✗ {printable(self._problem)}", "$text-error"))
            return
        pair = preferences.question
        if pair is None:
            self._say("better-query", Content.styled("No more pairs on which settings disagree.", "bold"))
        else:
            width = max(20, self.query_one("#better-query").size.width - 6)
            query = line(self._mask(self._queries[pair.query][0]), width, "bold").rstrip()
            self._say("better-query", Content.styled("query ", MUTED) + query)
        memories = self._ground.question.ranker.pool.memory
        for name, id in (("better-a", pair and pair.a), ("better-b", pair and pair.b)):
            text = _memory(masked(memories(id), self._mask), self._ground.now) if id else Content("")
            self.query_one(f"#{name}", ReadingPane).show(text)
        self._show_state()
        if not self._foreseeing:
            self._foreseeing = True
            self._foresee(preferences)

    def _show_state(self) -> None:
        if self.preferences is not None:
            self._say("better-state", state(self.preferences, self._ground.profile, self._outlook))

    def _say(self, name: str, text: Content) -> None:
        self.query_one(f"#{name}", Static).update(text)

    @work(thread=True, group="outlook", description="foresee")
    def _foresee(self, preferences: Preferences) -> None:
        worker = get_current_worker()
        outlook = preferences.outlook()
        if not worker.is_cancelled:
            self.post_message(self.Foreseen(preferences, outlook))

    @on(Foreseen)
    def _foreseen(self, event: Foreseen) -> None:
        self._foreseeing = False
        if self.preferences is event.preferences:
            self._outlook = event.outlook
            self._show_state()
        elif self.preferences is not None:
            # Answers came meanwhile: one look ahead at a time, so that keys never wait for several.
            self._foreseeing = True
            self._foresee(self.preferences)

    # Answering

    def action_answer(self, answer: str) -> None:
        """Take an answer, and ask the next pair."""
        if self.preferences is not None and self.preferences.question is not None:
            self._go_on(self.preferences.answered(cast("Answer", answer)))

    def action_undo(self) -> None:
        """Take the last answer back."""
        if self.preferences is not None and self.preferences.answers:
            self._go_on(self.preferences.taken_back())

    def _go_on(self, preferences: Preferences) -> None:
        self.preferences, self._outlook = preferences, None
        self._show()

    def action_apply(self) -> None:
        """Put the sliders where the answers lead."""
        if self.preferences is None or not self.preferences.answers:
            self.app.bell()
        else:
            self.dismiss(self.preferences.profile)

    def action_cancel(self) -> None:
        """Leave everything as it is."""
        self.workers.cancel_node(self)
        self.dismiss(None)


def state(preferences: Preferences, start: Profile, outlook: Outlook | None) -> Content:
    """Return how the weights stand, how open they still are, and what more answers could change."""
    count, profile = len(preferences.answers), preferences.profile
    total = sum(weight_of(start, factor.weight) for factor in FACTORS)
    parts: list[tuple[str, str]] = []
    for factor, spread in zip(FACTORS, preferences.spread, strict=True):
        before, now = weight_of(start, factor.weight) / total, weight_of(profile, factor.weight)
        parts.append((f"{'  ' if parts else ''}{factor.label} {before:.0%}", MUTED))
        if count:
            parts += [(" → ", MUTED), (f"{now:.0%}", "bold"), (f" ±{spread:.0%}", MUTED)]
    parts.append((f"\n{count} {'answer' if count == 1 else 'answers'}", "bold"))
    if count and profile.fades:
        before_days, now_days = days(start.half_lives.episodic), days(profile.half_lives.episodic)
        parts += [(f" · half-life {before_days} → ", MUTED), (now_days, "bold")]
    return Content("\n").join([assemble(parts), _outlook(outlook)])


def _outlook(outlook: Outlook | None) -> Content:
    if outlook is None:
        return Content.styled("Estimating what more answers could change …", MUTED)
    if outlook.gain < ENOUGH:
        text = f"{outlook.answers} more answers would hardly change anything. Enter sets the sliders."
        return Content.styled(text, "bold $text-success")
    return assemble(
        [
            (f"{outlook.answers} more answers could bring ", ""),
            (f"+{outlook.gain:.2f} nDCG@10", "bold"),
            (f" (expected loss {outlook.now:.2f}, then {outlook.then:.2f})", MUTED),
        ]
    )


def _memory(memory: Memory, now: datetime) -> Content:
    head = f"{printable(memory.observation_type)} · {since(memory.created_at, now)}\n"
    return Content("\n").join([Content.styled(head, MUTED), body(memory.content)])


# How good the settings are, query by query, with what each figure means.


_NARROW = 100
"""Cells below which the saved profile's column gives way to the query."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One query under the settings, and its nDCG under the saved profile."""

    index: int
    found: QueryResult
    before: float


class MetricsDialog(Dialog[QueryResult | None]):
    """A table of metrics at the k of the settings, worst queries first; means and verdict stand above it.

    The result is the query that is to be ranked; `mask` takes secrets out of what is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(METRICS)
    DEFAULT_CSS = """
    MetricsDialog {
        & > .dialog { width: 94%; max-width: 130; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #metrics-verdict { height: auto; max-height: 3; margin-bottom: 1; }
        & #metrics-head { height: 2; padding-left: 2; }
        & LineView { background: $surface; }
        & #metrics-about { height: auto; max-height: 9; border-top: solid $panel; color: $text-muted; }
    }
    """

    def __init__(self, found: LiveVerdict, remarks: Sequence[str], mask: Callable[[str], str]) -> None:
        super().__init__(f"Metrics · {found.verdict.queries} judged queries, worst first", METRICS)
        self._found = found
        self._remarks = tuple(map(mask, remarks))
        self._mask = mask
        self._measures = found.measures
        pairs = zip(found.new.queries, found.base.values(self._measures[0]), strict=True)
        rows = [MetricRow(i, query, before) for i, (query, before) in enumerate(pairs)]
        self._rows = sorted(rows, key=lambda r: (r.found.values[self._measures[0].name], r.index))

    def contents(self) -> Iterable[Widget]:
        """Return the verdict, the means, the queries and the definitions."""
        yield Static(verdict_text(self._found), id="metrics-verdict")
        yield Static(Content(""), id="metrics-head")
        yield LineView(self._draw, lambda row: row.index)
        lines = [f"{m.title}: {m.about}" for m in self._measures]
        lines.append(f"unjudged: among the first {self._measures[0].k} without a grade; taken as grade 0")
        if self._found.new.unjudged:
            lines.append(
                keyed("{metrics.look} ranks the query under the cursor, and {tune.judge} there grades what is unjudged")
            )
        lines += [printable(remark) for remark in self._remarks]
        yield VerticalScroll(Static(Content("\n".join(lines))), id="metrics-about", can_focus=False)

    def on_mount(self) -> None:
        """Show the queries."""
        rows = self.query_one(LineView)
        rows.set_rows(self._rows, cursor=0)
        rows.focus()

    @on(LineView.Opened)
    def action_look(self) -> None:
        """Rank the query under the cursor."""
        row: MetricRow | None = self.query_one(LineView).current
        self.dismiss(None if row is None else row.found)

    def on_resize(self) -> None:
        """Lay the head out as the rows are."""
        self.call_after_refresh(self._head)

    def _head(self) -> None:
        width = self.query_one(LineView).scrollable_content_region.width - 2
        mean = self._found.new.mean
        titles = [Content.styled(m.title, MUTED) for m in self._measures]
        head = self._cells(Cell("query", 0, MUTED), titles, ("saved", "unjudged"), width, MUTED)
        means = [Content.styled(f"{mean[m.name]:.3f}", "bold") for m in self._measures]
        ends = (f"{self._found.means[0]:.3f}", str(self._found.new.unjudged))
        line = self._cells(Cell("mean", 0, "bold"), means, ends, width, "bold")
        text = Content("\n").join([lay_out(head, width, gap=2), lay_out(line, width, gap=2)])
        self.query_one("#metrics-head", Static).update(text)

    def _draw(self, row: MetricRow, width: int) -> Content:
        now = row.found.values[self._measures[0].name]
        move = "▲" if now - row.before > TIE else "▼" if row.before - now > TIE else " "
        style = "bold $text-success" if move == "▲" else "bold $text-warning"
        first = assemble([(move, style), (f" {now:.3f}", "")])
        others = [Content(f"{row.found.values[m.name]:.3f}") for m in self._measures[1:]]
        ends = (f"{row.before:.3f}", str(row.found.unjudged))
        return lay_out(
            self._cells(Cell(self._mask(row.found.query)), [first, *others], ends, width, MUTED), width, gap=2
        )

    def _cells(
        self, query: Cell, values: Sequence[Content], ends: tuple[str, str], width: int, style: str
    ) -> list[Cell]:
        """Return a row of the table: the query, the metrics, the saved profile's nDCG and how many are unjudged."""
        widths = [max(7, len(m.title)) for m in self._measures]
        cells = [query, *(Cell(value, w, "", "right") for value, w in zip(values, widths, strict=True))]
        if width >= _NARROW:
            cells.append(Cell(ends[0], 6, style, "right"))
        return [*cells, Cell(ends[1], 8, style, "right")]
