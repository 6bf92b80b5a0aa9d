"""The pool of a large store as it is kept: ranked from, it gives what reading every memory gives."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.store.helpers import NOON, clock, indexed
from workbench.core.stream.memory import Memory
from workbench.retrieval.ranking.pool import COLUMNS, Pool
from workbench.services.tuning.retriever import KeptPool
from workbench.store.library import Library


def a_memory(number: int) -> Memory:
    """A memory like no other."""
    at = NOON - timedelta(hours=number)
    return Memory(
        f"m{number}",
        f"Does step {number} fail?",
        at,
        at,
        session_id=f"s{number % 3}",
        helpful_votes=number % 4,
    )


@pytest.fixture
def reopen(tmp_path: Path) -> Callable[[], Library]:
    """Opens the store as a large one is opened."""
    return lambda: Library(tmp_path / "s", clock, indexed(tmp_path / "cache"))


@pytest.fixture
def filled(reopen: Callable[[], Library], tmp_path: Path) -> Library:
    """A store with an index, of which the pool is kept."""
    library = reopen()
    with library.transaction("human", "add") as tx:
        for number in range(20):
            tx.put(a_memory(number))
    library.save_checkpoint()
    KeptPool(library, tmp_path / "cache" / "columns").write(Pool.build(library.memories.all()))
    return library


def assert_same(kept: Pool | None, library: Library) -> None:
    """Hold a kept pool against one that is read."""
    assert kept is not None
    pool = Pool.build(library.memories.all())
    assert list(kept.row_of) == list(pool.row_of)
    for name in (*COLUMNS, "asks", "text_keys", "id_rank", "order"):
        assert np.array_equal(getattr(kept, name), getattr(pool, name)), name
    assert list(kept.memories) == list(pool.memories)


def test_a_kept_pool_is_what_reading_gives(
    filled: Library, reopen: Callable[[], Library], tmp_path: Path
) -> None:
    library = reopen()
    kept = KeptPool(library, tmp_path / "cache" / "columns")
    pool = kept.read()
    assert pool is not None
    assert pool.memories[3].content == "Does step 3 fail?"
    assert not library.is_read
    assert not kept.is_due
    assert_same(pool, filled)


def test_what_was_changed_since_is_put_on_top(
    filled: Library, reopen: Callable[[], Library], tmp_path: Path
) -> None:
    with filled.transaction("human", "change") as tx:
        tx.put(
            replace(
                filled.memories.get("m4"), content="Another text of which nobody asked anything."
            )
        )
        tx.put(replace(filled.memories.get("m5"), helpful_votes=9, status="archived"))
        tx.put(a_memory(20))
    assert_same(KeptPool(reopen(), tmp_path / "cache" / "columns").read(), filled)


def test_where_a_memory_is_gone_all_are_read(
    filled: Library, reopen: Callable[[], Library], tmp_path: Path
) -> None:
    with filled.transaction("human", "remove") as tx:
        tx.delete(filled.memories.get("m4"))
    assert KeptPool(reopen(), tmp_path / "cache" / "columns").read() is None


@pytest.mark.parametrize("data", [b"", b"WBPOOL01", b"\0" * 500])
def test_a_spoilt_file_is_none(
    data: bytes, filled: Library, reopen: Callable[[], Library], tmp_path: Path
) -> None:
    file = tmp_path / "cache" / "columns" / "columns.npz"
    whole = file.read_bytes()
    for spoilt in (data, whole[:-9], whole[:200] + b"x" + whole[201:]):
        file.write_bytes(spoilt)
        assert KeptPool(reopen(), file.parent).read() is None
    file.write_bytes(whole)
    assert_same(KeptPool(reopen(), file.parent).read(), filled)
