"""The ways in which knowledge graphs are written: lists in one object, answers of a server, other
names of keys.
"""

import json
import random
from dataclasses import replace

import pytest

from tests.formats.broken import broken
from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.samples import NOW, context
from workbench.core.files.formats import detect, format_named
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import Memory
from workbench.formats import mcp as mcp_memory

GRAPH = """{
  "entities": [
    {
      "name": "Ann Lee",
      "entityType": "person",
      "observations": ["Speaks Welsh"]
    },
    {"name": "Bath", "entityType": "city", "observations": []}
  ],
  "relations": [
    {"from": "Ann Lee", "to": "Bath", "relationType": "lives in"}
  ]
}
"""
ANSWER = json.dumps({"content": [{"type": "text", "text": GRAPH}]}) + "\n"
STRUCTURED = '{"structuredContent": ' + GRAPH.rstrip("\n") + "}\n"
STRING = json.dumps(GRAPH)
UNTYPED = """{"name":"Ann Lee","entityType":"person","observations":["Speaks Welsh"]}
{"name":"Bath","entityType":"city","observations":[]}
{"from":"Ann Lee","to":"Bath","relationType":"lives in"}
"""
SPELLED = """{"name":"Ann Lee","entity_type":"person","observations":["Speaks Welsh"]}
{"name":"Bath","type":"city","observations":[]}
{"from_entity":"Ann Lee","to_entity":"Bath","relation_type":"lives in"}
"""
OBJECTS = """{"name":"Ann Lee","entityType":"person","observations":[{"text":"Speaks Welsh","timestamp":"2025-05-06"}],"_type":"entity"}
{"name":"Bath","entityType":"city","observations":[],"_type":"entity"}
{"from":"Ann Lee","to":"Bath","relationType":"lives in","_type":"relation"}
"""  # noqa: E501
DIALECTS = {
    "objects": OBJECTS,
    "lists": GRAPH,
    "answer": ANSWER,
    "structured": STRUCTURED,
    "string": STRING,
    "untyped": UNTYPED,
    "spelled": SPELLED,
}


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_every_dialect_says_the_same_and_comes_back(name: str, newline: str, bom: str) -> None:
    text = bom + DIALECTS[name].replace("\n", newline)
    assert detect("memory.json", text)[0].format == "mcp-memory"
    known = format_named("mcp-memory")
    parsed = known.read(text, context())
    ann, bath, lives = parsed.memories
    assert (ann.content, ann.category) == ("Speaks Welsh", "person")
    assert (bath.content, bath.category) == ("Bath", "city")
    assert (lives.content, lives.related) == ("Ann Lee lives in Bath", (ann.id, bath.id))
    assert (parsed.records_in, parsed.issues) == (3, ())
    assert known.write(parsed, text) == text


@pytest.mark.parametrize("name", DIALECTS)
def test_one_change_is_one_line_and_new_and_gone_ones_are_read_again(name: str) -> None:
    text = DIALECTS[name]
    parsed = mcp_memory.read(text, context())
    ann, bath, lives = (memory.id for memory in parsed.memories)
    changed = after(parsed, text, ann, content="Speaks “Welsh”")
    assert len(changed_lines(text, changed)) == 2
    assert mcp_memory.read(changed, context()).memories[0].content == "Speaks “Welsh”"
    assert "was born in" in after(parsed, text, lives, content="Ann Lee was born in Bath")
    less = mcp_memory.read(without(parsed, text, bath), context())
    assert [memory.id for memory in less.memories] == [ann, lives]
    new = Memory("m", "Tall", NOW, NOW, summary="Tim", category="person")
    more = mcp_memory.read(grown(parsed, text, new), context())
    assert [memory.content for memory in more.memories if memory.id not in (ann, bath, lives)] == [
        "Tall"
    ]
    assert (more.records_in, more.issues) == (4, ())
    fresh = mcp_memory.read(mcp_memory.write(parsed), context())
    assert [(m.id, m.content) for m in fresh.memories] == [
        (m.id, m.content) for m in parsed.memories
    ]


