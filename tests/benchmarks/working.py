"""The working memory of a session: setting and reading a variable, while it is nearly full and the
store is large.

Times are CPU of this thread, in milliseconds: medians and 95th percentiles.
"""

import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import thread_time

from workbench.agent.memory import Memory
from workbench.services.open import open_workbench

BARS = {"set_ms": 1, "get_ms": 1}


def run(small: bool = False) -> dict[str, object]:
    """Return the figures that the bars are about."""
    asked = 100 if small else 2_000
    with tempfile.TemporaryDirectory(prefix="bench-working-") as name:
        folder = Path(name)
        bench = open_workbench(folder / "store", profiles=folder / "profiles")
        memory = Memory(bench, "bench", "s1")
        memory.working.init("Add JWT authentication to auth.py. Tests must pass.")
        for n in range(6):
            memory.working.add_intermediate(f"subtask_{n}", "word " * 1_000)
        for n in range(200):
            memory.working.set(f"known_{n}", "a value of some words")
        memory.working.snapshot()
        keys, working = [f"known_{n % 200}" for n in range(asked)], memory.working
        sets = [
            _ms(partial(working.set, key, f"a value of some words {n}"))
            for n, key in enumerate(keys)
        ]
        gets = [_ms(partial(working.get, key)) for key in keys]
        figures: dict[str, object] = {"bars": BARS, "tokens": memory.working.show()["tokens"]}
        figures |= {
            "set_ms": _spread(sets),
            "get_ms": _spread(gets),
            "snapshot_ms": round(_ms(memory.working.snapshot), 1),
        }
        memory.close()
    return figures


def _ms(call: Callable[[], object]) -> float:
    begun = thread_time()
    call()
    return (thread_time() - begun) * 1_000


def _spread(times: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(times), 3),
        "p95": round(statistics.quantiles(times, n=20)[-1], 3),
    }
