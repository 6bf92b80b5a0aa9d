"""Secrets of every kind in what dialogs show before anything is written: a marker stands for each."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.safety.fresh import KINDS, Fresh, fresh
from tests.services.conftest import ungated
from tests.tui.playbook_host import opened as playbook
from tests.tui.support import app_over, import_file, open_bench, opens, screen_text
from tests.tui.waiting import until_drawn
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.files.exports import ExportDialog
from workbench.tui.files.imports import ImportDialog
from workbench.tui.files.preview import Pane
from workbench.tui.files.section import FindingsDialog, WholeFile
from workbench.tui.health.screen import HealthScreen
from workbench.tui.widgets.line_list import LineView

ALL = fresh("every dialog")
TALL = (200, 130)
"""A screen on which whatever a dialog lists is in sight."""


def held(kinds: dict[str, Fresh], text: str) -> list[str]:
    """Return the kinds whose secret, or how it ends or goes on, stands in a text."""
    parts = {name: (one.secret[-8:], one.secret[-18:-10]) for name, one in kinds.items()}
    return [
        name
        for name, some in parts.items()
        if any(len(part) == 8 and part in text for part in some)
    ]


def book(kinds: dict[str, Fresh]) -> str:
    """Return a playbook with a bullet for each kind, as they came from elsewhere."""
    return "## RULES\n" + "".join(
        f"[r-{n:05}] helpful=1 harmful=0 :: Use {one.text} there.\n"
        for n, one in enumerate(kinds.values(), 1)
    )


def block() -> str:
    """Return a private key over several lines, as it stands in a file."""
    return "\n".join(json.loads(ALL["openssh key"].text)["k"].split("\\n"))


@asynccontextmanager
async def app_on(
    bench: Workbench, size: tuple[int, int] = TALL
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[Path | None]]]:
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await until_drawn(pilot, lambda: app.bench.tuning.ready)
        yield app, pilot


async def test_an_export_shows_no_secret_before_it_is_opened(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    source = tmp_path / "rules.txt"
    source.write_text(book(ALL))
    import_file(bench, source)
    with ungated(bench):
        bench.playbooks.edit("rules", "r-00001", f"Now {ALL['gitlab'].text} instead.")
    source.write_text(
        book(ALL).replace("[r-00003] helpful=1", "[r-00003] helpful=2") + f"# {block()}\n"
    )
    async with playbook(bench, TALL) as hand:
        await hand.press("X")
        dialog = await hand.dialog(ExportDialog)
        for key in ("ctrl+t", "ctrl+n", "ctrl+t"):
            assert held(ALL, hand.text) == [], key
            assert "[secret: " in hand.text
            await hand.press(key)
        assert "in the text shows it." in hand.text
        dialog.query_one("#export-whole", Pane).focus()
        await hand.press("o")
        assert len(held(ALL, hand.text)) > len(KINDS) - 5
        await hand.press("o")
        assert held(ALL, hand.text) == []


@pytest.mark.slow
async def test_what_an_import_brings_is_listed_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, here = open_bench(tmp_path), tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "book.txt").write_text(book(ALL))
    import_file(bench, here / "book.txt")
    (here / "book.txt").write_text(book(fresh("another")) + "[bad line\n")
    (here / "more.txt").write_text(book(ALL).replace("Use", "Then use").replace("[r-", "[q-"))
    kinds = ALL | {f"{name} again": one for name, one in fresh("another").items()}
    (here / f"of-{ALL['github'].secret}").mkdir()
    (here / f"{ALL['gitlab'].secret}.txt").write_text(book(fresh("a third")))
    async with app_on(bench) as (app, pilot):
        for file in ("book.txt", "more.txt"):
            await pilot.press("F")
            await opens(pilot, ImportDialog, lambda s: s.chosen.listing)
            assert isinstance(app.screen, ImportDialog)
            assert held(kinds, screen_text(app)) == []
            assert screen_text(app).count("[secret: ") >= 2
            app.screen.query_one("#import-path", Input).value = file
            await opens(pilot, ImportDialog, lambda s: s.chosen.plan)
            await pilot.press("ctrl+r")
            await opens(pilot, ImportDialog, lambda s: s.chosen.plan)
            assert held(kinds, screen_text(app)) == [], file
            assert "[secret: " in screen_text(app)
            await pilot.press("escape")
            await until_drawn(pilot, lambda: not isinstance(app.screen, ImportDialog))


@pytest.mark.slow
async def test_findings_in_a_file_their_fixes_and_the_whole_of_it_show_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, here = open_bench(tmp_path), tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    stray = "".join(f"a stray line with {one.text}\n" for one in ALL.values())
    (here / "book.txt").write_text(f"{stray}### RULES\n" + book(ALL) + book(ALL) + block() + "\n")
    import_file(bench, here / "book.txt")
    async with app_on(bench) as (app, pilot):
        await pilot.press("6")
        health = await opens(pilot, HealthScreen)
        await until_drawn(
            pilot, lambda: any(r.section == "files" and not r.heading for r in health.rows.rows)
        )
        rows = list(health.rows.rows)
        health.rows.cursor = next(
            n for n, r in enumerate(rows) if r.section == "files" and r.name.endswith("book.txt")
        )
        await pilot.pause()
        assert held(ALL, screen_text(app)) == []
        await pilot.press("enter")
        dialog = await opens(pilot, FindingsDialog, lambda s: s.query_one(LineView).rows)
        dialog.query_one(LineView).cursor = 0
        await pilot.press("F")
        await until_drawn(pilot, lambda: dialog.changes)
        assert held(ALL, screen_text(app)) == []
        await pilot.press("v")
        await opens(pilot, WholeFile, lambda s: s.query_one(Pane).rows)
        assert held(ALL, screen_text(app)) == []
        assert "[secret: " in screen_text(app)
