"""JSON values that go on over lines: read with a few lines first, and with more while they are
open.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsonstream import values

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab\n"é[{,:', max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("ab\n", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@pytest.mark.parametrize("few", [1, 20, 4_000])
@given(doc=st.lists(_JSON, min_size=1).filter(lambda doc: doc[0] != []))
def test_a_value_is_read_over_as_many_lines_as_it_needs(few: int, doc: list[object]) -> None:
    text = json.dumps(doc, indent=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonstream, "_FEW", few)
        assert [value.value for value in values(f"{text}\n{text}")] == [doc, doc]


def test_damage_far_below_is_told_with_its_line_in_the_file() -> None:
    lines = json.dumps({"a": list(range(5_000))}, indent=1).split("\n")
    lines[4_000] = "  oops,"
    text = "\n".join(["1", *lines])
    with pytest.raises(json.JSONDecodeError) as said:
        json.loads(text.removeprefix("1"))
    first = list(values(text))[1]
    assert first.line == 2
    assert (
        first.damage
        == f"not JSON: {said.value.msg} at line {said.value.lineno} column {said.value.colno}"
    )


@pytest.mark.parametrize("count", [33_300, pytest.param(333_000, marks=pytest.mark.slow)])
def test_lines_that_open_nothing_are_damage_each(count: int) -> None:
    assert sum(bool(value.damage) for value in values("a:\n" * count)) == count
