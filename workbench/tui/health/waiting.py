"""Health: the line that says how much of a part waits in Review, and goes there."""

from dataclasses import dataclass

from textual.content import Content

from workbench.core.review.groups import GROUPS
from workbench.tui.health.model import Facts, Hands, Row, figures
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import key_of

_TITLES = {group.id: group.title for group in GROUPS}


@dataclass(frozen=True, slots=True)
class InReview:
    """What waits in a group of Review (`core.review.groups`), and how much of it there is."""

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
