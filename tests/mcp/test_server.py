"""The server as the official client sees it."""

import json
from argparse import ArgumentTypeError
from typing import Any

import pytest
from mcp import MCPError
from mcp.types import CallToolResult, TextResourceContents

from tests.mcp.conftest import QUERY, Connect
from tests.mcp.support import ask, said, text_of, words
from workbench.__main__ import main
from workbench.cli.agents.hooks import TOOL_GROUPS, tool_groups
from workbench.core.agents.read import AgentRead
from workbench.mcp.server import PER_MINUTE, Clients, cleaned_name, renamed
from workbench.services.agents.api import TOOLS
from workbench.services.open import Workbench
from workbench.services.stream.semantic import semantic_matches

CORE = {f"memory_{name}" for name in ("search", "get", "save", "feedback", "forget", "context")} | {
    "recall_memory", "find_patterns", "learn_from_episode",
}  # fmt: skip


async def test_there_are_few_tools_and_each_says_first_when_to_use_it(connect: Connect) -> None:
    async with connect() as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == CORE
    for tool in tools:
        assert (tool.description or "").startswith("Use ")
        assert len((tool.description or "").encode()) <= 2_048
        assert len(str(tool.input_schema)) <= 4_000


async def test_groups_of_tools_are_named_with_commas() -> None:
    assert tool_groups("few, all,few") == ("few", "all")
    assert {tool.group for tool in TOOLS} == set(TOOL_GROUPS)
    with pytest.raises(ArgumentTypeError, match="choose from few"):
        tool_groups("fwe")


async def test_every_name_is_there_when_asked_for_and_none_that_writes_where_only_reading_is_allowed(
    connect: Connect,
) -> None:
    async with connect(groups={"all"}) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            entry.name for entry in TOOLS
        }
    async with connect(groups={"all"}, reads_only=True) as client:
        tools = (await client.list_tools()).tools
        assert {t.name for t in tools} == {entry.name for entry in TOOLS if not entry.writes}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


@pytest.mark.slow
async def test_a_search_answers_in_values_and_in_text_and_is_kept_as_a_reading(
    connect: Connect, bench: Workbench
) -> None:
    clients = Clients(bench)
    async with connect(clients) as client:
        result = await client.call_tool("memory_search", {"query": QUERY, "k": 3})
        found = said(result)["results"]
        assert "mem-20260206-0000009" in [row["id"] for row in found]
        assert found[0]["id"] in text_of(result)
    clients.log.flush()
    (read,) = [read for read in bench.library.table(AgentRead).all() if read.agent == "mcp"]
    assert (read.query, read.door, read.agent) == (QUERY, "mcp", "mcp")
    assert list(read.memories) == [row["id"] for row in found]


async def test_what_goes_wrong_reaches_the_model_as_a_sentence_and_the_server_stays(
    connect: Connect,
) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("memory_search", {"query": " "}, "The query is empty."),
        ("memory_search", {"query": "a", "k": "many"}, "k"),
        ("memory_search", {}, "query"),
        ("memory_get", {"ids": ["../../etc/passwd"]}, "No memory ../../etc/passwd is served"),
        ("memory_get", {"ids": []}, "No id"),
        ("memory_save", {"text": "x" * 1_000_000}, "1,000,000 characters"),
        ("memory_search", {"query": "a", "kind": "nope"}, "“nope”"),
        ("memory_forget", {"reason": "x"}, "A filter names memory, "),
        ("no_such_tool", {}, "no_such_tool"),
    ]
    async with connect() as client:
        for name, arguments, sentence in wrong:
            result = await client.call_tool(name, arguments)
            assert isinstance(result, CallToolResult)
            assert result.is_error
            assert sentence in text_of(result)
            assert "Traceback" not in text_of(result)
        assert (await ask(client, "memory_search", query=QUERY))["results"]


