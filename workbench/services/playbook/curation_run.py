"""A run of an agent from a JSON file, for the ACE Reflector (source 003)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.record import UnreadableFile
from workbench.formats.opening import read_text
from workbench.reflect.claude.asks import Run

TASK = ("question", "task")
TRACE = ("reasoning", "trace", "trajectory", "reasoning_trace")
ANSWER = ("answer", "final_answer", "predicted_answer", "outcome")
EXPECTED = ("ground_truth", "expected")
FEEDBACK = ("feedback", "environment_feedback")
BULLETS = ("bullets", "bullet_ids", "bullet_ids_used")

_WANTED = "A run is a JSON object with a question, a reasoning (or trace), an answer, and if known a ground_truth."


@dataclass(frozen=True, slots=True)
class Episode:
    """A run, and the ids of the playbook's bullets that the agent used in it."""

    run: Run
    bullets: tuple[str, ...] = ()


def read_episode(path: Path) -> Episode:
    """Read a run from a file. Raises `UnreadableFile`, which names the file and the reason."""
    try:
        doc = json.loads(read_text(path).removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{path} is no JSON: {error}.", _WANTED) from error
    if not isinstance(doc, dict):
        raise UnreadableFile(f"{path} holds no JSON object.", _WANTED)
    if not _text(doc, TASK) or not (_text(doc, TRACE) or _text(doc, ANSWER)):
        raise UnreadableFile(f"{path} tells no run: a question, and a reasoning or an answer, are missing.", _WANTED)
    feedback = _text(doc, FEEDBACK)
    outcome = "\n\n".join(part for part in (_text(doc, ANSWER), feedback and f"Feedback: {feedback}") if part)
    return Episode(Run(_text(doc, TASK), _text(doc, TRACE), outcome, _text(doc, EXPECTED)), _ids(path, doc))


def used(playbook: Playbook, ids: tuple[str, ...]) -> tuple[tuple[Bullet, ...], tuple[str, ...]]:
    """Return the bullets with these ids, or that were merged from them, each once; and the ids of none."""
    known = {name: b for b in playbook.bullets for name in (*b.aliases, b.id)}
    found = {known[id].id: known[id] for id in ids if id in known}
    return tuple(found.values()), tuple(id for id in ids if id not in known)


def _text(doc: Mapping[str, object], names: tuple[str, ...]) -> str:
    value = next((doc[name] for name in names if doc.get(name) not in (None, "")), "")
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _ids(path: Path, doc: Mapping[str, object]) -> tuple[str, ...]:
    """Return the ids of the bullets that were used, each once: a list of ids, or of objects with one."""
    value = next((doc[name] for name in BULLETS if doc.get(name) is not None), [])
    items = value if isinstance(value, list) else [None]
    ids = [item.get("id") if isinstance(item, dict) else item for item in items]
    if not all(isinstance(id, str) and id.strip() for id in ids):
        raise UnreadableFile(f"The bullets in {path} are no list of ids.", 'Give them as ["shr-00001", …].')
    return tuple(dict.fromkeys(str(id).strip().strip("[]") for id in ids))
