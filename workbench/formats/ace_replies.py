"""Run logs of ACE (source 003): JSON lines that say which bullets a run used, and whether its
answer was right.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.core.files.format import (
    Clues,
    Format,
    Parsed,
    ReadContext,
    Reason,
    Sure,
    Unread,
    braced,
)
from workbench.core.playbook.operations import (
    Analysis,
    Curated,
    Curation,
    Odd,
    read_analysis,
    read_curation,
    read_operation,
)
from workbench.core.playbook.usage import Run
from workbench.core.record import UnreadableFile
from workbench.core.reflection.llm import UnreadableReply, find_json
from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import an_object

USAGE_LOG = "usage-log"

IDS = ("bullet_ids_used", "used_bullet_ids", "bullets_used", "used_bullets", "bullet_ids")
"""Keys for the bullets a run used, the reference tool's first."""

OUTCOMES = ("is_correct", "correct", "success", "passed", "outcome", "result")
"""Keys for how it ended."""

_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(
        ("true", "yes", "correct", "right", "success", "succeeded", "pass", "passed", "1"), True
    ),
    **dict.fromkeys(
        ("false", "no", "incorrect", "wrong", "failure", "failed", "fail", "error", "0"), False
    ),
}


def detect_usage_log(head: str, path: str) -> Sure | None:
    """Sure when a line names bullets and an outcome."""
    del path
    keys = jsonstream.first_keys(head)
    ids = next((key for key in IDS if key in keys), None)
    outcome = next((key for key in OUTCOMES if key in keys), None)
    if ids is None or outcome is None:
        return None
    return (0.95 if ids == IDS[0] else 0.7, f"JSON lines with “{ids}” and “{outcome}”")


def read_usage_log(text: str, context: ReadContext) -> Parsed:
    """Read every run whose bullets and outcome are known; the others become issues."""
    report, runs = Report(context.file), list[Run]()
    for number, doc, _ in jsonstream.documents(text, report):
        try:
            runs.append(_run(doc))
        except ValueError as reason:
            report.skip(number, reason)
    return report.parsed(USAGE_LOG, runs=tuple(runs))


def _run(doc: Any) -> Run:
    doc = an_object(doc, "a run")
    ids = next((doc[key] for key in IDS if doc.get(key) is not None), None)
    if not isinstance(ids, list):
        raise ValueError(f"it does not say which bullets were used ({IDS[0]})")
    used = [_name(item) for item in ids]
    outcome = next((doc[key] for key in OUTCOMES if doc.get(key) is not None), None)
    if outcome is None:
        raise ValueError(f"it does not say how the run ended ({OUTCOMES[0]})")
    return Run(frozenset(used), _right(outcome))


def _name(item: object) -> str:
    name = item.get("id") or item.get("bullet_id") if isinstance(item, dict) else item
    if not isinstance(name, str) or not name.strip():
        raise Unread("{} is no bullet's id", shown(item))
    return name.strip().removeprefix("[").removesuffix("]")


def _right(outcome: object) -> bool:
    if isinstance(outcome, bool):
        return outcome
    word = str(outcome).strip().lower() if isinstance(outcome, str) else None
    if isinstance(outcome, int | float) and outcome in (0, 1):
        return bool(outcome)
    if word is None or word not in _WORDS:
        raise Unread("its outcome is {}, neither right nor wrong", shown(outcome))
    return _WORDS[word]


USAGE_LOG_FORMAT = Format(USAGE_LOG, "ACE run log (JSON lines)", detect_usage_log, read_usage_log)


# Saved replies of the ACE roles (source 003): a Curator's operations, or a Reflector's analysis
# with its tags.


REPLIES = "ace-reply"

_HEAD = 65_536  # characters that tell a log from a reply
_OPERATIONS = re.compile(r'"operations"\s*:\s*\[')
_TAGS = re.compile(r'"bullet_tags"\s*:\s*\[')
_WRAPPED = re.compile(r'"(?:response|raw_response)"\s*:')
_DEEPEST = 3


detect_replies = Clues((
    (0.9, "JSON with a list of “operations”", _OPERATIONS.pattern, ""),
    (0.9, "JSON with a list of “bullet_tags”", _TAGS.pattern, ""),
    (0.85, "the log of a call whose “response” is one",
     rf"\A(?=(?s:.*){_WRAPPED.pattern})(?s:.*)" r'\\"(?:operations|bullet_tags)\\"\s*:\s*\[', ""),
))  # fmt: skip
"""The JSON may have prose and a code fence around it."""


