"""What Review shows of a suggestion for a playbook."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.playbook_host import TWINS, bring_in, open_bench
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench
from workbench.tui.review.drawing import Seen, item_text

OPERATIONS = [
    {"type": "UPDATE", "bullet_id": "r-00004", "reason": "Too strict.",
     "content": "Never run the database migrations while the integration tests run."},
    {"type": "MERGE", "source_ids": ["r-00001", "r-00003"],
     "content": "Always run the database migrations before the integration tests."},
    {"type": "ADD", "section": "RULES", "content": "Stop at an empty page."},
    {"type": "DELETE", "bullet_id": "o-00005"},
]  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = open_bench(tmp_path)
    bring_in(bench, tmp_path / "twins.txt", TWINS)
    reply = bench.curating.read(json.dumps({"operations": OPERATIONS}))
    bench.curating.put_off("twins", reply, range(4))
    return bench


def shown(bench: Workbench, kind: str) -> str:
    found = next(p for p in bench.review.queue() if p.operation.get("type") == kind)
    return item_text(bench, Seen(bench), found, "z").plain


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("UPDATE", ("curator · for twins", "+ Too strict.", "[-", "{+", "Now  r-00004  +0 −3")),
        ("MERGE", ("From r-00001 to the new text", "From r-00003 to the new text")),
        ("ADD", ("changes no existing bullet",)),
        ("DELETE", ("Ask the person who owns the file",)),
    ],
)
def test_each_suggestion_shows_what_it_would_change(
    bench: Workbench, kind: str, told: tuple[str, ...]
) -> None:
    text = shown(bench, kind)
    assert [words for words in told if words not in text] == []


def test_what_has_become_impossible_is_said(bench: Workbench) -> None:
    bench.playbooks.delete("twins", ["o-00005"])
    assert "! There is no bullet o-00005" in shown(bench, "DELETE")


def test_hostile_text_is_inert_and_a_lost_playbook_is_no_error(bench: Workbench) -> None:
    found = next(p for p in bench.review.queue() if p.operation.get("type") == "ADD")
    hostile: Proposal = replace(
        found, title="[red]x\x1b[31m", reasons=("[b]\x1b]0;t\x07",), operation={}
    )
    text = item_text(bench, Seen(bench), hostile, "z").plain
    assert "\x1b" not in text
    assert "[red]x" in text
