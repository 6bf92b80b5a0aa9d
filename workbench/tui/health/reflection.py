"""Health: how far the reflection trigger is along, and what reflecting has cost this month."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, cast

from textual.content import Content

from workbench.core.reflection.trigger import Condition, Gauge, TriggerVerdict
from workbench.core.review.kinds import GROUPS
from workbench.core.runtime import Cancelled, Progress
from workbench.services.open import Workbench
from workbench.tui.app.host import Host
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, key_of
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.row import Cell

# The parts of the Health screen as values: what a part finds out, the rows it shows, and what its keys do.


@dataclass(frozen=True, slots=True)
class Watch:
    """What goes along with finding out: where to tell how far it is, whether to stop, and what was found before."""

    tell: Progress
    cancelled: Cancelled
    before: object = None


Gather = Callable[[Workbench, Watch], object]
"""Finds out what a part shows, on a thread. Raises `WorkbenchError`."""

Draw = Callable[[int], Sequence[Cell] | Content]
"""Makes the cells of a row at a width; only called for rows in sight."""

FIGURE = 5
"""Cells of the number or sign that a row begins with."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the screen. `name` is unique within its part; `item` is what it is about.

    The first row of a part is its heading: there `item` is `None` and keys mean the part as a whole.
    """

    section: str
    name: str
    draw: Draw
    item: object = None
    heading: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What the row is known by when the rows are replaced."""
        return (self.section, self.name)


@dataclass(frozen=True, slots=True)
class Found:
    """What a part found out, or the sentence that says why it could not."""

    value: object = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything the rows are made of.

    `found` holds what each part found out, `running` how far those are that are still at it, `unfolded` the keys of
    rows whose flagged texts were opened, `keys` the key of each action as a person has it, and `width` the cells of
    the text beside the list.
    """

    bench: Workbench
    now: datetime
    found: Mapping[str, Found] = field(default_factory=dict)
    running: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unfolded: frozenset[tuple[str, str]] = frozenset()
    keys: Mapping[str, str] = field(default_factory=dict)
    width: int = 0


class Hands(Protocol):
    """What the screen lets a part do when one of its keys is pressed."""

    @property
    def bench(self) -> Workbench:
        """The open store's bench."""

    @property
    def workbench_app(self) -> Host:
        """The app, for what is said and asked."""

    @property
    def facts(self) -> Facts:
        """What every part found out so far."""

    def seconds(self) -> float:
        """Return seconds that never go back, for questions."""

    def gather(self, id: str) -> None:
        """Let a part find out what it shows."""

    def learn(self, id: str, found: Found) -> None:
        """Take what was found out for a part."""

    def go_to(self, id: str, item: object = None) -> None:
        """Move the cursor to the heading of a part, or to its row about an item."""

    def open_detail(self) -> None:
        """Let the text beside the row be read."""


