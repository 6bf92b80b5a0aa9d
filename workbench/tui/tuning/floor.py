"""What Tune says about the floor: in the lines of the ranking, above it, and in the explanation of a memory."""

from collections.abc import Iterator, Mapping

from textual.content import Content

from workbench.core.tuning.floor import NoFloor, Standard
from workbench.services.tuning.floor.against import AgainstFloor
from workbench.tui.widgets.content import MUTED

Said = tuple[str, str, str]
"""A line in the ranking: its text, a longer one, and what the rows below it have in common."""

_NONE: Mapping[NoFloor, tuple[str, ...]] = {
    "off": (),
    "none": ("no floor: no memory can be served", "no floor"),
    "unknown": ("the floor is being computed", "no floor yet"),
}


def nothing_relevant(against: AgainstFloor) -> Said:
    """Return the line over the rows of a query that nothing is relevant to."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    assert floor is not None
    assert reach is not None
    best, background = f"{reach.together:.2f}", f"{floor.query:.2f}"
    return (
        f"nothing relevant: best {best}, floor {background}",
        f"nothing is relevant: the best match reaches {best}, the floor is {background}",
        f"Nothing here is relevant to the query: the best match reaches {best}, background questions reach "
        f"{background} here. An agent is given nothing.",
    )


def missing(standard: Standard) -> tuple[str, ...]:
    """Return why there is no floor, the longest wording first; nothing where there is one, or it is turned off."""
    return () if standard.why is None else _NONE[standard.why]


def of_memory(against: AgainstFloor, id: str) -> Iterator[Content]:
    """Yield a memory's relevance and what it is made of, and the floor where there is one."""
    floor = against.verdict.standard.floor
    cosine, lexical, known = against.scores_of(id)
    made = f"({cosine:.3f} + {lexical:.3f}) ÷ 2" if known else "words alone"
    below = "" if floor is None else f", weak below {floor.memory:.3f}"
    text = f"relevance {against.relevance(id):.3f} = {made}{below}"
    yield Content.styled(text, "$text-warning" if against.is_weak(id) else MUTED)


def of_query(against: AgainstFloor) -> Iterator[Content]:
    """Yield what the query reaches against the floor, or why there is none."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if floor is None or reach is None:
        for text in missing(against.verdict.standard)[:1]:
            yield Content.styled(f"  {text}", MUTED)
        return
    text = f"  the query reaches {reach.together:.3f}, floor {floor.query:.3f}"
    yield Content.styled(text, "$text-warning" if against.empty else MUTED)
