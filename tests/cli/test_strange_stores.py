"""Strange paths, links, store files and caches: no command hangs, grows large or writes anything by
reading.
"""

import gzip
import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.cli.commands import Command
from tests.hostile import bomb, hostile_store, written
from workbench.config.paths import cache_dir, heads_dir
from workbench.store.journal.codec import seal

pytestmark = pytest.mark.slow

MOST_MEMORY = 400 << 20
PATIENCE = 60.0
"""Seconds after which a command counts as hanging, on a machine that may be busy."""

FILES = (
    "memory.json", "journal.jsonl", "checkpoint.json", "lock", "checkpoint.lock", "placing-1.json", ".gitignore",
    "journal-000000000000.jsonl", "journal-000000000000.jsonl.gz", "memory.edited-1-x.json", "cache",
    "memory.dismissed-1-x.json", "backup-1", ".memory.json.1.tmp",
)  # fmt: skip


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


REPEATED = seal({"rev": 1, "at": "2026-03-01T12:00:00Z", "actor": "a", "label": "", "changes": []})


@cache
def _bomb(line: bytes, count: int) -> bytes:
    """Return so many mebibytes of a line, packed; made when a case needs them, and once."""
    return bomb(line * (1 + (1 << 20) // len(line)), count)


def _gigabytes() -> bytes:
    return _bomb(b"\0", 3000)


KINDS: dict[str, Callable[[Path], object]] = {
    "device": lambda path: path.symlink_to("/dev/zero"),
    "random": lambda path: path.symlink_to("/dev/urandom"),
    "pipe": os.mkfifo,
    "outside": lambda path: path.symlink_to("/etc"),
    "loop": lambda path: path.symlink_to(path.name),
    "dangling": lambda path: path.symlink_to("../../../made-by-reading"),
    "folder": lambda path: path.mkdir(),
    "sparse": _sparse,
    "deep": lambda path: path.write_text("[" * 100_000),
    "zeros": lambda path: path.write_bytes(b"\0" * 10_000_000),
    "bomb": lambda path: path.write_bytes(_gigabytes()),
}

CASES = [f"{name}: {kind}" for name, kind in itertools.product(FILES, KINDS)]


def _packed(data: Callable[[], bytes]) -> Callable[[Path], object]:
    def make(store: Path) -> None:
        """Let the beginning of the journal be packed, and every checkpoint be gone."""
        (store / "journal.jsonl").rename(store / "journal-000000000000.jsonl")
        (store / "journal-000000000000.jsonl.gz").write_bytes(data())
        (store / "journal-000000000000.jsonl").unlink()
        for name in ("memory.json", "checkpoint.json"):
            (store / name).unlink()

    return make


def _text_bomb(store: Path) -> None:
    folder = store / "cache" / "files"
    folder.mkdir(parents=True)
    (folder / "x.json.gz").write_bytes(_gigabytes())


def _many_notes(store: Path) -> None:
    for number in range(3000):
        shutil.copy(store / "placing-1.json", store / f"placing-x{number}.json")


def _linked_store(store: Path) -> None:
    shutil.rmtree(store)
    (store.parent / "empty").mkdir()
    store.symlink_to("empty")


def _root(store: Path) -> None:
    shutil.rmtree(store)
    store.symlink_to("/")


SPECIAL: dict[str, Callable[[Path], object]] = {
    "packed gigabytes": _packed(_gigabytes),
    "packed empty lines": _packed(lambda: _bomb(b"\n", 1100)),
    "packed repeated lines": _packed(lambda: _bomb(REPEATED, 1100)),
    "packed garbage": _packed(lambda: b"\x1f\x8b" + b"x" * 1000),
    "packed nothing": _packed(lambda: gzip.compress(b"")),
    "a cached text of gigabytes": _text_bomb,
    "many notes": _many_notes,
    "a linked store": _linked_store,
    "a store linked to the root": _root,
}

COMMANDS = ("status", "list", "history -n 5", "doctor", "search pnpm")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a store that has all of it half done, to be copied."""
    project = tmp_path_factory.mktemp("sound") / "project"
    hostile_store(project)
    return project


def _run(command: str, cwd: Path, *, trusted: bool = True) -> tuple[int, float, int, str]:
    """Run a command; return its exit code, seconds, bytes of memory at most, and what it said."""
    begun = time.monotonic()
    running = Command(command.split(), cwd, WORKBENCH_TRUST=str(cwd) if trusted else "")
    code, out, err = running.ended(PATIENCE)
    return code, time.monotonic() - begun, running.peak, out + err


def _make(case: str, store: Path) -> None:
    if case in SPECIAL:
        SPECIAL[case](store)
        return
    name, _, kind = case.partition(": ")
    path = store / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    KINDS[kind](path)


def _everything(project: Path) -> dict[str, tuple[object, ...]]:
    return written(project.parent, large=False) | written(Path.home(), without=(cache_dir(),))


def _chunks() -> Iterator[list[str]]:
    """Yield the cases, ten at a time: every third of the common ones, or all when the environment
    asks for them.
    """
    every = [*SPECIAL, *(CASES if os.environ.get("WORKBENCH_EVERY_CASE") else CASES[::3])]
    yield from (every[start : start + 10] for start in range(0, len(every), 10))


@pytest.mark.parametrize("cases", _chunks(), ids=lambda cases: f"{cases[0]} …")
def test_nothing_hangs_grows_or_is_written(cases: list[str], sound: Path, tmp_path: Path) -> None:
    cache_dir().mkdir(parents=True)
    memory = heads_dir()
    assert memory is not None
    report = []
    for number, case in enumerate(cases):
        project = tmp_path / str(number) / "project"
        shutil.copytree(sound, project, symlinks=True)
        _make(case, project / ".workbench")
        before = _everything(project)
        for command in (*COMMANDS, "status as it came"):
            code, seconds, peak, said = _run(
                command.removesuffix(" as it came"), project, trusted=not command.endswith("came")
            )
            wrong = code not in (0, 1, 2) or "Traceback" in said or peak > MOST_MEMORY
            report += (
                [(case, command, code, round(seconds, 1), peak >> 20, said[-300:])] if wrong else []
            )
        if _everything(project) != before:
            report.append((case, "something was written", 0, 0.0, 0, ""))
        code, seconds, peak, said = _run("append seen --actor x", project)
        if code not in (0, 2) or "Traceback" in said or peak > MOST_MEMORY:
            report.append((case, "append", code, round(seconds, 1), peak >> 20, said[-300:]))
    assert not report, json.dumps(report, indent=1)
