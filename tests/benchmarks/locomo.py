"""LoCoMo conversations as memories and judged queries, for measuring how good the ranking is.

Every turn of a dialogue becomes a memory; every question of the four answerable categories becomes
a query that is asked after the last turn, with the turns that hold its answer as the relevant
memories.
"""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.evaluation import Evaluator
from workbench.services.tuning.queries import JudgedSet, from_file

ANSWERABLE = (1, 2, 3, 4)
_TURN = re.compile(r"D\d+:\d+")
_BETWEEN_TURNS = timedelta(seconds=30)


def conversations() -> tuple[Path, ...]:
    """Return the conversation files in $WORKBENCH_LOCOMO; none without it."""
    named = os.environ.get("WORKBENCH_LOCOMO")
    return tuple(sorted(Path(named).glob("*.json"))) if named else ()


def open_conversation(path: Path, folder: Path) -> tuple[Workbench, Evaluator, JudgedSet]:
    """Import a conversation into a store in `folder` and match its questions."""
    talk, files = (
        json.loads(path.read_text("utf-8")),
        (folder / "memories.jsonl", folder / "queries.jsonl"),
    )
    folder.mkdir(parents=True)
    memories = list(_memories(path.stem, talk))
    _write(files[0], memories)
    _write(files[1], list(_queries(path.stem, talk, memories)))
    bench = open_workbench(folder / "store", profiles=folder / "profiles")
    bench.importer.carry_out(bench.importer.plan(files[0]))
    bench.retriever.load()
    return (
        bench,
        Evaluator(bench.context, bench.retriever, bench.tuning.profiles),
        from_file(bench.context, files[1]),
    )


def _memories(name: str, talk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    numbers = sorted(
        int(key.removeprefix("session_")) for key in talk if re.fullmatch(r"session_\d+", key)
    )
    for number in numbers:
        began = _began(talk[f"session_{number}_date_time"])
        for turn, said in enumerate(talk[f"session_{number}"]):
            picture = (
                f" [shares a picture: {said['blip_caption']}]" if said.get("blip_caption") else ""
            )
            yield {
                "id": f"{name}-{said['dia_id']}",
                "timestamp": (began + turn * _BETWEEN_TURNS).isoformat(),
                "session_id": f"{name}-s{number}",
                "type": "discovery",
                "status": "signal",
                "source": {"hook": None, "turn": turn, "file": None, "speaker": said["speaker"]},
                "context": f"{said['speaker']}: {said['text']}{picture}",
                "summary": said["text"][:80],
            }


def _queries(
    name: str, talk: dict[str, Any], memories: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    known = {memory["id"] for memory in memories}
    for asked in talk["qa"]:
        turns = _TURN.findall(" ".join(asked.get("evidence") or []))
        relevant = {id: 1 for turn in turns if (id := f"{name}-{turn}") in known}
        if asked.get("category") in ANSWERABLE and relevant:
            yield {
                "query": asked["question"],
                "relevant": relevant,
                "now": memories[-1]["timestamp"],
            }


def _began(text: str) -> datetime:
    return datetime.strptime(text.replace(",", ""), "%I:%M %p on %d %B %Y").replace(tzinfo=UTC)


def _write(path: Path, docs: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(doc) + "\n" for doc in docs), "utf-8")