async def test_a_client_that_calls_too_often_is_told_to_wait(
    connect: Connect, bench: Workbench
) -> None:
    now = [0.0]
    async with connect(Clients(bench, clock=lambda: now[0])) as client:
        for _ in range(PER_MINUTE):
            assert not (
                await client.call_tool("memory_get", {"ids": ["mem-20260206-0000009"]})
            ).is_error
        refused = await client.call_tool("memory_search", {"query": QUERY})
        assert "Wait 60 seconds" in text_of(refused)
        with pytest.raises(MCPError, match="Wait 60 seconds"):
            await client.read_resource("workbench://index")
        now[0] = 60.0
        assert await ask(client, "memory_search", query=QUERY)


async def test_what_is_read_by_its_id_or_as_a_resource_is_kept_as_a_reading(
    connect: Connect, bench: Workbench
) -> None:
    clients = Clients(bench)
    async with connect(clients) as client:
        await client.call_tool("memory_get", {"ids": ["mem-20260206-0000009"]})
        await client.read_resource("workbench://playbook")
        await client.read_resource("workbench://memory/mem-20260206-0000009")
    clients.log.flush()
    found = [
        (r.query, r.memories) for r in bench.library.table(AgentRead).all() if r.agent == "mcp"
    ]
    one = ("", ("mem-20260206-0000009",))
    assert sorted(found) == sorted([one, one, ("playbook", ())])


@pytest.mark.slow
async def test_playbook_index_and_a_memory_are_resources_and_two_prompts_are_there(
    connect: Connect,
) -> None:
    async with connect() as client:
        texts = {}
        for uri in (
            "workbench://playbook",
            "workbench://index",
            "workbench://memory/mem-20260206-0000009",
        ):
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            texts[uri.rpartition("/")[2]] = content.text
        assert "playbook/shr-00001" in texts["playbook"]
        assert "# Memory index" in texts["index"]
        assert "HttpOnly" in texts["mem-20260206-0000009"]
        assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {
            "reflect",
            "review",
        }
        assert (await client.get_prompt("reflect")).messages


@pytest.mark.slow
async def test_calls_at_once_are_each_answered(connect: Connect) -> None:
    import asyncio

    async with connect() as client:
        calls = [
            client.call_tool("memory_search", {"query": f"{QUERY} {n}", "k": 2}) for n in range(12)
        ]
        assert all(said(result)["results"] for result in await asyncio.gather(*calls))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Claude Code", "claude-code"), ("", "agent"), ("\x1b[31m\n", "31m"), ("../../etc", "etc"), ("«»", "agent"),
        ("x" * 99, "x" * 40), ("human", "human"),
    ],
)  # fmt: skip
def test_what_a_client_calls_itself_is_a_label(given: str, name: str) -> None:
    assert cleaned_name(given) == name


@pytest.mark.slow
async def test_documents_are_recalled_with_their_citations(
    connect: Connect, bench: Workbench
) -> None:
    bench.stored_documents.create("/memories/tools.md", "Always use pnpm.\nNever npm.\n")
    async with connect() as client:
        answer = await ask(client, "recall_memory", query="pnpm", scope="detail", limit=2)
        assert answer["text"].startswith('Found 1 result(s) for: "pnpm"')
        assert [row["citation"] for row in answer["results"]] == ["/memories/tools.md#L1"]
        stream = await ask(client, "recall_memory", query=QUERY, scope="stream")
        assert "mem-20260206-0000009" in [row["citation"] for row in stream["results"]]
        wrong = await client.call_tool("recall_memory", {"query": " "})
        assert "The query is empty" in text_of(wrong)


