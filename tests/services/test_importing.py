"""Importing: what is new is written once, what is there stays, chunks are one action."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Clock, put, snapshot
from workbench.core.record import WorkStopped
from workbench.core.stream.memory import Memory
from workbench.formats import ace
from workbench.services.files.importing import CHUNK, Importer, ImportPlan
from workbench.services.open import Workbench, open_workbench
from workbench.services.safety.texts import texts_of


def entries(path: Path, *names: str, context: str = "text of {}") -> Path:
    rows = [
        {
            "id": n,
            "timestamp": "2026-03-01T10:00:00Z",
            "type": "error",
            "context": context.format(n),
        }
        for n in names
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


ONE = "## A\n[a-00001] helpful=1 harmful=0 :: One.\n"
TWO = f"{ONE}[a-00002] helpful=1 harmful=0 :: Two.\n"


def take(
    bench: Workbench, path: Path, *, as_new: bool = False
) -> tuple[dict[str, int], int, tuple[str, ...]]:
    plan = bench.importer.plan(path)
    bench.importer.carry_out(plan, as_new=as_new)
    return {word: n for word, n in plan.counts.items() if n}, plan.present, plan.kept


def test_an_import_adds_only_what_is_new(bench: Workbench, tmp_path: Path) -> None:
    assert take(bench, entries(tmp_path / "a.jsonl", "a", "b")) == ({"memories": 2}, 0, ())
    before, rev = snapshot(bench), bench.library.journal.rev
    assert take(bench, tmp_path / "a.jsonl") == ({}, 2, ())
    assert (snapshot(bench), bench.library.journal.rev) == (before, rev)
    assert take(bench, entries(tmp_path / "b.jsonl", "b", "c")) == ({"memories": 1}, 1, ())


def test_what_was_changed_here_stays(bench: Workbench, tmp_path: Path) -> None:
    take(bench, entries(tmp_path / "a.jsonl", "a"))
    bench.stream.edit("a", "mine")
    bench.stream.vote(["a"], "helpful")
    assert take(bench, tmp_path / "a.jsonl") == ({}, 0, ("a",))
    assert (bench.stream.get("a").content, bench.stream.get("a").helpful_votes) == ("mine", 1)


def test_a_playbook_grows_by_what_its_file_gained(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(ONE)
    assert take(bench, path) == ({"bullets": 1}, 0, ())
    bench.playbooks.edit("book", "a-00001", "Mine.")
    path.write_text(f"{ONE}\n## B\n[b-00002] helpful=0 harmful=0 :: Two.\n")
    assert take(bench, path) == ({"bullets": 1}, 0, ("a-00001",))
    book = bench.playbooks.open("book")
    assert [(b.section, b.content) for b in book.bullets] == [("a", "Mine."), ("b", "Two.")]


def test_queries_and_judgments_are_kept_once(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(
        '{"query": "why", "relevant": {"a": 3, "b": 0}, "now": "2026-03-01T00:00:00Z"}\n'
    )
    assert take(bench, path) == ({"queries": 1, "judgments": 2}, 0, ())
    assert take(bench, path) == ({}, 0, ())
    path.write_text(
        '{"query": "why", "relevant": {"a": 1, "c": 2}, "now": "2026-03-01T00:00:00Z"}\n'
    )
    assert take(bench, path) == ({"judgments": 1}, 0, ())
    grades = {j.memory: j.grade for j in bench.library.judgments.all()}
    assert grades == {"a": 3, "b": 0, "c": 2}


@pytest.mark.slow
def test_chunks_are_one_action(bench: Workbench, tmp_path: Path) -> None:
    names = [f"m{i}" for i in range(2 * CHUNK + 1)]
    seen: list[tuple[int, int]] = []
    plan = bench.importer.plan(entries(tmp_path / "a.jsonl", *names))
    report = bench.importer.carry_out(plan, progress=lambda done, total: seen.append((done, total)))
    assert (report.written, report.cancelled) == (len(names), False)
    assert seen == [(CHUNK, len(names)), (2 * CHUNK, len(names)), (len(names), len(names))]
    assert bench.library.journal.rev == 3
    assert dict(bench.library.journal.unfinished) == {}
    assert bench.history.undo() == "import a.jsonl"
    assert len(bench.library.memories) == 0
    bench.history.redo()
    assert len(bench.library.memories) == len(names)


@pytest.mark.parametrize("as_new", [True, False])
def test_only_new_observations_move_the_gauge(
    bench: Workbench, tmp_path: Path, as_new: bool
) -> None:
    take(bench, entries(tmp_path / "a.jsonl", "a", "b"), as_new=as_new)
    observations = bench.overview.gauge().conditions[1]
    assert observations.value == (2 if as_new else 0)


def test_steps_end_at_the_time_of_the_import(
    bench: Workbench, tmp_path: Path, clock: Clock
) -> None:
    nodes = [
        {"node_id": i, "node_type": "observation", "content": f"s{i}", "importance": 50, "created": i,
         "last_retrieved": i, "pointer_id": None}
        for i in range(1, 4)
    ]  # fmt: skip
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps(nodes))
    take(bench, path)
    assert max(m.created_at for m in bench.library.memories.all()) == NOON


# What somebody else did between planning and writing


def rival(folder: Path, clock: Clock) -> Workbench:
    """Open the same store as another process does."""
    return open_workbench(folder / "store", profiles=folder / "profiles", clock=clock)


def test_what_another_process_stored_or_merged_away_meanwhile_stays(
    bench: Workbench, tmp_path: Path, clock: Clock
) -> None:
    plan = bench.importer.plan(
        entries(tmp_path / "a.jsonl", "a", "b", "c", context="the file says {}")
    )
    other = rival(tmp_path, clock)
    take(other, entries(tmp_path / "b.jsonl", "b", context="the rival says {}"))
    other.stream.vote(["b"], "helpful")
    put(other, Memory("whole", "both", NOON, NOON, aliases=("c",)))
    other.close()
    report = bench.importer.carry_out(plan)
    assert (report.written, report.overtaken) == (1, ("b", "c"))
    stored = {m.id: (m.content, m.helpful_votes) for m in bench.library.memories.all()}
    assert stored == {
        "a": ("the file says a", 0), "b": ("the rival says b", 1), "whole": ("both", 0),
    }  # fmt: skip
    assert dict(bench.library.journal.unfinished) == {}
    assert bench.history.undo() == "import a.jsonl"
    assert {m.id for m in bench.library.memories.all()} == {"b", "whole"}


def test_a_playbook_that_was_imported_meanwhile_stays_as_it_is(
    bench: Workbench, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "book.txt"
    path.write_text(TWO)
    plan = bench.importer.plan(path)
    other = rival(tmp_path, clock)
    take(other, path)
    other.playbooks.edit("book", "a-00001", "Mine.")
    other.close()
    report = bench.importer.carry_out(plan)
    assert (report.written, len(report.overtaken)) == (0, 4)
    assert [b.content for b in bench.playbooks.open("book").bullets] == ["Mine.", "Two."]
    assert dict(bench.library.journal.unfinished) == {}


@pytest.mark.slow
def test_chunks_that_were_overtaken_leave_nothing_unfinished(
    bench: Workbench, tmp_path: Path, clock: Clock
) -> None:
    names = [f"m{i}" for i in range(3 * CHUNK)]
    plan = bench.importer.plan(entries(tmp_path / "a.jsonl", *names))
    other = rival(tmp_path, clock)
    take(other, entries(tmp_path / "b.jsonl", *names[CHUNK:]))
    other.close()
    report = bench.importer.carry_out(plan)
    assert (report.written, len(report.overtaken)) == (CHUNK, 2 * CHUNK)
    assert dict(bench.library.journal.unfinished) == {}


# Stopping and going on


def playbook_text(count: int) -> str:
    """Return a playbook whose lines no writer of ours would write just so."""
    lines = ["# kept by hand", ""]
    for number in range(1, count + 1):
        if number % 500 == 1:
            lines += [f"## Part {number // 500}", ""]
        if number % 7 == 0:
            lines.append("<!-- a remark -->")
        lines.append(f"  [p-{number:05d}]  helpful={number % 5} harmful=0 ::  rule number {number}")
    return "\r\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 2])
def test_a_stopped_import_of_a_playbook_can_be_finished_without_a_loss(
    bench: Workbench, tmp_path: Path, after: int
) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(playbook_text(2 * CHUNK + 500).encode())
    plan = bench.importer.plan(path)
    report = bench.importer.carry_out(
        plan, cancelled=lambda: len(bench.library.bullets) > (after - 1) * CHUNK
    )
    assert (report.cancelled, report.written) == (True, after * CHUNK)
    again = bench.importer.plan(path)
    assert (len(again.records), again.kept) == (len(plan.records) - report.written, ())
    bench.importer.carry_out(again)
    assert ace.write_playbook(bench.playbooks.open("book")).encode() == path.read_bytes()
    assert bench.importer.plan(path).records == ()


def test_bullets_of_a_file_that_was_reordered_follow_the_others(
    bench: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "book.txt"
    path.write_text(TWO)
    take(bench, path)
    path.write_text(
        "## A\n[a-00003] helpful=1 harmful=0 :: New.\n[a-00002] helpful=1 harmful=0 :: Two.\n"
        "[a-00001] helpful=1 harmful=0 :: One.\n"
    )
    take(bench, path)
    assert [b.id for b in bench.playbooks.open("book").bullets] == ["a-00001", "a-00002", "a-00003"]


@pytest.mark.slow
def test_reading_tells_how_far_it_is_and_can_be_stopped(bench: Workbench, tmp_path: Path) -> None:
    path = entries(tmp_path / "a.jsonl", *(f"m{i}" for i in range(1200)))
    seen: list[tuple[int, int]] = []
    bench.importer.plan(path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(500, 1201), (1000, 1201), (1200, 1200)]
    with pytest.raises(WorkStopped, match=r"Reading a\.jsonl was stopped\. Nothing was written\."):
        bench.importer.plan(path, cancelled=lambda: True)


def test_a_stated_status_is_kept_for_a_person_and_not_for_an_agent(
    bench: Workbench, tmp_path: Path
) -> None:
    stated = ("signal", "candidate", "confirmed", "promoted")
    path = entries(tmp_path / "a.jsonl", *stated, "none")
    rows = [json.loads(row) for row in path.read_text().splitlines()]
    rows = [{**row, "status": row["id"]} if row["id"] in stated else row for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def statuses(plan: ImportPlan) -> list[str]:
        return [record.status for record in plan.records if isinstance(record, Memory)]

    assert statuses(bench.importer.plan(path)) == [*stated, "signal"]
    agent = Importer(replace(bench.context, actor="agent:claude"))
    assert statuses(agent.plan(path)) == ["signal"] * 5


def test_where_a_file_lay_is_no_text_that_goes_out(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "ghp_a1B2").mkdir()
    take(bench, entries(tmp_path / "ghp_a1B2/a.jsonl", "a"))
    assert not any("ghp_a1B2" in text for text in texts_of(bench.stream.get("a")))
