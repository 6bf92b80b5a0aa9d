"""How much the memories of a store resemble each other, at any threshold."""

from itertools import combinations
from pathlib import Path

import pytest

from workbench.config.loading import Settings
from workbench.config.paths import shipped
from workbench.core.duplicates.dedup import Conflict
from workbench.core.limits import DedupThresholds
from workbench.core.record import WorkStopped
from workbench.core.stream.memory import Memory, is_served
from workbench.services.demo import ANCHOR, fill
from workbench.services.duplicates import memories
from workbench.services.duplicates.comparing import FLOOR
from workbench.services.open import Workbench, open_workbench


def store(folder: Path, *texts: str, settings: Settings | None = None) -> Workbench:
    made = open_workbench(
        folder / "store", profiles=folder, clock=lambda: ANCHOR, settings=settings or Settings()
    )
    with made.library.transaction("agent:test", "prepare") as tx:
        for number, text in enumerate(texts):
            tx.put(Memory(f"m{number}", text, ANCHOR, ANCHOR))
    return made


@pytest.mark.slow
def test_every_close_pair_of_the_demo_is_known_and_the_closest_when_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = store(tmp_path)
    fill(bench, shipped("fixtures/demo"))
    found = bench.deduplication.likeness().comparison
    ranker = bench.retriever.ranker()
    vector = {
        m.id: ranker.vectors[row]
        for m, row in zip(ranker.pool.memories, range(len(ranker.pool)), strict=True)
    }
    assert {m.id for m in found.records} <= {
        m.id for m in ranker.pool.memories if is_served(m, ANCHOR)
    }
    for limit in (FLOOR, 0.75, 0.9):
        expected = {
            (a, b)
            for (a, one), (b, other) in combinations(enumerate(found.records), 2)
            if one.memory_type == other.memory_type
            and float(vector[one.id] @ vector[other.id]) >= limit
        }
        assert set(found.closest(limit)) == expected
    monkeypatch.setattr(memories, "MOST", 20)
    few = bench.deduplication.likeness()
    assert few.floor > FLOOR
    assert all(cosine >= FLOOR for cosine in few.comparison.cosines.values())
    steps: list[tuple[int, int]] = []
    bench.deduplication.likeness(progress=lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] > 0
    with pytest.raises(WorkStopped):
        bench.deduplication.likeness(cancelled=lambda: True)
    bench.close()


def test_the_preview_agrees_with_the_batch_deduplication(tmp_path: Path) -> None:
    made = store(
        tmp_path, "Use pnpm for installs in this repository", "Use pnpm for the installs in this repository.",
        "Raise the timeout to 30s", "Raise the timeout to 60s", "Raise the timeout to 30s.",
    )  # fmt: skip
    found = made.deduplication.likeness()
    assert not any(group.ordinary for group in found.groups(1.01))
    for threshold in (found.limits.review, found.limits.flag):
        near = [set(group.ids) for group in found.groups(threshold) if group.ordinary]
        assert near == [set(g.ids) for g in made.deduplication.plan(threshold).groups]
        assert len(near) == 2
    apart = next(group for group in found.groups(FLOOR) if group.kind == "apart")
    assert Conflict.NUMBERS in apart.conflicts
    # What a person keeps apart stays so at every threshold, and is counted, until a text changes.
    same = next(g for g in found.groups(found.limits.review) if set(g.ids) == {"m0", "m1"})
    made.deduplication.keep_both(same)
    kept = made.deduplication.likeness()
    assert kept.kept == 1
    assert not any({"m0", "m1"} <= set(group.ids) for group in kept.groups(FLOOR))
    made.stream.edit("m1", "Use pnpm for all the installs in this repository.")
    assert made.deduplication.likeness().kept == 0
    made.close()


def test_pairs_are_judged_by_the_order_that_the_settings_ask_for(tmp_path: Path) -> None:
    texts = (
        "Use pnpm for installs in this repository",
        "Use pnpm for the installs in this repository",
    )
    for order, action in ((95.0, "propose"), (90.0, "absorb")):
        settings = Settings(thresholds=DedupThresholds(order=order))
        made = store(tmp_path / action, *texts, settings=settings)
        (group,) = made.deduplication.plan().groups
        assert [pair.verdict.action for pair in group.pairs] == [action]
        made.close()
