"""Working out what waits without being stored: what is looked for when, and what stands of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.services.conftest import bring, memory, put, write
from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench, open_workbench
from workbench.services.review import finders

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
OLD = NOW - timedelta(days=40)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "shop" / "src").mkdir(parents=True)
    bench = open_workbench(
        tmp_path / "shop" / ".workbench", profiles=tmp_path / "profiles", clock=lambda: NOW
    )
    put(
        bench,
        memory("noise", "Nobody touched this.", OLD),
        memory("rule", "Start at src/client.py.", NOW, memory_type="semantic", status="confirmed"),
        *(memory(id, "Deploys need AUTH_SECRET in CI.", NOW) for id in ("one", "two")),
    )
    return bench


def never() -> bool:
    return False


def kinds(bench: Workbench) -> set[str]:
    return {proposal.kind for proposal in bench.review.found()}


def test_what_needs_the_model_waits_for_it_and_what_is_by_hand_for_a_person(
    bench: Workbench,
) -> None:
    out = bench.working_out.run(never)
    assert kinds(bench) == {"prune"}
    assert out.unready == ("merge",)
    assert out.unasked == ()
    assert out.problems == ()
    bench.working_out.run(never, load=True)
    assert kinds(bench) == {"prune", "merge"}
    bench.working_out.run(never, asked=True)
    assert kinds(bench) == {"prune", "merge", "stale"}
    assert bench.library.revision == 1


def test_a_large_store_is_looked_through_only_when_asked(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finders, "SMALL", 2)
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
    write(
        bench,
        replace(bench.library.memories.get("noise"), access_count=1, last_accessed_at=NOW),
        by="agent:x",
    )
    assert bench.review.found() == ()
    with pytest.raises(WorkbenchError, match="No open proposal"):
        bench.review.approve([prune.id])
    bench.history.undo_revision(bench.library.revision)
    assert bench.review.found() == (prune,)


def test_a_name_tells_what_could_have_worked_it_out(bench: Workbench) -> None:
    assert bench.working_out.kind_of("prune-x-1") == "prune"
    assert bench.working_out.kind_of("reconfirm-x") == "reconfirm"
    assert bench.working_out.kind_of("mem-20260101-0000001") == ""
    assert bench.working_out.kind_of("forget-x-1") == "", "nobody works these out"


def test_a_file_that_changed_is_proposed_until_it_is_taken_in(
    bench: Workbench, tmp_path: Path
) -> None:
    file = tmp_path / "log.jsonl"
    row = '{"id": "f", "timestamp": "2026-03-19T10:00:00Z", "type": "error", "context": "One."}\n'
    bring(bench, file, row)

    def found() -> list[Proposal]:
        bench.working_out.run(never, only=("file",))
        return list(bench.review.found())

    assert found() == found() == []
    file.write_text(row.replace("One.", "Two."))
    (one,) = found()
    assert one.kind == "file"
    bench.review.approve([one.id])
    assert found() == []


def test_what_to_use_and_what_not_to_use_are_proposed_as_one(bench: Workbench) -> None:
    """Tier 2 without a key (source 001, 3.3): related words, or the same said of two things."""
    texts = ("Use pnpm", "Don't use npm", "Use tabs for indentation", "Never use spaces for indentation",
             "Use the staging database", "Never commit to main")  # fmt: skip
    put(bench, *(memory(f"said-{number}", text, NOW) for number, text in enumerate(texts)))
    with bench.library.transaction("agent:x", "prepare") as tx:
        for id in ("one", "two"):
            tx.delete(bench.library.memories.get(id))
    bench.working_out.run(never, only=("merge",), load=True)
    found = {one.operation["content"]: one for one in bench.review.found() if one.kind == "merge"}
    assert set(found) == {
        "Use pnpm; Don't use npm",
        "Use tabs for indentation; Never use spaces for indentation",
    }
    bench.review.approve([found["Use pnpm; Don't use npm"].id])
    assert [
        m.content
        for m in bench.library.memories.all()
        if "pnpm" in m.content and m.status == "signal"
    ] == ["Use pnpm; Don't use npm"]
    (left,) = (one for one in bench.review.found() if one.kind == "merge")
    bench.review.reject([left.id])
    bench.working_out.run(never, only=("merge",), load=True)
    assert [one for one in bench.review.found() if one.kind == "merge"] == []
