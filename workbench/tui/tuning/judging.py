"""Judging and what follows from it: grades for a query, metrics, auto-tune, and better 1 or 2."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, cast

from textual import on, work
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import counted, printable
from workbench.core.tuning.autotune import TIE, Moved, Search, TunedProfile
from workbench.core.tuning.measure import Measure
from workbench.core.tuning.profile import FACTORS, Profile, weight_of
from workbench.services.open import Workbench
from workbench.services.tuning.evaluation import Compared, QueryResult, ScoredSet
from workbench.services.tuning.pairwise import Answer, Outlook, Preferences, begin
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.session import Question
from workbench.tui.actions import AUTO, BETTER, JUDGE, METRICS, on_row
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.waiting import change
from workbench.tui.records.actions import Acts, Place
from workbench.tui.tuning.ranking import verdict_parts, wordings
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body, joined, keyed, line, muted
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import days, number, since
from workbench.tui.widgets.line_list import Cell, LineView, lay_out
from workbench.tui.widgets.reading_pane import ReadingPane

# Judge mode: one memory after the other, in full, graded for one query; no scores, no order to lean
# on.


GRADES = ("no", "weak", "good", "essential")


def in_full(memory: Memory, now: datetime, *before: tuple[str, str]) -> Content:
    """Return the text of a memory under a line that says what it is and when it was made."""
    head = f"{printable(memory.observation_type)} · {since(memory.created_at, now)}\n"
    return joined(assemble([*before, (head, MUTED)]), body(memory.content))


class JudgeDialog(Dialog[None]):
    """The pool of a query beside the memory that is judged; every grade is stored at once, by
    `give`.
    """

    BINDINGS = bindings((*JUDGE, *on_row()))
    DEFAULT_CSS = """
    JudgeDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #judge-query { height: 1; text-style: bold; }
        & .dialog--state { height: 1; margin-bottom: 1; }
        & #judge-panes { layout: horizontal; height: 1fr; }
        & LineView { width: 44; background: $surface; }
        & #judge-text { width: 1fr; height: 1fr; border-left: solid $panel; }
        &.-narrow #judge-panes { layout: vertical; }
        &.-narrow LineView { width: 1fr; height: 6; }
        &.-narrow #judge-text { border-left: none; border-top: solid $panel; padding: 0 2; }
        &.-narrow .dialog--keys { margin-top: 0; }
    }
    """

    def __init__(
        self,
        bench: Workbench,
        query: str,
        now: datetime | None,
        pool: Sequence[Memory],
        asked_at: datetime,
        give: Callable[[str, int], None],
    ) -> None:
        super().__init__(
            "Judge · how well does each memory answer the query?", footer_entries(JUDGE)
        )
        self._bench, self._query, self._now, self._asked_at = bench, query, now, asked_at
        self._pool = tuple(map(bench.safety.shown, pool))
        self.ids = [memory.id for memory in pool]
        self._give = give
        self._unsure: set[int] = set()
        self._steps: list[tuple[int, int | None]] = []
        self.acts = self._record = Acts(self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return the query, what is left, the pool and the memory."""
        yield Static(line(self._bench.safety.masked(self._query), 400).rstrip(), id="judge-query")
        yield self.state
        rows: LineView[int] = LineView(
            self._draw, lambda place: place, empty=Content("Nothing to judge."), id="pool"
        )
        yield Container(rows, ReadingPane(id="judge-text"), id="judge-panes")

    def on_mount(self) -> None:
        """Begin with the first memory that is not judged yet."""
        self.query_one(ReadingPane).can_focus = False
        self._show()
        self.rows.set_rows(range(len(self._pool)), cursor=self._next(-1) or 0)
        self.rows.focus()

    def _grades(self) -> list[int | None]:
        grades = self._bench.judging.grades(self._query, self._now)
        return [grades.get(id) for id in self.ids]

    @on(LineView.Opened)
    def _open(self) -> None:
        """Open the memory over the list."""
        self._record.open()

    def _record_here(self) -> Place | None:
        return "memories", self.ids[self.rows.cursor]

    def _draw(self, place: int, width: int) -> list[Cell]:  # noqa: ARG002 - the signature of drawing
        grade = self._graded[place]
        mark = ("?" if place in self._unsure else "·") if grade is None else str(grade)
        style = MUTED if grade is None else "bold $text-accent" if grade else "bold"
        return [
            Cell(mark, 1, style),
            Cell(self._pool[place].line, 0, "" if grade is None else MUTED),
        ]

    def _show(self, problem: str = "") -> None:
        """Show the grades as they are by now, or a problem."""
        self._graded = self._grades()
        for place in range(len(self.rows.rows)):
            self.rows.refresh_row(place)
        count, left = len(self._pool), self._graded.count(None)
        unsure = sum(self._graded[place] is None for place in self._unsure)
        text, style = f"{left} of {count} unjudged", "bold"
        if problem:
            text, style = f"✗ {printable(problem)}", "bold $text-error"
        elif not left:
            text, style = f"All {count} are judged. esc closes.", "bold $text-success"
        elif unsure:
            text += f" · {unsure} can't tell"
        self.state.update(Content.styled(text, style), layout=False)
        self._show_memory()

    @on(LineView.Highlighted)
    def _show_memory(self) -> None:
        grade, memory = self._graded[self.rows.cursor], self._pool[self.rows.cursor]
        state = (
            ("not judged yet", MUTED)
            if grade is None
            else (f"graded {grade}, {GRADES[grade]}", "bold $text-accent")
        )
        self.query_one(ReadingPane).show(in_full(memory, self._asked_at, state, (" · ", MUTED)))

    # Judging

    def action_grade(self, grade: int) -> None:
        """Grade the memory, and go to the next that is not judged."""
        place, library = self.rows.cursor, self._bench.library

        def give() -> None:
            before = library.revision
            self._give(self.ids[place], grade)
            self._step(place, library.revision if library.revision != before else None)

        change(self, give, lambda error: self._show(str(error)))

    def action_unsure(self) -> None:
        """Leave it unjudged."""
        self._unsure.add(self.rows.cursor)
        self._step(self.rows.cursor, None)

    def _step(self, place: int, revision: int | None) -> None:
        """Remember what a key did, and go on to the next that nobody decided on."""
        self._steps.append((place, revision))
        self._show()
        following = self._next(place)
        if self.rows.cursor == place and following is not None:
            self.rows.cursor = following

    def _next(self, at: int) -> int | None:
        count = len(self._pool)
        order = ((at + step) % count for step in range(1, count + 1))
        return next(
            (place for place in order if self._graded[place] is None and place not in self._unsure),
            None,
        )

    def action_undo(self) -> None:
        """Take back what the last key here did, and go to that memory."""
        if not self._steps:
            self._show("Nothing graded here yet.")
            return
        place, revision = self._steps[-1]

        def back(problem: str = "") -> None:
            self._steps.remove((place, revision))
            self._unsure.discard(place)
            self.rows.cursor = place
            self._show(problem)

        def take_back() -> None:
            if revision is not None:
                self._bench.history.undo_revision(revision)
            back()

        change(self, take_back, lambda error: back(str(error)))


