"""A store that a team shares: how fast PostgreSQL takes it, with fsync on, and how fast it gets to
other machines.

A vote is held against a bare INSERT of the same row by the same connection, in turns.
`WORKBENCH_TEST_POSTGRES=URL` measures another server, as it is set.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import TypeVar

import psycopg

from tests.benchmarks.promises import Figures, Promise, judged
from tests.benchmarks.stores import ROOT, build
from tests.builders.cutting import Way
from tests.builders.postgres import KEEPER, PASSWORD, Postgres, postgres, without_password
from workbench.core.stream.memory import Memory
from workbench.retrieval.embedding.embedder import Embedder
from workbench.services.team import admin
from workbench.store.entry import new_uid
from workbench.store.journal.engine import utc_now
from workbench.store.journal.segments import NAME
from workbench.store.library import Library
from workbench.store.log import Body, Entry, LogState, entries_in, hash_after, line_of
from workbench.store.team.log import TeamLog, connect

PROMISES = (
    Promise("a vote, to a bare INSERT", "vote_ratio", most=2.5),
    Promise("a vote, ms", "vote_ms", is_cost=True),
    Promise("statements of a commit", "vote_statements", most=1),
    Promise("a vote after 100,000 entries, to one after 1,000", "vote_growth", most=1.5),
    Promise("commits in a second of 8 writers, 20 ms away", "away_per_s", least=100),
    Promise("commits in a second of 16 processes", "processes_per_s", least=200),
    Promise("entries of 16 processes that are missing or there twice", "uncounted", most=0),
    Promise("until a change is seen elsewhere, s", "seen_s", most=1),
    Promise("a tail of 1,000 entries, ms", "tail_ms", most=50),
    Promise("entries copied in, in a second", "copied_in_per_s", least=6_667),
    Promise("entries copied out, in a second", "copied_out_per_s", least=6_667),
    Promise("first answer on a new machine, s", "new_machine_s", most=15),
    Promise("first answer with a copy, s", "with_copy_s", most=1.5),
    Promise("a first index for other tools, s", "index_s"),
    Promise("an index after a change, s", "index_again_s"),
    Promise("a search of other tools, ms", "search_ms", most=250),
)

DATA = (
    b'"label":"Vote up mem-20260320-0000001","changes":[{"table":"memories","id":"1","inc":'
    b'{"helpful_votes":1},"fields":{"last_feedback_at":[null,"2026-03-20T18:00:00Z"]}}]'
)
BARE = """
    create table bare (
        store int, rev bigint, at text, actor text, kind text, uid text, touched bigint[],
        body bytea, hash text, level text, primary key (store, rev), unique (uid, store)
    )
"""


def run(small: bool = False, full: bool = False) -> dict[str, object]:
    """Return every promise of a team's store with its figure, its bar and whether it is kept."""
    size = 2_000 if small else 100_000 if full else 20_000
    server = postgres()
    if not os.environ.get("WORKBENCH_TEST_POSTGRES"):
        for setting in ("fsync", "full_page_writes"):
            server.admin.execute(f"alter system set {setting} = on")
        server.admin.execute("select pg_reload_conf()")
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="bench-team-") as name:
        for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{kind}_HOME"] = f"{name}/{kind.lower()}"
        os.environ["PGPASSWORD"] = PASSWORD
        for probe in (bare, growth, away, processes, elsewhere, whole):
            figures |= probe(server, Path(name), size)
    return {"memories": size, "promises": judged(figures, promises=PROMISES)}


def bare(server: Postgres, _folder: Path, size: int) -> Figures:
    """Vote, and insert a row, in turns; count what the server is asked for a vote."""
    store, numbers = server.new_store(), count(1)
    vote = voting(server.log(store))
    with psycopg.connect(server.url(KEEPER), autocommit=True, prepare_threshold=None) as connection:
        connection.execute(BARE)
        row = ("2026-03-20T18:00:00Z", "human:ann", "edit")

        def insert() -> None:
            connection.execute(
                "insert into bare values (1, %s, %s, %s, %s, %s, null, %b, %s, 'owner')",
                (next(numbers), *row, new_uid(), DATA, "0" * 64),
            )

        times = [(ms(insert), ms(vote)) for _ in range(min(size, 1_000))]
        connection.execute("drop table bare")
    inserted, voted = map(statistics.median, zip(*times, strict=True))
    with closing(Way(server)) as way, closing(connect(way.url("ann", store))) as log:
        vote = voting(log)
        vote()
        before = way.requests
        for _ in range(10):
            vote()
        statements = (way.requests - before) / 10
    return {"vote_ratio": voted / inserted, "vote_ms": voted, "vote_statements": statements}


def growth(server: Postgres, _folder: Path, size: int) -> Figures:
    """Vote in stores of 1,000 and of 100,000 entries, in turns."""
    votes = []
    for entries in (1_000, min(5 * size, 100_000)):
        log = server.log(server.new_store())
        log.rewrite(log.state().hash, loaded(entries))
        votes.append(voting(log))
    for vote in votes * 10:
        vote()
    times = [tuple(map(ms, votes)) for _ in range(500)]
    few, many = map(statistics.median, zip(*times, strict=True))
    return {"vote_growth": many / few}


def loaded(entries: int) -> Iterator[Entry]:
    for rev in range(1, entries + 1):
        yield Entry(rev, "2026-03-20T18:00:00Z", "human:ann", "edit", f"{rev:016x}", DATA, "")


