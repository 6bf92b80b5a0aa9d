"""What was made of a store's texts, for copies of it: each test would embed and index the same
texts again.
"""

import shutil
from pathlib import Path

from workbench.config import paths
from workbench.services import caches
from workbench.services.demo import ANCHOR, fill
from workbench.services.open import Workbench, open_workbench


def make(bench: Workbench, folder: Path) -> None:
    """Embed and index the texts of a store, and keep what came of it in a new folder."""
    bench.retriever.load()
    shutil.copytree(bench.context.caches, folder, ignore=shutil.ignore_patterns(caches.STORE_NOTE))


def make_demo(folder: Path) -> Path:
    """Make a demo store at its own time in `folder`, and keep its caches beside it, to be copied;
    return the store.
    """
    store = folder / "store"
    bench = open_workbench(store, profiles=store / "none", clock=lambda: ANCHOR)
    fill(bench, paths.shipped("fixtures/demo"))
    make(bench, folder / "caches")
    bench.close()
    return store


def take_along(folder: Path, store: Path) -> None:
    """Give a copy of that store what was kept, where the caches of this test are."""
    shutil.copytree(folder, caches.place(paths.cache_dir(), store))
