"""What a ranking has besides sliders, and what the sliders say besides their value."""

import math
from dataclasses import replace

import pytest

from workbench.core.tuning.profile import Profile
from workbench.tui.tuning.profiles import options
from workbench.tui.tuning.sliders import PARAMETERS
from workbench.tui.widgets.figures import NO_BREAK

DEFAULT = Profile("mine", 0.2, 0.2, 0.6)


def with_option(profile: Profile, id: str) -> Profile:
    return next(made for choice, made in options(profile, None) if choice.id == id)


def test_every_option_can_be_taken_and_then_holds() -> None:
    for choice, _ in options(DEFAULT, None)[:-1]:
        taken = with_option(DEFAULT, choice.id)
        again = next(one for one, _ in options(taken, None) if one.id == choice.id)
        assert again.remark in ("now", "recency does not fade with time")


def test_votes_can_fade_as_the_source_prints_it() -> None:
    literal = with_option(DEFAULT, "votes-literal").feedback_half_life
    assert literal is not None
    assert 0.5 ** (1 / (literal * 24)) == pytest.approx(0.99)
    assert (
        with_option(replace(DEFAULT, feedback_half_life=literal), "votes-slow").feedback_half_life
        == 29.0
    )


def test_a_half_life_says_the_constant_it_stands_for() -> None:
    known = {p.id: p for p in PARAMETERS}
    printed = known["half-life-episodic"].constant(math.log(0.5) / math.log(0.995) / 24)
    assert printed.replace(NO_BREAK, " ") == "× 0.99500 an hour"
    assert known["feedback-half-life"].constant(None) == ""
    assert known["recency"].constant(0.5) == ""