def away(server: Postgres, _folder: Path, _size: int) -> Figures:
    """Let 8 writers commit at once over a way of 20 ms there and back."""
    store = server.new_store()
    server.add(store, "ann")
    with closing(Way(server, delay=0.01)) as way, ThreadPoolExecutor(8) as pool:
        votes = [voting(connect(way.url("ann", store))) for _ in range(8)]
        begun = perf_counter()
        list(pool.map(lambda vote: [vote() for _ in range(50)], votes))
        return {"away_per_s": 400 / (perf_counter() - begun)}


def processes(server: Postgres, _folder: Path, size: int) -> Figures:
    """Let 16 processes commit 500 times each, and look for each entry."""
    store, times = server.new_store(), min(500, size // 10)
    url = server.add(store, "ann")
    with ProcessPoolExecutor(16, get_context("spawn")) as pool:
        list(pool.map(commit, [url] * 16, [1] * 16))
        begun = perf_counter()
        said = [uid for some in pool.map(commit, [url] * 16, [times] * 16) for uid in some]
        seconds = perf_counter() - begun
    log = server.log(store)
    entries = list(log.read(0))
    stored = [entry.uid for entry in entries]
    wrong = sum(stored.count(uid) != 1 for uid in said[:: max(1, len(said) // 500)])
    wrong += abs(len(stored) - len(set(stored))) + len(set(said) - set(stored))
    wrong += [entry.rev for entry in entries] != list(range(1, len(entries) + 1))
    return {"processes_per_s": len(said) / seconds, "uncounted": wrong}


def commit(url: str, times: int) -> list[str]:
    """Commit so many entries, and return their names; what each of the processes does."""
    with closing(connect(url)) as log:
        vote = voting(log)
        return [vote() for _ in range(times)]


def voting(log: TeamLog) -> Callable[[], str]:
    """Return what adds a vote to a log, and says how it is named."""
    seen = log.state()

    def vote() -> str:
        nonlocal seen
        entry = log.append(seen, Body(new_uid(), "human", "edit", (), DATA))
        seen = LogState(entry.rev, entry.hash)
        return entry.uid

    return vote


def elsewhere(server: Postgres, folder: Path, _size: int) -> Figures:
    """See on one machine what was changed on another, and read the last 1,000 entries."""
    store = server.new_store()
    here, there = (
        Library(folder / name, shared=server.log(store, name)) for name in ("ann", "bob")
    )
    add_memories(here, 100)
    there.refresh()
    tails = []
    for _ in range(5):
        vote = voting(server.log(store))
        for _ in range(1_000):
            vote()
        tails.append(ms(there.refresh))
    there.follow()
    seen = []
    for number in range(10):
        sleep(0.07 * number)
        begun = perf_counter()
        add_memories(here, 1)
        while there.revision < here.revision:
            there.refresh()
            sleep(0.01)
        seen.append(perf_counter() - begun)
    for library in (here, there):
        library.close()
    return {"tail_ms": statistics.median(tails), "seen_s": max(seen)}


def add_memories(library: Library, count: int) -> None:
    at = utc_now()
    with library.transaction("human", "put") as tx:
        for _ in range(count):
            tx.put(Memory(tx.new_memory_id(at), "The deploy failed.", at, at))


def whole(server: Postgres, folder: Path, size: int) -> Figures:
    """Copy a store with as many votes as memories into the database and out of it, and search it on
    a machine that has it not, and on one that has.
    """
    own = folder / "own"
    asked = build(own, size)[0]
    with_votes(own, size)
    os.environ["WORKBENCH_TRUST"] = str(own)
    store = server.new_store()
    url = without_password(server.add(store, "ann"))
    copies: tuple[Callable[[], admin.Copied], ...] = (
        partial(admin.copy_in, own, url, utc_now),
        partial(admin.copy_out, url, folder / "out", utc_now),
    )
    into, out = (timed(copy) for copy in copies)
    machine = {**os.environ, "XDG_CACHE_HOME": f"{folder}/new"}

    def command(*args: str) -> float:
        whole = [sys.executable, "-m", "workbench", "--store", url, *args]
        run = partial(
            subprocess.run, whole, cwd=ROOT, env=machine, check=True, stdout=subprocess.DEVNULL
        )
        return timed(run)[1]

    return {
        "copied_in_per_s": into[0].entries / into[1],
        "copied_out_per_s": out[0].entries / out[1],
        "new_machine_s": command("search", asked),
        "with_copy_s": statistics.median(command("search", asked) for _ in range(3)),
        "index_s": command("store", "index"),
        "index_again_s": command("store", "index"),
        "search_ms": searching_ms(server, store, asked),
    }


def searching_ms(server: Postgres, store: str, asked: str) -> float:
    """Return what another tool waits for the ten best memories."""
    vector = str(Embedder().embed([asked])[0].tolist())
    with psycopg.connect(server.url("ann"), autocommit=True) as connection:

        def search() -> None:
            query = "select * from workbench.search_memories(%s, %s, 10)"
            assert len(connection.execute(query, (store, vector)).fetchall()) == 10

        return statistics.median(ms(search) for _ in range(10))


def with_votes(folder: Path, votes: int) -> None:
    """Add votes to the journal of a folder, without an fsync for each."""
    *_, last = entries_in(folder)
    end = last.hash
    with (folder / NAME).open("ab") as file:
        for entry in loaded(votes):
            entry = entry._replace(rev=last.rev + entry.rev)
            entry = entry._replace(hash=hash_after(entry, end))
            file.write(line_of(entry, end))
            end = entry.hash


T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    begun = perf_counter()
    found = work()
    return found, perf_counter() - begun


def ms(work: Callable[[], object]) -> float:
    return 1000 * timed(work)[1]
