"""Run logs for a playbook: counted once, by every name a bullet has, and set against the votes."""

import json
from pathlib import Path

import pytest

from tests.services.conftest import Open
from workbench.core.record import UnreadableFile
from workbench.services.open import Workbench

TEXT = """## RULES
[r-00001] helpful=6 harmful=0 :: Look before you leap.
[r-00002] helpful=0 harmful=5 :: Leap.
[r-00003] helpful=1 harmful=0 :: Wait.
"""
OTHER = "## RULES\n[r-00001] Something else.\n"


@pytest.fixture
def bench(open_bench: Open, tmp_path: Path) -> Workbench:
    bench = open_bench()
    for name, text in (("book", TEXT), ("other", OTHER)):
        bring(bench, tmp_path / f"{name}.txt", text)
    return bench


def bring(bench: Workbench, path: Path, text: str) -> dict[str, int]:
    path.write_text(text)
    plan = bench.importer.plan(path)
    bench.importer.carry_out(plan)
    return {**plan.counts, "present": plan.present}


def log(*runs: tuple[str, bool]) -> str:
    return "".join(
        json.dumps({"bullet_ids_used": [f"r-0000{c}" for c in ids], "is_correct": right}) + "\n"
        for ids, right in runs
    )


LOG = log(*[("1", False)] * 8, *[("2", True)] * 8, *[("23", True)] * 2)


def test_a_log_counts_once_for_the_book_that_knows_its_bullets(
    bench: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "bullet_usage_log.jsonl"
    assert bring(bench, path, LOG)["runs"] == 18
    used = bench.playbooks.view("book").usage
    assert (used["r-00001"].used.correct, used["r-00001"].used.runs) == (0, 8)
    assert (used["r-00002"].unused.correct, used["r-00002"].unused.runs) == (0, 8)
    assert bench.playbooks.view("other").usage == {}
    again = bring(bench, path, LOG)
    assert (again["runs"], again["present"]) == (0, 18)
    assert bring(bench, path, LOG + log(("3", False)))["runs"] == 19
    assert bench.playbooks.view("book").usage["r-00003"].used.runs == 3
    assert len(bench.library.tallies) == 1
    bench.history.undo()
    assert bench.playbooks.view("book").usage["r-00003"].used.runs == 2
    bench.history.undo()
    assert bench.playbooks.view("book").usage == {}


def test_votes_that_runs_contradict_are_disputed(bench: Workbench, tmp_path: Path) -> None:
    assert bench.playbooks.view("book").disputed == frozenset()
    bring(bench, tmp_path / "log.jsonl", LOG)
    assert bench.playbooks.view("book").disputed == {"r-00001", "r-00002"}


def test_a_run_with_both_halves_of_a_merge_counts_once(bench: Workbench, tmp_path: Path) -> None:
    bring(bench, tmp_path / "log.jsonl", LOG)
    bench.bullet_duplicates.merge("book", ["r-00002", "r-00003"], "Leap, then wait.", "r-00002")
    told = bench.playbooks.view("book").usage["r-00002"].used
    assert (told.correct, told.runs) == (10, 10)


def test_a_log_of_no_known_playbook_is_refused(bench: Workbench, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="names no bullet"):
        bring(bench, tmp_path / "log.jsonl", '{"bullet_ids_used": ["zzz-1"], "is_correct": true}\n')


def test_a_budget_cuts_the_file_and_goes_again(bench: Workbench) -> None:
    assert bench.playbooks.view("book").cut is None
    bench.playbooks.set_budget("book", 24)
    view = bench.playbooks.view("book")
    assert view.over == {"r-00002", "r-00003"}
    bench.playbooks.fit("book", sorted(view.over), 24)
    assert bench.playbooks.view("book").cut is None
    assert (
        bench.playbooks.bullet("book", "r-00003").metadata["deprecated_because"]
        == "beyond the budget of 24 tokens"
    )
    bench.history.undo()
    bench.playbooks.set_budget("book", 0)
    assert bench.playbooks.view("book").cut is None
