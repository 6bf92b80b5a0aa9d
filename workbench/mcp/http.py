"""The server for several clients over HTTP, on this machine only, for who holds its token."""

import contextlib
import hmac
import os
import secrets
import signal
import stat
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from workbench.config.paths import MCP_TOKEN
from workbench.core.files.atomic import write_file
from workbench.core.record import StoreProblem, WorkbenchError
from workbench.mcp.server import GRACE_S, Clients, MemoryServer, end
from workbench.services.open import Workbench

HOST = "127.0.0.1"
_LONGEST = 1_000
"""Bytes of a token's file."""

LARGEST = 4 << 20
"""Bytes of a request."""

_REFUSED = b"A bearer token is needed; `workbench mcp --http` names its file.\n"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


def token_in(folder: Path) -> str:
    """Return the token, made on first use and readable by this person alone. Raises `StoreProblem`."""
    place = folder / MCP_TOKEN
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            if not os.path.lexists(place):
                write_file(place, f"{secrets.token_urlsafe(32)}\n".encode("ascii"), new=True)
        token = _read(place)
    except (OSError, UnicodeDecodeError) as error:
        raise StoreProblem(
            f"The token in {place} cannot be read or created: {error}.", "Nothing was served."
        ) from error
    if len(token) < 20:
        raise StoreProblem(
            f"The file {place} contains no token.", "Delete it; a new one is created."
        )
    return token


def _read(place: Path) -> str:
    """Read the token from a file that is one: no link, no device, nothing that others may read."""
    handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is not a regular file")
        os.fchmod(handle, 0o600)
        return file.read(_LONGEST).decode("ascii").strip()


class Bearer:
    """Lets in only requests that carry the token."""

    def __init__(self, app: Asgi, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or self._holds(scope):
            await self._app(scope, receive, send)
            return
        headers = [
            (b"www-authenticate", b"Bearer"),
            (b"content-type", b"text/plain; charset=utf-8"),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": _REFUSED})

    def _holds(self, scope: Scope) -> bool:
        given = next(
            (value for name, value in scope["headers"] if name.lower() == b"authorization"), b""
        )
        kind, _, token = given.partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


class _Stoppable(uvicorn.Server):
    """A web server that ends with its requests when a signal comes, and lets the process go on to
    its own end.

    Left to itself it raises the signal again once it has ended, and nothing after it is done.
    """

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs it."""
        yield

    async def run_until_signal(self) -> None:
        """Serve until a signal comes, and a moment longer for what is in flight."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._stop_on_signal)
            await self.serve()
            group.cancel_scope.cancel()

    async def _stop_on_signal(self) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                self.should_exit = True
                await anyio.sleep(GRACE_S)
                self.force_exit = True
                return


def serve_http(bench: Workbench, clients: Clients, port: int, token: str, **options: Any) -> None:
    """Serve over HTTP on this machine until a signal comes. Raises `WorkbenchError` when the port
    is taken.
    """
    server = MemoryServer(clients, **options)
    app = server.streamable_http_app(max_request_body_size=LARGEST, host=HOST)
    config = uvicorn.Config(
        Bearer(app, token), host=HOST, port=port, log_level="error", access_log=False,
        timeout_graceful_shutdown=max(1, int(GRACE_S)),
    )  # fmt: skip
    try:
        anyio.run(_Stoppable(config).run_until_signal)
    except SystemExit as error:
        raise WorkbenchError(
            f"Port {port} cannot be served.", "Choose another one with --port."
        ) from error
    end(bench, clients)
