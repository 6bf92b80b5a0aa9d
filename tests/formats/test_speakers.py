"""Who said it, in every format that knows."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from tests.formats.diffing import after
from tests.formats.others import MESSAGES
from tests.formats.samples import NOW, context
from workbench.core.files.format import Parsed
from workbench.core.stream.memory import FILE_KEY, NO_SOURCE, Memory, Source
from workbench.formats import claude_mem, exports, external, lifecycle, mem0, streams
from workbench.formats import plain_read as reading

ANN = Memory("m1", "I moved to Bath.", NOW, NOW, source=Source("hook", 3, "f.py", "Ann Lee"))
NOBODY = Memory("m2", "It rains.", NOW, NOW, source=Source("hook"))


def speakers(memories: Iterable[Memory]) -> list[str | None]:
    return [memory.source.speaker for memory in memories]


def entry(**source: object) -> str:
    doc = {
        "id": "a",
        "timestamp": "2026-03-01T10:00:00Z",
        "type": "error",
        "source": source,
        "context": "It failed.",
    }
    return json.dumps(doc) + "\n"


def test_an_entry_carries_it_and_is_as_before_without() -> None:
    first, second = map(json.loads, lifecycle.write(Parsed(memories=(ANN, NOBODY))).splitlines())
    assert first["source"] == {"hook": "hook", "turn": 3, "file": "f.py", "speaker": "Ann Lee"}
    assert second["source"] == {"hook": "hook", "turn": None, "file": None}
    again = lifecycle.read(lifecycle.write(Parsed(memories=(ANN, NOBODY))), context())
    assert (again.memories, again.mappings) == ((ANN, NOBODY), ())


@pytest.mark.parametrize("given", [None, "", "  ", 7, ["Ann"], "Ann"])
def test_an_entry_comes_back_as_it_was_whoever_said_it(given: object) -> None:
    text = entry(hook=None, turn=None, file=None, speaker=given)
    parsed = lifecycle.read(text, context())
    assert speakers(parsed.memories) == ["Ann" if given == "Ann" else None]
    assert lifecycle.write(parsed) == text
    assert bool([m for m in parsed.mappings if m.field == "source"]) == (
        given in ("  ", 7, ["Ann"])
    )


def test_what_an_older_version_kept_of_an_entry_is_written_back() -> None:
    text = entry(hook="h", turn=1, file=None, speaker="Ann")
    (memory,) = lifecycle.read(text, context()).memories
    # It knew no speakers: the source as the file wrote it stood beside the memory's own.
    raw = {"hook": "h", "turn": 1, "file": None, "speaker": "Ann"}
    stored = replace(
        memory,
        source=Source("h", 1),
        metadata={FILE_KEY: {**memory.metadata[FILE_KEY], "values": {"source": raw}}},  # type: ignore[dict-item]
    )
    assert lifecycle.write(Parsed(memories=(stored,))) == text
    filled = replace(stored, source=Source("h", 1, None, "Ann"))
    assert lifecycle.write(Parsed(memories=(filled,))) == text
    other = replace(stored, source=Source("h", 1, None, "Ben"))
    assert json.loads(lifecycle.write(Parsed(memories=(other,))))["source"]["speaker"] == "Ben"


@pytest.mark.parametrize("write", [exports.write_json, exports.write_yaml, exports.write_csv])
def test_plain_rows_carry_it(write: Callable[[Parsed, str | None], str]) -> None:
    text = write(Parsed("json", memories=(ANN, NOBODY)), None)
    assert text.count("speaker") == 1
    assert [m.source for m in reading.read(text, context()).memories] == [ANN.source, NOBODY.source]


def test_messages_are_said_by_their_role_or_a_name() -> None:
    more = (
        '{"role": "user", "name": "Ann Lee", "content": "I moved."}\n'
        '{"role": "tool", "name": "grep", "content": "3 hits"}\n'
        '{"type": "assistant", "message": {"role": "assistant", "name": "Sam", "content": "Good."}}\n'
        '{"role": " ", "content": "From nowhere."}\n'
    )
    parsed = external.read(MESSAGES + more, context("messages.jsonl"))
    known = ["user", "assistant", "assistant", "user", "Ann Lee", "tool", "Sam", None]
    assert speakers(parsed.memories) == known
    assert external.write(parsed, MESSAGES + more) == MESSAGES + more
    changed = after(parsed, MESSAGES + more, parsed.memories[4].id, content="I stayed.")
    assert changed == (MESSAGES + more).replace("I moved.", "I stayed.")


@pytest.mark.parametrize("speaker", ["user", "assistant", "system", "tool", "Ann Lee"])
def test_a_new_message_is_read_as_said_by_who_said_it(speaker: str) -> None:
    text = external.write(Parsed(memories=(replace(ANN, source=Source(speaker=speaker)),)))
    assert speakers(external.read(text, context("messages.jsonl")).memories) == [speaker]
    assert '"name"' not in external.write(Parsed(memories=(NOBODY,)))


@pytest.mark.parametrize(
    ("filling", "subject", "speaker"),
    [
        ([["Mei", "Hello"], ["Mei", "Anyone?"]], "Klaus", "Mei"),
        ([["Klaus", "Hi"], ["Mei", "Hello"]], "Mei", "Mei"),
        ([["Klaus", "Hi"], ["Mei", "Hello"]], "Ann", None),
        ("Klaus said hi", "Klaus", None),
        ([["Klaus"], "x", [1, "y"]], "Klaus", None),
        (None, "Klaus", None),
    ],
)
def test_a_chat_is_said_by_its_one_speaker_or_its_subject(
    filling: object, subject: str, speaker: str | None
) -> None:
    node = {
        "created": "2023-02-13 09:00:00",
        "description": "Mei: talking",
        "poignancy": 3,
        "subject": subject,
    }
    nodes = {
        "node_2": {**node, "type": "chat", "filling": filling},
        "node_1": {**node, "type": "event", "filling": [["Mei", "Hello"]]},
    }
    parsed = streams.read_object(json.dumps(nodes), context())
    assert speakers(parsed.memories) == [speaker, None]


def test_an_observation_is_the_assistants_or_its_subagents() -> None:
    rows = [
        {"id": 1, "title": "One", "agent_type": "Explore"},
        {"id": 2, "title": "Two", "agent_type": None},
    ]
    parsed = claude_mem.read(json.dumps({"observations": rows}), context())
    assert speakers(parsed.memories) == ["Explore", "assistant"]


def test_a_mem0_memory_is_said_by_its_actor_or_role() -> None:
    rows = [
        {"id": "1", "memory": "a", "actor_id": "Ann", "role": "user"},
        {"id": "2", "memory": "b", "role": "assistant"},
        {"id": "3", "memory": "Ann: c"},
    ]
    parsed = mem0.read(json.dumps({"results": rows}), context())
    assert speakers(parsed.memories) == ["Ann", "assistant", None]
    assert parsed.memories[2].source == NO_SOURCE
