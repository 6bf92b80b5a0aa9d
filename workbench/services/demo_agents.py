"""What the agents of the demo did and learned: its episodes, its patterns, and how applying those went."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.episodes.schema import EpisodeBody
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.patterns.schema import pattern_from
from workbench.core.record import iso, parse_time
from workbench.services.agents.episodes.keeping import Episodes
from workbench.services.open import Workbench

EPISODES, PATTERNS, APPLICATIONS = "episodes.jsonl", "patterns.jsonl", "applications.jsonl"

LEARNER = "agent:claude"
"""The agent that noted the patterns; episodes say themselves whose they are."""

Doc = dict[str, Any]


def act(bench: Workbench, folder: Path, shift: timedelta, actor: str) -> None:
    """Add the episodes and patterns of a folder, moved in time; the `actor` counted how they were used.

    A pattern stands where its applications put it, as a validation of today finds it.
    """
    docs = [_moved(doc, shift) for doc in _lines(folder / EPISODES)]
    for agent in sorted({_agent(doc) for doc in docs}):
        mine = [doc for doc in docs if _agent(doc) == agent]
        theirs = Episodes(replace(bench.context, actor=f"agent:{agent}"))
        theirs.store_all(mine, label=f"store {len(mine)} episodes")
    done = _applications(bench, _lines(folder / APPLICATIONS), docs)
    patterns = [_pattern(doc, shift, done) for doc in _lines(folder / PATTERNS)]
    with bench.library.transaction(LEARNER, f"add {len(patterns)} patterns") as tx:
        for pattern in patterns:
            tx.put(pattern)
        for one in done:
            tx.put(one)
    _count(bench, docs, done, actor)
    with bench.library.transaction(actor, "validate all patterns") as tx:
        for found in bench.patterns.validations():
            if found.after != found.before:
                tx.put(found.after)


def _lines(file: Path) -> list[Doc]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _moved(doc: Doc, shift: timedelta) -> Doc:
    return {**doc, "timestamp": iso(parse_time(doc["timestamp"]) + shift)}


def _agent(doc: Mapping[str, Any]) -> str:
    return str(doc["metadata"]["agent"])


def _applications(bench: Workbench, rows: Sequence[Doc], docs: Sequence[Doc]) -> list[Application]:
    """Return how patterns were applied in episodes: at their end, and for as long as they took."""
    bodies = {str(doc["episode_id"]): EpisodeBody(doc) for doc in docs}
    made = []
    for row in rows:
        body = bodies[row["episode"]]
        seconds = float(str(body.get("execution.duration")))
        at = min((body.at or bench.context.now()) + timedelta(seconds=seconds), bench.context.now())
        id, note = f"{row['pattern']}/{body.id}", str(row.get("note", ""))
        actor = f"agent:{_agent(body.doc)}"
        made.append(Application(id, row["pattern"], body.id, row["outcome"], at, note=note, time=seconds, actor=actor))
    return made


def _pattern(doc: Doc, shift: timedelta, done: Sequence[Application]) -> Pattern:
    made: datetime = parse_time(doc["created_at"]) + shift
    times = [one.at for one in done if one.pattern == doc["pattern_id"]]
    pattern = pattern_from({**doc, "created_at": iso(made)}, made)
    return replace(pattern, usage_count=len(times), last_used=max(times, default=None))


def _count(bench: Workbench, docs: Sequence[Doc], done: Sequence[Application], actor: str) -> None:
    """Count how often agents read each episode, and which patterns rest on it."""
    episodes = Episodes(bench.context)
    with bench.library.transaction(actor, "how episodes were used", kind="access") as tx:
        for doc in docs:
            at, many = bench.library.table(Episode).get(doc["episode_id"]).at, doc.get("lifecycle", {})
            use = episodes.use_of(doc["episode_id"])
            if many:
                tx.put(replace(use, access_count=many["access_count"], last_accessed_at=at))
        for one in done:
            episodes.refer(tx, [one.episode], one.pattern)
