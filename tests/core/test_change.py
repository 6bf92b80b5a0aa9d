"""Changes name exactly the fields that differ."""

import pytest
from hypothesis import given, settings

from tests.core.samples import documents
from workbench.core.change import FieldChange, diff
from workbench.core.stream.memory import vote_id
from workbench.core.tuning.judgment import judgment_id


def test_only_what_differs_is_named() -> None:
    """Set, changed and cleared; equal fields are absent."""
    change = diff("memories", "m", {"a": 1, "b": 2, "same": 0}, {"b": 3, "c": 4, "same": 0})
    assert (change.table, change.id, change.op) == ("memories", "m", "update")
    assert change.fields == {
        "a": FieldChange(1, None),
        "b": FieldChange(2, 3),
        "c": FieldChange(None, 4),
    }
    assert list(change.fields) == ["a", "b", "c"]


def test_insert_and_delete() -> None:
    """No document before or after."""
    assert diff("t", "m", None, {"a": 1}).op == "insert"
    gone = diff("t", "m", {"a": 1}, None)
    assert (gone.op, gone.fields) == ("delete", {"a": FieldChange(1, None)})


@pytest.mark.slow
@settings(max_examples=50)
@given(documents, documents)
def test_applying_the_after_values_leads_from_one_to_the_other(
    old: dict[str, object], new: dict[str, object]
) -> None:
    """And the before values lead back; a null field counts as absent."""

    def led(start: dict[str, object], values: dict[str, object]) -> dict[str, object]:
        return {k: v for k, v in (start | values).items() if v is not None}

    fields = diff("t", "m", old, new).fields
    assert led(old, {n: f.after for n, f in fields.items()}) == led(new, {})
    assert led(new, {n: f.before for n, f in fields.items()}) == led(old, {})


def test_ids_of_votes_and_judgments_are_one_per_actor_and_pair() -> None:
    """The id is what makes a second one replace the first."""
    assert vote_id("memories", "mem-1", "ann") == "memories:mem-1:ann:"
    assert vote_id("memories", "mem-1", "agent", "s1") != vote_id(
        "memories", "mem-1", "agent", "s2"
    )
    assert judgment_id("q1", "mem-1") == "q1:mem-1"
