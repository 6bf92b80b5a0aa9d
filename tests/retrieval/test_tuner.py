"""Auto-tune: the table of settings equals ranking each of them, and the choice is honest about
itself.
"""

import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.retrieval.samples import T0, memories, memory, profiles, query_scores
from workbench.core.record import InvalidQuery, InvalidRecord, WorkStopped
from workbench.core.stream.memory import Memory
from workbench.core.tuning.autotune import Search
from workbench.core.tuning.measure import NDCG10, Measure
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH, HalfLives, Profile
from workbench.evaluation.pairs import (
    JudgedScores,
    Settings,
    contenders,
    places,
    settings_around,
    values,
    with_half_life,
)
from workbench.evaluation.tuner import best, dead_factors, propose, score_table, tune
from workbench.retrieval.arrays import Column, Vectors
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker

LATER = T0 + timedelta(days=3)
"""After everything that was stored."""


def no_vectors(texts: object) -> Vectors:
    raise AssertionError(texts)


def ranker_of(memories: list[Memory]) -> Ranker:
    return Ranker(
        Pool.build(memories),
        np.zeros((len(memories), 0), np.float32),
        LexicalIndex.build([""] * len(memories)),
        no_vectors,
    )


# The grid


def test_the_grid_has_every_step_and_seven_half_lives() -> None:
    for start in BUILT_IN:
        around = settings_around(start)
        assert len(around.weights) in (231, 232)
        # The episodes' own half-life is none of the seven.
        assert len(around.lives) == {"rank": 1}.get(
            start.mode, 8 if start.name == "episodic" else 7
        )
        assert around.weights.sum(axis=1) == pytest.approx(1)
        assert around.profile(0) == start
        assert around.distance[0] == 0
        assert (around.distance[1:] > 0).all()
    assert len({tuple(w) for w in settings_around(WORKBENCH).weights.round(6).tolist()}) == 231


def test_types_that_do_not_decay_stay_so() -> None:
    assert with_half_life(WORKBENCH, 14.0).half_lives == HalfLives(working=1.0, episodic=14.0)
    engram = next(p for p in BUILT_IN if p.name == "engram")
    assert with_half_life(engram, 3.0).half_lives == HalfLives(3.0, 3.0, 3.0, 3.0)
    assert with_half_life(replace(engram, half_lives=HalfLives()), 3.0).half_lives == HalfLives(
        episodic=3.0
    )


def test_a_neighbourhood_counts_more_than_a_peak() -> None:
    around = settings_around(WORKBENCH)
    flat = np.full(len(around), 0.4)
    assert around.smoothed(flat) == pytest.approx(flat)
    plateau = np.linalg.norm(around.weights - np.array([0.5, 0.3, 0.2]), axis=1) < 0.12
    peak = np.flatnonzero(np.abs(around.weights - np.array([0.1, 0.1, 0.8])).sum(axis=1) < 1e-9)
    means = np.zeros(len(around))
    means[: len(around.weights)][plateau] = 0.5
    means[peak] = 0.6
    chosen = best(around, means[:, None])
    assert around.weights[chosen % len(around.weights)] == pytest.approx([0.5, 0.3, 0.2], abs=0.11)


# Places


columns = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.just(3)),
    elements=st.sampled_from([0, 0.1, 0.5, 0.55, 0.9, 1.0]),
)


