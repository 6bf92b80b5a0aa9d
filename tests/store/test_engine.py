import json
import multiprocessing
import threading
from pathlib import Path

import pytest

from tests.store.helpers import clock, docs, lines, open_journal, put
from workbench.core.record import StoreProblem
from workbench.store.entry import Transaction, to_json
from workbench.store.files import Seen, look
from workbench.store.journal import segments
from workbench.store.journal.codec import seal
from workbench.store.journal.database import open_db
from workbench.store.journal.engine import Journal
from workbench.store.journal.state import Keys


def hear(journal: Journal) -> list[tuple[int, Keys]]:
    heard: list[tuple[int, Keys]] = []

    def listener(entry: Transaction, keys: Keys) -> None:
        heard.append((entry.rev, keys))

    journal.listen(listener)
    return heard


def test_one_transaction_is_one_checksummed_line(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with journal.transaction("agent:claude-code", "two at once", group="g-1") as staged:
        staged.put("t", "1", {"id": "x1", "n": 2})
        staged.put("t", "2", {"id": "x2"})
    with journal.transaction("human", "count") as staged:
        staged.put("t", "1", {"id": "x1", "n": 3})
    raw = json.loads(lines(tmp_path)[1])
    assert (raw["rev"], raw["actor"], raw["group"], len(raw["changes"])) == (
        1,
        "agent:claude-code",
        "g-1",
        2,
    )
    assert raw["at"] == "2026-11-21T12:00:00Z"
    assert json.loads(lines(tmp_path)[2])["changes"] == [{"table": "t", "id": "1", "inc": {"n": 1}}]


def test_what_changes_nothing_is_not_written(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": (1, 2)})
    assert put(journal, 1, {"a": [1, 2]}) == 1
    with journal.transaction("human", "delete nothing") as staged:
        staged.delete("t", "77")
        staged.put("t", "5", {"a": 1})
        staged.delete("t", "5")
    assert journal.rev == 1


def test_memory_holds_what_the_file_holds_and_not_the_callers_objects(tmp_path: Path) -> None:
    db = open_db(tmp_path, clock)
    doc = {"a": [1], "m": {1: "one"}, "t": (1, 2)}
    db.table("t").insert(doc)
    doc["a"].append(2)  # type: ignore[attr-defined]
    assert (
        docs(db.journal)
        == {"1": {"a": [1], "m": {"1": "one"}, "t": [1, 2]}}
        == docs(open_journal(tmp_path))
    )


def test_a_transaction_in_another_one_joins_it(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with journal.transaction("human", "outer"):
        put(journal, 1, {"a": 1})
        assert journal.rev == 0
        assert journal.refresh() == 0
        put(journal, 2, {"a": 1})
    assert journal.rev == 1
    assert [e.label for e in journal.entries_back()] == ["outer"]


def test_a_table_dropped_and_used_again_in_one_transaction(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    put(journal, 2, {"a": 2})
    with journal.transaction("human", "swap") as staged:
        staged.put("t", "3", {"a": 3})
        staged.drop_table("t")
        staged.put("t", "2", {"a": "new"})
        staged.ensure_table("u")
        staged.drop_table("u")
    assert journal.state.tables == {"t": {"2": {"a": "new"}}} == open_journal(tmp_path).state.tables
    with journal.transaction("human", "drop") as staged:
        staged.drop_table("t")
    assert journal.state.tables == {} == open_journal(tmp_path).state.tables


def test_listeners_hear_of_both_keys_in_order_and_outside_the_locks(tmp_path: Path) -> None:
    journal, other = open_journal(tmp_path), open_journal(tmp_path)
    heard = hear(other)
    put(journal, 1, {"id": "x1"})
    put(journal, 1, {"id": "y1"})
    with journal.transaction("human", "gone") as staged:
        staged.delete("t", "1")
        staged.put("t", "2", {"a": 1})
    assert other.refresh() == 3
    assert other.refresh() == 0
    assert heard == [
        (1, frozenset({("t", "x1")})), (2, frozenset({("t", "x1"), ("t", "y1")})),
        (3, frozenset({("t", "y1"), ("t", "2")})),
    ]  # fmt: skip


def test_a_listener_may_commit_and_refresh(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    heard = hear(journal)

    def echo(entry: Transaction, keys: Keys) -> None:
        journal.refresh()
        if entry.rev < 3:
            put(journal, entry.rev + 1, {"a": entry.rev})

    journal.listen(echo)
    put(journal, 1, {"a": 0})
    assert [rev for rev, _ in heard] == [1, 2, 3]
    assert set(docs(journal)) == {"1", "2", "3"}


def test_a_listener_that_fails_does_not_undo_the_commit(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)

    def fail(entry: Transaction, keys: Keys) -> None:
        raise ZeroDivisionError

    journal.listen(fail)
    with pytest.raises(ZeroDivisionError):
        put(journal, 1, {"a": 1})
    assert journal.rev == 1
    with pytest.raises(ZeroDivisionError):
        put(journal, 2, {"a": 1})
    assert open_journal(tmp_path).rev == 2


def test_damage_in_the_middle_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    for number in (1, 2, 3):
        put(journal, number, {"id": f"x{number}"})
    put(journal, 2, {"id": "x2", "a": 1})
    content = lines(tmp_path)
    content[2] = content[2].replace(b"put 2", b"PUT 2")
    journal.path.write_bytes(b"".join(content))
    other = open_journal(tmp_path)
    assert set(docs(other)) == {"1", "3"}
    place = len(content[0] + content[1])
    assert [str(d) for d in other.damage] == [
        f"journal.jsonl:3: byte {place}: its checksum does not match its content",
        f"journal.jsonl:4: byte {place + len(content[2])}: revision 2 is missing",
    ]
    put(other, 9, {"id": "x9"})
    assert set(docs(open_journal(tmp_path))) == {"1", "3", "9"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (seal({"rev": 2}), "not a transaction"),
        (
            seal(to_json(Transaction(2, "", "", "", (), uid="other")), "1" * 64),
            "does not follow the line before it",
        ),
        (
            seal(to_json(Transaction(5, "", "", "", (), uid="other"))),
            "revisions 2 to 4 are missing",
        ),
    ],
)
def test_lines_out_of_order_are_named(tmp_path: Path, line: bytes, reason: str) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    with journal.path.open("ab") as file:
        file.write(line)
    journal.refresh()
    assert reason in str(journal.damage[0])
    assert docs(journal) == {"1": {"a": 1}}
    list(journal.entries_back())


def test_a_torn_last_line_is_dropped_and_told_once(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    with journal.path.open("ab") as file:
        file.write(lines(tmp_path)[1][:-10])
    reader = open_journal(tmp_path)
    assert (reader.rev, reader.damage, reader.notices) == (1, [], [])
    put(journal, 2, {"a": 2})
    assert len(journal.notices) == 1
    put(journal, 3, {"a": 3})
    assert len(journal.notices) == 1
    assert reader.refresh() == 2
    assert open_journal(tmp_path).notices == []


def test_a_journal_swapped_under_an_open_store_is_read_again(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "s")
    put(journal, 1, {"id": "x1"})
    put(journal, 2, {"id": "x2"})
    heard = hear(journal)
    other = open_journal(tmp_path / "other")
    put(other, 5, {"id": "y5"})
    other.path.replace(journal.path)
    journal.refresh()
    assert docs(journal) == {"5": {"id": "y5"}}
    assert heard == [(1, frozenset({("t", "x1"), ("t", "x2"), ("t", "y5")}))]
    put(journal, 6, {"id": "y6"})
    assert set(docs(open_journal(tmp_path / "s"))) == {"5", "6"}


@pytest.mark.slow
def test_many_threads_commit_and_read_one_journal(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, segment_bytes=20_000, checkpoint_every=50)
    follower = open_journal(tmp_path)
    heard, seen = hear(follower), hear(journal)
    stop = threading.Event()
    failures: list[Exception] = []

    def watched(work: object) -> threading.Thread:
        def run() -> None:
            try:
                work()  # type: ignore[operator]
            except (RuntimeError, AssertionError, KeyError, StoreProblem) as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def write(number: int) -> None:
        for step in range(40):
            with journal.transaction(f"agent:{number}", "x") as staged:
                doc_id = str(staged.allocate("t"))
                staged.put("t", doc_id, {"id": f"{number}-{step}"})

    def follow() -> None:
        while not stop.is_set():
            follower.refresh()
            journal.refresh()
            journal.state.index("t")
            list(journal.entries_back())[:3]

    writers = [watched(lambda n=n: write(n)) for n in range(4)]
    readers = [watched(follow) for _ in range(2)]
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    journal.close()
    follower.refresh()
    assert failures == []
    assert journal.rev == follower.rev == 160
    assert [rev for rev, _ in heard] == [rev for rev, _ in seen] == list(range(1, 161))
    assert len(journal.state.index("t")) == len(docs(journal)) == 160
    assert open_journal(tmp_path).state.tables == journal.state.tables == follower.state.tables
    assert not follower.damage


def test_a_segment_closed_between_two_looks_at_it_is_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "a"})
    reader = open_journal(tmp_path)
    put(journal, 2, {"id": "b"})
    looked = 0

    def closed_behind_it(path: Path) -> Seen:
        nonlocal looked
        looked += 1
        seen = look(path)
        if looked == 4:
            path.rename(tmp_path / segments.closed_name(0))
        return seen

    monkeypatch.setattr(segments, "look", closed_behind_it)
    assert reader.refresh() == 1
    assert looked >= 4
    assert docs(reader) == docs(journal)
    assert (tmp_path / segments.closed_name(0)).exists()


def count_up(folder: Path, times: int) -> None:
    journal = Journal(folder, clock, frozenset({"n"}))
    for _ in range(times):
        with journal.transaction("agent:x", "count") as staged:
            doc = staged.get("t", "1") or {}
            staged.put("t", "1", {**doc, "n": doc.get("n", 0) + 1})
            staged.put("t", str(staged.allocate("t")), {"id": "new"})


@pytest.mark.slow
def test_two_processes_share_one_store(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "counter"})
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=count_up, args=(tmp_path, 60)) for _ in range(2)]
    for worker in workers:
        worker.start()
    count_up(tmp_path, 60)
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert journal.refresh() == 180
    assert docs(journal)["1"]["n"] == 180
    assert len(docs(journal)) == 181
    assert [e.rev for e in journal.entries_back()] == list(range(181, 0, -1))
