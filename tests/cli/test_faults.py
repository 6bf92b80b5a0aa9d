"""The long proof of failing system calls: what was acknowledged is there, what was refused is not,
or nobody knows.
"""

import errno
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.config.paths import heads_dir
from workbench.core.stream.memory import Memory
from workbench.store.identity import key_in
from workbench.store.journal.codec import dumps
from workbench.store.journal.engine import Options
from workbench.store.library import Library

CALLS = 60
NAMES = (
    "open",
    "write",
    "fsync",
    "ftruncate",
    "truncate",
    "replace",
    "rename",
    "unlink",
    "mkdir",
    "rmdir",
    "fstat",
)
UNSURE = re.compile("it is unknown|purge could not be finished")

COMMANDS: dict[str, tuple[str, ...]] = {
    "append": ("append", "what the hook saw"),
    "vote": ("vote", "mem-20260320-0000002", "helpful"),
    "import": ("import", "notes.jsonl"),
    "undo": ("undo",),
    "compact": ("compact",),
    "purge": ("purge", "mem-20260320-0000003", "--yes-erase", "mem-20260320-0000003"),
}


class Faulty(io.FileIO):
    """A file whose writes are counted too."""

    count: Callable[[], None]

    def write(self, data: Any) -> int:
        """Write, or fail."""
        Faulty.count()
        return super().write(data)


@contextmanager
def failing_at(number: int, *, lasting: bool) -> Iterator[None]:
    """Let the call with that number fail, or also all that follow it; reading goes on."""
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        if calls == number or (lasting and calls > number):
            raise OSError(errno.EIO, "Input/output error")

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            reads = real is os_open and not args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if not reads:
                count()
            return real(*args, **kwargs)

        return call

    def opened(handle: int, mode: str, *rest: Any, **more: Any) -> Any:
        writes = {"w", "a", "+"} & set(mode)
        return (
            io.BufferedWriter(Faulty(handle, "wb"))
            if writes
            else fdopen(handle, mode, *rest, **more)
        )

    os_open, fdopen = os.open, os.fdopen
    Faulty.count = staticmethod(count)
    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES:
            patch.setattr(os, name, counted(getattr(os, name)))
        patch.setattr(
            os,
            "fdopen",
            lambda handle, mode="r", *rest, **more: opened(handle, mode, *rest, **more),
        )
        yield


def make(cli: Cli) -> None:
    """Make a store with three memories, a closed segment and a checkpoint."""
    library = Library(cli.store, lambda: NOW, Options(segment_bytes=1500), heads_dir())
    for number in range(4):
        with library.transaction("cli", f"add {number}") as tx:
            name = tx.new_memory_id(NOW)
            tx.put(
                Memory(
                    name, f"the memory with number {number} is about something of its own", NOW, NOW
                )
            )
        if number == 1:
            library.journal.save_checkpoint()
    rows = [{"id": f"n{n}", "content": f"an imported note of {n} words"} for n in range(3)]
    cli.write("notes.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def state(folder: Path) -> bytes:
    """Return all documents of a store, read by a process that knows nothing."""
    library = Library(folder, lambda: NOW)
    assert library.journal.damage == []
    return dumps(
        [
            [t, sorted(docs.items())]
            for t, docs in sorted(library.journal.state.tables.items())
            if docs
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("name", list(COMMANDS))
def test_acknowledged_is_there_and_refused_is_not(
    cli: Cli, tmp_path: Path, name: str, lasting: bool
) -> None:
    make(cli)
    heads, whole, kept = heads_dir(), tmp_path / "whole", tmp_path / "heads"
    assert heads is not None
    key_in(heads)  # made once: a mark of what was purged is the same each time
    shutil.copytree(cli.store, whole)
    shutil.copytree(heads, kept)
    before = state(cli.store)
    assert cli(*COMMANDS[name]).code == 0
    after = state(cli.store)
    assert (after == before) == (name == "compact")
    wrong, refused = [], 0
    for number in range(1, CALLS + 1):
        for copy, place in ((whole, cli.store), (kept, heads)):
            shutil.rmtree(place)
            shutil.copytree(copy, place)
        with failing_at(number, lasting=lasting):
            result = cli(*COMMANDS[name])
        assert "Traceback" not in result.out + result.err
        refused += result.code != 0
        now = state(cli.store)
        expected = (
            {after}
            if result.code == 0
            else {before, after}
            if UNSURE.search(result.err)
            else {before}
        )
        if now not in expected:
            wrong.append((number, result.code, result.err, now == after))
        assert cli("append", f"after call {number}").code == 0
        assert f"after call {number}" in cli("list", "--json").out
    assert wrong == []
    assert refused
