from pathlib import Path

import pytest

from tests.store.helpers import NOON, delete, docs, memory, open_journal, open_library, put
from workbench.core.change import Clash, UndoConflict
from workbench.core.record import ABSENT, Conflict
from workbench.store import history
from workbench.store.entry import Doc
from workbench.store.journal.engine import Journal


def person(actor: str) -> bool:
    return actor == "human"


def take_back(journal: Journal) -> str:
    action = history.Past(journal).undoable(person)
    assert action is not None
    history.Past(journal).undo(action, "human")
    return action.label


def again(journal: Journal) -> str:
    action = history.Past(journal).redoable(person)
    assert action is not None
    history.Past(journal).redo(action, "human")
    return action.label


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return open_journal(tmp_path / "s")


def test_every_action_can_be_taken_back_and_done_again(journal: Journal) -> None:
    states = [docs(journal)]
    steps: list[Doc] = [{"a": 1}, {"a": 2, "n": 3}, {"a": 2, "n": 5, "b": None}, {"b": [1]}]
    for doc in steps:
        put(journal, 1, doc)
        states.append(docs(journal))
    delete(journal, 1)
    states.append(docs(journal))
    for state in reversed(states[:-1]):
        take_back(journal)
        assert docs(journal) == state
    assert history.Past(journal).undoable(person) is None
    for state in states[1:]:
        again(journal)
        assert docs(journal) == state
    assert history.Past(journal).redoable(person) is None


