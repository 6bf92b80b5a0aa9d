"""Values that the retrieval tests share."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import strategies as st

from workbench.core.stream.memory import MEMORY_TYPES, Memory
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH, FrozenBounds, HalfLives, Profile
from workbench.retrieval.arrays import Mask, Scores
from workbench.retrieval.ranking.cases import QueryScores

T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)


def memory(number: int, content: str = "", **fields: Any) -> Memory:
    """Build memory `number`, made `number` minutes after T0 unless said otherwise."""
    at = fields.pop("created_at", T0 + timedelta(minutes=number))
    accessed = fields.pop("last_accessed_at", at)
    return Memory(f"mem-20260301-{number:07d}", content or f"text {number}", at, accessed, **fields)


def near(base: datetime = T0) -> st.SearchStrategy[datetime]:
    """Draw times within 300 days, in whole minutes."""
    return st.integers(-430_000, 430_000).map(lambda minutes: base + timedelta(minutes=minutes))


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    """Draw up to 14 memories that differ in everything the ranking looks at."""
    numbers = draw(st.lists(st.integers(0, 99), min_size=1, max_size=14, unique=True))
    return [
        memory(
            number,
            created_at=draw(near()),
            last_accessed_at=draw(near()),
            session_id=draw(st.sampled_from(["", "a", "b"])),
            memory_type=draw(st.sampled_from(MEMORY_TYPES)),
            importance_score=draw(st.sampled_from([0.0, 3.0, 5.0, 9.5, 10.0])),
            helpful_votes=draw(st.integers(0, 4)),
            harmful_votes=draw(st.integers(0, 4)),
            helpful_by_agents=draw(st.integers(0, 5)),
            harmful_by_agents=draw(st.integers(0, 5)),
            last_feedback_at=draw(st.none() | near()),
            pinned=draw(st.booleans()),
            status=draw(
                st.sampled_from(
                    ["signal", "signal", "confirmed", "promoted", "candidate", "archived"]
                )
            ),
        )
        for number in numbers
    ]


_BOUNDS = st.sampled_from([(0.0, 1.0), (0.2, 0.7), (-1.0, 0.5), (0.4, 0.4)])


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw a built-in profile or one of a person's own."""
    if draw(st.booleans()):
        return draw(st.sampled_from(BUILT_IN))
    weight = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])
    life = st.sampled_from([None, 0.5, 5.8, 90.0])
    return Profile(
        "own",
        draw(weight),
        draw(weight),
        draw(st.sampled_from([0.2, 1.0])),
        mode=draw(st.sampled_from(["hours", "days", "rank", "off"])),
        pinned=draw(st.sampled_from(["fresh", "fades"])),
        candidates=draw(
            st.sampled_from(
                ["", "", "memory:semantic,episodic since:2d", "-status:promoted pinned:no"]
            )
        ),
        half_lives=HalfLives(draw(life), draw(life), draw(life), draw(life)),
        rank_decay=draw(st.sampled_from([0.5, 0.99, 1.0])),
        rank_order=draw(st.sampled_from(["newest", "oldest"])),
        feedback=draw(st.sampled_from([0.0, 0.5, 2.0])),
        feedback_half_life=draw(st.sampled_from([None, 2.9, 29.0])),
        blend=draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
        contiguity=draw(st.sampled_from([0.0, 0.5])),
        scope=draw(st.sampled_from(["pool", "top", "frozen"])),
        top_n=draw(st.integers(1, 6)),
        frozen=FrozenBounds(draw(_BOUNDS), draw(_BOUNDS), draw(_BOUNDS)),
    )


@st.composite
def query_scores(draw: st.DrawFn, rows: int) -> QueryScores:
    """Draw relevance scores, coarse enough for ties; the model may not know some of the texts."""
    dense, known = _column(draw, rows, -1.0), draw(st.none() | known_rows(rows))
    if known is not None:
        dense[~known] = 0.0
    return QueryScores("query", dense, _column(draw, rows, 0.0), known=known)


def known_rows(rows: int) -> st.SearchStrategy[Mask]:
    """Draw which texts the model knows; with none of them it does not know the query."""
    return st.lists(st.booleans(), min_size=rows, max_size=rows).map(
        lambda flags: np.array(flags, np.bool_)
    )


def _column(draw: st.DrawFn, rows: int, low: float) -> Scores:
    values = draw(
        st.lists(
            st.sampled_from([low, 0.0, 0.1, 0.25, 0.4, 0.77, 1.0]), min_size=rows, max_size=rows
        )
    )
    return np.array(values, np.float32)


RELEVANCE_ONLY = Profile("relevance", 0.0, 0.0, 1.0, mode="off")
DEFAULT = WORKBENCH
