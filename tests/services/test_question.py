"""A question and a tuning session over the demo store with the real model: rankings, comparisons,
explanations and moves hang together without any screen.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.conftest import SOON
from workbench.core.record import InvalidRecord
from workbench.core.tuning.flips import Direction, just_beyond, nearest_flip
from workbench.core.tuning.profile import BUILT_IN, FACTORS, WORKBENCH, Factor, HalfLives, Profile
from workbench.core.tuning.scoring import DEAD_SPREAD
from workbench.services.open import Workbench
from workbench.services.tuning.session import (
    BEYOND,
    Moves,
    Question,
    Settings,
    TuningSession,
    standing_of,
    standings_of,
)

BOTH: tuple[Direction, ...] = (-1, 1)
PROFILES = [p for p in BUILT_IN if any((p.recency, p.importance, p.relevance))]


def weighted(factor: str, value: float) -> Profile:
    change: dict[str, Any] = {factor: value}
    return replace(WORKBENCH, **change)


def session_of(question: Question, profile: Profile) -> TuningSession:
    made = TuningSession(profile, profile, SOON)
    made.put(question, SOON)
    return made


@pytest.fixture(scope="module")
def question(asked: Workbench) -> Question:
    return asked.tuning.question("secrets in CI")


def test_standings_say_the_place_here_and_there(question: Question) -> None:
    other = replace(WORKBENCH, recency=0.9)
    baseline, ranking = question.rank(WORKBENCH, SOON, 1), question.rank(other, SOON, 50)
    for standing in standings_of(ranking, baseline):
        assert standing == standing_of(ranking, baseline, standing.memory.id)
        assert standing.place == ranking.place_of(standing.memory.id)
        assert standing.before == question.rank(WORKBENCH, SOON, 1).place_of(standing.memory.id)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_figure_follows_from_the_one_before(question: Question, profile: Profile) -> None:
    session = session_of(question, profile)
    assert session.ranking is not None
    for id in session.ranking.ids:
        found = session.explain(id)
        assert found is not None
        scored = found.standing.scored
        assert scored is not None
        for factor in FACTORS:
            bounds, raw = found.ranking.bounds[factor.id], scored.raw[factor.id]
            assert bounds.low <= raw <= bounds.high
            assert bounds.dead == (bounds.high - bounds.low <= DEAD_SPREAD)
            norm = 0.5 if bounds.dead else (raw - bounds.low) / (bounds.high - bounds.low)
            assert scored.norm[factor.id] == pytest.approx(
                raw if profile.scorer == "episodic" else norm
            )
            assert (
                scored.weighted[factor.id] == found.ranking.weight(factor) * scored.norm[factor.id]
            )
        assert sum(scored.weighted.values()) == pytest.approx(scored.total)
        raw = sum(share.amount for share in found.shares if share.part.how == "adds")
        for share in found.shares:
            if share.part.how == "adds":
                assert share.amount == pytest.approx(
                    share.value * (1.0 if share.times is None else share.times)
                )
            elif share.part.how == "multiplies":
                raw *= share.amount
        if profile.scorer == "episodic":
            assert found.terms[3].value == pytest.approx(raw)
            assert sum(term.weighted for term in found.terms) == pytest.approx(scored.total)
        else:
            assert raw == pytest.approx(scored.raw["relevance"])


def test_the_shares_follow_every_setting(asked: Workbench) -> None:
    question, id = asked.tuning.question("secrets in CI"), ""
    aged = replace(WORKBENCH, half_lives=HalfLives(episodic=2.0))
    for profile in (
        weighted("recency", 0.3),
        aged,
        WORKBENCH,
        replace(WORKBENCH, blend=0.2),
        *PROFILES,
    ):
        ranking = question.rank(profile, SOON, 5)
        id = id or ranking.ids[0]
        assert question.shares(ranking, id) == asked.tuning.question("secrets in CI").shares(
            ranking, id
        )
    assert question.shares(ranking, ranking.ids[1]) != question.shares(ranking, ranking.ids[0])


def test_the_bounds_are_set_by_memories_that_have_them(question: Question) -> None:
    session = session_of(question, WORKBENCH)
    assert session.ranking is not None
    found = session.explain(session.ranking.ids[0])
    assert found is not None
    for factor, ends in found.ends.items():
        bounds = found.ranking.bounds[factor]
        for memory, value in zip(ends, (bounds.low, bounds.high), strict=True):
            assert memory is not None
            scored = session.ranking.scored(memory.id)
            assert scored is not None
            assert scored.raw[factor] == value


def test_a_hidden_memory_has_a_reason_and_no_score(question: Question, asked: Workbench) -> None:
    session = session_of(question, WORKBENCH)
    hidden = next(m for m in asked.library.memories.all() if m.status == "candidate")
    found = session.explain(hidden.id)
    assert found is not None
    assert found.hidden == "waits for review"
    assert found.standing.scored is None
    assert found.standing.place is None
    assert session.ways(hidden.id, (1, 1, 1)) == ()
    assert session.explain("mem-of-nobody") is None


@pytest.mark.parametrize("factor", FACTORS, ids=lambda factor: factor.id)
def test_going_beyond_a_flip_swaps_the_two_rows_it_names(
    question: Question, factor: Factor
) -> None:
    session = session_of(question, WORKBENCH)
    ranking = question.rank(WORKBENCH, SOON)
    found = session.flips(factor, 1.0)
    assert found is not None
    here = ranking.weight(factor)
    nearest = [(d, nearest_flip(found, here, d)) for d in BOTH]
    assert any(flip for _, flip in nearest)
    for direction, flip in nearest:
        beyond = just_beyond(found, flip, direction, max(0, direction)) if flip else None
        if flip is None or beyond is None:
            continue
        after = question.rank(weighted(factor.weight, beyond), SOON)
        changed = [
            i for i, (a, b) in enumerate(zip(ranking.ids, after.ids, strict=True), 1) if a != b
        ]
        assert changed == [p for p in (flip.place, flip.place + 1) if p <= WORKBENCH.k]


def test_a_named_weight_brings_a_memory_in_and_there_is_none_for_those_inside(
    question: Question,
) -> None:
    session, named = session_of(question, WORKBENCH), 0
    assert session.ranking is not None
    for id in session.ranking.ids:
        ways = session.ways(id, (1.0, 1.0, 1.0))
        named += len(ways)
        for way in ways:
            moved = question.rank(weighted(way.factor.weight, way.then), SOON)
            assert id in moved.ids
        assert [abs(w.then - w.now) for w in ways] == sorted(abs(w.then - w.now) for w in ways)
    assert named
    assert session.ways(session.ranking.ids[0], (1, 1, 1)) == ()


def test_moved_counts_places_that_hold_another_memory(question: Question) -> None:
    ranking, session = question.rank(WORKBENCH, SOON), session_of(question, WORKBENCH)
    assert session.moved(WORKBENCH, SOON) == 0
    other = replace(WORKBENCH, recency=1.0)
    there = question.rank(other, SOON)
    assert (
        session.moved(other, SOON)
        == sum(a != b for a, b in zip(ranking.ids, there.ids, strict=True))
        > 0
    )
    assert session.moved(replace(WORKBENCH, k=12), SOON) == 2
    assert session.moved(WORKBENCH, SOON - timedelta(days=3000)) == WORKBENCH.k


def test_a_profile_is_saved_under_a_new_name_and_replaced_only_by_its_own_child(
    asked: Workbench,
) -> None:
    tuning = asked.tuning
    saved = tuning.save(replace(WORKBENCH, recency=0.3), "mine", WORKBENCH.name)
    assert (
        tuning.profiles.get("mine")
        == saved
        == replace(WORKBENCH, name="mine", recency=0.3, about=saved.about)
    )
    assert "workbench" in saved.about
    for name, parent in (
        ("mine", WORKBENCH.name),
        ("Workbench", "mine"),
        ("../out", "mine"),
        ("", "mine"),
    ):
        with pytest.raises(InvalidRecord, match=r"already|built-in|cannot be a profile name"):
            tuning.save(saved, name, parent)
    assert tuning.save(replace(saved, k=3), "mine", "mine").k == tuning.profiles.get("mine").k == 3


# A session of tuning


ENGRAM = next(p for p in BUILT_IN if p.name == "engram")
RECENT = replace(WORKBENCH, recency=0.9)


@pytest.fixture
def session(asked: Workbench) -> TuningSession:
    made = TuningSession(WORKBENCH, WORKBENCH, SOON)
    made.put(asked.tuning.question("secrets in CI"), SOON)
    return made


def listed(session: TuningSession) -> list[str]:
    return [standing.memory.id for standing in session.standings()]


def expected(session: TuningSession, profile: Profile, days: float = 0.0) -> list[str]:
    assert session.question is not None
    return list(session.question.rank(profile, SOON + timedelta(days=days), profile.k + BEYOND).ids)


def test_without_a_question_there_is_nothing_to_show() -> None:
    session = TuningSession(WORKBENCH, WORKBENCH, SOON)
    assert session.ranking is None
    assert session.standings() == ()
    assert session.explain("m1") is None
    assert session.bounds() is None
    session.move("recency", Settings(RECENT))
    assert session.profile == RECENT
    assert session.ranking is None


@pytest.mark.slow
def test_the_ranking_follows_every_move(session: TuningSession) -> None:
    assert listed(session) == expected(session, WORKBENCH)
    session.move("recency", Settings(RECENT))
    assert listed(session) == expected(session, RECENT)
    assert session.changed
    session.move("now", Settings(RECENT, -30.0))
    assert listed(session) == expected(session, RECENT, -30.0)
    assert session.now == SOON - timedelta(days=30)
    nothing = replace(WORKBENCH, recency=0.0, importance=0.0, relevance=0.0)
    session.move("relevance", Settings(nothing))
    assert session.ranking is None
    session.load(session.saved, session.saved, 0.0)
    assert session.settings == Settings(WORKBENCH)
    assert listed(session) == expected(session, WORKBENCH)


def test_places_are_told_against_the_saved_profile_at_the_moment_that_is_asked_at(
    session: TuningSession,
) -> None:
    session.move("recency", Settings(RECENT))
    session.move("now", Settings(RECENT, -3.0))
    before = expected(session, WORKBENCH)
    for standing in session.standings():
        place = before.index(standing.memory.id) + 1 if standing.memory.id in before else None
        assert place is None or standing.before == place
    session.load(ENGRAM, ENGRAM)
    assert session.baseline is not None
    assert session.baseline.profile == ENGRAM


def test_moves_lead_back_and_again_until_something_else_is_loaded(session: TuningSession) -> None:
    session.move("recency", Settings(RECENT))
    session.load(replace(RECENT, importance=0.2), WORKBENCH)
    move = session.undo()
    assert move is not None
    assert move.slider == ""
    assert session.profile == RECENT
    assert listed(session) == expected(session, RECENT)
    session.undo()
    assert session.profile == WORKBENCH
    assert session.undo() is None
    session.redo()
    assert listed(session) == expected(session, RECENT)
    session.load(ENGRAM, ENGRAM)
    assert session.undo() is None
    assert session.redo() is None
    assert session.changed is False


def test_a_memory_is_watched_while_it_takes_part(session: TuningSession, asked: Workbench) -> None:
    last = expected(session, WORKBENCH)[-1]
    session.watch(last)
    standing = session.standing(session.watched)
    assert standing is not None
    assert standing.memory.id == last
    session.watch("not there")
    assert session.watched is None
    assert session.standing("not there") is None
    session.watch(last)
    session.put(asked.tuning.question("redis"), SOON)
    assert session.watched == last


def test_a_query_is_asked_at_its_own_moment_if_it_was_saved_with_one(
    session: TuningSession, asked: Workbench
) -> None:
    assert session.moment(SOON) == SOON
    session.query = next(query for query in asked.tuning.queries() if query.now is not None)
    assert session.moment(SOON) == session.query.now
    session.query = replace(session.query, now=None)
    assert session.moment(SOON) == SOON


@pytest.mark.parametrize(
    "moved", [Settings(WORKBENCH), Settings(RECENT), Settings(WORKBENCH, days=3.0)]
)
def test_what_a_copy_ranked_is_taken_over_unless_the_settings_moved(
    asked: Workbench, session: TuningSession, moved: Settings
) -> None:
    copy, later = session.copy(), SOON + timedelta(hours=1)
    copy.put(asked.tuning.question("deploy the api"), later)
    session.move("recency", moved)
    session.take(copy)
    assert session.question == copy.question
    assert session.asked_at == later
    assert session.settings == moved
    assert (session.ranking is copy.ranking) == (moved == copy.settings)
    assert session.ranking is not None
    assert session.against is not None
    assert session.question is not None
    assert (
        session.ranking.ids
        == session.question.rank(moved.profile, session.now, session.profile.k + BEYOND).ids
    )
    assert session.against.now == session.now


def test_a_watched_memory_that_is_gone_is_not_watched_by_what_a_copy_ranked(
    session: TuningSession,
) -> None:
    copy = session.copy()
    session.watched = "a memory that is gone"
    session.take(copy)
    assert session.watched is None


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(("recency", "now", "")), st.integers(0, 5)), max_size=12))
def test_every_move_can_be_taken_back_to_the_first_and_made_again_to_the_last(
    steps: list[tuple[str, int]],
) -> None:
    moves, here = Moves(), Settings(WORKBENCH)
    first = here
    for name, days in steps:
        there = Settings(WORKBENCH, float(days))
        moves.note(name, here, there)
        here = there
    last = here
    while (move := moves.back()) is not None:
        assert move.after == here
        here = move.before
    assert here == first
    while (move := moves.again()) is not None:
        assert move.before == here
        here = move.after
    assert here == last
