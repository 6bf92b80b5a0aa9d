"""What Tune says about the floor: in the lines of the ranking, above it, and in the explanation of a memory."""

from collections.abc import Iterator, Mapping

from textual.content import Content

from workbench.bench.tuning.floor.against import AgainstFloor
from workbench.core.tuning.floor import LEAST, NoFloor, Standard
from workbench.tui.widgets.content import MUTED

Said = tuple[str, str, str]
"""A line in the ranking: its text, a longer one, and what the rows below it have in common."""

WEAK: Said = (
    "weak: below the floor",
    "weak: below the floor, no agent is given them",
    "Weak: three of four background questions find a better match here. No agent is given them.",
)

_NONE: Mapping[NoFloor, tuple[str, ...]] = {
    "off": (),
    "few": (f"no floor: fewer than {LEAST} memories", "no floor"),
    "unknown": ("the floor is being computed", "no floor yet"),
}


def nothing_relevant(against: AgainstFloor) -> Said:
    """Return the line over the rows of a query that nothing is relevant to."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if floor is None or reach is None:
        return WEAK
    best, background = f"{reach.cosine:.2f} + {reach.lexical:.2f}", f"{floor.query:.2f}"
    total = f"{reach.together:.2f}"
    return (
        f"nothing relevant: best {total}, floor {background}",
        f"nothing is relevant: the best match reaches {total}, the floor is {background}",
        f"Nothing here is relevant to the query: the best match reaches {best}, background questions reach "
        f"{background} here. An agent is given nothing.",
    )


def missing(standard: Standard) -> tuple[str, ...]:
    """Return why there is no floor, the longest wording first; nothing where there is one, or it is turned off."""
    return () if standard.why is None else _NONE[standard.why]


def of_memory(against: AgainstFloor, id: str) -> Iterator[Content]:
    """Yield a memory's two figures against the floor; nothing where there is none."""
    floor = against.verdict.standard.floor
    if floor is None:
        return
    cosine, lexical = against.scores_of(id)
    text = f"cosine {cosine:.3f} + full text {lexical:.3f}, weak below {floor.memory:.3f}"
    yield Content.styled(text, "$text-warning" if against.is_weak(id) else MUTED)


def of_query(against: AgainstFloor) -> Iterator[Content]:
    """Yield what the query reaches against the floor, or why there is none."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if floor is None or reach is None:
        for text in missing(against.verdict.standard)[:1]:
            yield Content.styled(f"  {text}", MUTED)
        return
    text = f"  the query reaches {reach.cosine:.3f} + {reach.lexical:.3f}, floor {floor.query:.3f}"
    yield Content.styled(text, "$text-warning" if against.empty else MUTED)
