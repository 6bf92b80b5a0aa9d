from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.helpers import NOON, memory, open_library
from workbench.core.duplicates.groups import KeptPair
from workbench.core.file_state import FileState
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.playbook.usage import Outcome, UsageTally
from workbench.core.promotion import Placement
from workbench.core.record import InvalidRecord, UnknownRecord
from workbench.core.reflection.llm import LlmRun, UnreadReply
from workbench.core.reflection.trigger import ReflectionState
from workbench.core.review.proposal import Proposal
from workbench.core.safety import Override
from workbench.core.stream.memory import Vote
from workbench.core.tuning.judgment import Judgment, SavedQuery
from workbench.store import history
from workbench.store.entry import memory_number
from workbench.store.library import Touched
from workbench.store.records import TABLES, key_of, table_of

RECORDS: list[tuple[str, str, object]] = [
    ("memories", "m1", memory(1, tags=("a",), metadata={"x": [1, None]})),
    ("bullets", "main/shr-00001", Bullet("shr-00001", "s1", "text")),
    ("sections", "main/s1", Section("s1", "others", "Others")),
    ("books", "main", Book()),
    ("votes", "v1", Vote("v1", "memories", "m1", "human", "helpful", NOON)),
    ("queries", "q1", SavedQuery("q1", "text", NOON)),
    ("judgments", "q1:m1", Judgment("q1:m1", "q1", "m1", 2, "human", NOON)),
    ("reflection", "reflection", ReflectionState(2.5, 1, NOON)),
    (
        "overrides",
        "memories:m1",
        Override("memories:m1", "memories", "m1", "00", "human", NOON, "checked"),
    ),
    ("kept_pairs", "b/x|y", KeptPair("b/x|y", "b", "x", "y", 0.93, "00-11", "human", NOON)),
    (
        "runs",
        "run-1",
        LlmRun("run-1", "claude", NOON, 7, 8, (UnreadReply("insights", "hm", "no list"),), ("m1",)),
    ),
    (
        "tallies",
        "b/log",
        UsageTally("b/log", "b", "log", ("x", "y"), (Outcome((0, 1), 1, 2),), NOON),
    ),
    ("files", "/a/b.txt", FileState("/a/b.txt", "ace", "00ff", "read", NOON)),
    (
        "placements",
        "m1:entry:A.md",
        Placement("m1:entry:A.md", "m1", "entry", "A.md", "- a", NOON, lead=2),
    ),
]


@pytest.mark.parametrize(("name", "key", "record"), RECORDS)
def test_every_kind_of_record_is_stored_found_and_read_again(
    tmp_path: Path, name: str, key: str, record: object
) -> None:
    library = open_library(tmp_path)
    for _ in range(2):
        with library.transaction("human", "put") as tx:
            tx.put(record)
    assert library.journal.rev == 1
    for lib in (library, open_library(tmp_path)):
        table = getattr(lib, name)
        assert table.get(key) == record
        assert table.all() == [record]
        assert (key in table, "nope" in table, 3 in table, len(table)) == (True, False, False, 1)
    with library.transaction("human", "delete") as tx:
        tx.delete(record)
        tx.delete(record)
    assert getattr(library, name).all() == []


DOCUMENTS = ("documents", "folders", "edited_files")
EPISODES = ("episodes", "episode_notes", "episode_uses", "episode_clusters")
PATTERNS = ("patterns", "applications")


def test_every_table_is_covered() -> None:
    kept = {name for name, *_ in RECORDS}
    assert (
        kept
        | {
            "proposals",
            "reads",
            "consolidations",
            "purged",
            "settings",
            "working",
            *DOCUMENTS,
            *EPISODES,
            *PATTERNS,
        }
        == TABLES
    )
    assert table_of(Proposal) == "proposals"


def test_an_unknown_record_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownRecord, match="no memory m7"):
        open_library(tmp_path).memories.get("m7")