@pytest.mark.slow
@given(columns, st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_places_equal_a_full_sort_and_survive_leaving_rows_out(table: Column, depth: int) -> None:
    weights = settings_around(WORKBENCH, steps=4).weights
    rows = np.arange(len(table))
    got = places(table, weights, rows)
    for w, (recency, importance, relevance) in enumerate(weights.tolist()):
        totals = recency * table[:, 0] + importance * table[:, 1] + relevance * table[:, 2]
        order = np.lexsort((rows, -totals))
        assert got[order, w].tolist() == list(range(1, len(rows) + 1))
    keep = contenders(table, depth)
    fewer = places(table[keep], weights, np.arange(keep.sum()))
    assert np.array_equal(np.minimum(fewer, depth + 1), np.minimum(got[keep], depth + 1))
    assert (got[~keep] > depth).all()


# The table


@pytest.mark.slow
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_every_setting_gets_what_ranking_it_gives(data: st.DataObject) -> None:
    stored = data.draw(memories())
    start = data.draw(profiles())
    scores = data.draw(query_scores(len(stored)))
    ids = [m.id for m in stored]
    grades = data.draw(
        st.dictionaries(st.sampled_from([*ids, "elsewhere"]), st.integers(0, 3), max_size=6)
    )
    measure = Measure(
        data.draw(st.sampled_from(["ndcg", "mrr", "recall", "p"])), data.draw(st.integers(1, 12))
    )
    ranker, around = ranker_of(stored), settings_around(start, steps=3)
    got = values(ranker, JudgedScores(scores, grades, T0), around, measure)
    for number in data.draw(st.lists(st.integers(0, len(around) - 1), min_size=1, max_size=8)):
        ranking = ranker.rank(scores, around.profile(number), T0, measure.k)
        assert got[number] == pytest.approx(measure.of(ranking.ids, grades), abs=1e-12)


# The choice


def known_world(queries: int = 12) -> tuple[Ranker, list[JudgedScores], Profile]:
    """A store in which importance matters most, and grades that say so."""
    random = np.random.default_rng(3)
    stored = [memory(i, importance_score=float(random.integers(0, 11))) for i in range(300)]
    ranker = ranker_of(stored)
    truth = replace(WORKBENCH, recency=0.1, importance=0.6, relevance=0.3)
    judged = []
    for _ in range(queries):
        scores = QueryScores(
            "q", random.random(300).astype(np.float32), random.random(300).astype(np.float32)
        )
        ids = ranker.rank(scores, truth, LATER, 12).ids
        judged.append(JudgedScores(scores, {id: 3 - i // 4 for i, id in enumerate(ids)}, LATER))
    return ranker, judged, truth


@pytest.mark.slow
def test_it_finds_the_weights_behind_the_grades() -> None:
    ranker, judged, _ = known_world()
    seen: list[tuple[int, int]] = []
    found = tune(ranker, judged, WORKBENCH, progress=lambda done, total: seen.append((done, total)))
    assert found.profile.importance == pytest.approx(0.6, abs=0.15)
    assert found.after > found.before + 0.2
    assert found.verdict.outcome == "better"
    assert found.verdict.low < found.verdict.delta < found.verdict.high
    assert found.verdict.delta == pytest.approx(found.after - found.before)
    assert {m.parameter for m in found.moved} >= {"importance", "relevance"}
    assert (found.queries, found.folds, found.tried) == (12, 5, 231 * 7)
    assert seen[-1] == (12, 12)
    assert found == tune(ranker, judged, WORKBENCH)


def test_nothing_moves_when_nothing_is_better() -> None:
    stored = [memory(i) for i in range(20)]
    scores = QueryScores("q", np.linspace(0, 1, 20, dtype=np.float32), np.zeros(20, np.float32))
    judged = [JudgedScores(scores, {stored[-1].id: 3}, LATER)] * 4
    found = tune(ranker_of(stored), judged, replace(WORKBENCH, mode="off"))
    assert found.profile == found.start
    assert found.moved == ()
    assert (found.before, found.after, found.fitted) == (1.0, 1.0, 1.0)
    assert found.verdict.outcome == "unclear"


def test_what_is_there_is_kept_where_nothing_beats_it_on_queries_that_were_not_chosen_on() -> None:
    around = Settings(
        WORKBENCH, np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), (WORKBENCH,)
    )
    # Each setting is only good on the queries of one half, so what is chosen on one fails on the
    # other.
    table = np.array([[0.2, 0.2, 0.2, 0.2], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    found = propose(around, table, Search(folds=4))
    assert (found.fitted, found.after) == (0.5, 0.0)
    assert found.verdict.delta == pytest.approx(-0.2)
    assert found.keeps
    assert not found.beaten
    table[1] = 1.0
    few = propose(around, table, Search(folds=4))
    assert few.beaten
    assert (few.after, few.verdict.outcome, few.keeps) == (1.0, "unclear", True)
    assert not propose(around, np.tile(table, 3), Search(folds=4)).keeps


def test_the_start_counts_for_what_it_is_and_is_not_drawn_down_by_what_stands_around_it() -> None:
    around = settings_around(WORKBENCH)
    table = np.zeros((len(around), 3))
    table[0] = 0.9
    table[1:] = 0.5
    found = propose(around, table)
    assert (found.profile, found.keeps, found.moved) == (WORKBENCH, True, ())


def test_a_profile_of_ones_own_is_proposed_when_it_is_the_best() -> None:
    ranker, judged, truth = known_world()
    mine = [
        replace(truth, name="mine", k=3),
        replace(WORKBENCH, name="other", recency=0.9),
        WORKBENCH,
    ]
    found = tune(ranker, judged, WORKBENCH, contenders=mine)
    assert (found.profile, found.contender, found.tried) == (mine[0], "mine", 231 * 7 + 2)
    assert found.fitted == pytest.approx(1.0)
    assert not found.keeps


@pytest.mark.slow
def test_a_weight_that_the_queries_say_nothing_about_is_left_alone() -> None:
    ranker, judged, _ = known_world(40)
    alike = ranker_of([replace(m, importance_score=5.0) for m in ranker.pool.memories])
    assert dead_factors(ranker, judged, (WORKBENCH,)) == ()
    found = tune(alike, judged, replace(WORKBENCH, recency=0.3, importance=0.2, relevance=0.5))
    assert found.dead == ("importance",)
    assert found.profile.importance == pytest.approx(0.2)
    assert "importance" not in {moved.parameter for moved in found.moved}
    assert found.after > found.before
    around = settings_around(WORKBENCH, dead=("importance", "recency"))
    assert around.weights == pytest.approx(np.array([[0.05, 0.05, 0.9]]))
    assert len(settings_around(WORKBENCH, dead=("recency", "importance", "relevance")).weights) == 1


def test_what_moved() -> None:
    around = Settings(
        WORKBENCH,
        np.array([[0.05, 0.05, 0.9], [0.0, 0.05, 0.95]]),
        (WORKBENCH, with_half_life(WORKBENCH, None)),
    )
    table = np.zeros((4, 3))
    table[3] = 1.0
    found = propose(around, table)
    assert [m.parameter for m in found.moved] == ["recency", "relevance", "half-life"]
    assert [m.after for m in found.moved] == [0.0, pytest.approx(0.95), None]
    assert [m.before for m in found.moved] == pytest.approx(
        [0.05, 0.9, WORKBENCH.half_lives.episodic]
    )
    assert found.folds == 3


def test_it_can_be_stopped() -> None:
    ranker, judged, _ = known_world(40)
    before = threading.active_count()
    with pytest.raises(WorkStopped):
        score_table(ranker, judged, settings_around(WORKBENCH), NDCG10, cancelled=lambda: True)
    assert threading.active_count() == before


def test_friendly_refusals() -> None:
    ranker, judged, _ = known_world(2)
    with pytest.raises(InvalidQuery, match="at least two judged queries"):
        tune(ranker, judged[:1], WORKBENCH)
    with pytest.raises(InvalidQuery, match="two folds"):
        tune(ranker, judged, WORKBENCH, Search(folds=1))
    with pytest.raises(InvalidRecord, match="weights are zero"):
        tune(ranker, judged, replace(WORKBENCH, recency=0.0, importance=0.0, relevance=0.0))
    with pytest.raises(InvalidRecord, match="not a number"):
        tune(ranker, judged, replace(WORKBENCH, recency=float("nan")))


def test_an_empty_store_scores_nothing() -> None:
    nothing = QueryScores("q", np.zeros(0, np.float32), np.zeros(0, np.float32))
    table = score_table(
        ranker_of([]), [JudgedScores(nothing, {"a": 1}, T0)], settings_around(WORKBENCH), NDCG10
    )
    assert not table.any()
