"""What is as it should be is no finding: issues among memories, empty blocks, what happened twice."""

import json
from datetime import timedelta
from pathlib import Path

from tests.formats.others import BEADS, CASS, LETTA
from tests.formats.samples import NOW
from workbench.formats.lint import lint_text


def rules(name: str, text: str, kind: str) -> list[str]:
    """Return the rules that a text breaks."""
    return [finding.rule for finding in lint_text(Path(name), text, kind, NOW)]


def test_what_is_no_record_and_stays_in_the_file_is_nothing_wrong() -> None:
    assert rules("issues.jsonl", BEADS, "beads") == []
    assert rules("issues.jsonl", BEADS + "{broken\n", "beads") == ["unreadable"]
    patterns = CASS.replace("deprecatedPatterns: []", 'deprecatedPatterns:\n  - pattern: "old"')
    assert rules("playbook.yaml", patterns, "cass") == rules("playbook.yaml", CASS, "cass") == []
    blocks = {"blocks": [{"label": "human", "value": ""}, {"label": "persona", "value": "Kind."}]}
    assert rules("agent.af", json.dumps(blocks), "letta") == []
    assert rules("agent.af", LETTA, "letta").count("unreadable") <= 1


def test_what_happens_again_is_told_again_in_a_stream() -> None:
    def node(number: int, at: timedelta) -> dict[str, object]:
        when = (NOW + at).strftime("%Y-%m-%d %H:%M:%S")
        return {"type": "event", "created": when, "description": "the bed is idle", "poignancy": 1}

    two = {"node_1": node(1, timedelta()), "node_2": node(2, timedelta(hours=1))}
    assert rules("nodes.json", json.dumps(two), "generative-agents") == []
    same = {"node_1": node(1, timedelta()), "node_2": node(2, timedelta())}
    assert rules("nodes.json", json.dumps(same), "generative-agents") == ["duplicate-text"]
