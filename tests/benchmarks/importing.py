"""What importing costs: reading, comparing and writing generated learning entries, nothing
deduplicated.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

from workbench.services.open import open_workbench

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
KINDS = ("error", "success", "code_change", "general")


def run(small: bool) -> dict[str, object]:
    """Import one file of generated entries; entries per second from opening the file to the last
    fsync.

    `entries_per_cpu_s` leaves out the waiting for a busy machine and its disk. `cancel_ms` is how
    long an import takes to stop once it is asked to, at the longest.
    """
    count = 2_000 if small else 100_000
    folder = Path(tempfile.mkdtemp(prefix="bench-importing-"))
    try:
        path = folder / "entries.jsonl"
        path.write_text("".join(f"{line}\n" for line in entries(count)))
        bench = open_workbench(
            folder / "store", profiles=folder / "none", clock=lambda: NOW, actor="cli"
        )
        start, busy = perf_counter(), process_time()
        plan = bench.importer.plan(path)
        planned = perf_counter()
        steps = [planned]
        report = bench.importer.carry_out(
            plan, progress=lambda _done, _total: steps.append(perf_counter())
        )
        done, busy = perf_counter(), process_time() - busy
        again = bench.importer.plan(path)
        compared = perf_counter()
        bench.close()
        return {
            "entries": count,
            "written": report.written,
            "new_the_second_time": len(again.records),
            "entries_per_s": round(count / (done - start)),
            "entries_per_cpu_s": round(count / busy),
            "read_and_compared_per_s": round(count / (planned - start)),
            "written_per_s": round(count / (done - planned)),
            "read_and_compared_again_per_s": round(count / (compared - done)),
            "cancel_ms": round(max(b - a for a, b in pairwise(steps)) * 1000),
        }
    finally:
        shutil.rmtree(folder)


def entries(count: int) -> Iterator[str]:
    """Yield learning entries of ordinary length as lines of JSON."""
    for number in range(count):
        at = NOW - timedelta(minutes=count - number)
        entry = {
            "id": f"learn-{number:06d}",
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "type": KINDS[number % len(KINDS)],
            "status": "signal",
            "context": f"Observation {number}: the build of module {number % 977} failed because cache "
            f"{number * 7919 % 10007} was stale; clear it before the tests are run again.",
            "tags": ["build", f"module-{number % 97}"],
        }
        yield json.dumps(entry)
