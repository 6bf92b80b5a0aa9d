"""Close pairs of memories, counted at any threshold."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from workbench.config.loading import Settings
from workbench.config.paths import shipped
from workbench.core.duplicates.dedup import Conflict
from workbench.core.limits import DedupThresholds
from workbench.core.record import WorkStopped
from workbench.core.stream.memory import SERVED, Memory
from workbench.services.demo import ANCHOR, fill
from workbench.services.duplicates import deduplication
from workbench.services.duplicates.bullet_groups import MEMORIES, Comparison, Judge
from workbench.services.duplicates.deduplication import FLOOR, Apart, MemoryPairs, memory_pairs_of
from workbench.services.open import Workbench, open_workbench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    folder = tmp_path_factory.mktemp("alike")
    made = open_workbench(folder / "store", profiles=folder / "profiles", clock=lambda: ANCHOR)
    fill(made, shipped("fixtures/demo"))
    yield made
    made.close()


@pytest.mark.slow
def test_every_pair_is_found_once(bench: Workbench) -> None:
    found = memory_pairs_of(bench.retriever)
    ranker = bench.retriever.ranker()
    rows = [i for i, m in enumerate(ranker.pool.memories) if m.status in SERVED]
    for threshold in (FLOOR, 0.75, 0.9):
        expected = {
            frozenset((ranker.pool.memories[a].id, ranker.pool.memories[b].id))
            for a, b in combinations(rows, 2)
            if float(ranker.vectors[a] @ ranker.vectors[b]) >= threshold
        }
        pairs = found.pairs(threshold, 100_000)
        assert {frozenset((p.older.id, p.newer.id)) for p in pairs} == expected
        assert len(pairs) == found.count(threshold) == len(expected)
    assert np.all(np.diff(found.cosines) <= 0)


def test_what_remains_agrees_with_the_batch_deduplication(tmp_path: Path) -> None:
    made = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)
    texts = ("Use pnpm for installs in this repository", "Use pnpm for the installs in this repository.",
             "Raise the timeout to 30s", "Raise the timeout to 60s", "Raise the timeout to 30s.")  # fmt: skip
    with made.library.transaction("agent:test", "prepare") as tx:
        for number, text in enumerate(texts):
            tx.put(Memory(f"m{number}", text, ANCHOR, ANCHOR))
    found = memory_pairs_of(made.retriever)
    assert found.remaining(1.01) == 5
    for threshold in (found.review, found.flag):
        assert 5 - found.remaining(threshold) == made.deduplication.plan(threshold).surplus == 2
    said = {(p.older.id, p.newer.id): p.apart for p in found.pairs(FLOOR, 100)}
    assert said[("m0", "m1")] is None
    assert said[("m2", "m3")] == Apart("texts", (Conflict.NUMBERS,))
    assert str(said[("m2", "m3")]) == "numbers differ"
    # What a person keeps apart stays so at every threshold, and is counted by itself, until a text
    # changes.
    same = next(
        g for g in made.deduplication.plan(found.review).groups if set(g.ids) == {"m0", "m1"}
    )
    made.deduplication.keep_both(same)
    kept = memory_pairs_of(made.retriever, kept=made.library.kept_apart())
    assert [
        {p.older.id, p.newer.id} for p in kept.pairs(FLOOR, 100) if p.apart == Apart("kept")
    ] == [{"m0", "m1"}]
    assert (kept.kept(FLOOR), kept.kept(1.01)) == (1, 0)
    assert kept.differing(FLOOR) == found.differing(FLOOR)
    assert 5 - kept.remaining(kept.review) == made.deduplication.plan(kept.review).surplus == 1
    made.stream.edit("m1", "Use pnpm for all the installs in this repository.")
    assert memory_pairs_of(made.retriever, kept=made.library.kept_apart()).kept(FLOOR) == 0
    made.close()


def test_pairs_are_judged_by_the_order_that_the_settings_ask_for(tmp_path: Path) -> None:
    texts = (
        "Use pnpm for installs in this repository",
        "Use pnpm for the installs in this repository",
    )
    for order, action in ((95.0, "propose"), (90.0, "absorb")):
        settings = Settings(thresholds=DedupThresholds(order=order))
        made = open_workbench(
            tmp_path / action, profiles=tmp_path, clock=lambda: ANCHOR, settings=settings
        )
        with made.library.transaction("agent:test", "prepare") as tx:
            for number, text in enumerate(texts):
                tx.put(Memory(f"m{number}", text, ANCHOR, ANCHOR))
        found = memory_pairs_of(made.retriever)
        (pair,) = found.pairs(found.review, 10)
        (group,) = made.deduplication.plan(found.review).groups
        assert found.comparison.judge.verdict(pair.older, pair.newer).action == action
        assert [other.verdict.action for other in group.pairs] == [action]
        made.close()


@pytest.mark.slow
def test_pairs_that_health_keeps_apart_have_its_reason_and_do_not_merge(bench: Workbench) -> None:
    found = memory_pairs_of(bench.retriever)
    threshold = found.review
    pairs = {frozenset((p.older.id, p.newer.id)): p for p in found.pairs(threshold, 100_000)}
    apart = bench.deduplication.plan(threshold).apart
    assert apart
    for group in apart:
        assert pairs[frozenset(group.ids)].apart == Apart("texts", group.pairs[0].verdict.conflicts)
    assert found.differing(threshold) == sum(1 for p in pairs.values() if p.apart) >= len(apart)
    merging = [p for p in pairs.values() if not p.apart]
    assert len(found.memories) - found.remaining(threshold) <= len(merging) < len(pairs)


@pytest.mark.slow
def test_only_the_most_similar_are_kept_and_the_floor_says_so(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = memory_pairs_of(bench.retriever)
    monkeypatch.setattr(deduplication, "MOST_PAIRS", 20)
    few = memory_pairs_of(bench.retriever)
    assert len(few.cosines) == 20
    assert few.cosines.tolist() == pytest.approx(every.cosines[:20].tolist(), abs=1e-6)
    assert few.floor == few.cosines[-1]


@pytest.mark.slow
def test_it_can_be_stopped_and_tells_how_far_it_is(bench: Workbench) -> None:
    steps: list[tuple[int, int]] = []
    found = memory_pairs_of(bench.retriever, lambda done, total: steps.append((done, total)))
    assert steps[-1] == (len(found.memories), len(found.memories))
    with pytest.raises(WorkStopped):
        memory_pairs_of(bench.retriever, cancelled=lambda: True)
    assert Path(bench.library.folder).exists()


def test_a_pair_at_the_threshold_counts() -> None:
    cosines = np.array([0.9, 0.8, 0.8, 0.7])
    judge = Judge(MEMORIES, DedupThresholds())
    nothing = Comparison[Memory]((), np.zeros((0, 4), np.float32), judge, lambda *_: False, most=1)
    found = MemoryPairs(nothing, cosines, (None, Apart("types"), Apart("kept"), None), 0.9, 0.75)
    assert [found.count(limit) for limit in (0.95, 0.9, 0.8, 0.75, 0.7)] == [0, 1, 3, 3, 4]
    assert [found.differing(limit) for limit in (0.9, 0.8)] == [0, 1]
    assert [found.kept(limit) for limit in (0.9, 0.8)] == [0, 1]
