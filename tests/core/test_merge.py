"""Merging duplicates: nothing is lost, nothing counts twice."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.samples import NOW, days, memories, memory
from workbench.core.duplicates.groups import MEMORY_COUNTS, absorb, merge_memories, union
from workbench.core.record import UnknownRecord, WorkbenchError
from workbench.core.stream.memory import Memory, Status

OLD = memory(
    "mem-1", "Use pnpm", created_at=NOW - days(9), last_accessed_at=NOW - days(1), summary="pnpm",
    tags=("pm", "js"), related=("mem-2", "mem-8"), citations=("mem-3",), importance_score=4.0, helpful_imported=1,
    helpful_created=1, helpful_votes=2, harmful_votes=1, last_feedback_at=NOW - days(2), status="confirmed",
    confidence=3, access_count=5, aliases=("sig-1",), metadata={"colour": "red"},
)  # fmt: skip
NEW = memory(
    "mem-2", "Use pnpm, always", created_at=NOW - days(1), summary="pnpm always", tags=("js", "ci"),
    related=("mem-1", "mem-9"), citations=("mem-4",), importance_score=7.0, helpful_created=1, helpful_absorbed=3,
    harmful_imported=2, last_feedback_at=NOW - days(5), pinned=True, confidence=1, access_count=2,
)  # fmt: skip


def test_the_merged_memory() -> None:
    """Newest content, counts summed, importance averaged, lists united, the status furthest along."""
    merged, originals = merge_memories([OLD, NEW], NOW)
    assert (merged.id, merged.content, merged.summary) == (
        "mem-2",
        "Use pnpm, always",
        "pnpm always",
    )
    assert merged.created_at == NEW.created_at
    assert merged.last_accessed_at == max(OLD.last_accessed_at, NEW.last_accessed_at)
    assert merged.importance_score == 5.5
    assert [getattr(merged, name) for name in MEMORY_COUNTS] == [1, 2, 3, 2, 2, 1, 0, 0]
    assert (merged.tags, merged.citations) == (("js", "ci", "pm"), ("mem-4", "mem-3"))
    assert merged.related == ("mem-9", "mem-8")
    assert set(merged.aliases) == {"mem-1", "sig-1"}
    assert (merged.status, merged.confidence, merged.pinned, merged.access_count) == (
        "confirmed",
        3,
        True,
        7,
    )
    assert merged.last_feedback_at == OLD.last_feedback_at
    assert [m.id for m in originals] == ["mem-1"]


def test_the_originals_are_archived_and_otherwise_untouched() -> None:
    """They know where they went, and what they were."""
    (original,) = merge_memories([OLD, NEW], NOW)[1]
    extra = {"archived_from": "confirmed", "merged_into": "mem-2"}
    assert original == replace(
        OLD, status="archived", archived_reason="merged", metadata={**OLD.metadata, **extra}
    )


def test_what_was_merged_is_noted() -> None:
    """As JSON, after what was noted before."""
    merged, _ = merge_memories(
        [replace(OLD, metadata={"merged": [{"at": "x"}], "colour": "red"}), NEW], NOW, keep="mem-1"
    )
    assert merged.metadata["colour"] == "red"
    earlier, note = json.loads(json.dumps(merged.metadata["merged"]))
    assert earlier == {"at": "x"}
    assert note["at"] == "2026-11-21T12:00:00Z"
    assert [(r["id"], r["content"], r["counts"]["helpful_votes"]) for r in note["records"]] == [
        ("mem-1", "Use pnpm", 2),
        ("mem-2", "Use pnpm, always", 0),
    ]


def test_a_chosen_id_is_kept() -> None:
    """With its class; the content is still the newest, unless another is given."""
    merged, originals = merge_memories([OLD, replace(NEW, category="new")], NOW, keep="mem-1")
    assert (merged.id, merged.content, merged.category, merged.created_at) == (
        "mem-1", "Use pnpm, always", "", NEW.created_at,
    )  # fmt: skip
    assert merged.aliases == ("sig-1", "mem-2")
    assert [m.id for m in originals] == ["mem-2"]
    written, _ = merge_memories([OLD, NEW], NOW, content="Use pnpm everywhere")
    assert (written.content, written.summary) == ("Use pnpm everywhere", "")


def test_equal_times_go_by_id() -> None:
    """So that the same group always merges the same way."""
    a, b = memory("a", "x"), memory("b", "y")
    assert merge_memories([b, a], NOW)[0].content == merge_memories([a, b], NOW)[0].content == "y"


def test_impossible_groups() -> None:
    """One memory, the same one twice, an archived one, a stranger to keep."""
    for group in ([], [OLD], [OLD, OLD]):
        with pytest.raises(WorkbenchError, match="at least two different memories"):
            merge_memories(group, NOW)
    with pytest.raises(WorkbenchError, match="mem-1 is archived and cannot be merged"):
        merge_memories([replace(OLD, status="archived"), NEW], NOW)
    with pytest.raises(UnknownRecord, match="mem-7 is not among"):
        merge_memories([OLD, NEW], NOW, keep="mem-7")


def test_a_second_merge_does_not_count_the_votes_again() -> None:
    """A merged original that comes back brings only what it gained since."""
    merged, _ = merge_memories([OLD, NEW], NOW)
    back = replace(OLD, helpful_votes=OLD.helpful_votes + 1)
    again, _ = merge_memories([merged, back], NOW, keep="mem-2")
    assert again.helpful_votes == merged.helpful_votes + 1
    assert again.helpful_imported == merged.helpful_imported
    assert again.harmful_votes == merged.harmful_votes


@pytest.mark.parametrize(
    "merged", ["text", [1], [{"records": "x"}], [{"records": [{"id": "mem-2", "counts": 3}]}],
               [{"records": [{"id": "mem-2", "counts": {"helpful_created": "1"}}]}]],
)  # fmt: skip
def test_foreign_notes_do_no_harm(merged: object) -> None:
    """An import may bring any shape under that name."""
    one, _ = merge_memories([replace(OLD, metadata={"merged": merged}), NEW], NOW, keep="mem-1")
    assert one.helpful_created == 2


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(memories, memories, st.sampled_from(("signal", "candidate", "confirmed", "promoted")))
def test_a_candidate_never_changes_what_a_memory_is(
    target: Memory, candidate: Memory, status: Status
) -> None:
    """It adds, and the memory keeps its words, its time and its place in the lifecycle."""
    target = replace(target, id="mem-1", status=status, archived_reason=None, metadata={})
    candidate = replace(
        candidate, id="mem-2", status="candidate", archived_reason=None, metadata={}
    )
    merged, (gone,) = absorb(target, candidate, NOW)
    for name in (
        "content",
        "summary",
        "created_at",
        "status",
        "is_synthetic",
        "importance_score",
        "confidence",
    ):
        assert getattr(merged, name) == getattr(target, name)
    assert "mem-2" in merged.aliases
    assert set(candidate.tags) <= set(merged.tags)
    assert merged.helpful_votes == target.helpful_votes + candidate.helpful_votes
    assert gone.archived_reason == "merged"


def test_the_chosen_text_brings_its_summary() -> None:
    """Words of one's own have none yet."""
    candidate = replace(NEW, status="candidate")
    assert absorb(OLD, candidate, NOW, NEW.content)[0].summary == "pnpm always"
    assert absorb(OLD, candidate, NOW, "Other words")[0].summary == ""


