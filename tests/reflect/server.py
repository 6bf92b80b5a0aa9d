"""A local HTTP server that speaks the Messages API, scripted reply by reply.

    with messages_server([Reply("1. Why?"), reply_of("overloaded.json", status=529)]) as server:
        ClaudeReflector(settings, base_url=server.url, api_key="test-key")
        server.requests[0].body["model"]

A `Reply` with a text is served in the form the request asks for: as one JSON message, or as a
stream of events.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REPLIES = Path(__file__).parents[2] / "fixtures" / "replies"
PIECE = 12
"""Characters per streamed delta."""

NO_RETRY = {"x-should-retry": "false"}
"""Headers of a failure that the SDK reports at once."""


@dataclass(frozen=True)
class Reply:
    """One answer. `text` is what the model says; `body` instead is sent as it is, whatever was
    asked for.

    With `dropped` the connection ends without the end of the reply. Streaming waits for `hold`,
    when given, after the first delta (or, for a `body`, before it), so that a test can act in
    between.
    """

    text: str = ""
    body: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stop_reason: str = "end_turn"
    usage: tuple[int, int] = (120, 40)
    dropped: bool = False
    hold: threading.Event | None = None

    @property
    def stream_body(self) -> bool:
        """Whether `body` is a stream of events."""
        return self.body is not None and self.body.lstrip().startswith(("event:", ":", "data:"))


@dataclass(frozen=True)
class Seen:
    """One request as it came in; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        """All text that was sent: the system text, then every message."""
        return "\n\n".join(
            [str(self.body.get("system", "")), *(str(m["content"]) for m in self.body["messages"])]
        )


Script = Sequence[Reply] | Callable[[Seen], Reply]


class MessagesServer(ThreadingHTTPServer):
    """The server; `requests` and `hung_up` (replies the client did not wait for) grow while it
    runs.
    """

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Seen] = []
        self.hung_up = 0
        self._script = script
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """What to give as `base_url`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away, also between two requests."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def answer(self, seen: Seen) -> Reply:
        """Note a request and return the reply that is due."""
        with self._lock:
            place = len(self.requests)
            self.requests.append(seen)
        if callable(self._script):
            return self._script(seen)
        if place < len(self._script):
            return self._script[place]
        return error_reply(
            500, "api_error", "the script has no more replies", {"x-should-retry": "false"}
        )


@contextmanager
def messages_server(script: Script) -> Iterator[MessagesServer]:
    """Run the server while the block runs. `script`: the replies in order, or a function of the
    request.
    """
    server = MessagesServer(script)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def reply_of(
    name: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **more: Any
) -> Reply:
    """Return the recorded reply `fixtures/replies/<name>`: .txt is what the model says, the rest a
    whole body.
    """
    content = (REPLIES / name).read_text("utf-8")
    if name.endswith(".txt"):
        return Reply(content, status=status, headers=headers or {}, **more)
    return Reply(body=content, status=status, headers=headers or {}, **more)


def error_reply(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Reply:
    """Return an error in the API's form."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(body=json.dumps(body), status=status, headers=headers or {})


def message_json(reply: Reply) -> str:
    """Return `reply` as a message that was not streamed."""
    content = [{"type": "text", "text": reply.text}] if reply.text else []
    return json.dumps(_message(reply, content, reply.usage[1], reply.stop_reason))


def events(reply: Reply) -> Iterator[str]:
    """Yield `reply` as server-sent events, one string per event."""
    start = _message(reply, [], 1, None)
    yield _event("message_start", message=start)
    if reply.text:
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for begin in range(0, len(reply.text), PIECE):
            piece = {"type": "text_delta", "text": reply.text[begin : begin + PIECE]}
            yield _event("content_block_delta", index=0, delta=piece)
        if reply.dropped:
            return
        yield _event("content_block_stop", index=0)
    stop = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": reply.usage[1]})
    yield _event("message_stop")


def _message(
    reply: Reply, content: list[dict[str, str]], output: int, stop: str | None
) -> dict[str, object]:
    usage = {"input_tokens": reply.usage[0], "output_tokens": output}
    return {
        "id": "msg_test", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _event(kind: str, **data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MessagesServer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        seen = Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(raw))
        reply = self.server.answer(seen)
        try:
            if reply.stream_body or (
                reply.body is None and reply.status == 200 and seen.body.get("stream")
            ):
                self._send_stream(reply)
            else:
                self._send_whole(reply)
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up += 1
            self.close_connection = True

    def _send_whole(self, reply: Reply) -> None:
        body = (message_json(reply) if reply.body is None else reply.body).encode()
        if reply.hold is not None:
            reply.hold.wait(120)
        self._start(reply, "application/json", ("Content-Length", str(len(body))))
        self.wfile.write(body[: len(body) // 2] if reply.dropped else body)
        self._end(reply)

    def _send_stream(self, reply: Reply) -> None:
        self._start(reply, "text/event-stream", ("Transfer-Encoding", "chunked"))
        parts = events(reply) if reply.body is None else iter([reply.body])
        for part in parts:
            if reply.body is not None and reply.hold is not None:
                reply.hold.wait(120)
            data = part.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            if reply.hold is not None and part.startswith("event: content_block_delta"):
                reply.hold.wait(120)
        if not reply.dropped:
            self.wfile.write(b"0\r\n\r\n")
        self._end(reply)

    def _start(self, reply: Reply, kind: str, framing: tuple[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in (
            ("Content-Type", kind),
            framing,
            ("request-id", "req_test"),
            *reply.headers.items(),
        ):
            self.send_header(name, value)
        self.end_headers()

    def _end(self, reply: Reply) -> None:
        self.close_connection = self.close_connection or reply.dropped
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.flush()
