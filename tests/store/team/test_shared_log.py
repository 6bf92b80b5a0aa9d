"""What every log that machines share does, whatever it is kept in."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import pytest

from tests.builders.memory_log import MemoryLog, Shared
from tests.builders.postgres import postgres
from workbench.core.record import StoreProblem, iso, parse_time
from workbench.store.blobs import hash_of
from workbench.store.entry import Kind, Level, new_uid
from workbench.store.journal import codec
from workbench.store.log import Body, Clash, Entry, SharedLog, hash_after, line_of
from workbench.store.team.log import TeamLog

DATA = b'"label":"","changes":[]'


class Connect(Protocol):
    """Return the log as somebody sees it who connects in a role; one log for all of a test."""

    def __call__(
        self, role: str = "ann", level: Level = "owner", is_agent: bool = False
    ) -> SharedLog: ...


@pytest.fixture(params=["memory", "database"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    if request.param == "memory":
        shared = Shared()
        yield lambda role="ann", level="owner", is_agent=False: MemoryLog(
            shared, role, level, is_agent
        )
        return
    server = postgres()
    store, logs = server.new_store(), list[TeamLog]()

    def connect(role: str = "ann", level: Level = "owner", is_agent: bool = False) -> TeamLog:
        logs.append(server.log(store, role, level, is_agent))
        return logs[-1]

    yield connect
    for log in logs:
        log.close()


def body(*touched: str, claim: str = "human", data: bytes = DATA, needs: Level = "writer") -> Body:
    return Body(new_uid(), claim, "edit", touched, data, needs)


def start(log: SharedLog) -> str:
    return codec.hash_of(log.header[:-1])


def chained(log: SharedLog, entries: list[Entry]) -> bool:
    """Tell whether entries are a whole journal, each line sealed as the journal's own would be."""
    prev = start(log)
    for rev, entry in enumerate(entries, 1):
        line, seal = codec.read_line(line_of(entry, prev)[:-1])
        if (entry.rev, line["rev"], seal.prev, seal.hash) != (rev, rev, prev, entry.hash):
            return False
        prev = hash_after(entry, prev)
    return True


def test_an_empty_log_ends_with_its_header(connect: Connect) -> None:
    log = connect()
    assert log.state() == (0, start(log))
    assert list(log.read(0)) == []


def test_an_entry_is_numbered_dated_named_and_chained(connect: Connect) -> None:
    log = connect()
    said = body(claim="agent:claude")
    entry = log.append(log.state(), said)
    assert (entry.rev, entry.actor, entry.kind) == (1, "agent:ann/claude", "edit")
    assert (entry.uid, entry.data) == (said.uid, DATA)
    assert iso(parse_time(entry.at)) == entry.at
    assert log.state() == (1, hash_after(entry, start(log)))
    assert list(log.read(0)) == [entry]


@pytest.mark.parametrize(
    "data",
    [
        rb'"label":"\u0000 \ud7ff \u00e9 \\ \\u \" \/ \b\f\n\r\t","changes":[]',
        b'"label":"1e999","changes":[1.0, 1e5,-0,1.7976931348623157e308,18446744073709551615]',
        b'"label":"[[","changes":' + b"[" * 250 + b"]" * 250,
        '"label":"naïve \u2028 🙂","changes":[]'.encode(),
        b'"label":"' + b"x" * 1_000_000 + b'","changes":[]',
    ],
    ids=["escapes", "numbers", "deep", "wide", "long"],
)
def test_data_comes_back_byte_for_byte(connect: Connect, data: bytes) -> None:
    log = connect()
    entry = log.append(log.state(), body(data=data))
    assert entry.data == data
    assert list(connect("bob", "reader").read(0)) == [entry]
    assert entry.hash == hash_after(entry, start(log))


@pytest.mark.parametrize(
    ("claim", "is_agent", "actor"),
    [
        ("human", False, "human:ann"),
        ("human:bob", False, "human:ann"),
        ("reflector", False, "reflector:ann"),
        ("agent:claude", False, "agent:ann/claude"),
        ("agent:claude", True, "agent:ann/claude"),
        ("human", True, "agent:ann/human"),
        ("agent:bob/claude", False, "agent:ann/claude"),
        ("agent:a\nb/c/", False, "agent:ann/agent"),
        ("agent", False, "agent:ann/agent"),
        (
            'agent:a "quoted\\ name\x7fé\U0001f642',
            False,
            'agent:ann/a "quoted\\ name\x7fé\U0001f642',
        ),
        ("agent:line\nend\t\x01", True, "agent:ann/line\nend\t\x01"),
    ],
)
def test_the_log_says_who_acts(connect: Connect, claim: str, is_agent: bool, actor: str) -> None:
    log = connect("ann", "owner", is_agent)
    entry = log.append(log.state(), body(claim=claim))
    assert entry.actor == log.name(claim) == actor
    assert chained(log, [entry])


