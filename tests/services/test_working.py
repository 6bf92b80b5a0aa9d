"""Working memories in a store: volatile until a snapshot, shared by processes, corrected, undone,
cleared, erased.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.conftest import Clock, Open, holding, memory, put
from workbench.core.agents.working import Variable
from workbench.core.record import InvalidRecord, UnknownRecord
from workbench.services.agents.working import WorkingSession, sessions
from workbench.services.health.doctor import examine
from workbench.services.open import Workbench
from workbench.store.maintenance import backup

KEY = "AKIAZ7QWERTYUI5PLMNB"


@pytest.fixture
def working(bench: Workbench) -> WorkingSession:
    return WorkingSession(bench.context, "s1")


def stored(bench: Workbench) -> dict[str, object]:
    bench.library.refresh()
    return {one.name: one.value for one in bench.library.table(Variable).all()}


def file_of(bench: Workbench) -> Path:
    return bench.library.folder / "working" / "s1.json"


def revisions(bench: Workbench) -> Iterator[str]:
    return (entry.label for entry in bench.library.changes_back())


def test_set_is_volatile_and_a_snapshot_durable_in_the_file_too(
    bench: Workbench, working: WorkingSession, open_bench: Open
) -> None:
    assert working.set("goal", "add JWT")["durable"] is False
    assert working.get("goal") == "add JWT"
    assert stored(bench) == {}
    assert working.snapshot("first")["durable"] is True
    assert WorkingSession(open_bench().context, "s1").get("goal") == "add JWT"
    doc = json.loads(file_of(bench).read_text())
    assert doc["task_scope"] == {"goal": "add JWT"}
    assert doc["global"] == {}
    assert list(revisions(bench)) == ["snapshot working memory s1: first"]


def test_two_processes_on_one_session_lose_nothing(
    working: WorkingSession, open_bench: Open
) -> None:
    other = WorkingSession(open_bench("agent:b").context, "s1")
    for _ in range(3):
        working.set("files", "a.py", "accumulator")
        other.set("files", "b.py", "accumulator")
        other.add_intermediate("st_1", "PyJWT")
        other.snapshot()
        working.set("goal", "g")
        working.snapshot()
    assert sorted(working.get("files")) == ["a.py"] * 3 + ["b.py"] * 3  # type: ignore[call-overload]
    assert working.get("st_1", "intermediate") == {"output": "PyJWT"}
    assert other.get("goal") == "g"


def test_a_prune_that_was_broken_off_loses_nothing_and_twice_is_once(
    bench: Workbench, working: WorkingSession
) -> None:
    for n in range(9):
        working.add_intermediate(f"st_{n}", f"found {n}")
    working.snapshot()
    before = file_of(bench).read_bytes()
    assert len(working.prune()["moved"]) == 3
    file_of(bench).write_bytes(before)  # killed before the file was written
    again = WorkingSession(bench.context, "s1")
    assert [again.get(f"st_{n}", "intermediate") for n in range(9)] == [
        {"output": f"found {n}"} for n in range(9)
    ]
    rev = bench.library.revision
    assert again.prune()["moved"] == ()
    assert bench.library.revision - rev <= 1
    assert len(json.loads(file_of(bench).read_text())["intermediate_values"]) == 6


def test_a_rollback_goes_back_to_what_was_stored_and_then_to_the_snapshot_before(
    working: WorkingSession,
) -> None:
    with pytest.raises(UnknownRecord, match="no snapshot"):
        working.rollback()
    working.set("n", 1)
    first = working.snapshot()["revision"]
    working.set("n", 2)
    working.set("more", True)
    working.snapshot()
    working.set("n", 3)
    working.rollback()
    assert working.get("n") == 2
    working.rollback()
    assert working.get("n") == 1
    assert working.get("more") is None
    working.set("n", 9)
    working.snapshot()
    working.rollback(first)
    assert working.get("n") == 1


def test_clearing_keeps_the_metadata_an_episode_of_all_results_and_ends_the_sessions_working_memories(
    bench: Workbench, working: WorkingSession
) -> None:
    own, other = ("mem-20261121-0000001", "s1"), ("mem-20261121-0000002", "s2")
    put(
        bench,
        *(
            memory(id, f"note {id}", memory_type="working", session_id=session)
            for id, session in (own, other)
        ),
    )
    working.init("Add JWT to auth.py. Tests must pass.", system={"tools": ["pytest"]})
    working.set("tokens_used", 15_420, "metadata")
    for n in range(9):
        working.add_intermediate(f"st_{n}", f"found {n}")
    working.prune()
    done = working.clear("SUCCESS", "it works")
    body = bench.episodes.open(done["episode"]).body
    trace = body.get("execution.trace")
    assert isinstance(trace, list)
    assert [row["output"] for row in trace] == [f"found {n}" for n in range(9)]
    assert body.outcome == "SUCCESS"
    assert body.task == "Add JWT to auth.py. Tests must pass."
    assert body.session == "s1"
    assert {name.split(".")[0] for name in stored(bench)} == {"metadata"}
    assert working.get("tokens_used", "metadata") == 15_420
    assert [bench.library.memories.get(id).status for id, _ in (own, other)] == [
        "archived",
        "signal",
    ]
    assert working.clear()["episode"] is None
    assert len(bench.episodes.all()) == 1
    bench.history.undo()
    assert working.get("st_0", "intermediate") == {"output": "found 0"}
    assert bench.episodes.all() == []


def test_a_person_pins_drops_and_corrects_and_takes_it_back(
    bench: Workbench, working: WorkingSession
) -> None:
    working.set("retries", [1], "accumulator")
    working.set("goal", "g")
    working.snapshot()
    working.pin("goal", "task")
    assert working.memory.variables["task.goal"].pinned
    working.correct("retries", "task", [2, 3])
    working.drop("goal", "task")
    assert working.get("goal") is None
    assert working.get("retries") == [2, 3]
    bench.history.undo()
    bench.history.undo()
    assert working.get("goal") == "g"
    assert working.get("retries") == [1]
    working.set("retries", 4, "accumulator")
    assert working.get("retries") == [1, 4]
    with pytest.raises(InvalidRecord, match="No variable"):
        working.drop("gone", "task")


def test_what_somebody_edits_in_the_file_is_taken_over_and_a_broken_file_is_named(
    bench: Workbench, working: WorkingSession
) -> None:
    working.set("goal", "g")
    working.set("old", 1)
    working.snapshot()
    doc = json.loads(file_of(bench).read_text())
    doc["task_scope"] = {"goal": f"use {KEY}", "big": "x" * 100_000, "new": 2}
    doc["metadata"] = "no object"
    file_of(bench).write_text(json.dumps(doc))
    again = WorkingSession(bench.context, "s1")
    again.snapshot()
    assert KEY not in str(stored(bench))
    assert again.get("new") == 2
    assert again.get("old") is None
    assert again.get("big") is None
    file_of(bench).write_text("{ broken")
    assert WorkingSession(bench.context, "s1").get("new") == 2
    findings = bench.care.findings(examine(bench.library.folder))
    assert findings.unreadable == ("working/s1.json",)
    again.set("new", 3)
    again.snapshot()
    assert json.loads(file_of(bench).read_text())["task_scope"]["new"] == 3


def test_secrets_are_masked_and_a_purge_takes_the_text_out_of_the_file(
    bench: Workbench, working: WorkingSession
) -> None:
    assert working.set("path", {"source": f"key {KEY}"})["masked"]
    working.set("note", "the quarterly figures of the customer in Lyon")
    working.snapshot()
    assert KEY not in str(working.get("path")) + str(stored(bench)) + file_of(bench).read_text()
    bench.eraser.carry_out(bench.eraser.plan(["s1:task.note"]))
    assert holding(bench.library.folder, "customer in Lyon") == []
    assert "note" not in WorkingSession(bench.context, "s1").show()["task_scope"]


def test_a_secret_put_into_the_file_is_found_by_a_scan(
    bench: Workbench, working: WorkingSession
) -> None:
    working.set("goal", "g")
    working.snapshot()
    file_of(bench).write_text(json.dumps({"state": "another", "global": {"key": KEY}}))
    assert ["working/s1.json" in leak.place for leak in bench.leaks.find(())] == [True]


def test_a_backup_brings_working_memories_back(
    bench: Workbench, working: WorkingSession, open_bench: Open, tmp_path: Path
) -> None:
    from workbench.store.maintenance.backup import restore

    working.set("goal", "g")
    working.snapshot()
    backup.write_backup(bench.library.journal, tmp_path / "b.tgz", bench.context.now())
    restore(tmp_path / "b.tgz", tmp_path / "again")
    assert WorkingSession(open_bench(folder=tmp_path / "again").context, "s1").get("goal") == "g"


def test_a_clock_that_is_set_back_does_no_harm(
    bench: Workbench, working: WorkingSession, clock: Clock
) -> None:
    for n in range(9):
        clock.at -= timedelta(days=1)
        working.add_intermediate(f"st_{n}", n)
        working.snapshot()
    assert [name[-1] for name in working.prune()["moved"]] == ["2", "1", "0"]
    assert list(sessions(bench.library)) == ["s1"]


def test_a_session_is_begun_once_and_gone_on_with(
    working: WorkingSession, bench: Workbench
) -> None:
    working.init("Add JWT.")
    working.snapshot()
    other = WorkingSession(bench.context, "s2")
    assert other.init(session="s1")["resumed"] is True
    with pytest.raises(InvalidRecord, match="already has a task"):
        other.init("Another.")
    with pytest.raises(InvalidRecord, match="is not a valid session name"):
        WorkingSession(bench.context, "../s1")
