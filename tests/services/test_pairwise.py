"""Better 1 or 2: answers move the posterior the right way, questions are worth asking, and it says
when to stop.
"""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from tests.retrieval.samples import T0, memory
from workbench.core.record import InvalidRecord
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.tuning.pairwise import Preferences, begin, information, regret

LATER = T0 + timedelta(days=3)
TRUTH = replace(WORKBENCH, recency=0.2, importance=0.5, relevance=0.3)


def ranker_of(rows: int) -> Ranker:
    random = np.random.default_rng(1)
    stored = [memory(i, importance_score=float(random.integers(0, 11))) for i in range(rows)]
    nothing = np.zeros((rows, 0), np.float32)
    return Ranker(
        Pool.build(stored), nothing, LexicalIndex.build([""] * rows), lambda texts: nothing
    )


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    return ranker_of(300)


@pytest.fixture(scope="module")
def queries() -> list[tuple[QueryScores, datetime]]:
    random = np.random.default_rng(2)
    columns = random.random((4, 2, 300)).astype(np.float32)
    return [
        (QueryScores(f"q{i}", dense, lexical), LATER) for i, (dense, lexical) in enumerate(columns)
    ]


@pytest.fixture(scope="module")
def fresh(ranker: Ranker, queries: list[tuple[QueryScores, datetime]]) -> Preferences:
    return begin(ranker, queries, WORKBENCH)


def answered(
    state: Preferences, ranker: Ranker, queries: list[tuple[QueryScores, datetime]], count: int
) -> Preferences:
    orders = [ranker.rank(scores, TRUTH, LATER) for scores, _ in queries]
    for _ in range(count):
        pair = state.question
        assert pair is not None
        a, b = orders[pair.query].place_of(pair.a), orders[pair.query].place_of(pair.b)
        assert a is not None
        assert b is not None
        state = state.answered("a" if a < b else "b")
    return state


def test_without_answers_it_believes_in_the_present_profile(fresh: Preferences) -> None:
    assert fresh.posterior.sum() == pytest.approx(1)
    assert fresh.posterior.argmax() == 0
    assert all(spread > 0.05 for spread in fresh.spread)


def test_a_question_is_a_pair_that_settings_disagree_about(fresh: Preferences) -> None:
    prefer = fresh.pairs.prefer
    assert 100 < len(fresh.pairs) <= 2_000
    assert (prefer.max(axis=1) > 0.5).all()
    assert (prefer.min(axis=1) < 0.5).all()
    assert prefer.min() >= 0.08 - 1e-6
    assert prefer.max() <= 0.92 + 1e-6
    assert {pair.query for pair in fresh.pairs.every} == {0, 1, 2, 3}
    tells = information(fresh.pairs, fresh.posterior)
    assert tells.min() > -1e-6
    assert fresh.number == int(tells.argmax())


def test_answers_lead_to_the_persons_mind(
    fresh: Preferences, ranker: Ranker, queries: list[tuple[QueryScores, datetime]]
) -> None:
    state = answered(fresh, ranker, queries, 24)
    found = state.profile
    shares = np.array([found.recency, found.importance, found.relevance])
    assert shares.sum() == pytest.approx(1, abs=1e-5)
    assert shares == pytest.approx([0.2, 0.5, 0.3], abs=0.12)
    assert max(state.spread) < max(fresh.spread)
    assert len({number for number, _ in state.answers}) == 24
    truth = int(np.argmin(np.abs(state.pairs.settings.weights - [0.2, 0.5, 0.3]).sum(axis=1)))
    assert regret(state.pairs, found, truth) < regret(state.pairs, WORKBENCH, truth) / 3


def test_a_and_b_pull_in_opposite_directions(fresh: Preferences) -> None:
    assert fresh.number is not None
    prefer = fresh.pairs.prefer[fresh.number]
    for answer, likelihood in (("a", prefer), ("b", 1 - prefer)):
        expected = fresh.posterior * likelihood
        got = fresh.answered(answer).posterior  # type: ignore[arg-type]
        assert got == pytest.approx(expected / expected.sum(), rel=1e-4)


def test_equal_favours_settings_that_see_no_difference(fresh: Preferences) -> None:
    assert fresh.number is not None
    difference = np.abs(fresh.pairs.prefer[fresh.number] - 0.5)
    before, after = fresh.posterior @ difference, fresh.answered("=").posterior @ difference
    assert after < before


def test_cant_say_teaches_nothing_but_is_not_asked_again(fresh: Preferences) -> None:
    state = fresh.answered("?")
    assert state.posterior == pytest.approx(fresh.posterior)
    assert state.question != fresh.question
    assert state.taken_back().question == fresh.question
    assert fresh.taken_back().answers == ()


@pytest.mark.slow
def test_it_says_what_more_answers_could_change(
    fresh: Preferences, ranker: Ranker, queries: list[tuple[QueryScores, datetime]]
) -> None:
    early, late = fresh.outlook(), answered(fresh, ranker, queries, 24).outlook()
    assert early.gain > 0.02
    assert late.gain < early.gain / 3
    assert late.now < early.now
    assert early == fresh.outlook()
    assert early.answers == 10


def test_there_may_be_nothing_to_ask(
    ranker: Ranker, queries: list[tuple[QueryScores, datetime]]
) -> None:
    none = begin(ranker, [], WORKBENCH)
    empty = QueryScores("q", np.zeros(0, np.float32), np.zeros(0, np.float32))
    lonely = QueryScores("q", np.ones(1, np.float32), np.ones(1, np.float32))
    for state in (
        none,
        begin(ranker_of(0), [(empty, LATER)], WORKBENCH),
        begin(ranker_of(1), [(lonely, LATER)], WORKBENCH),
    ):
        assert state.question is None
        assert state.answered("a") is state
        assert state.posterior.argmax() == 0
        assert state.outlook().gain == 0
    with pytest.raises(InvalidRecord):
        begin(ranker, queries, replace(WORKBENCH, recency=-1.0))


@pytest.mark.parametrize("mode", ["rank", "off"])
def test_every_way_of_ageing_can_be_asked_about(
    ranker: Ranker, queries: list[tuple[QueryScores, datetime]], mode: str
) -> None:
    start: Profile = replace(WORKBENCH, mode=mode)  # type: ignore[arg-type]
    state = begin(ranker, queries[:1], start).answered("a").answered("b")
    assert state.outlook(answers=3, worlds=4).now >= 0
    assert state.profile.mode in (mode, "hours")