def test_undo_and_redo_survive_a_reopening(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    put(journal, 1, {"a": 2})
    take_back(journal)
    journal.close()
    other = open_journal(journal.folder)
    assert again(other) == "put 1"
    assert docs(other) == {"1": {"a": 2}}
    take_back(other)
    take_back(other)
    assert docs(other) == {}


def test_undo_takes_this_persons_latest_and_leaves_the_agents(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    put(journal, 2, {"b": 1}, actor="agent:claude-code")
    assert take_back(journal) == "put 1"
    assert docs(journal) == {"2": {"b": 1}}


def test_an_agents_action_is_undone_by_its_revision(journal: Journal) -> None:
    rev = put(journal, 2, {"b": 1}, actor="agent:claude-code")
    put(journal, 1, {"a": 1})
    action = history.Past(journal).action_of(str(rev))
    assert action is not None
    history.Past(journal).undo(action, "human")
    assert docs(journal) == {"1": {"a": 1}}
    assert history.is_undone(journal, action)
    assert take_back(journal) == "put 1"


def test_what_an_agent_took_back_is_not_undone_again(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    rev = put(journal, 2, {"b": 1})
    action = history.Past(journal).action_of(str(rev))
    assert action is not None
    history.Past(journal).undo(action, "agent:claude-code")
    assert take_back(journal) == "put 1"


def test_a_later_change_of_the_same_field_is_never_overwritten(journal: Journal) -> None:
    put(journal, 1, {"a": 1, "b": 1})
    put(journal, 1, {"a": 2, "b": 1})
    put(journal, 1, {"a": 3, "b": 1}, actor="agent:claude-code")
    before = docs(journal), journal.rev
    with pytest.raises(UndoConflict, match="a of t 1 was changed since") as caught:
        take_back(journal)
    assert caught.value.clashes == (Clash("t", "1", "a", 1, 3),)
    assert (docs(journal), journal.rev) == before


def test_a_later_change_of_another_field_stays(journal: Journal) -> None:
    put(journal, 1, {"a": 1, "b": 1})
    put(journal, 1, {"a": 2, "b": 1})
    put(journal, 1, {"a": 2, "b": 9}, actor="agent:claude-code")
    take_back(journal)
    assert docs(journal) == {"1": {"a": 1, "b": 9}}


def test_a_deleted_or_recreated_record_clashes(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    put(journal, 1, {"a": 2})
    delete(journal, 1, actor="agent:x")
    with pytest.raises(UndoConflict, match="now gone") as gone:
        take_back(journal)
    assert gone.value.clashes[0].present is ABSENT
    put(journal, 2, {"a": 1})
    delete(journal, 2)
    put(journal, 2, {"z": 1}, actor="agent:x")
    with pytest.raises(UndoConflict):
        take_back(journal)


def test_several_clashes_are_counted(journal: Journal) -> None:
    put(journal, 1, {"a": 1, "b": 1})
    put(journal, 1, {"a": 2, "b": 2})
    put(journal, 1, {"a": 3, "b": 3}, actor="agent:x")
    with pytest.raises(UndoConflict, match="and 1 more fields"):
        take_back(journal)


def test_votes_add_up_whoever_undoes_first(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    put(journal, 1, {"a": 1, "n": 1})
    put(journal, 1, {"a": 1, "n": 2}, actor="agent:x")
    take_back(journal)
    assert docs(journal) == {"1": {"a": 1, "n": 1}}
    again(journal)
    assert docs(journal) == {"1": {"a": 1, "n": 2}}


def test_nothing_is_undone_or_redone_twice(journal: Journal) -> None:
    rev = put(journal, 1, {"n": 1})
    put(journal, 1, {"n": 5})
    action = history.Past(journal).action_of(str(rev + 1))
    assert action is not None
    with pytest.raises(Conflict, match="not undone"):
        history.Past(journal).redo(action, "human")
    history.Past(journal).undo(action, "human")
    with pytest.raises(Conflict, match="already undone"):
        history.Past(journal).undo(action, "human")
    assert docs(journal) == {"1": {"n": 1}}


def test_a_new_edit_ends_what_can_be_redone(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    take_back(journal)
    put(journal, 2, {"a": 2})
    assert history.Past(journal).redoable(person) is None
    take_back(journal)
    assert again(journal) == "put 2"
    assert history.Past(journal).redoable(person) is None


def test_reads_by_agents_neither_are_undone_nor_stand_in_the_way(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("human", "add") as tx:
        tx.put(memory(1))
    from dataclasses import replace

    with library.transaction("human", "touch") as tx:
        tx.put(
            replace(
                library.memories.get("m1"),
                access_count=1,
                pinned=True,
                last_accessed_at=NOON.replace(hour=13),
            )
        )
    with library.transaction("mcp", "read", kind="access") as tx:
        tx.put(
            replace(
                library.memories.get("m1"), access_count=4, last_accessed_at=NOON.replace(hour=15)
            )
        )
    take_back(library.journal)
    assert not library.memories.get("m1").pinned
    assert library.memories.get("m1").last_accessed_at == NOON.replace(hour=15)
    take_back(library.journal)
    assert library.memories.all() == []


@pytest.mark.slow
def test_an_import_in_chunks_is_one_action(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("human", "before") as tx:
        tx.put(memory(0))
    for chunk in range(20):
        with library.transaction(
            "import:x.json", "import", group="import-7", more=chunk < 19
        ) as tx:
            for number in range(100):
                tx.put(memory(1 + chunk * 100 + number))
        if chunk == 3:
            with library.transaction("agent:x", "in between") as tx:
                tx.put(memory(9000))
    assert len(library.memories) == 2002
    assert not library.journal.unfinished
    for key in ("import-7", str(library.journal.rev), "9"):
        action = history.Past(library.journal).action_of(key)
        assert action is not None
        assert len(action.entries) == 20
    assert action is not None
    history.Past(library.journal).undo(action, "human")
    assert [m.id for m in library.memories.all()] == ["m0", "m9000"]
    history.Past(library.journal).redo(action, "human")
    assert len(library.memories) == 2002


def test_what_several_parts_changed_is_taken_back_from_the_last(tmp_path: Path) -> None:
    """A record that two parts of one action change comes back through both, the later one first."""
    library = open_library(tmp_path / "s")
    with library.transaction("human", "before") as tx:
        tx.put(memory(0, "as it was"))
    for part, text in enumerate(("after the first part", "after the second part"), 1):
        with library.transaction(
            "human", "rewrite", group="rewrite-1", part=part, more=part == 1
        ) as tx:
            tx.put(memory(0, text))
    action = history.Past(library.journal).action_of("rewrite-1")
    assert action is not None
    history.Past(library.journal).undo(action, "human")
    assert library.memories.get("m0").content == "as it was"
    history.Past(library.journal).redo(action, "human")
    assert library.memories.get("m0").content == "after the second part"


def test_an_import_that_was_cut_short_is_reported_and_can_be_undone(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    for _ in range(2):
        with library.transaction(
            "import:x.json", "import x.json", group="import-1", more=True
        ) as tx:
            tx.put(memory(len(library.memories)))
    library.close()
    library = open_library(tmp_path / "s")
    assert library.journal.unfinished == {"import-1": "import x.json"}
    action = history.Past(library.journal).action_of("import-1")
    assert action is not None
    history.Past(library.journal).undo(action, "human")
    assert library.memories.all() == []
    assert not library.journal.unfinished


def test_an_unknown_action_is_none(journal: Journal) -> None:
    put(journal, 1, {"a": 1})
    assert history.Past(journal).action_of("77") is None
    assert history.Past(journal).redoable(person) is None


@pytest.mark.slow
def test_a_hundred_mixed_actions_taken_back_leave_the_start(journal: Journal) -> None:
    for doc_id in range(5):
        put(journal, doc_id, {"id": f"x{doc_id}", "a": doc_id, "n": doc_id}, actor="agent:start")
    start = docs(journal)
    for step in range(100):
        doc_id = step * 7 % 9
        doc = docs(journal).get(str(doc_id))
        if doc is not None and step % 4 == 0:
            delete(journal, doc_id)
        else:
            put(
                journal,
                doc_id,
                {**(doc or {}), "a": [step], "n": step % 3, "b": None if step % 2 else step},
            )
    while (action := history.Past(journal).undoable(person)) is not None:
        history.Past(journal).undo(action, "human")
    assert docs(journal) == start
