"""A store in a PostgreSQL database: who may do what, what is lost when it breaks, what is said."""

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.builders.cutting import Way
from tests.builders.postgres import KEEPER, PASSWORD, Postgres, postgres, without_password
from workbench.config import paths
from workbench.core.record import StoreProblem, UnknownOutcome
from workbench.services.team.admin import check
from workbench.store.blobs import BlobProblem, Blobs, hash_of
from workbench.store.entry import new_uid
from workbench.store.journal import codec, segments
from workbench.store.log import Body, Clash, Entry, hash_after
from workbench.store.team import admin, connection
from workbench.store.team.connection import SCHEMA, is_local, read_address
from workbench.store.team.log import connect

DATA = b'"label":"","changes":[]'


@pytest.fixture
def server() -> Postgres:
    return postgres()


@pytest.fixture
def store(server: Postgres) -> str:
    return server.new_store()


@pytest.fixture
def database(server: Postgres) -> Iterator[str]:
    """Make another database, in which there is nothing."""
    name = f"{server.database}_new"
    server.admin.execute(f"create database {name} owner {KEEPER} template template0".encode())
    yield name
    server.admin.execute(f"drop database {name} with (force)".encode())


@pytest.fixture
def way(server: Postgres) -> Iterator[Way]:
    way = Way(server)
    yield way
    way.close()


def body(*touched: str) -> Body:
    return Body(new_uid(), "human", "edit", touched, DATA)


def header() -> bytes:
    return codec.seal(segments.header(0, segments.new_store_id()), codec.START)


# Who may do what.


