"""Steps of the lifecycle, the impossible ones, and the age rules."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings

from tests.core.samples import NOW, days, memories, memory
from workbench.core.limits import LifecycleLimits
from workbench.core.record import InvalidRecord, WorkbenchError, iso
from workbench.core.review import lifecycle
from workbench.core.review.lifecycle import AgeFinding, Tombstone, age_finding
from workbench.core.stream.confidence import ARRIVED, arrived, confidence_of
from workbench.core.stream.memory import ARCHIVED_FROM, STATUSES, Memory, Status, check_memory

SOON = NOW + days(7)

STEPS: dict[str, tuple[Callable[[Memory], Memory], set[str], Status | None]] = {
    "approve": (lifecycle.approve, {"signal", "candidate"}, "confirmed"),
    "reject": (lifecycle.reject, {"signal", "candidate"}, "archived"),
    "later": (
        lambda m: lifecycle.later(m, SOON),
        {"signal", "candidate", "confirmed", "promoted"},
        None,
    ),
    "reconfirm": (lambda m: lifecycle.reconfirm(m, NOW), {"confirmed"}, "confirmed"),
    "contradict": (lifecycle.contradict, {"signal", "candidate", "confirmed", "promoted"}, None),
    "forget": (lifecycle.forget, {"signal", "candidate", "confirmed", "promoted"}, "archived"),
    "archive": (
        lambda m: lifecycle.archive(m, "done"),
        {"signal", "candidate", "confirmed", "promoted"},
        "archived",
    ),
    "promote": (lambda m: lifecycle.promote(m, "CLAUDE.md"), {"confirmed"}, "promoted"),
    "restore": (lifecycle.restore, {"archived"}, None),
}


def test_a_candidate_waits_from_when_it_came_here() -> None:
    old = memory(status="candidate", created_at=NOW - days(400))
    came = replace(old, metadata={ARRIVED: iso(NOW - days(2))})
    assert age_finding(old, NOW) is not None
    assert age_finding(came, NOW) is None
    assert age_finding(came, NOW + days(28)) == AgeFinding("review", "candidate for 30 days")
    assert lifecycle.waits_from(came) == NOW + days(28)


BARELY_A_TIME = (
    "",
    "soon",
    7,
    None,
    "0001-01-01",
    "9999-12-31T23:59:59-14:00",
    iso(NOW - days(900)),
)


@pytest.mark.parametrize("said", BARELY_A_TIME)
def test_what_says_no_later_moment_changes_nothing(said: object) -> None:
    assert arrived(memory(created_at=NOW, metadata={ARRIVED: said})) == NOW


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("name", STEPS)
def test_every_step_from_every_status(name: str, status: Status) -> None:
    """Possible steps lead where they say and break no rule, impossible ones say why and change
    nothing.
    """
    step, allowed, leads_to = STEPS[name]
    start = memory(status=status)
    if status in allowed:
        after = step(start)
        check_memory(after)
        assert leads_to is None or after.status == leads_to
    else:
        with pytest.raises(WorkbenchError, match=f"mem-1 is {status} and cannot be") as caught:
            step(start)
        assert caught.value.hint == (
            "Restore it first." if status == "archived" else "Nothing was changed."
        )


def test_approving_clears_or_sets_the_next_question() -> None:
    """With the time given, “still true?” is asked 90 days later."""
    waiting = memory(status="candidate", review_after=SOON)
    assert lifecycle.approve(waiting).review_after is None
    assert lifecycle.approve(waiting, NOW).review_after == NOW + days(90)
    assert lifecycle.reconfirm(
        lifecycle.approve(waiting), NOW, LifecycleLimits(confirmed_days=5)
    ).review_after == NOW + days(5)


def test_archiving_says_why() -> None:
    """Each with its reason, and no review pending."""
    waiting = memory(status="candidate", review_after=SOON)
    assert lifecycle.reject(waiting).archived_reason == "rejected"
    assert lifecycle.forget(waiting).archived_reason == "forgotten"
    assert lifecycle.archive(waiting, "superseded").archived_reason == "superseded"
    assert lifecycle.forget(waiting).review_after is None
    with pytest.raises(WorkbenchError, match=r"is archived \(rejected\) and cannot be approved"):
        lifecycle.approve(lifecycle.reject(waiting))
    with pytest.raises(InvalidRecord, match="“bored” is not a reason"):
        lifecycle.archive(waiting, "bored")  # type: ignore[arg-type]


def test_pinned_and_confirmed_are_not_pruned() -> None:
    """Forgetting them is a person's decision."""
    with pytest.raises(WorkbenchError, match="is pinned and cannot be pruned"):
        lifecycle.archive(memory(pinned=True), "pruned")
    with pytest.raises(WorkbenchError, match="is confirmed and cannot be pruned"):
        lifecycle.archive(memory(status="confirmed"), "pruned")
    assert lifecycle.archive(memory(), "pruned").archived_reason == "pruned"
    assert lifecycle.forget(memory(pinned=True, status="confirmed")).archived_reason == "forgotten"


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(memories.filter(lambda m: m.status != "archived" and ARCHIVED_FROM not in m.metadata))
def test_restoring_undoes_forgetting(start: Memory) -> None:
    """Everything but the review date is as it was."""
    alive = replace(start, archived_reason=None, review_after=None)
    assert lifecycle.restore(lifecycle.forget(alive)) == alive


