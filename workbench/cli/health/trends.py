"""How a store goes, as `workbench stats` prints it: a line of blocks for each number, and the
number beside it.
"""

from collections.abc import Iterator, Mapping

from workbench.cli.output import table
from workbench.core.health import sparkline
from workbench.core.text import counted, one_line
from workbench.services.health.trends import Daily, Trends, summed

LISTED = 8
"""Types and categories that are listed; the rest is counted."""

WIDEST = 70
"""Days that a line has room for; of more each block is of several."""

_NAME = 24


def trends_json(trends: Trends) -> dict[str, object]:
    """Return trends as JSON has them: a number for each day, the oldest first."""
    names = (
        "made",
        "types",
        "categories",
        "approved",
        "rejected",
        "helpful",
        "harmful",
        "statuses",
        "confidences",
    )
    return {
        "days": [day.isoformat() for day in trends.days],
        **{name: getattr(trends, name) for name in (*names, "sources")},
        "approval": trends.approval,
        "hits": {
            name: {"asked": one.asked, "answered": one.answered, "rate": round(one.rate, 4)}
            for name, one in trends.hits.items()
        },
    }


def trends_lines(trends: Trends) -> Iterator[str]:
    first, last = trends.days[0], trends.days[-1]
    yield ""
    yield f"last {counted(len(trends.days), 'day')}, {first} to {last}"
    yield from table(
        [
            ("  memories", sparkline(_fitted(trends.made)), f"{sum(trends.made):,}"),
            ("  decisions", sparkline(_fitted(trends.decided)), _decided(trends)),
            (
                "  votes",
                sparkline(_fitted(trends.voted)),
                f"+{sum(trends.helpful):,} −{sum(trends.harmful):,}",
            ),
            *_named("type", trends.types),
            *_named("category", trends.categories),
        ]
    )
    if trends.hits:
        yield f"answered to agents: {', '.join(_hits(trends))}"
    yield "all of the store"
    yield from table(
        [("  confidence", _split(trends.confidences)), ("  sources", _split(trends.sources))]
    )


def _named(what: str, names: Mapping[str, Daily]) -> list[tuple[str, str, str]]:
    rows = [(f"  {what} {_name(name)}", days) for name, days in names.items()]
    shown = [(name, sparkline(_fitted(days)), f"{sum(days):,}") for name, days in rows[:LISTED]]
    if rest := rows[LISTED:]:
        both = tuple(map(sum, zip(*(days for _, days in rest), strict=True)))
        shown.append((f"  {len(rest):,} more", sparkline(_fitted(both)), f"{sum(both):,}"))
    return shown


def _decided(trends: Trends) -> str:
    if trends.approval is None:
        return "none"
    yes, no = sum(trends.approved), sum(trends.rejected)
    return f"{yes + no:,}: {yes:,} approved, {no:,} rejected ({trends.approval:.0%} approved)"


def _hits(trends: Trends) -> Iterator[str]:
    """Yield what was asked, and how much of it was answered."""
    for name, one in trends.hits.items():
        yield f"{name} {one.answered:,} of {counted(one.asked, 'question')} ({one.rate:.0%})"


def _fitted(values: Daily) -> Daily:
    """Return as many sums of neighbouring days as a line has room for; the last one ends today."""
    return summed(values, -(-len(values) // WIDEST))


def _split(counts: Mapping[str, int]) -> str:
    return (
        ", ".join(f"{_name(name)} {number:,}" for name, number in counts.items() if number)
        or "nothing yet"
    )


def _name(name: str) -> str:
    return one_line(name, _NAME) if name else "(none)"
