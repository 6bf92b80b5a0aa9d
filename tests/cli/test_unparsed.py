"""Commands that run all day over a large store: none of them parses all of its documents."""

from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

from tests.cli.conftest import NOW, Cli
from workbench.config import paths
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.store.journal import codec

COUNT = 400
LARGE = 100_000
"""Bytes of JSON that are not of one record: the store has over a million of them."""

DAILY = (
    ("status",),
    ("vote", "mem-7", "helpful"),
    ("undo",),
    ("show", "mem-7"),
    ("search", "lesson 12"),
    ("history", "-n", "1"),
    ("append", "one more lesson"),
)


@pytest.fixture
def large(cli: Cli) -> Path:
    """A store that is large enough for a read index, has one, and was searched before."""
    bench = open_workbench(
        cli.store,
        profiles=paths.config_dir() / "profiles",
        cache=paths.cache_dir(),
        heads=paths.heads_dir(),
    )
    for begin in range(0, COUNT, 10):  # a line of the journal is read whole by who shows it
        with bench.library.transaction("human", "memories") as tx:
            for number in range(begin, begin + 10):
                tx.put(
                    Memory(
                        f"mem-{number}",
                        f"lesson {number}: " + "keep the words apart " * 150,
                        NOW,
                        NOW,
                    )
                )
    bench.library.journal.save_checkpoint()
    bench.retriever.load()
    bench.keep_caches()
    bench.close()
    cli.ok("append", "the first one on this machine, which looks once for what was archived")
    assert (cli.store / "memory.json").stat().st_size > 10 * LARGE
    return cli.store


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each piece of JSON had that was parsed from the store's files."""
    sizes: list[int] = []

    def loads(data: bytes) -> object:
        sizes.append(len(data))
        return orjson.loads(data)

    monkeypatch.setattr(codec, "orjson", SimpleNamespace(**{**vars(orjson), "loads": loads}))
    return sizes


@pytest.mark.slow
@pytest.mark.parametrize("command", DAILY, ids=" ".join)
def test_a_daily_command_parses_no_large_store_whole(
    command: tuple[str, ...], cli: Cli, large: Path, parsed: list[int]
) -> None:
    if command[0] == "undo":
        cli.ok("vote", "mem-7", "helpful")
    if command[0] == "search":
        cli.ok("append", "a lesson that came since the last search")
    cli.ok(*command)
    assert max(parsed, default=0) < LARGE


def test_what_checks_all_documents_parses_them(cli: Cli, large: Path, parsed: list[int]) -> None:
    assert cli("doctor").code == 0
    assert max(parsed) > LARGE
