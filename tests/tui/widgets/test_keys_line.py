"""Key lines drop whole hints, help wraps below its second column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.app.actions import display_key, help_groups
from workbench.tui.app.areas import AREAS
from workbench.tui.manual import hanging
from workbench.tui.widgets.dialog import fitted_keys

HELD = st.lists(
    st.tuples(st.sampled_from(("a", "escape", "ctrl+s")), st.text("abc ", min_size=1)), min_size=1
)


@pytest.mark.slow
@given(HELD, st.integers(1, 120))
def test_what_is_shown_fits_whole_and_ends_with_the_key_that_closes(
    held: list[tuple[str, str]], width: int
) -> None:
    gap, kept = fitted_keys(held, width)
    drawn = gap.join(f"{display_key(key)} {label}" for key, label in kept)
    assert len(drawn) <= width or len(kept) == 1
    assert kept[-1] == held[-1]
    assert kept[:-1] == held[: len(kept) - 1]


def test_with_room_everything_stays() -> None:
    held = [("a", "one"), ("b", "two"), ("escape", "close")]
    assert fitted_keys(held, 40) == ("   ", held)
    assert fitted_keys(held, 17)[1] == [held[0], held[2]]


def test_a_long_line_goes_on_below_its_second_column() -> None:
    wrapped = hanging(
        "The filter\n  type:error   only errors and failures of any kind\n  a", 30
    ).split("\n")
    assert wrapped == [
        "The filter",
        "  type:error   only errors and",
        " " * 15 + "failures of any",
        " " * 15 + "kind",
        "  a",
    ]


def test_keys_that_two_panes_of_tune_share_name_the_pane() -> None:
    tune, stream = (help_groups(AREAS.scope(area)) for area in ("tune", "stream"))
    rows = [text for group in tune for keys, text in group.rows if keys.startswith(("↑", "enter"))]
    assert sorted(rows) == [
        "list: one row up",
        "list: open the row under the cursor",
        "sliders: to the slider above",
        "sliders: type a value; enter takes it",
    ]
    shared = [
        text for group in stream for _, text in group.rows if text.startswith(("list:", "text:"))
    ]
    assert sorted(shared) == [
        "list: open the row under the cursor",
        "text: back to the link before",
        "text: one page further down in the text",
        "text: open what the link names, over this",
        "text: to the next id or file in the text",
    ]
