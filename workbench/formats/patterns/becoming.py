"""What an entry of agent-playbook's file becomes as a pattern of source 004: nothing of it is left out."""

import json
import re
from collections.abc import Mapping

from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.record import iso
from workbench.core.stream.memory import Memory
from workbench.formats.patterns.entry import NAME, SAYS, document
from workbench.formats.shared.records import file_part

ENTRY = "entry"
"""The key of a pattern's `metadata` that has the entry of the file as it was."""


def is_entry(memory: Memory) -> bool:
    """Tell whether a memory was read from a file of patterns."""
    return file_part(memory, NAME) is not None


def as_pattern(memory: Memory) -> dict[str, object]:
    """Return the pattern, as JSON, that a memory is which was read from a file of patterns.

    Its confidence stays on the file's scale (0–1), its applications are counted. The file's own category, which is any
    word, becomes the type of problem that it is for; the file does not say which of the eight categories it is.
    """
    entry = document(memory)
    applications = _count(entry.get("applications"))
    problem, solution = _text(entry.get("problem")), _text(entry.get("solution"))
    kind = re.sub(r"[_ -]?patterns?$", "", memory.category).strip()
    return {
        "pattern_id": memory.id,
        "name": memory.summary or _name(memory.content),
        "category": "domain",
        "created_at": iso(memory.created_at),
        "description": memory.content,
        "detailed_explanation": problem,
        "applicability": {"problem_types": [kind] if kind else []},
        "content": {
            "type": "strategy",
            "strategy": {"approach": memory.content, "key_principles": _texts(entry.get("quality_rules"))},
        },
        "application": {"when_to_apply": "\n".join(_texts(entry.get("when_to_use"))), "how_to_apply": solution},
        "evidence": {"num_applications": applications, "confidence_score": _share(entry.get("confidence")),
                     "success_rate": _share(entry.get("success_rate"))},
        "lifecycle": {"usage_count": applications},
        "metadata": {ENTRY: entry},
    }  # fmt: skip


def _name(text: str) -> str:
    line = text.strip().splitlines()[0]
    return line if len(line) <= 120 else f"{line[:119]}…"


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0


def _share(value: object) -> float:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    return min(max(float(number), 0.0), 1.0)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in value if (text := _text(item))] if isinstance(value, list) else []


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, Mapping | list) else str(value)


def entry_in(pattern: Pattern) -> Mapping[str, object]:
    """Return the entry of the file that a pattern came from, as it was; empty for another one."""
    known = pattern.metadata.get(ENTRY)
    return known if isinstance(known, Mapping) else {}


def as_entry(pattern: Pattern) -> dict[str, object]:
    """Return the keys of an entry of agent-playbook's file that a pattern says otherwise than its entry there.

    Of one that came from no such file these are all that it says. What the file has beyond that stays as it is.
    """
    entry = entry_in(pattern)
    said = next((name for name in SAYS if isinstance(entry.get(name), str)), "pattern")
    strategy = pattern.body.strategy if pattern.body is not None else None
    types = pattern.applicability.problem_types
    now: dict[str, tuple[object, object]] = {
        said: (pattern.description or pattern.line, entry.get(said)),
        "name": (pattern.name, (entry.get("name") or _name(_text(entry.get(said)) or " ")) if entry else None),
        "category": (types[0] if types else "", re.sub(r"[_ -]?patterns?$", "", _text(entry.get("category"))).strip()),
        "problem": (pattern.detailed_explanation, _text(entry.get("problem"))),
        "solution": (pattern.guidance.how_to_apply, _text(entry.get("solution"))),
        "when_to_use": (_lines(pattern.guidance.when_to_apply), _lines("\n".join(_texts(entry.get("when_to_use"))))),
        "quality_rules": (list(strategy.key_principles if strategy else ()), _texts(entry.get("quality_rules"))),
        "confidence": (pattern.support.confidence_score, _share(entry.get("confidence")) if entry else None),
        "applications": (pattern.usage_count, _count(entry.get("applications")) if entry else None),
    }
    if said == "name":
        del now["name"]
    first = {} if entry else {"id": pattern.id, "created": iso(pattern.created_at)[:10]}
    return first | {key: value for key, (value, before) in now.items() if value != before}