# Auto-tune: the search with its progress, then the proposal: to move the sliders or to keep them.
# It saves nothing.


class AutoTune(Dialog[Literal["keep", "apply"] | None]):
    """Search the grid around `start`, beside the `own` profiles; the result is what a person
    answered to `proposal`.
    """

    BINDINGS = bindings(AUTO)
    DEFAULT_CSS = """
    AutoTune {
        & > .dialog { width: 84; }
        & .dialog--state { height: auto; }
    }
    """

    def __init__(self, scored: ScoredSet, start: Profile, changed: bool, own: Profiles) -> None:
        super().__init__("Auto-tune", AUTO)
        self._scored, self._start, self._changed, self._own = scored, start, changed, own
        self.proposal: TunedProfile | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the one text: first the progress, then the proposal."""
        yield self.state

    def on_mount(self) -> None:
        """Start the search."""
        self._show_progress(0, len(self._scored.queries))
        self._search()

    @work
    async def _search(self) -> None:
        worker, search = get_current_worker(), Search(Measure("ndcg", self._start.k))

        def progress(done: int, total: int) -> None:
            self.call_later(self._show_progress, done, total)

        def cancelled() -> bool:
            return worker.is_cancelled

        try:
            found = await asyncio.to_thread(
                self._scored.tune, self._start, search, progress, cancelled, self._own
            )
            text = proposal_text(found, self._scored.judged.judgments, self._changed)
            self.proposal = found
        except WorkbenchError as error:
            text = Content.styled(f"✗ {printable(str(error))}", "$text-error")
        self.tell(text)

    def _show_progress(self, done: int, total: int) -> None:
        if self.proposal is None:
            around = _start(self._start, self._changed)
            head = Content(
                f"Trying every setting around {around}. Esc stops it; nothing is changed.\n\n"
            )
            self.tell(head + gauge(done, total, "queries", 30))

    def action_apply(self) -> None:
        """Put the sliders where the proposal has them, or leave them where nothing is better."""
        if self.proposal is None:
            self.app.bell()
        else:
            self.dismiss("keep" if self.proposal.keeps else "apply")

    def action_anyway(self) -> None:
        """Put the sliders where the best setting that was tried has them, whatever it is worth."""
        if self.proposal is None or self.proposal.profile == self.proposal.start:
            self.app.bell()
        else:
            self.dismiss("apply")

    def action_cancel(self) -> None:
        """Stop the search, or leave the proposal."""
        self.workers.cancel_node(self)
        self.dismiss(None)


def proposal_text(proposal: TunedProfile, judgments: int, changed: bool) -> Content:
    """Return what would move, what it is worth on held-out queries, and the verdict."""
    start, name = _start(proposal.start, changed), printable(proposal.start.name)
    judged = f"{number(proposal.queries)} queries with {number(judgments)} judgments"
    lines = [muted(f"{number(proposal.tried)} settings around {start} on {judged}.\n")]
    if proposal.keeps:
        yours = "the current sliders" if changed else name
        beaten = (
            f"whether this beats {yours} is inconclusive"
            if proposal.beaten
            else f"nothing beats {yours} on held-out queries"
        )
        lines.append(Content.styled(f"Keep yours: {beaten}.", "bold $text-success"))
    if proposal.profile != proposal.start:
        what = (
            f"Your profile {printable(proposal.contender)}"
            if proposal.contender
            else "The best setting tried"
        )
        lines.append(Content(f"{what}{f', from {start}' if changed else ''}:"))
        lines += map(_moved, proposal.moved)
    means = [
        (f"\n{proposal.verdict.metric} ", MUTED),
        (f"{proposal.before:.3f} → {proposal.after:.3f}", "bold"),
    ]
    lines += [
        assemble([*means, (f" on held-out queries ({proposal.folds} folds)", "")]),
        muted(f"{proposal.fitted:.3f} on the queries it was chosen on, which is optimistic"),
        assemble(verdict_parts(proposal.verdict)),
    ]
    said = [
        f"On these queries {name} distinguishes no two memories: its weight was left alone"
        for name in proposal.dead
    ]
    said += [
        f"{printable(name)} was tuned on these queries, so its score is no evidence"
        for name in proposal.seen
    ]
    lines += [muted(text) for text in said]
    if changed and not proposal.keeps:
        lost = "\nThe current slider values would be lost; no profile has them."
        lines.append(Content.styled(lost, "$text-warning"))
    if proposal.keeps and proposal.profile != proposal.start:
        keys = keyed(
            "\n{auto.apply} keeps the sliders as they are; {auto.anyway} tries this setting."
        )
        lines.append(muted(keys))
    return joined(*lines)


def _start(start: Profile, changed: bool) -> str:
    """Name what the search starts from: what stands on the sliders, be they as they were saved or
    moved by hand.
    """
    return (
        f"the current sliders ({printable(start.name)}, changed)"
        if changed
        else printable(start.name)
    )


def _moved(moved: Moved) -> Content:
    life = moved.parameter == "half-life"
    before, after = (days(v) if life else f"{v or 0:.0%}" for v in (moved.before, moved.after))
    return assemble(
        [(f"  {moved.parameter:<12}", ""), (f"{before:>7}", MUTED), (" → ", MUTED), (after, "bold")]
    )


# Better 1 or 2? Two memories, one question; the weights follow from the answers.


QUERIES = 12
"""How many queries the pairs come from at most: the present one, then the saved ones."""

ENOUGH = 0.005
"""Ten answers that bring no more nDCG@10 than this are not worth asking for."""


class Better(Dialog[Profile | None]):
    """Ask pair after pair; the result is the profile that was applied."""

    BINDINGS = bindings(BETTER)
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

    def __init__(
        self, bench: Workbench, question: Question, now: datetime, profile: Profile
    ) -> None:
        super().__init__(
            "Better 1 (a) or 2 (b)? · which answers the query better?",
            footer_entries(BETTER),
        )
        self._bench, self._question, self._now, self._profile = bench, question, now, profile
        saved = [(query.text, query.now or bench.context.now()) for query in bench.tuning.queries()]
        self._queries = list(dict.fromkeys([(question.text, now), *saved]))[:QUERIES]
        self._outlook: tuple[Preferences, Outlook] | None = None
        self._looking = False
        self.preferences: Preferences | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the query, both memories, and how the weights stand."""
        yield Static(
            muted("Looking for pairs that settings rank differently …"),
            id="better-query",
        )
        yield Container(ReadingPane(id="better-a"), ReadingPane(id="better-b"), id="better-panes")
        yield Static(BLANK, id="better-state")

    def on_mount(self) -> None:
        """Look for the pairs."""
        for pane, title in zip(
            self.query(ReadingPane), ("1 · press {better.a}", "2 · press {better.b}"), strict=True
        ):
            pane.can_focus = False
            pane.border_title = keyed(title)
        self._prepare()

    @work
    async def _prepare(self) -> None:
        try:
            self.preferences = await asyncio.to_thread(self._begun)
        except WorkbenchError as error:
            self._say("query", Content.styled(f"✗ {printable(str(error))}", "$text-error"))
        else:
            self._show()

    def _begun(self) -> Preferences:
        ranker = self._question.ranker
        scored = [
            (self._question.scores, self._now),
            *((ranker.relevance(q), now) for q, now in self._queries[1:]),
        ]
        preferences = begin(ranker, scored, self._profile)
        # Looked at here, so that the first key does not wait for it.
        _ = preferences.number
        return preferences

    # Showing

    def _show(self) -> None:
        if self.preferences is None:
            return
        pair, shown = self.preferences.question, self._bench.safety.shown
        if pair is None:
            self._say(
                "query", Content.styled("No more pairs that settings rank differently.", "bold")
            )
        else:
            width = max(20, self.query_one("#better-query").size.width - 6)
            query = line(
                self._bench.safety.masked(self._queries[pair.query][0]), width, "bold"
            ).rstrip()
            self._say("query", muted("query ") + query)
        for pane, id in zip(
            self.query(ReadingPane), (pair.a, pair.b) if pair else ("", ""), strict=True
        ):
            memory = shown(self._question.ranker.pool.memory(id)) if id else None
            pane.show(in_full(memory, self._now) if memory else BLANK)
        self._show_state()
        if not self._looking:
            self._looking = True
            self._look_ahead()

    def _show_state(self) -> None:
        if self.preferences is not None:
            known = (
                self._outlook[1] if self._outlook and self._outlook[0] is self.preferences else None
            )
            self._say("state", state(self.preferences, self._profile, known))

    def _say(self, name: str, text: Content) -> None:
        for told in self.query(f"#better-{name}").results(Static):  # none while it closes
            told.update(text)

    @work(description="foresee")
    async def _look_ahead(self) -> None:
        """Estimate what more answers could change, one look at a time, until it is about all that
        were given.
        """
        while (asked := self.preferences) is not None and (
            not self._outlook or self._outlook[0] is not asked
        ):
            self._outlook = asked, await asyncio.to_thread(asked.outlook)
        self._looking = False
        self._show_state()

    # Answering

    def action_answer(self, answer: str) -> None:
        """Take an answer, and ask the next pair."""
        if self.preferences is not None and self.preferences.question is not None:
            self.preferences = self.preferences.answered(cast("Answer", answer))
            self._show()

    def action_undo(self) -> None:
        """Take the last answer back."""
        if self.preferences is not None and self.preferences.answers:
            self.preferences = self.preferences.taken_back()
            self._show()

    def action_apply(self) -> None:
        """Put the sliders where the answers lead."""
        if self.preferences is None or not self.preferences.answers:
            self.app.bell()
        else:
            self.dismiss(self.preferences.profile)


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
    parts.append((f"\n{counted(count, 'answer')}", "bold"))
    if count and profile.fades:
        lives = " → ".join(days(p.half_lives.episodic) for p in (start, profile))
        parts.append((f" · half-life {lives}", ""))
    if outlook is None:
        parts.append(("\nEstimating what more answers could change …", MUTED))
    elif outlook.gain < ENOUGH:
        hardly = f"\n{outlook.answers} more answers would hardly change anything. Enter sets the sliders."
        parts.append((hardly, "bold $text-success"))
    else:
        loss = f"expected loss {outlook.now:.2f}, then {outlook.then:.2f}"
        parts.append(
            (
                f"\n{outlook.answers} more answers could bring +{outlook.gain:.2f} nDCG@10 ({loss})",
                "",
            )
        )
    return assemble(parts)


