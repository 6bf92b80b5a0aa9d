"""Run logs of ACE (source 003): JSON lines that say which bullets a run used, and whether its answer was right."""

from collections.abc import Mapping
from typing import Any

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Unread
from workbench.core.playbook.usage import Run
from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.report import Report, shown

NAME = "usage-log"

IDS = ("bullet_ids_used", "used_bullet_ids", "bullets_used", "used_bullets", "bullet_ids")
"""Keys for the bullets a run used, the reference tool's first."""

OUTCOMES = ("is_correct", "correct", "success", "passed", "outcome", "result")
"""Keys for how it ended."""

_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "correct", "right", "success", "succeeded", "pass", "passed", "1"), True),
    **dict.fromkeys(("false", "no", "incorrect", "wrong", "failure", "failed", "fail", "error", "0"), False),
}


def detect(head: str, path: str) -> Detection:
    """Sure when a line names bullets and an outcome."""
    del path
    keys = jsonstream.first_keys(head)
    ids = next((key for key in IDS if key in keys), None)
    outcome = next((key for key in OUTCOMES if key in keys), None)
    if ids is None or outcome is None:
        return Detection(NAME, 0.0, "no line has the bullets a run used and its outcome")
    return Detection(NAME, 0.95 if ids == IDS[0] else 0.7, f"JSON lines with “{ids}” and “{outcome}”")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every run whose bullets and outcome are known; the others become issues."""
    report, reader = Report(context.file), JsonReader()
    runs: list[Run] = []
    for number, line in jsonstream.lines(text):
        try:
            runs.append(_run(reader.decode(line)))
        except ValueError as reason:
            report.skip(number, reason)
    return report.parsed(NAME, runs=tuple(runs))


def _run(doc: Any) -> Run:
    if not isinstance(doc, dict):
        raise ValueError("not a run: expected a JSON object")
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


FORMAT = Format(NAME, "ACE run log (JSON lines)", detect, read)
