"""What tells two profiles apart: every parameter, by the name of its file, and nothing that only
names one.
"""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.tuning.profile import BUILT_IN, WORKBENCH, FrozenBounds, HalfLives, Profile
from workbench.services.tuning.profiles import Changed, changes


def test_the_changed_parameters_stand_in_order_with_both_values() -> None:
    other = replace(
        WORKBENCH,
        name="x",
        about="y",
        recency=0.5,
        k=3,
        half_lives=HalfLives(working=1.0, semantic=9.0),
    )
    assert changes(WORKBENCH, other) == (
        Changed("recency", 0.05, 0.5),
        Changed("half_lives.episodic", WORKBENCH.half_lives.episodic, None),
        Changed("half_lives.semantic", None, 9.0),
        Changed("k", 10, 3),
    )
    assert changes(WORKBENCH, replace(WORKBENCH, name="x", about="y")) == ()


def test_frozen_bounds_appear_when_they_are_there() -> None:
    frozen = replace(
        WORKBENCH, scope="frozen", frozen=FrozenBounds((0.0, 1.0), (0.3, 0.9), (0.1, 0.75))
    )
    assert changes(WORKBENCH, frozen) == (
        Changed("scope", "pool", "frozen"),
        Changed("frozen.recency", None, "0 … 1"),
        Changed("frozen.importance", None, "0.3 … 0.9"),
        Changed("frozen.relevance", None, "0.1 … 0.75"),
    )


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(BUILT_IN), st.sampled_from(BUILT_IN))
def test_there_and_back_are_mirrored(one: Profile, other: Profile) -> None:
    there, back = changes(one, other), changes(other, one)
    assert [(c.parameter, c.before, c.after) for c in there] == [
        (c.parameter, c.after, c.before) for c in back
    ]
    assert (not there) == (replace(one, name="", about="") == replace(other, name="", about=""))
