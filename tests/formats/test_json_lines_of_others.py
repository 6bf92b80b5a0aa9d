"""MCP memory, beads and conversation logs: lines, values run together, and what a change does."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import BEADS, MCP, MESSAGES
from tests.formats.samples import NOW, context
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats import beads, external
from workbench.formats import mcp as mcp_memory
from workbench.formats.shared.jsonstream import spliced, values

GRAPH = mcp_memory.read(MCP, context("memory.jsonl"))
ANN, BATH, LIVES = (memory.id for memory in GRAPH.memories)


def test_entities_and_relations() -> None:
    ann, bath, lives = GRAPH.memories
    assert (ann.content, ann.summary, ann.category) == (
        "Speaks Welsh\nLives in\n  Bath",
        "Ann Lee (person)",
        "person",
    )
    assert (bath.content, bath.id) == ("Bath", BATH)
    assert (lives.content, lives.category, lives.related) == (
        "Ann Lee lives in Bath",
        "relation",
        (ANN, BATH),
    )
    assert {k: v for k, v in lives.metadata.items() if k != FILE_KEY} == {"since": 2020}
    assert ANN.startswith("mcp-ann-lee-")
    assert GRAPH.records_in == 3


def test_observations_are_the_lines_of_the_content() -> None:
    text = after(GRAPH, MCP, ANN, content="Speaks Welsh\nLives in\n  York\n\nSings")
    assert json.loads(text.split("\n")[0])["observations"] == [
        "Speaks Welsh",
        "Lives in\nYork",
        "Sings",
    ]
    assert text.split("\n")[1] == MCP.split("\n")[1]
    assert '"observations":["Hot"]}{' in after(GRAPH, MCP, BATH, content="Hot")


def test_a_relation_keeps_its_ends() -> None:
    assert after(GRAPH, MCP, LIVES, content="Ann Lee was born in Bath") == MCP.replace(
        '"lives in"', '"was born in"'
    )
    for wrong in ("Bath is nice", "Ann Lee Bath", "Ann Leeds lives in Bath"):
        assert after(GRAPH, MCP, LIVES, content=wrong) == MCP


def test_removing_and_adding() -> None:
    first, second = MCP.splitlines()
    assert without(GRAPH, MCP, ANN) == second + "\n"
    assert (
        without(GRAPH, MCP, LIVES)
        == first + "\n" + second[: second.index('{"type":"relation')] + "\n"
    )
    assert without(GRAPH, MCP, ANN, BATH, LIVES) == "\n"
    new = Memory("m", "Tall", NOW, NOW, summary="Tim", category="person")
    line = '{"type":"entity","name":"Tim","entityType":"person","observations":["Tall"]}'
    assert grown(GRAPH, MCP, new) == MCP + line + "\n"
    assert grown(GRAPH, MCP[:-1], new) == MCP + line


def test_one_bad_line_does_not_stop_the_rest() -> None:
    more = (
        "{broken", '{"type":"entity","name":"Ann Lee","observations":["twice"]}', '{"type":"note"}', "[1]",
        '{"type":"entity"}', '{"type":"relation","from":"a"}', '{"type":"entity","name":"Zed","observations":"one"}',
    )  # fmt: skip
    text = MCP + "\n".join(more) + "\n"
    parsed = mcp_memory.read(text, context("m.jsonl"))
    assert [m.summary for m in parsed.memories] == ["Ann Lee (person)", "Bath (city)", "", "Zed"]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (3, 1),
        (4, 0),
        (5, 1),
        (6, 1),
        (7, 1),
        (8, 1),
    ]
    assert "taken with those of line 1" in parsed.issues[1].reason
    assert parsed.memories[0].content.endswith("\ntwice")
    assert mcp_memory.write(parsed, text) == text
    assert parsed.records_in == 9


def test_beads() -> None:
    parsed = beads.read(BEADS, context("issues.jsonl"))
    build, style = parsed.memories
    assert (build.content, build.summary, build.created_at) == ("Use make, not npm.", "build", NOW)
    assert (style.content, style.metadata) == (
        "Tabs.",
        {"by": "ann", FILE_KEY: {"format": "beads", "name": "style"}},
    )
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(1, 2)]
    assert parsed.records_in == 4
    more = beads.read(
        BEADS
        + '{"_type":"memory","key":"build","value":"again"}\n{"_type":"memory","key":"x"}\n7\n',
        context(),
    )
    assert [(issue.line, issue.records) for issue in more.issues] == [
        (1, 2),
        (5, 1),
        (6, 1),
        (7, 1),
    ]


CLOSED = {
    "_type": "issue", "id": "demo-aaa.1", "title": "Mend the login", "description": "It times out.", "status": "closed",
    "priority": 1, "issue_type": "bug", "labels": ["auth"], "created_at": "2026-01-01T00:00:00Z",
    "closed_at": "2026-01-05T00:00:00Z", "close_reason": "The token is renewed now.", "assignee": "ann",
    "dependencies": [{"depends_on_id": "demo-bbb", "type": "blocks"}, {"depends_on_id": "demo-open"}],
}  # fmt: skip


def lines_of(*docs: object) -> str:
    return "".join(json.dumps(doc) + "\n" for doc in docs)


def test_closed_issues_are_observations_when_they_are_asked_for() -> None:
    second = {
        "id": "demo-bbb",
        "title": "Store tokens",
        "status": "closed",
        "dependencies": 5,
        "labels": "one",
    }
    text = lines_of(CLOSED, {**CLOSED, "id": "demo-open", "status": "open"}, second) + BEADS
    assert [m.id for m in beads.read(text, context()).memories] == [
        m.id for m in beads.read(BEADS, context()).memories
    ]
    assert beads.read(text, context()).closed == 2
    parsed = beads.read(text, replace(context(), issues=True))
    login, tokens, *memories = parsed.memories
    assert login.content == "Mend the login\n\nIt times out.\n\nClosed: The token is renewed now."
    assert (login.summary, login.status, login.memory_type) == (
        "Mend the login",
        "confirmed",
        "episodic",
    )
    assert (login.observation_type, login.importance_score, login.tags) == (
        "bug_fix",
        7.0,
        ("auth",),
    )
    assert (login.created_at.day, login.metadata["opened_at"]) == (5, "2026-01-01T00:00:00Z")
    assert login.related == (tokens.id,)
    assert (tokens.content, tokens.observation_type, tokens.tags) == (
        "Store tokens",
        "code_change",
        ("one",),
    )
    assert [m.summary for m in memories] == ["build", "style"]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(2, 3)]
    assert (parsed.closed, parsed.records_in) == (0, 7)


def test_an_issue_that_comes_twice_is_read_once() -> None:
    parsed = beads.read(lines_of(CLOSED, CLOSED), replace(context(), issues=True))
    assert [issue.line for issue in parsed.issues] == [2]


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from([*CLOSED]),
        st.one_of(st.none(), st.text(max_size=4), st.lists(st.integers())),
    )
)
@settings(max_examples=60, deadline=None)
def test_any_issue_is_read_or_named(changes: dict[str, object]) -> None:
    text = lines_of({**CLOSED, **changes}, CLOSED)
    parsed = beads.read(text, replace(context(), issues=True))
    assert parsed.records_in == 2


def test_messages() -> None:
    parsed = external.read(MESSAGES, context("messages.jsonl"))
    first, done, again, nested = parsed.memories
    assert (first.id, first.content, first.category, first.memory_type) == (
        "u1",
        "Use pnpm.",
        "user",
        "episodic",
    )
    assert (done.content, again.id) == ("Done.", f"{done.id}-2")
    assert (nested.content, nested.category, nested.metadata["type"]) == (
        "Thanks.",
        "user",
        "message",
    )
    assert changed_lines(MESSAGES, after(parsed, MESSAGES, nested.id, content="Thank you.")) == [
        "-" + MESSAGES.splitlines()[3], "+" + MESSAGES.splitlines()[3].replace("Thanks.", "Thank you."),
    ]  # fmt: skip
    assert changed_lines(MESSAGES, after(parsed, MESSAGES, done.id, content="No."))[1] == (
        '+{"role": "assistant", "content": "No.", "n": 1}'
    )
    broken = MESSAGES + '{"role": "user", "content": " "}\n{"content": "x"}\n[]\n'
    assert [i.line for i in external.read(broken, context()).issues] == [5, 6, 7]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a":1}{"b":2}\n\n[3]', [(1, {"a": 1}), (1, {"b": 2}), (3, [3])]),
        ('{\n "a": 1\n}\n{"b":2}', [(1, {"a": 1}), (4, {"b": 2})]),
        ('{"a":{x}{"b":2}\n{"c":3}', [(1, None), (1, {"b": 2}), (2, {"c": 3})]),
        ('{"a":1} junk {"b":2}\r\n{"c":3}', [(1, {"a": 1}), (1, None), (2, {"c": 3})]),
        ('{\n{"a":1}', [(1, None), (2, {"a": 1})]),
    ],
)
def test_values_one_after_another(text: str, found: list[tuple[int, object]]) -> None:
    assert [(one.line, one.value) for one in values(text)] == found
    moved = list(values("\n" + text))
    assert [(one.line - 1, one.value) for one in moved] == found


def test_taking_lines_out_and_putting_lines_in() -> None:
    assert spliced("a\nb\nc", {(2, 3): None}, [], "\n") == "a\nc"
    assert spliced("a\nb\nc", {(4, 5): None}, ["d"], "\n") == "a\nb\nd"
    assert spliced("a\r\nb\r\n", {(0, 1): None}, ["c"], "\r\n") == "b\r\nc\r\n"
    assert spliced("a b\n", {(0, 1): None}, [], "\n") == " b\n"
    assert spliced("", {}, ["x"], "\n") == "x\n"


lines = st.lists(
    st.sampled_from(['{"type":"entity","name":"%s","observations":["x"]}', "{bad", "", "7", "{}"]),
    max_size=6,
)


@pytest.mark.slow
@given(lines, st.sampled_from(["\n", "\r\n", ""]), st.booleans(), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_any_graph_is_written_back(parts: list[str], newline: str, final: bool, gone: int) -> None:
    named = (part.replace("%s", f"n{number}") for number, part in enumerate(parts))
    text = newline.join(named) + (newline if final else "")
    parsed = mcp_memory.read(text, context())
    assert mcp_memory.write(parsed, text) == text
    kept = tuple(m for n, m in enumerate(parsed.memories) if n != gone)
    again = mcp_memory.read(mcp_memory.write(replace(parsed, memories=kept), text), context())
    assert [m.id for m in again.memories] == [m.id for m in kept]
