"""What the store costs: commits against TinyDB's own storage, a hook's append, ingest, opening,
memory.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time

from tinydb import JSONStorage, TinyDB

from workbench.config.paths import heads_dir
from workbench.core.stream.memory import Memory
from workbench.store.library import Library

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROOT = Path(__file__).parents[2]

INGEST = """
import json, sys
from pathlib import Path
from statistics import median
from time import perf_counter
from workbench.services.stream.observation import Observation
from workbench.services.open import open_workbench
from workbench.config.paths import heads_dir
from random import Random
from tests.benchmarks.open import demo_sentences, memory

folder, batches, size = Path(sys.argv[1]), int(sys.argv[2]), 100
bench = open_workbench(folder, profiles=folder / "none", actor="agent:bench", heads=heads_dir())
start = perf_counter()
bench.retriever.load()
loaded = perf_counter() - start
taken, outcomes = [], {}
random, sentences = Random(7), demo_sentences()
seen = [memory(10**6 + n, sentences, random).content for n in range((batches + 1) * size)]
for number in range(batches + 1):
    batch = [Observation(text) for text in seen[number * size : (number + 1) * size]]
    start = perf_counter()
    done = bench.ingest.add_many(batch)
    taken.append(perf_counter() - start)
    for one in done:
        outcomes[one.outcome] = outcomes.get(one.outcome, 0) + 1
print(json.dumps({"ingest_load_s": loaded, "ingest_observations_per_s": size / median(taken[1:]),
                  "ingest_outcomes": outcomes}))
"""

OPEN = """
import gc, json, os, sys
from pathlib import Path
from time import perf_counter
from workbench.config.paths import heads_dir
from workbench.store.library import Library

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

before, start = resident(), perf_counter()
library = Library(Path(sys.argv[1]), heads=heads_dir())
count = len(library.memories)
opened = perf_counter() - start
library.memories.find("mem-20261121-0000001")
gc.collect()
state, start = resident(), perf_counter()
library.memories.all()
built = perf_counter() - start
gc.collect()
start = perf_counter()
library.memories.all()
print(json.dumps({"open_s": opened, "build_all_s": built, "all_again_s": perf_counter() - start,
                  "bytes_per_record": (state - before) / count, "bytes_per_value": (resident() - state) / count}))
"""


def run(small: bool) -> dict[str, object]:
    """Measure everything in one run on one disk; times in milliseconds unless the name says
    otherwise.
    """
    few, many, votes, stock_votes = (100, 2_000, 20, 2) if small else (1_000, 100_000, 300, 3)
    folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    try:
        little, rate_little = fill(folder / "little", few)
        big, rate = fill(folder / "big", many)
        commits = vote_in_turn(little, big, folder / "probe", votes)
        big.close()
        stock = stock_vote_ms(
            folder / "big" / "memory.json", folder / "stock.json", many, stock_votes
        )
        opened = json.loads(fresh(OPEN, folder / "big"))
        appended = append_ms(folder / "big", 3 if small else 11)
        ingested = json.loads(fresh(INGEST, folder / "big", 3 if small else 11))
        return {
            "records": many,
            "import_records_per_s": round(rate),
            "import_small_records_per_s": round(rate_little),
            "fsync_probe_ms": commits["fsync"],
            f"commit_ms_at_{few}": commits["little"],
            f"commit_ms_at_{many}": commits["big"],
            "commit_growth": round(commits["big"] / commits["little"], 2),
            f"stock_vote_ms_at_{many}": stock,
            "faster_than_stock": round(stock / commits["big"]),
            "faster_than_stock_without_the_disk": round(
                stock / max(0.001, commits["big"] - commits["fsync"])
            ),
            "append_process_ms": appended,
            "bare_python_ms": process_ms([sys.executable, "-c", "pass"], 3 if small else 11),
            **{name: round(value, 3) for name, value in opened.items()},
            "ingest_observations_per_s": round(ingested["ingest_observations_per_s"]),
            "ingest_outcomes": ingested["ingest_outcomes"],
        }
    finally:
        shutil.rmtree(folder)


def example(name: str, number: int) -> Memory:
    """Make a memory of ordinary length."""
    content = (
        f"Observation {number}: the build of module {number % 977} failed because cache {number * 7919 % 10007} was "
        "stale; clear it before the tests are run again and note which step left it behind."
    )
    tags = ("build", f"module-{number % 97}")
    return Memory(
        name, content, NOW, NOW, session_id=f"session-{number // 50}", tags=tags, importance_score=number % 10 + 0.5
    )  # fmt: skip


def fill(folder: Path, count: int, chunk: int = 1000) -> tuple[Library, float]:
    """Import `count` memories in chunks; return the open library and the rate per second."""
    library = Library(folder, lambda: NOW, heads=heads_dir())
    start = perf_counter()
    for first in range(0, count, chunk):
        last = min(count, first + chunk)
        with library.transaction(
            "import:bench", "import", group="import-1", more=last < count
        ) as tx:
            for number in range(first, last):
                tx.put(example(tx.new_memory_id(NOW), number))
    return library, count / (perf_counter() - start)


def vote_in_turn(little: Library, big: Library, probe: Path, times: int) -> dict[str, float]:
    """Vote in both stores and write to a bare file in turn, so that a busy disk is the same for
    all; medians.

    What ends with `_cpu` is the processor's part of it.
    """
    taken: dict[str, list[float]] = {
        "little": [],
        "big": [],
        "little_cpu": [],
        "big_cpu": [],
        "fsync": [],
    }
    handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    targets = {"little": (little, little.memories.all()), "big": (big, big.memories.all())}
    for turn in range(times):
        for name, (library, memories) in targets.items():
            memory = library.memories.get(memories[turn * 37 % len(memories)].id)
            start, spent = perf_counter(), thread_time()
            with library.transaction("human", "vote") as tx:
                tx.put(replace(memory, helpful_votes=memory.helpful_votes + 1))
            taken[name].append(perf_counter() - start)
            taken[f"{name}_cpu"].append(thread_time() - spent)
        start = perf_counter()
        os.write(handle, b"x" * 250)
        os.fsync(handle)
        taken["fsync"].append(perf_counter() - start)
    os.close(handle)
    return {name: round(median(times) * 1000, 3) for name, times in taken.items()}


def stock_vote_ms(documents: Path, copy: Path, count: int, times: int) -> float:
    """Time one vote with TinyDB's own storage on the same documents."""
    shutil.copy(documents, copy)
    taken = []
    with TinyDB(copy, storage=JSONStorage) as plain:
        table = plain.table("memories")
        for turn in range(times):
            start = perf_counter()
            table.update({"helpful_votes": turn + 1}, doc_ids=[turn * 37 % count + 1])
            taken.append(perf_counter() - start)
    return round(median(taken) * 1000, 1)


def append_ms(folder: Path, times: int) -> float:
    """Time `workbench append` as a hook runs it: a whole process that adds one memory."""
    taken = []
    for turn in range(times):
        text = f"the hook saw step {turn} of the nightly build end"
        taken.append(
            process_ms(
                [sys.executable, "-m", "workbench", "--store", str(folder), "append", text], 1
            )
        )
    return round(median(taken), 1)


def process_ms(command: list[str], times: int) -> float:
    """Time a whole process, from start to end; median."""
    taken = []
    for _ in range(times):
        start = perf_counter()
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        taken.append(perf_counter() - start)
    return round(median(taken) * 1000, 1)


def fresh(code: str, folder: Path, *arguments: object) -> str:
    """Run code in a process of its own and return what it prints."""
    command = [sys.executable, "-c", code, str(folder), *map(str, arguments)]
    return subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout
