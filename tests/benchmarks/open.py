"""From nothing to a first answered query: a fresh process opens a store whose caches are warm."""

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from time import perf_counter

from workbench.config import paths
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory, Source
from workbench.store.library import Library

ROOT = Path(__file__).parents[2]
START = datetime(2025, 11, 1, 8, tzinfo=UTC)
CHUNK = 5_000
RUNS = 5
LIMIT_S = 15 * 60
"""The largest store is left out when, by the one before it, preparing and measuring it would take
longer.
"""

CHILD = """
import json, resource, sys
from pathlib import Path
from time import perf_counter, process_time
from workbench.core.runtime import collect_seldom
collect_seldom()
marks = [perf_counter()]
from workbench.services.open import open_workbench
marks.append(perf_counter())
bench = open_workbench(Path(sys.argv[1]), profiles=Path(sys.argv[1]) / "no-profiles")
marks.append(perf_counter())
ranker = bench.retriever.load()
marks.append(perf_counter())
tuning = bench.tuning
ranking = tuning.rank("how do we deploy the api to staging", tuning.default(), k=10)
shown = [scored.memory.line for scored in ranking.top]
marks.append(perf_counter())
cpu = process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
lexical = []
for query in json.loads(sys.argv[2]):
    begun = perf_counter()
    ranker.lexical.scores(query)
    lexical.append(1000 * (perf_counter() - begun))
names = ("import_s", "open_s", "load_s", "answer_s")
figures = {name: b - a for name, a, b in zip(names, marks, marks[1:])}
figures |= {"total_s": marks[-1] - marks[0], "cpu_s": cpu, "peak_mb": peak / 1024, "answers": len(shown)}
print(json.dumps({"figures": figures, "lexical_ms": lexical}))
"""


def run(small: bool = False) -> dict[str, object]:
    """Return medians of fresh processes; `small` stops at ten thousand memories.

    The million is skipped, with the reason, when it would take more than a quarter of an hour.
    """
    found: dict[str, object] = {
        "bars": {"100000": {"total_s": 2.0}, "1000000": {"total_s": 20.0, "peak_mb": 4096}}
    }
    spent = 0.0
    for size in (10_000,) if small else (10_000, 100_000, 1_000_000):
        if 10 * spent > LIMIT_S:
            found[str(size)] = {"skipped": f"it would take about {10 * spent / 60:.0f} minutes"}
            continue
        begun = perf_counter()
        found[str(size)] = measure(size)
        spent = perf_counter() - begun
    return found


def measure(size: int) -> dict[str, object]:
    """Build a store, warm its caches and open it again and again in processes of their own."""
    folder = Path(tempfile.mkdtemp(prefix="bench-open-"))
    try:
        questions = build(folder / "store", size)
        begun = perf_counter()
        cold, _ = child(folder / "store", [])
        prepared = perf_counter() - begun
        warm = [child(folder / "store", questions) for _ in range(3 if size > 100_000 else RUNS)]
        figures = [each for each, _ in warm]
        return {
            **{name: round(statistics.median([one[name] for one in figures]), 3) for name in cold},
            "fastest_s": round(min(one["total_s"] for one in figures), 3),
            "lexical_new_query_ms": round(
                statistics.median([ms for _, times in warm for ms in times]), 2
            ),
            "filling_the_caches_s": round(prepared, 1),
            "cold_peak_mb": round(cold["peak_mb"]),
        }
    finally:
        shutil.rmtree(folder)


def build(folder: Path, size: int) -> list[str]:
    """Fill a store with `size` memories and return questions about them, of five to ten words."""
    random = Random(size)
    sentences = demo_sentences()
    library = Library(folder)
    for first in range(0, size, CHUNK):
        last = min(size, first + CHUNK)
        with library.transaction("import:bench", "import", group="bench", more=last < size) as tx:
            for number in range(first, last):
                tx.put(memory(number, sentences, random))
    library.close()
    return [" ".join(random.choice(sentences).split()[: random.randint(5, 10)]) for _ in range(40)]


def memory(number: int, sentences: Sequence[str], random: Random) -> Memory:
    """Make a memory as hooks and people write them: one to three sentences, and what they are
    about.
    """
    at = START + timedelta(seconds=97 * number)
    said = " ".join(random.sample(sentences, random.randint(1, 3)))
    return Memory(
        id=f"mem-{at:%Y%m%d}-{number + 1:07d}",
        content=f"{said} (#{number}, src/{random.choice(('api', 'web', 'worker'))}/part_{random.randrange(2_000)}.py)",
        created_at=at,
        last_accessed_at=at + timedelta(seconds=random.randrange(10**6)),
        summary=said[:60] if random.random() < 0.5 else "",
        session_id=f"session-{number // 40}",
        memory_type=random.choice(MEMORY_TYPES),
        observation_type=random.choice(OBSERVATION_TYPES),
        category=random.choice(("ci", "deploy", "database", "style")),
        tags=tuple(random.sample(("api", "web", "cache", "tests", "release"), 2)),
        importance_score=random.randrange(21) / 2,
        helpful_created=1,
        status=random.choice(("signal", "signal", "confirmed", "promoted")),
        source=Source("PostToolUse", random.randrange(60)),
    )


def demo_sentences() -> list[str]:
    """Return the sentences of the demo's memories."""
    lines = (paths.shipped("fixtures/demo") / "memories.jsonl").read_text().splitlines()
    texts = [str(json.loads(line)["context"]) for line in lines]
    return [part for text in texts for part in re.split(r"(?<=[.;:])\s+", text) if len(part) > 20]


def child(folder: Path, questions: Sequence[str]) -> tuple[dict[str, float], list[float]]:
    """Open a store in a fresh process; return its figures, and the ms of full text for each
    question.
    """
    command = [sys.executable, "-c", CHILD, str(folder), json.dumps(questions)]
    answer = json.loads(
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    )
    return answer["figures"], answer["lexical_ms"]
