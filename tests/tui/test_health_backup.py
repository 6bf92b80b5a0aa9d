"""`b` in Health: the whole store in one file, while the app and everybody else go on."""

import hashlib
import tarfile
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.busy_store import stopped_holder
from tests.tui.support import app_over, screen_text
from tests.tui.test_busy import filled, started
from tests.tui.waiting import PATIENCE, until
from workbench.core.runtime import Progress
from workbench.services.health import backup
from workbench.services.open import Workbench
from workbench.store.maintenance.backup import restore
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.health.store import BackupDialog
from workbench.tui.widgets.dialog import Confirm, SafeInput


async def asked(pilot: Pilot[Path | None]) -> WorkbenchApp:
    """Open Health, and the dialog."""
    app = await started(pilot)
    await pilot.press("6")
    await until(pilot, lambda: "every line is sound" in screen_text(app))
    await pilot.press(*("tab",) * 4)
    assert "no backup yet: b makes one" in screen_text(app)
    await pilot.press("b")
    await until(pilot, lambda: isinstance(app.screen, BackupDialog))
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
        await until(pilot, lambda: "every byte checked" in screen_text(app))
        shown = screen_text(app)
        assert f"revision {bench.library.journal.rev}" in shown
        assert "1 book," in shown
        with tarfile.open(file) as archive:
            journal = archive.extractfile("journal.jsonl")
            assert journal is not None
            assert hashlib.sha256(journal.read()).hexdigest() in shown
        await pilot.press("escape")
        await until(pilot, lambda: "last backup " in screen_text(app))
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
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        assert file.read_text() == "mine"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: "every byte checked" in screen_text(app))
        assert tarfile.is_tarfile(file)


@pytest.mark.slow
async def test_esc_stops_it_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled(tmp_path)
    file = tmp_path / "out" / "big.tar.gz"
    file.parent.mkdir()
    write, pressed = backup.back_up, threading.Event()

    def under_way(
        bench: Workbench, target: Path, at: datetime, *, progress: Progress, **how: Any
    ) -> object:
        """Write the real backup, and go on after its first piece only once the key was pressed."""

        def tell(done: int, total: int) -> None:
            progress(done, total)
            pressed.wait(PATIENCE)

        return write(bench, target, at, progress=tell, **how)

    monkeypatch.setattr(backup, "back_up", under_way)
    async with app_over(bench).run_test(size=(120, 40)) as pilot:
        app = await asked(pilot)
        named(app).value = str(file)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "MB backed up" in screen_text(app))
        await pilot.press("escape")
        pressed.set()
        await until(pilot, lambda: "Nothing was written" in screen_text(app))
        assert isinstance(app.screen, BackupDialog)
    assert list(file.parent.iterdir()) == []


async def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    async with app_over(bench).run_test(size=(80, 24)) as pilot:
        app = await asked(pilot)
        for name, said in (
            (bench.library.folder / "in.tar.gz", "in the store itself"),
            (tmp_path, "is a folder"),
            (tmp_path / "no" / "such.tar.gz", "cannot be written"),
            ("", "Name the file"),
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
            await until(pilot, lambda: "every byte checked" in screen_text(app))
