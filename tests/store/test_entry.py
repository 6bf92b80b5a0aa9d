import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.record import ABSENT
from workbench.store.entry import (
    DocChange,
    Transaction,
    apply_change,
    diff_docs,
    from_json,
    reverse,
    to_json,
)
from workbench.store.journal.codec import loads, same, seal, unseal

COUNTERS = frozenset({"n"})
values = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.text(max_size=2)
    | st.just({"$": 1})
    | st.just([None])
)
documents = st.dictionaries(st.sampled_from(["a", "b", "n", "$"]), values, max_size=4)


def written(change: DocChange) -> DocChange:
    line = seal(to_json(Transaction(1, "2026-01-01T00:00:00Z", "human", "x", (change,))))
    return from_json(unseal(line[:-1])).changes[0]


@given(st.none() | documents, st.none() | documents)
def test_a_change_leads_there_and_back_through_its_written_form(
    old: dict[str, object] | None, new: dict[str, object] | None
) -> None:
    change = diff_docs("t", "1", old, new, COUNTERS)
    if change is None:
        assert (old is None and new is None) or same(old, new) or old == new
        return
    change = written(change)
    assert apply_change(old, change) == new
    assert apply_change(new, reverse(change)) == old


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [({}, {"n": 2}, 2), ({"n": 2}, {}, -2), ({"n": 2}, {"n": 5}, 3), ({"n": 0}, {"n": 1}, None), ({}, {"n": 0}, None),
     ({"n": True}, {"n": 2}, None), ({"n": 1}, {"n": "1"}, None)],
)  # fmt: skip
def test_counts_change_by_steps_and_odd_ones_by_value(
    before: dict[str, object], after: dict[str, object], step: int | None
) -> None:
    change = diff_docs("t", "1", before, after, COUNTERS)
    assert change is not None
    assert change.inc == ({} if step is None else {"n": step})
    assert ("n" in change.fields) == (step is None)


def test_two_counts_at_once_add_up() -> None:
    first = diff_docs("t", "1", {"n": 1}, {"n": 2}, COUNTERS)
    second = diff_docs("t", "1", {"n": 1}, {"n": 4}, COUNTERS)
    assert first is not None
    assert second is not None
    assert apply_change(apply_change({"n": 1}, first), second) == {"n": 5}


def test_an_update_of_a_lost_record_makes_no_half_record() -> None:
    assert apply_change(None, DocChange("t", "1", "update", {"a": (1, 2)})) is None


def test_nested_numbers_of_another_type_are_a_change() -> None:
    assert diff_docs("t", "1", {"a": {"x": 1}}, {"a": {"x": True}}, COUNTERS) is not None
    assert diff_docs("t", "1", {"a": (1, 2)}, {"a": [1, 2]}, COUNTERS) is None


@pytest.mark.parametrize(
    "raw", [{}, {"rev": 1}, {"rev": "x", "at": "", "actor": "", "label": "", "changes": []},
            {"rev": 1, "at": "", "actor": "", "label": "", "changes": [3]}],
)  # fmt: skip
def test_a_misshapen_entry_is_a_value_error(raw: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not a transaction|invalid literal"):
        from_json(raw)


def test_every_part_of_an_entry_is_written() -> None:
    changes = (
        DocChange("t", "", "table"),
        DocChange("t", "1", "delete", {"id": ("m", ABSENT)}, {}, redacted=True),
    )
    entry = Transaction(
        7, "2026-01-01T00:00:00Z", "cli", "x", changes, "undo", "g-1", 3, 5, {"t": 2}, more=True
    )
    assert from_json(loads(seal(to_json(entry)))) == entry
    assert repr(ABSENT) == "ABSENT"
