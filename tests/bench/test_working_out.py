"""Working out what waits without being stored: what is looked for when, and what stands of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.bench.open import Workbench, open_workbench
from workbench.bench.review import working_out
from workbench.core.errors import WorkbenchError
from workbench.core.stream.memory import Memory

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
OLD = NOW - timedelta(days=40)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "shop" / "src").mkdir(parents=True)
    bench = open_workbench(tmp_path / "shop" / ".workbench", profiles=tmp_path / "profiles", clock=lambda: NOW)
    with bench.library.transaction("agent:x", "prepare") as tx:
        tx.put(Memory("noise", "Nobody touched this.", OLD, OLD))
        tx.put(Memory("rule", "Start at src/client.py.", NOW, NOW, memory_type="semantic", status="confirmed"))
        for id in ("one", "two"):
            tx.put(Memory(id, "Deploys need AUTH_SECRET in CI.", NOW, NOW))
    return bench


def never() -> bool:
    return False


def kinds(bench: Workbench) -> set[str]:
    return {proposal.kind for proposal in bench.review.found()}


def test_what_needs_the_model_waits_for_it_and_what_is_by_hand_for_a_person(bench: Workbench) -> None:
    out = bench.working_out.run(never)
    assert (kinds(bench), out.unready, out.unasked, out.problems) == ({"prune"}, ("merge",), (), ())
    bench.working_out.run(never, load=True)
    assert kinds(bench) == {"prune", "merge"}
    bench.working_out.run(never, asked=True)
    assert kinds(bench) == {"prune", "merge", "stale"}
    assert bench.library.revision == 1


def test_a_large_store_is_looked_through_only_when_asked(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_out, "SMALL", 2)
    out = bench.working_out.run(never)
    assert kinds(bench) == set()
    assert {"merge", "prune", "instructions", "pattern"} <= set(out.unasked)
    assert not {"file", "trust", "documents", "stale"} & set(out.unasked)
    assert bench.working_out.run(never, quick=True).unasked == ()
    bench.working_out.run(never, asked=True)
    assert "prune" in kinds(bench)


def test_one_that_is_stopped_leaves_what_was_found_before(bench: Workbench) -> None:
    bench.working_out.run(never)
    bench.working_out.run(lambda: True, asked=True)
    assert kinds(bench) == {"prune"}


def test_one_stands_as_long_as_its_memories_are_as_they_were(bench: Workbench) -> None:
    bench.working_out.run(never)
    (prune,) = bench.review.found()
    with bench.library.transaction("agent:x", "touch") as tx:
        tx.put(replace(bench.library.memories.get("noise"), access_count=1, last_accessed_at=NOW))
    assert bench.review.found() == ()
    with pytest.raises(WorkbenchError, match="No proposal"):
        bench.review.approve([prune.id])
    bench.history.undo_revision(bench.library.revision)
    assert bench.review.found() == (prune,)


def test_a_name_tells_what_could_have_worked_it_out(bench: Workbench) -> None:
    assert bench.working_out.kind_of("prune-x-1") == "prune"
    assert bench.working_out.kind_of("reconfirm-x") == "reconfirm"
    assert bench.working_out.kind_of("mem-20260101-0000001") == ""
    assert bench.working_out.kind_of("forget-x-1") == "", "nobody works these out"
