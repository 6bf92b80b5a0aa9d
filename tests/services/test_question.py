"""A question's comparisons and explanations, over the demo store with the real model."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.tui.support import NOW, open_bench
from workbench.core.record import InvalidRecord
from workbench.core.tuning.flips import Direction, just_beyond, nearest_flip
from workbench.core.tuning.profile import BUILT_IN, FACTORS, WORKBENCH, Factor, HalfLives, Profile
from workbench.core.tuning.scoring import DEAD_SPREAD
from workbench.services.demo import fill
from workbench.services.open import Workbench
from workbench.services.tuning.session import Question, TuningSession, standing_of, standings_of

DEMO = Path(__file__).parent.parent.parent / "fixtures" / "demo"
BOTH: tuple[Direction, ...] = (-1, 1)
PROFILES = [p for p in BUILT_IN if any((p.recency, p.importance, p.relevance))]


def weighted(factor: str, value: float) -> Profile:
    change: dict[str, Any] = {factor: value}
    return replace(WORKBENCH, **change)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    opened = open_bench(tmp_path_factory.mktemp("question"))
    fill(opened, DEMO)
    yield opened
    opened.close()


def session_of(question: Question, profile: Profile) -> TuningSession:
    made = TuningSession(profile, profile, NOW)
    made.put(question, NOW)
    return made


@pytest.fixture(scope="module")
def question(bench: Workbench) -> Question:
    return bench.tuning.question("secrets in CI")


def test_standings_say_the_place_here_and_there(question: Question) -> None:
    other = replace(WORKBENCH, recency=0.9)
    baseline, ranking = question.rank(WORKBENCH, NOW, 1), question.rank(other, NOW, 50)
    for standing in standings_of(ranking, baseline):
        assert standing == standing_of(ranking, baseline, standing.memory.id)
        assert standing.place == ranking.place_of(standing.memory.id)
        assert standing.before == question.rank(WORKBENCH, NOW, 1).place_of(standing.memory.id)


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


def test_the_shares_follow_every_setting(bench: Workbench) -> None:
    asked, id = bench.tuning.question("secrets in CI"), ""
    aged = replace(WORKBENCH, half_lives=HalfLives(episodic=2.0))
    for profile in (
        weighted("recency", 0.3),
        aged,
        WORKBENCH,
        replace(WORKBENCH, blend=0.2),
        *PROFILES,
    ):
        ranking = asked.rank(profile, NOW, 5)
        id = id or ranking.ids[0]
        assert asked.shares(ranking, id) == bench.tuning.question("secrets in CI").shares(
            ranking, id
        )
    assert asked.shares(ranking, ranking.ids[1]) != asked.shares(ranking, ranking.ids[0])


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


def test_a_hidden_memory_has_a_reason_and_no_score(question: Question, bench: Workbench) -> None:
    session = session_of(question, WORKBENCH)
    hidden = next(m for m in bench.library.memories.all() if m.status == "candidate")
    found = session.explain(hidden.id)
    assert found is not None
    assert (found.hidden, found.standing.scored, found.standing.place) == (
        "waits for review",
        None,
        None,
    )
    assert session.ways(hidden.id, (1, 1, 1)) == ()
    assert session.explain("mem-of-nobody") is None


@pytest.mark.parametrize("factor", FACTORS, ids=lambda factor: factor.id)
def test_going_beyond_a_flip_swaps_the_two_rows_it_names(
    question: Question, factor: Factor
) -> None:
    session = session_of(question, WORKBENCH)
    ranking = question.rank(WORKBENCH, NOW)
    found = session.flips(factor, 1.0)
    assert found is not None
    here = ranking.weight(factor)
    nearest = [(d, nearest_flip(found, here, d)) for d in BOTH]
    assert any(flip for _, flip in nearest)
    for direction, flip in nearest:
        beyond = just_beyond(found, flip, direction, max(0, direction)) if flip else None
        if flip is None or beyond is None:
            continue
        after = question.rank(weighted(factor.weight, beyond), NOW)
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
            moved = question.rank(weighted(way.factor.weight, way.then), NOW)
            assert id in moved.ids
        assert [abs(w.then - w.now) for w in ways] == sorted(abs(w.then - w.now) for w in ways)
    assert named
    assert session.ways(session.ranking.ids[0], (1, 1, 1)) == ()


def test_moved_counts_places_that_hold_another_memory(question: Question) -> None:
    ranking, session = question.rank(WORKBENCH, NOW), session_of(question, WORKBENCH)
    assert session.moved(WORKBENCH, NOW) == 0
    other = replace(WORKBENCH, recency=1.0)
    there = question.rank(other, NOW)
    assert (
        session.moved(other, NOW)
        == sum(a != b for a, b in zip(ranking.ids, there.ids, strict=True))
        > 0
    )
    assert session.moved(replace(WORKBENCH, k=12), NOW) == 2
    assert session.moved(WORKBENCH, NOW - timedelta(days=3000)) == WORKBENCH.k


def test_a_profile_is_saved_under_a_new_name_and_replaced_only_by_its_own_child(
    bench: Workbench,
) -> None:
    tuning = bench.tuning
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