def test_a_merge_never_takes_a_served_memory_out_of_service() -> None:
    """A candidate stands above a signal on the ladder, but no agent is served one."""
    signal, candidate = replace(OLD, status="signal"), replace(NEW, status="candidate")
    assert merge_memories([signal, candidate], NOW)[0].status == "signal"
    assert (
        merge_memories([candidate, replace(OLD, status="candidate")], NOW)[0].status == "candidate"
    )


groups = st.lists(
    memories.map(lambda m: replace(m, status="signal", archived_reason=None, metadata={})),
    min_size=2, max_size=4, unique_by=lambda m: m.id,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(groups)
def test_sums_hold_for_every_group(group: Sequence[Memory]) -> None:
    """Counts add up, importance stays inside the group's range, every id is found again."""
    merged, originals = merge_memories(group, NOW)
    for name in MEMORY_COUNTS:
        assert getattr(merged, name) == sum(getattr(m, name) for m in group)
    scores = [m.importance_score for m in group]
    assert min(scores) - 1e-9 <= merged.importance_score <= max(scores) + 1e-9
    assert {merged.id, *merged.aliases} >= {m.id for m in group}
    assert merged.id not in merged.aliases
    assert len(originals) == len(group) - 1


def test_union_keeps_the_order() -> None:
    """Once each, without the dropped."""
    assert union(("b", "a"), ("a", "c"), without=["c"]) == ("b", "a")
