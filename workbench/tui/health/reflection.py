"""Health: how far the reflection trigger is along, and what reflecting has cost this month."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from textual.content import Content

from workbench.core.reflection.trigger import Condition, Gauge, TriggerVerdict
from workbench.services.open import Workbench
from workbench.tui.health.model import Facts, Row, Section, Watch, figures
from workbench.tui.widgets.bars.gauge import gauge
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.row import Cell

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