@pytest.mark.parametrize(
    "data",
    [
        b'"label":"","changes":[],"actor":"human:ann"',
        b'"label":"","changes":[],"level":"owner"',
        rb'"label":"","changes":[],"\u0061ctor":"human:ann"',
        rb'"label":"\\","actor":"human:ann","changes":[]',
        b'"label":"","changes":[],"prev":"","hash":""',
        b'"label":"","changes":[\n{"rev":2,"actor":"human:ann","hash":""}\n]',
        b'"label":"\n","changes":[]',
        b'"label":""},{"changes":[]',
        b'"label":"","changes":[]}',
        b"",
        b'"changes":[]',
        b'"label":""',
        b'"label":"","changes":[1e999]',
        b'"label":"","changes":[9e308]',
        b'"label":"","changes":[' + b"1" * 400 + b"]",
        b'"label":"","changes":' + b"[" * 1500 + b"]" * 1500,
        b'"label":"","changes":' + b'[[],{"":' * 750 + b"}]" * 750,
        rb'"label":"\ud800","changes":[]',
        rb'"label":"\udc00","changes":[]',
        rb'"label":"\\\q","changes":[]',
        rb'"label":"\u00g0","changes":[]',
        rb'"label":"","changes":[1\n2]',
        b'"label":"' + b"x" * (48 << 20) + b'","changes":[]',
        b"\xff",
        b"\x00",
    ],
)
def test_an_entry_says_nothing_but_its_label_and_changes(connect: Connect, data: bytes) -> None:
    """Else it would name another actor, or begin another line of the journal."""
    connect()
    log = connect("bob", "writer")
    with pytest.raises(StoreProblem):
        log.append(log.state(), body(data=data))
    assert log.state().rev == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "foo"},
        {"kind": "undo"},
        {"kind": "redo"},
        {"uid": ""},
        {"uid": "u" * 65},
        {"claim": ""},
        {"claim": ":ann"},
        {"claim": "agent:" + "x" * 1000},
        {"touched": list(map(str, range(1_000_001)))},
    ],
    ids=lambda wrong: f"{wrong}"[:20],
)
def test_an_entry_is_of_a_kind_and_has_names(connect: Connect, wrong: dict[str, Any]) -> None:
    log = connect()
    with pytest.raises(StoreProblem):
        log.append(log.state(), body()._replace(**wrong))
    assert log.state().rev == 0


def test_taking_back_what_others_did_takes_a_reviewer(connect: Connect) -> None:
    ann, bob = connect("ann", "reviewer"), connect("bob", "writer")
    ann.append(ann.state(), body(data=b'"label":"","group":"ab","changes":[]'))
    bob.append(bob.state(), body(claim="agent:claude"))
    bob.append(bob.state(), body(data=b'"label":"","group":"cd","part":1,"changes":[]'))
    before = bob.state()

    def taking(kind: Kind, words: bytes) -> Body:
        return body(data=b'"label":"",%s,"changes":[]' % words)._replace(kind=kind)

    refused: list[tuple[Kind, bytes]] = [
        ("undo", b'"target":1'),
        ("redo", b'"group":"ab","target":1'),
        ("undo", b'"group":"ab","target":2'),
        ("undo", b'"group":"ab","target":3'),
        ("undo", b'"target":4'),
        ("undo", b'"target":"x"'),
        ("edit", b'"takes":["2"]'),
        ("edit", b'"takes":["ab"]'),
    ]
    for kind, words in refused:
        with pytest.raises(StoreProblem, match="bob"):
            bob.append(before, taking(kind, words))
    assert bob.state() == before
    own: list[tuple[Kind, bytes]] = [
        ("undo", b'"target":2'),
        ("redo", b'"target":2'),
        ("undo", b'"group":"cd","target":3'),
    ]
    for kind, words in own:
        bob.append(before, taking(kind, words))
    for kind, words in refused[1:2] + refused[-2:]:
        ann.append(before, taking(kind, words))
    assert bob.state().rev == before.rev + 6


