"""Review: the order of the queue, what a decision writes, what it rests on."""

from datetime import timedelta

import pytest

from tests.services.conftest import NOON, Clock, memory, put
from workbench.core.record import InvalidRecord, UnknownRecord, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.services.review.review import LATER_DAYS, NO_EVIDENCE
from workbench.services.review.rewriting import rejection_of
from workbench.services.safety.masking import masked_name
from workbench.services.stream.fields import FieldEdit
from workbench.services.stream.observation import Observation

DAY = timedelta(days=1)


def candidate(id: str, content: str = "", *citations: str, **fields: object) -> Memory:
    values = {
        "status": "candidate",
        "memory_type": "semantic",
        "is_synthetic": True,
        "citations": citations,
    }
    return memory(id, content or f"insight {id}", NOON - DAY, **{**values, **fields})


@pytest.fixture
def waiting(bench: Workbench) -> Workbench:
    put(
        bench,
        memory("seen", "The deploy failed because the secret was missing", NOON - 2 * DAY),
        memory("gone", "Old", NOON - 2 * DAY, status="archived", archived_reason="forgotten"),
        candidate(
            "sound", "Secrets have to be there before a deploy", "seen", importance_score=8.0
        ),
        candidate("minor", "Deploys can fail", "seen", importance_score=3.0),
        candidate("bare", "Nothing supports this", "nowhere", importance_score=1.0),
        candidate("stale", "Rests on what is gone", "gone", importance_score=2.0),
    )
    return bench


def queue(bench: Workbench) -> list[str]:
    return [proposal.id for proposal in bench.review.queue()]


def test_flagged_ones_come_first_then_the_important(waiting: Workbench) -> None:
    assert queue(waiting) == ["stale", "bare", "sound", "minor"]
    flags = {proposal.id: proposal.flags for proposal in waiting.review.queue()}
    assert flags == {
        "stale": ("cites deleted memories",),
        "bare": (NO_EVIDENCE, "cites deleted memories"),
        "sound": (),
        "minor": (),
    }
    assert waiting.review.waiting() == 4


def test_a_proposal_shows_exactly_what_accepting_writes(waiting: Workbench) -> None:
    proposal = waiting.review.get("sound")
    (change,) = proposal.changes
    assert change.id == "sound"
    assert change.fields["status"].after == "confirmed"
    waiting.review.approve(["sound"])
    assert waiting.stream.get("sound").status == "confirmed"
    assert queue(waiting) == ["stale", "bare", "minor"]
    (step,) = [
        s for s in waiting.history.events(("memories", "sound")) if s.label == "approve sound"
    ]
    assert {f.field for f in step.fields} == set(change.fields)


def test_several_are_approved_in_one_step_or_not_at_all(waiting: Workbench) -> None:
    rev = waiting.library.journal.rev
    waiting.review.approve(["sound", "minor"])
    assert waiting.library.journal.rev == rev + 1
    with pytest.raises(UnknownRecord):
        waiting.review.approve(["bare", "sound"])
    assert waiting.stream.get("bare").status == "candidate"


def test_rejecting_leaves_a_tombstone_with_its_reason(waiting: Workbench) -> None:
    waiting.review.reject(["bare"], "made up")
    rejected = waiting.stream.get("bare")
    assert rejected.status == "archived"
    assert rejected.archived_reason == "rejected"
    assert rejection_of(rejected).reason == "made up"
    assert rejection_of(rejected).at == NOON
    assert "bare" not in queue(waiting)


def test_a_reason_given_later_belongs_to_the_rejection(waiting: Workbench) -> None:
    before = waiting.stream.get("bare")
    group = waiting.review.reject(["bare"])
    waiting.review.explain(group, ["bare"], "made up")
    assert rejection_of(waiting.stream.get("bare")).reason == "made up"
    waiting.history.undo()
    assert waiting.stream.get("bare") == before


def test_later_goes_to_the_end_and_comes_back(waiting: Workbench, clock: Clock) -> None:
    waiting.review.later(["stale"])
    assert queue(waiting) == ["bare", "sound", "minor", "stale"]
    assert waiting.review.waiting() == 3
    clock.advance(days=LATER_DAYS, seconds=1)
    assert queue(waiting)[0] == "stale"
    assert waiting.review.waiting() == 4


def test_an_edited_candidate_waits_on_until_it_is_approved(waiting: Workbench) -> None:
    waiting.review.edit("sound", FieldEdit("Check the secrets before a deploy\n"))
    edited = waiting.stream.get("sound")
    assert edited.content == "Check the secrets before a deploy"
    assert edited.status == "candidate"
    waiting.review.approve(["sound"])
    approved = waiting.stream.get("sound")
    assert approved.content == "Check the secrets before a deploy"
    assert approved.status == "confirmed"
    with pytest.raises(InvalidRecord, match="its content is empty"):
        waiting.review.edit("minor", FieldEdit(" \n"))
    assert waiting.stream.get("minor").status == "candidate"


