"""Runs the server until its client goes, or somebody stops it: within two seconds, whatever is in flight."""

import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from typing import IO, Any, cast

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from workbench.core.errors import WorkbenchError
from workbench.mcp.clients import Clients
from workbench.mcp.server import MemoryServer
from workbench.services.open import Workbench

GRACE_S = 0.8
"""How long calls that are in flight may go on once the client is gone."""

LEAVING_S = 0.8
"""How long the end waits for what is still to be kept: a client kills a server that takes two seconds to go."""

_GONE = (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What writing an answer raises when nobody reads it any more."""

_LONGEST = 32 << 20
"""Bytes of one message; a longer one is cut, and so is no message."""


_HALVES = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""An escaped backslash, or a character that is written as two halves; as a group, a half that stands alone."""


def mended(line: str) -> str:
    """Return a message without the halves of characters that stand alone in it.

    A client that cuts a text within a character sends such a half. No message with one can be read, so that its call
    would never be answered.
    """
    return _HALVES.sub(lambda found: "\\ufffd" if found[1] else found[0], line) if "\\u" in line else line


class Lines:
    """The lines of a stream, read on a thread that nobody waits for; `ended` is set behind the last one."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.ended = anyio.Event()

    def __aiter__(self) -> AsyncIterator[str]:
        return self._lines()

    async def _lines(self) -> AsyncIterator[str]:
        while data := await anyio.to_thread.run_sync(self._stream.readline, _LONGEST, abandon_on_cancel=True):
            yield mended(data.decode("utf-8", "replace"))
        self.ended.set()


class StdioServer(MemoryServer):
    """The server of one client, over the standard streams."""

    async def run_stdio_async(self) -> None:
        """Serve until the client's end of the streams is closed, or a signal comes."""
        lines = Lines(os.fdopen(os.dup(sys.stdin.fileno()), "rb"))
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_on_signal, group.cancel_scope)
            group.start_soon(_stop_after, lines.ended, group.cancel_scope)
            async with stdio_server(stdin=cast(Any, lines)) as (read, write):
                server = self._lowlevel_server
                await server.run(read, write, server.create_initialization_options())
            group.cancel_scope.cancel()


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return


async def _stop_after(ended: anyio.Event, scope: anyio.CancelScope) -> None:
    await ended.wait()
    await anyio.sleep(GRACE_S)
    scope.cancel()


def serve_stdio(bench: Workbench, clients: Clients, **options: bool) -> None:
    """Serve over stdio; does not return while a client is there."""
    with _until_gone():
        anyio.run(StdioServer(clients, **options).run_stdio_async)
    end(bench, clients)


@contextlib.contextmanager
def _until_gone() -> Iterator[None]:
    """Take it as the end that nobody reads the answers any more: a client was killed while it waited for one."""
    try:
        yield
    except* _GONE:
        pass


def end(bench: Workbench, clients: Clients) -> None:
    """Keep what was read, let go of the store, and end the process: calls that still run are not waited for.

    Nor is a store that somebody else holds: what could not be written by then is lost, and only readings are.
    """
    leaving = threading.Thread(target=_let_go, args=(bench, clients), daemon=True)
    leaving.start()
    leaving.join(LEAVING_S)
    sys.stderr.flush()
    os._exit(0)


def _let_go(bench: Workbench, clients: Clients) -> None:
    """Keep what was read, and then what makes the next start fast; what is cut off in the middle of that is like none.

    A few readings are no reason to write a large store anew, of which the next start would have to make all again.
    """
    with contextlib.suppress(WorkbenchError):
        clients.log.flush()
    with contextlib.suppress(WorkbenchError):
        bench.keep_caches()
        if bench.library.starts_slowly:
            bench.close()
