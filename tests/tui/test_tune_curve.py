"""The axis of the decay curve: labels that always have room, whatever the width."""

from itertools import pairwise

import pytest

from workbench.tui.tuning.why import Curve

FALL = Curve(end=23.04, half=5.76, here=3.0, value=0.7, by_rank=None, unit=" d")
PLACES = Curve(end=257.0, half=0.0, here=12.0, value=0.9, by_rank=0.99, unit="")


@pytest.mark.parametrize("curve", [FALL, PLACES])
@pytest.mark.parametrize("width", range(0, 60, 3))
def test_labels_stand_apart(curve: Curve, width: int) -> None:
    ticks = curve.ticks(width)
    spans = [(x / curve.end * (width - 1), (len(label) - 1) / 2) for x, label in ticks]
    assert ticks[0][0] == 0
    assert all(right - b - left - a > 2 for (left, a), (right, b) in pairwise(spans))


def test_a_wide_axis_has_four_half_lives_and_a_narrow_one_fewer() -> None:
    assert [label for _, label in FALL.ticks(60)] == ["0", "5.76", "11.5", "17.3 d"]
    assert [label for _, label in FALL.ticks(21)] == ["0", "11.5 d"]
