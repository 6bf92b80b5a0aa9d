"""Profiles that cannot rank are refused."""

from dataclasses import replace
from typing import Any

import pytest

from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import MEMORY_TYPES
from workbench.core.tuning.profile import (
    BUILT_IN,
    ENGRAM_HALF_LIFE,
    WORKBENCH,
    FrozenBounds,
    HalfLives,
    Profile,
    check_profile,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("profile", BUILT_IN, ids=lambda p: p.name)
def test_built_in_profiles_are_sound(profile: Profile) -> None:
    """And each says what it is."""
    check_profile(profile)
    assert profile.about


def test_built_in_names_are_unique() -> None:
    """A profile is found by its name."""
    assert len({p.name for p in BUILT_IN}) == len(BUILT_IN)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"recency": NAN}, "negative or not a number"), ({"importance": INF}, "negative or not a number"),
        ({"relevance": -0.1}, "negative or not a number"), ({"feedback": NAN}, "negative or not a number"),
        ({"contiguity": -1.0}, "negative or not a number"),
        ({"recency": 0.0, "importance": 0.0, "relevance": 0.0}, "all three weights are zero"),
        ({"half_lives": HalfLives(episodic=0.0)}, "half-life is not above zero"),
        ({"half_lives": HalfLives(working=NAN)}, "half-life is not above zero"),
        ({"feedback_half_life": -1.0}, "half-life is not above zero"),
        ({"blend": 1.1}, "blend is outside"), ({"blend": NAN}, "blend is outside"),
        ({"rank_decay": 0.0}, "rank decay is outside"), ({"rank_decay": 1.5}, "rank decay is outside"),
        ({"k": 0}, "at least 1"), ({"top_n": 0}, "at least 1"),
        ({"scope": "frozen"}, "frozen bounds but has none"),
        ({"frozen": FrozenBounds((0.0, 1.0), (0.6, 0.5), (0.0, 1.0))}, "frozen minimum is above"),
        ({"frozen": FrozenBounds((0.0, NAN), (0.0, 1.0), (0.0, 1.0))}, "frozen minimum is above"),
    ],
)  # fmt: skip
def test_refused(fields: dict[str, Any], says: str) -> None:
    """One sentence that names the profile."""
    with pytest.raises(InvalidRecord, match=f"Profile “workbench”: .*{says}"):
        check_profile(replace(WORKBENCH, **fields))


def test_half_lives_by_type() -> None:
    """Semantic and procedural memories do not decay by default."""
    assert [WORKBENCH.half_lives.of(kind) for kind in MEMORY_TYPES] == [
        1.0,
        ENGRAM_HALF_LIFE,
        None,
        None,
    ]
