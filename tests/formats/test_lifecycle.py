"""LIFECYCLE JSONL: what a line becomes, and that writing loses nothing."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.samples import NOW, context, sure
from workbench.core.files.format import Parsed
from workbench.core.stream.memory import (
    ARCHIVED_REASONS,
    FILE_KEY,
    MEMORY_TYPES,
    OBSERVATION_TYPES,
    STATUSES,
    Memory,
    Source,
)
from workbench.formats.lifecycle import detect, read, write

ENTRY: dict[str, Any] = {
    "id": "sig-20260211-001", "version": 1, "timestamp": "2026-02-11T10:23:00Z", "session_id": "abc123",
    "type": "correction", "status": "signal", "confidence": 0,
    "source": {"hook": "PreCompact", "turn": 42, "file": "/a/b.py"},
    "context": "User said: 'No, use pnpm'", "summary": "Use pnpm", "category": "command",
    "tags": ["package-manager", "pnpm"], "related": ["sig-20260210-003"], "promoted_to": None, "meta": {"a": 1},
}  # fmt: skip


def line(**changes: object) -> str:
    """Return the sample entry as a line, with `changes`; a change to `...` removes the key."""
    doc = {key: value for key, value in {**ENTRY, **changes}.items() if value is not ...}
    return json.dumps(doc, ensure_ascii=False)


def one(text: str) -> Memory:
    """Read a file that must hold exactly one memory."""
    parsed = read(text, context())
    assert [str(issue) for issue in parsed.issues] == []
    (memory,) = parsed.memories
    return memory


def test_an_entry_of_the_schema() -> None:
    memory = one(line())
    assert memory.id == "sig-20260211-001"
    assert memory.content == "User said: 'No, use pnpm'"
    assert memory.created_at == memory.last_accessed_at == datetime(2026, 2, 11, 10, 23, tzinfo=UTC)
    assert memory.observation_type == "correction"
    assert memory.source == Source("PreCompact", 42, "/a/b.py")
    assert memory.tags == ("package-manager", "pnpm")
    assert memory.related == ("sig-20260210-003",)
    assert memory.metadata["a"] == 1
    assert memory.importance_score == 7.0


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-02-11T10:23:00Z", datetime(2026, 2, 11, 10, 23, tzinfo=UTC)),
        ("2026-02-11T10:23:00+02:00", datetime(2026, 2, 11, 8, 23, tzinfo=UTC)),
        ("2026-02-11 10:23:00", datetime(2026, 2, 11, 10, 23, tzinfo=UTC)),
        (1_770_805_380, datetime(2026, 2, 11, 10, 23, tzinfo=UTC)),
        (1_770_805_380_000, datetime(2026, 2, 11, 10, 23, tzinfo=UTC)),
        (None, NOW),
        (..., NOW),
    ],
)
def test_times(stamp: object, expected: datetime) -> None:
    text = line(timestamp=stamp) + "\n"
    assert one(text).created_at == expected
    assert write(read(text, context())) == text


@pytest.mark.parametrize("stamp", ["yesterday", "0001-01-01T00:00:00+10:00", 1e300, [], True])
def test_a_broken_time_is_reported(stamp: object) -> None:
    parsed = read(line(timestamp=stamp), context("a.jsonl"))
    assert parsed.memories == ()
    assert str(parsed.issues[0]).startswith("a.jsonl:1: timestamp: ")


def test_broken_lines_are_reported_and_the_rest_is_read() -> None:
    text = "\n".join(
        [
            line(),
            "{broken",
            "",
            "[1]",
            line(id="b"),
            line(),
            line(context=" "),
            line(context="x" * 65_537),
        ]
    )
    parsed = read(text + "\n", context("m.jsonl"))
    assert [memory.id for memory in parsed.memories] == ["sig-20260211-001", "b"]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (2, 1),
        (4, 1),
        (6, 1),
        (7, 1),
        (8, 1),
    ]
    assert parsed.records_in == 7 == parsed.records_read + len(parsed.issues)
    assert "already used on line 1" in parsed.issues[2].reason
    assert "65,536" in parsed.issues[4].reason


def test_an_entry_without_an_id_is_named_by_its_content() -> None:
    first, again = one(line(id=...)), one(line(id=..., summary="other"))
    assert first.id.startswith("imp-")
    assert len(first.id) == 16
    assert again.id == first.id != one(line(id=..., context="other")).id
    text = line(id=...) + "\n"
    assert write(read(text, context())) == text
    changed = replace(read(text, context()).memories[0], content="changed")
    assert json.loads(write(Parsed(memories=(changed,))))["id"] == first.id


def test_values_that_do_not_fit_are_mapped_and_named() -> None:
    text = line(
        type="mystery",
        status="odd",
        confidence=0.8,
        tags="one",
        version=3,
        importance_score=88,
        pinned="yes",
    )
    parsed = read(text + "\n", context())
    (memory,) = parsed.memories
    assert (memory.observation_type, memory.status, memory.confidence) == (
        "general",
        "candidate",
        4,
    )
    assert (memory.tags, memory.version, memory.importance_score, memory.pinned) == (
        ("one",),
        1,
        7.0,
        False,
    )
    notes = {note.field: str(note) for note in parsed.mappings}
    assert notes["type"] == "type: unknown value “mystery” read as “general” (1 record)"
    assert {"status", "confidence", "tags", "version", "importance_score", "pinned"} <= notes.keys()
    assert write(parsed) == text + "\n"


def test_counts_are_shared_out_to_their_parts() -> None:
    memory = one(
        line(
            helpful_count=9, helpful_created=1, helpful_absorbed=2, helpful_votes=3, harmful_count=2
        )
    )
    assert (memory.helpful_imported, memory.helpful_count) == (3, 9)
    assert (memory.harmful_imported, memory.harmful_votes) == (2, 0)


def test_an_archive_reason_needs_the_status() -> None:
    assert one(line(status="archived")).archived_reason is None
    assert one(line(status="archived", archived_reason="pruned")).archived_reason == "pruned"
    assert one(line(archived_reason="pruned")).archived_reason is None


FOREIGN = [
    {"context": "c", "id": "a", "type": "gotcha"},
    {"zeta": [1, {"x": None}], **ENTRY, "timestamp": "2026-02-11T10:23:00+00:00", "ours": False},
    {**ENTRY, "tags": None, "source": None, "meta": "text", "summary": 5, "related": [1, "b"]},
    {
        **ENTRY,
        "source": {"turn": 1, "hook": "x", "line": 3},
        "meta": {FILE_KEY: {"keys": []}, "b": 2},
    },
    {
        **ENTRY,
        "confidence": 3.0,
        "importance_score": 6,
        "helpful_count": 2,
        "harmful_count": 0,
        "pinned": False,
    },
    {
        **ENTRY,
        "last_accessed_at": "2026-02-11T10:23:00Z",
        "archived_reason": None,
        "user_id": "local",
    },
    {**ENTRY, "id": 17, "session_id": None, "status": "odd", "promoted_to": "skill: x"},
]


@pytest.mark.parametrize("doc", FOREIGN)
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_foreign_line_is_written_as_it_was(
    doc: dict[str, object], separators: tuple[str, str], end: str
) -> None:
    # Two members, because a line with a single one does not tell the separators.
    text = json.dumps({**doc, "extra": "é"}, separators=separators, ensure_ascii=False) + end
    parsed = read(text, context())
    assert parsed.issues == ()
    assert write(parsed) == text


def test_a_changed_field_changes_only_its_value() -> None:
    text = line(extra=1, timestamp="2026-02-11T10:23:00+00:00") + "\n"
    parsed = read(text, context())
    (memory,) = parsed.memories
    changed = json.loads(
        write(replace(parsed, memories=(replace(memory, status="confirmed", helpful_votes=1),)))
    )
    before = json.loads(text)
    assert changed == before | {"status": "confirmed", "helpful_count": 1, "helpful_votes": 1}
    assert list(changed) == [*before, "helpful_count", "helpful_votes"]


def test_the_original_keeps_what_did_not_change() -> None:
    odd = line(id="odd").replace('": ', '" :  ')
    original = (
        "\n".join(["", odd, "{broken", line(id="b"), line(id="b"), line(id="gone"), "  "]) + "\n"
    )
    parsed = read(original, context())
    assert write(parsed, original) == original
    kept = {memory.id: memory for memory in parsed.memories}
    new = replace(kept["b"], id="new", metadata={})
    changed = replace(parsed, memories=(new, replace(kept["b"], summary="S"), kept["odd"]))
    got = write(changed, original).split("\n")
    want = original.split("\n")
    assert got[:3] == want[:3]
    assert json.loads(got[3]) == json.loads(want[3]) | {"summary": "S"}
    assert got[4:6] == [want[4], want[6]]
    assert json.loads(got[6])["id"] == "new"
    assert got[7:] == [""]


@pytest.mark.parametrize("end", ["", "\r\n"])
def test_records_are_added_in_the_line_ends_of_the_original(end: str) -> None:
    original = line(id="a") + "\r\n" + line(id="b") + end
    parsed = read(original, context())
    added = replace(parsed.memories[0], id="c")
    got = write(replace(parsed, memories=(*parsed.memories, added)), original)
    assert got == line(id="a") + "\r\n" + line(id="b") + "\r\n" + line(id="c") + end


def test_a_changed_line_keeps_its_line_end() -> None:
    original = line(id="a") + "\r\n" + line(id="b") + "\r\n"
    parsed = read(original, context())
    edited = tuple(replace(memory, summary="S") for memory in parsed.memories)
    assert write(replace(parsed, memories=edited), original) == original.replace('Use pnpm"', 'S"')


def test_nesting_that_other_stages_could_not_take_is_reported() -> None:
    deep = {"meta": json.loads('{"a":' * 100 + "1" + "}" * 100)}
    parsed = read(line(**deep) + "\n" + line(id="b"), context())
    assert [memory.id for memory in parsed.memories] == ["b"]
    assert "100 levels" in parsed.issues[0].reason


def test_unstorable_values_become_plain_ones() -> None:
    text = (
        line(context="X")
        .replace('"X"', r'"a\ud800b\u0000c"')
        .replace('"a": 1', f'"a": {2**70}, "n": NaN, "f": 1e999')
    )
    parsed = read(text, context())
    (memory,) = parsed.memories
    assert memory.content == "a\ufffdb\ufffdc"
    assert (memory.metadata["a"], memory.metadata["n"], memory.metadata["f"]) == (
        str(2**70),
        None,
        None,
    )
    assert len(parsed.mappings) == 5
    assert write(parsed, text) == text


def test_detection() -> None:
    assert sure(detect(line(), "x")) > 0.9
    assert sure(detect('{"context": "' + "x" * 70_000, "x")) == 0.0
    assert sure(detect('{"id": "a", "type": "gotcha", "context": "' + "x" * 70_000, "x")) > 0.5
    assert sure(detect('{"type":"entity","name":"a"}\n', "x")) == 0.0


def test_the_hostile_memories_are_all_read() -> None:
    path = Path(__file__).parents[2] / "fixtures" / "hostile" / "memories.jsonl"
    text = path.read_bytes().decode()
    parsed = read(text, context())
    assert parsed.issues == ()
    assert parsed.records_in == len(parsed.memories) == 40
    assert all(memory.id.startswith("host-") for memory in parsed.memories)
    assert {memory.status for memory in parsed.memories} == set(STATUSES)
    assert (
        sum(memory.status == "candidate" and bool(memory.citations) for memory in parsed.memories)
        >= 4
    )
    everything = "".join(memory.content for memory in parsed.memories)
    assert all(sign in everything for sign in "\x1b\x9b\u202e\u2067\u200b\b\r\ufffd")
    assert max(len(memory.content) for memory in parsed.memories) == 10_000
    assert write(parsed, text) == text
    assert write(parsed).encode().isascii()


letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
words = st.lists(letters, max_size=3).map(tuple)
zones = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))
times = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=zones).map(
    lambda at: at.astimezone(UTC)
)
numbers = st.integers(0, 10**9)
json_numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | json_numbers | letters,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(letters, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
metadata = st.dictionaries(letters.filter(lambda key: key != FILE_KEY), json_values, max_size=3)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Draw a memory as the product would make it."""
    status = draw(st.sampled_from(STATUSES))
    reason = draw(st.none() | st.sampled_from(ARCHIVED_REASONS)) if status == "archived" else None
    return draw(
        st.builds(
            Memory,
            id=st.text("abc-123", min_size=1, max_size=12),
            content=letters.map(lambda text: f"c{text}"),
            created_at=times, last_accessed_at=times, summary=letters, version=st.just(1), user_id=letters,
            session_id=letters, memory_type=st.sampled_from(MEMORY_TYPES),
            observation_type=st.sampled_from(OBSERVATION_TYPES), section=letters, category=letters, tags=words,
            related=words, importance_score=st.floats(0, 10), helpful_imported=numbers, helpful_created=numbers,
            helpful_absorbed=numbers, helpful_votes=numbers, harmful_imported=numbers, harmful_votes=numbers,
            last_feedback_at=st.none() | times, pinned=st.booleans(), status=st.just(status),
            confidence=st.integers(0, 5), promoted_to=st.none() | letters, archived_reason=st.just(reason),
            review_after=st.none() | times, is_synthetic=st.booleans(), citations=words,
            source=st.builds(Source, st.none() | letters, st.none() | numbers, st.none() | letters),
            access_count=numbers, aliases=words, metadata=metadata,
        )
    )  # fmt: skip


