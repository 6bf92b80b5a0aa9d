"""Health, Consolidation: looked at, done, reported, taken back; by keys."""

from pathlib import Path

from tests.services.experienced import meta, said
from tests.tui.health_host import health, keys, opened
from tests.tui.support import app_over, open_bench, screen_text
from workbench.core.agents.consolidation import STAGES
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp

SAME = "Deploy the service to staging and see whether it answers"


def filled(folder: Path) -> Workbench:
    bench = open_bench(folder)
    about = meta(task_type="deploy", domain="ops")
    bench.episodes.store_all([said(SAME, days=280 + n, **about) for n in range(3)])
    return bench


def names(app: WorkbenchApp) -> list[str]:
    found = [
        row for row in health(app).rows.rows if row.section == "consolidation" and not row.heading
    ]
    return [row.name for row in found if row.name != "gap"]


async def test_it_is_looked_at_then_done_and_taken_back(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        await keys(pilot)
        health(app).sections["consolidation"].go()
        await keys(pilot, "j")
        assert "Never run" in screen_text(app)
        await keys(pilot, "k a")
        assert names(app)[1:7] == [kind.id for kind in STAGES]
        assert app.bench.consolidating.last() is None
        assert [one.status for one in app.bench.episodes.all()] == ["active"] * 3
        await keys(pilot, "a")
        assert [one.status for one in app.bench.episodes.all()].count("archived") == 2
        run = app.bench.consolidating.last()
        assert run is not None
        assert run.left == ()
        assert "next due" in screen_text(app)
        await keys(pilot, "u")
        assert [one.status for one in app.bench.episodes.all()] == ["active"] * 3
