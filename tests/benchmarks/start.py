"""How long the Stream takes to its first paint, against an empty Textual app in the same run.

Both are started as whole processes in a pseudo-terminal, in turn, and timed until their first text
is on the screen.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect

from workbench.bench.demo import fill
from workbench.bench.open import open_workbench
from workbench.config import paths

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("first paint")
Empty().run()
"""


def run(small: bool = False, store: Path | None = None) -> dict[str, object]:
    """Return medians in seconds and their ratio; `store` is measured as it is, by default the demo."""
    with tempfile.TemporaryDirectory() as name:
        folder = store or _demo(Path(name))
        ours = [sys.executable, "-m", "workbench", "--store", str(folder)]
        empty = [sys.executable, "-c", EMPTY]
        times: dict[str, list[float]] = {"empty": [], "stream": []}
        for _ in range(3 if small else 9):
            times["empty"].append(first_paint(empty, "first paint"))
            times["stream"].append(first_paint(ours, r"memories"))
    empty_median, ours_median = (statistics.median(times[key]) for key in ("empty", "stream"))
    return {
        "empty_app_s": round(empty_median, 3),
        "stream_s": round(ours_median, 3),
        "ratio": round(ours_median / empty_median, 2),
        "bar": 2.5,
        "runs": len(times["empty"]),
    }


def first_paint(command: list[str], text: str) -> float:
    """Start a terminal program and return the seconds until `text` (a regular expression) is drawn."""
    begun = time.perf_counter()
    child = pexpect.spawn(command[0], command[1:], dimensions=(45, 140), encoding="utf-8", timeout=60)
    child.expect(text)
    seconds = time.perf_counter() - begun
    child.sendcontrol("q")
    child.terminate(force=True)
    return seconds


def _demo(folder: Path) -> Path:
    bench = open_workbench(folder / "store", profiles=folder / "profiles")
    fill(bench, paths.shipped("fixtures/demo"))
    bench.close()
    return folder / "store"
