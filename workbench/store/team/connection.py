"""The way to a database: its address, the connection, and what is said when something is wrong."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from socket import SHUT_RDWR, socket
from threading import RLock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import ref

from workbench.core.record import StoreProblem

if TYPE_CHECKING:
    from psycopg import Connection, Error

SCHEMA = 2
"""The number of the last migration in `sql/`."""

_OLDEST_SERVER = 14

_FORM = "An address is postgresql://ROLE@HOST/DATABASE?store=NAME."
_QUOTED = "Write @, : and / in a password as %40, %3A and %2F, or keep it in ~/.pgpass."
_HOST = r"(\[[^]]*\]|[^][:@]*)(:\d*)?"
_SERVER = re.compile(rf"([^@]*@)?{_HOST}(,{_HOST})*")
_STORE = re.compile(r"[?&]store=([^&]*)")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,63}")

_SETTINGS: dict[str, Any] = {
    "application_name": "memory-workbench",
    "client_encoding": "utf8",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

_SAY_SSLMODE = ("PGSSLMODE", "PGSERVICE")
"""What in the surroundings may say how to encrypt, where the address does not."""

_SLOW_S, _PAUSE_S = 1.0, 20.0
"""An attempt to connect that failed after more than so many seconds is not repeated for so many."""

_PATIENCE_S = 8.0
"""Seconds within which a statement is answered; the longest wait for a lock is shorter."""

_T = TypeVar("_T")


class Address(NamedTuple):
    """Where a store is: the database's URL, and the store's name in it.

    `shown` is without password and parameters.
    """

    url: str
    store: str
    shown: str


def read_address(text: str) -> Address:
    """Read `postgresql://…?store=NAME`; raises `StoreProblem`, without what might be a password."""
    scheme, _, rest = text.partition("://")
    server, _, database = rest.partition("/")
    if scheme not in ("postgresql", "postgres"):
        raise StoreProblem("This is no address of a database.", _FORM)
    server, _, options = server.partition("?")
    database, _, more = database.partition("?")
    if not _SERVER.fullmatch(server) or "@" in database + options:
        raise StoreProblem("The address of the database cannot be read.", _QUOTED)
    found = _STORE.search(f"?{options or more}")
    name = found[1] if found else "main"
    if not _NAME.fullmatch(name):
        raise StoreProblem("The name of the store cannot be read.", _FORM)
    role, at, hosts = server.rpartition("@")
    shown = f"{scheme}://{role.partition(':')[0]}{at}{hosts}/{database}?store={name}"
    url = _STORE.sub(lambda match: match[0][0], text).replace("?&", "?").rstrip("?&")
    return Address(url, name, shown)


def is_local(host: str) -> bool:
    """Tell whether a server is on this machine: by its socket, or by its address."""
    try:
        return host in ("", "localhost") or host[0] in "/@" or ip_address(host).is_loopback
    except ValueError:
        return False


class Server:
    """A connection to a database that is made when it is needed, and once more when it was lost.

    Threads take turns. Raises `StoreProblem`.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._turn = RLock()
        self._connection: Connection[Any] | None = None
        self._failed: StoreProblem | None = None
        self._again_at = 0.0
        self._asked_at: float | None = None

    def run(
        self,
        work: Callable[["Connection[Any]"], _T],
        lost: type[StoreProblem] = StoreProblem,
        again: bool = True,
    ) -> _T:
        """Do some work on the connection, which commits each statement by itself; when that breaks,
        once more on a new one, unless `again` is false. Raises `lost` when there is no telling
        whether it was done.
        """
        with self._turn:
            connection = self._connected()
            import psycopg

            try:
                return work(connection)
            except psycopg.Error as error:
                if not connection.closed:
                    raise self._problem(error) from error
            try:
                if again:
                    return work(self._connected())
            except psycopg.Error as error:
                if self._connection is not None and not self._connection.closed:
                    raise self._problem(error) from error
            except StoreProblem:
                if lost is StoreProblem:
                    raise
            raise lost(
                f"The connection to {self.address.shown} was lost.",
                "Try again."
                if lost is StoreProblem
                else "The change may be stored or not; look before you repeat it.",
            )

    def rows(
        self, query: str, values: Sequence[object], lost: type[StoreProblem] = StoreProblem
    ) -> list[tuple[Any, ...]]:
        """Return what one statement answers; a server that says nothing for long counts as gone."""

        def work(connection: "Connection[Any]") -> list[tuple[Any, ...]]:
            self._asked_at = monotonic()
            try:
                return connection.cursor(binary=True).execute(query, values).fetchall()
            finally:
                self._asked_at = None

        return self.run(work, lost)

    @property
    def is_unanswered(self) -> bool:
        """Whether a statement waits for its answer for too long."""
        asked_at = self._asked_at
        return asked_at is not None and monotonic() - asked_at > _PATIENCE_S

    def close(self) -> None:
        with self._turn:
            if self._connection is not None:
                self._connection.close()

    def _connected(self) -> "Connection[Any]":
        if self._connection is not None and not self._connection.closed:
            return self._connection
        begun = monotonic()
        if self._failed is not None and begun < self._again_at:
            raise self._failed.with_traceback(None)
        try:
            self._connection = connection = self._connect()
            Thread(target=_watch, args=(ref(self), ref(connection)), daemon=True).start()
        except StoreProblem as problem:
            if monotonic() - begun > _SLOW_S:
                self._failed, self._again_at = problem, monotonic() + _PAUSE_S
            raise
        return self._connection

    def _connect(self) -> "Connection[Any]":
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            raise StoreProblem(
                "A store in a database needs psycopg, which is not installed.",
                "Install it: pip install 'memory-workbench[team]'.",
            ) from error
        # What libpq says of an address may hold a password: it is neither shown nor chained.
        try:
            given = conninfo_to_dict(self.address.url)
        except psycopg.Error:
            raise StoreProblem("The address of the database cannot be read.", _FORM) from None
        settings: dict[str, Any] = {**_SETTINGS, **given}
        hosts = set(str(given.get("host") or os.environ.get("PGHOST", "")).split(","))
        if not (all(map(is_local, hosts)) or any(map(os.environ.get, _SAY_SSLMODE))):
            settings.setdefault("sslmode", "require")
        try:
            connection = psycopg.connect(autocommit=True, prepare_threshold=None, **settings)
        except psycopg.Error as error:
            raise self._unconnected(str(error)) from None
        if connection.info.server_version < _OLDEST_SERVER * 10_000:
            connection.close()
            raise StoreProblem(
                f"{self.address.shown} is PostgreSQL {connection.info.server_version // 10_000}.",
                f"The workbench needs {_OLDEST_SERVER} or newer.",
            )
        return connection

    def _unconnected(self, said: str) -> StoreProblem:
        for words, message, hint in _UNCONNECTED:
            if re.search(words, said):
                return StoreProblem(f"{self.address.shown}: {message}", hint)
        _, fatal, reason = said.rpartition("FATAL:")
        if fatal:  # of the server, which knows no password
            return StoreProblem(f"{self.address.shown} refused: {reason.strip()}", "Ask its owner.")
        return StoreProblem(
            f"{self.address.shown} cannot be reached.",
            "See whether the server runs, and whether host and port are right.",
        )

    def _problem(self, error: "Error") -> StoreProblem:
        """Return what is wrong where the server refused a statement."""
        state, said = error.sqlstate or "", error.diag.message_primary or type(error).__name__
        if state.startswith("WB"):
            return StoreProblem(said, error.diag.message_hint or "")
        return StoreProblem(
            *_REFUSED.get(state, (f"The database refused: {said}.", "Nothing was changed."))
        )


