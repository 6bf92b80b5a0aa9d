"""The replies of the ACE roles as values."""

import json
from pathlib import Path

import pytest

from workbench.core.playbook.operations import (
    Add,
    Analysis,
    BulletTag,
    CreateMeta,
    Delete,
    Merge,
    Update,
    read_analysis,
    read_curation,
)
from workbench.core.reflection.llm import UnreadableReply

REPLIES = Path(__file__).parents[2] / "fixtures" / "replies"


def test_an_analysis_is_read_and_an_odd_tag_kept() -> None:
    analysis = read_analysis((REPLIES / "analysis.txt").read_text("utf-8"))
    assert analysis.key_insight.startswith("Always loop")
    assert "{20 items}" in analysis.reasoning
    assert analysis.bullet_tags == (
        BulletTag("shr-00001", "helpful"),
        BulletTag("shr-00002", "harmful"),
    )
    assert [json.loads(odd.raw)["id"] for odd in analysis.odd] == ["shr-00003"]
    assert "shr-00003" in analysis.odd[0].reason


def test_fields_that_are_missing_are_empty_and_odd_ones_kept() -> None:
    assert read_analysis('{"bullet_tags": []}') == Analysis()
    analysis = read_analysis('{"key_insight": ["a"], "bullet_tags": {"a": 1}, "reasoning": null}')
    assert [odd.reason for odd in analysis.odd] == [
        "“key_insight” is not a text.",
        "“bullet_tags” is not a list.",
    ]
    assert len(read_analysis('{"bullet_tags": [1, {"tag": "helpful"}, null]}').odd) == 3


def test_all_five_operations_are_read_and_odd_ones_kept() -> None:
    curation = read_curation((REPLIES / "curation.txt").read_text("utf-8"))
    assert [c.operation for c in curation.operations] == [
        Add("Strategies & hard rules", "Loop over pages until one is empty."),
        Update("shr-00002", "Log in with the access token of the app itself."),
        Merge(("shr-00001", "shr-00003"), "Read the docs of an API before the first call."),
        Delete("err-00004"),
        CreateMeta("Paging", "Pages start at 0."),
    ]
    assert curation.operations[0].reason == "It was missed."
    assert curation.reasoning.startswith("Paging")
    assert [odd.reason for odd in curation.odd] == [
        "ADD needs a section and a content.",
        "Unknown operation “REWRITE”.",
    ]
    assert json.loads(curation.odd[1].raw) == {"type": "REWRITE", "content": "everything"}


def test_a_bare_list_and_small_letters_are_understood() -> None:
    assert read_curation('[{"type": "delete", "id": " a-1 "}]').operations[0].operation == Delete(
        "a-1"
    )


@pytest.mark.parametrize(
    "raw",
    [
        '{"type": "MERGE", "source_ids": ["a", "a"], "content": "x"}',
        '{"type": "MERGE", "source_ids": ["a", 2], "content": "x"}',
        '{"type": "MERGE", "source_ids": "a,b", "content": "x"}',
        '{"type": "UPDATE", "bullet_id": "a", "content": " "}',
        '{"type": "DELETE", "bullet_id": 7}',
        '{"type": "CREATE_META"}',
        '{"content": "x"}',
        "7",
        "null",
    ],
)
def test_an_operation_that_lacks_something_is_kept_with_the_reason(raw: str) -> None:
    curation = read_curation(f'{{"operations": [{raw}]}}')
    assert curation.operations == ()
    assert json.loads(curation.odd[0].raw) == json.loads(raw)
    assert curation.odd[0].reason.endswith(".")


def test_no_operations_are_an_answer_but_no_list_is_not() -> None:
    assert read_curation('{"reasoning": "all is said", "operations": []}').operations == ()
    for reply in ('{"reasoning": "x"}', "nothing to do", ""):
        with pytest.raises(UnreadableReply):
            read_curation(reply)
    with pytest.raises(UnreadableReply):
        read_analysis('{"operations": []}')
