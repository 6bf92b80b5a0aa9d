"""The findings of the lifecycle, and what deciding on them does."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from tests.core.samples import NOW, days, memories, memory
from workbench.core.limits import LifecycleLimits
from workbench.core.record import WorkbenchError
from workbench.core.review.lifecycle import (
    Contradicted,
    accepted,
    doubted,
    finding,
    is_resolved,
    waits_long,
)
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory, check_memory

NEWS = Contradicted("news", "mark", "this says 5, the other 7")


def aged(**fields: Any) -> Memory:
    return memory(created_at=NOW - days(100), last_accessed_at=NOW - days(100), **fields)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(memories.filter(lambda m: m.status == "archived" or m.archived_reason is None))
def test_what_is_found_can_be_done_and_breaks_no_rule(some: Memory) -> None:
    """Pinned and confirmed memories are never pruned, candidates and archived ones never asked
    about.
    """
    found = finding(some, NOW, contradicted=NEWS, resolved=True)
    if found is None:
        return
    assert some.status not in ("candidate", "archived")
    assert found.kind != "prune" or (some.status == "signal" and not some.pinned)
    assert found.reasons
    assert found.name == finding(some, NOW, contradicted=NEWS, resolved=True).name  # type: ignore[union-attr]
    if found.kind != "replaces":
        check_memory(accepted(found.kind, some, NOW, LifecycleLimits()))


def test_the_most_urgent_thing_comes_first() -> None:
    seen = aged(helpful_absorbed=3)
    assert [f.kind for f in (finding(seen, NOW), finding(aged(), NOW)) if f] == ["confirm", "prune"]
    trusted = aged(status="confirmed", related=("a", "b"))
    kinds = [
        (found := finding(m, NOW, contradicted=c, resolved=True)) and (found.kind, found.flags)
        for m, c in (
            (trusted, NEWS),
            (trusted, None),
            (replace(trusted, review_after=NOW + days(1)), None),
        )
    ]
    assert kinds == [("reconfirm", ("contradicted",)), ("reconfirm", ()), ("skill", ())]


def test_an_answer_holds_for_a_period() -> None:
    for kind, status, period in (("prune", "signal", 14), ("reconfirm", "confirmed", 90)):
        some = aged(status=status)
        first = finding(some, NOW)
        assert finding(some, NOW, decided={kind: NOW - days(period - 1)}) is None
        again = finding(some, NOW, decided={kind: NOW - days(period)})
        assert again is not None
        assert first is not None
        assert again.name != first.name
        assert finding(some, NOW, decided={"skill": NOW}) == first


def test_a_skill_is_asked_about_once_per_number_of_references() -> None:
    some = memory(status="confirmed", related=("a", "b"), created_at=NOW)
    found = finding(some, NOW, resolved=True)
    more = finding(replace(some, related=("a", "b", "c")), NOW, resolved=True)
    assert found is not None
    assert more is not None
    assert found.name != more.name
    assert finding(some, NOW, resolved=False) is None
    assert finding(replace(some, tags=("skill",)), NOW, resolved=True) is None
    assert finding(some, NOW, LifecycleLimits(references=3), resolved=True) is None


def test_a_candidate_waits_long_even_when_it_is_put_off() -> None:
    waiting = aged(status="candidate", review_after=NOW + days(3))
    assert waits_long(waiting, NOW)
    assert not waits_long(replace(waiting, created_at=NOW - days(29)), NOW)
    assert not waits_long(aged(), NOW)


def test_only_a_no_to_still_true_has_consequences() -> None:
    asked = Proposal("p", "reconfirm", "workbench", "?", NOW, ("mem-1", "news"))
    doubtful, forget = doubted(asked, aged(status="confirmed", confidence=0), NOW)
    assert isinstance(doubtful, Memory)
    assert isinstance(forget, Proposal)
    assert (doubtful.confidence, forget.kind, forget.evidence) == (0, "forget", ("mem-1", "news"))
    assert doubted(asked, aged(), NOW) == ()


def test_an_outcome_that_is_impossible_says_so() -> None:
    with pytest.raises(WorkbenchError, match="cannot be pruned"):
        accepted("prune", aged(pinned=True), NOW, LifecycleLimits())


def test_nothing_is_resolved_while_something_about_it_is_open() -> None:
    some, waiting = aged(status="confirmed"), memory(id="c", status="candidate")
    assert is_resolved(some, (None, memory(id="s")), disputed=False)
    assert not is_resolved(some, (waiting,), disputed=False)
    assert not is_resolved(some, (), disputed=True)
    assert not is_resolved(replace(some, harmful_votes=2, helpful_votes=1), (), disputed=False)
    assert is_resolved(replace(some, harmful_votes=1, helpful_votes=2), (), disputed=False)
