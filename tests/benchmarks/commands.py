"""What texts made to be slow cost every command that reads, against prose of the same size in the
same run.

For each text there is a store with a hundred memories of it, a summary and a bullet of a megabyte,
and a file. The commands run one after the other in a process of the text's own, first without a
cache of verdicts and then with it; one that takes no end is ended, and named.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGXCPU

from tests.safety.hostile import MEGABYTE, NAMES, hostile, prose
from workbench.cli.main import run as run_command
from workbench.config import paths
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.services.open import open_workbench

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
PROSE = "prose"
MEMORIES = 100
LENGTH = MAX_CONTENT - 100
ENOUGH = 240
"""Seconds of computing that the commands of one text may take together."""

LEAST = 0.05
"""Seconds of a command with prose below which a ratio says nothing."""

BOOKS = ("ace", "skillbook", "cass")
STREAMS = (
    "jsonl", "semantic-patterns", "learnings", "mcp-memory", "letta", "external-overview", "external-detail",
    "external-messages", "json", "yaml", "csv", "markdown", "prompt",
)  # fmt: skip

Times = dict[str, float]


def run(small: bool) -> dict[str, object]:
    """Return for each command the worst text and how many times the seconds of prose it took, and
    what never ended.
    """
    size = 20_000 if small else MEGABYTE
    names = ("variation selectors", "jwt heads") if small else NAMES
    return measured(names, size)


def measured(names: Iterable[str], size: int) -> dict[str, object]:
    """Return the figures for the texts with these names."""
    plain = _times(PROSE, size)
    assert plain is not None, "prose took too long"
    found = {name: _times(name, size) for name in names}
    worst: dict[str, object] = {}
    for command, seconds in plain.items():
        ratios = {
            name: (times[command] + LEAST) / (seconds + LEAST)
            for name, times in found.items()
            if times is not None and command in times
        }
        ranked = sorted(ratios, key=lambda name: -ratios[name])
        worst[command] = {
            "prose_milliseconds": round(seconds * 1e3),
            "worst": round(ratios[ranked[0]], 1),
            "texts": {name: round(ratios[name], 1) for name in ranked[:6] if ratios[name] > 1.5},
        }
    return {
        "size": size,
        "commands": worst,
        "never_ended": [name for name, times in found.items() if times is None],
    }


def _times(name: str, size: int) -> Times | None:
    """Return the seconds of every command, run in a process of its own; `None` when they take too
    long.
    """
    with tempfile.TemporaryDirectory() as folder:
        surroundings = {
            **os.environ,
            "HOME": folder,
            "XDG_CACHE_HOME": "",
            "XDG_STATE_HOME": "",
            "XDG_DATA_HOME": "",
        }
        command = [sys.executable, "-m", "tests.benchmarks.commands", name, str(size), folder]
        try:
            done = subprocess.run(command, env=surroundings, capture_output=True, check=True)
        except subprocess.CalledProcessError as error:
            if error.returncode == -SIGXCPU:
                return None
            raise
        times: Times = json.loads(done.stdout)
        return times


def _in_own_process(name: str, size: int, folder: Path) -> Times:
    resource.setrlimit(resource.RLIMIT_CPU, (ENOUGH, resource.RLIM_INFINITY))
    text = prose(size) if name == PROSE else hostile(name, size)
    store, file = folder / "store", folder / "text.md"
    file.write_text(text, "utf-8")
    _fill(store, text)
    times: Times = {}
    for label, arguments in _commands(store, file, folder).items():
        shutil.rmtree(paths.cache_dir(), ignore_errors=True)
        os.environ["WORKBENCH_TRUST"] = "" if label == "trust" else str(store)
        times[label] = _seconds(arguments)
        # What did not change anything is not to be undone: the undo would take the store's texts
        # away.
        assert label != "undo" or _holds_all(store), (
            f"the changes before the undo did not come about ({name})"
        )
        if label != "import --dry-run" and "FILE" not in label:
            times[f"{label} (again)"] = _seconds(arguments)
    return times


def _fill(store: Path, text: str) -> None:
    bench = open_workbench(store, profiles=store.parent / "none", clock=lambda: NOW)
    pieces = [text[at : at + LENGTH] for at in range(0, len(text), LENGTH)]
    with bench.library.transaction("import:bench", "fill", group="import-1") as tx:
        for number in range(MEMORIES):
            at = NOW - timedelta(minutes=MEMORIES - number)
            content = pieces[number % len(pieces)].strip() or "nothing"
            summary = text if number == 0 else ""
            tx.put(Memory(f"mem-20260320-{number + 1:07d}", content, at, at, summary=summary))
        tx.put(Book())
        tx.put(Section("main/notes", "notes", "Notes"))
        tx.put(Bullet("note-00001", "main/notes", " ".join(text.split())))
    bench.close()


def _commands(store: Path, file: Path, folder: Path) -> Mapping[str, tuple[str, ...]]:
    at = ("--store", str(store))
    os.environ["WORKBENCH_TRUST"] = str(store)
    memories = folder / "memories.jsonl"
    bench = open_workbench(store, profiles=folder / "none", clock=lambda: NOW)
    bench.close()
    with (
        memories.open("w", encoding="utf-8") as out,
        contextlib.redirect_stdout(out),
        contextlib.suppress(SystemExit),
    ):
        _run((*at, "export", "--format", "jsonl", "--memories"))
    csv, book = folder / "one.csv", folder / "playbook.txt"
    book.write_text(
        "## NOTES\n[note-00001] helpful=1 harmful=0 :: "
        + " ".join(file.read_text("utf-8").split()),
        "utf-8",
    )
    csv.write_text(
        "id,content\n1," + json.dumps(" ".join(file.read_text("utf-8").split())) + "\n", "utf-8"
    )
    checks = folder / "checks.jsonl"
    checks.write_text(
        '{"query": "the retry loop of a queue", "never": ["mem-20260320-0000001"]}\n', "utf-8"
    )
    return {
        "status": (*at, "status"),
        "list": (*at, "list"),
        "list --json": (*at, "list", "--json"),
        "show": (*at, "show", "mem-20260320-0000001"),
        "show BULLET": (*at, "show", "note-00001"),
        "search": (*at, "search", "the retry loop of a queue"),
        "search --for-agent": (*at, "search", "the retry loop of a queue", "--for-agent", "claude"),
        "context": (*at, "context", "the retry loop of a queue"),
        "context --for-agent": (*at, "context", "the retry loop of a queue", "--for-agent", "claude"),
        "reads": (*at, "reads"),
        "index": (*at, "index"),
        "check": (*at, "check", str(checks)),
        "bullet list": (*at, "bullet", "list"),
        "scan": (*at, "scan"),
        "scan FILE": (*at, "scan", str(file)),
        "history": (*at, "history"),
        "history --values": (*at, "history", "--values"),
        "history ID": (*at, "history", "mem-20260320-0000001"),
        "stats": (*at, "stats"),
        "doctor": (*at, "doctor"),
        "review list": (*at, "review", "list"),
        "trust": (*at, "trust"),
        **_changes(at, file),
        "upkeep --dry-run": (*at, "upkeep", "--dry-run"),
        "dedup --dry-run": (*at, "dedup", "--dry-run"),
        "lint FILE": (*at, "lint", str(memories)),
        "lint FILE.txt": (*at, "lint", str(book)),
        "import FILE.txt": (*at, "import", "--dry-run", str(book)),
        "import --dry-run": (*at, "import", "--dry-run", str(memories)),
        "import FILE.csv": (*at, "import", "--dry-run", str(csv)),
        "convert FILE": (*at, "convert", "--force", str(memories), str(folder / "out.yaml")),
        **{f"export {name}": (*at, "export", "--format", name, "--book", "main") for name in BOOKS},
        **{f"export {name}": (*at, "export", "--format", name, "--memories") for name in STREAMS},
    }  # fmt: skip


def _changes(at: tuple[str, ...], file: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the commands that change what is largest, each taken back by the next."""
    memory, bullet = "mem-20260320-0000001", "note-00001"
    piece = " ".join(file.read_text("utf-8").split())[: LENGTH // 2] or "nothing"
    return {
        "edit": (*at, "edit", memory, "--", piece),
        "bullet edit": (*at, "bullet", "edit", bullet, "--", piece),
        "undo": (*at, "undo"),
        "pin": (*at, "pin", memory),
        "pin --off": (*at, "pin", "--off", memory),
        "vote": (*at, "vote", memory, "helpful", f"--reason={piece}"),
        "append": (*at, "append", "--", piece),
        "forget": (*at, "forget", memory),
        "unforget": (*at, "unforget", memory),
    }


def _seconds(arguments: tuple[str, ...]) -> float:
    with contextlib.redirect_stdout(_nowhere()), contextlib.redirect_stderr(_nowhere()):
        start = time.process_time()
        _run(arguments)
        return time.process_time() - start


def _holds_all(store: Path) -> bool:
    bench = open_workbench(store, profiles=store.parent / "none", clock=lambda: NOW)
    try:
        return len(bench.library.memories.all()) >= MEMORIES
    finally:
        bench.close()


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8")


def _run(arguments: tuple[str, ...]) -> None:
    with contextlib.suppress(SystemExit):
        run_command(arguments, open_app=_no_app, clock=lambda: NOW)


def _no_app(store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
    raise AssertionError("no command opens the app")


def _main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("size", type=int)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    print(json.dumps(_in_own_process(chosen.name, chosen.size, chosen.folder)))


if __name__ == "__main__":
    _main(sys.argv[1:])
