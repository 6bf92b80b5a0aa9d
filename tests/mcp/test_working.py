"""The ten operations of a working memory, as the official client sees them."""

from typing import Any

from mcp import Client

from tests.mcp.conftest import Connect
from tests.mcp.support import ask, text_of
from workbench.mcp.server import Clients
from workbench.services.agents.api import TOOLS
from workbench.services.agents.working import sessions
from workbench.services.open import Workbench

TASK = "Find out why the token refresh fails. Never touch production. Done when the tests pass."


async def test_the_ten_operations_of_a_working_memory(connect: Connect, bench: Workbench) -> None:
    past = bench.episodes.store(
        {"task": {"original_input": TASK}, "outcome": {"status": "FAILURE"}}
    ).episode.id
    async with connect(groups={"few", "working"}) as client:

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            return await ask(client, f"working_{name}", **arguments)

        begun = await call("init", task=TASK, session="job-7", system={"tools": ["pytest"]})
        assert (begun["session"], begun["durable"]) == ("job-7", False)
        assert past in begun["retrieved"]
        await call("set", key="files", value="auth.py", scope="accumulator")
        await call("set", key="files", value=["test.py"], scope="accumulator")
        assert (await call("get", key="files")) == {"value": ["auth.py", "test.py"]}
        assert (await call("get", key="nothing")) == {"value": None}
        assert sessions(bench.library) == {}
        await call("push_state", state={"current_phase": "analysis", "current_subtask": "st_0"})
        for n in range(9):
            await call(
                "add_intermediate", subtask_id=f"st_{n}", output={"found": n}, type="finding"
            )
        assert (await call("load_context", details={"plan": ["read", "fix"]}))["variables"] == [
            "plan"
        ]
        assert (
            past in (await call("retrieve", query="why does the token refresh fail"))["retrieved"]
        )
        stored = await call("snapshot", label="before the fix")
        assert (await call("prune"))["moved"] == ["intermediate.st_2", "intermediate.st_1"]
        assert (await call("get", key="st_1", scope="intermediate"))["value"]["output"] == {
            "found": 1
        }
        shown = await call("show")
        assert "st_1" not in shown["intermediate_values"]
        assert shown["task_scope"]["constraints"] == ["Never touch production."]
        assert "intermediate.st_8" in shown["hot"]
        assert {row["layer"] for row in shown["layers"]} == {
            "system",
            "task",
            "execution",
            "results",
            "retrieved",
        }
        await call("rollback", revision=stored["revision"])
        assert "st_1" in (await call("show"))["intermediate_values"]
        ended = await call("clear", outcome="SUCCESS", output="the clock was wrong")
        assert bench.episodes.open(ended["episode"]).episode.outcome == "SUCCESS"
        assert (await call("show"))["task_scope"] == {}


async def test_memories_of_type_working_end_with_their_session(
    connect: Connect, bench: Workbench
) -> None:
    clients = Clients(bench)
    async with connect(clients) as client:
        for kind, text in (
            ("working", "The build runs in the second pane"),
            ("gotcha", "Node 18 breaks the linter"),
        ):
            await ask(client, "memory_save", text=text, kind=kind)
    clients.end_sessions()
    ended = {
        m.memory_type: m.status
        for m in bench.library.memories.all()
        if m.session_id.startswith("mcp-")
    }
    assert ended == {"working": "archived", "episodic": "signal"}


async def test_what_is_refused_reaches_the_model_as_a_sentence(connect: Connect) -> None:
    async def refused(client: Client, name: str, **arguments: Any) -> str:
        result: Any = await client.call_tool(name, arguments)
        assert result.is_error
        return text_of(result)

    async with connect(groups={"working"}) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            t.name for t in TOOLS if t.group == "working"
        }
        big = await refused(client, "working_set", key="k", value="x" * 1_000_000)
        assert "1,000,000 characters" in big
        assert "accumulator" in await refused(
            client, "working_set", key="k", value=1, scope="nowhere"
        )
        assert "no snapshot" in await refused(client, "working_rollback")
    async with connect(groups={"working"}, reads_only=True) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            "working_get",
            "working_show",
        }
