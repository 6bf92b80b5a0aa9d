"""agent-playbook semantic memory: `semantic-patterns.json`, `{patterns: {slug: {…}}, meta}`."""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.files.format import Format, Layout, Parsed, ReadContext, Signature
from workbench.core.record import UnreadableFile, as_list, as_object, iso
from workbench.core.stream.memory import Memory
from workbench.formats.patch import Node, dumps, opened, patch, scan_file
from workbench.formats.shared import values
from workbench.formats.shared.records import (
    Doc,
    Key,
    at_time_of,
    created_at,
    fresh,
    kept,
    made,
    remembered,
    restored,
    status_in,
    take,
    take_text,
    updated,
    with_records,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import FreeNames, Notes, an_object, slug

# One pattern of agent-playbook's semantic memory: from a JSON object to a memory, and its keys.


NAME = "semantic-patterns"
SAYS = ("pattern", "description", "name")
"""The keys that may say what the pattern is, the best first."""


def _date(memory: Memory) -> str:
    return iso(memory.created_at)[:10]


def keys_for(said: str) -> tuple[Key[Memory], ...]:
    """Return the keys of a pattern whose content stands in the key `said`."""
    name: tuple[Key[Memory], ...] = (Key("name", lambda memory: memory.summary or None),)
    return (
        Key("id", lambda memory: memory.id),
        *(name if said != "name" else ()),
        Key("confidence", lambda memory: memory.confidence / 5),
        Key("created", _date),
        Key("category", lambda memory: memory.category or None),
        Key(said, lambda memory: memory.content),
    )


def keys_of(memory: Memory) -> tuple[Key[Memory], ...]:
    """Return the keys of the pattern that `memory` was read from; of a new one, those it would
    have.
    """
    said = kept(memory, NAME, "said", "")
    return keys_for(said if said in SAYS else "pattern")


def pattern(key: str, doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one pattern. Raises `ValueError` when it does not say anything."""
    doc = an_object(doc, "a pattern")
    said = next(
        (name for name in SAYS if isinstance(doc.get(name), str) and doc[name].strip()), None
    )
    if said is None:
        raise ValueError("it has neither a pattern nor a name")
    notes: Notes = []
    created = created_at(doc, ("created",), context, notes)
    memory = made(
        context,
        notes,
        take_text(doc, "id", notes) or f"pattern-{slug(key) or 'unnamed'}",
        doc[said],
        created,
        "pattern",
        summary="" if said == "name" else take_text(doc, "name", notes),
        memory_type="semantic",
        category=take_text(doc, "category", notes),
        confidence=take(doc, "confidence", _confidence, 0, notes),
        status=status_in(doc),
    )
    return remembered(memory, doc, keys_for(said), NAME, place={"key": key, "said": said}), notes


def _confidence(raw: object) -> values.Reading:
    if not values.is_number(raw):
        raise ValueError("it is no number")
    held = round(min(max(float(raw), 0.0), 1.0) * 5)
    return held, "" if raw in (0, 1) else "mapped from 0–1 to 0–5"


def document(memory: Memory) -> Doc:
    """Return the JSON object for `memory`, with the keys of the file it came from."""
    key = key_of(memory)
    again = partial(pattern, key, context=at_time_of(memory))
    return restored(memory, keys_of(memory), NAME, lambda doc: again(doc)[0]) or fresh(
        memory, keys_for("pattern")
    )


def key_of(memory: Memory) -> str:
    """Return the key of the pattern in its file."""
    named = slug(memory.summary or memory.id).replace("-", "_") or memory.id
    return kept(memory, NAME, "key", named)


# What an entry of agent-playbook's file becomes as a pattern of source 004: nothing of it is left
# out.


ENTRY = "entry"
"""The key of a pattern's `metadata` that has the entry of the file as it was."""


def as_pattern(memory: Memory) -> dict[str, object]:
    """Return the pattern, as JSON, that a memory is which was read from a file of patterns.

    Its confidence stays on the file's scale (0–1), its applications are counted. The file's own
    category, which is any word, becomes the type of problem that it is for; the file does not say
    which of the eight categories it is.
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
    return value if values.is_whole(value) and 0 <= value < 10**9 else 0


def _share(value: object) -> float:
    number = value if values.is_number(value) else 0.0
    return min(max(float(number), 0.0), 1.0)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in as_list(value) if (text := _text(item))]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return (
        json.dumps(value, ensure_ascii=False, indent=2)
        if isinstance(value, Mapping | list)
        else str(value)
    )


def entry_in(pattern: Pattern) -> Mapping[str, object]:
    """Return the entry of the file that a pattern came from, as it was; empty for another one."""
    return as_object(pattern.metadata.get(ENTRY))


def as_entry(pattern: Pattern) -> dict[str, object]:
    """Return the keys of an entry of agent-playbook's file that a pattern says otherwise than its
    entry there.

    Of one that came from no such file these are all that it says. What the file has beyond that
    stays as it is.
    """
    entry = entry_in(pattern)
    said = next((name for name in SAYS if isinstance(entry.get(name), str)), "pattern")
    strategy = pattern.body.strategy if pattern.body is not None else None
    types = pattern.applicability.problem_types
    now: dict[str, tuple[object, object]] = {
        said: (pattern.description or pattern.line, entry.get(said)),
        "name": (
            pattern.name,
            (entry.get("name") or _name(_text(entry.get(said)) or " ")) if entry else None,
        ),
        "category": (
            types[0] if types else "",
            re.sub(r"[_ -]?patterns?$", "", _text(entry.get("category"))).strip(),
        ),
        "problem": (pattern.detailed_explanation, _text(entry.get("problem"))),
        "solution": (pattern.guidance.how_to_apply, _text(entry.get("solution"))),
        "when_to_use": (
            _lines(pattern.guidance.when_to_apply),
            _lines("\n".join(_texts(entry.get("when_to_use")))),
        ),
        "quality_rules": (
            list(strategy.key_principles if strategy else ()),
            _texts(entry.get("quality_rules")),
        ),
        "confidence": (
            pattern.support.confidence_score,
            _share(entry.get("confidence")) if entry else None,
        ),
        "applications": (pattern.usage_count, _count(entry.get("applications")) if entry else None),
    }
    if said == "name":
        del now["name"]
    first = {} if entry else {"id": pattern.id, "created": iso(pattern.created_at)[:10]}
    return first | {key: value for key, (value, before) in now.items() if value != before}


_INSIDE = frozenset({"patterns"})
_SIGNATURE = Signature(
    "a JSON object of “patterns” by name",
    (r"\A\s*\{", r'"patterns"\s*:\s*\{'),
    0.25,
    r'"(pattern|problem|solution|applications|confidence|category|quality_rules|target_skills|'
    r'total_patterns)"\s*:',
    0.15,
)


def read(text: str, context: ReadContext) -> Parsed:
    """Read every pattern that can be read. Raises `UnreadableFile` when the text holds no object of
    patterns.
    """
    report = Report(context.file)
    root, lines = opened(text, report, _INSIDE, _patterns, "“patterns” object")
    node = _patterns(root)
    entries = ((lines.at(e.start), e, e.changes) for e in (node.entries if node else ()))
    found = report.every(entries, lambda e: pattern(str(e.key), e.value, context))
    return report.parsed(NAME, memories=found)


def _patterns(root: Node) -> Node | None:
    return root.inside("{", "patterns")


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories as patterns; with `original`, only patterns that changed are new."""
    if original is not None:
        return _woven(parsed, original)
    keys = FreeNames(joined="_")
    patterns = {keys.give(key_of(memory)): document(memory) for memory in parsed.memories}
    return _file(patterns)


def _file(patterns: Mapping[str, Doc]) -> str:
    return dumps({"patterns": patterns, "meta": {"total_patterns": len(patterns)}}, Layout()) + "\n"


def _woven(parsed: Parsed, original: str) -> str:
    root = scan_file(original, "the file", _INSIDE)
    node = _patterns(root)
    if node is None:
        return original
    new = {memory.id: memory for memory in parsed.memories}
    docs, added = with_records(node.value, new, lambda *args: pattern(*args)[0], keys_of)
    keys = FreeNames(map(str, node.value), joined="_")
    return _with(
        original, root, docs | {keys.give(key_of(memory)): document(memory) for memory in added}
    )


def _with(text: str, root: Node, patterns: Mapping[str, Doc]) -> str:
    """Return the file with other patterns, and with their number where its `meta` counts them."""
    value, before = root.value, len(root.value["patterns"])
    meta = as_object(value.get("meta"))
    if type(meta.get("total_patterns")) is int and meta["total_patterns"] == before:
        value["meta"] = {**meta, "total_patterns": len(patterns)}
    return patch(text, {**value, "patterns": patterns}, root)


def written_back(
    changed: Mapping[str, Mapping[str, object]],
    whole: Mapping[str, Mapping[str, object]],
    original: str | None,
) -> str:
    """Return a file in which entries, by their ids, have other keys; those that it does not have
    come whole at the end.

    Without an `original` it is a new one. Raises `UnreadableFile` for a text that holds no
    patterns.
    """
    if original is None:
        keys = FreeNames(joined="_")
        made = {keys.give(_slug(entry, id)): dict(entry) for id, entry in whole.items()}
        return _file(made)
    root = scan_file(original, "the file", _INSIDE)
    node = _patterns(root)
    if node is None:
        raise UnreadableFile("The file has no “patterns” object.", "Nothing was written.")
    ids = {key: _id(key, entry) for key, entry in node.value.items()}
    keys = FreeNames(ids, joined="_")
    now = {
        key: updated(entry, changed.get(ids[key], {})) if isinstance(entry, dict) else entry
        for key, entry in node.value.items()
    }
    new = {id: entry for id, entry in whole.items() if id not in ids.values()}
    return _with(
        original,
        root,
        now | {keys.give(_slug(entry, id)): dict(entry) for id, entry in new.items()},
    )


def _id(key: str, entry: object) -> str:
    """Return the id of an entry as it is read (see `pattern`)."""
    said = as_object(entry).get("id")
    return said if isinstance(said, str) and said else f"pattern-{slug(key) or 'unnamed'}"


def _slug(entry: Mapping[str, object], id: str) -> str:
    return slug(str(entry.get("name", id))).replace("-", "_") or id


FORMAT = Format(NAME, "agent-playbook patterns (JSON)", _SIGNATURE, read, write, suffix=".json")