def test_restoring_what_was_archived_elsewhere() -> None:
    """Without a known status it waits for review, unless it was promoted; nonsense is not believed."""
    archived = memory(status="archived", archived_reason="done")
    assert lifecycle.restore(archived).status == "candidate"
    assert lifecycle.restore(replace(archived, promoted_to="CLAUDE.md")).status == "promoted"
    odd = replace(archived, metadata={"archived_from": "archived", "colour": "red"})
    assert lifecycle.restore(odd).status == "candidate"
    assert lifecycle.restore(odd).metadata == {"colour": "red"}


def test_a_merged_original_is_not_restored_alone() -> None:
    """Its votes live on in the other memory."""
    merged = memory(status="archived", archived_reason="merged", metadata={"merged_into": "mem-2"})
    with pytest.raises(WorkbenchError, match=r"was merged into mem-2\. Undo the merge"):
        lifecycle.restore(merged)


def test_promoting_names_the_place() -> None:
    """A blank one is refused."""
    assert lifecycle.promote(memory(status="confirmed"), " CLAUDE.md ").promoted_to == "CLAUDE.md"
    with pytest.raises(WorkbenchError, match="was not promoted"):
        lifecycle.promote(memory(status="confirmed"), "  ")


def test_later_needs_a_timezone() -> None:
    """Times are UTC."""
    assert lifecycle.later(memory(), SOON).review_after == SOON
    with pytest.raises(InvalidRecord, match="no timezone"):
        lifecycle.later(memory(), SOON.replace(tzinfo=None))


def test_contradicting_lowers_the_confidence() -> None:
    """Down to zero."""
    assert [confidence_of(lifecycle.contradict(memory(confidence=c))) for c in (2, 1, 0)] == [
        1,
        0,
        0,
    ]


@pytest.mark.parametrize(
    ("status", "age", "action"),
    [
        ("signal", 13.9, None), ("signal", 14, "archive"), ("candidate", 29.9, None), ("candidate", 30, "review"),
        ("confirmed", 89.9, None), ("confirmed", 90, "reconfirm"), ("promoted", 999, None), ("archived", 999, None),
    ],
)  # fmt: skip
def test_age_rules(status: Status, age: float, action: str | None) -> None:
    """Fourteen, thirty and ninety days."""
    found = age_finding(memory(status=status, created_at=NOW - days(age)), NOW)
    assert (found and found.action) == action


