"""One change, one document, one diff: the work of a change is counted, not timed."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.calls import calls_of
from tests.services.conftest import NOON, Clock
from tests.store import helpers
from workbench.core import change
from workbench.core.document import to_doc
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.memory import Memory
from workbench.formats import ace as writing
from workbench.services.open import Workbench
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.stream.fields import FieldEdit
from workbench.store import entry, history
from workbench.store.append import Appending
from workbench.store.entry import memory_id
from workbench.store.library import Library
from workbench.store.table import Table

BULLETS = 318
"""As many as a trained playbook of the field has."""


def _work(do: Callable[[], object]) -> tuple[int, int]:
    """Return how many documents something makes of records, and how many pairs of documents it
    compares.
    """
    docs, changes, diffs = calls_of([to_doc, change.diff, entry.diff_docs], do)
    return docs, changes + diffs


def _memory(id: str, content: str, **fields: object) -> Memory:
    return Memory(id, content, created_at=NOON, last_accessed_at=NOON, **fields)  # type: ignore[arg-type]


@pytest.fixture
def book(bench: Workbench) -> Workbench:
    """A playbook as it was read from a file."""
    with bench.library.transaction("human", "a playbook") as tx:
        tx.put(Book("rules"))
        for s in range(6):
            tx.put(Section(f"s{s}", f"s{s}", f"S{s}", "rules", float(s), raw=f"## S{s}"))
        for n in range(BULLETS):
            id, text = f"r-{n:05}", f"Rule {n} of many."
            raw = f"[{id}] helpful=0 harmful=0 :: {text}"
            tx.put(Bullet(id, f"s{n % 6}", text, "rules", float(n), raw=raw))
    return bench


@pytest.fixture
def candidates(bench: Workbench) -> tuple[Workbench, list[str]]:
    """Four candidates that rest on what somebody saw."""
    with bench.library.transaction("human", "candidates") as tx:
        seen = tx.new_memory_id(NOON)
        tx.put(_memory(seen, "Deploys fail when the cache is cold."))
        ids = [tx.new_memory_id(NOON) for _ in range(4)]
        for n, id in enumerate(ids):
            tx.put(_memory(id, f"Insight {n}.", status="candidate", citations=(seen,)))
    return bench, ids


def test_a_vote_makes_a_document_of_each_record_it_writes(book: Workbench) -> None:
    book.playbooks.view("rules")
    assert _work(lambda: book.playbooks.vote("rules", ["r-00100"], "helpful")) == (2, 2), (
        "the bullet and the vote"
    )
    made = calls_of([writing.write_playbook, Table.find], lambda: book.playbooks.view("rules"))
    assert made == [0, 1], "the votes are looked up together"
    assert _work(lambda: book.playbooks.vote("rules", ["r-00100"], "helpful")) == (1, 2), (
        "nothing is made of what goes"
    )
    for again in (book.history.undo, book.history.redo):
        again()
        assert calls_of([writing.write_playbook], lambda: book.playbooks.view("rules")) == [0]


def test_an_approval_makes_one_document_and_one_diff(
    candidates: tuple[Workbench, list[str]],
) -> None:
    bench, ids = candidates
    assert _work(lambda: bench.review.approve(ids[:1])) == (1, 1)
    assert _work(lambda: bench.review.edit(ids[1], FieldEdit("Said better."))) == (1, 1)
    assert _work(lambda: bench.review.approve(ids[1:])) == (3, 3)
    assert {bench.library.memories.get(id).status for id in ids} == {"confirmed"}


def test_what_would_be_approved_is_told_without_documents(
    candidates: tuple[Workbench, list[str]],
) -> None:
    bench, ids = candidates
    proposal = bench.review.get(ids[0])
    assert _work(lambda: bench.review.outcome(proposal)) == (0, 0)
    (told,) = bench.review.outcome(proposal)
    bench.review.approve([ids[0]])
    assert bench.library.memories.get(ids[0]) == told


def test_an_edit_its_undo_and_an_import_do_nothing_twice(
    bench: Workbench, clock: Clock, tmp_path: Path, candidates: tuple[Workbench, list[str]]
) -> None:
    ids = candidates[1]
    assert _work(lambda: bench.stream.edit(ids[0], "Another text.")) == (1, 1)
    assert _work(bench.history.undo) == (0, 1)
    clock.advance(minutes=1)
    path = tmp_path / "notes.jsonl"
    path.write_text(
        "".join(
            f'{{"id": "n{n}", "content": "Note {n}.", "created_at": "{NOON}"}}\n'
            for n in range(100)
        )
    )
    plan = bench.importer.plan(path)
    assert _work(lambda: bench.importer.carry_out(plan)) == (101, 101), (
        "the notes, and what was read of the file"
    )


def test_an_undo_takes_the_action_from_the_look_that_found_it(
    candidates: tuple[Workbench, list[str]],
) -> None:
    bench, ids = candidates
    bench.stream.edit(ids[0], "Another text.")
    assert calls_of([history.Past.undoable, history.Past.action_of], bench.history.undo) == [1, 0]
    assert bench.library.memories.get(ids[0]).content == "Insight 0."


def test_each_change_passes_the_gate_once(
    bench: Workbench, candidates: tuple[Workbench, list[str]]
) -> None:
    assert calls_of([SecretFilter.__call__], lambda: bench.review.approve(candidates[1][:1])) == [1]


def test_an_appended_memory_is_one_document_and_one_diff(bench: Workbench) -> None:
    folder = bench.library.folder
    bench.library.journal.begin()

    def add(block: Appending) -> None:
        block.add(_memory(block.new_memory_id(NOON), "Seen just now."))

    def run() -> None:
        helpers.append(folder, "agent:a", "observe", lambda: NOON + timedelta(hours=1), add)

    assert _work(run) == (1, 1)
    bench.library.refresh()
    assert bench.library.memories.get(memory_id(NOON, 1)).content == "Seen just now."


def test_memories_appended_where_no_store_was_are_compared_once(tmp_path: Path) -> None:
    def add(block: Appending) -> None:
        block.add(_memory(block.new_memory_id(NOON), "Seen just now."))
        block.count(5.0, NOON)

    def run() -> None:
        helpers.append(tmp_path / "new", "agent:a", "observe", lambda: NOON, add)

    assert _work(run) == (2, 2), "the memory and the gauge"
    library = Library(tmp_path / "new", lambda: NOON)
    assert library.memories.get(memory_id(NOON, 1)).content == "Seen just now."
    library.close()
