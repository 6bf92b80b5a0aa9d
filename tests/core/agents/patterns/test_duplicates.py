"""Patterns that say the same: which go together, and which stay apart."""

import random
from dataclasses import replace

import pytest

from tests.core.agents.patterns.samples import full
from workbench.core.agents.patterns.matching import SAME, pattern_groups, similar
from workbench.core.agents.patterns.pattern import (
    Applicability,
    Evidence,
    Guidance,
    Pattern,
    Relationships,
    TaskFeatures,
)


def plain(id: str, **changes: object) -> Pattern:
    """Return a pattern that knows of no other one, in these words."""
    one = replace(full(), id=id, relationships=Relationships(), guidance=Guidance())
    return replace(one, **changes)  # type: ignore[arg-type]


def ids(patterns: list[Pattern]) -> list[list[str]]:
    return [[one.id for one in group.patterns] for group in pattern_groups(patterns)]


def test_those_that_say_the_same_stand_under_the_surest_in_any_order() -> None:
    sure = replace(plain("b"), support=Evidence(confidence_score=0.9))
    unsure = replace(plain("a", name="Retry with pauses"), support=Evidence(confidence_score=0.2))
    assert ids([unsure, sure]) == ids([sure, unsure]) == [["b", "a"]]
    ((_, (beside,)),) = [(group.stands, group.others) for group in pattern_groups([unsure, sure])]
    assert beside.score >= SAME
    assert beside == similar(sure, [unsure])[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"category": "domain"},
        {"status": "deprecated"},
        {"status": "under_review"},
        {"summary": "Never wait and try again."},
        {"summary": "Wait 30 s and try again."},
        {"relationships": Relationships(contradicts=("a",))},
        {"relationships": Relationships(specializes="a")},
        {"guidance": Guidance(alternative_patterns=("a",))},
    ],
)
def test_what_somebody_told_apart_or_says_otherwise_stays_apart(changes: dict[str, object]) -> None:
    one = plain("a", summary="Wait and try again.")
    assert ids([one, replace(one, id="b")]) == [["a", "b"]]
    assert ids([one, replace(one, id="b", **changes)]) == []  # type: ignore[arg-type]


def test_the_same_words_for_other_problems_are_one_and_fewer_are_not() -> None:
    where = [Applicability((), TaskFeatures((domain,))) for domain in ("http", "dns")]
    one = plain("a", summary="Wait and try again.", applicability=where[0])
    elsewhere = replace(one, id="b", applicability=where[1])
    assert ids([one, elsewhere]) == [["a", "b"]]
    assert ids([one, replace(elsewhere, summary="Wait and ask somebody else.")]) == []


@pytest.mark.slow
def test_none_is_missed_that_a_look_at_every_pair_finds() -> None:
    chance, words = random.Random(5), [f"w{letter}x" for letter in "abcdefghijklmn"]
    some = [
        plain(f"p{n}", name=" ".join(chance.sample(words, 6)), summary="", description="", detailed_explanation="",
              body=None, applicability=replace(full().applicability, problem_types=()))
        for n in range(60)
    ]  # fmt: skip
    near = {one.id for one in some if similar(one, some, SAME)}
    found = {id for group in ids(some) for id in group}
    assert found <= near
    # Whoever is left alone has only such beside it as stand in a group already.
    for one in some:
        if one.id in near - found:
            assert {other.pattern.id for other in similar(one, some, SAME)} <= found
    assert len(found) > 10


def test_a_pattern_without_words_is_like_no_other_one() -> None:
    empty = plain("a", name="", summary="", description="", detailed_explanation="", body=None)
    assert ids([empty, plain("b")]) == []
