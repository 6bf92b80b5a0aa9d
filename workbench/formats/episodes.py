"""Reading and writing files of episodes: one JSON object, a list of them, or one on each line."""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, NoReturn

from workbench.core.agents.episodes.episode import OUTCOMES, EpisodeBody
from workbench.core.record import UnreadableFile, as_list, as_object, iso, parse_time
from workbench.formats import opening

# agent-playbook's episodic memory: one JSON object a file, `episodic/YYYY/YYYY-MM-DD-name.json`.
#
# What such a file says is kept word for word beside what is made of it, so that it is written back
# as it came.


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
    """Return an object of agent-playbook as an episode; what it does not say is left to be found
    missing.
    """
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
    """Return the first text among values: itself, or under a name, or whatever an object says
    first.
    """
    for value in as_list(values):
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, Mapping):
            texts = [value[name]] if isinstance(value.get(name), str) else list(value.values())
            found = next((text for text in texts if isinstance(text, str) and text.strip()), None)
            if found is not None:
                return found
    return None


SUFFIXES = (".json", ".jsonl", ".ndjson")


class Found(NamedTuple):
    """An object that stands in a file for an episode: where (`file`, and `file:line` on lines), and
    its values.
    """

    place: str
    doc: object
    dialect: str = ""


def episodes_in(text: str, file: str) -> tuple[Found, ...]:
    """Return the objects that a text has for episodes, those of agent-playbook as what they say.

    Raises `UnreadableFile` when it is no JSON.
    """
    return tuple(_translated(place, doc) for place, doc in _objects(text, file))


def files_in(place: Path, *, hidden: bool = True) -> tuple[Path, ...]:
    """Return the files of episodes in and below a folder, by name, or the file itself; links are
    not followed.

    What begins with a dot below it is passed over unless `hidden` files count, too.
    """
    if not place.is_dir():
        return (place,)
    found = list[Path]()
    for folder, inside, names in os.walk(place):
        if not hidden:
            inside[:] = [name for name in inside if not name.startswith(".")]
            names = [name for name in names if not name.startswith(".")]
        found += [Path(folder, name) for name in names if name.lower().endswith(SUFFIXES)]
    return tuple(sorted(path for path in found if path.is_file() and not path.is_symlink()))


def read_text(path: Path) -> str:
    """Return the text of a file; raises `UnreadableFile`."""
    return opening.read_text(path)


def _objects(text: str, file: str) -> Iterator[tuple[str, object]]:
    text = text.removeprefix("\ufeff")
    try:
        whole = _loads(text)
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith("{") for _, line in lines):
            raise _no_json(file, error) from error
        for number, line in lines:
            try:
                yield f"{file}:{number}", _loads(line)
            except ValueError as bad:
                raise _no_json(f"{file}:{number}", bad) from bad
        return
    inner = as_object(whole).get("episodes")
    if isinstance(inner, list):
        whole = inner
    if isinstance(whole, list):
        yield from ((f"{file}[{index}]", one) for index, one in enumerate(whole))
    else:
        yield file, whole


def _translated(place: str, doc: object) -> Found:
    if isinstance(doc, Mapping) and is_one(doc):
        return Found(place, read(doc), NAME)
    return Found(place, doc)


def _loads(text: str) -> object:
    """Read JSON; raises `ValueError`, also for what JSON does not have and for what is nested too
    deep.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _no_json(file: str, error: ValueError) -> UnreadableFile:
    where = (
        f" at line {error.lineno}"
        if isinstance(error, json.JSONDecodeError) and "\n" in error.doc
        else ""
    )
    why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return UnreadableFile(f"{file} is no JSON{where}: {why}.", "Nothing was stored.")
