"""A store, a clock that stands still until it is moved, and the demo store at its own time."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.caches import make_demo, take_along
from workbench.config.paths import shipped
from workbench.core.stream.memory import Memory
from workbench.services.context import DocumentPlaces, encoded
from workbench.services.demo import ANCHOR, fill, lay_out, surround
from workbench.services.files.importing import ImportPlan
from workbench.services.open import Workbench, open_workbench

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SOON = ANCHOR + timedelta(minutes=30)
"""Half an hour after the last memory of the demo."""


class Clock:
    """A clock that a test moves."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **step: float) -> None:
        """Move on by a `timedelta`."""
        self.at += timedelta(**step)


Open = Callable[..., Workbench]

KEY = "AKIAZ7QWERTYUI5PLMNB"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def open_bench(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Open the test's store, again and again, as whoever is asked for."""
    opened: list[Workbench] = []

    def open_it(actor: str = "human", folder: Path = tmp_path / "store") -> Workbench:
        mine, copies = tmp_path / "profiles", tmp_path / "replaced"
        bench = open_workbench(folder, profiles=mine, replaced=copies, actor=actor, clock=clock)
        opened.append(bench)
        return bench

    yield open_it
    for bench in opened:
        bench.close()


@pytest.fixture
def bench(open_bench: Open) -> Workbench:
    """An empty store."""
    return open_bench()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo store at its own time, to be copied."""
    return make_demo(tmp_path_factory.mktemp("filled"))


@pytest.fixture
def demo(filled: Path, tmp_path: Path, clock: Clock, open_bench: Open) -> Workbench:
    """A copy of the demo store, half an hour after its last memory."""
    clock.at = SOON
    shutil.copytree(filled, tmp_path / "store")
    take_along(filled.parent / "caches", tmp_path / "store")
    return open_bench()


@pytest.fixture
def around(bench: Workbench, tmp_path: Path) -> Workbench:
    """The demo in the present, with what its agents did and learned, and its scratch project."""
    fill(bench, shipped("fixtures/demo"))
    surround(bench, shipped("fixtures/demo"), tmp_path / "documents")
    lay_out(bench, shipped("fixtures/demo"))
    return bench


@pytest.fixture(scope="module")
def asked(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A copy of the demo store at the same time, for all tests of a file, which only ask."""
    folder = tmp_path_factory.mktemp("asked")
    shutil.copytree(filled, folder / "store")
    take_along(filled.parent / "caches", folder / "store")
    opened = open_workbench(folder / "store", profiles=folder / "profiles", clock=lambda: SOON)
    yield opened
    opened.close()


def memory(id: str, content: str, at: datetime = NOON, **fields: object) -> Memory:
    """Return a memory made at `at`."""
    return Memory(id, content, at, at, **fields)  # type: ignore[arg-type]


@contextmanager
def ungated(bench: Workbench) -> Iterator[None]:
    """Let texts in as they are, as a store of an older version holds them."""
    journal = bench.library.journal
    journal.gate, gate = None, journal.gate
    yield
    journal.gate = gate


def put(bench: Workbench, *records: object) -> None:
    """Store records as nobody's action, so that undo never means them."""
    with ungated(bench), bench.library.transaction("setup", "set up") as tx:
        for record in records:
            tx.put(record)


def write(bench: Workbench, *records: object, by: str = "") -> None:
    """Store records as an action of whom the store was opened for, or of somebody else."""
    with bench.library.transaction(by or bench.context.actor, "write") as tx:
        for record in records:
            tx.put(record)


def bring(bench: Workbench, path: Path, text: str | None = None) -> ImportPlan:
    """Import a file, after a text was written to it, and return what was planned."""
    if text is not None:
        path.write_text(text)
    plan = bench.importer.plan(path)
    bench.importer.carry_out(plan)
    return plan


def files_in(folder: Path) -> dict[Path, bytes]:
    """Return what stands in every file below a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def holding(folder: Path, text: str) -> list[str]:
    """Return the files below a folder that hold a text."""
    found = (path for path, data in files_in(folder).items() if text.encode() in data)
    return [str(path.relative_to(folder)) for path in found]


def snapshot(bench: Workbench) -> dict[str, dict[object, object]]:
    """Return every record of the store by table."""
    library = bench.library
    tables = {
        "memories": library.memories.all(), "bullets": library.bullets.all(), "sections": library.sections.all(),
        "books": library.books.all(), "votes": library.votes.all(), "queries": library.queries.all(),
        "judgments": library.judgments.all(), "proposals": library.proposals.all(),
        "reflection": library.reflection.all(),
    }  # fmt: skip
    return {
        name: {(getattr(r, "book", ""), r.id): r for r in records}  # type: ignore[attr-defined]
        for name, records in tables.items()
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def places(tmp_path: Path, project: Path) -> Open:
    """Open the store of a project, as whoever is asked for, with the folders of documents around
    it.
    """

    def opened(actor: str = "human") -> Workbench:
        around = DocumentPlaces(tmp_path / "seen", None, tmp_path / "sessions", project)
        return open_workbench(
            project / ".workbench", profiles=tmp_path / "profiles", replaced=tmp_path / "replaced", actor=actor,
            clock=lambda: NOON, documents=around,
        )  # fmt: skip

    return opened


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of external memory of the project."""
    root = tmp_path / "sessions" / encoded(tmp_path / "project") / "s-1"
    memory = root / "working-memory"
    (memory / "detail").mkdir(parents=True)
    (memory / "overview.md").write_text(f"# Working Memory\n\n## Current Task\nTokens, not {KEY}\n")
    (memory / "detail" / "auth.md").write_bytes(b"# Auth\r\n\r\nUse JWT.\r\nno last end")
    (root / "messages.jsonl").write_text('{"role": "user", "content": "Which tokens?"}\n')
    return root
