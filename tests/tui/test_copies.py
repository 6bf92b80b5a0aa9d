"""A correction in the app: its copies are shown before it is saved, and go along on a y."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.support import NOW, app_over, opens, screen_text, tells
from tests.tui.waiting import until_drawn
from workbench.core.agents.read import AgentRead
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench
from workbench.services.promotion.promotion import Target
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.forms import RecordForm
from workbench.tui.promotion import CopiesDialog
from workbench.tui.widgets.editor import InertTextArea

NPM, PNPM = "Use npm here.", "Use pnpm here."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def bench(project: Path) -> Workbench:
    """A project whose AGENTS.md holds a memory that an agent was given."""
    bench = open_workbench(project / ".workbench", profiles=project / "none", clock=lambda: NOW)
    with bench.library.transaction("human", "prepare") as tx:
        tx.put(Memory("k1", NPM, NOW, NOW, status="confirmed"))
        tx.put(
            AgentRead("r1", "claude", NOW, "how to install", "s1", memories=("k1",), scores=(1.0,))
        )
    bench.promotion.carry_out(bench.promotion.plan(["k1"], Target("block", "AGENTS.md")))
    return bench


async def corrected(app: WorkbenchApp, pilot: Pilot[Any]) -> None:
    """Type the correction and save."""
    await pilot.press("e")
    await opens(pilot, RecordForm)
    app.screen.query_one(InertTextArea).load_text(PNPM)
    await pilot.press("ctrl+s")


async def asked(app: WorkbenchApp, pilot: Pilot[Any]) -> None:
    await opens(pilot, CopiesDialog)
    await pilot.pause()


async def closed(app: WorkbenchApp, pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    await until_drawn(pilot, lambda: not app.screen.is_modal and holds())


@pytest.mark.slow
async def test_y_updates_the_file_with_it_and_u_takes_back_both(
    bench: Workbench, project: Path
) -> None:
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await corrected(app, pilot)
        await asked(app, pilot)
        told = screen_text(app)
        assert "1 copy of k1" in told
        assert "AGENTS.md" in told
        assert f"- {NPM}" in told
        assert f"- {PNPM}" in told
        assert "Served to claude in 1 session this week" in told
        assert bench.stream.get("k1").content == NPM
        await pilot.press("y")
        await closed(app, pilot, lambda: bench.stream.get("k1").content == PNPM)
        assert PNPM in (project / "AGENTS.md").read_text()
        await pilot.press("u")
        await closed(app, pilot, lambda: bench.stream.get("k1").content == NPM)
        assert NPM in (project / "AGENTS.md").read_text()


@pytest.mark.slow
async def test_n_saves_it_alone_and_esc_goes_on_editing(bench: Workbench, project: Path) -> None:
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await corrected(app, pilot)
        await asked(app, pilot)
        await pilot.press("escape")
        await opens(pilot, RecordForm)
        assert bench.stream.get("k1").content == NPM
        await pilot.press("ctrl+s")
        await asked(app, pilot)
        await pilot.press("n")
        await closed(app, pilot, lambda: bench.stream.get("k1").content == PNPM)
        assert NPM in (project / "AGENTS.md").read_text()


async def test_another_memory_with_the_same_text_is_named_and_ids_keep_their_case(
    bench: Workbench,
) -> None:
    early = NOW - timedelta(days=1)
    with bench.library.transaction("human", "more") as tx:
        tx.put(Memory("k2", NPM, early, early))
        tx.put(Memory("k3", "Use care.", early, early, citations=("k1",), is_synthetic=True))
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await corrected(app, pilot)
        await asked(app, pilot)
        assert "k2" in screen_text(app)
        await pilot.press("y")
        await closed(app, pilot, lambda: bench.stream.get("k2").content == PNPM)
        await until_drawn(pilot, lambda: tells(app, "k3 cites it and stays"))


async def test_a_file_that_is_gone_by_then_is_not_made_anew(
    bench: Workbench, project: Path
) -> None:
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await corrected(app, pilot)
        await asked(app, pilot)
        (project / "AGENTS.md").unlink()
        await pilot.press("y")
        await until_drawn(
            pilot, lambda: isinstance(app.screen, RecordForm) and "meanwhile" in screen_text(app)
        )
        assert bench.stream.get("k1").content == NPM
        assert not (project / "AGENTS.md").exists()
