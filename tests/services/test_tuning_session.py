"""A tuning session: settings, question, ranking and moves hang together without any screen."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.support import NOW, open_bench
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH, Profile
from workbench.services.demo import fill
from workbench.services.open import Workbench
from workbench.services.tuning.session import BEYOND, Moves, Settings, TuningSession

DEMO = Path(__file__).parent.parent.parent / "fixtures" / "demo"
ENGRAM = next(p for p in BUILT_IN if p.name == "engram")
RECENT = replace(WORKBENCH, recency=0.9)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    opened = open_bench(tmp_path_factory.mktemp("session"))
    fill(opened, DEMO)
    yield opened
    opened.close()


@pytest.fixture
def session(bench: Workbench) -> TuningSession:
    made = TuningSession(WORKBENCH, WORKBENCH, NOW)
    made.put(bench.tuning.question("secrets in CI"), NOW)
    return made


def listed(session: TuningSession) -> list[str]:
    return [standing.memory.id for standing in session.standings()]


def expected(session: TuningSession, profile: Profile, days: float = 0.0) -> list[str]:
    assert session.question is not None
    return list(session.question.rank(profile, NOW + timedelta(days=days), profile.k + BEYOND).ids)


def test_without_a_question_there_is_nothing_to_show() -> None:
    session = TuningSession(WORKBENCH, WORKBENCH, NOW)
    assert (session.ranking, session.standings(), session.explain("m1"), session.bounds()) == (
        None,
        (),
        None,
        None,
    )
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
    assert session.now == NOW - timedelta(days=30)
    nothing = replace(WORKBENCH, recency=0.0, importance=0.0, relevance=0.0)
    session.move("relevance", Settings(nothing))
    assert session.ranking is None
    session.revert()
    assert (session.settings, listed(session)) == (
        Settings(WORKBENCH),
        expected(session, WORKBENCH),
    )


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
    assert (move.slider, session.profile, listed(session)) == (
        "",
        RECENT,
        expected(session, RECENT),
    )
    session.undo()
    assert (session.profile, session.undo()) == (WORKBENCH, None)
    session.redo()
    assert listed(session) == expected(session, RECENT)
    session.load(ENGRAM, ENGRAM)
    assert (session.undo(), session.redo(), session.changed) == (None, None, False)


def test_a_memory_is_watched_while_it_takes_part(session: TuningSession, bench: Workbench) -> None:
    last = expected(session, WORKBENCH)[-1]
    session.watch(last)
    standing = session.standing(session.watched)
    assert standing is not None
    assert standing.memory.id == last
    session.watch("not there")
    assert (session.watched, session.standing("not there")) == (None, None)
    session.watch(last)
    session.put(bench.tuning.question("redis"), NOW)
    assert session.watched == last


def test_a_query_is_asked_at_its_own_moment_if_it_was_saved_with_one(
    session: TuningSession, bench: Workbench
) -> None:
    assert session.moment(NOW) == NOW
    session.query = next(query for query in bench.tuning.queries() if query.now is not None)
    assert session.moment(NOW) == session.query.now
    session.query = replace(session.query, now=None)
    assert session.moment(NOW) == NOW


def test_a_copy_stays_as_it_is(session: TuningSession) -> None:
    copy, before = session.copy(), session.ranking
    session.move("recency", Settings(RECENT))
    assert (copy.profile, copy.ranking) == (WORKBENCH, before)


@pytest.mark.parametrize(
    "moved", [Settings(WORKBENCH), Settings(RECENT), Settings(WORKBENCH, days=3.0)]
)
def test_what_a_copy_ranked_is_taken_over_unless_the_settings_moved(
    bench: Workbench, session: TuningSession, moved: Settings
) -> None:
    copy, later = session.copy(), NOW + timedelta(hours=1)
    copy.put(bench.tuning.question("deploy the api"), later)
    session.move("recency", moved)
    session.take(copy)
    assert (session.question, session.asked_at, session.settings) == (copy.question, later, moved)
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