async def test_an_episode_is_learned_from_and_comes_back_when_the_same_fails(
    connect: Connect, bench: Workbench
) -> None:
    about = {
        "name": "Renew the key first",
        "category": "recovery",
        "summary": "openssl needs the key.",
    }
    episode = {
        "task": {"original_input": "Rotate the certificates of the gateway"}, "outcome": {"status": "FAILURE"},
        "execution": {"trace": [{"tool": "openssl", "status": "failed", "stderr": "Error: no such key"}]},
        "reflection": {"patterns_discovered": [about]},
    }  # fmt: skip
    async with connect(Clients(bench), groups={"all"}) as client:
        learned = await ask(client, "learn_from_episode", episode=episode, insights=["ask first"])
        assert (learned["insights"], [row["outlook"] for row in learned["patterns"]]) == (
            1,
            ["insufficient"],
        )
        failed = await ask(client, "similar_failures", error="Error: no such key")
        assert [row["id"] for row in failed["similar_failures"]] == [learned["episode"]]
        assert failed["recovery_patterns"] == []  # a candidate is given to nobody
        bench.library.refresh()
        bench.patterns.approve(learned["patterns"][0]["pattern"])
        task = {"task": "rotate certificates", "error": "Error: no such key"}
        parts = await ask(client, "get_context_for_task", **task)
        assert [row["id"] for row in parts["recovery_patterns"]] == [
            learned["patterns"][0]["pattern"]
        ]
        assert "Renew the key first" in (await ask(client, "memory_context", **task))["text"]
        outlook = await ask(client, "consolidate")
        assert (outlook["last_at"], outlook["stages"][0]) == (
            None, {"stage": "episodes", "looked": 0, "would_change": 0},
        )  # fmt: skip
        wrong = await client.call_tool("learn_from_episode", {"episode": {"task": "x"}})
        assert "task: expected an object" in text_of(wrong)


async def test_the_operations_on_episodes_are_there_and_what_erases_is_for_a_person(
    connect: Connect, bench: Workbench
) -> None:
    """Store, get, search by each strategy, similar failures, archive, consolidate, purge (004,
    2.6).
    """
    about = {"task": {"original_input": "Rotate the certificates"}, "metadata": {"domain": "ops"}}
    failed = {"status": "FAILURE", "primary_output": "Error: no such key"}
    async with connect(Clients(bench), groups={"all"}) as client:
        one = (await ask(client, "store_episode", **about, outcome=failed))["id"]
        for asked in (
            {"query": "rotate certificates"}, {"strategy": "structured", "domain": "ops"}, {"strategy": "temporal"},
            {"query": "rotate certificates", "strategy": "hybrid", "domain": "ops"},
            {"query": "Error: no such key", "strategy": "failure"},
        ):  # fmt: skip
            found = (await ask(client, "episode_search", **asked))["episodes"]
            assert [row["id"] for row in found] == [one]
        found = await ask(client, "similar_failures", error="Error: no such key")
        assert [row["id"] for row in found["similar_failures"]] == [one]
        assert "no such key" in (await ask(client, "episode_get", id=one))["episode"]
        assert "No episode nope" in await words(client, "episode_get", id="nope")
        bench.library.refresh()
        bench.episodes.archive([one])
        assert (await ask(client, "episode_search", strategy="temporal"))["episodes"] == []
        bench.episodes.delete(one)
        report = (await ask(client, "consolidate"))["stages"][-1]["facts"]
        assert (report["episodes_deleted"], report["episodes_retention_over"]) == (1, 0)


