"""Run logs in the spellings there are, and what of them cannot be read."""

import json

import pytest

from tests.core.samples import NOW
from workbench.core.files.format import ReadContext
from workbench.core.files.formats import detect
from workbench.core.playbook.usage import Run
from workbench.formats import ace_replies as usage_log

CONTEXT = ReadContext(NOW, "log.jsonl")


@pytest.mark.parametrize(
    ("line", "run"),
    [
        (
            {"bullet_ids_used": ["a", "b"], "is_correct": True, "step": 3},
            Run(frozenset("ab"), True),
        ),
        (
            {"bullets_used": [{"id": "a"}, {"bullet_id": "b"}], "success": 0},
            Run(frozenset("ab"), False),
        ),
        ({"used_bullets": ["[a]"], "outcome": "Correct"}, Run(frozenset("a"), True)),
        ({"bullet_ids": [], "result": "failed"}, Run(frozenset(), False)),
        (
            {"bullet_ids_used": ["a"], "is_correct": None, "correct": True},
            Run(frozenset("a"), True),
        ),
    ],
)
def test_spellings(line: dict[str, object], run: Run) -> None:
    text = json.dumps(line) + "\n"
    assert usage_log.read_usage_log(text, CONTEXT).runs == (run,)
    assert detect("log.jsonl", text)[0].format == "usage-log"


def test_what_cannot_be_read_is_reported_by_line() -> None:
    lines = [
        '{"bullet_ids_used": ["a"], "is_correct": true}',
        '{"bullet_ids_used": ["a"], "is_correct": null}',
        '{"bullet_ids_used": "a", "is_correct": true}',
        '{"bullet_ids_used": [7], "is_correct": true}',
        '{"bullet_ids_used": ["a"], "is_correct": "maybe"}',
        '{"is_correct": true}',
        "[]",
        "{",
    ]
    parsed = usage_log.read_usage_log("\n".join(lines), CONTEXT)
    assert len(parsed.runs) == 1
    assert [issue.line for issue in parsed.issues] == [2, 3, 4, 5, 6, 7, 8]
    assert parsed.records_in == parsed.records_read + 7 == 8
    assert "how the run ended" in parsed.issues[0].reason
    assert "“maybe”, neither right nor wrong" in parsed.issues[3].reason
