"""What TinyDB's own tests, kept here as its release 4.9.0 has them, run against: a store."""

from pathlib import Path

import pytest
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import MemoryStorage

from workbench.store.journal.database import open_db

NAMES_ITS_STORAGE = "test_table_repr"
"""Demands the names of TinyDB's own storage classes in a repr."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if item.name != NAMES_ITS_STORAGE]


@pytest.fixture
def db(tmp_path: Path) -> TinyDB:
    db = open_db(tmp_path / "store")
    db.drop_tables()
    db.insert_multiple({"int": 1, "char": char} for char in "abc")
    return db


@pytest.fixture
def storage() -> object:
    return CachingMiddleware(MemoryStorage)()  # type: ignore[no-untyped-call]
