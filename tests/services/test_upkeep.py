"""Lifecycle upkeep: proposals by the rules, a dry run that equals the real run, and no question
asked twice.
"""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Clock, bring, memory, put, snapshot
from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.confidence import confidence_of
from workbench.core.stream.memory import Memory
from workbench.core.tuning.judgment import Judgment
from workbench.services.open import Workbench


def aged(id: str, days: float, text: str = "", **fields: object) -> Memory:
    return memory(
        id, text or f"note {id} about something of its own", NOON - timedelta(days=days), **fields
    )


@pytest.fixture
def store(bench: Workbench) -> Workbench:
    """One memory for every rule, and its neighbour that just escapes it."""
    put(
        bench,
        aged("old", 14), aged("young", 13.9), aged("pinned", 99, pinned=True),
        replace(aged("read", 99), last_accessed_at=NOON - timedelta(days=2)),
        aged("seen", 1, helpful_absorbed=2, helpful_votes=1), aged("seldom", 1, helpful_votes=2),
        aged("waits", 31, status="candidate"), aged("fresh", 1, status="candidate"),
        aged("stale", 90, status="confirmed"), aged("sure", 89, status="confirmed"),
        aged("linked", 5, status="confirmed", related=("young", "sure")),
        aged("loose", 5, status="confirmed", related=("young",)),
        aged("open", 5, status="confirmed", related=("young", "waits")),
        aged("gone", 99, status="archived", archived_reason="forgotten"),
    )  # fmt: skip
    return bench


