"""The shelf of snapshots: letters that are free, names that are checked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tui.support import NOW
from workbench.core.errors import InvalidRecord
from workbench.core.profile import WORKBENCH
from workbench.tui.tune_shelf import LONGEST, Shelf


def shelf(count: int) -> Shelf:
    made = Shelf()
    for _ in range(count):
        made.take(WORKBENCH, WORKBENCH, NOW)
    return made


def test_letters_go_on_behind_z_and_free_ones_are_used_again() -> None:
    full = shelf(28)
    assert [s.name for s in full.snapshots][:3] == ["A", "B", "C"]
    assert [s.name for s in full.snapshots][25:] == ["Z", "A2", "B2"]
    full.drop("C")
    assert full.take(WORKBENCH, WORKBENCH, NOW).name == "C"


def test_a_name_is_unique_in_any_case_and_not_too_long() -> None:
    two = shelf(2)
    two.rename("A", "a")
    for name in ("b", "", "x" * (LONGEST + 1)):
        with pytest.raises(InvalidRecord):
            two.rename("a", name)
    two.rename("a", "x" * LONGEST)
    assert [s.name for s in two.snapshots] == ["x" * LONGEST, "B"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["take", "drop A", "drop B", "name A", "name B"]), max_size=12))
def test_names_stay_distinct_whatever_is_done(steps: list[str]) -> None:
    made = Shelf()
    for step in steps:
        what, _, name = step.partition(" ")
        if what == "take":
            made.take(WORKBENCH, WORKBENCH, NOW)
        elif what == "drop":
            made.drop(name)
        elif name in [s.name for s in made.snapshots] and "mine" not in [s.name for s in made.snapshots]:
            made.rename(name, "mine")
        names = [s.name.casefold() for s in made.snapshots]
        assert len(set(names)) == len(names)
