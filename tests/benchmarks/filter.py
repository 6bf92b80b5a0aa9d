"""How long a key in the Stream's filter takes: typed words, clauses and phrases over a large store, key by key.

What is measured is the work on the app's thread up to the list of memories, in CPU time; the painting is not in it.
"""

import statistics
import tempfile
from pathlib import Path
from time import process_time

from tests.benchmarks.open import build
from workbench.bench.open import Workbench, open_workbench
from workbench.core.errors import InvalidQuery

TYPED = (
    "undo", "type:error", "since:7d votes", "deploy api", "type:error deplyo", '"exact phrase"', "authentication",
    "the stagin",
)  # fmt: skip
BARS = {"p95_ms": 50}


def run(small: bool = False) -> dict[str, object]:
    """Return ms of CPU for each key by what is typed, their median and 95th percentile, and what getting ready took."""
    size = 5_001 if small else 100_000
    with tempfile.TemporaryDirectory(prefix="bench-filter-") as name:
        build(Path(name) / "store", size)
        bench = open_workbench(Path(name) / "store", profiles=Path(name) / "profiles", cache=Path(name) / "cache")
        begun = process_time()
        bench.library.read()
        bench.stream.prepare()
        ready = process_time() - begun
        keys = {text: _typed(bench, text) for text in TYPED}
        bench.close()
    every = sorted(ms for each in keys.values() for ms in each)
    return {
        "memories": size,
        "ready_s": round(ready, 2),
        "median_ms": round(statistics.median(every), 1),
        "p95_ms": round(every[int(len(every) * 0.95)], 1),
        "worst_ms": round(every[-1], 1),
        "keys_ms": {text: [round(ms) for ms in each] for text, each in keys.items()},
        "bars": BARS,
    }


def _typed(bench: Workbench, text: str) -> list[float]:
    """Type a text letter by letter; return ms of CPU for each key that can be read as a filter."""
    taken = []
    for end in range(1, len(text) + 1):
        begun = process_time()
        try:
            bench.stream.view_at_once(text[:end])
        except InvalidQuery:
            continue
        taken.append(1000 * (process_time() - begun))
    return taken
