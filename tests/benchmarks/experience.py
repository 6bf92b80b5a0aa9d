"""Episodes and patterns together: the context of a task with many of them, and what consolidating
them takes.

CPU time of this process, medians of several where a thing is done several times. What is stored for
it is not made durable, which is not measured here.
"""

import statistics
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from time import process_time
from unittest import mock

from tests.benchmarks.episodes import NOW, opened
from workbench.core.stream.memory import Memory
from workbench.retrieval.floor.floor import background
from workbench.services.agents.context import gathered
from workbench.services.open import Workbench

BARS = {"context_ms": 100, "consolidation_s": 60, "cluster_of_1000_s": 5}
CHUNK = 500
TYPES, DOMAINS = 25, 40


def run(small: bool = False) -> dict[str, object]:
    """Return a context's milliseconds, and the seconds of a consolidation and of one large cluster."""
    episodes, patterns, one, turns = (300, 30, 60, 3) if small else (10_000, 1_000, 1_000, 15)
    with tempfile.TemporaryDirectory(prefix="bench-experience-") as name, mock.patch("os.fsync"):
        bench = opened(Path(name) / "many")
        _fill(bench, episodes, patterns)
        bench.retriever.load()
        asker = replace(bench.context, actor="agent:claude")
        first = _seconds(lambda: gathered(asker, bench.tuning, bench.playbooks, _task(Random(0))))
        figures = {
            "context_first_s": first,
            "context_ms": 1_000 * _median(
                lambda n: gathered(asker, bench.tuning, bench.playbooks, _task(Random(n))).cut(), turns
            ),
            "consolidation_s": _seconds(bench.consolidating.carry_out),
        }  # fmt: skip
        archived = sum(head.status == "archived" for head in bench.episodes.all())
        bench.close()
        bench = opened(Path(name) / "alike")
        bench.episodes.store_all(
            [
                _episode(n, "Deploy the service to staging and see that it answers")
                for n in range(one)
            ]
        )
        figures["cluster_of_1000_s"] = _seconds(lambda: bench.consolidating.carry_out(["episodes"]))
        held = sum(head.status == "archived" for head in bench.episodes.all())
        bench.close()
    counts = {
        "episodes": episodes,
        "patterns": patterns,
        "archived": archived,
        "archived_of_cluster": held,
    }
    return {"bars": BARS, **counts, **{name: round(value, 2) for name, value in figures.items()}}


def _fill(bench: Workbench, episodes: int, patterns: int) -> None:
    chance = Random(1)
    with bench.library.transaction("cli", "memories") as tx:
        for n in range(episodes):
            at = NOW - timedelta(hours=n % 8_000)
            tx.put(Memory(f"m-{n}", _words(chance, 16), at, at))
    tasks = [_task(chance) for _ in range(max(1, episodes // 3))]
    for start in range(0, episodes, CHUNK):
        some = range(start, min(episodes, start + CHUNK))
        bench.episodes.store_all(
            [_episode(n, tasks[n % len(tasks)], f"t{n % len(tasks) % TYPES}") for n in some]
        )
    bench.patterns.add([_pattern(n, chance) for n in range(patterns)])
    bench.library.save_checkpoint()


def _episode(n: int, task: str, of: str = "deploy") -> dict[str, object]:
    failed = (
        {"failures_analyzed": [{"error": f"TimeoutError: {task}"}]}
        if of != "deploy" and n % 3 == 2
        else {}
    )
    return {
        "timestamp": (NOW - timedelta(days=35, hours=n % 600)).isoformat(),
        "task": {"original_input": task},
        "execution": {"duration": n % 90},
        "outcome": {"status": "SUCCESS", "primary_output": "It answers."},
        "reflection": failed,
        "metadata": {"domain": f"d{len(task) % DOMAINS}", "task_type": of},
    }


def _pattern(n: int, chance: Random) -> dict[str, object]:
    return {
        "name": f"{_words(chance, 4)} {n}",
        "category": ("strategy", "recovery", "failure", "domain")[n % 4],
        "summary": _words(chance, 12),
        "applicability": {
            "problem_types": [f"t{n % TYPES}"],
            "task_features": {"domain": [f"d{n % DOMAINS}"]},
        },
        "lifecycle": {"status": "validated"},
    }


def _task(chance: Random) -> str:
    return _words(chance, 12)


def _words(chance: Random, count: int) -> str:
    return " ".join(chance.choices(" ".join(background()["en"]).split(), k=count))


def _seconds(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def _median(work: Callable[[int], object], turns: int) -> float:
    times = [_seconds(lambda n=n: work(n)) for n in range(1, turns + 1)]  # type: ignore[misc]
    return statistics.median(times)
