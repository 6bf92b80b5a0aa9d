"""A demo store with an official client at its door."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.caches import make_demo, take_along
from workbench.mcp.server import Clients, MemoryServer
from workbench.services.open import Workbench, open_workbench

QUERY = "why did the token refresh fail"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo store, to be copied."""
    return make_demo(tmp_path_factory.mktemp("mcp"))


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of the demo store."""
    shutil.copytree(made, tmp_path / "store")
    take_along(made.parent / "caches", tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def bench(store: Path) -> Iterator[Workbench]:
    """The demo store, open."""
    bench = open_workbench(store, profiles=store.parent / "profiles")
    yield bench
    bench.close()


Connect = Callable[..., Client]


@pytest.fixture
def connect(bench: Workbench) -> Iterator[Connect]:
    """Make a client of a server over that store, both in this process."""
    made: list[Clients] = []

    def client(clients: Clients | None = None, **options: Any) -> Client:
        made.append(clients or Clients(bench))
        return Client(MemoryServer(made[-1], **options))

    yield client
    for clients in made:
        clients.log.flush()


def command(store: Path, *args: str) -> list[str]:
    """Return the command that serves a store."""
    return [sys.executable, "-m", "workbench", "--store", str(store), "mcp", *args]


def surroundings(folder: Path) -> dict[str, str]:
    """Return the surroundings of a server that touches nothing of whoever runs the tests."""
    homes = {
        f"XDG_{kind}_HOME": str(folder / kind.lower())
        for kind in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    return {**os.environ, **homes, "WORKBENCH_TRUST": str(folder / "store")}
