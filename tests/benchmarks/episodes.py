"""Episodes at size: one by its id, by attribute, the ten most like a task; and what they cost the
start of a store.

CPU time of this process, medians of several; a start is that of a process of its own, with and
without them in turns. What is stored for it is not made durable, which is not measured here.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from time import process_time
from unittest import mock

from workbench.core.agents.episodes.criteria import Criteria
from workbench.core.stream.memory import Memory
from workbench.retrieval.floor.floor import background
from workbench.services.open import Workbench, open_workbench

BARS = {
    "by_id_ms": 5,
    "by_attribute_ms": 50,
    "semantic_top_10_ms": 100,
    "start_ratio": 1.5,
}
NOW = datetime(2026, 11, 21, tzinfo=UTC)
CHUNK = 1_000

_START = """
import sys
from pathlib import Path
from time import process_time
from tests.benchmarks.episodes import opened
began = process_time()
bench = opened(Path(sys.argv[1]))
bench.library.memories.find("m-1")
print(process_time() - began)
"""


def run(small: bool = False) -> dict[str, object]:
    """Return medians in milliseconds of CPU, and the ratio of starts with and without episodes."""
    count, turns = (200, 3) if small else (100_000, 15)
    with tempfile.TemporaryDirectory(prefix="bench-episodes-") as name:
        folder = Path(name)
        with mock.patch("os.fsync"):
            for with_them in (False, True):
                _filled(folder / str(with_them), count, with_them=with_them)
        bench = opened(folder / "True")
        find, ids = (
            bench.episode_finder.find,
            [one.id for one in bench.episodes.all()[:: max(1, count // 50)]],
        )
        began = process_time()
        find(_words(Random(0), 9), k=10)
        figures = {
            "first_search_s": process_time() - began,
            "by_id_ms": 1_000 * _median(lambda n: bench.episodes.open(ids[n % len(ids)]), turns),
            "by_attribute_ms": 1_000
            * _median(lambda n: find("", "structured", Criteria(domain=f"d{n}"), 10), turns),
            "semantic_top_10_ms": 1_000
            * _median(lambda n: find(_words(Random(n), 9), k=10), turns),
            "failure_ms": 1_000
            * _median(lambda n: find(_words(Random(n), 9), "failure", k=10), turns),
        }
        bench.close()
        starts = [(_start(folder / "True"), _start(folder / "False")) for _ in range(min(turns, 9))]
        figures["start_ratio"] = statistics.median(one / other for one, other in starts)
        figures["start_ms"] = 1_000 * statistics.median(one for one, _ in starts)
    return {
        "bars": BARS,
        "episodes": count,
        **{name: round(value, 2) for name, value in figures.items()},
    }


def opened(folder: Path) -> Workbench:
    """Open the store of a benchmark."""
    return open_workbench(
        folder / "s", profiles=folder / "p", cache=folder / "c", clock=lambda: NOW, actor="cli"
    )


def _filled(folder: Path, count: int, *, with_them: bool) -> None:
    """Fill a store with memories, and with as many episodes."""
    chance, bench = Random(1), opened(folder)
    for start in range(0, count, CHUNK):
        with bench.library.transaction("cli", "memories") as tx:
            for n in range(start, min(count, start + CHUNK)):
                at = NOW - timedelta(hours=n % 8_000)
                tx.put(Memory(f"m-{n}", _words(chance, 16), at, at))
        if with_them:
            bench.episodes.store_all(
                [_episode(n, chance) for n in range(start, min(count, start + CHUNK))]
            )
    bench.library.save_checkpoint()
    bench.keep_caches()
    bench.close()


def _episode(n: int, chance: Random) -> dict[str, object]:
    trace = [{"tool": "bash", "result": _words(chance, 8)} for _ in range(4)]
    return {
        "timestamp": (NOW - timedelta(hours=n % 8_000)).isoformat(),
        "session_id": f"s{n % 50}",
        "task": {"original_input": _words(chance, 14)},
        "execution": {"trace": trace, "duration": n % 90},
        "outcome": {
            "status": ("SUCCESS", "PARTIAL", "FAILURE")[n % 3],
            "primary_output": _words(chance, 8),
        },
        "reflection": {"insights": [_words(chance, 9)]},
        "metadata": {"domain": f"d{n % 40}", "task_type": f"t{n % 25}", "tags": [f"x{n % 9}"]},
    }


def _words(chance: Random, count: int) -> str:
    return " ".join(chance.choices(" ".join(background()["en"]).split(), k=count))


def _median(work: Callable[[int], object], turns: int) -> float:
    times = []
    for n in range(turns):
        began = process_time()
        work(n)
        times.append(process_time() - began)
    return statistics.median(times)


def _start(folder: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _START, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    return float(json.loads(done.stdout))