async def test_the_ten_operations_on_patterns_are_there_and_what_decides_waits_for_a_person(
    connect: Connect, bench: Workbench
) -> None:
    """Add, get, find, update, record, validate, deprecate, similar, merge, prune (source 004, 3.7)."""
    about = {"category": "strategy", "summary": "Read the log of the gateway before a restart."}
    async with connect(Clients(bench), groups={"all"}) as client:
        one, two, three = [
            (await ask(client, "add_pattern", pattern={**about, "name": name}))["id"]
            for name in ("Read the log", "Read the log first", "Restart it")
        ]
        bench.library.refresh()
        bench.patterns.approve(one)
        for n in range(6):
            outcome = {
                "pattern": one,
                "episode": f"ep-{n}",
                "outcome": "success" if n < 5 else "failure",
            }
            await ask(client, "record_application", **outcome)
        found = await ask(client, "find_patterns", task="the gateway hangs")
        assert [row["id"] for row in found["patterns"]] == [one]
        whole = await ask(client, "get_pattern", pattern=one)
        assert (len(whole["applications"]), {row["id"] for row in whole["similar"]}) == (
            6,
            {two, three},
        )
        assert "Read the log of the gateway" in whole["text"]
        assert "text" not in await ask(client, "get_pattern", pattern=two), "a candidate"
        (row,) = (await ask(client, "validate_patterns", patterns=[one]))["patterns"]
        assert (row["episodes"], row["successes"], row["outlook"]) == (6, 5, "under_review")
        for change, ids, patch in (
            ("update", [one], {"summary": "Read its log, then restart."}),
            ("deprecate", [three], {}),
            ("merge", [one, two], {}),
        ):
            call = {"change": change, "patterns": ids, "patch": patch, "reason": "seen often"}
            made = await ask(client, "propose_pattern_change", **call)
            bench.library.refresh()
            assert bench.patterns.get(ids[0]).status != "deprecated"
            bench.review.approve([made["proposed"]])
        none = await client.call_tool("propose_pattern_change", {"change": "prune"})
        assert "needs 1 pattern" in text_of(none)
    assert {bench.patterns.get(id).status for id in (one, two, three)} == {"deprecated"}
    (merged,) = [one for one in bench.patterns.all() if one.status != "deprecated"]
    assert (merged.summary, merged.usage_count) == ("Read its log, then restart.", 6)


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    (
        {},
        "memory_search: query is missing: what you want to know, in plain words. Nothing was done.",
    ),
    ({"query": 7}, "memory_search: query must be a text, not 7. Nothing was done."),
    (
        {"query": "a", "k": "many"},
        "memory_search: k must be a whole number, not “many”. Nothing was done.",
    ),
    ({"query": "a", "k": 500}, "memory_search: k must be at most 50, not 500. Nothing was done."),
    ({"query": "a", "k": 0}, "memory_search: k must be at least 1, not 0. Nothing was done."),
    (
        {"query": "a", "explain": "perhaps", "since": "x" * 41},
        "memory_search: since must be at most 40 characters long; it is 41. explain must be true or false, not "
        "“perhaps”. Nothing was done.",
    ),
    (
        {"query": "a", "kinds": "error"},
        "memory_search has no argument “kinds”; did you mean kind? It takes: query, k, kind, memory_types, since, "
        "session_only, min_importance, explain. Nothing was done.",
    ),
)


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
async def test_what_is_wrong_with_a_call_is_said_of_its_argument(
    connect: Connect, arguments: dict[str, Any], sentence: str
) -> None:
    async with connect() as client:
        result = await client.call_tool("memory_search", arguments)
    assert result.is_error
    assert text_of(result) == sentence


async def test_every_argument_of_every_tool_is_refused_by_its_name(connect: Connect) -> None:
    async with connect(groups={"all"}) as client:
        for tool in (await client.list_tools()).tools:
            for name, wanted in tool.input_schema["properties"].items():
                if not {"type", "anyOf", "enum"} & set(wanted):
                    continue  # any JSON value
                given: object = 7 if "object" in str(wanted) else {"a": [1]}
                result = await client.call_tool(tool.name, {name: given})
                said = text_of(result)
                assert result.is_error, (tool.name, name)
                assert said.startswith(f"{tool.name}: "), said
                assert f"{name} must be " in said, said
                assert "Input should" not in said, said
                assert said.endswith(". Nothing was done."), said