def test_age_findings_say_why() -> None:
    """In a few words."""
    assert age_finding(memory(created_at=NOW - days(20)), NOW) == AgeFinding(
        "archive", "untouched for 20 days"
    )
    old = memory(status="candidate", created_at=NOW - days(31))
    assert age_finding(old, NOW) == AgeFinding("review", "candidate for 31 days")


def test_touching_a_signal_keeps_it() -> None:
    """Read, voted on or put off within the fourteen days; pinned ones stay for good."""
    made, lately = NOW - days(40), NOW - days(3)
    assert age_finding(memory(created_at=made, last_accessed_at=lately), NOW) is None
    assert age_finding(memory(created_at=made, last_feedback_at=lately), NOW) is None
    assert age_finding(memory(created_at=made, review_after=lately), NOW) is None
    assert age_finding(memory(created_at=made, pinned=True), NOW) is None
    assert age_finding(memory(created_at=made, last_feedback_at=NOW - days(20)), NOW) is not None


def test_what_was_put_off_is_asked_for_when_it_is_time() -> None:
    """Not before, whatever the age; and then at once."""
    old = memory(status="candidate", created_at=NOW - days(99), review_after=NOW + days(1))
    assert age_finding(old, NOW) is None
    assert age_finding(old, NOW + days(1)) == AgeFinding("review", "its review date has passed")
    young = memory(status="confirmed", created_at=NOW - days(1), review_after=NOW)
    assert age_finding(young, NOW) == AgeFinding("reconfirm", "its review date has passed")


def test_limits_are_a_parameter() -> None:
    """Ages and sightings."""
    assert (
        age_finding(memory(created_at=NOW - days(2)), NOW, LifecycleLimits(signal_days=1))
        is not None
    )
    assert lifecycle.earned_confirmation(memory(helpful_votes=1), LifecycleLimits(sightings=1))


def test_earning_confirmation_and_becoming_a_skill() -> None:
    """Three sightings; confirmed, resolved and with two references."""
    assert lifecycle.earned_confirmation(memory(helpful_absorbed=2, helpful_votes=1))
    assert not lifecycle.earned_confirmation(
        memory(helpful_absorbed=2, helpful_created=1, helpful_imported=9)
    )
    assert not lifecycle.earned_confirmation(memory(helpful_votes=3, status="confirmed"))
    ready = memory(status="confirmed", related=("a", "b"))
    assert lifecycle.is_skill_material(ready, resolved=True)
    assert not lifecycle.is_skill_material(ready, resolved=False)
    assert not lifecycle.is_skill_material(
        memory(status="confirmed", related=("a",)), resolved=True
    )
    assert not lifecycle.is_skill_material(memory(related=("a", "b")), resolved=True)


def test_tombstones() -> None:
    """The rejected memories at or above the threshold, the nearest first; the living and the
    forgotten do not warn.
    """
    candidate = memory("new", status="candidate")
    rejected = {
        i: memory(i, status="archived", archived_reason="rejected") for i in ("a", "b", "new")
    }
    forgotten = memory("f", status="archived", archived_reason="forgotten")
    near = [
        (rejected["b"], 0.8),
        (rejected["a"], 0.8),
        (forgotten, 0.99),
        (memory("s"), 0.99),
        (rejected["new"], 1.0),
    ]
    most = partial(lifecycle.resembling_rejections, threshold=0.75)
    a, b = rejected["a"], rejected["b"]
    assert most(candidate, near) == (Tombstone(a, 0.8), Tombstone(b, 0.8))
    assert most(candidate, near, threshold=0.81) == ()
    assert most(candidate, [(a, 0.75), (b, 0.9)]) == (Tombstone(b, 0.9), Tombstone(a, 0.75))
    assert most(candidate, [(a, 0.749)]) == most(candidate, []) == ()


def test_a_candidate_waits_long_from_the_moment_that_the_age_rule_speaks() -> None:
    candidate = memory("c", status="candidate")
    moment = lifecycle.waits_from(candidate)
    assert age_finding(candidate, moment) is not None
    assert age_finding(candidate, moment - days(0.001)) is None
