"""Small real things the store's tests are built from."""

import itertools
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from workbench.core.stream.memory import Memory
from workbench.store.append import Appending, appending
from workbench.store.entry import Doc
from workbench.store.index.indexing import Indexing
from workbench.store.journal.engine import Journal, Options
from workbench.store.library import STANDARD, Library

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
COUNTED = frozenset({"n"})


def clock() -> datetime:
    """A clock that stands still."""
    return NOON


def open_journal(folder: Path, **options: int) -> Journal:
    """Open a journal whose field `n` is counted."""
    folder.mkdir(exist_ok=True)
    return Journal(
        folder, clock, COUNTED, options=Options(checkpoint_every=0)._replace(**cast(Any, options))
    )


def open_library(folder: Path, **options: int) -> Library:
    """Open a library at noon."""
    return Library(folder, clock, Options(checkpoint_every=0)._replace(**cast(Any, options)))


def indexing(cache: Path, **how: int) -> Indexing:
    """Index a store however small it is."""
    begin = partial(cache.mkdir, exist_ok=True)
    return Indexing(cache, begin, "memories", **{"least": 0, **how})


def indexed(cache: Path, **how: int) -> Options:
    """Keep a store as a large one is kept."""
    return STANDARD._replace(indexing=indexing(cache, **how))


def put(journal: Journal, doc_id: int, doc: Doc, actor: str = "human", group: str = "") -> int:
    """Commit one document and return the revision."""
    with journal.transaction(actor, f"put {doc_id}", group=group) as staged:
        staged.put("t", str(doc_id), doc)
    return journal.rev


def delete(journal: Journal, doc_id: int, actor: str = "human") -> int:
    """Delete one document and return the revision."""
    with journal.transaction(actor, f"delete {doc_id}") as staged:
        staged.delete("t", str(doc_id))
    return journal.rev


def docs(journal: Journal, table: str = "t") -> dict[str, Doc]:
    """Return the documents of a table."""
    return dict(journal.state.tables.get(table, {}))


def append(
    folder: Path,
    actor: str,
    label: str,
    clock: Callable[[], datetime],
    make: Callable[[Appending], None],
) -> None:
    """Let `make` add memories as one transaction, as a hook does."""
    with appending(folder, actor, label, clock) as block:
        make(block)


def memory(number: int, content: str = "", **fields: object) -> Memory:
    """Make a memory with a made-up id."""
    return Memory(f"m{number}", content or f"memory number {number}", NOON, NOON, **fields)  # type: ignore[arg-type]


def lines(folder: Path) -> list[bytes]:
    """Return the lines of the active segment, line ends included."""
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def killed_after(step: Callable[[], object], name: str, count: int = 1) -> None:
    """Run a step in a process that is killed right after a function of the operating system went
    well `count` times.
    """
    child = os.fork()
    if child == 0:
        real, calls = getattr(os, name), itertools.count(1)

        def call(*args: Any, **kwargs: Any) -> object:
            done = real(*args, **kwargs)
            if next(calls) == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        setattr(os, name, call)
        try:
            step()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it ended before that"
    assert os.WTERMSIG(status) == signal.SIGKILL


@contextmanager
def failing(where: object, name: str, error: OSError, after: int = 0) -> Iterator[None]:
    """Let a function of the operating system fail, once `after` calls went well."""
    real = getattr(where, name)
    calls = 0

    def fail(*args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls > after:
            raise error
        return real(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, fail)
        yield
