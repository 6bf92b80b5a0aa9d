"""What the safety of text costs: clean text in microseconds, and capture with and without masking."""

import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from tests.safety.hostile import MEGABYTE, NAMES, hostile, prose
from workbench.config import paths
from workbench.core.text import clean_for_store
from workbench.safety.scanning import mask, scan
from workbench.services.open import open_workbench
from workbench.services.stream.ingest import Ingest
from workbench.services.stream.observation import Observation, append

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
BATCH = 500
"""Observations that an ingest takes in at once."""

Mask = Callable[[str], str]


def run(small: bool) -> dict[str, object]:
    """Measure on the memories of the demo, all of them clean; the best of several rounds each."""
    lines = (paths.shipped("fixtures/demo") / "memories.jsonl").read_text("utf-8").splitlines()
    texts = [
        text
        for line in lines
        if (text := json.loads(line).get("context") or json.loads(line).get("content"))
    ]
    rounds, count, hooks = (1, 50, 3) if small else (15, 3_000, 100)
    return {
        "texts": len(texts),
        "characters": round(sum(map(len, texts)) / len(texts)),
        "flagged": sum(bool(scan(text)) for text in texts),
        "scan_microseconds": _each(scan, texts, rounds),
        "mask_microseconds": _each(mask, texts, rounds),
        "ingest_per_second": _ingest(texts, count, mask),
        "ingest_per_second_without": _ingest(texts, count, clean_for_store),
        **_hostile(20_000 if small else MEGABYTE),
        "append_milliseconds": _append(texts, hooks, mask),
        "append_milliseconds_without": _append(texts, hooks, clean_for_store),
    }


def _hostile(size: int) -> dict[str, object]:
    """Return how long a look at prose takes, and how many times that the worst of the texts made to
    be slow.
    """
    plain = _seconds(prose(size))
    times = {name: _seconds(hostile(name, size)) for name in NAMES}
    worst = max(times, key=lambda name: times[name])
    return {
        "prose_milliseconds": round(plain * 1e3, 1),
        "hostile_texts": len(times),
        "hostile_times_prose": round(times[worst] / plain, 1),
        "hostile_worst": worst,
    }


def _seconds(text: str) -> float:
    start = time.process_time()
    scan(text)
    return time.process_time() - start


def _each(look: Callable[[str], object], texts: list[str], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for text in texts:
            look(text)
        best = min(best, time.perf_counter() - start)
    return round(best / len(texts) * 1e6, 1)


def _ingest(texts: list[str], count: int, masking: Mask) -> int:
    """Return observations a second, in batches, the model loaded."""
    dice = Random(3)
    seen = [
        Observation(f"{dice.choice(texts)[:200]} {dice.choice(texts)[:200]} case {n}")
        for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        bench = open_workbench(Path(folder) / "store", profiles=Path(folder), clock=lambda: NOW)
        ingest = Ingest(bench.context, bench.retriever, masking)
        ingest.add(Observation("The first one loads the model."))
        start = time.perf_counter()
        for at in range(0, count, BATCH):
            ingest.add_many(seen[at : at + BATCH])
        taken = time.perf_counter() - start
        bench.close()
    return round(count / taken)


def _append(texts: list[str], count: int, masking: Mask) -> float:
    """Return the milliseconds of one append of a hook, its process not counted."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        append(store, Observation("The first one makes the store."), "agent:a", lambda: NOW)
        times = []
        for n in range(count):
            start = time.perf_counter()
            append(
                store, Observation(f"{n} {texts[n % len(texts)]}"), "agent:a", lambda: NOW, masking
            )
            times.append(time.perf_counter() - start)
    return round(sorted(times)[len(times) // 2] * 1e3, 3)
