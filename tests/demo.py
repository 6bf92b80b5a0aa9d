"""How much the demo's files hold, for tests that look whether all of it is there."""

import json

from workbench.config.paths import shipped

_FOLDER = shipped("fixtures/demo")
_KEPT = [
    json.loads(line)["status"]
    for line in (_FOLDER / "memories.jsonl").read_text("utf-8").splitlines()
]
_ASKED = [
    json.loads(line)["relevant"]
    for line in (_FOLDER / "queries.jsonl").read_text("utf-8").splitlines()
]

MEMORIES = len(_KEPT)
SERVED = sum(status not in ("candidate", "archived") for status in _KEPT)
QUERIES = len(_ASKED)
JUDGMENTS = sum(map(len, _ASKED))
ANSWERED = sum(any(relevant.values()) for relevant in _ASKED)
"""Queries with a memory that answers them."""
