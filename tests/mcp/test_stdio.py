"""The server as a process: what it prints, what it swallows, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.conftest import QUERY, command, surroundings
from tests.mcp.support import ask, text_of
from workbench.core.agents.read import AgentRead
from workbench.services.open import open_workbench

PATIENCE_S = 120.0
"""Far longer than the slowest machine needs: a server that ends only then did not end by itself."""


def hello(version: str = "2025-11-25") -> bytes:
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "Claude Code", "version": "1"},
    }
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return line(first) + line({"jsonrpc": "2.0", "method": "notifications/initialized"})


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def call(number: int, name: str, **arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments}
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


@pytest.fixture
def server(store: Path) -> Any:
    """A server over the store, whose standard streams are ours."""
    process = subprocess.Popen(
        command(store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=surroundings(store.parent), cwd=store.parent,
    )  # fmt: skip
    yield process
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def answers(process: Any, count: int) -> dict[int, Any]:
    """Read lines until so many calls are answered; every one of them is a message of the protocol."""
    found: dict[int, Any] = {}
    while len(found) < count:
        message = json.loads(process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        if isinstance(message.get("id"), int):
            found[message["id"]] = message
    return found


@pytest.mark.slow
async def test_the_official_client_searches_over_stdio_and_what_it_read_is_kept(
    store: Path,
) -> None:
    bench = open_workbench(store, profiles=store)
    before = {memory.id: memory.access_count for memory in bench.library.memories.all()}
    bench.close()
    first, *rest = command(store, "--agent", "claude")
    place = StdioServerParameters(
        command=first, args=rest, env=surroundings(store.parent), cwd=str(store.parent)
    )
    async with Client(stdio_client(place)) as client:
        found = (await ask(client, "memory_search", query=QUERY, k=3))["results"]
        wrong = await client.call_tool("memory_search", {"query": QUERY, "k": 51})
        assert text_of(wrong) == "memory_search: k must be at most 50, not 51. Nothing was done."
    bench = open_workbench(store, profiles=store)
    (read,) = [read for read in bench.library.table(AgentRead).all() if read.query == QUERY]
    assert (read.agent, list(read.memories)) == ("claude", [row["id"] for row in found])
    assert all(bench.stream.get(row["id"]).access_count == before[row["id"]] + 1 for row in found)
    bench.close()


@pytest.mark.slow
def test_a_server_that_only_read_writes_no_checkpoint(server: Any, store: Path) -> None:
    """A few readings stand in the journal; to write all of a large store for them would cost each
    session seconds.
    """
    before = {name: (store / name).read_bytes() for name in ("memory.json", "checkpoint.json")}
    server.stdin.write(hello() + call(2, "memory_search", query=QUERY, k=1))
    server.stdin.flush()
    answers(server, 2)
    server.stdin.close()
    assert server.wait(PATIENCE_S) == 0
    assert {name: (store / name).read_bytes() for name in before} == before
    bench = open_workbench(store, profiles=store)
    assert any(read.query == QUERY for read in bench.library.table(AgentRead).all())
    bench.close()


@pytest.mark.slow
def test_what_is_no_message_is_survived_and_only_messages_are_printed(server: Any) -> None:
    server.stdin.write(hello())
    for broken in (
        b"{\n",
        b"\xff\xfe\x00\n",
        b"[]\n",
        line({"jsonrpc": "2.0", "id": 7}),
        b"x" * 1_000_000 + b"\n",
    ):
        server.stdin.write(broken)
    server.stdin.write(call(2, "memory_search", query=QUERY, k=1))
    server.stdin.flush()
    found = answers(server, 2)
    assert found[2]["result"]["structuredContent"]["results"]


@pytest.mark.slow
def test_a_text_that_was_cut_within_a_character_is_answered(server: Any, store: Path) -> None:
    half, whole, spelled = "\\ud83d", "\\ud83d\\ude80", "\\\\ud83d"
    told = call(
        2, "memory_save", text="The runner restarts at noon: HALF WHOLE SPELLED end"
    ).decode()
    server.stdin.write(
        hello()
        + told.replace("HALF", half).replace("WHOLE", whole).replace("SPELLED", spelled).encode()
    )
    server.stdin.flush()
    saved = answers(server, 2)[2]["result"]["structuredContent"]
    bench = open_workbench(store, profiles=store)
    assert (
        bench.stream.get(saved["id"]).content
        == "The runner restarts at noon: \ufffd \U0001f680 \\ud83d end"
    )
    bench.close()


@pytest.mark.slow
def test_it_knows_its_client_by_the_name_it_gives(server: Any, store: Path) -> None:
    server.stdin.write(
        hello()
        + call(2, "memory_save", text="The staging database is reset on Mondays.", kind="discovery")
    )
    server.stdin.flush()
    answers(server, 2)
    server.stdin.close()
    assert server.wait(PATIENCE_S) == 0
    bench = open_workbench(store, profiles=store)
    assert next(bench.history.events()).actor == "agent:claude-code"
    bench.close()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["the streams end", "SIGTERM", "SIGINT"])
def test_it_ends_soon_though_a_call_is_in_flight_and_the_store_is_held(
    server: Any, store: Path, how: str
) -> None:
    """The store is held by somebody else, so that the second call would go on for as long as that
    lasts.

    What was read cannot be kept meanwhile: it is not waited for as long as a writer waits for its
    turn.
    """
    server.stdin.write(hello() + call(2, "memory_search", query=QUERY, k=1))
    server.stdin.flush()
    answers(server, 2)
    with open_lock(store):
        server.stdin.write(call(3, "memory_save", text="what waits for the lock"))
        server.stdin.flush()
        time.sleep(0.3)
        if how == "the streams end":
            server.stdin.close()
        else:
            server.send_signal(getattr(signal, how))
        assert server.wait(PATIENCE_S) == 0
    assert b"Traceback" not in server.stderr.read()


def test_a_client_that_is_killed_while_calls_are_in_flight_is_the_end_and_no_accident(
    server: Any,
) -> None:
    server.stdin.write(hello())
    server.stdin.flush()
    answers(server, 1)
    # Nobody reads the answers any more, and nobody is there.
    server.stdout.close()
    server.stdin.write(
        b"".join(call(number, "memory_search", query=QUERY, k=1) for number in range(2, 12))
    )
    server.stdin.flush()
    assert server.wait(PATIENCE_S) == 0
    assert server.stderr.read() == b""


def open_lock(store: Path) -> Any:
    """Hold the write lock of a store in this process."""
    bench = open_workbench(store, profiles=store)
    return bench.library.exclusive()


def test_without_the_library_the_command_says_what_to_install(store: Path, tmp_path: Path) -> None:
    hide = tmp_path / "hide" / "mcp"
    hide.mkdir(parents=True)
    (hide / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')"
    )
    env = surroundings(store.parent) | {
        "PYTHONPATH": os.pathsep.join((str(hide.parent), str(Path.cwd())))
    }
    done = subprocess.run(
        command(store), env=env, capture_output=True, text=True, input="", check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'memory-workbench[mcp]'" in done.stderr


@pytest.mark.slow
def test_a_server_that_only_says_what_it_can_do_loads_nothing_that_ranks_or_looks_for_secrets() -> (
    None
):
    loaded = "import sys, workbench.mcp.server, workbench.mcp.serving; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    heavy = {"numpy", "model2vec", "textual", "anthropic", "workbench.safety.secrets"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.slow
def test_once_it_is_ready_no_text_waits_for_a_rule_to_be_made(store: Path) -> None:
    program = """
import sys
from pathlib import Path
from workbench.services.open import open_workbench
from workbench.mcp.serving import _get_ready
from workbench.safety.instructions import rules
from workbench.safety.scanning import scan

bench = open_workbench(Path(sys.argv[1]), profiles=Path(sys.argv[1]))
_get_ready(bench, False)
for phrase in (phrase for rule in rules() for phrase in rule.phrases):
    phrase.items = None
found = [scan(text) for text in Path(sys.argv[2]).read_text("utf-8").splitlines()]
print(sum(map(bool, found)))
bench.close()
"""
    attacks = Path(__file__).parents[1] / "safety" / "orders" / "attacks.txt"
    done = subprocess.run(
        [sys.executable, "-c", program, str(store), str(attacks)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_a_first_search_waits_for_nothing_that_only_other_tools_need() -> None:
    loaded = "import sys, workbench.services.agents.api; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    others = (
        "rapidfuzz",
        "workbench.services.stream.ingest",
        "workbench.services.agents.documents.recall",
    )
    assert not set(others) & set(done.stdout.split())
