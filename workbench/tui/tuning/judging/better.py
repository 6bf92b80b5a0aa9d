"""Better 1 or 2? Two memories, one question; the weights follow from the answers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.core.tuning.factors import FACTORS
from workbench.core.tuning.profile import Profile, weight_of
from workbench.services.safety.masking import masked
from workbench.services.tuning.pairwise import Answer, Outlook, Preferences, begin
from workbench.services.tuning.question import Question
from workbench.tui.app.actions import bindings
from workbench.tui.tuning.actions import BETTER
from workbench.tui.widgets.content import MUTED, assemble, body, line
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import days, since
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.lists.reading_pane import ReadingPane

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
            self._say("better-query", Content.styled("No setting disagrees about any further pair.", "bold"))
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

    def action_read_on(self) -> None:
        """Half a page on in both."""
        for pane in self.query(ReadingPane):
            pane.read(1)

    def action_read_back(self) -> None:
        """Half a page back in both."""
        for pane in self.query(ReadingPane):
            pane.read(-1)

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
        return Content.styled("Playing through what more answers could change …", MUTED)
    if outlook.gain < ENOUGH:
        text = f"{outlook.answers} more answers would hardly change anything. Enter puts the sliders there."
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
