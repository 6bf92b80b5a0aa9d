"""Health: how the store goes, day by day, as small plots with the numbers beside them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import cast

from textual.content import Content

from workbench.core.health import sparkline
from workbench.services.health.trends import Daily, Trends, summed
from workbench.services.open import Workbench
from workbench.tui.health.reflection import Facts, Row, Section, Watch, figures
from workbench.tui.widgets.bars import day_plot
from workbench.tui.widgets.content import MUTED, assemble, clipped
from workbench.tui.widgets.figures import number

ID = "trends"
WEEK = 7
NAME = 20
"""Cells of the name of a type, a category or a source."""

BAR = 16
LISTED = 30
"""Types, categories and sources that a text lists; the rest is counted."""

_NOTHING = "(none)"

About = Callable[[Trends, Facts], list[Content]]


def gather(bench: Workbench, _watch: Watch) -> Trends:
    """Look at six weeks."""
    return bench.trends.look()


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for each number that goes, and one for each way in which memories are spread."""
    found, mask = cast(Trends, facts.found[ID].value), facts.bench.safety.masked
    many, decided, voted = (sum(days) for days in (found.made, found.decided, found.voted))
    said = "decisions" if found.approval is None else f"decisions, {found.approval:.0%} approved"
    votes = f"votes, +{number(sum(found.helpful))} −{number(sum(found.harmful))}" if voted else "votes"
    return [
        _row("made", many, "memories", _by_week(found.made)),
        _row("types", len(found.types), f"types: {_named(found.types, mask)}"),
        _row("categories", len(found.categories), f"categories: {_named(found.categories, mask)}"),
        _row("decisions", decided, said, _by_week(found.decided)),
        _row("votes", voted, votes, _by_week(found.voted)),
        _row("hits", sum(one.asked for one in found.hits.values()), f"questions of agents: {_rates(found)}"),
        _row("statuses", None, f"status: {_held(found.statuses, mask)}"),
        _row("confidences", None, f"confidence: {_held(found.confidences, mask)}"),
        _row("sources", None, f"sources: {_held(found.sources, mask)}"),
    ]


def detail(row: Row, facts: Facts) -> Content:
    """Return the plots of a row and its numbers; of the heading, those of all that goes by day."""
    found = cast(Trends, facts.found[ID].value)
    about = _ABOUT.get(row.name, _all)
    lines = about(found, facts)
    return Content("\n").join([*lines, Content(""), Content.styled(_since(found), MUTED)])


def _all(found: Trends, facts: Facts) -> list[Content]:
    days, width = found.days, facts.width
    many, decided, voted = (sum(values) for values in (found.made, found.decided, found.voted))
    return [
        *_plot(f"Memories a day: {number(many)} in all", days, found.made, width),
        *_plot(f"Decisions a day: {number(decided)} in all{_rate(found)}", days, found.decided, width),
        *_plot(f"Votes a day: {number(voted)} in all", days, found.voted, width),
    ]


def _made(found: Trends, facts: Facts) -> list[Content]:
    title = f"Memories a day: {number(sum(found.made))} in all"
    return [*_plot(title, found.days, found.made, facts.width), *_weeks(found.days, {"memories": found.made})]


def _decisions(found: Trends, facts: Facts) -> list[Content]:
    title = f"Decisions a day{_rate(found)}"
    both = {"approved": found.approved, "rejected": found.rejected}
    return [_title(title), *_pair(found, both, facts.width)]


def _votes(found: Trends, facts: Facts) -> list[Content]:
    both = {"helpful": found.helpful, "harmful": found.harmful}
    return [_title("Votes a day that stand"), *_pair(found, both, facts.width)]


def _pair(found: Trends, both: Mapping[str, Daily], width: int) -> list[Content]:
    """Return a plot of each of two numbers, one below the other on the same days, and their weeks."""
    parts: list[Content] = []
    for name, values in both.items():
        parts += _plot(f"{name}: {number(sum(values))}", found.days, values, width)
    return [*parts, *_weeks(found.days, both)]


def _types(found: Trends, facts: Facts) -> list[Content]:
    return [_title("Memories of these days by type, and week by week"), *_spread(found.types, facts)]


def _categories(found: Trends, facts: Facts) -> list[Content]:
    return [_title("Memories of these days by category, and week by week"), *_spread(found.categories, facts)]


def _hits(found: Trends, _facts: Facts) -> list[Content]:
    if not found.hits:
        return [Content.styled("No agent asked anything in these days.", MUTED)]
    top = max(one.asked for one in found.hits.values())
    rows = [
        _bar(name, one.asked, top) + Content.styled(f"  {number(one.answered)} found ({one.rate:.0%})", MUTED)
        for name, one in found.hits.items()
    ]
    return [_title("Questions of agents by what was looked through, and how many found something"), *rows]


