"""How long a batch deduplication takes, on stores with planted duplicates and planted look-alikes."""

import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
SHARE = 20
"""One memory in so many gets a copy, one a copy in other words, and one a look-alike that says
something else.
"""

_SUBJECTS = (
    "deploy", "cache", "token", "index", "queue", "session", "schema", "worker", "client", "export", "invoice",
    "webhook", "backup", "migration",
)  # fmt: skip
_VERBS = (
    "needs",
    "reads",
    "writes",
    "blocks",
    "retries",
    "skips",
    "checks",
    "signs",
    "caches",
    "drops",
    "loads",
)
_OBJECTS = (
    "secret",
    "column",
    "header",
    "replica",
    "bucket",
    "branch",
    "fixture",
    "lock",
    "offset",
    "digest",
)
_PLACES = (
    "staging",
    "production",
    "the nightly run",
    "the pull request",
    "the mobile app",
    "the billing service",
)


def run(*, small: bool = False) -> dict[str, object]:
    """Measure at 10 000 and 100 000 memories (100 and 1 000 when `small`)."""
    return {f"{size}": _measured(size) for size in ((100, 1000) if small else (10_000, 100_000))}


def _measured(size: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        bench = open_workbench(Path(folder) / "store", profiles=Path(folder), clock=lambda: NOW)
        planted = _fill(bench, size)
        start = time.perf_counter()
        bench.retriever.load()
        loaded = time.perf_counter()
        plan = bench.deduplication.plan()
        compared = time.perf_counter()
        standing = [_seconds(lambda: bench.deduplication.standing(plan)) for _ in range(3)]
        before = time.perf_counter()
        proposed = bench.deduplication.propose(plan)
        done = time.perf_counter()
        bench.close()
    wrong = sum(_is_lookalike(group.ids) for group in plan.groups)
    return {
        "embed_and_index_s": round(loaded - start, 2), "compare_s": round(compared - loaded, 2),
        "propose_s": round(done - before, 2), "still_holds_s": round(statistics.median(standing), 3),
        "groups": len(plan.groups), "exact": plan.exact, "apart": len(plan.apart), "proposed": len(proposed),
        "floor": round(plan.floor, 3), "planted_each": planted, "look_alikes_grouped": wrong,
    }  # fmt: skip


def _fill(bench: Workbench, size: int) -> int:
    random, made = Random(7), 0
    with bench.library.transaction("bench", "fill") as tx:
        while made < size:
            text = _sentence(random)
            at = NOW - timedelta(minutes=size - made)
            tx.put(Memory(f"m-{made}", text, at, at))
            later = at + timedelta(seconds=10)
            if made % SHARE == 0:
                tx.put(Memory(f"copy-{made}", text, later, later))
                tx.put(
                    Memory(f"opposite-{made}", text.replace(" always ", " never "), later, later)
                )
                made += 2
            elif made % SHARE == SHARE // 2:
                tx.put(Memory(f"said-{made}", f"Note: {text.lower()}", later, later))
                made += 1
            made += 1
    return size // SHARE


def _sentence(random: Random) -> str:
    pick = random.choice
    return (
        f"The {pick(_SUBJECTS)} {pick(_SUBJECTS)} of {pick(_PLACES)} always {pick(_VERBS)} the {pick(_OBJECTS)} "
        f"{pick(_OBJECTS)} before the {pick(_SUBJECTS)} {pick(_VERBS)} item {random.randrange(10_000)}."
    )


def _is_lookalike(ids: tuple[str, ...]) -> bool:
    kinds = {id.partition("-")[0] for id in ids}
    return "opposite" in kinds and len(kinds) > 1


def _seconds(work: object) -> float:
    assert callable(work)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