def test_a_record_that_breaks_a_rule_is_refused(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with pytest.raises(InvalidRecord), library.transaction("human", "put") as tx:
        tx.put(memory(1, content=" "))
    assert library.journal.rev == 0


def test_a_value_is_built_once_and_again_when_it_changed(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "put") as tx:
        tx.put(memory(1))
        tx.put(memory(2))
    first, second = library.memories.all()
    with library.transaction("human", "put") as tx:
        tx.put(replace(first, pinned=True))
    assert library.memories.get("m1").pinned
    assert library.memories.get("m2") is second
    assert library.memories.all()[1] is second


@pytest.mark.slow
def test_values_of_records_that_are_gone_are_let_go(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "put") as tx:
        for number in range(1200):
            tx.put(memory(number))
    library.memories.all()
    with library.transaction("human", "delete") as tx:
        for number in range(1200):
            tx.delete(memory(number))
    assert library.memories.all() == []
    assert not library.memories._known


def test_within_a_transaction_records_are_as_it_has_them(tmp_path: Path) -> None:
    library, other = open_library(tmp_path), open_library(tmp_path)
    with library.transaction("human", "put") as tx:
        tx.put(memory(1))
        assert library.memories.get("m1") == memory(1)
        assert "m1" not in other.memories
        tx.put(replace(library.memories.get("m1"), helpful_votes=1))
        tx.put(replace(library.memories.get("m1"), pinned=True))
        tx.delete(memory(1))
        assert library.memories.find("m1") is None
        tx.put(memory(1, helpful_votes=1))
    assert library.memories.all() == [memory(1, helpful_votes=1)]


def test_two_who_count_at_once_add_up(tmp_path: Path) -> None:
    one, two = open_library(tmp_path), open_library(tmp_path)
    with one.transaction("human", "put") as tx:
        tx.put(memory(1))
    for library in (two, one, two):
        with library.transaction("human", "vote") as tx:
            m = library.memories.get("m1")
            tx.put(replace(m, helpful_votes=m.helpful_votes + 1))
    one.journal.refresh()
    assert one.memories.get("m1").helpful_votes == 3


def test_new_ids_are_readable_unique_and_clear_of_imported_ones(tmp_path: Path) -> None:
    one, two = open_library(tmp_path), open_library(tmp_path)
    with one.transaction("human", "put") as tx:
        assert tx.new_memory_id(NOON) == "mem-20261121-0000001"
        tx.put(replace(memory(0), id=tx.new_memory_id(NOON)))
        tx.put(replace(memory(0), id="mem-20200101-0000040"))
    with two.transaction("cli", "put") as tx:
        first = tx.new_memory_id(NOON)
        tx.put(replace(memory(0), id=first))
        assert (first, tx.new_memory_id(NOON)) == ("mem-20261121-0000041", "mem-20261121-0000042")
    with two.transaction("human", "delete") as tx:
        tx.delete(two.memories.get(first))
    with open_library(tmp_path).transaction("human", "put") as tx:
        assert tx.new_memory_id(NOON) == "mem-20261121-0000043"


@pytest.mark.parametrize(
    ("name", "number"),
    [("mem-20261121-0000041", 41), ("mem-20261121-123456789", 123456789), ("mem-20261121-999999999999999", 10**15 - 1),
     ("mem-20261121-1234567890123456", None),
     ("mem-2026-0000041", None), ("x", None), ("mem-20261121-٠٠٠٠٠٤١", None)],
)  # fmt: skip
def test_the_number_in_an_id(name: str, number: int | None) -> None:
    assert memory_number(name) == number


def test_an_id_that_stands_there_already_is_not_handed_out(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    library.db.table("memories").insert({"id": "mem-20261121-0000002", "content": "by hand"})
    with library.transaction("human", "put") as tx:
        assert tx.new_memory_id(NOON) == "mem-20261121-0000003"


def test_listeners_hear_who_did_what_to_which_records(tmp_path: Path) -> None:
    one, two = open_library(tmp_path), open_library(tmp_path)
    heard: list[Touched] = []
    two.listen(heard.append)
    with one.transaction("agent:x", "add") as tx:
        tx.put(memory(1))
        tx.put(Bullet("b-00001", "s", "x", book="other"))
    with one.transaction("human", "gone", kind="access") as tx:
        tx.delete(memory(1))
    two.journal.refresh()
    assert heard == [
        Touched(
            1,
            "agent:x",
            "add",
            "edit",
            frozenset({("memories", "m1"), ("bullets", "other/b-00001")}),
        ),
        Touched(2, "human", "gone", "access", frozenset({("memories", "m1")})),
    ]


def test_the_key_of_a_document_without_an_id() -> None:
    assert key_of("memories", {}) is None
    assert key_of("books", {}) is None


def test_closing_leaves_a_checkpoint(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "put") as tx:
        tx.put(memory(1))
    library.close()
    assert (tmp_path / "memory.json").exists()
    assert open_library(tmp_path).journal.revisions_since_checkpoint == 0


def test_the_list_follows_every_kind_of_change(tmp_path: Path) -> None:
    library, other = open_library(tmp_path), open_library(tmp_path)
    with library.transaction("human", "add") as tx:
        for number in range(4):
            tx.put(memory(number))
    assert library.memories.find("m2") == memory(2)
    assert [m.id for m in library.memories.all()] == ["m0", "m1", "m2", "m3"]
    with library.transaction("human", "change") as tx:
        tx.put(memory(1, pinned=True))
        tx.delete(memory(2))
        tx.put(memory(7))
    action = history.Past(library.journal).action_of("2")
    assert action is not None
    assert [(m.id, m.pinned) for m in library.memories.all()] == [
        ("m0", False), ("m1", True), ("m3", False), ("m7", False),
    ]  # fmt: skip
    history.Past(library.journal).undo(action, "human")
    other.journal.refresh()
    assert (
        [m.id for m in library.memories.all()]
        == ["m0", "m1", "m3", "m2"]
        == [m.id for m in other.memories.all()]
    )
    library.journal.reload()
    assert [m.id for m in library.memories.all()] == ["m0", "m1", "m3", "m2"]


def test_a_record_that_cannot_be_read_is_named_once_and_stops_nothing(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "add") as tx:
        tx.put(memory(1))
    library.db.table("memories").insert({"id": "m2", "content": 7, "version": 1})
    for lib in (library, open_library(tmp_path)):
        for _ in range(2):
            assert lib.memories.all() == [memory(1)]
        assert len([n for n in map(str, lib.journal.notices) if "m2 cannot be read" in n]) == 1
        with pytest.raises(InvalidRecord):
            lib.memories.get("m2")
    library.db.table("memories").update({"content": 8}, doc_ids=[2])
    library.db.table("memories").update({"content": "!"}, doc_ids=[1])
    assert [m.content for m in library.memories.all()] == ["!"]
    library.db.table("memories").update({"content": 8}, doc_ids=[1])
    assert library.memories.all() == []
