"""What the owner of a database and those of its stores do: set up, look after, let people in."""

from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.core.record import StoreProblem
from workbench.store.entry import Level
from workbench.store.journal.codec import hash_of
from workbench.store.team.connection import SCHEMA, Server, is_local, read_address
from workbench.store.team.log import TeamLog, require_schema, schema_of

if TYPE_CHECKING:
    from psycopg import Connection

_OWNER = """
    select n.nspowner::regrole::text, n.nspowner in (current_user::regrole, d.datdba)
    from pg_namespace n, pg_database d where n.nspname = 'workbench' and d.datname = current_database()
"""
_RIGHTS = """
    select 'use of the schema' where not has_schema_privilege('workbench', 'usage')
    union all
    select 'select on ' || t from unnest('{migrations,stores,members,entries,blobs,indexes,items}'::text[]) t
    where not has_table_privilege('workbench.' || t, 'select')
    union all
    select 'execute of ' || p.proname from pg_proc p
    where p.pronamespace = 'workbench'::regnamespace and p.prosecdef
        and not has_function_privilege(p.oid, 'execute')
"""


class Member(NamedTuple):
    """A role that uses a store. One of agents acts as an agent, whatever it says."""

    role: str
    level: Level
    is_agent: bool


class Facts(NamedTuple):
    """How a store in a database is reached.

    `server` is the version of PostgreSQL; `user` the role that was asked for, and `me` the member
    that it is to the server: a pooler may make them two. `missing` are the rights that it lacks.
    `is_local` tells that the server is on this machine, `clock` how many seconds its clock is
    ahead.
    """

    server: str
    schema: int
    user: str
    me: Member
    members: tuple[Member, ...]
    missing: tuple[str, ...]
    is_encrypted: bool
    is_local: bool
    clock: float


def init(url: str, header: bytes) -> bool:
    """Bring the database up to date, and make the store of the address with the first line of its
    journal, owned by who connects. Tell whether it was made; one that is there stays.
    """
    server = Server(read_address(url))
    name = server.address.store

    def work(connection: "Connection[Any]") -> bool:
        with connection.transaction():
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise StoreProblem(
                    f"{server.address.shown} does not keep its texts in UTF-8.",
                    "Its owner makes one by `createdb --encoding UTF8 --template template0 NAME`.",
                )
            connection.execute("select pg_advisory_xact_lock(hashtext('memory-workbench'))")
            owner = connection.execute(_OWNER).fetchone()
            if owner is not None and not owner[1]:
                raise StoreProblem(
                    f"{server.address.shown}: its schema `workbench` was made by {owner[0]}, who could"
                    " act in your name.",
                    f"Nothing was changed; run this as {owner[0]} if that is right, or remove the"
                    " schema.",
                )
            before = 0 if owner is None else schema_of(server)
            for number in range(before + 1, SCHEMA + 1):
                script = files("workbench.store.team") / "sql" / f"{number:04d}.sql"
                connection.execute(script.read_bytes())
                connection.execute("insert into workbench.migrations values (%s)", (number,))
            require_schema(server)
            connection.execute("select workbench.prepare_vectors()")
            connection.execute("select workbench.allow(role) from workbench.members group by role")
            made = connection.execute(
                "insert into workbench.stores (name, header, start, hash) values (%s, %b, %s, %s)"
                " on conflict do nothing returning id",
                (name, header, hash_of(header[:-1]), hash_of(header[:-1])),
            ).fetchone()
            if made is not None:
                adding = "insert into workbench.members values (%s, session_user, 'owner', false)"
                connection.execute(adding, made)
                connection.execute("select workbench.allow(session_user)")
            return made is not None

    try:
        return server.run(work)
    finally:
        server.close()


def check(log: TeamLog) -> Facts:
    """Return how the store is reached."""
    import time

    def work(connection: "Connection[Any]") -> tuple[Any, ...]:
        before = time.time()
        row = connection.execute("select extract(epoch from clock_timestamp())::float8").fetchone()
        assert row is not None
        info = connection.info
        local = is_local(info.host)
        ahead = row[0] - (before + time.time()) / 2
        version = info.parameter_status("server_version") or ""
        return version, info.user, bool(info.pgconn.ssl_in_use), local, ahead

    version, user, encrypted, local, ahead = log.server.run(work)
    missing = tuple(right for (right,) in log.server.rows(_RIGHTS, ()))
    me = Member(log.role, log.level, log.is_agent)
    return Facts(version, SCHEMA, user, me, members(log), missing, encrypted, local, ahead)


def members(log: TeamLog) -> tuple[Member, ...]:
    found = log.server.rows("select * from workbench.list_members(%s)", (log.store,))
    return tuple(map(Member._make, found))


def set_member(log: TeamLog, member: Member) -> None:
    """Make a role of the server a member, or change what it may do; for owners."""
    query = "select workbench.set_member(%s, %s, %s::workbench.level, %s)"
    log.server.rows(query, (log.store, *member))


def remove_member(log: TeamLog, role: str) -> None:
    """Raises `StoreProblem` for who is none, and for the last owner."""
    if log.server.rows("select workbench.drop_member(%s, %s)", (log.store, role)) != [(True,)]:
        raise StoreProblem(f"{role} is no member of this store.", "Nothing was changed.")
