"""The life of a pattern: each step, and the steps that there are not."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from tests.core.agents.patterns.samples import NOW, applied, full
from workbench.core.agents.patterns.pattern import STATUSES, Evidence, Pattern, Status
from workbench.core.agents.patterns.statistics import (
    STEPS,
    approved,
    claimed,
    deprecated,
    refined,
    restored,
    validated,
)
from workbench.core.record import WorkbenchError

WAYS: Mapping[str, list[Callable[[Pattern], Pattern]]] = {
    "validated": [approved, lambda pattern: refined(pattern, NOW)],
    "deprecated": [lambda pattern: deprecated(pattern, "x")],
    "candidate": [restored],
}

CANDIDATE = replace(full(), status="candidate", support=Evidence())


@pytest.mark.parametrize(
    ("status", "outcomes", "outlook", "after"),
    [
        ("candidate", "ssss", "insufficient", "candidate"),
        ("candidate", "sssss", "validated", "validated"),
        ("candidate", "sssff", "under_review", "candidate"),
        ("validated", "ssffff", "under_review", "under_review"),
        ("validated", "ssssssss", "validated", "validated"),
        ("validated", "ffff", "insufficient", "validated"),
        ("under_review", "sssssssss", "validated", "under_review"),
        ("deprecated", "sssssss", "insufficient", "deprecated"),
        ("under_review", "fffff", "under_review", "under_review"),
        ("candidate", "sssssssppp", "under_review", "candidate"),
    ],
)
def test_evidence_moves_a_pattern(
    status: Status, outcomes: str, outlook: str, after: Status
) -> None:
    pattern = replace(CANDIDATE, status=status)
    done = validated(pattern, applied(pattern, outcomes), NOW)
    assert (done.outlook, done.after.status, done.moves) == (outlook, after, after != status)
    if done.moves:
        assert done.after.status_reason == "evidence"
    if outlook == "insufficient":
        assert done.after == pattern
    else:
        assert done.after.support.last_validated == NOW


def test_a_pattern_that_was_refined_begins_anew() -> None:
    pattern = replace(CANDIDATE, status="under_review")
    again = refined(pattern, NOW, "narrower now")
    assert (again.status, again.status_reason, again.evidence_since) == (
        "validated",
        "narrower now",
        NOW,
    )
    assert validated(again, applied(pattern, "ffffffff"), NOW).outlook == "insufficient"


def test_words_move_it_too() -> None:
    assert approved(CANDIDATE).status == "validated"
    gone = deprecated(CANDIDATE, " not true ", "pat-2")
    assert (gone.status, gone.status_reason, gone.superseded_by) == (
        "deprecated",
        "not true",
        "pat-2",
    )
    assert restored(gone) == replace(CANDIDATE, status_reason="restored")
    with pytest.raises(WorkbenchError, match="needs a reason"):
        deprecated(CANDIDATE, " ")
    with pytest.raises(WorkbenchError, match="by itself"):
        deprecated(CANDIDATE, "x", CANDIDATE.id)


@pytest.mark.parametrize("status", STATUSES)
def test_there_is_no_other_step(status: Status) -> None:
    pattern = replace(CANDIDATE, status=status)
    for target, ways in WAYS.items():
        done = []
        for way in ways:
            with contextlib.suppress(WorkbenchError):
                done.append(way(pattern).status)
        assert bool(done) == (target in STEPS[status])


def test_what_a_file_claims() -> None:
    assert claimed(CANDIDATE).status == "candidate"
    assert (
        claimed(
            replace(CANDIDATE, support=Evidence(num_applications=5, confidence_score=0.71))
        ).status
        == "validated"
    )
    assert (
        claimed(
            replace(CANDIDATE, support=Evidence(num_applications=5, confidence_score=0.7))
        ).status
        == "candidate"
    )
