"""Who said a memory: kept, taken back, and never dropped by a version that does not know of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.helpers import clock, lines, memory, open_library
from workbench.bench.stream.hook import append
from workbench.bench.stream.observation import Observation
from workbench.core.errors import StoreProblem
from workbench.core.record import to_doc
from workbench.core.stream.memory import Memory, Source
from workbench.store.history import undo
from workbench.store.journal import segments
from workbench.store.journal.codec import loads
from workbench.store.library import Library


def schema(folder: Path) -> int:
    """Return the schema in the header of the active segment."""
    return int(loads(lines(folder)[0])["schema"])


def put(library: Library, *memories: Memory) -> None:
    with library.transaction("human", "put") as tx:
        for one in memories:
            tx.put(one)


def test_without_one_a_store_is_written_as_before(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    put(library, memory(1, source=Source("hook", 2, "f.py")))
    library.close()
    assert to_doc(memory(1, source=Source("hook"))) == {**to_doc(memory(1)), "source": {"hook": "hook"}}
    assert schema(tmp_path) == 1
    assert all(b"speaker" not in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_it_is_kept_and_taken_back(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    put(library, memory(1))
    put(library, replace(memory(1), source=Source(speaker="Ann Lee")))
    library.close()
    again = open_library(tmp_path)
    assert again.memories.get("m1").source == Source(speaker="Ann Lee")
    action = undo.action_of(again.journal, str(again.revision))
    assert action is not None
    undo.undo(again.journal, action, "human")
    assert again.memories.get("m1") == memory(1)
    undo.redo(again.journal, action, "human")
    assert again.memories.get("m1").source.speaker == "Ann Lee"


def test_a_version_that_would_drop_it_says_that_it_cannot_open_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_library(tmp_path)
    put(library, memory(1))
    assert schema(tmp_path) == 1
    put(library, memory(2, source=Source(speaker="user")))
    library.close()
    assert schema(tmp_path) == 3
    monkeypatch.setattr(segments, "SCHEMA", 2)
    with pytest.raises(StoreProblem, match="written by a newer workbench"):
        open_library(tmp_path)
    with pytest.raises(StoreProblem, match="written by a newer workbench"):
        append(tmp_path, Observation("A hook of the older version."), "agent:a", clock)


def test_a_hook_raises_the_schema_once_and_reads_the_tail_only_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(open_library(tmp_path), memory(1))
    append(tmp_path, Observation("Nobody knows who said this."), "agent:a", clock)
    assert schema(tmp_path) == 1
    first = append(tmp_path, Observation("Ann said this.", source=Source(speaker=" Ann ")), "agent:a", clock)
    assert schema(tmp_path) == 3
    monkeypatch.setattr("workbench.store.append._in_full", lambda *_: pytest.fail("the store was loaded"))
    second = append(tmp_path, Observation("Ben did not.", source=Source(speaker="Ben")), "agent:a", clock)
    library = open_library(tmp_path)
    assert [library.memories.get(one.memory.id).source.speaker for one in (first, second) if one] == ["Ann", "Ben"]