# How good the settings are, query by query, with what each figure means.


class MetricsDialog(Dialog[int | None]):
    """A table of metrics at the k of the settings, worst queries first; means and verdict stand
    above it.

    The result is the number of the query that is to be ranked.
    """

    BINDINGS = bindings(METRICS)
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

    def __init__(self, found: Compared, remarks: Sequence[str]) -> None:
        super().__init__(f"Metrics · {found.verdict.queries} judged queries, worst first", METRICS)
        self._found = found
        self._remarks = remarks
        self._measures = found.measures
        self._before = found.base.values(self._measures[0])

    def contents(self) -> Iterable[Widget]:
        """Return the verdict, the means, the queries and the definitions."""
        yield Static(wordings(self._found)[0], id="metrics-verdict")
        yield Static(BLANK, id="metrics-head")
        yield LineView(self._draw, lambda place: place)
        lines = [f"{m.title}: {m.about}" for m in self._measures]
        lines.append(
            f"unjudged: among the first {self._measures[0].k} without a grade; taken as grade 0"
        )
        if self._found.new.unjudged:
            lines.append(
                keyed(
                    "{metrics.look} ranks the query under the cursor, and {tune.judge} there grades what is unjudged"
                )
            )
        lines += map(printable, self._remarks)
        yield VerticalScroll(Static(Content("\n".join(lines))), id="metrics-about", can_focus=False)

    def on_mount(self) -> None:
        """Show the queries."""
        values = self._found.new.values(self._measures[0])
        rows = self.query_one(LineView)
        rows.set_rows(
            sorted(range(len(values)), key=lambda place: (values[place], place)), cursor=0
        )
        rows.focus()

    @on(LineView.Opened)
    def action_look(self) -> None:
        """Rank the query under the cursor."""
        self.dismiss(self.query_one(LineView).current)

    def on_resize(self) -> None:
        """Lay the head out as the rows are."""
        self.call_after_refresh(self._head)

    def _head(self) -> None:
        width, new = self.query_one(LineView).scrollable_content_region.width - 2, self._found.new
        titles = self._line(
            "query", [m.title for m in self._measures], "saved", "unjudged", width, MUTED
        )
        means = [f"{new.mean[m.name]:.3f}" for m in self._measures]
        mean = self._line(
            "mean", means, f"{self._found.means[0]:.3f}", str(new.unjudged), width, "bold"
        )
        self.query_one("#metrics-head", Static).update(joined(titles, mean))

    def _draw(self, place: int, width: int) -> Content:
        query: QueryResult = self._found.new.queries[place]
        gain = query.values[self._measures[0].name] - self._before[place]
        mark, style = (
            ("▲", "bold $text-success")
            if gain > TIE
            else ("▼", "bold $text-warning")
            if gain < -TIE
            else (" ", "")
        )
        values: list[str | Content] = [f"{query.values[m.name]:.3f}" for m in self._measures]
        values[0] = assemble([(mark, style), (f" {values[0]}", "")])
        return self._line(
            query.query, values, f"{self._before[place]:.3f}", str(query.unjudged), width, ""
        )

    def _line(
        self,
        query: str,
        values: Sequence[str | Content],
        saved: str,
        unjudged: str,
        width: int,
        style: str,
    ) -> Content:
        """Return a row of the table: the query, the metrics, the saved profile's nDCG and how many
        are unjudged.
        """
        widths = [max(7, len(m.title)) for m in self._measures]
        cells = [
            Cell(query, 0, style),
            *(Cell(v, w, style, "right") for v, w in zip(values, widths, strict=True)),
        ]
        # Where there is little room, the saved profile's column gives way to the query.
        cells += [Cell(saved, 6, style or MUTED, "right")] if width >= 100 else []
        return lay_out([*cells, Cell(unjudged, 8, style or MUTED, "right")], width, gap=2)
