"""Health: what a part of the screen is, and the parts that need little: settings, reflection,
history and the like.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice, takewhile
from typing import Any, ClassVar, Generic, Literal, TypeVar

from textual.content import Content
from textual.message import Message
from textual.worker import Worker, WorkerCancelled, WorkerFailed, get_current_worker

from workbench.config import loading, paths
from workbench.core.claims import why
from workbench.core.health import sparkline
from workbench.core.record import WorkbenchError
from workbench.core.reflection.trigger import Condition, Gauge
from workbench.core.review.kinds import GROUPS
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import printable
from workbench.services.agents.capture.hooks import Past, past
from workbench.services.agents.capture.progress import HookFailure
from workbench.services.claims import Stale, TruePlan
from workbench.services.health.history import Event
from workbench.services.health.quality import Figure, Weeks
from workbench.services.health.trends import Daily, Trends, summed
from workbench.services.safety.masking import masked, masked_text
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import check_keymap
from workbench.tui.app.host import Host
from workbench.tui.app.themes import load_themes, unknown_theme
from workbench.tui.records.actions import Place, only_record
from workbench.tui.stream.history_dialog import HistoryDialog, event_text
from workbench.tui.stream.history_dialog import row as event_row
from workbench.tui.widgets.bars import day_plot, gauge
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    clipped,
    joined,
    key_line,
    key_of,
    keyed,
    muted,
    undo,
)
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.line_list import Cell, LineView

FIGURE = 5
"""Cells of the number or sign that a row begins with."""

ERROR, WARN = "$text-error", "$text-warning"
GOOD, BAD = "✓", "✗"
WAITING = "Looking …"

SHOWN_EVERY = 0.1
"""Seconds between two pictures of how far a part is."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the screen. `name` is unique within its part; `item` is what it is about.

    The first row of a part is its heading: there `item` is `None` and keys mean the part as a
    whole.
    """

    section: str
    name: str
    draw: Callable[[int], Sequence[Cell] | Content]
    item: object = None
    heading: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What the row is known by when the rows are replaced."""
        return (self.section, self.name)


@dataclass(frozen=True, slots=True)
class InReview:
    """What waits in a group of Review (`core.review.proposal`), and how much of it there is."""

    group: str
    count: int


