"""agent-playbook's episodic memory: one JSON object a file, `episodic/YYYY/YYYY-MM-DD-name.json`.

What such a file says is kept word for word beside what is made of it, so that it is written back as it came.
"""

from collections.abc import Mapping
from datetime import datetime

from workbench.core.agents.episodes.episode import OUTCOMES
from workbench.core.agents.episodes.schema import EpisodeBody
from workbench.core.record import iso, parse_time

Doc = Mapping[str, object]

NAME = "agent-playbook"

_ORIGINAL = "agent_playbook"
"""The field of an episode in which the object stands that it was made of."""

_MARKS = ("situation", "root_cause", "solution", "lesson")
_ENDS = {
    "success": "SUCCESS", "succeeded": "SUCCESS", "done": "SUCCESS", "completed": "SUCCESS",
    "partial": "PARTIAL", "failure": "FAILURE", "failed": "FAILURE", "error": "FAILURE",
}  # fmt: skip
_DAY = "2025-01-11"


def is_one(doc: Doc) -> bool:
    """Tell whether a JSON object is an episode of agent-playbook."""
    return not isinstance(doc.get("task"), Mapping) and any(name in doc for name in _MARKS)


def read(doc: Doc) -> dict[str, object]:
    """Return an object of agent-playbook as an episode; what it does not say is left to be found missing."""
    situation = doc.get("situation") or doc.get("task")
    reflection = {
        "insights": _listed(doc.get("lesson")),
        "failures_analyzed": [{"root_cause": doc["root_cause"]}] if doc.get("root_cause") else [],
        "patterns_discovered": _listed(doc.get("related_pattern")),
    }
    output = {name: doc[name] for name in ("solution", "approach", "result") if doc.get(name)}
    outcome: dict[str, object] = {"status": _ended(doc), "primary_output": output}
    if isinstance(doc.get("user_feedback"), Mapping):
        outcome["quality_metrics"] = {"user_feedback": doc["user_feedback"]}
    metadata = {"task_type": doc.get("skill") or doc.get("agent"), "tags": doc.get("tags")}
    made: dict[str, object] = {
        "episode_id": doc.get("id"),
        "timestamp": _time(doc.get("timestamp")),
        "task": {"original_input": situation},
        "outcome": outcome,
        "reflection": {name: value for name, value in reflection.items() if value},
        "metadata": {name: value for name, value in metadata.items() if value},
        _ORIGINAL: dict(doc),
    }
    return {name: value for name, value in made.items() if value not in (None, {})}


def write(doc: Doc) -> dict[str, object]:
    """Return an episode as an object of agent-playbook: the one it was made of, or a new one."""
    original = doc.get(_ORIGINAL)
    if isinstance(original, Mapping):
        return dict(original)
    body = EpisodeBody(doc)
    output = body.get("outcome.primary_output")
    made = {
        "id": body.id,
        "timestamp": body.get("timestamp"),
        "skill": body.text("metadata.task_type") or None,
        "situation": body.task,
        "root_cause": _first(body.get("reflection.failures_analyzed"), "root_cause"),
        "solution": _first([output], "solution"),
        "lesson": _first(body.get("reflection.insights"), "insight"),
        "related_pattern": _first(body.get("reflection.patterns_discovered"), "name"),
        "outcome": body.outcome.lower(),
        "tags": list(body.texts("metadata.tags")) or None,
    }
    return {name: value for name, value in made.items() if value is not None}


def file_name(at: datetime, slug: str) -> str:
    """Return where an episode is written, below the folder `episodic`."""
    return f"{at:%Y}/{at:%Y-%m-%d}-{slug or 'episode'}.json"


def _ended(doc: Doc) -> str:
    """Return how it ended: as it says, or by whether it has a solution."""
    for name in ("outcome", "status", "result"):
        value = doc.get(name)
        said = value.strip().casefold() if isinstance(value, str) else ""
        if said in _ENDS:
            return _ENDS[said]
        if said.upper() in OUTCOMES:
            return said.upper()
    success = doc.get("success")
    if isinstance(success, bool):
        return "SUCCESS" if success else "FAILURE"
    return "SUCCESS" if doc.get("solution") or doc.get("result") else "PARTIAL"


def _time(value: object) -> object:
    """Return a time in full, where only a day stands there."""
    if isinstance(value, str) and len(value) == len(_DAY):
        try:
            return iso(parse_time(value))
        except ValueError:
            return value
    return value


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value] if value else []


def _first(values: object, name: str) -> str | None:
    """Return the first text among values: itself, or under a name, or whatever an object says first."""
    for value in values if isinstance(values, list | tuple) else ():
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, Mapping):
            texts = [value[name]] if isinstance(value.get(name), str) else list(value.values())
            found = next((text for text in texts if isinstance(text, str) and text.strip()), None)
            if found is not None:
                return found
    return None