@pytest.fixture
def sql(server: Postgres, store: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Return a connection of bob, a writer of the store, as a client such as psql has it."""
    with psycopg.connect(
        server.add(store, "bob", "writer").replace(f"store={store}", "application_name=psql"),
        autocommit=True,
    ) as connection:
        yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "insert into workbench.entries values (1, 1, '', 'human:ann', 'edit', 'u', null, '', '')",
        "update workbench.entries set body = ''",
        "delete from workbench.entries",
        "update workbench.stores set rev = 0",
        "update workbench.members set level = 'owner'",
        "insert into workbench.members values (1, 'bob', 'owner', false)",
        "insert into workbench.blobs values (1, '', '')",
        "update workbench.counters set next = 1",
        "insert into workbench.migrations values (99)",
        "select * from workbench.counters",
        "truncate workbench.entries",
        "drop table workbench.entries",
        "alter table workbench.entries disable row level security",
        "create table workbench.mine ()",
        "create or replace function workbench.member(int, workbench.level)"
        " returns workbench.members language sql as 'select 1'",
        "select workbench.allow('bob')",
        "select workbench.add_entry(s, '', 'human:ann', 'edit', 'u', 'owner', null, '')"
        " from workbench.stores s",
        "set role ann",
        "set session authorization ann",
        f"set role {KEEPER}",
        "select workbench.set_member({store}, 'bob', 'owner', false)",
        "select workbench.drop_member({store}, 'ann')",
        "select workbench.begin_rewrite({store}, (select hash from workbench.stores where id = {store}))",
        "select workbench.load({store}, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}')",
        "select workbench.drop_blobs({store}, '{{}}')",
        "delete from workbench.indexes",
        "insert into workbench.vectors values ({store}, '', '', null)",
        "select workbench.begin_index({store}, 0, '', '')",
        "select workbench.add_vectors({store}, '', '{{}}', '{{}}')",
        "select workbench.drop_vectors({store}, '', '{{}}')",
        "select workbench.add_items({store}, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}',"
        " '{{}}', '{{}}', '{{}}')",
        "select workbench.prepare_vectors()",
        "select workbench.commit({store}, 'u', 'human', 'edit', 'reviewer', 0,"
        " (select hash from workbench.stores where id = {store}), '{{}}', '')",
    ],
)
def test_a_writer_with_another_client_does_what_a_writer_may(
    server: Postgres, store: str, sql: "psycopg.Connection[tuple[object, ...]]", statement: str
) -> None:
    ann = server.log(store)
    entry = ann.append(ann.state(), body())
    members = admin.members(ann)
    with pytest.raises(psycopg.Error) as refused:
        sql.execute(statement.format(store=ann.store).encode())
    assert refused.value.sqlstate in ("42501", "WB001")
    assert list(ann.read(0)) == [entry]
    assert admin.members(ann) == members


def test_a_writer_with_another_client_cannot_take_another_name(
    server: Postgres, store: str, sql: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    ann = server.log(store)
    sql.execute("create temp table members as select * from workbench.members")
    sql.execute("update pg_temp.members set role = 'ann', level = 'owner'")
    sql.execute(
        "create function pg_temp.session_user() returns text language sql as $$select 'ann'$$"
    )
    sql.execute("set search_path = pg_temp, workbench")
    sql.execute(
        "select workbench.commit(%s, 'u', 'human:ann', 'edit', 'writer', 0, %s, '{}', %s)",
        (ann.store, ann.state().hash, DATA),
    )
    assert [entry.actor for entry in ann.read(0)] == ["human:bob"]


@pytest.mark.parametrize(
    "said",
    [
        "select workbench.commit({store}, 'u', 'human', 'edit', 'writer', 0, {hash}, null, {body})",
        "select workbench.commit({store}, null, 'human', 'edit', 'writer', 0, {hash}, '{{}}', {body})",
        "select workbench.commit({store}, 'u', null, 'edit', 'writer', 0, {hash}, '{{}}', {body})",
        "select workbench.commit({store}, 'u', 'human', null, 'writer', 0, {hash}, '{{}}', {body})",
        "select workbench.commit({store}, 'u', 'human', 'edit', 'writer', 0, {hash}, '{{}}', null)",
        "select workbench.reserve({store}, null, 1, 1)",
        "select workbench.reserve({store}, 'memories', null, 1)",
        "select workbench.reserve({store}, 'memories', 1, null)",
        "select workbench.put_blob({store}, null, '')",
        "select workbench.put_blob({store}, '../x', '')",
        "select workbench.put_blob({store}, 'abc', '')",
        "select workbench.put_blob({store}, repeat('a', 40), null)",
        "select workbench.put_blob({store}, repeat('a', 40), (repeat('a', 67108865))::bytea)",
    ],
)
def test_what_says_too_little_or_too_much_is_refused(
    server: Postgres, store: str, sql: "psycopg.Connection[tuple[object, ...]]", said: str
) -> None:
    ann = server.log(store)
    empty = ann.state()
    words = {"hash": f"'{empty.hash}'", "body": f"'{DATA.decode()}'"}
    with pytest.raises(psycopg.Error) as refused:
        sql.execute(said.format(store=ann.store, **words).encode())
    assert refused.value.sqlstate == "WB003"
    assert (ann.state(), ann.blob_names()) == (empty, ())


def test_wrong_bytes_under_a_name_are_replaced_by_an_owner(
    server: Postgres, store: str, sql: "psycopg.Connection[tuple[object, ...]]", tmp_path: Path
) -> None:
    ann, bob = server.log(store), server.log(store, "carl", "reviewer")
    name = hash_of(b"right")
    sql.execute("select workbench.put_blob(%s, %s, 'wrong')", (ann.store, name))
    with pytest.raises(BlobProblem):
        Blobs(tmp_path, bob).read(name)
    bob.put_blob(b"right")
    assert ann.get_blob(name) == b"wrong"
    ann.put_blob(b"right")
    sql.execute("select workbench.put_blob(%s, %s, 'wrong')", (ann.store, name))
    assert Blobs(tmp_path, bob).read(name) == b"right"


def test_a_client_asleep_in_its_transaction_is_disconnected(
    server: Postgres, store: str, sql: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    ann = server.log(store)
    said = (ann.store, ann.state().hash, DATA)
    sql.autocommit = False
    sql.execute(
        "select workbench.commit(%s, 'u', 'human', 'edit', 'writer', 0, %s, '{}', %s)", said
    )
    shown = "show idle_in_transaction_session_timeout"
    assert sql.execute(shown).fetchall() == [("10s",)]
    sql.rollback()
    assert sql.execute(shown).fetchall() == [("0",)]


def test_an_agent_is_no_person(server: Postgres, store: str) -> None:
    agent = server.log(store, "ann_agent", "writer", is_agent=True)
    assert agent.append(agent.state(), body()).actor == "agent:ann_agent/human"


def test_what_is_in_other_stores_is_not_seen(server: Postgres, store: str) -> None:
    other = server.new_store()
    ann, bob = server.log(store, "ann"), server.log(other, "bob", "writer")
    ann.append(ann.state(), body())
    ann.put_blob(b"data")
    with psycopg.connect(server.url("bob"), autocommit=True) as sql:
        for table in ("entries", "blobs"):
            query = f"select from workbench.{table} where store = {ann.store}"
            assert sql.execute(query.encode()).fetchall() == []
        seen = sql.execute("select name from workbench.stores").fetchall()
        assert (store,) not in seen
        assert (other,) in seen
    bob.store = ann.store
    with pytest.raises(StoreProblem):
        bob.append(ann.state(), body())
    with pytest.raises(StoreProblem):
        bob.state()
    with pytest.raises(StoreProblem):
        admin.members(bob)


def test_members_come_and_go(server: Postgres, store: str) -> None:
    keeper = connect(server.url(KEEPER, store))
    server.add(store, "ann", "reviewer")
    admin.set_member(keeper, admin.Member("ann", "writer", False))
    server.add(store, "ann_agent", "writer", is_agent=True)
    assert admin.members(keeper) == (
        admin.Member("ann", "writer", False),
        admin.Member("ann_agent", "writer", True),
        admin.Member(KEEPER, "owner", False),
    )
    ann = connect(server.url("ann", store))
    changes: list[Callable[[], None]] = [
        lambda: admin.set_member(ann, admin.Member("ann", "owner", False)),
        lambda: admin.remove_member(ann, KEEPER),
        lambda: admin.remove_member(keeper, "nobody"),
        lambda: admin.set_member(keeper, admin.Member("wb_nobody", "writer", False)),
        lambda: admin.set_member(keeper, admin.Member("a/b", "writer", False)),
        lambda: admin.set_member(keeper, admin.Member("public", "reader", False)),
        lambda: admin.remove_member(keeper, KEEPER),
        lambda: admin.set_member(keeper, admin.Member(KEEPER, "writer", False)),
    ]
    for change in changes:
        with pytest.raises(StoreProblem):
            change()
    assert len(admin.members(keeper)) == 3
    admin.remove_member(keeper, "ann")
    for use in (ann.state, lambda: list(ann.read(0)), lambda: connect(server.url("ann", store))):
        with pytest.raises(StoreProblem):
            use()
    server.add(store, "ann")
    assert connect(server.url("ann", store)).append(ann.state(), body()).actor == "human:ann"
    admin.remove_member(keeper, KEEPER)
    with pytest.raises(StoreProblem):
        keeper.append(ann.state(), body())
    assert server.new_store()  # whoever owns the tables has kept all rights


# What breaks.


def test_an_entry_whose_answer_was_lost_is_there_once(
    server: Postgres, store: str, way: Way
) -> None:
    server.add(store, "ann")
    log = connect(way.url("ann", store))
    seen = log.state()
    for n in range(1, 6):
        way.lose_next_answer()
        assert log.append(seen, body(f"memories/{n}")).rev == n
    assert log.state().rev == 5


def test_an_entry_of_which_nothing_is_known_can_be_said_again(
    server: Postgres, store: str, way: Way
) -> None:
    server.add(store, "ann")
    log, said = connect(way.url("ann", store)), body("memories/1")
    seen = log.state()
    way.lose_next_answer(then_away=True)
    with pytest.raises(UnknownOutcome):
        log.append(seen, said)
    with pytest.raises(StoreProblem):
        log.state()
    way.away = False
    assert log.append(seen, said).rev == 1
    assert log.state().rev == 1


def backend(server: Postgres) -> list[int]:
    """Return the processes of the server that serve ann."""
    found = server.admin.execute(
        "select pid from pg_stat_activity where usename = 'ann' and datname = %s",
        (server.database,),
    )
    return [row[0] for row in found]


def end_backends(server: Postgres) -> None:
    for pid in backend(server):
        server.admin.execute("select pg_terminate_backend(%s, 5000)", (pid,))


def test_a_connection_that_was_lost_comes_back_by_itself(server: Postgres, store: str) -> None:
    log = server.log(store)
    for use in (
        lambda: log.state().rev,
        lambda: log.append(log.state(), body()),
        lambda: list(log.read(0)),
        lambda: log.reserve("memories", 1, 1),
        lambda: log.put_blob(b""),
        lambda: log.rewrite(log.state().hash, iter(())),
    ):
        end_backends(server)
        use()


def test_an_entry_that_waits_when_its_connection_ends_is_there_once(
    server: Postgres, store: str
) -> None:
    log = server.log(store)
    seen = log.state()
    with ThreadPoolExecutor(1) as pool:
        with psycopg.connect(server.url(KEEPER)) as holder:
            holder.execute("select from workbench.stores where name = %s for update", (store,))
            added = pool.submit(log.append, seen, body("memories/1"))
            waiting = (
                "select from pg_stat_activity where usename = 'ann' and wait_event_type = 'Lock'"
            )
            while not server.admin.execute(waiting).fetchall():
                time.sleep(0.01)
            end_backends(server)
        assert added.result().rev == 1
    assert log.state().rev == 1


def test_killed_writers_lose_nothing_that_was_acknowledged(server: Postgres, store: str) -> None:
    log, done = server.log(store), threading.Event()
    seen = log.state()

    def kill() -> None:
        with psycopg.connect(server.url_of_server, autocommit=True) as admin_:
            while not done.wait(0.005):
                admin_.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where usename = 'ann' and datname = %s",
                    (server.database,),
                )

    killer = threading.Thread(target=kill)
    killer.start()
    said, known = [body() for _ in range(200)], dict[str, Entry]()
    try:
        for one in said:
            while one.uid not in known:
                try:
                    known[one.uid] = log.append(seen, one)
                except StoreProblem:
                    continue
    finally:
        done.set()
        killer.join()
    assert list(log.read(0)) == [known[one.uid] for one in said]


def test_a_rewrite_that_is_cut_changes_nothing(server: Postgres, store: str) -> None:
    log = server.log(store)
    entry = log.append(log.state(), body())

    def entries() -> Iterator[Entry]:
        yield entry
        end_backends(server)

    with pytest.raises(UnknownOutcome):
        log.rewrite(entry.hash, entries())
    assert list(log.read(0)) == [entry]


@pytest.mark.slow
def test_a_store_that_somebody_keeps_busy_is_said_to_be(server: Postgres, store: str) -> None:
    log = server.log(store)
    with psycopg.connect(server.url(KEEPER)) as holder:
        holder.execute("select from workbench.stores where name = %s for update", (store,))
        with pytest.raises(StoreProblem, match="busy"):
            log.append(log.state(), body())
    assert log.append(log.state(), body()).rev == 1


# How much.


def test_many_entries_are_taken_over_as_they_are(server: Postgres, store: str) -> None:
    log = server.log(store)
    prev, entries = log.state().hash, list[Entry]()
    for n in range(1, 20_001):
        data = b'"label":"%d \x00 \\ud800","changes":[]' % n
        entry = Entry(n, "2020-01-01T00:00:00Z", "agent:cläude", "edit", f"{n:016x}", data, "")
        prev = hash_after(entry, prev)
        entries.append(entry._replace(hash=prev))
    log.rewrite(log.state().hash, iter(entries))
    assert log.state() == (20_000, prev)
    assert list(log.read(0)) == entries


def test_adding_to_many_entries_reads_few(server: Postgres, database: str) -> None:
    """Also on a connection that has planned how when there were none."""
    if server.admin.info.server_version < 15_00_00:
        pytest.skip("the server does not tell what it has just read")
    url = server.url(KEEPER, "main", database)
    admin.init(url, header())
    log, other = connect(url), connect(url)
    entries = [log.append(log.state(), body(f"memories/{n}")) for n in range(20)]
    many = [entries[0]._replace(rev=n, uid=f"{n:016x}") for n in range(1, 10_001)]
    other.rewrite(log.state().hash, iter(many))
    seen = log.state()
    for n in range(20):
        log.append(seen, body(f"memories/{n}"))
    for one in (log, other):
        one.server.rows("select pg_stat_force_next_flush()", ())
    ((read,),) = connect(url).server.rows(
        "select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i"
        " where i.relid = t.relid)::bigint"
        " from pg_stat_user_tables t where relid = 'workbench.entries'::regclass",
        (),
    )
    assert 0 < read < 1000


def test_large_entries_are_read_a_few_at_a_time(server: Postgres, store: str) -> None:
    log = server.log(store)
    large = [
        Body(new_uid(), "cli", "edit", (), b'"label":"%s","changes":[]' % (b"x" * 5_000_000))
        for _ in range(5)
    ]
    added = [log.append(log.state(), one) for one in large]
    assert list(log.read(0)) == added
    log.rewrite(added[-1].hash, iter(added))
    assert list(log.read(0)) == added


# What is said.


def test_a_database_is_set_up_once(server: Postgres, database: str) -> None:
    urls = [server.url(KEEPER, store, database) for store in ("one", "two", "one", "two")]
    with pytest.raises(StoreProblem, match="store init"):
        connect(urls[0])
    with ThreadPoolExecutor(4) as pool:
        made = sorted(pool.map(lambda url: admin.init(url, header()), urls))
    assert made == [False, False, True, True]
    first = connect(urls[0])
    assert first.header != connect(urls[1]).header
    assert not admin.init(urls[0], header())
    assert connect(urls[0]).header == first.header
    with psycopg.connect(server.url(KEEPER, "", database)) as sql:
        sql.execute("insert into workbench.migrations values (%s)", (SCHEMA + 1,))
    for use in (lambda: connect(urls[0]), lambda: admin.init(urls[0], header())):
        with pytest.raises(StoreProblem, match="newer"):
            use()


def test_a_schema_of_somebody_else_is_not_used(server: Postgres, database: str) -> None:
    """Its functions and triggers would act in the name of who makes a store in it."""
    for role in ("bob", "carl"):
        server.make_role(role)
        server.admin.execute(f"grant create on database {database} to {role}".encode())
    assert admin.init(server.url("bob", "one", database), header())
    for role in ("carl", KEEPER):
        with pytest.raises(StoreProblem, match="bob"):
            admin.init(server.url(role, "two", database), header())
    assert admin.init(server.url("bob", "two", database), header())
    assert not admin.init(server.url("bob", "two", database), header())


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("", True),
        ("/var/run/postgresql", True),
        ("@sockets", True),
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("127.example.org", False),
        ("localhost.example.org", False),
        ("::12", False),
        ("10.0.0.1", False),
        ("db", False),
    ],
)
def test_a_server_elsewhere_is_not_taken_for_a_local_one(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_how_a_store_is_reached(server: Postgres, store: str) -> None:
    server.add(store, "bob", "writer")
    log = server.log(store)
    facts = admin.check(log)
    assert (facts.user, facts.me) == ("ann", admin.Member("ann", "owner", False))
    assert facts.me in facts.members
    assert admin.Member("bob", "writer", False) in facts.members
    assert facts.missing == ()
    assert facts.schema == SCHEMA
    assert abs(facts.clock) < 3600
    with psycopg.connect(server.url(KEEPER), autocommit=True) as sql:
        sql.execute("revoke execute on function workbench.commit from ann")
        sql.execute("revoke select on workbench.blobs from ann")
    facts = admin.check(log)
    assert len(facts.missing) == 2
    server.add(store, "ann")
    assert admin.check(log).missing == ()


def test_a_pooler_that_makes_everybody_one_is_noticed(
    server: Postgres, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for role in ("ann", "bob", "wb_pool"):
        server.add(store, role, "writer")
    with closing(Way(server, pool="wb_pool")) as way:
        for role in ("ann", "bob"):
            log = connect(way.url(role, store))
            facts = admin.check(log)
            assert (facts.user, facts.me.role) == (role, "wb_pool")
            assert log.append(log.state(), body()).actor == "human:wb_pool"
        _, problems = check(paths.team_copy(without_password(way.url("ann", store))))
        assert any("ann" in said and "wb_pool" in said for said in problems)
        other = server.new_store()
        server.add(other, "ann")
        with pytest.raises(StoreProblem, match="wb_pool"):
            connect(way.url("ann", other))


def test_every_problem_is_told_without_the_password(
    server: Postgres, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.make_role("wb_stranger")
    server.add(server.new_store(), "bob", "writer")
    good = server.url("ann", store)
    urls = {
        "a member of no store": server.url("wb_stranger", store),
        "a member of another store": server.url("bob", store),
        "no such store": server.url(KEEPER, "no-such-store"),
        "no such database": server.url("ann", store, "no_such_database"),
        "no such role": server.url("wb_nobody", store),
        "no server": f"postgresql://ann:{PASSWORD}@127.0.0.1:1/x",
        "no host": f"postgresql://ann:{PASSWORD}@no-such-host.invalid/x",
        "no socket": f"postgresql://ann:{PASSWORD}@/x?host=/no/such/folder",
        "a bad option": f"{good}&{PASSWORD}=1",
        "a bad port": f"postgresql://ann:{PASSWORD}/x@127.0.0.1/x",
        "a bad password": f"postgresql://ann:{PASSWORD}@x@127.0.0.1:1/x",
        "a question mark": f"postgresql://ann:1?{PASSWORD}@127.0.0.1:1/x",
        "another slash": f"postgresql://ann:{PASSWORD}/x",
        "a bad name": f"postgresql://ann:{PASSWORD}@127.0.0.1:1/x?store=a/b",
        "another scheme": f"mysql://ann:{PASSWORD}@127.0.0.1/x",
        "a bad quote": f"postgresql://ann:{PASSWORD}%zz@127.0.0.1:1/x",
    }
    said = dict[str, str]()
    for what, url in urls.items():
        with pytest.raises(StoreProblem) as told:
            connect(url)
        assert told.value.hint, what
        said[what] = f"{told.value} {''.join(traceback.format_exception(told.value))}"
        assert PASSWORD not in str(told.value), what
        assert all(PASSWORD not in str(one) for one in _causes(told.value)), what
    assert "no-such-store" in said["no such store"]
    assert store in said["no such store"]
    assert "members add" in said["a member of no store"]
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreProblem, match=r"\[team\]"):
        connect(good)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_a_wrong_password_is_said_to_be_one(server: Postgres, store: str) -> None:
    server.add(store, "wb_locked", "writer")
    server.add(store, "wb_peer", "writer")
    try:
        server.write_rule("local all wb_peer peer")
        server.write_rule("local all wb_locked scram-sha-256")
    except OSError:
        pytest.skip("the server's rules cannot be changed from here")
    wrong = server.url("wb_locked", store).replace(PASSWORD, "wrong-secret")
    none = server.url("wb_locked", store).replace(f":{PASSWORD}", "")
    for url in (wrong, none):
        with pytest.raises(StoreProblem, match="password") as told:
            connect(url)
        assert "pgpass" in told.value.hint
        assert "wrong-secret" not in "".join(traceback.format_exception(told.value))
    assert connect(server.url("wb_locked", store)).role == "wb_locked"
    with pytest.raises(StoreProblem, match="way of connecting"):
        connect(server.url("wb_peer", store))


@pytest.mark.parametrize(
    ("text", "url", "store", "shown"),
    [
        (
            "postgresql://ann:pw@db.example:5432/team?store=notes&sslmode=require",
            "postgresql://ann:pw@db.example:5432/team?&sslmode=require",
            "notes",
            "postgresql://ann@db.example:5432/team?store=notes",
        ),
        (
            "postgresql://db/team?sslmode=require&store=notes",
            "postgresql://db/team?sslmode=require",
            "notes",
            "postgresql://db/team?store=notes",
        ),
        ("postgres://db/team", "postgres://db/team", "main", "postgres://db/team?store=main"),
        (
            "postgresql:///?service=team",
            "postgresql:///?service=team",
            "main",
            "postgresql:///?store=main",
        ),
        (
            "postgresql://?service=team&store=x",
            "postgresql://?service=team",
            "x",
            "postgresql:///?store=x",
        ),
    ],
)
def test_an_address_is_read(text: str, url: str, store: str, shown: str) -> None:
    address = read_address(text)
    assert (address.url.replace("?&", "?"), address.store, address.shown) == (
        url.replace("?&", "?"),
        store,
        shown,
    )
    psycopg.conninfo.conninfo_to_dict(address.url)


def test_a_clash_after_a_lost_connection_is_a_clash(server: Postgres, store: str) -> None:
    ann, bob = server.log(store), server.log(store, "bob", "writer")
    seen = ann.state()
    bob.append(seen, body("memories/1"))
    end_backends(server)
    with pytest.raises(Clash):
        ann.append(seen, body("memories/1"))


def test_a_server_that_hangs_counts_as_gone(
    server: Postgres, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = server.log(store)
    monkeypatch.setattr(connection, "_PATIENCE_S", 0.2)
    with pytest.raises(StoreProblem):
        log.server.rows("select pg_sleep(20)", ())
    monkeypatch.undo()
    assert log.state().rev == 0
