"""What the first screen waits for: only what it shows is imported before it is painted."""

import subprocess
import sys
from pathlib import Path

from tests.tui.support import demo_app

ROOT = Path(__file__).parents[2]

LATER = (
    "numpy", "model2vec", "tokenizers", "rapidfuzz", "tinydb", "anthropic", "workbench.core.tuning.scoring",
    "workbench.core.review.lifecycle", "workbench.services.stream.votes", "workbench.services.stream.fields",
    "workbench.services.stream.semantic", "workbench.services.review.review", "workbench.services.review.queue",
    "workbench.services.tuning.retriever", "workbench.services.health.doctor",
)  # fmt: skip
"""What ranks, changes, decides and looks after the store."""

MODULES = 221
"""Modules of ours that are loaded by then, at most; everybody's start waits for each of them."""

PAINT = """
import sys
from pathlib import Path
from workbench.services.open import open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import AppOptions

folder = Path(sys.argv[1])
app = WorkbenchApp(open_workbench(folder, profiles=folder / "profiles"), AppOptions(title="demo"))
paint, found = AreaScreen._compositor_refresh, []


def painting(screen):
    paint(screen)
    if not found and screen.query("#side") and screen.rows.rows and screen.rows.size.height:
        found.extend(sys.modules)
        app.exit()


AreaScreen._compositor_refresh = painting
app.run(headless=True, size=(140, 45))
print(*found)
"""


def test_the_first_screen_waits_for_nothing_that_it_does_not_show(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    folder = app.bench.library.folder
    app.bench.close()
    ran = [sys.executable, "-c", PAINT, str(folder)]
    found = subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "workbench.tui.stream.screen" in found
    assert set(LATER).isdisjoint(found)
    assert sum(name.startswith("workbench") for name in found) <= MODULES
