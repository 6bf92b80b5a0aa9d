"""The server for several clients over HTTP, on this machine only, for who holds its token."""

import hmac
import os
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from workbench.bench.open import Workbench
from workbench.core.errors import StoreProblem, WorkbenchError
from workbench.mcp.clients import Clients
from workbench.mcp.running import GRACE_S, end
from workbench.mcp.server import MemoryServer

HOST = "127.0.0.1"
TOKEN = "mcp-token"
"""The name of the file that holds the token, in the person's state folder."""

LARGEST = 4 << 20
"""Bytes of a request."""

_REFUSED = b"A bearer token is needed; `workbench mcp --http` names its file.\n"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


def token_in(folder: Path) -> str:
    """Return the token, made on first use and readable by this person alone. Raises `StoreProblem`."""
    place = folder / TOKEN
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            place.chmod(0o600)
            token = place.read_text("ascii").strip()
        else:
            token = secrets.token_urlsafe(32)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{token}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreProblem(f"The token in {place} cannot be read or made: {error}.", "Nothing was served.") from error
    if len(token) < 20:
        raise StoreProblem(f"The file {place} holds no token.", "Delete it; a new one is made then.")
    return token


class Bearer:
    """Lets in only requests that carry the token."""

    def __init__(self, app: Asgi, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or self._holds(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": _REFUSED})

    def _holds(self, scope: Scope) -> bool:
        given = next((value for name, value in scope["headers"] if name.lower() == b"authorization"), b"")
        kind, _, token = given.partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


def serve_http(bench: Workbench, clients: Clients, port: int, token: str, **options: bool) -> None:
    """Serve over HTTP on this machine until a signal comes. Raises `WorkbenchError` when the port is taken."""
    server = MemoryServer(clients, **options)
    app = server.streamable_http_app(max_request_body_size=LARGEST, host=HOST)
    config = uvicorn.Config(
        Bearer(app, token), host=HOST, port=port, log_level="error", access_log=False,
        timeout_graceful_shutdown=max(1, int(GRACE_S)),
    )  # fmt: skip
    try:
        anyio.run(uvicorn.Server(config).serve)
    except SystemExit as error:
        raise WorkbenchError(f"Port {port} cannot be served.", "Choose another one with --port.") from error
    end(bench, clients)
