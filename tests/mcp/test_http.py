"""The server over HTTP: its token, who may ask, and several at once."""

import asyncio
import contextlib
import signal
import socket
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.conftest import QUERY, command, surroundings
from tests.mcp.test_server import said
from workbench.config.paths import MCP_TOKEN
from workbench.core.agents.read import AgentRead
from workbench.core.errors import StoreProblem
from workbench.mcp.clients import CLIENT, PER_MINUTE
from workbench.mcp.http import Introduced, token_in
from workbench.store.library import Library

PATIENCE_S = 120.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@pytest.fixture
def served(store: Path) -> Iterator[tuple[str, str, Any]]:
    """A server over HTTP: its address, its token, and the process."""
    port = free_port()
    process = subprocess.Popen(
        command(store, "--http", "--port", str(port)), env=surroundings(store.parent), cwd=store.parent,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        (place,) = store.parent.rglob(MCP_TOKEN)
        yield f"http://127.0.0.1:{port}/mcp", place.read_text().strip(), process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def client(address: str, token: str) -> Client:
    web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_S)
    return Client(streamable_http_client(address, http_client=web))


@pytest.mark.slow
async def test_four_clients_at_once_are_each_answered(served: tuple[str, str, Any]) -> None:
    address, token, _ = served

    async def ask(number: int) -> list[str]:
        async with client(address, token) as one:
            found = [said(await one.call_tool("memory_search", {"query": QUERY, "k": 2})) for _ in range(3)]
        return [row["id"] for answer in found for row in answer["results"]]

    asked = await asyncio.gather(*map(ask, range(4)))
    assert all(ids == asked[0] for ids in asked)
    assert len(asked[0]) == 6


@pytest.mark.slow
def test_who_has_no_token_or_comes_from_elsewhere_is_not_let_in(served: tuple[str, str, Any]) -> None:
    address, token, process = served
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    with httpx2.Client(timeout=PATIENCE_S) as web:
        for headers, status in (
            ({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": token}, 401),
            ({**good, "Host": "evil.example"}, 421), ({**good, "Origin": "http://evil.example"}, 403),
        ):  # fmt: skip
            answer = web.post(address, json=asked, headers=headers)
            assert answer.status_code == status
            assert "results" not in answer.text
        large = web.post(address, content=b"x" * (5 << 20), headers={**good, "Content-Type": "application/json"})
        assert large.status_code in (400, 413)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0
    assert token.encode() not in process.stderr.read()


def test_the_token_is_made_once_for_this_person_alone(tmp_path: Path) -> None:
    first = token_in(tmp_path / "state")
    assert token_in(tmp_path / "state") == first
    assert stat.S_IMODE((tmp_path / "state" / MCP_TOKEN).stat().st_mode) == 0o600
    assert len(first) >= 40


def test_a_token_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / MCP_TOKEN).write_text("short\n")
    with pytest.raises(StoreProblem, match="holds no token"):
        token_in(tmp_path)
    (tmp_path / MCP_TOKEN).unlink()
    (tmp_path / MCP_TOKEN).symlink_to("/dev/zero")
    with pytest.raises(StoreProblem):
        token_in(tmp_path)


@pytest.mark.slow
async def test_clients_without_sessions_are_told_apart_by_the_id_that_the_server_gave_them(
    served: tuple[str, str, Any], store: Path
) -> None:
    address, token, process = served
    before = {read.id for read in Library(store).table(AgentRead).all()}
    for _ in range(2):
        async with client(address, token) as one:
            for _ in range(3):
                said(await one.call_tool("memory_search", {"query": QUERY, "k": 2}))
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0
    reads = [read for read in Library(store).table(AgentRead).all() if read.id not in before]
    assert sorted(Counter(read.session for read in reads).values()) == [3, 3]


async def test_an_id_that_a_client_makes_up_is_none() -> None:
    seen: list[str] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        seen.append(scope[CLIENT])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask(door: Introduced, cookie: bytes) -> list[bytes]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await door({"type": "http", "headers": [(b"cookie", cookie)] if cookie else []}, None, send)  # type: ignore[arg-type]
        return [value.partition(b";")[0] for name, value in sent[0]["headers"] if name == b"set-cookie"]

    door = Introduced(app)
    (given,) = await ask(door, b"")
    (other,) = await ask(door, b"x=1")
    assert given != other
    assert not await ask(door, b"x=1; " + given)
    made_up = (
        given[:-4] + b"0000",
        b"workbench-client=me",
        b"workbench-client=",
        b"workbench-client=\xff.\xff",
        given + b".x",
    )
    for cookie in made_up:
        assert await ask(door, cookie)
    assert await ask(Introduced(app), given)  # another server's
    assert [bool(id) for id in seen] == [False, False, True, *([False] * 6)]


@pytest.mark.slow
def test_who_takes_a_new_connection_for_each_call_shares_its_calls_with_all_who_do(
    served: tuple[str, str, Any],
) -> None:
    address, token, _ = served
    about = {f"io.modelcontextprotocol/{name}": value for name, value in
             {"protocolVersion": "2026-07-28", "clientCapabilities": {}}.items()}  # fmt: skip
    call = {"name": "memory_get", "arguments": {"ids": ["mem-20260206-0000009"]}, "_meta": about}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream",
               "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "memory_get"}  # fmt: skip

    def once() -> str:
        return httpx2.post(address, json=asked, headers=headers, timeout=PATIENCE_S).text

    assert "mem-20260206-0000009" in once()
    with httpx2.Client(timeout=PATIENCE_S, headers=headers) as known:
        known.post(address, json=asked)
        assert any("Wait" in once() for _ in range(PER_MINUTE))
        assert "Wait" not in known.post(address, json=asked).text
