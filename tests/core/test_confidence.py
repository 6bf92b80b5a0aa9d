"""How sure a memory is: what counts, what a person's or a file's word does, and what the lifecycle
makes of it.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from tests.core.samples import NOW, days, memories, memory
from workbench.core.document import to_doc
from workbench.core.limits import LifecycleLimits
from workbench.core.review import lifecycle
from workbench.core.review.lifecycle import DOUBTFUL, approve, finding, promote, reconfirm
from workbench.core.stream.confidence import (
    IMPORTED,
    RULES,
    SUREST,
    brought,
    confidence_of,
    said_to_be,
    scored,
    standing_in,
    told,
    value_of,
)
from workbench.core.stream.memory import Memory


@pytest.mark.parametrize(
    ("fields", "value", "why"),
    [
        ({}, 0, ()),
        ({"status": "confirmed"}, 2, ("approved (+2)",)),
        (
            {"status": "promoted", "helpful_votes": 3},
            4,
            ("approved (+2)", "marked helpful 3 times (+2)"),
        ),
        ({"helpful_absorbed": 1}, 1, ("seen again once (+1)",)),
        ({"helpful_votes": 9, "helpful_absorbed": 9, "status": "confirmed"}, 5, None),
        (
            {"helpful_votes": 2, "harmful_votes": 1},
            1,
            ("marked helpful twice (+2)", "marked harmful once (−1)"),
        ),
        ({"harmful_votes": 4}, 0, ("marked harmful 4 times (−4)",)),
        ({"helpful_imported": 8, "helpful_created": 1, "harmful_imported": 2}, 0, ()),
        ({"metadata": {"applied_in": ["ep-1"]}}, 1, ("applied with success once (+1)",)),
        (
            {"metadata": {"applied_in": ["ep-1", "ep-2", "ep-2", 7]}},
            2,
            ("applied with success twice (+2)",),
        ),
        ({"metadata": {"applied_in": "ep-1"}}, 0, ()),
        ({"confidence": 3}, 3, ("said to be 3",)),
        ({"confidence": 1, "status": "confirmed"}, 1, ("said to be 1",)),
        ({"confidence": 3, "helpful_votes": 1}, 4, ("said to be 3", "marked helpful once (+1)")),
    ],
)
def test_what_raises_and_lowers_it(
    fields: dict[str, Any], value: int, why: tuple[str, ...] | None
) -> None:
    found = scored(memory(**fields))
    assert found.value == value
    assert why is None or told(found) == why


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(memories)
def test_it_is_the_same_by_every_way_and_within_its_bounds(some: Memory) -> None:
    """As a record, as a stored document, with and without reasons."""
    value = confidence_of(some)
    assert 0 <= value <= SUREST
    assert value == scored(some).value == value_of(standing_in(to_doc(some)))
    assert confidence_of(lifecycle.contradict(some) if some.status != "archived" else some) <= value


def test_what_speaks_against_a_memory_is_seen_however_much_speaks_for_it() -> None:
    full = memory(status="confirmed", helpful_votes=9, helpful_absorbed=9)
    assert [confidence_of(replace(full, harmful_votes=n)) for n in range(7)] == [
        5,
        4,
        3,
        2,
        1,
        0,
        0,
    ]


def test_a_persons_word_stays_and_what_happens_after_it_counts() -> None:
    voted = memory(status="confirmed", helpful_votes=1)
    said = said_to_be(voted, 1)
    assert confidence_of(said) == 1
    assert confidence_of(replace(said, helpful_votes=2)) == 2
    assert confidence_of(replace(said, helpful_votes=0)) == 1
    assert confidence_of(replace(said, harmful_votes=1)) == 0
    assert told(scored(said_to_be(voted, 0))) == ("said to be 0",)


def test_approving_raises_what_a_file_or_a_person_said() -> None:
    brought, typed = memory(confidence=2), said_to_be(memory(), 2)
    assert [confidence_of(lifecycle.approve(one, NOW)) for one in (brought, typed, memory())] == [
        4,
        4,
        2,
    ]


def test_letting_go_and_taking_back_leaves_it() -> None:
    sure = memory(status="confirmed", helpful_votes=1)
    gone = lifecycle.forget(sure)
    assert confidence_of(gone) == confidence_of(lifecycle.restore(gone)) == 3


def test_every_rule_says_why_it_is_one() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.why and rule.words and (rule.points or rule.id == IMPORTED) for rule in RULES)


def test_what_speaks_against_a_signal_takes_sightings_away() -> None:
    seen = memory(helpful_votes=3, harmful_votes=1)
    assert not lifecycle.earned_confirmation(seen)
    assert lifecycle.earned_confirmation(replace(seen, helpful_votes=4))


def test_a_trusted_memory_that_was_marked_harmful_is_asked_about_until_a_person_answers() -> None:
    marked = memory(status="confirmed", harmful_votes=1, last_feedback_at=NOW)
    found = finding(marked, NOW)
    assert found is not None
    assert (found.kind, found.flags, found.name) == (
        "reconfirm",
        (DOUBTFUL,),
        f"reconfirm-{marked.id}-harmful-1",
    )
    (reason,) = found.reasons
    assert "harmful once" in reason
    assert "1 of 5" in reason
    assert finding(marked, NOW, decided={"reconfirm": NOW + days(1)}) is None
    again = replace(marked, harmful_votes=2, last_feedback_at=NOW + days(2))
    assert finding(again, NOW + days(2), decided={"reconfirm": NOW + days(1)}) is not None
    assert finding(replace(marked, helpful_votes=1), NOW) is None
    assert finding(marked, NOW, LifecycleLimits(doubtful=0)) is None


def test_a_status_that_only_a_file_states_is_imported_and_gives_no_credit() -> None:
    file = brought(memory(status="confirmed"), "/notes/a.md", NOW)
    assert (confidence_of(file), told(scored(file))) == (0, ("imported (+0)",))
    assert value_of(standing_in(to_doc(file))) == 0
    assert confidence_of(replace(file, helpful_votes=2)) == 2
    read = reconfirm(file, NOW)
    assert (confidence_of(read), told(scored(read))) == (2, ("approved (+2)",))
    promoted = promote(file, "CLAUDE.md")
    assert confidence_of(promoted) == 2
    signal = approve(brought(memory(), "/notes/a.md", NOW), NOW)
    assert confidence_of(signal) == 2
