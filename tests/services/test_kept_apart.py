"""What a person keeps apart is one record, whoever asks: the stream, a playbook, and what erases."""

from itertools import combinations

from tests.services.conftest import memory, put
from workbench.core.duplicates.groups import KeptPair, pairs_kept_by
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench

TEXT = "Use pnpm for installs in this repository"


def asked(bench: Workbench) -> list[set[str]]:
    """Return which memories a comparison asks about."""
    plan = bench.deduplication.plan()
    return sorted((set(group.ids) for group in (*plan.groups, *plan.apart)), key=sorted)


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


def test_erasing_a_memory_takes_along_that_it_was_kept_apart(bench: Workbench) -> None:
    put(bench, *(memory(f"m{n}", text) for n, text in enumerate((TEXT, f"{TEXT}.", f"{TEXT}!"))))
    (group,) = bench.deduplication.plan().groups
    bench.deduplication.propose(bench.deduplication.plan())
    bench.deduplication.keep_both(group)
    assert len(bench.library.kept_pairs) == 3
    mark = next(p for p in bench.library.proposals.all() if "m0" in p.evidence).texts[0]
    bench.eraser.carry_out(bench.eraser.plan(["m0", "m1"]))
    assert all(
        {pair.left, pair.right}.isdisjoint({"m0", "m1"}) for pair in bench.library.kept_pairs.all()
    )
    files = [path for path in bench.library.folder.rglob("*") if path.is_file()]
    assert not [path.name for path in files if mark.encode() in path.read_bytes()]


def test_a_proposal_stands_for_the_pairs_of_its_memories(bench: Workbench) -> None:
    now = bench.library.now()
    proposal = Proposal(
        "p",
        "merge",
        "workbench",
        "?",
        now,
        evidence=("b", "a", "c"),
        state="rejected",
        similarity=0.9,
    )
    unknown = pairs_kept_by(proposal, "human")
    assert [(pair.id, pair.texts) for pair in unknown] == [("a|b|", ""), ("b|c|", ""), ("a|c|", "")]
    marked = Proposal(
        "p", "merge", "workbench", "?", now, evidence=("b", "a"), state="rejected", texts=("2", "1")
    )
    (pair,) = pairs_kept_by(marked, "human")
    assert pair == KeptPair(pair.id, "", "a", "b", 0.0, "1-2", "human", now)
    assert pair.id.startswith("a|b|")
    assert "1-2" not in pair.id
    for state in ("open", "accepted"):
        assert (
            pairs_kept_by(
                Proposal("p", "merge", "w", "?", now, evidence=("a", "b"), state=state), "human"
            )
            == ()
        )
    assert (
        pairs_kept_by(
            Proposal("p", "prune", "w", "?", now, evidence=("a", "b"), state="rejected"), "human"
        )
        == ()
    )
