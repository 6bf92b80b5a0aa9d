"""Letta agent files: the blocks, and that everything else of the agent stays as it is."""

import json

import pytest

from tests.formats.diffing import after, grown, without
from tests.formats.others import LETTA
from tests.formats.samples import NOW, context
from workbench.core.files.formats import detect as detect_format
from workbench.core.files.formats import format_named
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.letta import read

IN_A_STRING = json.dumps(LETTA, ensure_ascii=True)
PARSED = read(LETTA, context("helper.af"))
HUMAN, PERSONA = (memory.id for memory in PARSED.memories)


@pytest.mark.parametrize("text", [LETTA, IN_A_STRING, "\ufeff" + IN_A_STRING + "\n"])
def test_blocks(text: str) -> None:
    known = format_named("letta")
    parsed = known.read(text, context("helper.af"))
    human, persona = parsed.memories
    assert (human.id, human.section, human.content) == (
        "letta-helper-human",
        "human",
        "Name: Ann\nLikes “tea”",
    )
    assert (human.status, human.memory_type, human.created_at) == ("signal", "semantic", NOW)
    extra = {"id": "block-1", "limit": 2000, "description": "who you are"}
    assert {key: value for key, value in persona.metadata.items() if key != FILE_KEY} == extra
    assert parsed.records_in == 2
    assert known.write(parsed, text) == text


def test_in_a_string_only_the_changed_characters_differ() -> None:
    parsed = read(IN_A_STRING, context())
    text = after(parsed, IN_A_STRING, HUMAN, content="Name: Ann\nLikes “coffee”")
    assert text == IN_A_STRING.replace("tea", "coffee")
    assert "\\\\u201c" not in text
    assert "\\u201ccoffee" in text


def test_blocks_come_and_go_with_the_agents_list_of_them() -> None:
    doc = json.loads(without(PARSED, LETTA, HUMAN))
    assert [block["id"] for block in doc["blocks"]] == ["block-1"]
    assert doc["agents"][0] == {**json.loads(LETTA)["agents"][0], "block_ids": ["block-1"]}
    new = Memory("m", "Be brief.", NOW, NOW, section="style")
    doc = json.loads(json.loads(grown(read(IN_A_STRING, context()), IN_A_STRING, new)))
    assert doc["blocks"][2] == {
        "label": "style",
        "value": "Be brief.",
        "limit": 5000,
        "id": "block-2",
    }
    assert doc["agents"][0]["block_ids"] == ["block-0", "block-1", "block-2"]


def test_older_files_and_broken_blocks() -> None:
    text = (
        '{"name": "Old", "core_memory": [{"label": "human", "value": ""}, 5, {"value": "x"}, '
        '{"label": "a", "value": "y"},\n {"label": "a", "value": "z"}, {"label": "long", "value": "%s"}]}'
        % ("x" * 65_537)
    )
    parsed = read(text, context("old.af"))
    assert [(m.id, m.content) for m in parsed.memories] == [("letta-old-a", "y")]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (1, 1),
        (1, 1),
        (1, 1),
        (2, 1),
        (2, 1),
    ]
    assert after(parsed, text, "letta-old-a", content="Y") == text.replace(
        '"value": "y"', '"value": "Y"'
    )
    nested = read("\n\n" + json.dumps(text), context("old.af"))
    assert {issue.line for issue in nested.issues} == {3}


@pytest.mark.parametrize(
    "text", ["{}", '{"blocks": {}}', '"{}"', '"text"', '"open', "[]", '{"blocks": [{"label']
)
def test_a_file_without_blocks_cannot_be_read(text: str) -> None:
    with pytest.raises(UnreadableFile):
        read(text, context())


@pytest.mark.parametrize("name", ["blocks.json", "agent.af"])
def test_a_list_of_blocks_alone_is_recognised(name: str) -> None:
    text = json.dumps({"blocks": [{"label": "human", "value": "Name: Ann", "limit": 5000}]})
    assert detect_format(name, text)[0].format == "letta"


def test_blocks_of_another_kind_are_none_of_letta() -> None:
    slack = {"blocks": [{"type": "input", "label": {"text": "Name"}, "element": {"value": "Ann"}}]}
    assert detect_format("blocks.json", json.dumps(slack)) == ()


def test_a_block_over_its_limit_is_remarked_on() -> None:
    text = json.dumps({"blocks": [{"label": "human", "value": "x" * 30, "limit": 20}]})
    (issue,) = read(text, context("a.json")).issues
    assert (issue.records, issue.reason) == (
        0, "the block “human” has 30 characters, more than its limit of 20: Letta refuses it",
    )  # fmt: skip
