"""Key lines drop whole hints, help wraps below its second column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.app.actions import display_key
from workbench.tui.widgets.header import fitted_keys

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
