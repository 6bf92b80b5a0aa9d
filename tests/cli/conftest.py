"""Runs the command line in this process, at a fixed time, from a folder of the test's own."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.caches import make_demo, take_along
from workbench.cli.main import run

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)


@dataclass(frozen=True)
class Result:
    """What one command printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass
class Cli:
    """The command line: `cli("list", "-n", "3")` runs one command on the test's store."""

    cwd: Path
    store: Path
    read: Callable[[], tuple[str, str]]
    opened: list[tuple[Path, str, bool]] = field(default_factory=list)

    def __call__(self, *args: str) -> Result:
        """Run a command with `--store`."""
        return self.bare("--store", str(self.store), *args)

    def bare(self, *args: str) -> Result:
        """Run exactly these arguments."""
        try:
            code = run(args, open_app=self._open, cwd=self.cwd, clock=lambda: NOW)
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Result(code, *self.read())

    def ok(self, *args: str) -> str:
        """Run a command that has to succeed; return what it printed.

        It makes no remark but that it made the store, and which candidates a search would have
        found, too.
        """
        result = self(*args)
        usual = re.compile(
            r"Created a new store in |[\d,]+ candidates? fits? and waits? in Review: "
        )
        remarks = [line for line in result.err.splitlines() if not usual.match(line)]
        assert (result.code, remarks) == (0, [])
        return result.out

    def refused(self, *args: str) -> str:
        """Run a command that has to be refused without an answer; return what it said."""
        result = self(*args)
        assert (result.code, result.out) == (2, "")
        return result.err

    def json(self, *args: str) -> Any:
        """Run a command that has to succeed, and return what it answers as JSON."""
        return json.loads(self.ok(*args, "--json"))

    def ids(self, *args: str) -> list[str]:
        """Return the ids of the records that a command answers with."""
        return [row["id"] for row in self.json(*args)]

    def told(self, *args: str) -> Any:
        """Return what a command answers as JSON, whatever else it says."""
        return json.loads(self(*args, "--json").out)

    def files(self) -> dict[str, bytes]:
        """Return what the files of the store hold, by their names."""
        return {p.name: p.read_bytes() for p in sorted(self.store.rglob("*")) if p.is_file()}

    def write(self, name: str, text: str) -> str:
        """Write a file below the working directory, byte for byte, and return its name."""
        (self.cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (self.cwd / name).write_bytes(text.encode())
        return name

    def _open(self, store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
        assert demo == (origin == "demo")
        self.opened.append((store, origin, (store / "journal.jsonl").exists()))
        return 0


@pytest.fixture(autouse=True)
def _trusted(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trust the stores that tests make by copying and by other doors; what came from elsewhere has
    its own tests.
    """
    stores = [tmp_path / name for name in ("store", "here")]
    stores += [request.getfixturevalue("filled")] if "filled" in request.fixturenames else []
    monkeypatch.setenv("WORKBENCH_TRUST", os.pathsep.join(map(str, stores)))


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    cwd = tmp_path / "here"
    cwd.mkdir()

    def read() -> tuple[str, str]:
        out, err = capsys.readouterr()
        return out, err

    return Cli(cwd, tmp_path / "store", read)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A demo store at its own time, to be copied."""
    folder = make_demo(tmp_path_factory.mktemp("filled"))
    before = files_of(folder)
    yield folder
    assert files_of(folder) == before, "a test changed the store that all of them copy"


@pytest.fixture
def demo(cli: Cli, filled: Path) -> Cli:
    """The command line on a copy of the demo store."""
    shutil.copytree(filled, cli.store)
    take_along(filled.parent / "caches", cli.store)
    return cli


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes, the rebuildable cache left out."""
    names = (
        p for p in folder.rglob("*") if p.is_file() and "cache" not in p.relative_to(folder).parts
    )
    return {str(p.relative_to(folder)): p.read_bytes() for p in names}
