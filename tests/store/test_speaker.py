"""Who said a memory: kept, taken back, and told by hooks."""

from dataclasses import replace
from pathlib import Path

from tests.store.helpers import clock, memory, open_library
from workbench.core.document import to_doc
from workbench.core.stream.memory import Memory, Source
from workbench.services.stream.observation import Observation, append
from workbench.store import history
from workbench.store.library import Library


def put(library: Library, *memories: Memory) -> None:
    with library.transaction("human", "put") as tx:
        for one in memories:
            tx.put(one)


def test_without_one_a_store_is_written_as_before(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    put(library, memory(1, source=Source("hook", 2, "f.py")))
    library.close()
    assert to_doc(memory(1, source=Source("hook"))) == {
        **to_doc(memory(1)),
        "source": {"hook": "hook"},
    }
    assert all(b"speaker" not in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_it_is_kept_and_taken_back(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    put(library, memory(1))
    put(library, replace(memory(1), source=Source(speaker="Ann Lee")))
    library.close()
    again = open_library(tmp_path)
    assert again.memories.get("m1").source == Source(speaker="Ann Lee")
    action = history.Past(again.journal).action_of(str(again.revision))
    assert action is not None
    history.Past(again.journal).undo(action, "human")
    assert again.memories.get("m1") == memory(1)
    history.Past(again.journal).redo(action, "human")
    assert again.memories.get("m1").source.speaker == "Ann Lee"


def test_a_hook_says_it(tmp_path: Path) -> None:
    put(open_library(tmp_path), memory(1))
    said = [
        append(
            tmp_path,
            Observation(f"{who} said this.", source=Source(speaker=f" {who} ")),
            "agent:a",
            clock,
        )
        for who in ("Ann", "Ben")
    ]
    library = open_library(tmp_path)
    assert [library.memories.get(one.memory.id).source.speaker for one in said if one] == [
        "Ann",
        "Ben",
    ]
