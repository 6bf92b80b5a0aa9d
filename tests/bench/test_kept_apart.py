"""What a person keeps apart is one record, whoever asks: the stream, a playbook, an old store, and what erases."""

import shutil
from itertools import combinations
from pathlib import Path

import pytest

from tests.bench.conftest import Open, memory, put
from workbench.bench.duplicates.memory_pairs import FLOOR, Apart, memory_pairs_of
from workbench.bench.open import Workbench
from workbench.core.duplicates.kept_pair import KeptPair, pairs_kept_by
from workbench.core.review.proposal import Proposal

OLD = Path(__file__).parents[1] / "store" / "fixtures" / "kept-apart-1"
TEXT = "Use pnpm for installs in this repository"


@pytest.fixture
def old(tmp_path: Path, open_bench: Open) -> Workbench:
    """A store of the version before, in which three pairs of memories are kept apart."""
    shutil.copytree(OLD, tmp_path / "store")
    return open_bench()


def asked(bench: Workbench) -> list[set[str]]:
    """Return which memories a comparison asks about."""
    plan = bench.deduplication.plan()
    return sorted((set(group.ids) for group in (*plan.groups, *plan.apart)), key=sorted)


def test_nothing_kept_apart_is_asked_again(old: Workbench) -> None:
    before = asked(old)
    assert before == [{"m0", "m1"}]
    plan = old.deduplication.plan()
    assert plan.kept == 2
    found = memory_pairs_of(old.retriever, kept=old.library.kept_apart())
    pairs = {frozenset((p.older.id, p.newer.id)) for p in found.pairs(FLOOR, 1000) if p.apart == Apart("kept")}
    assert pairs == {frozenset(("m0", "m2")), frozenset(("m3", "m4")), frozenset(("m5", "m6"))}
    put(old, memory("new", "Something else."))
    assert (asked(old), len(old.library.kept_pairs), old.deduplication.plan().kept) == (before, 3, 2)
    old.deduplication.propose(old.deduplication.plan())
    assert [p.evidence for p in old.review.queue()] == [("m1", "m0")]


@pytest.mark.parametrize("upgraded", [False, True])
def test_keep_both_from_before_is_undone_and_redone(old: Workbench, upgraded: bool) -> None:
    if upgraded:
        put(old, memory("new", "Something else."))
    for ids in ({"m3", "m4"}, {"m5", "m6"}):
        old.history.undo()
        assert (ids in asked(old)) or old.review.queue()
    assert [p.evidence for p in old.review.queue()] == [("m6", "m5")]
    old.history.undo()
    assert asked(old) == [{"m0", "m1"}, {"m3", "m4"}, {"m5", "m6"}]
    old.history.undo()
    assert old.deduplication.plan().kept == 0
    for _ in range(4):
        old.history.redo()
    assert (asked(old), old.deduplication.plan().kept) == ([{"m0", "m1"}], 2)


def test_the_history_says_what_was_upgraded(old: Workbench) -> None:
    put(old, memory("new", "Something else."))
    said = [(entry.actor, entry.label) for entry in old.library.changes_back()]
    assert ("upgrade", "note 3 pairs of memories that are kept apart") in said
    labels = [label for _, label in said]
    assert "keep m4 and m3 apart" in labels
    assert "reject merge-f1f57883dfb6aa3c" in labels


def test_every_two_of_a_group_are_kept_apart_with_their_cosines(bench: Workbench) -> None:
    put(bench, *(memory(f"m{n}", text) for n, text in enumerate((TEXT, f"{TEXT}.", f"{TEXT}!"))))
    (group,) = bench.deduplication.plan().groups
    bench.deduplication.propose(bench.deduplication.plan())
    bench.deduplication.keep_both(group)
    pairs = bench.library.kept_pairs.all()
    assert {(p.left, p.right) for p in pairs} == set(combinations(("m0", "m1", "m2"), 2))
    assert all(pair.similarity >= group.similarity for pair in pairs)
    assert [p.state for p in bench.library.proposals.all()] == ["rejected"]
    assert (asked(bench), bench.deduplication.plan().kept, bench.review.queue()) == ([], 3, ())
    bench.history.undo()
    assert (len(bench.library.kept_pairs), len(bench.review.queue())) == (0, 1)
    bench.history.redo()
    assert (asked(bench), bench.deduplication.plan().kept, bench.review.queue()) == ([], 3, ())


@pytest.mark.parametrize("upgraded", [False, True])
def test_erasing_a_memory_takes_along_that_it_was_kept_apart(old: Workbench, upgraded: bool) -> None:
    if upgraded:
        put(old, memory("new", "Something else."))
    mark = next(p for p in old.library.proposals.all() if "m3" in p.evidence).texts[0]
    old.eraser.carry_out(old.eraser.plan(["m3", "m4"]))
    assert all("m3" not in (pair.left, pair.right) for pair in old.library.kept_pairs.all())
    files = [path for path in old.library.folder.rglob("*") if path.is_file()]
    assert not [path.name for path in files if mark.encode() in path.read_bytes()]
    assert old.deduplication.plan().kept == 2


def test_a_proposal_stands_for_the_pairs_of_its_memories(bench: Workbench) -> None:
    now = bench.library.now()
    proposal = Proposal("p", "merge", "workbench", "?", now, evidence=("b", "a", "c"), state="rejected", similarity=0.9)
    unknown = pairs_kept_by(proposal, "human")
    assert [(pair.id, pair.texts) for pair in unknown] == [("a|b|", ""), ("b|c|", ""), ("a|c|", "")]
    marked = Proposal("p", "merge", "workbench", "?", now, evidence=("b", "a"), state="rejected", texts=("2", "1"))
    (pair,) = pairs_kept_by(marked, "human")
    assert pair == KeptPair(pair.id, "", "a", "b", 0.0, "1-2", "human", now)
    assert pair.id.startswith("a|b|")
    assert "1-2" not in pair.id
    for state in ("open", "accepted"):
        assert pairs_kept_by(Proposal("p", "merge", "w", "?", now, evidence=("a", "b"), state=state), "human") == ()
    assert pairs_kept_by(Proposal("p", "prune", "w", "?", now, evidence=("a", "b"), state="rejected"), "human") == ()
