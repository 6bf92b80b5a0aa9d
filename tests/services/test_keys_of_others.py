"""A key that another program, or a newer version, put into a document stays there, whatever is done
to its record.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tinydb import TinyDB, where

from tests.services.conftest import NOON, Open, memory, put
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.memory import Source
from workbench.core.tuning.judgment import SavedQuery
from workbench.services.health.backup import back_up
from workbench.services.open import Workbench
from workbench.store.maintenance.backup import restore

THEIRS = {"x_colour": {"hue": [1, 2.5, None], "név": "kék"}, "zz": None}
"""What another program wrote: nested, with a null, and beside the keys of ours in no order of
theirs.
"""

RECORDS = (
    memory("m1", "The build needs two caches.", source=Source("Stop", 4)),
    Book("main"), Section("rules", "rules", "RULES", "main"), Bullet("r-00001", "rules", "Ask first."),
    SavedQuery("q1", "which caches", NOON),
)  # fmt: skip
NAMES = {
    "memories": "m1",
    "bullets": "r-00001",
    "sections": "rules",
    "books": "main",
    "queries": "q1",
}


def theirs(bench: Workbench) -> dict[str, dict[str, object]]:
    """Return what of theirs the documents hold, as the file says it after a checkpoint."""
    bench.library.save_checkpoint()
    return in_file(bench.library.folder)


def in_file(folder: Path) -> dict[str, dict[str, object]]:
    tables = json.loads((folder / "memory.json").read_text("utf-8"))
    docs = {
        name: next(doc for doc in tables[name].values() if doc.get("id", "main") == id)
        for name, id in NAMES.items()
    }
    return {name: {key: doc[key] for key in THEIRS if key in doc} for name, doc in docs.items()}


@pytest.fixture
def shared(open_bench: Open) -> Workbench:
    """A store into whose documents another program wrote, which a person took over."""
    bench = open_bench()
    put(bench, *RECORDS)
    bench.library.save_checkpoint()
    bench.close()
    with TinyDB(bench.library.folder / "memory.json") as plain:
        for table in NAMES:
            plain.table(table).update(THEIRS)
        plain.table("memories").update(
            {"source": {"hook": "Stop", "turn": 4, "host": "ci"}}, where("id") == "m1"
        )
    bench = open_bench()
    assert bench.care.accept_edit()
    return bench


ALL = dict.fromkeys(NAMES, THEIRS)


def test_they_are_there_as_they_were_written_also_in_a_backup(
    shared: Workbench, tmp_path: Path
) -> None:
    assert theirs(shared) == ALL
    back_up(shared, tmp_path / "b.tar.gz", NOON)
    restore(tmp_path / "b.tar.gz", tmp_path / "again")
    assert in_file(tmp_path / "again") == ALL


ACTS: dict[str, Callable[[Workbench], object]] = {
    "vote": lambda b: b.stream.vote(["m1"], "helpful"),
    "pin": lambda b: b.stream.pin(["m1"]),
    "edit": lambda b: b.stream.edit("m1", "The build needs three caches."),
    "forget": lambda b: b.stream.forget(["m1"]),
    "vote on a bullet": lambda b: b.playbooks.vote("main", ["r-00001"], "helpful"),
    "edit a bullet": lambda b: b.playbooks.edit("main", "r-00001", "Ask twice."),
    "delete a bullet": lambda b: b.playbooks.delete("main", ["r-00001"]),
}


@pytest.mark.parametrize("name", ACTS)
def test_they_stay_when_their_record_is_changed_and_that_is_undone_and_done_again(
    shared: Workbench, name: str, open_bench: Open
) -> None:
    before = shared.library.revision
    ACTS[name](shared)
    assert shared.library.revision > before
    assert name.startswith("delete") or theirs(shared) == ALL
    shared.close()
    again = open_bench()
    again.history.undo()
    assert theirs(again) == ALL
    again.history.redo()
    assert name.startswith("delete") or theirs(again) == ALL


def test_one_within_a_part_of_a_record_stays_too(shared: Workbench) -> None:
    shared.stream.vote(["m1"], "helpful")
    shared.library.save_checkpoint()
    text = (shared.library.folder / "memory.json").read_text("utf-8")
    assert [doc["source"] for doc in json.loads(text)["memories"].values()] == [
        {"hook": "Stop", "turn": 4, "host": "ci"}
    ]