class Section(Generic[T]):
    """A part of the screen; its methods `open`, `apply` and so on are what the keys of the area do
    on its rows.

    `look` runs on a thread: after every change of the store (`always`), when the screen is first
    shown and on "check again" (`once`), or only when a person starts it (`asked`). A quiet part is
    left out as long as it has no rows.
    """

    ID: ClassVar[str]
    TITLE: ClassVar[str]
    WHEN: ClassVar[Literal["always", "once", "asked"]] = "always"
    STOPPED: ClassVar[str] = "Stopped. Nothing was changed."
    QUIET: ClassVar[bool] = False
    value: T
    """What it found out, once it is `known`."""
    tell: Progress
    cancelled: Cancelled
    """What a look calls, to say how far it is and to learn whether it is to stop."""

    class Changed(Message):
        """A part has other rows."""

        def __init__(self, section: "Section[Any]") -> None:
            super().__init__()
            self.section = section

    def __init__(self, screen: AreaScreen, listed: LineView[Row]) -> None:
        self.screen = screen
        self.bench = screen.bench
        self.masked = self.bench.safety.masked
        self.known = False
        self.problem = ""
        self.lines: list[Row] = []
        self.unfolded: set[str] = set()
        self.width = 0
        """Cells of the text beside the list."""
        self.worker: Worker[None] | None = None
        self.progress: tuple[int, int] | None = None
        """How far it is, where a person waits for that."""
        self._list = listed
        self._again = False

    def look(self) -> T:
        """Find out what it shows, on a thread. Raises `WorkbenchError`."""
        raise NotImplementedError

    def rows(self) -> Sequence[Row]:
        """Return the rows below the heading."""
        raise NotImplementedError

    def detail(self, row: Row) -> Content:
        """Return what stands beside a row."""
        raise NotImplementedError

    def record(self, row: Row) -> Place | None:
        """Return the memory or bullet that a row is about."""
        del row
        return None

    async def open(self, row: Row) -> bool:
        """Open what a row is about; False leaves it at the text beside it."""
        del row
        return False

    @property
    def app(self) -> Host:
        return self.screen.workbench_app

    # Finding out

    def gather(self) -> None:
        """Find out anew; a part that is at it already looks again when it is through."""
        if self.worker is not None:
            self._again = True
            return
        self.worker = self.screen.run_worker(self._find_out(), group=f"health-{self.ID}")
        if self.WHEN == "asked":
            self.progress = (0, 0)
            self.screen.post_message(self.Changed(self))

    async def _find_out(self) -> None:
        worker, self._again, shown = get_current_worker(), True, 0.0

        def tell(done: int, total: int) -> None:
            nonlocal shown
            if self.progress is not None and (
                time.monotonic() - shown >= SHOWN_EVERY or done == total
            ):
                shown, self.progress = time.monotonic(), (done, total)
                self.screen.post_message(self.Changed(self))

        self.tell, self.cancelled = tell, lambda: worker.is_cancelled
        try:
            while self._again:
                self._again = False
                job = self.screen.run_worker(self.look, thread=True, exit_on_error=False)
                try:
                    self.value = await job.wait()
                    self.known, self.problem = True, ""
                except WorkerCancelled:
                    return
                except WorkerFailed as failed:
                    told = f"This check failed: {failed.error!r}. Everything else works."
                    self.known = False
                    self.problem = (
                        str(failed.error) if isinstance(failed.error, WorkbenchError) else told
                    )
        finally:
            self.worker = self.progress = None
            self.screen.post_message(self.Changed(self))
            if (
                self.WHEN == "asked"
                and (row := self._list.current) is not None
                and row.key == (self.ID, "")
            ):
                self._list.call_after_refresh(self._list.show_below, 10)

    def make(self) -> None:
        """Make its rows of what is known now."""
        rows: Sequence[Row]
        if self.problem:
            rows = [self.remark("problem", f"{BAD} {self.problem}", style=ERROR)]
        elif self.known or self.WHEN == "asked":
            rows = self.rows()
        else:
            rows = [] if self.QUIET else [self.remark("waiting", WAITING)]
        heading = Row(self.ID, "", lambda _: Content.styled(self.TITLE, "$text-accent"), None, True)
        self.lines = [heading, *rows] if rows or not self.QUIET else []

    def text(self, row: Row, width: int) -> Content:
        """Return what stands beside a row, in so many cells."""
        self.width = width
        if self.problem:
            return Content.styled(self.problem, ERROR)
        if isinstance(row.item, InReview):
            goes = "it" if row.item.count == 1 else f"these {number(row.item.count)}"
            decide = "{review.approve}, {review.reject} and {review.later} decide."
            waits = f"All proposals wait in Review. {{list.open}} goes to {goes} there; {decide}"
            return Content(keyed(waits))
        return self.detail(row) if self.known or self.WHEN == "asked" else muted(WAITING)

    def go(self, item: object = None) -> None:
        """Move the cursor to its heading, or to its row about an item."""
        rows = ((n, row) for n, row in enumerate(self._list.rows) if row.section == self.ID)
        place = next(
            (n for n, row in rows if (row.heading if item is None else row.item == item)), None
        )
        if place is not None:
            self._list.cursor = place

    # Rows

    def row(
        self,
        name: str,
        figure: str,
        text: str,
        *,
        item: object = None,
        style: str = "",
        more: str = "",
    ) -> Row:
        """Return a row of a number or sign, a text and a muted remark at its end."""

        def draw(width: int) -> Sequence[Cell]:
            cells = [
                Cell(figure, FIGURE, style or "bold", "right", "value"),
                Cell(text, 0, style, name="what"),
            ]
            return (
                [*cells, Cell(more, min(len(more), max(8, width // 3)), MUTED, "right")]
                if more
                else cells
            )

        return Row(self.ID, name, draw, item)

    def remark(self, name: str, text: str, *, item: object = None, style: str = MUTED) -> Row:
        """Return a row that is only a sentence."""
        return Row(self.ID, name, lambda _: [Cell("", FIGURE), Cell(text, 0, style)], item)

    def bar(self, what: str) -> Row:
        """Return the row that says how far it is."""
        done, total = self.progress or (0, 0)
        drawn = gauge(done, max(1, total), keyed(f"{what} · {{app.back}} stops it"), 20)
        return Row(self.ID, "running", lambda _: [Cell("", FIGURE), Cell(drawn)])

    def in_review(self, group: str) -> list[Row]:
        """Return the line for what waits in a group of Review, if anything does."""
        count = self.bench.review.waiting_in(group)
        head = next(one.title for one in GROUPS if one.id == group)
        text = keyed(
            f"{'waits' if count == 1 else 'wait'} in Review · {head} · {{list.open}} goes there"
        )
        return (
            [self.row("in review", number(count), text, item=InReview(group, count))]
            if count
            else []
        )


def title(text: str) -> Content:
    return Content.styled(text, "bold")


def more(count: int, listed: int, what: str = "more") -> list[Content]:
    """Say how many there are beside those that are listed."""
    return [muted(f"… and {number(count - listed)} {what}")] if count > listed else []


class Settings(Section[tuple[str, ...]]):
    """What is wrong with the person's settings, keys and themes, as the files are now; mostly
    nothing.
    """

    ID, TITLE, WHEN, QUIET = "settings", "Settings", "once", True

    def look(self) -> tuple[str, ...]:
        folder = paths.config_dir()
        loaded = loading.load(folder / loading.FILE_NAME)
        themes = load_themes((paths.shipped("themes"), folder / "themes"))
        missing = (
            unknown_theme(loaded.settings.theme, themes.themes) if "theme" in loaded.given else ()
        )
        faults = (
            *loaded.problems,
            *themes.problems,
            *check_keymap(loaded.settings.keys).problems,
            *missing,
        )
        return tuple(masked_text(printable(fault)) for fault in faults)

    def rows(self) -> Sequence[Row]:
        return [
            self.row(f"fault-{n}", BAD, fault, item=fault, style=ERROR)
            for n, fault in enumerate(self.value)
        ]

    def detail(self, row: Row) -> Content:
        return joined(
            body(str(row.item), ERROR) if row.item else title("Problems in your settings"), BLANK,
            body(str(paths.config_dir() / loading.FILE_NAME), MUTED),
            body("A theme is a file in the folder themes beside it.", MUTED), BLANK,
            body(keyed("{health.check} checks again; changes apply from the next start.")),
        )  # fmt: skip


_MEANS = {
    "importance": "total importance of observations since the last reflection",
    "observations": "number of observations since the last reflection",
    "hours": "time since the last reflection",
}


class Reflection(Section[tuple[Gauge, str]]):
    """The gauge, and the month's tokens with their limit."""

    ID, TITLE = "reflection", "Reflection"

    def look(self) -> tuple[Gauge, str]:
        reflecting, limit = self.bench.reflecting, self.bench.context.settings.claude.monthly_tokens
        most = f"of {number(limit)} tokens" if limit else "tokens, no limit is set"
        return reflecting.gauge(), f"{number(reflecting.runs.spent())} {most}"

    def rows(self) -> Sequence[Row]:
        found, usage = self.value
        leading = found.leading.name
        conditions = [self._condition(one, leads=one.name == leading) for one in found.conditions]
        return [*conditions, self.row("usage", "", f"Claude this month: {usage}", item=usage)]

    def _condition(self, condition: Condition, *, leads: bool) -> Row:
        told = (
            " · due"
            if condition.fraction >= 1
            else " · leads"
            if leads and condition.value > 0
            else ""
        )
        drawn = gauge(condition.value, condition.limit, condition.name, 10) + title(told)
        return Row(self.ID, condition.name, lambda _: [Cell(drawn)], condition)

    def detail(self, row: Row) -> Content:
        del row
        found, usage = self.value
        due = (
            f"A reflection is due ({', '.join(found.reached)})."
            if found.due
            else "No reflection is due yet."
        )
        parts = [title(due), BLANK]
        for one in found.conditions:
            parts.append(gauge(one.value, one.limit, one.name, 20))
            parts.append(muted(f"  {_MEANS.get(one.name, '')}"))
        return joined(
            *parts, BLANK, Content("The first condition to reach its limit makes a reflection due."),
            muted("The limits are in the config under [reflection]."), BLANK,
            Content(f"Claude this month: {usage}."), BLANK, key_line("app.reflect", "reflects now."),
        )  # fmt: skip


class History(Section[tuple[Event, ...]]):
    """What everybody did lately, agents too."""

    ID, TITLE = "history", "History"
    LISTED = 15
    """Changes that are listed; enter opens all of them."""

    def look(self) -> tuple[Event, ...]:
        """Read the latest changes; those that are known already only when a purge may have changed
        them.
        """
        known = self.value if self.known else ()
        newest = known[0].rev if known else -1
        fresh = tuple(
            takewhile(lambda e: e.rev > newest, islice(self.bench.history.events(), self.LISTED))
        )
        if any(event.kind == "purge" for event in fresh):
            return tuple(islice(self.bench.history.events(), self.LISTED))
        return (*fresh, *known)[: self.LISTED]

    def rows(self) -> Sequence[Row]:
        found = [self._row(event) for event in self.value]
        return found or [self.remark("nothing", "No history yet.")]

    def _row(self, event: Event) -> Row:
        return Row(
            self.ID, str(event.rev), lambda width: event_row(self.bench, event, width), event
        )

    def detail(self, row: Row) -> Content:
        keys = assemble([
            (key_of("health.take-back"), "bold $text-accent"), (" takes it back · ", MUTED),
            (key_of("list.open"), "bold $text-accent"), (" opens the whole history", MUTED),
        ])  # fmt: skip
        event = row.item
        if not isinstance(event, Event):
            return joined(title("Changes by everyone, newest first"), BLANK, keys)
        later, opens = (
            self.value[: self.value.index(event)] if event in self.value else (),
            key_of("health.unfold"),
        )
        unfolded = row.name in self.unfolded
        text = event_text(self.bench, event, later, keys=True, opens=opens, unfolded=unfolded)
        label = event.label if unfolded else self.masked(event.label)
        return joined(body(label, "bold"), keys, BLANK, text)

    def record(self, row: Row) -> Place | None:
        changed = row.item.fields if isinstance(row.item, Event) else ()
        return only_record((field.table, field.key) for field in changed)

    async def open(self, row: Row) -> bool:
        del row
        self.app.push_screen(HistoryDialog(self.bench))
        return True

    async def take_back(self, row: Row) -> None:
        """Take a change back."""
        event = row.item
        if not isinstance(event, Event):
            self.app.hint("Go to a change first; {health.take-back} takes it back.")
            return
        app, history, more = self.app, self.bench.history, keyed(" {app.redo} does it again.")
        app.change(lambda: app.say(f"Taken back: {history.undo_revision(event.rev)}.{more}"))


class Captures(Section[Past]):
    """What hooks and transcripts of agents' sessions brought, what was passed over, and which hooks
    failed.
    """

    ID, TITLE, WHEN = "captures", "Capture", "once"
    LISTED = 5
    """Failures that are listed; the text beside the heading has all that are kept."""

    def look(self) -> Past:
        captures = paths.captures_dir()
        return (
            Past(0, Counter(), ())
            if captures is None
            else past(captures, self.bench.library.folder)
        )

    def rows(self) -> Sequence[Row]:
        found = self.value
        if not found.sessions and not found.failures:
            return [
                self.remark(
                    "nothing",
                    "No agent sessions followed yet: `workbench capture --help`.",
                )
            ]
        shown = [self.row("sessions", f"{found.sessions:,}", "agent sessions followed")]
        if passed := found.passed.total():
            shown.append(self.row("passed", f"{passed:,}", "items skipped in them"))
        for n, failure in enumerate(found.failures[: self.LISTED]):
            text = self.masked(f"{failure.event or 'a hook'} failed: {failure.problem}")
            shown.append(
                self.row(f"failure-{n}", BAD, text, item=failure, style=ERROR, more=failure.at[:16])
            )
        return shown

    def detail(self, row: Row) -> Content:
        never = "A failing hook never stops an agent: it is logged here, and what it missed is read later."
        if isinstance(row.item, HookFailure):
            one = masked(row.item, self.masked)
            parts = [
                body(one.problem),
                assemble([(f"{one.at} · {one.agent} · {one.event}", MUTED)]),
            ]
        else:
            parts = [title("Capture of agent sessions"), BLANK]
            words = [body(f"  {words}") for words in self.value.passed_words]
            parts += words or [Content("Nothing was skipped.")]
        return joined(*parts, BLANK, muted(never))


Counts = Mapping[str, Daily] | Mapping[str, int]
"""How many there are of each: by day, or in all."""

WEEK, NAME, BAR = 7, 20, 16
"""Days of a week, and the cells of a name and of the bar beside it."""


class Better(Section[Weeks]):
    """Whether memory gets better: a few numbers, each with its weeks."""

    ID, TITLE, WHEN = "better", "Is memory getting better?", "once"

    def look(self) -> Weeks:
        """Look back over the weeks: first without asking the queries again, which takes longer."""
        ranking = self.known and self.bench.retriever.ready
        return self.bench.quality.look(ranking=ranking, cancelled=self.cancelled)

    def rows(self) -> Sequence[Row]:
        if not self.value.ranked and self.bench.retriever.ready:
            self.gather()
        if not any(any(one.values) for one in self.value.figures):
            return [self.remark("nothing", "Nothing is known of these weeks yet.")]
        return [
            self.row(
                one.kind.id,
                one.shown(one.now),
                f"{one.kind.called}{self._verdict(one)}",
                item=one,
                more=sparkline(one.heights),
            )
            for one in self.value.figures
        ]

    def _verdict(self, one: Figure) -> str:
        if one.kind.id == "ndcg" and not self.value.ranked:
            return ": measuring …"
        return one.verdict and f": {one.verdict}"

    def detail(self, row: Row) -> Content:
        figures = self.value.figures
        told = [muted(remark) for remark in self.value.remarks]
        if not isinstance(row.item, Figure):
            said = [line for one in figures for line in (body(one.sentence), BLANK)]
            again = key_line("health.check", "looks again")
            return joined(title(self.TITLE), BLANK, *said, *told, again)
        one, unit = row.item, {"share": " in %", "score": " in hundredths", "days": " in days"}
        plot = day_plot([end.date() for end in one.ends], one.heights, self.width)
        ends = zip(one.ends, one.values, strict=True)
        weeks = [
            Content(f"{end:%Y-%m-%d}{one.shown(value):>10}{number(value.of) if value else '':>10}")
            for end, value in ends
        ]
        head = muted(f"{'week to':<10}{'':>10}{'of':>10}")
        return joined(
            body(one.sentence, "bold"), BLANK,
            *([muted(f"Week by week{unit.get(one.kind.unit, '')}"), plot, BLANK] if plot.plain else []),
            head, *reversed(weeks), BLANK, *told,
        )  # fmt: skip


class TrendsOfWeeks(Section[Trends]):
    """How the store goes, day by day, as small plots with the numbers beside them."""

    ID, TITLE = "trends", "Trends of six weeks"
    LISTED = 30
    """Types, categories and sources that a text lists; the rest is counted."""

    def look(self) -> Trends:
        return masked(self.bench.trends.look(), self.masked)

    def rows(self) -> Sequence[Row]:
        found = self.value
        many, decided, voted = (sum(days) for days in (found.made, found.decided, found.voted))
        votes = (
            f"votes, +{number(sum(found.helpful))} −{number(sum(found.harmful))}"
            if voted
            else "votes"
        )
        rates = (
            " · ".join(f"{name} {one.rate:.0%} found" for name, one in found.hits.items()) or "none"
        )
        return [
            self._row("made", many, "memories", found.made),
            self._row("types", len(found.types), f"types: {self._held(found.types)}"),
            self._row(
                "categories", len(found.categories), f"categories: {self._held(found.categories)}"
            ),
            self._row("decisions", decided, f"decisions{self._rate}", found.decided),
            self._row("votes", voted, votes, found.voted),
            self._row(
                "hits",
                sum(one.asked for one in found.hits.values()),
                f"questions of agents: {rates}",
            ),
            self._row("statuses", None, f"status: {self._held(found.statuses)}"),
            self._row("confidences", None, f"confidence: {self._held(found.confidences)}"),
            self._row("sources", None, f"sources: {self._held(found.sources)}"),
        ]

    def _row(self, name: str, figure: int | None, text: str, days: Daily = ()) -> Row:
        return self.row(
            name, "" if figure is None else number(figure), text, item=name, more=_by_week(days)
        )

    def _held(self, counts: Counts) -> str:
        every = (
            (name, count if isinstance(count, int) else sum(count))
            for name, count in counts.items()
        )
        shown = [f"{name or '(none)'} {number(count)}" for name, count in every if count]
        return " · ".join(shown[: self.LISTED]) or "none"

    @property
    def _rate(self) -> str:
        return "" if self.value.approval is None else f", {self.value.approval:.0%} approved"

    def detail(self, row: Row) -> Content:
        found = self.value
        by_day = {
            "made": (f"Memories a day: {number(sum(found.made))} in all", {"memories": found.made}),
            "decisions": (
                f"Decisions a day{self._rate}",
                {"approved": found.approved, "rejected": found.rejected},
            ),
            "votes": (
                "Votes a day that stand",
                {"helpful": found.helpful, "harmful": found.harmful},
            ),
        }
        spread: dict[str, tuple[str, Counts]] = {
            "types": ("Memories of these days by type, and week by week", found.types),
            "categories": (
                "Memories of these days by category, and week by week",
                found.categories,
            ),
            "statuses": ("All memories by status", found.statuses),
            "confidences": ("All memories by confidence, 0 to 5", found.confidences),
            "sources": (
                "All memories by where they come from: the hook that saw it, or who said it",
                found.sources,
            ),
        }
        if row.name in by_day:
            head, each = by_day[row.name]
            lines = [
                title(head),
                *(line for name, days in each.items() for line in self._plot(name, days)),
            ]
            lines += self._weeks(each)
        elif row.name in spread:
            head, counts = spread[row.name]
            lines = [title(head), *self._bars(counts)]
        elif row.name == "hits":
            lines = self._hits()
        else:
            all_days = {"Memories": found.made, "Decisions": found.decided, "Votes": found.voted}
            lines = [
                line
                for name, days in all_days.items()
                for line in self._plot(f"{name} a day", days)
            ]
        days = f"{number(len(found.days))} days, {found.days[0]} to {found.days[-1]}"
        said = f"{days}, and what stands of them now. Marks that a file brought have no date."
        return joined(*lines, BLANK, muted(said))

    def _plot(self, name: str, days: Daily) -> list[Content]:
        plot = day_plot(self.value.days, days, self.width)
        return [title(f"{name}: {number(sum(days))}"), *([plot] if plot.plain else []), BLANK]

    def _weeks(self, each: Mapping[str, Daily]) -> list[Content]:
        """Return the sums of each week, the latest first."""
        days: Sequence[date] = self.value.days
        begins = [
            days[max(0, end - WEEK)] for end in range(len(days) % WEEK or WEEK, len(days) + 1, WEEK)
        ]
        weeks = list(zip(begins, *(summed(values, WEEK) for values in each.values()), strict=True))
        lines = [
            Content(
                f"{begin.isoformat():<12}" + "".join(f"{number(count):>10}" for count in counts)
            )
            for begin, *counts in reversed(weeks)
        ]
        return [
            muted(f"{'week from':<12}" + "".join(f"{name:>10}" for name in each)),
            *lines,
        ]

    def _bars(self, counts: Counts) -> list[Content]:
        if not counts:
            return [muted("No memories yet.")]
        sums = {
            name: count if isinstance(count, int) else sum(count) for name, count in counts.items()
        }
        weeks = {
            name: f"  {_by_week(count)}"
            for name, count in counts.items()
            if not isinstance(count, int)
        }
        top = max(sums.values())
        lines = [
            _bar(name, sums[name], top, weeks.get(name, "")) for name in list(sums)[: self.LISTED]
        ]
        return [*lines, *more(len(counts), self.LISTED)]

    def _hits(self) -> list[Content]:
        hits = self.value.hits
        if not hits:
            return [muted("No questions from agents in this period.")]
        top = max(one.asked for one in hits.values())
        head = title("Questions of agents by source, and how many were answered")
        found = {
            name: f"  {number(one.answered)} found ({one.rate:.0%})" for name, one in hits.items()
        }
        return [head, *(_bar(name, one.asked, top, found[name]) for name, one in hits.items())]


def _by_week(days: Daily) -> str:
    return sparkline(summed(days, WEEK)) if days else ""


def _bar(name: str, count: int, top: int, remark: str) -> Content:
    filled = max(1, round(count / top * BAR)) if count else 0
    bar = [("▓" * filled, "$accent"), ("░" * (BAR - filled), MUTED)]
    return assemble(
        [
            (f"{clipped(name or '(none)', NAME)} ", ""),
            *bar,
            (f" {number(count):>7}", ""),
            (remark, MUTED),
        ]
    )


class StillTrue(Section[TruePlan]):
    """What memories and bullets name that is not in the working tree any more."""

    ID, TITLE, WHEN = "still-true", "Still true?", "asked"
    LISTED = 300
    """Findings that are listed at most."""

    def look(self) -> TruePlan:
        return self.bench.still_true.plan(cancelled=self.cancelled)

    def rows(self) -> Sequence[Row]:
        if self.progress is not None:
            return [
                self.remark("running", keyed("Searching the working tree. {app.back} stops it."))
            ]
        if not self.known:
            told = "Not checked yet. {health.still-true} checks names in memories against the working tree."
            return [self.remark("unknown", keyed(told))]
        plan = self.value
        said = f"{amount(len(plan.found), 'text names', 'texts name')} something that no longer exists:"
        return [
            self.remark(
                "summary", said if plan.found else f"Nothing new: {self._looked()}", item=plan
            ),
            *map(self._row, plan.found[: self.LISTED]),
        ]

    def _row(self, stale: Stale) -> Row:
        sign, style = ("→", "") if all(one.now for one in stale.gone) else (BAD, WARN)
        names = self.masked(", ".join(one.name.written for one in stale.gone))
        line = self.masked(stale.proposal.title)
        return self.row(stale.proposal.id, sign, line, item=stale, more=names, style=style)

    def detail(self, row: Row) -> Content:
        if isinstance(row.item, Stale):
            stale = masked(row.item, self.masked)
            parts = [
                body(stale.record.content),
                BLANK,
                *(body(why(one), WARN) for one in stale.gone),
            ]
            after = stale.proposal.operation.get("content")
            if isinstance(after, str):
                parts += [BLANK, muted("with the new names"), body(after)]
            return joined(*parts, BLANK, key_line("health.apply", "sends all of it to Review"))
        known = [*map(Content, self._numbers()), BLANK] if self.known else []
        return joined(
            title("Still true?"), BLANK, *known,
            Content("Paths, symbols, scripts and targets that bullets, instructions and knowledge name are looked for "
                    "in the working tree, and in its past where git knows one. Reports of what happened are left "
                    "alone."),
            Content("Nothing in the repository is run or changed."), BLANK,
            key_line("health.still-true", "looks"), key_line("health.apply", "sends the findings to Review"),
        )  # fmt: skip

    def _looked(self) -> str:
        return (
            f"{number(self.value.names)} names in {number(self.value.checked)} texts were checked."
        )

    def _numbers(self) -> list[str]:
        plan = self.value
        return [
            self._looked(),
            *(
                [f"{number(len(plan.open))} from an earlier check wait in Review."]
                if plan.open
                else []
            ),
            *([f"{number(plan.decided)} you decided before."] if plan.decided else []),
            *([] if plan.with_git else ["No git repository found: only paths were checked."]),
            *([] if plan.is_whole else ["The folder has too many files; not all were checked."]),
        ]

    async def still_true(self, row: Row) -> None:
        """Start looking, and go to where it is shown."""
        del row
        self.go()
        self.gather()

    async def apply(self, row: Row) -> None:
        """Put what was found into Review; look first where nobody has."""
        if not self.known:
            await self.still_true(row)
            return
        done = await asyncio.to_thread(self.bench.still_true.carry_out, self.value)
        if done.is_empty:
            self.app.say("Nothing new: all names exist, wait in Review, or were decided.")
            return
        said_waits(self.app, len(done.found), "proposal")
        self.gather()


def said_waits(app: Host, count: int, what: str, then: str = "") -> None:
    """Say how many proposals went into Review."""
    many = amount(count, f"{what} waits", f"{what}s wait")
    app.say(
        f"{many} in Review now (key 2); {undo()} takes {'it' if count == 1 else 'them'} back.{then}"
    )
