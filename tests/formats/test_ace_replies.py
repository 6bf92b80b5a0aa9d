"""Saved replies of the ACE roles: found by their content, unreadable parts with their lines; and
logs of operations.
"""

import json

import pytest

from tests.core.samples import NOW
from workbench.config.paths import shipped
from workbench.core.files.format import ReadContext
from workbench.core.files.formats import detect
from workbench.core.playbook.operations import (
    Add,
    Analysis,
    BulletTag,
    Curation,
    Delete,
    Merge,
    Update,
)
from workbench.core.record import UnreadableFile
from workbench.core.reflection.llm import UnreadableReply
from workbench.formats import ace_replies as operations
from workbench.formats import ace_replies as replies

CONTEXT = ReadContext(NOW, "reply.txt")
REPLIES = shipped("fixtures/demo").parent / "replies"


@pytest.mark.parametrize(("name", "parts", "odd"), [("curation.txt", 5, 2), ("analysis.txt", 2, 1)])
def test_replies_with_prose_around_them(name: str, parts: int, odd: int) -> None:
    text = (REPLIES / name).read_text()
    assert detect(name, text)[0].format == "ace-reply"
    parsed = replies.read_replies(text, CONTEXT)
    assert (parsed.records_read, len(parsed.issues), parsed.records_in) == (parts, odd, parts + odd)
    assert all(issue.line >= 1 for issue in parsed.issues)


def test_roles_are_told_apart() -> None:
    curation = replies.read_reply('[{"type": "DELETE", "bullet_id": "x"}]')
    analysis = replies.read_reply(
        '{"key_insight": "look", "bullet_tags": [{"id": "x", "tag": "helpful"}]}'
    )
    assert isinstance(curation, Curation)
    assert isinstance(analysis, Analysis)
    assert analysis.bullet_tags == (BulletTag("x", "helpful"),)


def test_the_line_of_an_unreadable_part() -> None:
    text = '{"operations": [\n{"type": "DELETE", "bullet_id": "x"},\n{"type": "SING"}]}'
    (issue,) = replies.read_replies(text, CONTEXT).issues
    assert (issue.line, issue.records) == (3, 1)
    assert "operation “SING”" in issue.reason


def test_what_is_no_reply() -> None:
    with pytest.raises(UnreadableFile, match="no reply"):
        replies.read_replies("hello", CONTEXT)


LOG = [
    {"timestamp": "2026-01-19T17:04:26", "operation_type": "ADD", "call_id": "train_1", "section": "others",
     "content": "Ask before deleting.", "content_length": 20},
    {"operation_type": "UPDATE", "call_id": "train_2", "bullet_id": "x-00001", "old_content": "a", "content": "b"},
    {"operation_type": "DELETE", "call_id": "train_3", "bullet_ids": ["x-00002", "x-00003"]},
    {"operation_type": "MERGE", "call_id": "train_4", "bullet_ids": ["x-00004", "x-00005"], "content": "both"},
    {"operation_type": "UNKNOWN", "call_id": "train_5"},
]  # fmt: skip


def test_a_log_of_operations_is_read_line_by_line() -> None:
    text = "".join(json.dumps(line) + "\n" for line in LOG) + "not json\n"
    assert detect("curator_operations_diff.jsonl", text)[0].format == "ace-operations"
    parsed = operations.read_operations(text, CONTEXT)
    (curation,) = parsed.replies
    assert isinstance(curation, Curation)
    assert [one.operation for one in curation.operations] == [
        Add("others", "Ask before deleting."), Update("x-00001", "b"), Delete("x-00002"), Delete("x-00003"),
        Merge(("x-00004", "x-00005"), "both"),
    ]  # fmt: skip
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(5, 1), (6, 1)]
    assert (parsed.records_read, parsed.records_in) == (5, 7)
    assert replies.read_reply(text) == curation
    with pytest.raises(UnreadableReply, match="No line"):
        replies.read_reply(json.dumps(LOG[-1]))


@pytest.mark.parametrize("key", ["response", "raw_response"])
@pytest.mark.parametrize("as_text", [True, False])
def test_the_log_of_a_call_holds_the_reply(key: str, as_text: bool) -> None:
    said = {"reasoning": "why", "operations": [{"type": "DELETE", "bullet_id": "x"}]}
    answer = f"Here it is:\n```json\n{json.dumps(said)}\n```" if as_text else said
    text = json.dumps({"timestamp": "t", "prompt": "Say {operations}.", key: answer}, indent=2)
    assert detect("curator_log.json", text)[0].format == "ace-reply"
    (reply,) = replies.read_replies(text, CONTEXT).replies
    assert isinstance(reply, Curation)
    assert [one.operation for one in reply.operations] == [Delete("x")]


def test_a_log_without_a_reply_is_none() -> None:
    with pytest.raises(UnreadableFile):
        replies.read_replies('{"response": null}', CONTEXT)
