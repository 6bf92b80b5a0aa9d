"""How long extractive reflection over 1,000 recent memories takes, and what it makes of a real
memory stream.

The stream is that of `WORKBENCH_NODES`, a `nodes.json` of generative agents; without it that figure
is left out.
"""

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.files.format import ReadContext
from workbench.core.reflection.reflector import Reflection, Request
from workbench.core.stream.importance import base_importance
from workbench.core.stream.memory import Memory
from workbench.formats import opening
from workbench.reflect.extractive.reflector import ExtractiveReflector
from workbench.retrieval.embedding.embedder import Embedder

BAR_SECONDS, BAR_CANDIDATES = 2.0, 5
NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
ROUNDS = ("", "Again: ", "Once more, ", "As before, ")


def run(*, small: bool = False) -> dict[str, object]:
    """Return both figures beside their bars."""
    embedder = Embedder()
    embedder.embed(["warm"])
    memories = recent(100 if small else 1_000)
    seconds = []
    for _ in range(2 if small else 5):
        begun = time.perf_counter()
        found = reflected(embedder, memories)
        seconds.append(time.perf_counter() - begun)
    figures: dict[str, object] = {
        "memories": len(memories),
        "candidates": len(found.insights),
        "seconds": round(min(seconds), 3),
        "slowest": round(max(seconds), 3),
        "bar": BAR_SECONDS,
    }
    path = os.environ.get("WORKBENCH_NODES", "")
    return {
        **figures,
        "nodes": nodes(embedder, Path(path)) if path else "left out: WORKBENCH_NODES is not set",
    }


def recent(count: int) -> list[Memory]:
    """Return so many memories: those of the demo over and over, an hour apart, each round worded a
    little otherwise.
    """
    found = read(shipped("fixtures/demo") / "memories.jsonl")
    made = []
    for place in range(count):
        memory = found[place % len(found)]
        text, at = (
            ROUNDS[place // len(found) % len(ROUNDS)] + memory.content,
            NOW - timedelta(hours=count - place),
        )
        made.append(
            Memory(f"m{place}", text, at, at, session_id=f"s{place // 12}", importance_score=7.0)
        )
    return made


def nodes(embedder: Embedder, path: Path) -> dict[str, object]:
    """Return how many candidates a real stream gives, and whether all they cite is there."""
    memories = read(path)
    ids = {memory.id for memory in memories}
    found = reflected(embedder, memories).insights
    return {
        "memories": len(memories),
        "candidates": len(found),
        "bar": BAR_CANDIDATES,
        "citations": sum(len(insight.citations) for insight in found),
        "unresolved": sum(id not in ids for insight in found for id in insight.citations),
    }


def reflected(embedder: Embedder, memories: list[Memory]) -> Reflection:
    """Reflect on memories, oldest first."""
    ordered = sorted(memories, key=lambda memory: (memory.created_at, memory.id))
    return ExtractiveReflector(embedder.embed).reflect(
        Request(tuple(ordered)), lambda step: None, lambda: False
    )


def read(path: Path) -> list[Memory]:
    """Read the memories of a file in any format."""
    context = ReadContext(NOW, str(path), None, 1.0, base_importance)
    return list(opening.read_file(path, format=None, context=context).memories)
