"""Recall over a large `messages.jsonl`, beside what searches it alone, and opening a folder of many
documents.

Recall and what it is held against take turns; medians count. Memory is that of a process of its own
that recalls once.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter

from workbench.services.agents.documents.documents import Documents
from workbench.services.agents.documents.recall import recall
from workbench.services.context import Context, DocumentPlaces, encoded
from workbench.services.open import open_workbench

BARS = {
    "literal_without": "3 × grep -i",
    "memory": "200 MB",
    "opened": "2 s for 3,000 documents",
}
QUERY = "jwt authentication"
QUESTION = "how did we decide about jwt authentication"
WORDS = [
    "token",
    "auth",
    "the",
    "session",
    "refresh",
    "pnpm",
    "cache",
    "build",
    "we",
    "test",
    "deploy",
    "on",
    "friday",
]
EVERY = 100_000
"""Messages between two that say what is looked for."""

_ONE = """
import json, resource, sys
from pathlib import Path
from tests.benchmarks.documents import opened
from workbench.services.agents.documents.recall import recall
found = recall(opened(Path(sys.argv[1])), sys.argv[2], "messages")
kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([found.found, kilobytes / 1024]))
"""


def run(small: bool = False) -> dict[str, object]:
    """Return medians in seconds, megabytes, and the ratios that the bars are about."""
    size, documents, turns = (4 << 20, 100, 1) if small else (1 << 30, 3_000, 5)
    with tempfile.TemporaryDirectory(prefix="bench-documents-") as name:
        folder = Path(name)
        messages = _messages(folder, size)
        context = opened(folder)
        times = _recall(context, messages, turns)
        memory = {ask: _memory(folder, ask) for ask in (QUERY, QUESTION)}
        notes = _notes(folder / "notes", documents)
        open_s = statistics.median(
            _timed(lambda: Documents(context).opened(notes)) for _ in range(turns)
        )
    ratios = {"literal_without": times["python"] / times["grep"]}
    return {
        "bars": BARS,
        "messages_mb": size >> 20,
        "seconds": {name: round(value, 3) for name, value in times.items()},
        "ratios": {name: round(value, 3) for name, value in ratios.items()},
        "peak_mb": max(round(value, 1) for value in memory.values()),
        "documents": documents,
        "opened_s": round(open_s, 3),
    }


def opened(folder: Path) -> Context:
    """Return an empty store whose project has one session of external memory."""
    places = DocumentPlaces(folder / "seen", None, folder / "sessions", folder / "project")
    bench = open_workbench(
        folder / "project" / ".workbench", profiles=folder / "none", documents=places
    )
    return replace(bench.context, actor="human")


def _recall(context: Context, messages: Path, turns: int) -> Mapping[str, float]:
    """Return the median seconds of each way to search, in turns."""
    ways: dict[str, Callable[[], object]] = {
        "grep": lambda: _searched("grep", "-i", "-c", "--", QUERY, str(messages)),
        "python": lambda: recall(context, QUERY, "messages"),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()  # the file is read, and what is imported late is there
    for _ in range(turns):
        for name, way in ways.items():
            taken[name].append(_timed(way))
    return {name: statistics.median(times) for name, times in taken.items()}


def _searched(*command: str) -> None:
    """Run a command to its end; one that sees that nobody reads its answer would end with the first
    line.
    """
    subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)


def _timed(way: Callable[[], object]) -> float:
    start = perf_counter()
    way()
    return perf_counter() - start


def _memory(folder: Path, query: str) -> float:
    """Return the most megabytes that one recall took."""
    asked = [sys.executable, "-c", _ONE, str(folder), query]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=dict(os.environ))
    return float(json.loads(done.stdout)[1])


def _messages(folder: Path, size: int) -> Path:
    """Write a session whose messages take so many bytes."""
    random = Random(1)
    session = folder / "sessions" / encoded((folder / "project").resolve()) / "s-1"
    session.mkdir(parents=True)
    (folder / "project").mkdir()
    blocks = [
        json.dumps(
            {"role": "user", "content": " ".join(random.choices(WORDS, k=random.randint(10, 200)))}
        ).encode()
        + b"\n"
        for _ in range(2_000)
    ]
    rare = (
        json.dumps({"role": "assistant", "content": "Decided to use JWT Authentication"}).encode()
        + b"\n"
    )
    left, count = size, 0
    with (session / "messages.jsonl").open("wb") as file:
        while left > 0:
            block = rare if count % EVERY == EVERY // 20 else blocks[count * 7 % len(blocks)]
            left -= file.write(block)
            count += 1
    return session / "messages.jsonl"


def _notes(folder: Path, count: int) -> Path:
    random = Random(2)
    for number in range(count):
        place = folder / f"topic-{number % 30}" / f"note-{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"## Part {n}\n\n{' '.join(random.choices(WORDS, k=60))}\n" for n in range(5)]
        place.write_text(
            f"# Note {number}\n\n<!--\nMETA:\ncreated: 2024-01-15T10:30:00Z\n-->\n\n"
            + "\n".join(parts)
        )
    return folder