def test_what_is_said_of_an_entity_again_is_added_to_it() -> None:
    lines = [
        '{"type":"entity","name":"Ann","entityType":"person","observations":["one","two"]}',
        '{"type":"entity","name":"Bob","entityType":"person","observations":["b"]}',
        '{"type":"entity","name":"Ann","entityType":"person","observations":["two","three"]}',
    ]
    text = "\n".join(lines) + "\n"
    parsed = mcp_memory.read(text, context("m.jsonl"))
    ann = parsed.memories[0]
    assert ann.content == "one\ntwo\nthree"
    assert (parsed.records_in, [issue.records for issue in parsed.issues]) == (2, [0])
    assert mcp_memory.write(parsed, text) == text
    third = after(parsed, text, ann.id, content="one\ntwo\n3")
    assert third == text.replace('"two","three"', '"3"')
    assert mcp_memory.read(third, context()).memories[0].content == "one\ntwo\n3"
    first = after(parsed, text, ann.id, content="1\ntwo\nthree")
    assert first == text.replace('"one"', '"1"')
    assert without(parsed, text, ann.id) == lines[1] + "\n"


def test_a_graph_that_is_empty_holds_nothing_and_grows() -> None:
    text = '{\n  "entities": [],\n  "relations": []\n}\n'
    assert detect("memory.json", text)[0].format == "mcp-memory"
    parsed = mcp_memory.read(text, context())
    assert (parsed.records_in, parsed.issues) == (0, ())
    new = Memory("m", "Tall", NOW, NOW, summary="Tim", category="person")
    grown_text = mcp_memory.write(replace(parsed, memories=(new,)), text)
    assert json.loads(grown_text)["entities"] == [
        {"name": "Tim", "entityType": "person", "observations": ["Tall"]}
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_broken_graphs_are_read_as_far_as_they_go(name: str) -> None:
    dice = random.Random(name)
    for _ in range(300):
        text = broken(DIALECTS[name], dice)
        try:
            parsed = mcp_memory.read(text, context())
        except UnreadableFile:
            continue
        assert mcp_memory.write(parsed, text) == text


def test_observations_that_are_objects_stay_what_they_are() -> None:
    parsed = mcp_memory.read(OBJECTS, context())
    ann = parsed.memories[0]
    more = replace(
        parsed, memories=(replace(ann, content="Speaks Welsh\nSings"), *parsed.memories[1:])
    )
    written = mcp_memory.write(more, OBJECTS)
    assert written == OBJECTS.replace('"2025-05-06"}]', '"2025-05-06"},{"text":"Sings"}]')
    twice = OBJECTS + OBJECTS.splitlines()[0].replace("Speaks Welsh", "Sings") + "\n"
    both = mcp_memory.read(twice, context())
    assert both.memories[0].content == "Speaks Welsh\nSings"
    assert mcp_memory.write(both, twice) == twice
    changed = replace(
        both, memories=(replace(both.memories[0], content="Speaks Welsh\nHums"), *both.memories[1:])
    )
    assert (
        len(changed_lines(twice, mcp_memory.write(changed, twice))) == 2
    )  # one line, before and after


def test_the_mark_of_a_server_is_kept_and_no_fault() -> None:
    mark = '{"type":"_aim","source":"mcp-knowledge-graph"}\n'
    text = mark + '{"type":"entity","name":"A","entityType":"t","observations":["x"]}\n'
    parsed = mcp_memory.read(text, context("memory.jsonl"))
    assert (parsed.records_in, [m.content for m in parsed.memories]) == (1, ["x"])
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(1, 0)]
    assert mcp_memory.write(parsed, text) == text
    assert changed_lines(text, after(parsed, text, parsed.memories[0].id, content="y"))[0][0] == "-"
