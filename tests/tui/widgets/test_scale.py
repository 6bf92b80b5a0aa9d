"""The scale of a slider."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.widgets.bars import Scale

LINEAR = Scale(0.0, 2.0, 0.05, 0.01)
LOG = Scale(0.1, 365.0, 0.1, 0.01, log=True, off=True)


def test_a_logarithmic_scale_puts_the_geometric_middle_in_the_middle() -> None:
    assert Scale(0.1, 10.0, log=True).fraction(1.0) == pytest.approx(0.5)
    assert Scale(0.1, 10.0, log=True).at(0.5) == 1.0


@given(st.floats(0, 2), st.booleans(), st.sampled_from([-1, 1]))
def test_a_step_moves_unless_at_an_end(value: float, fine: bool, direction: int) -> None:
    moved = LINEAR.moved(value, direction, fine)
    assert moved is not None
    assert 0 <= moved <= 2
    if 0 < value < 2:
        assert (moved - value) * direction > -1e-9
    assert abs(moved - value) <= (0.01 if fine else 0.05) + 1e-8


@pytest.mark.slow
@given(st.integers(2, 200), st.data())
def test_every_cell_stands_for_a_value_on_it(cells: int, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, cells - 1))
    value = LOG.at_cell(cell, cells)
    assert abs(LOG.cell(value, cells) - cell) <= (1 if value is not None else 0)


def test_nothing_but_off_is_none() -> None:
    assert LINEAR.clamped(None) == 2.0
    assert LOG.clamped(None) is None
    assert LINEAR.clamped(float("nan")) == 2.0
    assert LOG.at_cell(9, 10) is None
    assert LOG.at_cell(8, 10) == 365.0