Verb = Callable[[Hands, Row], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the screen.

    `gather` runs on a thread: after every change of the store (`always`), when the screen is first shown and on
    "check again" (`once`), or only when a person starts it (`asked`). `rows` come below the heading, `detail` beside
    the list. `verbs` are what the area's actions do here, by the last part of their id ("apply", "open", …).
    `record` returns table and key of the memory or bullet that a row is about, for the keys that act on it.
    `stopped` is said once it was stopped; a `quiet` part is left out as long as it has no rows.
    """

    id: str
    title: str
    gather: Gather
    rows: Callable[[Facts], Sequence[Row]]
    detail: Callable[[Row, Facts], Content]
    when: Literal["always", "once", "asked"] = "always"
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    record: Callable[[Row], tuple[str, str] | None] = lambda _row: None
    stopped: str = "Stopped. Nothing was changed."
    quiet: bool = False


def figures(
    section: str, name: str, figure: str, text: str, *, item: object = None, style: str = "", more: str = ""
) -> Row:
    """Return a row of a number or sign, a text (which may be stored text) and a muted remark at its end."""

    def draw(width: int) -> Sequence[Cell]:
        cells = [Cell(figure, FIGURE, style or "bold", "right"), Cell(text, 0, style)]
        return [*cells, Cell(more, min(len(more), max(8, width // 3)), MUTED, "right")] if more else cells

    return Row(section, name, draw, item)


def key_line(key: str, text: str) -> Content:
    """Say what a key does."""
    return assemble([(f"{key:<4}", "bold $text-accent"), (text, "")])


def remark(section: str, name: str, text: str, *, item: object = None, style: str = MUTED) -> Row:
    """Return a row that is only a sentence."""
    return Row(section, name, lambda _: [Cell("", FIGURE), Cell(text, 0, style)], item)


ID = "reflection"
_CELLS = 10

_MEANS = {
    "importance": "the importance of all observations since the last reflection, added up",
    "observations": "how many observations came in since the last reflection",
    "hours": "how long ago the last reflection was",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """The gauge, whether a reflection is due, and the month's tokens with their limit (0: none)."""

    gauge: Gauge
    verdict: TriggerVerdict
    spent: int
    limit: int


def gather(bench: Workbench, _watch: Watch) -> Standing:
    """Read the gauge and the month's usage."""
    reflecting = bench.reflecting
    limit = bench.context.settings.claude.monthly_tokens
    return Standing(reflecting.gauge(), reflecting.verdict(), reflecting.runs.spent(), limit)


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for each condition, and one for the usage."""
    standing = cast(Standing, facts.found[ID].value)
    leading = standing.gauge.leading.name
    conditions = [_condition(c, c.name == leading) for c in standing.gauge.conditions]
    return [*conditions, figures(ID, "usage", "", f"Claude this month: {_usage(standing)}", item=standing)]


def detail(row: Row, facts: Facts) -> Content:
    """Return what the trigger means and how to reflect now."""
    del row
    standing = cast(Standing, facts.found[ID].value)
    due = standing.verdict.due
    head = f"A reflection is due ({', '.join(standing.gauge.reached)})." if due else "No reflection is due yet."
    key = facts.keys.get("app.reflect", "R")
    parts = [Content.styled(head, "bold"), Content("")]
    for condition in standing.gauge.conditions:
        parts.append(gauge(condition.value, condition.limit, condition.name, 20))
        parts.append(Content.styled(f"  {_MEANS.get(condition.name, '')}", MUTED))
    parts += [Content(""), Content("The first condition to reach its limit makes a reflection due.")]
    parts += [Content.styled("The limits are in the config under [reflection].", MUTED), Content("")]
    parts += [Content(f"Claude this month: {_usage(standing)}."), Content("")]
    return Content("\n").join([*parts, assemble([(key, "bold $text-accent"), (" reflects now.", "")])])


def _condition(condition: Condition, leads: bool) -> Row:
    def draw(_width: int) -> Sequence[Cell]:
        shown = gauge(condition.value, condition.limit, condition.name, _CELLS)
        told = " · due" if condition.fraction >= 1 else " · leads" if leads and condition.value > 0 else ""
        return [Cell(shown + Content.styled(told, "bold"))]

    return Row(ID, condition.name, draw, condition)


def _usage(standing: Standing) -> str:
    if not standing.limit:
        return f"{number(standing.spent)} tokens, no limit is set"
    return f"{number(standing.spent)} of {number(standing.limit)} tokens"


SECTION = Section(ID, "Reflection", gather, rows, detail)


# Health: the line that says how much of a part waits in Review, and goes there.


_TITLES = {group.id: group.title for group in GROUPS}


@dataclass(frozen=True, slots=True)
class InReview:
    """What waits in a group of Review (`core.review.proposal`), and how much of it there is."""

    group: str
    count: int


def in_review(facts: Facts, section: str, group: str) -> list[Row]:
    """Return the line for what waits in a group, with the number that Review gives it, or none where nothing does."""
    count = facts.bench.review.waiting_in(group)
    if not count:
        return []
    key = facts.keys["list.open"]
    text = f"{'waits' if count == 1 else 'wait'} in Review · {_TITLES[group]} · {key} goes there"
    return [figures(section, "in review", number(count), text, item=InReview(group, count))]


def told(found: InReview, facts: Facts) -> Content:
    """Return what stands beside the line."""
    key = facts.keys["list.open"]
    return Content(
        "All that waits for you waits in Review, by what a decision does. "
        f"{key} goes to {'it' if found.count == 1 else 'these ' + number(found.count)} there; "
        f"{key_of('review.approve')}, {key_of('review.reject')} and {key_of('review.later')} decide."
    )


async def goes_there(health: Hands, row: Row) -> bool:
    """Go to Review if the row is such a line, and tell whether it was."""
    if not isinstance(row.item, InReview):
        return False
    await health.workbench_app.go(area="review", place=row.item.group)
    return True