def test_entries_after_a_revision_are_read_in_order(connect: Connect) -> None:
    log = connect()
    added = [log.append(log.state(), body()) for _ in range(5)]
    assert chained(log, added)
    assert list(log.read(0)) == added
    assert list(log.read(3)) == added[3:]
    assert list(log.read(5)) == []


def test_what_is_said_twice_is_one_entry(connect: Connect) -> None:
    log = connect()
    before, said = log.state(), body("memories/1")
    entry = log.append(before, said)
    log.append(log.state(), body("memories/1"))
    assert log.append(before, said) == entry
    assert log.state().rev == 2


def test_a_change_of_what_somebody_else_changed_is_refused(connect: Connect) -> None:
    ann, bob = connect("ann"), connect("bob", "writer")
    seen = ann.state()
    bob.append(seen, body("memories/1", "memories/2"))
    ann.append(ann.state(), body("memories/9"))
    with pytest.raises(Clash) as clash:
        ann.append(seen, body("memories/2", "memories/3"))
    assert clash.value.actor == "human:bob"
    assert ann.state().rev == 2


def test_other_changes_in_between_are_no_hindrance(connect: Connect) -> None:
    ann, bob = connect("ann"), connect("bob", "writer")
    seen = ann.state()
    bob.append(seen, body("memories/1"))
    bob.append(bob.state(), body())
    assert ann.append(seen, body("memories/2")).rev == 3
    assert ann.append(seen, body()).rev == 4
    assert ann.append(ann.state(), body("memories/1")).rev == 5


@pytest.mark.parametrize(
    ("level", "needs", "allowed"),
    [
        ("reader", "reader", False),
        ("reader", "writer", False),
        ("writer", "writer", True),
        ("writer", "reviewer", False),
        ("reviewer", "reviewer", True),
        ("reviewer", "owner", False),
        ("owner", "owner", True),
    ],
)
def test_a_level_is_needed(connect: Connect, level: Level, needs: Level, allowed: bool) -> None:
    log = connect("bob", level)
    if allowed:
        assert log.append(log.state(), body(needs=needs)).rev == 1
    else:
        with pytest.raises(StoreProblem, match="bob"):
            log.append(log.state(), body(needs=needs))
        assert log.state().rev == 0


def test_a_reader_changes_nothing(connect: Connect) -> None:
    connect()
    log = connect("bob", "reader")
    for change in (
        lambda: log.reserve("memories", 1, 1),
        lambda: log.put_blob(b"data"),
        lambda: log.drop_blobs([hash_of(b"data")]),
        lambda: log.rewrite(start(log), iter(())),
    ):
        with pytest.raises(StoreProblem):
            change()


def test_threads_add_each_entry_once_and_in_order(connect: Connect) -> None:
    logs = [connect("ann" if n % 2 else "bob") for n in range(8)]

    def work(log: SharedLog) -> list[Entry]:
        seen = log.state()
        return [log.append(seen, body()) for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        added = [entry for some in pool.map(work, logs) for entry in some]
    assert sorted(added) == list(logs[0].read(0))
    assert len(added) == 400
    assert chained(logs[0], sorted(added))


def test_one_log_serves_threads(connect: Connect) -> None:
    log = connect()
    seen = log.state()
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda _: log.append(seen, body()), range(50)))
    assert sorted(added) == list(log.read(0))


def test_of_two_who_change_the_same_one_is_refused(connect: Connect) -> None:
    logs = [connect("ann"), connect("bob")]
    seen = logs[0].state()

    def change(log: SharedLog) -> bool:
        try:
            log.append(seen, body("memories/1"))
        except Clash:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(change, logs)) == [False, True]


def test_no_number_is_given_twice(connect: Connect) -> None:
    logs = [connect("ann"), connect("bob", "writer")]

    def take(n: int) -> range:
        first = logs[n % 2].reserve("memories", 5, 1 + n % 3)
        return range(first, first + 1 + n % 3)

    with ThreadPoolExecutor(8) as pool:
        given = [number for some in pool.map(take, range(60)) for number in some]
    assert sorted(given) == list(range(5, 5 + 120))
    assert logs[0].reserve("memories", 1000, 10) == 1000
    assert logs[1].reserve("memories", 1, 1) == 1010
    assert logs[1].reserve("edges", 1, 1) == 1


