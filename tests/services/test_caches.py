"""Caches are the user's own: outside the store, of one store each, and gone with it."""

import shutil
from pathlib import Path

from tests.services.conftest import Open, memory, put
from workbench.config.paths import cache_dir
from workbench.services import caches
from workbench.services.open import Workbench


def test_nothing_is_cached_in_the_store(bench: Workbench) -> None:
    put(bench, memory("a", "The deploy fails without the secret."))
    before = sorted(bench.library.folder.iterdir())
    bench.retriever.load()
    assert sorted(bench.library.folder.iterdir()) == before
    assert {path.suffix for path in bench.context.caches.rglob("*") if path.is_file()} >= {
        ".npz",
        ".bin",
    }
    assert bench.context.caches.stat().st_mode & 0o777 == 0o700


def test_the_caches_of_stores_that_are_gone_go(open_bench: Open, tmp_path: Path) -> None:
    gone, kept = open_bench(folder=tmp_path / "gone"), open_bench(folder=tmp_path / "kept")
    for bench in (gone, kept):
        put(bench, memory("a", "The deploy fails without the secret."))
        bench.retriever.load()
    gone.close()
    shutil.rmtree(gone.library.folder)
    open_bench(folder=tmp_path / "third").retriever.load()
    assert not gone.context.caches.exists()
    assert kept.context.caches.exists()


def test_a_store_has_one_place_however_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "store")
    place = caches.place(cache_dir(), tmp_path / "store")
    assert (
        caches.place(cache_dir(), tmp_path / "link")
        == place
        != caches.place(cache_dir(), tmp_path / "other")
    )


def test_what_cannot_be_cached_is_computed(bench: Workbench) -> None:
    put(bench, memory("a", "The deploy fails without the secret."))
    cache_dir().parent.mkdir(parents=True, exist_ok=True)
    cache_dir().write_text("in the way")
    bench.retriever.load()
    assert _found(bench) == ["a"]


def _found(bench: Workbench) -> list[str]:
    tuning = bench.tuning
    return list(tuning.rank("deploy secret", tuning.default(), k=9).ids)
