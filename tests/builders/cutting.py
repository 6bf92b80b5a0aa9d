"""A way to a server that can be cut."""

import contextlib
import re
import socket
import threading
import time
from urllib.parse import quote

import psycopg

from tests.builders.postgres import PASSWORD, Postgres


class Way:
    """Passes on what goes to a server and comes from it, each with a delay. As a pooler with a user
    of its `pool` it connects everybody in one role.
    """

    def __init__(self, server: Postgres, delay: float = 0, pool: str = "") -> None:
        self._pool = pool.encode()
        self._info: psycopg.ConnectionInfo = server.admin.info
        self._database = server.database
        self._delay = delay
        self._lose_answer = False
        self.away = False
        self.requests = 0
        """What was sent to the server, as often as somebody waited for an answer."""
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, role: str, store: str) -> str:
        port = self._listener.getsockname()[1]
        return (
            f"postgresql://{role}:{quote(PASSWORD)}@127.0.0.1:{port}/{self._database}?store={store}"
        )

    def lose_next_answer(self, then_away: bool = False) -> None:
        """Let the next request reach the server, and cut the way when it has answered."""
        self._lose_answer, self._then_away = True, then_away

    def cut(self) -> None:
        """Cut what is open, and let nobody through until `away` is false."""
        self.away = True
        for one in self._open:
            _cut(one)

    def close(self) -> None:
        self._listener.close()
        for one in self._open:
            _cut(one)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.away:
                    client.close()
                    continue
                server = self._connect()
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(
                        target=self._pass_on, args=(source, target, source is server), daemon=True
                    ).start()

    def _pooled(self, data: bytes) -> bytes:
        """Return the first message of a connection with another user, and any other as it is."""
        if data[4:8] != b"\0\3\0\0":
            return data
        rest = re.sub(rb"(\0user\0)[^\0]*", rb"\1" + self._pool, data[7:])
        return (len(rest) + 7).to_bytes(4, "big") + data[4:7] + rest

    def _connect(self) -> socket.socket:
        host, port = self._info.host, self._info.port
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _pass_on(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.requests += not is_answer
                time.sleep(self._delay)
                if self._pool and not is_answer:
                    data = self._pooled(data)
                if is_answer and self._lose_answer:
                    self._lose_answer, self.away = False, self._then_away
                    break
                target.sendall(data)
        _cut(source)
        _cut(target)


def _cut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
