"""A question's comparisons and explanations, over the demo store with the real model."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.tui.support import NOW, open_bench
from workbench.core.record import InvalidRecord, UnknownRecord
from workbench.core.tuning.flips import Direction, just_beyond, nearest_flip
from workbench.core.tuning.profile import BUILT_IN, FACTORS, WORKBENCH, Factor, HalfLives, Profile
from workbench.core.tuning.scoring import DEAD_SPREAD
from workbench.services.demo import fill
from workbench.services.open import Workbench
from workbench.services.tuning.session import Question

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


@pytest.fixture(scope="module")
def question(bench: Workbench) -> Question:
    return bench.tuning.question("secrets in CI")


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_the_baseline_places_every_memory_as_the_ranking_does(question: Question, profile: Profile) -> None:
    baseline = question.baseline(profile, NOW)
    ranking = question.rank(profile, NOW, 1000)
    listed = [baseline.place(ranking.pool.row(id)) for id in ranking.ids]
    assert listed == list(range(1, len(listed) + 1))
    hidden = set(ranking.pool.row_of) - set(ranking.ids)
    assert hidden
    assert {baseline.place(ranking.pool.row(id)) for id in hidden} == {None}


def test_no_memory_is_put_in_order_beside_a_ranking_that_is_made_alike(question: Question) -> None:
    baseline, ranking = question.baseline(WORKBENCH, NOW), question.rank(WORKBENCH, NOW, 20)
    standings = question.standings(ranking, baseline)
    assert [(s.place, s.before) for s in standings] == [(place, place) for place in range(1, len(standings) + 1)]
    assert "places" not in vars(baseline)
    assert [baseline.place(ranking.pool.row(s.memory.id)) for s in standings] == [s.before for s in standings]


def test_standings_say_the_place_here_and_there(question: Question) -> None:
    other = replace(WORKBENCH, recency=0.9)
    baseline, ranking = question.baseline(WORKBENCH, NOW), question.rank(other, NOW, 50)
    for standing in question.standings(ranking, baseline):
        assert standing == question.standing(ranking, baseline, standing.memory.id)
        assert standing.place == ranking.place_of(standing.memory.id)
        assert standing.before == question.rank(WORKBENCH, NOW, 1).place_of(standing.memory.id)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_figure_follows_from_the_one_before(question: Question, profile: Profile) -> None:
    baseline, ranking = question.baseline(profile, NOW), question.rank(profile, NOW, 30)
    for id in ranking.ids:
        found = question.explain(ranking, baseline, id)
        assert [p.factor for p in found.parts] == list(FACTORS)
        for part in found.parts:
            assert part.low <= part.raw <= part.high
            assert part.dead == (part.high - part.low <= DEAD_SPREAD)
            norm = 0.5 if part.dead else (part.raw - part.low) / (part.high - part.low)
            assert part.norm == pytest.approx(part.raw if profile.scorer == "episodic" else norm)
            assert part.weighted == part.weight * part.norm
        assert found.standing.scored is not None
        assert sum(p.weighted for p in found.parts) == pytest.approx(found.standing.scored.total)
        raw = sum(share.amount for share in found.shares if share.part.how == "adds")
        for share in found.shares:
            if share.part.how == "adds":
                assert share.amount == pytest.approx(share.value * (1.0 if share.times is None else share.times))
            elif share.part.how == "multiplies":
                raw *= share.amount
        if profile.scorer == "episodic":
            assert found.terms[3].value == pytest.approx(raw)
            assert sum(term.weighted for term in found.terms) == pytest.approx(found.standing.scored.total)
        else:
            assert raw == pytest.approx(found.parts[2].raw)
        assert found.pool == len(ranking.candidates)


def test_a_weight_leaves_the_shares_as_they_are_and_all_else_makes_them_anew(bench: Workbench) -> None:
    asked, id = bench.tuning.question("secrets in CI"), ""
    moved: list[Profile] = [weighted("recency", 0.3), replace(WORKBENCH, half_lives=HalfLives(episodic=2.0)), WORKBENCH]
    moved += [replace(WORKBENCH, blend=0.2), replace(WORKBENCH, lexical="bm25"), *PROFILES, WORKBENCH]
    before = None
    for number, profile in enumerate(moved):
        ranking = asked.rank(profile, NOW, 5)
        id = id or ranking.ids[0]
        shares = asked.shares(ranking, id)
        assert shares == bench.tuning.question("secrets in CI").shares(ranking, id)
        assert number not in (1, 2) or shares is before
        before = shares
    ranking = asked.rank(WORKBENCH, NOW, 5)
    assert asked.shares(ranking, ranking.ids[1]) != asked.shares(ranking, ranking.ids[0])


def test_the_bounds_are_set_by_memories_that_have_them(question: Question) -> None:
    baseline, ranking = question.baseline(WORKBENCH, NOW), question.rank(WORKBENCH, NOW, 1)
    parts = question.explain(ranking, baseline, ranking.ids[0]).parts
    for index, part in enumerate(parts):
        assert part.low_by is not None
        assert part.high_by is not None
        low = question.explain(ranking, baseline, part.low_by.id).parts[index]
        high = question.explain(ranking, baseline, part.high_by.id).parts[index]
        assert (low.raw, high.raw) == (part.low, part.high)


def test_a_hidden_memory_has_a_reason_and_no_parts(question: Question, bench: Workbench) -> None:
    baseline, ranking = question.baseline(WORKBENCH, NOW), question.rank(WORKBENCH, NOW)
    hidden = next(m for m in bench.library.memories.all() if m.status == "candidate")
    found = question.explain(ranking, baseline, hidden.id)
    assert (found.hidden, found.parts, found.standing.place) == ("waits for review", (), None)
    assert question.ways(ranking, hidden.id, (1, 1, 1)) == ()
    with pytest.raises(UnknownRecord):
        question.explain(ranking, baseline, "mem-of-nobody")


@pytest.mark.parametrize("factor", FACTORS, ids=lambda factor: factor.id)
def test_going_beyond_a_flip_swaps_the_two_rows_it_names(question: Question, factor: Factor) -> None:
    ranking = question.rank(WORKBENCH, NOW)
    found = question.flips(ranking, factor, 1.0)
    here = ranking.weight(factor)
    nearest = [(d, nearest_flip(found, here, d)) for d in BOTH]
    assert any(flip for _, flip in nearest)
    for direction, flip in nearest:
        beyond = just_beyond(found, flip, direction, max(0, direction)) if flip else None
        if flip is None or beyond is None:
            continue
        after = question.rank(weighted(factor.weight, beyond), NOW)
        changed = [i for i, (a, b) in enumerate(zip(ranking.ids, after.ids, strict=True), 1) if a != b]
        assert changed == [p for p in (flip.place, flip.place + 1) if p <= WORKBENCH.k]


def test_a_named_weight_brings_a_memory_in_and_there_is_none_for_those_inside(question: Question) -> None:
    ranking = question.rank(WORKBENCH, NOW, 60)
    named = 0
    for id in ranking.ids:
        ways = question.ways(ranking, id, (1.0, 1.0, 1.0))
        named += len(ways)
        for way in ways:
            moved = question.rank(weighted(way.factor.weight, way.then), NOW)
            assert id in moved.ids
        assert [abs(w.then - w.now) for w in ways] == sorted(abs(w.then - w.now) for w in ways)
    assert named
    assert question.ways(ranking, ranking.ids[0], (1, 1, 1)) == ()


def test_moved_counts_places_that_hold_another_memory(question: Question) -> None:
    ranking = question.rank(WORKBENCH, NOW)
    assert question.moved(ranking, WORKBENCH, NOW) == 0
    other = replace(WORKBENCH, recency=1.0)
    there = question.rank(other, NOW)
    assert question.moved(ranking, other, NOW) == sum(a != b for a, b in zip(ranking.ids, there.ids, strict=True)) > 0
    assert question.moved(ranking, replace(WORKBENCH, k=12), NOW) == 2
    assert question.moved(ranking, WORKBENCH, NOW - timedelta(days=3000)) == WORKBENCH.k


def test_a_profile_is_saved_under_a_new_name_and_replaced_only_by_its_own_child(bench: Workbench) -> None:
    tuning = bench.tuning
    saved = tuning.save(replace(WORKBENCH, recency=0.3), "mine", WORKBENCH.name)
    assert tuning.profiles.get("mine") == saved == replace(WORKBENCH, name="mine", recency=0.3, about=saved.about)
    assert "workbench" in saved.about
    for name, parent in (("mine", WORKBENCH.name), ("Workbench", "mine"), ("../out", "mine"), ("", "mine")):
        with pytest.raises(InvalidRecord, match=r"already|built-in|cannot be a profile name"):
            tuning.save(saved, name, parent)
    assert tuning.save(replace(saved, k=3), "mine", "mine").k == tuning.profiles.get("mine").k == 3