def _rates(found: Trends) -> str:
    return " · ".join(f"{name} {one.rate:.0%} found" for name, one in found.hits.items()) or "none"


def _statuses(found: Trends, facts: Facts) -> list[Content]:
    return [_title("All memories by status"), *_bars(found.statuses, facts)]


def _confidences(found: Trends, facts: Facts) -> list[Content]:
    return [_title("All memories by confidence, 0 to 5"), *_bars(found.confidences, facts)]


def _sources(found: Trends, facts: Facts) -> list[Content]:
    head = _title("All memories by where they come from: the hook that saw it, or who said it")
    return [head, *_bars(found.sources, facts)]


_ABOUT: Mapping[str, About] = {
    "made": _made, "types": _types, "categories": _categories, "decisions": _decisions, "votes": _votes,
    "hits": _hits, "statuses": _statuses, "confidences": _confidences, "sources": _sources,
}  # fmt: skip


def _row(name: str, figure: int | None, text: str, more: str = "") -> Row:
    return figures(ID, name, "" if figure is None else number(figure), text, item=name, more=more)


def _plot(title: str, days: Sequence[date], values: Daily, width: int) -> list[Content]:
    plot = day_plot(days, values, width)
    return [_title(title), plot, Content("")] if plot.plain else [_title(title), Content("")]


def _weeks(days: Sequence[date], each: Mapping[str, Daily]) -> list[Content]:
    """Return the sums of each week, the latest first."""
    sums = [summed(values, WEEK) for values in each.values()]
    head = assemble([(f"{'week from':<12}", MUTED), *((f"{name:>10}", MUTED) for name in each)])
    begins = [days[max(0, end - WEEK)] for end in range(len(days) % WEEK or WEEK, len(days) + 1, WEEK)]
    rows = list(zip(begins, *sums, strict=True))
    return [head, *(_week(begin, *counts) for begin, *counts in reversed(rows))]


def _week(begin: date, *counts: int) -> Content:
    return Content(f"{begin.isoformat():<12}" + "".join(f"{number(count):>10}" for count in counts))


def _spread(names: Mapping[str, Daily], facts: Facts) -> list[Content]:
    if not names:
        return [Content.styled("No memory was made in these days.", MUTED)]
    top, mask = max(sum(days) for days in names.values()), facts.bench.safety.masked
    lines = [
        _bar(mask(name), sum(days), top) + Content.styled(f"  {_by_week(days)}", MUTED)
        for name, days in list(names.items())[:LISTED]
    ]
    return [*lines, *_more(len(names))]


def _bars(counts: Mapping[str, int], facts: Facts) -> list[Content]:
    mask, top = facts.bench.safety.masked, max(counts.values(), default=0)
    lines = [_bar(mask(name), count, top) for name, count in list(counts.items())[:LISTED]]
    return [*lines, *_more(len(counts))] or [Content.styled("The store holds no memory yet.", MUTED)]


def _bar(name: str, count: int, top: int) -> Content:
    filled = max(1, round(count / top * BAR)) if count else 0
    bar = [("▓" * filled, "$accent"), ("░" * (BAR - filled), MUTED)]
    return assemble([(f"{clipped(name or _NOTHING, NAME)} ", ""), *bar, (f" {number(count):>7}", "")])


def _more(count: int) -> list[Content]:
    return [Content.styled(f"… and {number(count - LISTED)} more", MUTED)] if count > LISTED else []


def _title(text: str) -> Content:
    return Content.styled(text, "bold")


def _rate(found: Trends) -> str:
    return "" if found.approval is None else f", {found.approval:.0%} approved"


def _by_week(values: Daily) -> str:
    return sparkline(summed(values, WEEK))


def _named(names: Mapping[str, Daily], mask: Callable[[str], str]) -> str:
    return _held({name: sum(days) for name, days in names.items()}, mask)


def _held(counts: Mapping[str, int], mask: Callable[[str], str]) -> str:
    shown = [(name, count) for name, count in counts.items() if count][:LISTED]
    return " · ".join(f"{mask(name) or _NOTHING} {number(count)}" for name, count in shown) or "none"


def _since(found: Trends) -> str:
    days = f"{number(len(found.days))} days, {found.days[0]} to {found.days[-1]}"
    return f"{days}, and what stands of them now. Marks that a file brought have no date."


SECTION = Section(ID, "Trends of six weeks", gather, rows, detail)