def test_merging_into_an_existing_memory_keeps_its_id_and_its_text(waiting: Workbench) -> None:
    before = waiting.stream.get("seen")
    waiting.review.merge_into("sound", "seen")
    merged = waiting.stream.get("seen")
    assert merged.content == before.content
    assert merged.status == before.status
    assert merged.aliases == ("sound",)
    assert waiting.stream.get("sound").archived_reason == "merged"
    assert "sound" not in queue(waiting)


def test_a_merge_leaves_another_text_only_when_somebody_chose_it(waiting: Workbench) -> None:
    status = waiting.stream.get("seen").status
    proposal = waiting.review.get("sound")
    assert waiting.review.merged(proposal, "seen").content == waiting.stream.get("seen").content
    with pytest.raises(InvalidRecord, match="content is empty"):
        waiting.review.merge_into("sound", "seen", " \n")
    waiting.review.merge_into("sound", "seen", "Better words")
    assert waiting.stream.get("seen").content == "Better words"
    assert waiting.stream.get("seen").status == status


def test_what_was_decided_cannot_be_decided_again(waiting: Workbench) -> None:
    waiting.review.approve(["sound"])
    for act in (waiting.review.approve, waiting.review.reject, waiting.review.later):
        with pytest.raises(UnknownRecord, match="No open proposal sound"):
            act(["sound"])
    with pytest.raises(WorkbenchError, match="no longer a candidate"):
        waiting.review.merge_into("sound", "seen")


def test_an_edited_merge_waits_on_and_leaves_what_was_edited(bench: Workbench) -> None:
    first = bench.ingest.add(
        Observation("Use pnpm for installs in this repository", tags=("ci",))
    ).memory
    second = bench.ingest.add(
        Observation("Use pnpm for installing things in this repository")
    ).memory
    (proposal,) = bench.review.queue()
    bench.review.edit(proposal.id, FieldEdit("Use pnpm here", tags=(), importance=9))
    assert queue(bench) == [proposal.id]
    assert [bench.stream.get(m.id).content for m in (first, second)] == [
        first.content,
        second.content,
    ]
    bench.stream.vote([first.id], "helpful")
    bench.review.edit(proposal.id, FieldEdit(importance=8))
    (shown, _) = bench.review.outcome(bench.review.queue()[0])
    bench.review.approve([proposal.id])
    merged = bench.stream.get(first.id)
    assert merged.content == "Use pnpm here"
    assert merged.tags == ()
    assert merged.importance_score == 8
    assert merged.content == shown.content
    assert merged.helpful_count == 3


def test_evidence_shows_what_is_cited_what_resembles_and_what_was_rejected(
    waiting: Workbench,
) -> None:
    proposal = waiting.review.get("minor")
    assert not waiting.review.evidence(proposal).searched
    waiting.retriever.load()
    put(waiting, candidate("again", "Nothing at all supports this"))
    waiting.review.reject(["bare"])
    found = waiting.review.evidence(waiting.review.get("minor"))
    assert [(c.id, c.gone) for c in found.cited] == [("seen", "")]
    assert found.searched
    assert "minor" not in [m.id for m, _ in found.near]
    assert all(m.status != "archived" for m, _ in found.near)
    assert [c.gone for c in waiting.review.evidence(waiting.review.get("stale")).cited] == [
        "forgotten"
    ]
    (earlier,) = waiting.review.evidence(waiting.review.get("again")).rejections
    assert earlier.rejected.id == "bare"
    assert earlier.similarity > 0.75


def test_old_candidates_say_that_they_wait_long(waiting: Workbench, clock: Clock) -> None:
    clock.advance(days=40)
    assert all("overdue" in proposal.flags for proposal in waiting.review.queue())


def test_a_filter_narrows_the_queue(waiting: Workbench) -> None:
    everything = waiting.review.queue()
    assert [p.id for p in waiting.review.matching(everything, "deploy")] == ["sound", "minor"]
    assert [p.id for p in waiting.review.matching(everything, "memory:episodic")] == []
    assert waiting.review.matching(everything, " ") == everything


def test_what_has_a_secret_for_its_id_is_taken_by_the_name_that_stands_for_it(
    bench: Workbench,
) -> None:
    id = "m-AKIAZ7QWERTYUI5PLMNB"
    put(bench, memory(id, "deploys run at noon", status="candidate"))
    name = masked_name(id, bench.safety.masked)
    assert name != id
    assert bench.review.open_one(name).id == id
    bench.review.approve([name])
    assert bench.library.memories.get(id).status == "confirmed"
    with pytest.raises(UnknownRecord):
        bench.review.open_one(name)
