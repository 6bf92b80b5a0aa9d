"""`b` in Health: the whole store in one file, while the app and everybody else go on."""

import hashlib
import tarfile
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.busy_store import stopped_holder
from tests.tui.small_host import filled, started
from tests.tui.support import app_over, opens, screen_text, shows
from tests.tui.waiting import until
from workbench.store.maintenance.backup import restore
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.health.screen import HealthScreen
from workbench.tui.health.store import BackupDialog
from workbench.tui.widgets.dialog import Confirm, SafeInput


async def asked(pilot: Pilot[Path | None]) -> WorkbenchApp:
    """Open Health, and the dialog."""
    app = await started(pilot)
    await pilot.press("6")
    await opens(pilot, HealthScreen)
    await pilot.press(*("tab",) * 5)
    await shows(pilot, "no damage")
    assert "no backup yet: b makes one" in screen_text(app)
    await pilot.press("b")
    await opens(pilot, BackupDialog)
    return app


def named(app: WorkbenchApp) -> SafeInput:
    return app.screen.query_one("#backup-path", SafeInput)


def stated(app: WorkbenchApp) -> str:
    return str(app.screen.query_one("#backup-state", Static).content)


async def test_a_backup_is_made_and_says_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bench = filled(tmp_path)
    async with app_over(bench).run_test(size=(120, 40)) as pilot:
        app = await asked(pilot)
        file = tmp_path / "memories-2026-03-20.tar.gz"
        assert named(app).value == str(file)
        await pilot.press("ctrl+s")
        await shows(pilot, "every byte checked")
        shown = screen_text(app)
        assert f"revision {bench.library.journal.rev}" in shown
        assert "1 book," in shown
        with tarfile.open(file) as archive:
            journal = archive.extractfile("journal.jsonl")
            assert journal is not None
            assert hashlib.sha256(journal.read()).hexdigest() in shown
        await pilot.press("escape")
        await shows(pilot, "last backup ")
    restore(file, tmp_path / "again")


@pytest.mark.slow
async def test_a_file_that_is_there_goes_only_after_a_yes(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    file = tmp_path / "mine.txt"
    file.write_text("mine")
    async with app_over(bench).run_test(size=(120, 40)) as pilot:
        app = await asked(pilot)
        named(app).value = str(file)
        await pilot.press("enter")
        await opens(pilot, Confirm)
        await pilot.press("n")
        assert file.read_text() == "mine"
        await pilot.press("enter")
        await opens(pilot, Confirm)
        await pilot.press("y")
        await shows(pilot, "every byte checked")
        assert tarfile.is_tarfile(file)


async def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    async with app_over(bench).run_test(size=(80, 24)) as pilot:
        app = await asked(pilot)
        for name, said in (
            (bench.library.folder / "in.tar.gz", "inside the store"),
            (tmp_path, "is a folder"),
            (tmp_path / "no" / "such.tar.gz", "cannot be written"),
            ("", "Give the file"),
        ):
            named(app).value = str(name)
            await pilot.press("ctrl+s")
            await until(pilot, lambda said=said: said in stated(app))  # type: ignore[misc]
        named(app).value = str(tmp_path / "good.tar.gz")
        await until(pilot, lambda: "✗" not in stated(app))


@pytest.mark.slow
async def test_it_waits_for_nobody(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    async with app_over(bench).run_test(size=(120, 40)) as pilot:
        app = await asked(pilot)
        named(app).value = str(tmp_path / "it.tar.gz")
        with stopped_holder(bench.library.folder):
            await pilot.press("ctrl+s")
            await shows(pilot, "every byte checked")