_PGPASS = "Put it into ~/.pgpass as HOST:PORT:DATABASE:ROLE:PASSWORD, for its reader only (0600)."
_INIT = "Whoever owns the database runs `workbench store init`."

_UNCONNECTED = (
    (r"no password supplied", "the server asks for a password.", _PGPASS),
    (r"password authentication failed", "the server refused the password.", _PGPASS),
    (
        r'database ".*" does not exist',
        "there is no such database.",
        "See whether its name is right; its owner makes one by `createdb`.",
    ),
    (
        r'role ".*" does not exist',
        "the server knows no such role.",
        "Its owner makes one by CREATE ROLE … LOGIN.",
    ),
    (
        r"does not support SSL",
        "the server takes no encrypted connections.",
        "Ask its owner for them; sslmode=disable in the address goes without.",
    ),
    (
        r"no pg_hba.conf entry|authentication failed|SSL|certificate",
        "the server refused this way of connecting.",
        "Give host and sslmode=require in the address, or ask its owner for an entry in"
        " pg_hba.conf.",
    ),
    (
        r"too many|connection slots",
        "the server has no connection left.",
        "Try again later; a pooler helps where many connect.",
    ),
)
"""What libpq says (in part), and what a person is told."""

_UNKNOWN = "The database holds no workbench stores that this version can read."
_RIGHTS = (
    "An owner of the store runs `workbench store members add ROLE`; for `store init`, the owner of"
    " the database runs GRANT CREATE ON DATABASE … TO ROLE."
)

_REFUSED = {
    "3F000": (_UNKNOWN, _INIT),
    "42P01": (_UNKNOWN, _INIT),
    "42883": (_UNKNOWN, _INIT),
    "42501": ("The role may not do this in the database.", _RIGHTS),
    "55P03": ("Somebody else keeps the store busy.", "Nothing was changed; try again."),
    "25006": ("The server only reads: it is a copy.", "Use the address of the one that writes."),
    "23514": ("That is no name for a member.", "Nothing was changed; use a role without / and :."),
    "53100": ("The disk of the server is full.", "Nothing was changed; tell its owner."),
    "42704": ("The server knows no such role.", "Its owner makes one by CREATE ROLE … LOGIN."),
}
"""SQLSTATE, and what a person is told."""


def _watch(server: "ref[Server]", connection: "ref[Connection[Any]]") -> None:
    """Cut a connection on which nothing is answered, until somebody closes or forgets it."""
    while True:
        sleep(1)
        asking, way = server(), connection()
        if asking is None or way is None or way.closed:
            return
        if asking.is_unanswered:
            with suppress(OSError), socket(fileno=os.dup(way.fileno())) as line:
                line.shutdown(SHUT_RDWR)
            return
        del asking, way
