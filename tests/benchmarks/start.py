"""How long it takes until the newest memory stands on the screen, against an empty Textual app in
the same run.

All are started as whole processes in a pseudo-terminal, in turn, and timed until a text of their
own is drawn: that of the newest memory, of the demo and of a large store. Then at once, while the
rest is still read, the cursor is moved: that is answered when the next memory's text is drawn.
"""

import os
import re
import statistics
import sys
import tempfile
import time
from functools import cache
from heapq import nlargest
from pathlib import Path

import pexpect

from tests.benchmarks.cli import own
from tests.benchmarks.open import build
from workbench.config import paths
from workbench.services.demo import fill
from workbench.services.open import open_workbench
from workbench.store.library import Library

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("first paint")
Empty().run()
"""


def run(small: bool = False) -> dict[str, object]:
    """Return medians in seconds, and the ratios to the empty app beside their bars."""
    with tempfile.TemporaryDirectory() as name:
        stores = {"demo": _demo(Path(name) / "demo"), "large": Path(name) / "large" / "store"}
        build(stores["large"], 2_000 if small else 100_000)
        homes = {key: own(folder) for key, folder in stores.items()}
        empty = [sys.executable, "-c", EMPTY]
        times: dict[str, list[float]] = {"empty": [], **{key: [] for key in stores}}
        keys: dict[str, list[float]] = {key: [] for key in stores}
        for turn in range(4 if small else 10):
            found = {"empty": first_paint(empty, "first paint")}
            for key, folder in stores.items():
                ours = [sys.executable, "-m", "workbench", "--store", str(folder)]
                first, second = map(re.escape, newest(folder))
                found[key] = first_paint(ours, first, second, keys[key], homes[key])
            if turn:  # the first fills the caches
                for key, seconds in found.items():
                    times[key].append(seconds)
    medians = {key: statistics.median(each) for key, each in times.items()}
    return {
        **{f"{key}_s": round(seconds, 3) for key, seconds in medians.items()},
        "demo_ratio": round(medians["demo"] / medians["empty"], 2),
        "demo_bar": 2.2,
        "large_ratio": round(medians["large"] / medians["empty"], 2),
        "large_bar": 3.0,
        "key_s": {key: round(statistics.median(each[1:]), 3) for key, each in keys.items()},
        "key_worst_s": {key: round(max(each[1:]), 3) for key, each in keys.items()},
        "key_bar_s": 0.1,
        "runs": len(times["empty"]),
    }


def first_paint(
    command: list[str],
    text: str,
    next: str = "",
    answered: list[float] | None = None,
    surroundings: dict[str, str] | None = None,
    spent: list[float] | None = None,
) -> float:
    """Start a terminal program and return the seconds until `text` (a regular expression) is drawn.

    With `next` the cursor is moved then, and `answered` gets the seconds until that text is drawn.
    `surroundings` are the program's, unless they are ours; `spent` gets the seconds of the
    processor that it took until then.
    """
    begun = time.perf_counter()
    child = pexpect.spawn(
        command[0],
        command[1:],
        dimensions=(45, 140),
        encoding="utf-8",
        timeout=60,
        env=surroundings,
    )
    child.delaybeforesend = None  # by itself it would wait before each key
    child.expect(text)
    seconds = time.perf_counter() - begun
    if spent is not None:
        used = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        spent.append((int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK"))
    if next and answered is not None:
        pressed = time.perf_counter()
        child.send("j")
        child.expect(next)
        answered.append(time.perf_counter() - pressed)
    child.sendcontrol("q")
    child.terminate(force=True)
    return seconds


@cache
def newest(folder: Path) -> tuple[str, str]:
    """Return how the newest memory of a store begins, and a piece of the next one that stands only
    in its detail.
    """
    first, second = nlargest(
        2, Library(folder).memories.all(), key=lambda memory: (memory.created_at, memory.id)
    )
    return first.line[:20], second.id


def _demo(folder: Path) -> Path:
    bench = open_workbench(folder / "store", profiles=folder / "profiles")
    fill(bench, paths.shipped("fixtures/demo"))
    bench.close()
    return folder / "store"
