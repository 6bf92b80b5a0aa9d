"""Tune's files of judged queries: export after a yes where a file is replaced, and the import of a
set.
"""

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.support import DEMO, demo_app, opens, tells
from tests.tui.tune_host import WIDE, keys, opened, tune, tuning
from tests.tui.waiting import until
from workbench.services.tuning.queries import qrels, queries_jsonl, run
from workbench.tui.files.imports import ImportDialog
from workbench.tui.widgets.dialog import Choose, Confirm, Prompt


async def export(pilot: Pilot[Path | None], kind: str, profile: str = "", path: str = "") -> None:
    await keys(pilot, "X")
    await opens(pilot, Choose)
    await keys(pilot, *kind, "enter")
    if profile:
        await until(
            pilot,
            lambda: "which profile" in str(pilot.app.screen.query_one(".dialog--title").render()),
        )
        await keys(pilot, *profile, "enter")
    await opens(pilot, Prompt)
    if path:
        pilot.app.screen.query_one(Input).value = path
    await keys(pilot, "enter")


@pytest.mark.slow
async def test_queries_are_written_and_a_file_is_replaced_only_after_y(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app, path = demo_app(tmp_path), tmp_path / "queries.jsonl"
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await export(pilot, "JSON")
        await until(pilot, path.exists)
        expected = queries_jsonl(app.bench.context)
        assert path.read_text() == expected
        await export(pilot, "JSON")
        await until(pilot, lambda: tells(app, "already has exactly that"))
        for answer in ("n", "y"):
            await export(pilot, "qrels", path="queries.jsonl")
            await opens(pilot, Confirm)
            assert path.read_text() == expected
            await keys(pilot, answer)
            await until(pilot, lambda: app.screen is tune(app))
        await until(pilot, lambda: path.read_text() == qrels(app.bench.context))


async def test_a_run_is_of_the_profile_that_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app, path = demo_app(tmp_path), tmp_path / "ranking.run"
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await export(pilot, "run", "engram")
        await until(pilot, path.exists)
        bench = app.bench
        assert path.read_text() == run(
            bench.context, bench.tuning, bench.tuning.profiles.get("engram")
        )


async def test_what_cannot_be_written_is_said_in_the_box(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        for name, why in ((str(tmp_path), "is a folder"), ("/no/such/x", "does not exist")):
            await export(pilot, "judgments", path=name)
            assert why in str(app.screen.query_one(".prompt--problem").render())
            await keys(pilot, "escape")


async def test_a_query_set_is_imported_and_taken_back_as_one(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    own = app.bench.library.memories.all()[0].id
    lines = [*(DEMO / "queries.jsonl").read_text().splitlines()[:2]]
    lines.append(json.dumps({"query": "something new", "relevant": {own: 2}}))
    (tmp_path / "set.jsonl").write_text("\n".join(lines) + "\n")
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        queries = len(app.bench.library.queries)
        await keys(pilot, "I")
        dialog = await opens(pilot, ImportDialog)
        dialog.query_one("#import-path", Input).value = str(tmp_path / "set.jsonl")
        await until(pilot, lambda: dialog.chosen.plan is not None)
        await keys(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is tune(app))
        assert app.bench.judging.grades("something new") == {own: 2}
        await keys(pilot, "u")
        await until(pilot, lambda: len(app.bench.library.queries) == queries)
