"""agent-playbook patterns: what a pattern becomes, and what each change does to the file."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import PATTERNS
from tests.formats.samples import NOW, context
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.patterns import read, write

PARSED = read(PATTERNS, context("semantic-patterns.json"))


def test_patterns() -> None:
    first, second = PARSED.memories
    assert (first.id, first.content, first.summary) == (
        "pat-001",
        "Use a state machine for phases",
        "State machine",
    )
    assert (first.category, first.confidence, first.status) == ("async", 4, "signal")
    assert (first.memory_type, first.observation_type, first.importance_score) == (
        "semantic",
        "pattern",
        7.0,
    )
    assert first.created_at == datetime(2025, 1, 11, tzinfo=UTC)
    extra = {
        "applications": 2,
        "problem": "Flags contradict each other",
        "target_skills": ["debugger", "api"],
    }
    assert {key: value for key, value in first.metadata.items() if key != FILE_KEY} == extra
    assert (second.id, second.content, second.summary) == (
        "pattern-numbers",
        "Numbers in success criteria",
        "",
    )
    assert (second.confidence, second.created_at) == (5, NOW)
    assert "confidence: mapped from 0–1 to 0–5 (1 record)" in [
        str(note) for note in PARSED.mappings
    ]


@pytest.mark.parametrize(
    ("name", "values", "line"),
    [
        ("pat-001", {"content": "Two\nlines"}, '+      "pattern": "Two\\nlines",'),
        ("pat-001", {"confidence": 3}, '+      "confidence": 0.6,'),
        ("pat-001", {"summary": "States"}, '+      "name": "States",'),
        ("pattern-numbers", {"content": "Name numbers"}, '+      "name": "Name numbers",'),
        ("pattern-numbers", {"category": "writing"}, '+      "category": "writing"'),
    ],
)
def test_a_change_is_one_line(name: str, values: dict[str, object], line: str) -> None:
    assert changed_lines(PATTERNS, after(PARSED, PATTERNS, name, **values))[1:] == [line]


def test_lists_on_one_line_stay_on_one_line() -> None:
    metadata = {**PARSED.memories[0].metadata, "target_skills": ["debugger"]}
    assert changed_lines(PATTERNS, after(PARSED, PATTERNS, "pat-001", metadata=metadata))[1] == (
        '+      "target_skills": ["debugger"]'
    )


def test_the_file_counts_its_patterns() -> None:
    assert json.loads(without(PARSED, PATTERNS, "pat-001"))["meta"] == {
        "version": "1.0.0",
        "total_patterns": 1,
    }
    new = Memory("x", "Ask — twice", NOW, NOW, summary="State machine", category="c", confidence=1)
    doc = json.loads(grown(PARSED, PATTERNS, new, replace(new, id="y")))
    assert doc["meta"]["total_patterns"] == 4
    assert list(doc["patterns"]) == [
        "state_machine",
        "numbers",
        "state_machine_2",
        "state_machine_3",
    ]
    assert doc["patterns"]["state_machine_2"] == {
        "id": "x", "name": "State machine", "confidence": 0.2, "created": "2026-11-21", "category": "c",
        "pattern": "Ask — twice",
    }  # fmt: skip
    other = PATTERNS.replace('"total_patterns": 2', '"total_patterns": 99')
    assert '"total_patterns": 99' in without(PARSED, other, "pat-001")


def test_broken_patterns_are_reported() -> None:
    text = """{"patterns": {"a": 5, "b": {"problem": "p"}, "c": {"pattern": " "}, "d": {"pattern": "ok", "id": "1"},
     "e": {"pattern": "same", "id": "1"}, "f": {"pattern": "%s"},
     "g": {"pattern": "g", "confidence": "high", "created": "soon", "category": ["x"]}}}""" % (
        "x" * 65_537
    )
    parsed = read(text, context("p.json"))
    assert [m.id for m in parsed.memories] == ["1", "pattern-g"]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (1, 1),
        (1, 1),
        (1, 1),
        (2, 1),
        (2, 1),
    ]
    assert "already used on line 1" in parsed.issues[3].reason
    assert {"confidence", "created", "category"} <= {note.field for note in parsed.mappings}
    assert parsed.records_in == 7
    assert write(parsed, text) == text


@pytest.mark.parametrize("text", ["{}", '{"patterns": []', "[1]", "x", '{"meta": {"a": 1}}'])
def test_a_file_without_patterns_cannot_be_read(text: str) -> None:
    with pytest.raises(UnreadableFile):
        read(text, context())
