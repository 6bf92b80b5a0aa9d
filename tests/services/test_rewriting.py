"""Splitting a candidate and refining it in rounds: what is written, and that undo takes it back."""

import pytest

from tests.services.conftest import NOON, memory, put, snapshot
from workbench.core.record import Conflict, InvalidRecord, WorkbenchError
from workbench.core.stream.memory import MAX_CONTENT
from workbench.services.open import Workbench
from workbench.services.review.rewriting import ROUNDS, SPLIT_FROM, SPLIT_INTO, parts_of, rounds_of

TEXT = "Clear the cache after the commit.\n\nFind the race before adding a retry."


@pytest.fixture
def waiting(bench: Workbench) -> Workbench:
    put(
        bench,
        memory("o1", "an event"),
        memory(
            "c1", TEXT, NOON, status="candidate", is_synthetic=True, citations=("o1", "o2"), importance_score=7.0,
            tags=("ci",), helpful_absorbed=2, summary="Two things", metadata={"reflector": "claude"},
        ),
    )  # fmt: skip
    return bench


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("one", ("one",)),
        ("one\n\ntwo\n \n\nthree\n", ("one", "two", "three")),
        ("one\nstill one\n\ntwo", ("one\nstill one", "two")),
        ("one\n\nstill one\n---\ntwo", ("one\n\nstill one", "two")),
        ("---\none\n -----\t\n\n---\ntwo", ("one", "two")),
        ("  indented\n\n\n", ("  indented",)),
        (" \n\n ", ()),
    ],
)
def test_blank_lines_part_a_text_unless_rules_do(text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(text) == parts


def test_a_split_makes_candidates_with_all_citations_in_one_step(waiting: Workbench) -> None:
    before, rev = snapshot(waiting), waiting.library.journal.rev
    ids = waiting.review.split("c1", parts_of(TEXT), TEXT)
    assert waiting.library.journal.rev == rev + 1
    parts = [waiting.stream.get(id) for id in ids]
    assert [p.content for p in parts] == list(parts_of(TEXT))
    for part in parts:
        assert part.status == "candidate"
        assert part.citations == ("o1", "o2")
        assert part.importance_score == 7.0
        assert part.tags == ("ci",)
        assert part.helpful_count == 0
        assert part.summary == ""
        assert part.created_at == NOON
        assert part.metadata == {"reflector": "claude", SPLIT_FROM: "c1"}
    original = waiting.stream.get("c1")
    assert original.status == "archived"
    assert original.archived_reason == "superseded"
    assert original.metadata[SPLIT_INTO] == list(ids)
    assert [p.id for p in waiting.review.queue()] == list(ids)
    waiting.history.undo()
    assert snapshot(waiting) == before


@pytest.mark.parametrize("parts", [("one",), (), ("one", "one"), ("one", "x" * (MAX_CONTENT + 1))])
def test_what_is_no_split_is_refused(waiting: Workbench, parts: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRecord):
        waiting.review.split("c1", parts)
    assert waiting.stream.get("c1").status == "candidate"


def test_a_text_that_changed_meanwhile_is_neither_split_nor_refined(waiting: Workbench) -> None:
    with pytest.raises(Conflict):
        waiting.review.split("c1", ("a", "b"), "another text")
    with pytest.raises(Conflict):
        waiting.review.refine("c1", ("a",), "a", "another text")
    waiting.review.approve(["c1"])
    with pytest.raises(WorkbenchError, match="no longer a candidate"):
        waiting.review.split("c1", ("a", "b"))


def test_every_round_is_kept_and_an_earlier_one_can_be_taken_again(waiting: Workbench) -> None:
    before = snapshot(waiting)
    waiting.review.refine("c1", (TEXT, "second", "third"), "third", TEXT)
    refined = waiting.stream.get("c1")
    assert refined.content == "third"
    assert refined.status == "candidate"
    assert refined.summary == ""
    assert refined.metadata[ROUNDS] == [TEXT, "second"]
    assert rounds_of(refined) == (TEXT, "second", "third")
    waiting.review.refine("c1", rounds_of(refined), TEXT)
    again = waiting.stream.get("c1")
    assert again.content == TEXT
    assert set(rounds_of(again)) == {TEXT, "second", "third"}
    waiting.history.undo()
    waiting.history.undo()
    assert snapshot(waiting) == before


@pytest.mark.parametrize("text", [" \n", "x" * (MAX_CONTENT + 1)])
def test_an_impossible_round_is_refused(waiting: Workbench, text: str) -> None:
    with pytest.raises(InvalidRecord):
        waiting.review.refine("c1", (TEXT, text), text)


def test_rounds_of_any_shape_are_read() -> None:
    assert rounds_of(memory("m", "now", metadata={ROUNDS: ["then", 7, "then", "now"]})) == (
        "then",
        "now",
    )
    assert rounds_of(memory("m", "now", metadata={ROUNDS: "then"})) == ("now",)