def by_kind(proposals: tuple[Proposal, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for proposal in proposals:
        found.setdefault(proposal.kind, []).append(proposal.evidence[0])
    return {kind: sorted(ids) for kind, ids in found.items()}


def test_every_rule_speaks_at_its_limit_and_not_before(store: Workbench) -> None:
    plan = store.upkeep.plan()
    assert by_kind(plan.proposals) == {
        "prune": ["old"], "confirm": ["seen"], "reconfirm": ["stale"], "skill": ["linked"],
    }  # fmt: skip
    assert plan.counts == {"replaces": 0, "prune": 1, "confirm": 1, "reconfirm": 1, "skill": 1}
    assert plan.waiting == ("waits",)
    assert plan.searched
    reasons = {p.kind: p.reasons for p in plan.proposals}
    assert reasons["prune"] == ("untouched for 14 days",)
    assert reasons["confirm"] == ("seen again twice and marked helpful once",)
    assert all(p.actor == "workbench" for p in plan.proposals)


def test_a_dry_run_is_the_real_run_and_the_second_adds_nothing(store: Workbench) -> None:
    before = snapshot(store)
    plan = store.upkeep.plan()
    assert snapshot(store) == before
    assert store.upkeep.carry_out() == plan
    assert {p.id: p for p in store.library.proposals.all()} == {p.id: p for p in plan.proposals}
    assert snapshot(store)["memories"] == before["memories"]
    revision = store.library.journal.rev
    again = store.upkeep.carry_out()
    assert again.proposals == ()
    assert again.withdrawn == ()
    assert store.library.journal.rev == revision
    assert by_kind(again.open) == by_kind(plan.proposals)
    event = next(store.history.events())
    assert event.actor == "human"
    assert event.label == "upkeep"


def test_what_is_accepted_is_done_and_can_be_undone(store: Workbench) -> None:
    plan = store.upkeep.carry_out()
    before = snapshot(store)
    store.review.approve([p.id for p in plan.proposals])
    get = store.stream.get
    assert get("old").status == "archived"
    assert get("old").archived_reason == "pruned"
    assert get("seen").status == "confirmed"
    assert get("stale").review_after == NOON + timedelta(days=90)
    assert get("linked").tags == ("skill",)
    assert {p.decided_at for p in store.library.proposals.all()} == {NOON}
    assert store.upkeep.plan().is_empty
    store.history.undo()
    assert snapshot(store) == before


def test_what_is_judged_relevant_cited_or_served_lately_is_not_proposed_for_archiving(
    store: Workbench,
) -> None:
    graded = [
        Judgment(f"q:{id}", "q", id, grade, "human", NOON)
        for id, grade in (("judged", 1), ("useless", 0))
    ]
    put(
        store, *graded,
        aged("judged", 50), aged("useless", 50), aged("known-as", 50, aliases=("merged",)),
        aged("cited", 50), aged("insight", 1, status="confirmed", citations=("cited", "merged")),
        aged("cited-once", 50),
        aged("let-go", 9, status="archived", archived_reason="rejected", citations=("cited-once",)),
        replace(aged("served", 99), access_count=1, last_accessed_at=NOON - timedelta(days=29)),
        replace(aged("served-once", 99), access_count=1, last_accessed_at=NOON - timedelta(days=31)),
    )  # fmt: skip
    plan = store.upkeep.plan()
    assert by_kind(plan.proposals)["prune"] == ["cited-once", "old", "served-once", "useless"]
    put(store, Judgment("q:old", "q", "old", 3, "human", NOON))
    assert store.upkeep.prune(plan.of("prune")) == 3, "what was judged relevant since is left alone"


def test_prunes_come_last_and_the_least_important_first_and_the_important_only_alone(
    store: Workbench,
) -> None:
    put(store, *(aged(f"worth-{worth}", 40, importance_score=worth) for worth in (9, 2, 8, 7)))
    pending = store.review.waiting()
    store.upkeep.carry_out()
    assert store.review.waiting() == pending + 3, "prunes are not counted"
    assert store.overview.waiting() == store.review.waiting()
    unflagged = [p for p in store.review.queue() if not p.flags]
    assert [p.evidence[0] for p in unflagged[-5:]] == [
        "worth-2",
        "old",
        "worth-7",
        "worth-8",
        "worth-9",
    ]
    at_once = store.upkeep.prunable(store.upkeep.plan())
    assert [p.evidence[0] for p in at_once] == ["worth-2", "old", "worth-7"]
    assert store.review.waiting_in("noise") == 3
    assert store.review.waiting_in("important") == 2


def test_what_was_pinned_meanwhile_is_not_pruned(store: Workbench) -> None:
    plan = store.upkeep.carry_out()
    prune = plan.of("prune")[0]
    store.stream.pin(["old"])
    with pytest.raises(WorkbenchError, match="is pinned and cannot be pruned"):
        store.review.approve([prune.id])
    assert store.upkeep.prune((prune,)) == 0
    assert store.stream.get("old").status == "signal"
    assert store.upkeep.carry_out().withdrawn == (prune,)
    assert store.library.proposals.find(prune.id) is None


def test_all_prunes_at_once_are_one_change_of_the_person(store: Workbench) -> None:
    put(store, aged("older", 40))
    store.upkeep.carry_out()
    put(store, aged("oldest", 80))
    before = snapshot(store)
    plan = store.upkeep.plan()
    prunes = store.upkeep.prunable(plan)
    assert sorted(p.evidence[0] for p in prunes) == ["old", "older", "oldest"]
    assert store.upkeep.prune(prunes) == 3
    assert {store.stream.get(id).archived_reason for id in ("old", "older", "oldest")} == {"pruned"}
    assert store.upkeep.plan().is_empty
    assert store.history.undo() == "prune 3 memories"
    assert snapshot(store) == before


def test_still_true_answered_with_no_costs_confidence_and_proposes_to_forget(
    store: Workbench, clock: Clock
) -> None:
    put(store, replace(store.stream.get("stale"), confidence=3))
    (question,) = store.upkeep.carry_out().of("reconfirm")
    before = snapshot(store)
    store.review.reject([question.id])
    assert confidence_of(store.stream.get("stale")) == 2
    forget = next(p for p in store.review.queue() if p.kind == "forget")
    assert forget.evidence[0] == "stale"
    assert forget.reasons[-1] == "its confidence went from 3 to 2"
    assert store.upkeep.plan().of("reconfirm") == ()
    store.review.approve([forget.id])
    assert store.stream.get("stale").archived_reason == "forgotten"
    store.history.undo()
    store.history.undo()
    assert snapshot(store) == before
    clock.advance(days=90)
    assert "stale" not in by_kind(store.upkeep.plan().proposals)["reconfirm"]


RULE = "In the web folder always use pnpm, never npm."
REVERSE = "In the web folder always use npm, never pnpm."


def doubted(bench: Workbench) -> Proposal:
    """What is asked about a promoted rule that a newer memory contradicts."""
    put(
        bench,
        aged("rule", 5, RULE, status="promoted", promoted_to="CLAUDE.md"),
        aged("news", 1, REVERSE),
    )
    (question,) = bench.upkeep.carry_out().proposals
    return question


def test_a_newer_memory_that_says_the_opposite_raises_the_question(bench: Workbench) -> None:
    put(bench, aged("rule", 5, RULE, status="confirmed", confidence=4), aged("news", 1, REVERSE))
    plan = bench.upkeep.carry_out()
    (question,) = plan.proposals
    assert question.kind == "reconfirm"
    assert question.flags == ("contradicted",)
    assert question.evidence == ("rule", "news")
    assert "negates" in question.reasons[0]
    assert bench.upkeep.plan().is_empty
    bench.review.reject([question.id])
    assert confidence_of(bench.stream.get("rule")) == 3
    assert bench.upkeep.plan().of("reconfirm") == ()
    bench.stream.edit("news", "In the web folder use npm always, and never pnpm.")
    assert len(bench.upkeep.plan().of("reconfirm")) == 1


def test_a_contradiction_that_is_gone_is_withdrawn_but_only_when_somebody_looked(
    bench: Workbench,
) -> None:
    question = doubted(bench)
    bench.stream.forget(["news"])
    blind = bench.upkeep.plan(search=False)
    assert blind.withdrawn == ()
    assert blind.searched is False
    assert blind.remark != ""
    assert bench.upkeep.carry_out().withdrawn == (question,)


def test_a_promoted_memory_that_is_still_true_is_asked_about_later(
    bench: Workbench, clock: Clock
) -> None:
    question = doubted(bench)
    bench.review.approve([question.id])
    kept = bench.stream.get("rule")
    assert kept.status == "promoted"
    assert kept.promoted_to == "CLAUDE.md"
    assert kept.review_after == NOON + timedelta(days=90)
    clock.advance(days=10)
    assert bench.upkeep.plan().of("reconfirm") == ()


def vault(folder: Path) -> Path:
    """A folder of notes that were written long before they are imported."""
    (folder / "vault").mkdir()
    made = (NOON - timedelta(days=120)).date().isoformat()
    for name in ("ports", "make", "deploy"):
        (folder / f"vault/{name}.md").write_text(
            f"---\ncreated: {made}\n---\nWhat is known of {name}.\n"
        )
    return folder / "vault"


def test_imported_signals_are_pruned_after_their_days_once_their_file_is_gone(
    bench: Workbench, clock: Clock, tmp_path: Path
) -> None:
    folder = vault(tmp_path)
    bring(bench, folder)
    (folder / "ports.md").unlink()
    clock.at += timedelta(days=13)
    assert bench.upkeep.plan(search=False).of("prune") == ()
    clock.at += timedelta(days=1)
    plan = bench.upkeep.carry_out(search=False)
    assert [bench.stream.get(p.evidence[0]).content for p in plan.of("prune")] == [
        "What is known of ports."
    ]
    (folder / "ports.md").write_text("It is back.\n")
    assert bench.upkeep.prune(plan.of("prune")) == 0
    assert [p.id for p in bench.upkeep.plan(search=False).withdrawn] == [
        p.id for p in plan.of("prune")
    ]
