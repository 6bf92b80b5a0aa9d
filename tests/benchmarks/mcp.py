"""What the server for agents adds to ranking, how it serves several at once, and how it starts.

Every figure stands beside what it is held against, measured in turn with it, so that whatever else
the machine does falls on both alike. The client is the SDK's own; the server is a process as an
agent starts it.
"""

import asyncio
import contextlib
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from tests.benchmarks.cli import _surroundings
from tests.benchmarks.open import ROOT, build
from workbench.services.open import open_workbench
from workbench.services.tuning.tuning import Tuning

BARS = {
    "search": "ranking + 10 ms",
    "http": "no error, throughput ≥ 0.8 / (ranking + an empty round trip)",
    "tools_list": "1.2 × the SDK's empty server",
    "first_search": "2.2 × the SDK's empty server",
}
EMPTY = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty")
@server.tool()
def nothing() -> str:
    return ""
server.run("stdio")
"""
CLIENTS = 4
WARM_S = 20.0
"""Seconds in which a server has found out where every text comes from, on a busy machine, too."""

SERVED = re.compile(r"Serving (\S+); the bearer token is in (.+)\.\n")

Times = dict[str, float]


def run(small: bool = False) -> dict[str, object]:
    """Return medians in ms over stdio and HTTP, and the ratios that the bars are about."""
    size, turns = (1_000, 3) if small else (100_000, 25)
    with tempfile.TemporaryDirectory(prefix="bench-mcp-") as name:
        store = Path(name) / "store"
        questions = build(store, size)
        bench = open_workbench(store, profiles=store.parent / "none")
        bench.retriever.load()
        bench.keep_caches()
        rank = _ranking(bench.tuning, questions[-1])
        figures = asyncio.run(_measured(store, bench.tuning, questions, turns))
        starts = asyncio.run(_starts(store, questions[0], 2 if small else 7))
        bench.close()
    return {
        "bars": BARS,
        "memories": size,
        "first_ranking_ms": round(rank, 1),
        **figures,
        "start": starts,
    }


async def _measured(
    store: Path, tuning: Tuning, questions: Sequence[str], turns: int
) -> dict[str, object]:
    asked = questions[: turns + 1]
    async with Client(_ours(store)) as client:
        await _warm(client, asked[0])
        over_stdio = await _in_turn(client, tuning, asked)
    async with _over_http(store) as address:
        return {
            "stdio": over_stdio,
            "http": await _several(address, over_stdio["ranking_ms"], asked),
        }


async def _in_turn(client: Client, tuning: Tuning, asked: Sequence[str]) -> Times:
    """Ask each question of the ranking alone and of the server, in turn; the first only warms both."""
    times: dict[str, list[float]] = {"ranking_ms": [], "search_ms": [], "added_ms": []}
    for turn, query in enumerate(asked):
        ranked = _ranking(tuning, query)
        searched = await _search(client, query)
        if turn:
            for name, ms in zip(times, (ranked, searched, searched - ranked), strict=True):
                times[name].append(ms)
    return {name: round(statistics.median(each), 2) for name, each in times.items()}


async def _several(
    address: tuple[str, str], ranking_ms: float, asked: Sequence[str]
) -> dict[str, float]:
    """Let several clients ask at once; their throughput is held against one that only ranks and
    answers.
    """
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(_web_client(address, n)) for n in range(CLIENTS)]
        await asyncio.gather(*(_warm(client, asked[0]) for client in clients))
        empty = [await _listed(clients[0]) for _ in asked[1:]]
        begun = perf_counter()
        await asyncio.gather(*(_asks(client, asked[1:]) for client in clients))
        per_second = CLIENTS * len(asked[1:]) / (perf_counter() - begun)
    round_trip = statistics.median(empty)
    possible = 1000 / (ranking_ms + round_trip)
    shown = {
        "searches_per_s": per_second,
        "empty_round_trip_ms": round_trip,
        "possible_per_s": possible,
    }
    return {
        **{name: round(value, 2) for name, value in shown.items()},
        "share": round(per_second / possible, 2),
    }


async def _asks(client: Client, asked: Sequence[str]) -> None:
    for query in asked:
        await _search(client, query)


async def _starts(store: Path, query: str, runs: int) -> dict[str, object]:
    """Return how long a fresh server takes to its list of tools and to a first answer, and the
    SDK's empty one.
    """
    empty = StdioServerParameters(
        command=sys.executable, args=["-c", EMPTY], env=_env(store), cwd=ROOT
    )
    makes: Mapping[str, tuple[StdioServerParameters, str]] = {
        "empty": (empty, ""),
        "tools_list": (_ours(store), ""),
        "first_search": (_ours(store), query),
    }
    times: dict[str, list[float]] = {name: [] for name in makes}
    cpu: dict[str, list[float]] = {name: [] for name in makes}
    for turn in range(runs + 1):
        for name, (server, asked) in makes.items():
            spent, begun = _children_s(), perf_counter()
            async with Client(server) as client:
                await (_search(client, asked) if asked else client.list_tools())
                took = perf_counter() - begun
            if turn:
                times[name].append(1000 * took)
                cpu[name].append(1000 * (_children_s() - spent))
    wall, used = (
        ({name: statistics.median(each) for name, each in kept.items()}) for kept in (times, cpu)
    )
    return {
        "wall_ms": {name: round(ms) for name, ms in wall.items()},
        "cpu_ms": {name: round(ms) for name, ms in used.items()},
        "wall_ratio": {name: round(wall[name] / wall["empty"], 2) for name in wall},
        "cpu_ratio": {name: round(used[name] / used["empty"], 2) for name in used},
    }


async def _warm(client: Client, query: str) -> None:
    """Ask once, and wait until the server got ready meanwhile: it begins with that a moment after
    its start.
    """
    await _search(client, query)
    await asyncio.sleep(WARM_S)


async def _search(client: Client, query: str) -> float:
    """Return the ms of one search; a tool that fails ends the benchmark."""
    begun = perf_counter()
    answer: Any = await client.call_tool("memory_search", {"query": query})
    took = 1000 * (perf_counter() - begun)
    if answer.is_error:
        raise RuntimeError(f"memory_search failed: {answer.content}")
    return took


async def _listed(client: Client) -> float:
    begun = perf_counter()
    await client.session.list_tools()
    return 1000 * (perf_counter() - begun)


def _ranking(tuning: Tuning, query: str) -> float:
    begun = perf_counter()
    tuning.rank(query, tuning.default(), k=8)
    return 1000 * (perf_counter() - begun)


def _ours(store: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=_arguments(store), env=_env(store), cwd=ROOT
    )


def _arguments(store: Path, *more: str) -> list[str]:
    return ["-m", "workbench", "--store", str(store), "mcp", *more]


def _env(store: Path) -> dict[str, str]:
    """Return a user's surroundings: modules are compiled once and kept."""
    return {k: v for k, v in _surroundings(store.parent).items() if k != "PYTHONDONTWRITEBYTECODE"}


