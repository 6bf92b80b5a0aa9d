"""Still true? in Health: looked for by its key, shown with the evidence, put into Review and taken
back.
"""

import shutil
from pathlib import Path

import pytest

from tests.repository import commit, git
from tests.tui.health_host import beside, keys, opened, settled
from tests.tui.support import NOW, app_over, screen_text
from tests.tui.waiting import until
from workbench.config import paths
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def bench_of(tree: Path) -> Workbench:
    tree.mkdir()
    (tree / "client.py").write_text("def fetch_all(url):\n    return url\n", "utf-8")
    git(tree, "init", "-q", ".")
    commit(tree, "begun")
    (tree / "client.py").write_text("def fetch_pages(url):\n    return url\n", "utf-8")
    commit(tree, "renamed")
    store = tree / ".workbench"
    bench = open_workbench(
        store, profiles=tree / "none", heads=paths.heads_dir(), clock=lambda: NOW
    )
    with bench.library.transaction("human", "memories") as tx:
        tx.put(Memory("m0", "Call fetch_all() first.", NOW, NOW, memory_type="procedural"))
        tx.put(Memory("m1", "Call fetch_pages() last.", NOW, NOW, memory_type="procedural"))
    return bench


async def test_it_looks_shows_and_proposes(tmp_path: Path) -> None:
    app = app_over(bench_of(tmp_path / "shop"))
    async with opened(app, (80, 24)) as pilot:
        assert app.bench.review.waiting() == 0
        await keys(pilot, "s")
        await until(
            pilot, lambda: "→ Call fetch_all() first." in " ".join(screen_text(app).split())
        )
        assert "1 text names something that no longer exists" in screen_text(app)
        await keys(pilot, "j j enter")
        assert "fetch_all is fetch_pages now (commit" in beside(app)
        assert "Call fetch_pages() first." in beside(app)
        await keys(pilot, "escape a")
        assert app.bench.review.waiting() == 1
        await settled(pilot)
        assert "Nothing new: 2 names in 2 texts" in screen_text(app)
        await keys(pilot, "u")
        assert app.bench.review.waiting() == 0


async def test_without_a_project_it_says_why_it_cannot(tmp_path: Path) -> None:
    bench = open_workbench(
        tmp_path / "store", profiles=tmp_path / "none", heads=paths.heads_dir(), clock=lambda: NOW
    )
    app = app_over(bench)
    async with opened(app) as pilot:
        await keys(pilot, "s")
        assert "belongs to no project" in screen_text(app)
