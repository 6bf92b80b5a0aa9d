"""Skillbooks: what a skill becomes, and what each change does to the file."""

import json
from datetime import UTC, datetime

import pytest

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import SKILLBOOK
from tests.formats.samples import context
from workbench.core.playbook.book import Bullet
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY
from workbench.formats.skillbook import read, write

PARSED = read(SKILLBOOK, context("x/skillbook.json"))
(BOOK,) = PARSED.playbooks


def test_skills_in_the_order_of_their_sections() -> None:
    assert BOOK.book.name == "skillbook"
    assert [(s.id, s.title) for s in BOOK.sections] == [("ask", "ask"), ("close", "close")]
    assert [b.id for b in BOOK.bullets] == ["ask-00004", "ask-00001", "close-00002"]
    never, ask, close = BOOK.bullets
    assert (ask.helpful_count, ask.harmful_count, ask.neutral_count, ask.state) == (
        3,
        1,
        2,
        "active",
    )
    assert ask.created_at == datetime(2026, 3, 18, 14, 8, 22, 500_000, tzinfo=UTC)
    extra = {"justification": "It saves a turn.", "embedding": None, "sources": [0.5, "a"]}
    assert {key: value for key, value in ask.metadata.items() if key != FILE_KEY} == extra
    assert (close.content, close.harmful_imported, close.state) == (
        "Say goodbye — once.",
        4,
        "deprecated",
    )
    assert (never.helpful_count, never.created_at) == (0, None)
    assert [str(issue) for issue in PARSED.issues] == [
        "x/skillbook.json:1: the section “ask” lists “ask-00099”, which no skill has"
    ]
    assert PARSED.records_in == 3


def test_a_vote_changes_one_line() -> None:
    text = after(PARSED, SKILLBOOK, "ask-00001", helpful_votes=2, neutral_count=2)
    assert changed_lines(SKILLBOOK, text) == ['-      "helpful": 3,', '+      "helpful": 5,']


def test_a_count_that_the_skill_did_not_have_is_added_to_it() -> None:
    text = after(PARSED, SKILLBOOK, "ask-00004", harmful_votes=1)
    assert changed_lines(SKILLBOOK, text) == [
        '-      "content": "Never ask twice."', '+      "content": "Never ask twice.",', '+      "harmful": 1',
    ]  # fmt: skip


def test_deprecating_and_back() -> None:
    text = after(PARSED, SKILLBOOK, "ask-00001", state="deprecated")
    assert changed_lines(SKILLBOOK, text) == [
        '-      "status": "active",',
        '+      "status": "invalid",',
    ]
    text = after(PARSED, SKILLBOOK, "close-00002", state="active")
    assert changed_lines(SKILLBOOK, text) == [
        '-      "status": "invalid"',
        '+      "status": "active"',
    ]


def test_metadata_of_the_file_is_written_and_notes_of_the_workbench_are_not() -> None:
    metadata = {**BOOK.bullets[1].metadata, "justification": "New.", "reason_in_the_store": "x"}
    text = after(PARSED, SKILLBOOK, "ask-00001", metadata=metadata)
    assert [line for line in changed_lines(SKILLBOOK, text) if line[0] == "+"] == [
        '+      "justification": "New.",'
    ]
    del metadata["justification"]
    text = after(PARSED, SKILLBOOK, "ask-00001", metadata=metadata)
    assert changed_lines(SKILLBOOK, text) == ['-      "justification": "It saves a turn.",']


def test_moving_changes_the_skill_and_both_lists() -> None:
    doc = json.loads(after(PARSED, SKILLBOOK, "ask-00001", section="close", order=9.0))
    assert doc["skills"]["ask-00001"]["section"] == "close"
    assert doc["sections"] == {
        "ask": ["ask-00004", "ask-00099"],
        "close": ["close-00002", "ask-00001"],
    }


def test_reordering_changes_the_list_only() -> None:
    text = after(PARSED, SKILLBOOK, "ask-00004", order=2.5)
    assert json.loads(text)["sections"]["ask"] == ["ask-00001", "ask-00004", "ask-00099"]
    assert len(changed_lines(SKILLBOOK, text)) == 2


def test_removing_takes_the_skill_and_its_place_in_the_list() -> None:
    doc = json.loads(without(PARSED, SKILLBOOK, "ask-00001"))
    assert (list(doc["skills"]), doc["next_id"]) == (["close-00002", "ask-00004"], 4)
    assert doc["sections"]["ask"] == ["ask-00004", "ask-00099"]
    assert doc["similarity_decisions"] == json.loads(SKILLBOOK)["similarity_decisions"]
    assert json.loads(without(PARSED, SKILLBOOK, *(b.id for b in BOOK.bullets)))["skills"] == {}


def test_adding_counts_on() -> None:
    new = Bullet("close-00007", "close", "Thank them.", order=9, helpful_votes=1)
    text = grown(PARSED, SKILLBOOK, new)
    doc = json.loads(text)
    assert doc["skills"]["close-00007"] == {
        "id": "close-00007", "section": "close", "content": "Thank them.", "helpful": 1, "harmful": 0, "neutral": 0,
        "status": "active",
    }  # fmt: skip
    assert (doc["sections"]["close"], doc["next_id"]) == (["close-00002", "close-00007"], 7)
    assert all(
        line.startswith("+") or "," not in line for line in changed_lines(SKILLBOOK, text)[:3]
    )


def test_older_files_and_loose_skills() -> None:
    text = """{"bullets": {
      "a": {"id": "other", "content": "x", "helpful": -1, "neutral": "many", "status": "draft"},
      "b": {"content": 7}, "c": 5, "d": {"content": "y", "section": "S & T", "helpful": 2.0},
      "d": {"content": "again"}}, "sections": {"one": ["a", 5]}}"""
    parsed = read(text, context("s.json"))
    first, second = parsed.playbooks[0].bullets
    assert (first.id, first.section, first.helpful_count, first.state) == (
        "a",
        "one",
        0,
        "deprecated",
    )
    assert (second.section, second.helpful_count) == ("s_and_t", 2)
    assert [issue.reason for issue in parsed.issues] == [
        "it has no content", "not a skill: expected a JSON object", "the id “d” was already used on line 3",
    ]  # fmt: skip
    assert {note.field for note in parsed.mappings} == {"helpful", "neutral", "status"}
    assert write(parsed, text) == text
    assert (
        changed_lines(text, after(parsed, text, "d", content="z"))[1].count(
            '"z", "section": "S & T"'
        )
        == 1
    )


def test_a_cut_off_file_gives_what_stands_before_the_damage() -> None:
    text = SKILLBOOK[: SKILLBOOK.index('"neutral": 0')]
    parsed = read(text, context())
    assert [b.id for b in parsed.playbooks[0].bullets] == ["ask-00001"]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(16, 1)]
    assert after(parsed, text, "ask-00001", content="z") == text.replace(
        "Ask for the booking number first.", "z"
    )


@pytest.mark.parametrize(
    "text", ["{}", '{"skills": 3}', "[]", '{"next_id": 2', '{"skills": {"a": ']
)
def test_a_file_without_skills_cannot_be_read(text: str) -> None:
    with pytest.raises(UnreadableFile):
        read(text, context())