def _children_s() -> float:
    """Return the CPU seconds of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.asynccontextmanager
async def _over_http(store: Path) -> AsyncIterator[tuple[str, str]]:
    """Run a server over HTTP; give its address and its token."""
    process = subprocess.Popen(
        [sys.executable, *_arguments(store, "--http", "--port", str(20_000 + os.getpid() % 20_000))],
        env=_env(store), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = next((found for line in process.stderr if (found := SERVED.search(line))), None)
        if said is None:
            raise RuntimeError("The server ended before it served.")
        yield said[1], Path(said[2]).read_text("ascii").strip()
    finally:
        process.terminate()
        process.communicate()


@contextlib.asynccontextmanager
async def _web_client(address: tuple[str, str], number: int) -> AsyncIterator[Client]:
    """Give a client with a name of its own, so that each has its own share of calls."""
    headers = {"Authorization": f"Bearer {address[1]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
        await _reachable(web, address[0])
        known = Implementation(name=f"bench-{number}", version="1")
        async with Client(
            streamable_http_client(address[0], http_client=web), client_info=known
        ) as client:
            yield client


async def _reachable(web: httpx2.AsyncClient, url: str) -> None:
    """Wait until the port is open: the server says its address just before."""
    for _ in range(600):
        with contextlib.suppress(httpx2.TransportError):
            await web.get(url.replace("/mcp", "/"))
            return
        await asyncio.sleep(0.1)
    raise RuntimeError("The server cannot be reached.")
