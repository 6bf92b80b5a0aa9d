"""The log of one store in a database, as one role sees it."""

from collections.abc import Collection, Iterator
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.core.record import StoreProblem, UnknownOutcome
from workbench.store.blobs import hash_of
from workbench.store.entry import Level
from workbench.store.log import Body, Clash, Entry, LogState, actor_of
from workbench.store.team.connection import SCHEMA, Server, read_address

if TYPE_CHECKING:
    from psycopg import Connection

_MOST, _MOST_BYTES = 2000, 8 << 20
"""Entries that go over the wire together; fewer where they have more bytes."""

_COMMIT = (
    "select * from workbench.commit(%s, %s, %s, %s, %s::workbench.level, %s, %s, %s::bigint[], %b)"
)
# Bound on both sides, since the server knows little of a table that was just filled.
_READ = """
    select rev, at, actor, kind, uid, body, hash, level from (
        select *, sum(length(body)) over (order by rev) - length(body) as before
        from workbench.entries where store = %s and rev > %s and rev <= %s
    ) few where before < %s order by rev
"""
_LOAD = """
    select workbench.load(
        %s, %s::text[], %s::text[], %s::text[], %s::text[], %b::bytea[], %s::text[]
    )
"""


def connect(url: str, known: "tuple[str, bool] | None" = None) -> "TeamLog":
    """Return the log of the store at `postgresql://…?store=NAME`; raises `StoreProblem`.

    With what is `known` of who connects, role and whether it is one of agents, that waits for what
    is asked first.
    """
    return TeamLog(Server(read_address(url)), known)


class _Membership(NamedTuple):
    store: int
    header: bytes
    role: str
    level: Level
    is_agent: bool


class TeamLog:
    """A `SharedLog`. `role` is who connected, `is_agent` tells whether the members of the store
    know it as one of agents.
    """

    def __init__(self, server: Server, known: "tuple[str, bool] | None" = None) -> None:
        self.server = server
        if known is None:
            known = self._membership.role, self._membership.is_agent
        self.role, self.is_agent = known

    @cached_property
    def store(self) -> int:
        """The number of the store in its database."""
        return self._membership.store

    @property
    def header(self) -> bytes:
        return self._membership.header

    @property
    def level(self) -> Level:
        return self._membership.level

    @cached_property
    def _membership(self) -> _Membership:
        require_schema(self.server)
        found = self.server.rows(
            "select s.name, s.id, s.header, m.role, m.level::text, m.is_agent"
            " from workbench.stores s join workbench.members m on m.store = s.id"
            " where m.role = session_user order by s.name",
            (),
        )
        wanted = self.server.address.store
        mine = next((row[1:] for row in found if row[0] == wanted), None)
        if mine is None:
            names = ", ".join(row[0] for row in found) or "none"
            me = self.server.rows("select session_user::text", ())[0][0]
            raise StoreProblem(
                f"There is no store {wanted} of which {me} is a member; its stores: {names}.",
                "Make one by `workbench store init`, or ask an owner to"
                " run `workbench store members add ROLE`.",
            )
        return _Membership(*mine)

    def close(self) -> None:
        self.server.close()

    def name(self, claim: str) -> str:
        return actor_of(claim, self.role, self.is_agent)

    def state(self) -> LogState:
        found = self.server.rows(
            "select rev, hash from workbench.stores where id = %s", (self.store,)
        )
        if not found:
            raise StoreProblem(
                f"{self.role} is no longer a member of this store.",
                "An owner runs `workbench store members add ROLE`.",
            )
        return LogState(*found[0])

    def append(self, seen: LogState, body: Body) -> Entry:
        said = (body.uid, body.claim, body.kind, body.needs, *seen)
        touched = sorted(map(_number, body.touched))
        ((rev, at, actor, kind, known, hash_, level, clash),) = self.server.rows(
            _COMMIT, (self.store, *said, touched, body.data), lost=UnknownOutcome
        )
        if clash is not None:
            raise Clash(clash)
        data = body.data if known is None else known
        return Entry(rev, at, actor, kind, body.uid, data, hash_, level)

    def read(self, after: int) -> Iterator[Entry]:
        last = self.state().rev
        while after < last:
            rows = self.server.rows(_READ, (self.store, after, after + _MOST, _MOST_BYTES))
            if not rows:
                return  # rewritten meanwhile
            yield from map(Entry._make, rows)
            after = rows[-1][0]

    def reserve(self, table: str, least: int, count: int) -> int:
        query = "select workbench.reserve(%s, %s, %s, %s)"
        first: int = self.server.rows(query, (self.store, table, least, count))[0][0]
        return first

    def rewrite(self, last: str, entries: Iterator[Entry]) -> None:
        def work(connection: "Connection[Any]") -> None:
            with connection.transaction():
                connection.execute("set local idle_in_transaction_session_timeout = '10s'")
                begin = "select workbench.begin_rewrite(%s, %s)"
                if connection.execute(begin, (self.store, last)).fetchone() != (True,):
                    raise Clash
                for some in _batches(entries):
                    columns = (list(column) for column in zip(*some, strict=True))
                    _, ats, actors, kinds, uids, bodies, _, levels = columns
                    values = (self.store, ats, actors, kinds, uids, bodies, levels)
                    connection.execute(_LOAD, values)

        self.state()  # a connection that was lost is found out before the entries are asked for
        self.server.run(work, lost=UnknownOutcome, again=False)

    def put_blob(self, data: bytes) -> str:
        name = hash_of(data)
        self.server.rows("select workbench.put_blob(%s, %s, %b)", (self.store, name, data))
        return name

    def get_blob(self, name: str) -> bytes | None:
        query = "select data from workbench.blobs where store = %s and hash = %s"
        found = self.server.rows(query, (self.store, name))
        return found[0][0] if found else None

    def blob_names(self) -> tuple[str, ...]:
        query = "select hash from workbench.blobs where store = %s order by hash"
        return tuple(name for (name,) in self.server.rows(query, (self.store,)))

    def drop_blobs(self, names: Collection[str]) -> None:
        query = "select workbench.drop_blobs(%s, %s::text[])"
        self.server.rows(query, (self.store, list(names)))


def require_schema(server: Server) -> None:
    """Raise `StoreProblem` unless the database has the tables that this version knows."""
    number = schema_of(server)
    if number > SCHEMA:
        raise StoreProblem(
            f"{server.address.shown} is of a newer workbench (schema {number}, this one reads"
            f" {SCHEMA}).",
            "Nothing was changed; upgrade memory-workbench to open it.",
        )
    if number < SCHEMA:
        raise StoreProblem(
            f"{server.address.shown} has schema {number}; this workbench needs {SCHEMA}.",
            "Whoever owns the database runs `workbench store init`.",
        )


def schema_of(server: Server) -> int:
    """Return the number of the last migration that was run; raises where there was none."""
    number: int = server.rows("select max(number) from workbench.migrations", ())[0][0]
    return number


def _number(name: str) -> int:
    """Return 64 bits that stand for a name, which the database might not take as text."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    some, size, rev = list[Entry](), 0, 0
    for entry in entries:
        if entry.rev != rev + 1:
            raise StoreProblem(
                f"Revision {rev + 1} is missing.", "Nothing was changed; see `workbench doctor`."
            )
        rev, size = entry.rev, size + len(entry.data)
        some.append(entry)
        if len(some) == _MOST or size > _MOST_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some