def read_replies(text: str, context: ReadContext) -> Parsed:
    """Read one reply; each part of it that cannot be read becomes an issue. Raises
    `UnreadableFile`.
    """
    try:
        reply = read_reply(text)
    except UnreadableReply as error:
        raise UnreadableFile(
            f"{context.file} is no reply of a Curator or Reflector: {error.message}"
        ) from error
    report = Report(context.file)
    for odd in reply.odd:
        report.skip(_line(text, odd.raw), quoted(odd))
    return report.parsed(REPLIES, replies=(reply,))


def read_reply(text: str) -> Curation | Analysis:
    """Read what a Curator or a Reflector answered, or the log of operations. Raises
    `UnreadableReply`.
    """
    if detect_operations(text[:_HEAD], ""):
        return read_log(text)
    text = _answered(text)
    if _OPERATIONS.search(text):
        return read_curation(text)
    if _TAGS.search(text):
        return read_analysis(text)
    try:
        return read_curation(text)
    except UnreadableReply:
        return read_analysis(text)


def _answered(text: str) -> str:
    """Return the reply that the log of a call holds as its response; a text that is no such log as
    it is.
    """
    for _ in range(_DEEPEST):
        if not _WRAPPED.search(text):
            return text
        try:
            log = find_json(text, "response", "raw_response")
        except UnreadableReply:
            return text
        if not isinstance(log, dict) or not {"operations", "bullet_tags"}.isdisjoint(log):
            return text
        said = log.get("response", log.get("raw_response"))
        if not isinstance(said, str | dict):
            return text
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return text


def _line(text: str, raw: str) -> int:
    """Return the line on which a part of the JSON begins; the first one when it is written
    otherwise there.
    """
    at = text.find(raw)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


REPLIES_FORMAT = Format(
    REPLIES, "reply of an ACE Curator or Reflector", detect_replies, read_replies
)


# Logs of a Curator's operations (`curator_operations_diff.jsonl` of ACE, source 003): one operation
# a line.


OPERATIONS = "ace-operations"

KIND = "operation_type"
"""The key that tells such a line from everything else."""

_BESIDE = ("call_id", "bullet_id", "bullet_ids", "section", "content", "source_ids")

_Line = tuple[int, Curated | Odd]


def detect_operations(head: str, path: str) -> Sure | None:
    """Sure when a line names its kind of operation and what it is about."""
    del path
    keys = jsonstream.first_keys(head)
    if KIND in keys and keys.intersection(_BESIDE):
        return (0.95, f"JSON lines with “{KIND}”")
    return None


def read_operations(text: str, context: ReadContext) -> Parsed:
    """Read every operation as one reply of the Curator; lines that cannot be read become issues."""
    report = Report(context.file)
    found = list(_lines(text))
    for number, one in found:
        if isinstance(one, Odd):
            report.skip(number, quoted(one))
    return report.parsed(OPERATIONS, replies=(_curation(found),))


def quoted(odd: Odd) -> Reason:
    """Return what is odd about a part of a reply, with the part."""
    return Reason(f"{braced(odd.reason)} {{}}", (shown(odd.raw),))


def read_log(text: str) -> Curation:
    """Read a log as one reply of the Curator; raises `UnreadableReply` when no line holds an
    operation.
    """
    found = _curation(list(_lines(text)))
    if not found.operations:
        raise UnreadableReply("No line of the log holds an operation.")
    return found


def _curation(found: list[_Line]) -> Curation:
    operations = tuple(one for _, one in found if isinstance(one, Curated))
    return Curation("", operations, tuple(one for _, one in found if isinstance(one, Odd)))


def _lines(text: str) -> Iterator[_Line]:
    reader = JsonReader()
    for number, line in jsonstream.lines(text):
        try:
            doc = reader.decode(line)
        except ValueError as reason:
            yield number, Odd(line, str(reason))
            continue
        for operation in _operations(doc):
            yield number, read_operation(operation)


def _operations(doc: Any) -> Iterator[object]:
    """Yield what a line logs in the words of a Curator's reply; one that deletes several bullets is
    several.
    """
    if not isinstance(doc, Mapping):
        yield doc
        return
    kind, many = doc.get(KIND), doc.get("bullet_ids")
    operation = {**doc, "type": kind}
    if isinstance(kind, str) and isinstance(many, list):
        if kind.upper() == "DELETE" and "bullet_id" not in doc:
            yield from ({**operation, "bullet_id": one} for one in many)
            return
        operation.setdefault("source_ids", many)
    yield operation


OPERATIONS_FORMAT = Format(
    OPERATIONS, "log of an ACE Curator's operations", detect_operations, read_operations
)
