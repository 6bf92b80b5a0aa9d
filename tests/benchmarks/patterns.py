"""Patterns at size: which apply to a task, and one by its id, in a store that holds so many.

Times are CPU of this thread, in milliseconds: medians and 95th percentiles over tasks in turn.
`made_ms` is what the first question costs: the records are read and the index is made.
"""

import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from time import thread_time

from workbench.core.agents.patterns.matching import Task, task_of
from workbench.core.agents.patterns.pattern import CATEGORIES
from workbench.services.agents.giving import served
from workbench.services.open import Workbench, open_workbench

BARS = {"match_ms": 50, "get_ms": 5}
CHUNK = 500
TYPES = [f"problem_{n}" for n in range(40)]
DOMAINS = ["python", "rust", "typescript", "sql", "http", "docker", "git", "css"]
WORDS = [
    "retry",
    "cache",
    "deploy",
    "token",
    "build",
    "lint",
    "migrate",
    "index",
    "parse",
    "stream",
    "batch",
    "lock",
]


def run(small: bool = False) -> dict[str, object]:
    """Return the figures that the bars are about."""
    size, asked = (200, 20) if small else (5_000, 400)
    random = Random(17)
    with tempfile.TemporaryDirectory(prefix="bench-patterns-") as name:
        folder = Path(name)
        _fill(folder, size, random)
        bench = _opened(folder, "human")
        ids = [pattern.id for pattern in bench.patterns.all()]
        bench = _opened(folder, "human")
        tasks = [_task(random) for _ in range(asked)]
        made = _ms(lambda: bench.patterns.find(tasks[0]))
        figures: dict[str, object] = {"bars": BARS, "patterns": size, "made_ms": round(made, 1)}
        figures["match_ms"] = _spread([_ms(partial(bench.patterns.find, task)) for task in tasks])
        figures["explain_ms"] = _spread(
            [_ms(partial(bench.patterns.find, task, explain=True)) for task in tasks[:40]]
        )
        figures["get_ms"] = _spread(
            [_ms(partial(bench.patterns.get, id)) for id in random.choices(ids, k=asked)]
        )
        agent = _opened(folder, "agent:claude")
        _give(agent, tasks[0])
        figures["for_agent_ms"] = _spread([_ms(partial(_give, agent, task)) for task in tasks[:40]])
        matches = [len(bench.patterns.find(task, None).matches) for task in tasks]
        figures["matching"] = {"median": statistics.median(matches), "most": max(matches)}
    return figures


def _opened(folder: Path, actor: str) -> Workbench:
    return open_workbench(folder / "store", profiles=folder / "none", actor=actor)


def _give(bench: Workbench, task: Task) -> object:
    return served(bench.context, bench.safety, bench.patterns.find(task, None), 5).rows


def _fill(folder: Path, size: int, random: Random) -> None:
    bench = _opened(folder, "human")
    for begin in range(0, size, CHUNK):
        bench.patterns.add([_pattern(random, begin + n) for n in range(min(CHUNK, size - begin))])
    bench.close()


def _pattern(random: Random, number: int) -> dict[str, object]:
    text = " ".join(random.choices(WORDS, k=30))
    return {
        "name": f"Pattern {number}: {' '.join(random.choices(WORDS, k=4))}",
        "category": random.choice(CATEGORIES),
        "summary": text,
        "applicability": {
            "problem_types": random.sample(TYPES, random.choice((0, 1, 2, 3))),
            "task_features": {
                "domain": random.sample(DOMAINS, random.choice((0, 1, 2))),
                "complexity": {"min": random.randint(0, 4), "max": random.randint(5, 10)},
            },
            "context_conditions": [
                f"attempts < {random.randint(1, 9)} or not (size > {random.randint(1, 99)})"
            ],
            "anti_conditions": [f"domain in [cobol, legacy{number % 50}]"],
        },
        "content": {
            "type": "procedure",
            "procedure": {"steps": [f"{word} it" for word in random.sample(WORDS, 5)]},
        },
        "evidence": {
            "confidence_score": random.random(),
            "success_rate": random.random(),
            "num_applications": 9,
        },
        "lifecycle": {
            "status": random.choices(("validated", "candidate"), (8, 2))[0],
            "usage_count": random.randint(0, 99),
        },
    }


def _task(random: Random) -> Task:
    facts = {"attempts": random.randint(1, 9), "size": random.randint(1, 99)}
    text = " ".join(random.choices(WORDS, k=8))
    return task_of(
        text, random.sample(TYPES, 2), random.sample(DOMAINS, 1), random.randint(0, 10), facts=facts
    )


def _ms(do: Callable[[], object]) -> float:
    begin = thread_time()
    do()
    return (thread_time() - begin) * 1_000


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[int(len(ordered) * 0.95)], 3),
    }
