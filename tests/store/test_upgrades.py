import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.helpers import clock, failing, memory, open_journal, open_library
from workbench.core.errors import StoreProblem
from workbench.core.playbook.book import Book
from workbench.store import upgrades
from workbench.store.entry import Doc
from workbench.store.history import undo
from workbench.store.library import Library
from workbench.store.upgrades import STEPS, Step

FIXTURE = Path(__file__).parent / "fixtures" / "records-0"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of record version 0, with a checkpoint and two lines after it."""
    return Path(shutil.copytree(FIXTURE, tmp_path / "s"))


def changed(old: Path) -> Library:
    """Open a store and change something in it; what is upgraded is upgraded before that."""
    library = Library(old, clock)
    with library.transaction("human", "change"):
        pass
    return library


@pytest.mark.parametrize("open_it", [Library, changed])
def test_a_store_of_version_0_opens_with_everything_in_it(old: Path, open_it: Callable[[Path], Library]) -> None:
    library = open_it(old)
    assert [(m.id, m.content, m.helpful_votes) for m in library.memories.all()] == [
        ("mem-20260301-0000001", "The build needs step 1 before the tests.", 1),
        ("mem-20260301-0000002", "Second, edited.", 0),
    ]
    assert library.books.get("main") == Book()
    assert library.bullets.get("main/misc-00001").content == "Read the log first."
    assert library.reflection.get("reflection").observations_since_last == 1


def test_it_is_upgraded_with_the_first_change(old: Path) -> None:
    rev = Library(old, clock).journal.rev
    tables = changed(old).journal.state.tables
    assert {doc["version"] for docs in tables.values() for doc in docs.values()} == {1}
    assert tables["books"]["1"]["id"] == "main"
    assert Library(old, clock).journal.rev == rev + 1


def test_the_store_as_it_was_is_kept(old: Path) -> None:
    before = {p.name: p.read_bytes() for p in old.iterdir()}
    library = changed(old)
    (copy,) = old.glob("backup-*")
    assert {p.name: p.read_bytes() for p in copy.iterdir()} == before
    assert copy.stat().st_mode & 0o777 == 0o700
    assert copy.name in str(library.journal.notices[0])


def test_it_is_upgraded_once(old: Path) -> None:
    rev = changed(old).journal.rev
    library = changed(old)
    assert (library.journal.rev, library.journal.notices) == (rev, [])
    assert len(list(old.glob("backup-*"))) == 1


def test_what_was_done_before_can_still_be_undone(old: Path) -> None:
    library = Library(old, clock)
    for label in ("edit", "vote helpful", "new playbook main"):
        action = undo.undoable(library.journal, lambda actor: actor == "human")
        assert action is not None
        assert action.label == label
        undo.undo(library.journal, action, "human")
    action = undo.action_of(library.journal, "import-1")
    assert action is not None
    undo.undo(library.journal, action, "human")
    assert library.memories.all() == []
    assert library.books.all() == []


def test_steps_run_in_order_and_only_where_they_are_due(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "add") as tx:
        tx.put(memory(1))
    library.db.table("memories").insert({"id": "old", "content": "x"})
    library.db.table("other").insert({"id": "not ours"})

    def note(mark: str) -> upgrades.Rule:
        def rule(table: str, doc: Doc) -> Doc:
            return {**doc, "tags": [*doc.get("tags", []), f"{table}-{mark}"]}

        return rule

    steps = (*STEPS, Step(2, note("two"), must=True), Step(3, note("three"), must=True))
    assert upgrades.run(library.journal, frozenset({"memories", "votes"}), steps) == 2
    docs = library.journal.state.tables["memories"]
    assert [(d["version"], d["tags"]) for d in docs.values()] == [(3, ["memories-two", "memories-three"])] * 2
    assert library.journal.state.tables["other"] == {"1": {"id": "not ours"}}
    assert upgrades.run(library.journal, frozenset({"memories"}), steps) == 0
    with pytest.raises(StoreProblem, match="version 3; this workbench reads up to 1"):
        open_library(tmp_path)


def test_without_room_for_the_copy_nothing_is_changed(old: Path) -> None:
    before = {p.name: p.read_bytes() for p in old.iterdir()}
    full = OSError(28, "No space left on device")
    with failing(shutil, "copyfileobj", full):
        library = changed(old)
        assert "could not be upgraded" in str(library.journal.notices[0])
        assert len(library.memories) == 2
        with pytest.raises(StoreProblem, match="no space left"):
            upgrades.run(library.journal, frozenset({"memories"}), (Step(1, lambda t, d: d, must=True),))
    assert {p.name: p.read_bytes() for p in old.iterdir() if p.name in before} == before
    assert changed(old).journal.rev == 6


def test_two_who_open_it_at_once_upgrade_it_once(old: Path) -> None:
    journal, other = open_journal(old), open_journal(old)
    tables = frozenset({"memories"})
    assert upgrades.run(journal, tables) == 2
    assert upgrades.run(other, tables) == 0
    assert other.rev == journal.rev