@pytest.mark.parametrize(
    ("table", "least", "count"),
    [
        ("memories", 1, 0),
        ("memories", 1, -5),
        ("memories", 1, 1001),
        ("memories", 0, 1),
        ("memories", 10**12 + 1, 1),
        ("memories", 2**63 - 1, 1),
        ("", 1, 1),
        ("Memories", 1, 1),
        ("m" * 61, 1, 1),
    ],
)
def test_numbers_are_not_used_up(connect: Connect, table: str, least: int, count: int) -> None:
    connect()
    log = connect("bob", "writer")
    with pytest.raises(StoreProblem):
        log.reserve(table, least, count)
    assert log.reserve("memories", 10**12, 1000) == 10**12
    assert log.reserve("memories", 10**12 + 1000, 10) == 10**12 + 1000


def numbered(number: int, at: str = "2020-01-01T00:00:00Z", actor: str = "human") -> Entry:
    data = b'"label":"%d","changes":[]' % number
    return Entry(number, at, actor, "edit", f"{number:016x}", data, "")


def test_a_rewritten_log_is_another_chain(connect: Connect) -> None:
    log, other = connect(), connect("bob", "writer")
    kept = [log.append(log.state(), body("memories/1")) for _ in range(3)]
    seen = other.state()
    purged = [*kept[:1], kept[1]._replace(data=b'"label":"purged","changes":[]'), kept[2]]
    log.rewrite(seen.hash, iter(purged))
    now = list(log.read(0))
    assert [entry._replace(hash="") for entry in now] == [e._replace(hash="") for e in purged]
    assert chained(log, now)
    assert log.state() == (3, now[-1].hash)
    assert now[0] == kept[0]
    with pytest.raises(Clash):
        other.append(seen, body("memories/2"))
    assert other.append(other.state(), body("memories/2")).rev == 4


def test_who_has_not_seen_what_was_rewritten_may_not_change_anything(connect: Connect) -> None:
    """What the entries touched is not known any more."""
    log = connect()
    first = log.append(log.state(), body("memories/1"))
    seen = log.state()
    second = log.append(seen, body("memories/2"))
    log.rewrite(second.hash, iter([first, second]))
    with pytest.raises(Clash):
        log.append(seen, body("memories/3"))
    assert log.append(seen, body()).rev == 3
    assert log.append(log.state(), body("memories/2")).rev == 4


def test_a_log_that_went_on_is_not_rewritten(connect: Connect) -> None:
    log = connect()
    seen = log.state()
    entry = log.append(seen, body())
    with pytest.raises(Clash):
        log.rewrite(seen.hash, iter([numbered(1)]))
    assert list(log.read(0)) == [entry]


def test_entries_of_another_store_are_taken_over(connect: Connect) -> None:
    log = connect()
    odd = 'agent:o"dd\\ \x01\u2028é'
    copied = [numbered(n, actor=odd if n % 2 else "human") for n in range(1, 2501)]
    log.rewrite(start(log), iter(copied))
    now = list(log.read(0))
    assert [entry._replace(hash="") for entry in now] == copied
    assert chained(log, now)
    with pytest.raises(StoreProblem):
        log.rewrite(now[-1].hash, iter([numbered(1), numbered(3)]))
    assert list(log.read(0)) == now


def test_a_failed_rewrite_changes_nothing(connect: Connect) -> None:
    log = connect()
    entry = log.append(log.state(), body())

    def broken() -> Iterator[Entry]:
        yield from map(numbered, range(1, 1501))
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        log.rewrite(entry.hash, broken())
    assert list(log.read(0)) == [entry]
    assert log.append(log.state(), body()).rev == 2


def test_blobs_are_kept_by_what_they_hold(connect: Connect) -> None:
    log, other = connect(), connect("bob", "writer")
    contents = [b"", b"\x00\xff" * 100, b"x" * 100_000]
    names = [other.put_blob(data) for data in contents]
    assert names == list(map(hash_of, contents))
    assert other.put_blob(contents[1]) == names[1]
    assert list(log.blob_names()) == sorted(names)
    assert [log.get_blob(name) for name in names] == contents
    assert log.get_blob("0" * 40) is None
    log.drop_blobs(names[:2])
    assert other.blob_names() == (names[2],)
    with pytest.raises(StoreProblem):
        other.drop_blobs(names)