async def test_what_was_given_is_told_without_secrets_and_without_control_characters(
    connect: Connect,
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    async with connect() as client:
        for k in (f"{secret}", f"\x1b[31m{secret}", secret * 3_000):
            told = await words(client, "memory_search", query="a", k=k)
            assert "a1B2c3D4" not in told, told
            assert told.isprintable(), told
        for name, arguments in (("memory_search", {"query": "a", secret: 1}), (secret, {})):
            told = await words(client, name, **arguments)
            assert "a1B2c3D4" not in told, told
        told = await words(client, "memory_\x1b[31msearch")
        assert told.isprintable(), told
        assert "did you mean memory_search?" in told
        assert "There are: find_patterns, learn_from_episode, memory_context, " in told


QUESTIONS = (
    QUERY,
    "AUTH_SECRET is empty in CI",
    "how are refunds paid out",
    "Lisbon clock change",
    "rate limit",
)


async def test_the_stream_the_command_line_and_an_agents_search_list_the_same(
    connect: Connect, bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    for question in QUESTIONS:
        assert (
            main(["--store", str(bench.library.folder), "search", question, "-k", "10", "--json"])
            == 0
        )
        rows = json.loads(capsys.readouterr().out)
        weak = {row["id"] for row in rows if row.get("weak")}
        printed = [row["id"] for row in rows if row["id"] not in weak]
        view = bench.stream.view(question)
        near = semantic_matches(bench.tuning, view.question, view.tests, (), bench.context.now())
        listed = [scored.memory.id for scored in near.rows if scored.memory.id not in weak]
        async with connect() as client:
            given = (await ask(client, "memory_search", query=question, k=10))["results"]
        assert printed
        assert [row["id"] for row in given] == printed, question
        assert listed[: len(printed)] == printed, question


@pytest.mark.parametrize(
    ("tool", "given", "known", "meant"),
    [
        ("memory_search", {"query": "a", "limit": 3}, {"query", "k"}, {"query": "a", "k": 3}),
        ("memory_feedback", {"memory_id": "m1", "helpful": True}, {"id", "helpful"}, {"id": "m1", "helpful": True}),
        ("playbook_tag", {"bullet_id": "b", "tag": "neutral"}, {"bullet", "tag"}, {"bullet": "b", "tag": "neutral"}),
        ("memory_save", {"content": "a", "type": "error"}, {"text", "kind"}, {"text": "a", "kind": "error"}),
        (
            "memory_ingest", {"content": "a", "type": "error", "section": None},
            {"observation", "observation_type", "section"}, {"observation": "a", "observation_type": "error"},
        ),
        ("memory_search", {"query": "a", "k": 1, "limit": 3}, {"query", "k"}, {"query": "a", "k": 1, "limit": 3}),
        ("recall_memory", {"query": "a", "k": 1}, {"query", "limit"}, {"query": "a", "limit": 1}),
    ],
)  # fmt: skip
def test_other_names_of_arguments_are_taken_for_those_that_a_tool_has(
    tool: str, given: dict[str, Any], known: set[str], meant: dict[str, Any]
) -> None:
    assert renamed(given, known) == meant, tool


async def test_the_calls_of_source_003_are_understood(connect: Connect, bench: Workbench) -> None:
    async with connect(groups={"all"}) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            return await ask(client, tool, **arguments)

        asked = "which database do tests use"
        found = await call(
            "memory_search", query=asked, limit=2, memory_types=["semantic", "procedural"]
        )
        assert {row["memory_type"] for row in found["results"]} <= {"semantic", "procedural"}
        assert 0 < len(found["results"]) <= 2
        id = "mem-20260206-0000009"
        assert (await call("memory_feedback", memory_id=id, helpful=True))["id"] == id
        assert (await call("memory_reflect", focus="deploys", max_insights=1, force=True))[
            "proposed"
        ] <= 1
        made = await call(
            "memory_ingest", content="The moon is full tonight", observation_type="moon_phase"
        )
        memory = bench.stream.get(made["id"])
        assert (memory.observation_type, memory.metadata["type"]) == ("general", "moon_phase")
        bullet = next(b for b in bench.library.bullets.all() if b.state == "active")
        assert (await call("playbook_tag", bullet_id=bullet.id, tag="neutral"))["counted"] is True
        assert (await call("playbook_tag", bullet_id=bullet.id, tag="neutral"))["counted"] is False
        marked = bench.library.bullets.get(f"{bullet.book}/{bullet.id}")
        assert marked.neutral_count == bullet.neutral_count + 1
        assert (marked.helpful_count, marked.harmful_count) == (
            bullet.helpful_count,
            bullet.harmful_count,
        )
        old = await call("memory_forget", memory_id=id)
        assert (old["forgotten"], old["proposed"]) == ([], [id])
