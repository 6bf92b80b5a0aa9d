"""What a reader found is a value with fields; the sentence is made from them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from workbench.core.files.format import Issue, ReadContext, Unread, reason_of
from workbench.formats import ace, lifecycle, streams
from workbench.formats.claude_mem import observation
from workbench.formats.shared.records import made

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_what_stays_in_a_file_says_so_by_its_fate() -> None:
    (issue,) = ace.read("A word.\n\n## Rules\n", ReadContext(now=NOW, file="p.txt")).issues
    assert (issue.what, issue.fate, issue.no_part_of) == (
        "text above the first heading",
        "kept",
        "playbook",
    )
    assert (
        issue.reason == "text above the first heading: kept in the file, not part of the playbook"
    )
    assert (
        replace(issue, fate="left out").reason
        == "text above the first heading: left out, not part of the playbook"
    )


def test_a_text_of_a_file_that_speaks_of_what_is_kept_is_no_fate() -> None:
    quoted = Issue("p.txt", 1, "the id “kept in the file” was used twice")
    assert (quoted.fate, quoted.reason) == (None, quoted.what)


def test_places_with_one_reason_are_of_one_kind_whatever_stands_there() -> None:
    lines = ['{"id": "a",', '{"id": "a", "context": "c",', '{"id": "b", "context": "whole"}']
    issues = lifecycle.read("\n".join(lines), ReadContext(now=NOW, file="m.jsonl")).issues
    assert (len({issue.reason for issue in issues}), len({issue.kind for issue in issues})) == (
        2,
        1,
    )
    used = ace.read(
        "## Rules\n[r-1] A.\n[r-1] B.\n[r-2] C.\n[r-2] D.\n", ReadContext(now=NOW, file="p.txt")
    ).issues
    assert len({issue.reason for issue in used}) == 2
    assert {issue.kind for issue in used} == {
        "the id … was already used on line …: read as …, the old id kept as an alias"
    }


def test_a_reason_holds_what_it_is_about() -> None:
    inner = Unread("{} is no time", "“{7}”").reason
    assert str(inner.under("row {} of t", 3)) == "row 3 of t: “{7}” is no time"
    assert inner.under("created {at}").kind == "created {at}: … is no time"
    plain = reason_of(ValueError("it has {braces}"))
    assert (str(plain), str(plain.under("line {}", 1))) == (
        "it has {braces}",
        "line 1: it has {braces}",
    )
    assert str(plain.under("{x}")) == "{x}: it has {braces}"


@pytest.mark.parametrize(("created", "in_steps"), [("7", True), ('"2024-01-01T00:00:00Z"', False)])
def test_a_file_that_counts_steps_is_known_by_a_field(created: str, in_steps: bool) -> None:
    node = f'[{{"node_id": 1, "node_type": "observation", "content": "Tea.", "importance": 5, "created": {created}}}]'
    parsed = streams.read_list(node, ReadContext(now=NOW, file="nodes.json"))
    assert (len(parsed.memories), parsed.in_steps) == (1, in_steps)


def test_the_broken_rule_is_named_whatever_the_id_holds() -> None:
    with pytest.raises(ValueError, match=r"\Aits content is empty\Z"):
        made(ReadContext(now=NOW, file="f"), [], "a: b", " ", NOW)


def test_milliseconds_are_how_the_tool_names_a_time_and_nothing_was_changed() -> None:
    row = {
        "title": "Tea",
        "type": "decision",
        "narrative": "Tea.",
        "created_at_epoch": 1_700_000_000_000,
    }
    memory, notes = observation(row, ReadContext(now=NOW, file="m.json"))
    assert memory.created_at.year == 2023
    assert "created_at_epoch" not in [field for field, _ in notes]