@pytest.mark.slow
@given(st.lists(memories(), max_size=4, unique_by=lambda memory: memory.id))
@settings(max_examples=30, deadline=None)
def test_what_was_written_is_read_back(written: list[Memory]) -> None:
    text = write(Parsed(memories=tuple(written)))
    parsed = read(text, context())
    assert parsed.memories == tuple(written)
    assert not parsed.mappings
    assert not parsed.issues
    assert write(parsed) == text


schema_keys = st.sampled_from(
    [*ENTRY, "importance_score", "helpful_count", "pinned", "aliases", "review_after"]
)


@pytest.mark.slow
@given(
    st.lists(st.dictionaries(schema_keys | letters, json_values, max_size=8), max_size=4),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_objects_keep_their_keys(docs: list[dict[str, object]], final: bool) -> None:
    lines = [
        json.dumps({**doc, "context": f"content {n}", "id": f"i{n}", "timestamp": None})
        for n, doc in enumerate(docs)
    ]
    text = "\n".join(lines) + ("\n" if final and lines else "")
    parsed = read(text, context())
    assert len(parsed.memories) == len(docs)
    assert write(parsed, text) == text
    for before, after in zip(lines, write(parsed).split("\n"), strict=False):
        assert list(json.loads(before)) == list(json.loads(after))[: len(json.loads(before))]
