"""Tune's files of judged queries: export with a look and a yes, import with counts, a run that is measured."""

import json
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.tui.support import DEMO, demo_app, first_of, hidden_on, open_bench
from tests.tui.test_tune_dialogs import hostile, shown
from tests.tui.tune_host import WIDE, keys, opened, tune
from tests.tui.waiting import until
from workbench.services.tuning.queries.export import qrels, queries_jsonl, run
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.judging.query_files import FormatChoice, QueriesIn, QueriesOut
from workbench.tui.widgets.dialog import Choose, Confirm
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.texts.safe_input import SafeInput

SIZES = first_of((80, 24), (140, 45))

QUERIES = len((DEMO / "queries.jsonl").read_text("utf-8").splitlines())


def state(app: WorkbenchApp, name: str) -> str:
    return str(app.screen.query_one(f"#{name}-state", Static).content)


def path_of(app: WorkbenchApp, name: str) -> SafeInput:
    return app.screen.query_one(f"#{name}-path", SafeInput)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_queries_are_written_as_shown_and_a_file_is_replaced_only_after_y(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await keys(pilot, "X")
        await shown(pilot, QueriesOut, lambda d: d._preview)
        expected = queries_jsonl(app.bench.context)
        assert f"A new file of {QUERIES} lines" in state(app, "out")
        assert len(app.screen.query_one(LineView).rows) == QUERIES
        await keys(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is tune(app))
        assert (tmp_path / "queries.jsonl").read_text() == expected
        await keys(pilot, "X")
        await shown(pilot, QueriesOut, lambda d: d._preview)
        assert "Nothing to write" in state(app, "out")
        await keys(pilot, "ctrl+s", "ctrl+n")
        await shown(pilot, QueriesOut, lambda d: d._preview and d._kind == "qrels")
        path_of(app, "out").value = "queries.jsonl"
        await until(pilot, lambda: f"Replaces a file of {QUERIES} lines" in state(app, "out"))
        await keys(pilot, "ctrl+s")
        await shown(pilot, Confirm)
        await keys(pilot, "n")
        await shown(pilot, QueriesOut)
        assert (tmp_path / "queries.jsonl").read_text() == expected
        await keys(pilot, "ctrl+s")
        await shown(pilot, Confirm)
        await keys(pilot, "y")
        await until(pilot, lambda: app.screen is tune(app))
        assert (tmp_path / "queries.jsonl").read_text() == qrels(app.bench.context)
        library = app.bench.library
        assert library.files.get(str(tmp_path / "queries.jsonl")).format == "trec-qrels"
        assert [entry.kind for entry in library.journal.entries_back()][:2] == ["access", "access"]


async def test_a_run_is_of_the_profile_that_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "X")
        await shown(pilot, QueriesOut, lambda d: d._preview)
        await pilot.click(FormatChoice, offset=(35, 0))
        await shown(pilot, QueriesOut, lambda d: d._preview and d._kind == "run")
        assert path_of(app, "out").value == "ranking.run"
        await keys(pilot, "ctrl+l")
        await shown(pilot, Choose)
        await keys(pilot, *"engram", "enter")
        await shown(pilot, QueriesOut, lambda d: d._preview and d._profile == "engram")
        await keys(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is tune(app))
        bench = app.bench
        assert (tmp_path / "ranking.run").read_text() == run(
            bench.context, bench.tuning, bench.tuning.profiles.get("engram")
        )


async def test_what_cannot_be_written_is_said_in_the_box(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "X")
        await shown(pilot, QueriesOut, lambda d: d._preview)
        for name, said in (("", "Name the file"), (str(tmp_path), "is a folder"), ("/no/such/x", "does not exist")):
            path_of(app, "out").value = name
            await until(pilot, lambda said=said: said in state(app, "out"))  # type: ignore[misc]
            await keys(pilot, "ctrl+s")
            assert isinstance(app.screen, QueriesOut)


@pytest.mark.parametrize("size", SIZES)
async def test_an_import_shows_what_is_new_and_is_taken_back_as_one(tmp_path: Path, size: tuple[int, int]) -> None:
    app = demo_app(tmp_path)
    own = app.bench.library.memories.all()[0].id
    lines = [*(DEMO / "queries.jsonl").read_text().splitlines()[:2]]
    lines += [json.dumps({"query": "something new", "relevant": {own: 2, "mem-of-nobody": 1}}), "{broken"]
    (tmp_path / "set.jsonl").write_text("\n".join(lines) + "\n")
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        queries = len(app.bench.library.queries)
        await keys(pilot, "I")
        dialog = await shown(pilot, QueriesIn)
        await keys(pilot, "ctrl+s")
        assert app.screen is dialog
        path_of(app, "in").value = str(tmp_path / "set.jsonl")
        await until(pilot, lambda: dialog.plan is not None)
        said = state(app, "in")
        assert "1 query and 2 judgments new" in said
        assert "2 queries saved already" in said
        assert "1 skipped" in said
        assert "1 graded id is not in this store" in said
        assert len(app.bench.library.queries) == queries
        await keys(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is tune(app))
        assert app.bench.judging.grades("something new") == {own: 2, "mem-of-nobody": 1}
        await keys(pilot, "u")
        assert len(app.bench.library.queries) == queries


async def test_qrels_and_a_run_are_told_apart_and_the_run_is_measured(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        bench = app.bench
        (tmp_path / "mine.qrels").write_text(qrels(bench.context))
        (tmp_path / "their.run").write_text(run(bench.context, bench.tuning, bench.tuning.default()))
        await keys(pilot, "I")
        dialog = await shown(pilot, QueriesIn)
        path_of(app, "in").value = str(tmp_path / "mine.qrels")
        await until(pilot, lambda: f"Nothing is new · {QUERIES} queries saved already" in state(app, "in"))
        path_of(app, "in").value = str(tmp_path / "their.run")
        await until(pilot, lambda: "A TREC run" in state(app, "in"))
        assert "ndcg@10" in state(app, "in")
        assert dialog.plan is None
        for name, said in (("/no/such/file", "There is no file"), (str(DEMO / "memories.jsonl"), "holds no queries")):
            path_of(app, "in").value = name
            await until(pilot, lambda said=said: said in state(app, "in"))  # type: ignore[misc]


async def test_without_queries_there_is_nothing_to_export(tmp_path: Path) -> None:
    app = hostile(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "X")
        await shown(pilot, QueriesOut, lambda d: d._preview)
        assert hidden_on(app) == []
        await keys(pilot, "escape", "I")
        await shown(pilot, QueriesIn)
        path_of(app, "in").value = str(tmp_path / "x")
        (tmp_path / "x").write_text('{"query": "\\u001b[31m\\u202e[b]", "relevant": {"a": 1}}\n')
        path_of(app, "in").value = ""
        path_of(app, "in").value = str(tmp_path / "x")
        await until(pilot, lambda: "1 query and 1 judgment new" in state(app, "in"))
        assert hidden_on(app) == []
    empty = open_bench(tmp_path / "empty")
    with pytest.raises(Exception, match="No query of this store is saved yet"):
        queries_jsonl(empty.context)
