"""Records survive the way to JSON and back, and broken documents are refused by name."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.core.samples import (
    bullets,
    documents,
    filled,
    json_values,
    memories,
    memory,
    moments,
    texts,
)
from workbench.core.change import Change, FieldChange
from workbench.core.document import field_names, from_doc, to_doc
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.record import InvalidRecord, iso, parse_time
from workbench.core.reflection.trigger import ReflectionState
from workbench.core.review.kinds import KINDS
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory, Source, Vote
from workbench.core.tuning.judgment import Judgment, SavedQuery

few = settings(max_examples=40, deadline=None)

changes = st.builds(
    Change,
    table=texts,
    id=texts,
    op=st.sampled_from(["insert", "update", "delete"]),
    fields=st.dictionaries(texts, st.builds(FieldChange, json_values, json_values), max_size=3),
)

records = st.one_of(
    memories,
    bullets,
    st.builds(Section, id=filled, key=texts, title=texts, order=st.floats(-9, 9), lead=st.just(("", "# x"))),
    st.builds(
        Vote, id=filled, table=st.sampled_from(["memories", "bullets"]), target=texts, actor=texts,
        verdict=st.sampled_from(["helpful", "harmful"]), at=moments, session=texts, reason=texts,
    ),
    st.builds(SavedQuery, id=filled, text=texts, created_at=moments, now=st.none() | moments, tags=st.just(("a",))),
    st.builds(
        Proposal, id=filled, kind=st.sampled_from(list(KINDS)), actor=texts, title=texts, created_at=moments,
        evidence=st.just(("mem-1",)), changes=st.lists(changes, max_size=2).map(tuple), flags=st.just(("x",)),
        similarity=st.none() | st.floats(0, 1), review_after=st.none() | moments,
    ),
    st.builds(ReflectionState, st.floats(0, 500), st.integers(0, 99), st.none() | moments),
)  # fmt: skip


@pytest.mark.slow
@few
@given(records)
def test_a_record_survives_the_way_through_json(record: object) -> None:
    """What is stored is read back as the same value."""
    assert from_doc(type(record), json.loads(json.dumps(to_doc(record)))) == record


@pytest.mark.parametrize(
    "kind",
    [Memory, Bullet, Section, Book, Vote, SavedQuery, Judgment, Proposal, ReflectionState],
    ids=lambda k: k.__name__,
)
def test_a_field_that_may_be_null_has_null_as_its_default(kind: type) -> None:
    """Else null could not be told from the default on disk."""
    for spec in structs.fields(kind):
        if type(None) in get_args(spec.type):
            assert spec.default is None, spec.name


def test_defaults_are_left_out() -> None:
    """A plain memory is five fields on disk; what finds and what upgrades a record is always among
    them.
    """
    assert to_doc(ReflectionState()) == {"id": "reflection", "version": 1}
    assert to_doc(memory()) == {
        "id": "mem-1",
        "version": 1,
        "content": "use pnpm",
        "created_at": "2026-11-21T12:00:00Z",
        "last_accessed_at": "2026-11-21T12:00:00Z",
    }


def test_absent_null_and_default_mean_the_same() -> None:
    """Three ways to say nothing."""
    plain = to_doc(memory())
    assert (
        from_doc(Memory, {**plain, "tags": None, "pinned": False})
        == from_doc(Memory, plain)
        == memory()
    )


def test_unknown_keys_are_ignored_and_known_ones_are_listed() -> None:
    """Importers ask `field_names` what to keep apart."""
    assert from_doc(Memory, {**to_doc(memory()), "colour": "red"}) == memory()
    assert "colour" not in field_names(Memory)
    assert {"id", "content", "metadata"} <= field_names(Memory)


def test_an_integer_is_read_as_a_number() -> None:
    """JSON writers drop the `.0`."""
    read = from_doc(Memory, {**to_doc(memory()), "importance_score": 7})
    assert (read.importance_score, type(read.importance_score)) == (7.0, float)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", 5), ("tags", "a,b"), ("tags", [1]), ("importance_score", "9"), ("importance_score", True),
        ("importance_score", 10**400), ("pinned", 1), ("created_at", "yesterday"), ("created_at", 20261121),
        ("created_at", "0001-01-01T00:00:00+05:00"), ("source", "a hook"), ("metadata", ["x"]), ("access_count", 1.5),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_shape_is_refused(field: str, value: object) -> None:
    """The error names the record and nothing else escapes."""
    with pytest.raises(InvalidRecord, match="memory mem-1 cannot be read"):
        from_doc(Memory, {**to_doc(memory()), field: value})


def test_a_missing_required_field_is_refused() -> None:
    """A document without an id says so."""
    with pytest.raises(InvalidRecord, match="no id"):
        from_doc(Memory, {"content": "x"})


def test_nested_records_are_read() -> None:
    """A source is a record within the record."""
    doc = {**to_doc(memory()), "source": {"hook": "PreCompact", "turn": 4}}
    assert from_doc(Memory, doc).source == Source("PreCompact", 4)


def test_times_are_written_in_utc() -> None:
    """An offset is converted, a naive time is taken as UTC when read."""
    paris = datetime(2026, 1, 1, 13, 30, tzinfo=timezone(timedelta(hours=1)))
    assert iso(paris) == "2026-01-01T12:30:00Z"
    assert parse_time("2026-01-01T12:30:00") == datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
    assert parse_time("2026-01-01T13:30:00+01:00").utcoffset() == timedelta(0)


@few
@given(moments)
def test_times_survive(at: datetime) -> None:
    """To the microsecond."""
    assert parse_time(iso(at)) == at


@pytest.mark.slow
@few
@given(documents)
def test_metadata_is_kept_as_it_is(metadata: dict[str, object]) -> None:
    """Unknown fields of imported records live there."""
    stored = to_doc(memory(metadata=metadata))
    assert from_doc(Memory, stored).metadata == metadata


def test_a_word_that_is_not_known_is_read_as_it_is() -> None:
    """A newer version may have written it."""
    read = from_doc(Memory, {**to_doc(memory()), "status": "waiting", "archived_reason": "lost"})
    assert (read.status, read.archived_reason) == ("waiting", "lost")
