"""The app over a few of the records of the demo, and waiting until its threads rest."""

import asyncio
import json
from pathlib import Path

from textual.pilot import Pilot

from tests.tui.support import DEMO, open_bench
from tests.tui.waiting import until
from workbench.services.demo import fill
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp


def small(folder: Path) -> Path:
    """Write a few of the demo's records: some of every status, and what they hang together with."""
    wanted = {"signal": 6, "candidate": 5, "confirmed": 2, "archived": 1, "promoted": 1}
    lines = []
    for line in (DEMO / "memories.jsonl").read_text("utf-8").splitlines():
        status = json.loads(line)["status"]
        wanted[status] -= 1
        if wanted[status] >= 0:
            lines.append(line)
    (folder / "memories.jsonl").write_text("\n".join(lines), "utf-8")
    for name, count in (("playbook.txt", 14), ("queries.jsonl", 2), ("reads.jsonl", 2)):
        kept = (DEMO / name).read_text("utf-8").splitlines()[:count]
        (folder / name).write_text("\n".join(kept), "utf-8")
    return folder


async def quiet(app: WorkbenchApp, pilot: Pilot[Path | None]) -> None:
    """Wait until what was begun in threads has come back, and everything that was sent has been
    dealt with.
    """
    for _ in range(1000):
        await pilot.pause()
        if not any(worker.is_running and worker._thread_worker for worker in app.workers):
            break
        await asyncio.sleep(0.005)
    for _ in range(3):
        await pilot.pause()


def filled(folder: Path) -> Workbench:
    bench = open_bench(folder)
    fill(bench, small(folder))
    return bench


async def started(pilot: Pilot[Path | None]) -> WorkbenchApp:
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await pilot.pause()
    await until(pilot, lambda: not any(w.is_running for w in app.workers))
    return app
