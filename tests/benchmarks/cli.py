"""How long commands take as whole processes, against an interpreter that only imports what any of
them needs.

Each command and the base run in turn, so that whatever else the machine does falls on all of them
alike.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

from tests.benchmarks.open import ROOT, build, demo_sentences, memory
from workbench.config import paths
from workbench.store.identity import FOLDER
from workbench.store.library import STANDARD, Library

BASE = "import argparse, dataclasses, datetime, hashlib, json, pathlib, re, typing"
BARS = {
    "status": "1.5 × base + 20 ms",
    "append": "2 × base",
    "vote": "2.5 × base",
    "search": "0.9 s",
}
TRUST = """
import sys
from pathlib import Path
from workbench.config import paths
from workbench.store.library import Library
library = Library(Path(sys.argv[1]), heads=paths.heads_dir())
if not library.standing.trusted:
    library.journal.trust()
    library.save_checkpoint()
"""
"""What makes a store that was built here one that this machine remembers, with a checkpoint that it
believes.
"""

APPENDED = 10_000
"""Changes after the last checkpoint, which every command has to reckon with."""

Figures = dict[str, dict[str, float]]


def run(small: bool = False) -> dict[str, object]:
    """Return medians by size of the store, and of a store with many changes after its checkpoint."""
    found: dict[str, object] = {"bars": BARS}
    runs = 3 if small else 9
    for size in (1_000,) if small else (1_000, 10_000, 100_000):
        with tempfile.TemporaryDirectory(prefix="bench-cli-") as name:
            store = Path(name) / "store"
            build(store, size)
            found[f"{size:,}"] = measure(store, runs)
            _append(store, size, 100 if small else APPENDED)
            found[f"{size:,} with a long tail"] = measure(store, runs)
    return found


def measure(store: Path, runs: int) -> Figures:
    """Return the figures of each command and of the base on a store, which is changed by each turn
    alike.
    """
    return in_turns(partial(turn_of, store), own(store), runs)


class Asked(NamedTuple):
    """One command, and what it reads on stdin."""

    command: Sequence[str]
    stdin: bytes = b""


def turn_of(store: Path, number: int, names: Collection[str] = ()) -> dict[str, Asked]:
    """Return the base and the commands of a turn, or those with such names."""
    asked = {name: args for name, args in _commands(number).items() if not names or name in names}
    ours = {name: Asked(_ours(store, args)) for name, args in asked.items()}
    return {"base": Asked([sys.executable, "-c", BASE]), **ours}


def in_turns(
    turn: Callable[[int], Mapping[str, Asked]],
    surroundings: Mapping[str, str],
    runs: int,
    base: str = "base",
) -> Figures:
    """Return the medians of commands as whole processes, in ms of the clock and of the processor,
    and their ratios.

    The processor's time (user and system, of the process and its children) is what a busy machine
    changes least.
    """
    clock: dict[str, list[float]] = {}
    processor: dict[str, list[float]] = {}
    for number in range(runs + 1):
        for name, asked in turn(number).items():
            begun, spent = perf_counter(), _spent()
            subprocess.run(
                asked.command,
                input=asked.stdin,
                check=True,
                cwd=ROOT,
                env=surroundings,
                capture_output=True,
            )
            if number:  # the first fills the caches
                clock.setdefault(name, []).append(1000 * (perf_counter() - begun))
                processor.setdefault(name, []).append(1000 * (_spent() - spent))
    cpu = {name: statistics.median(each) for name, each in processor.items()}
    return {
        "clock_ms": {name: round(statistics.median(each), 1) for name, each in clock.items()},
        "cpu_ms": {name: round(each, 1) for name, each in cpu.items()},
        f"cpu_times_{base}": {name: round(each / cpu[base], 2) for name, each in cpu.items()},
    }


def _spent() -> float:
    """Return the seconds of processor time that the children of this process have taken so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _commands(turn: int) -> Mapping[str, Sequence[str]]:
    """Return the commands of a turn: each of them does something, so that a vote is another one
    than the last.
    """
    return {
        "status": ("status",),
        "search": ("search", "how do we deploy the api to staging", "-k", "5"),
        "vote": ("vote", "mem-20251101-0000007", ("helpful", "harmful")[turn % 2]),
        "append": ("append", "the hook saw a step of the nightly build end"),
        "show": ("show", "mem-20251101-0000009"),
        "history": ("history", "-n", "1"),
        "undo": ("undo",),
    }


def _ours(store: Path, args: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "workbench", "--store", str(store), *args]


def own(store: Path) -> dict[str, str]:
    """Make a store that of somebody who has used it, trusted and indexed, and return the
    surroundings for commands.
    """
    surroundings = _surroundings(store.parent)
    for args in (
        ["-c", TRUST, str(store)],
        ["-m", "workbench", "--store", str(store), "list", "-n", "1"],
    ):
        subprocess.run(
            [sys.executable, *args], check=True, cwd=ROOT, env=surroundings, capture_output=True
        )
    return {name: value for name, value in surroundings.items() if name != "WORKBENCH_TRUST"}


def _surroundings(folder: Path) -> dict[str, str]:
    """Return surroundings in which no command touches what the person at this machine has."""
    homes = {
        f"XDG_{kind}_HOME": str(folder / kind.lower())
        for kind in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    # A person's processes find what they import compiled already.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**own, **homes, "WORKBENCH_TRUST": str(folder / "store")}


def _append(store: Path, size: int, count: int) -> None:
    """Add memories one by one, as somebody whom this machine knows, with no checkpoint behind them."""
    random, sentences = Random(size), demo_sentences()
    heads = store.parent / "state" / paths.APP_NAME / FOLDER
    library = Library(store, options=STANDARD._replace(checkpoint_every=0), heads=heads)
    for number in range(size, size + count):
        with library.transaction("agent:bench", "append") as tx:
            tx.put(memory(number, sentences, random))
