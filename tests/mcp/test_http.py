"""The server over HTTP: its token, who may ask, and several at once."""

import asyncio
import contextlib
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.conftest import QUERY, command, surroundings
from tests.mcp.support import ask
from workbench.config.paths import MCP_TOKEN
from workbench.core.record import StoreProblem
from workbench.mcp.http import token_in

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

    async def three(number: int) -> list[str]:
        async with client(address, token) as one:
            found = [await ask(one, "memory_search", query=QUERY, k=2) for _ in range(3)]
        return [row["id"] for answer in found for row in answer["results"]]

    asked = await asyncio.gather(*map(three, range(4)))
    assert all(ids == asked[0] for ids in asked)
    assert len(asked[0]) == 6


@pytest.mark.slow
def test_who_has_no_token_or_comes_from_elsewhere_is_not_let_in(
    served: tuple[str, str, Any],
) -> None:
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
        large = web.post(
            address, content=b"x" * (5 << 20), headers={**good, "Content-Type": "application/json"}
        )
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
    with pytest.raises(StoreProblem, match="contains no token"):
        token_in(tmp_path)
    (tmp_path / MCP_TOKEN).unlink()
    (tmp_path / MCP_TOKEN).symlink_to("/dev/zero")
    with pytest.raises(StoreProblem):
        token_in(tmp_path)
