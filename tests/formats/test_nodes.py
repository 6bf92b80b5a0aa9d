"""The two memory-stream formats: mapped values, stable ids, damage."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.formats.samples import GENAGENTS, NODES, NOW, context
from workbench.core.record import UnreadableFile
from workbench.formats import streams
from workbench.formats.streams import agent_name


def test_a_genagents_stream() -> None:
    parsed = streams.read_list(GENAGENTS, context("agents/Joon Park/memory_stream/nodes.json"))
    first, reflection, dream = parsed.memories
    assert (first.id, first.content, first.importance_score) == (
        "ga-joon-park-0",
        "Interviewer: \n",
        0.0,
    )
    assert (first.memory_type, first.is_synthetic) == ("episodic", False)
    assert first.created_at == NOW - timedelta(hours=4)
    assert first.last_accessed_at == NOW - timedelta(hours=2)
    assert reflection.created_at == NOW
    assert (reflection.memory_type, reflection.is_synthetic, reflection.importance_score) == (
        "semantic",
        True,
        8.5,
    )
    assert reflection.citations == ("ga-joon-park-0", "ga-joon-park-1")
    assert reflection.metadata == {"mood": "calm"}
    assert (dream.observation_type, dream.metadata) == ("general", {"node_type": "dream"})
    assert dream.created_at == dream.last_accessed_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (dream.importance_score, dream.citations) == (10.0, ("ga-joon-park-2",))
    assert [(issue.line, issue.reason) for issue in parsed.issues] == [(4, "it has no content")]
    assert parsed.records_in == 4
    notes = {str(note) for note in parsed.mappings}
    assert "importance: mapped linearly from 0–100 to 0–10 (3 records)" in notes
    assert (
        "created: steps read as 1 h each, the last one at the time of the import (2 records)"
        in notes
    )


def test_steps_from_an_epoch_and_ids_that_do_not_depend_on_the_time() -> None:
    now = replace(context("joon.json"), now=NOW + timedelta(days=9))
    epoch = replace(now, epoch=datetime(2026, 1, 1, tzinfo=UTC), step_hours=0.5)
    late, early = streams.read_list(GENAGENTS, now), streams.read_list(GENAGENTS, epoch)
    assert [m.created_at for m in early.memories[:2]] == [
        epoch.epoch,
        datetime(2026, 1, 1, 2, tzinfo=UTC),
    ]
    assert (
        [m.id for m in late.memories]
        == [m.id for m in early.memories]
        == ["ga-joon-0", "ga-joon-2", "ga-joon-3"]
    )


def test_steps_that_no_calendar_holds() -> None:
    with pytest.raises(UnreadableFile, match="calendar"):
        streams.read_list(GENAGENTS, replace(context(), step_hours=1e9))
    parsed = streams.read_list(
        GENAGENTS.replace('"created": 5', '"created": 99999999999'), context()
    )
    assert [issue.line for issue in parsed.issues] == [4, 6]


def test_a_generative_agents_stream() -> None:
    parsed = streams.read_object(
        NODES, context("Klaus Mueller/bootstrap_memory/associative_memory/nodes.json")
    )
    chat, thought, event = parsed.memories
    assert [m.id for m in parsed.memories] == [
        "ga-klaus-mueller-5",
        "ga-klaus-mueller-3",
        "ga-klaus-mueller-1",
    ]
    assert (chat.memory_type, chat.tags, chat.citations) == ("episodic", ("paint", "Mei"), ())
    assert chat.metadata == {"filling": [["Klaus", "Hi"], ["Mei", "Hello"]]}
    assert (thought.memory_type, thought.is_synthetic, thought.importance_score) == (
        "semantic",
        True,
        5.0,
    )
    assert thought.citations == ("ga-klaus-mueller-1", "ga-klaus-mueller-2")
    assert thought.metadata == {"expiration": "2023-03-15 00:00:00"}
    assert (
        thought.created_at
        == thought.last_accessed_at
        == datetime(2023, 2, 13, 7, 0, 10, tzinfo=UTC)
    )
    assert (event.memory_type, event.is_synthetic, event.metadata) == (
        "episodic",
        False,
        {"subject": "bed"},
    )
    assert [issue.line for issue in parsed.issues] == [3, 7]
    assert "this is blank" in parsed.issues[0].reason
    assert parsed.records_in == 5


@pytest.mark.parametrize(
    ("filling", "cited", "kept"),
    [("null", 0, False), ("[]", 0, False), ('["node_2"]', 1, False), ('"node_2"', 1, False), ('"he said"', 0, True),
     ('[["a", "b"]]', 0, True), ("[1, 2]", 2, False), ('{"a": 1}', 0, True)],
)  # fmt: skip
def test_fillings(filling: str, cited: int, kept: bool) -> None:
    node = '{"node_1": {"type": "thought", "created": "2023-02-13 09:00:00", "description": "d", "filling": %s}}'
    (memory,) = streams.read_object(node % filling, context()).memories
    assert len(memory.citations) == cited
    assert ("filling" in memory.metadata) is kept
    assert memory.importance_score == 7.0


@pytest.mark.parametrize(
    "text", ["", "null", "[", "{", "{1: 2}", "[}", '{"node_1" {}}', "[" * 100_000, "word"]
)
def test_a_file_without_a_single_node_cannot_be_read(text: str) -> None:
    for read in (streams.read_list, streams.read_object):
        with pytest.raises(UnreadableFile, match=r"cannot be read: .* \(line 1\)"):
            read(text, context())


def test_a_cut_off_file_gives_what_stands_before_the_damage() -> None:
    parsed = streams.read_list(GENAGENTS[: GENAGENTS.index('"pointer_id": [0')], context())
    assert [m.content for m in parsed.memories] == ["Interviewer: \n"]
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(4, 1), (6, 1)]
    tail = streams.read_list(GENAGENTS + "more", context())
    assert len(tail.memories) == 3
    assert "more text after the end" in tail.issues[-1].reason


def test_a_node_number_used_twice_is_reported() -> None:
    parsed = streams.read_list(GENAGENTS.replace('"node_id": 2', '"node_id": 0'), context())
    assert "already used" in parsed.issues[-1].reason
    assert len(parsed.memories) == 2


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/Klaus Mueller/bootstrap_memory/associative_memory/nodes.json", "klaus-mueller"),
        ("/data/Ann_B/memory_stream/nodes.json", "ann-b"),
        ("Downloads/klaus_nodes.json", "klaus-nodes"),
        ("Downloads/nodes.json", ""),
        ("memory_stream/nodes.json", ""),
    ],
)
def test_agent_names(path: str, name: str) -> None:
    assert agent_name(path) == name


def test_nameless_files_of_two_agents_do_not_share_ids() -> None:
    other = GENAGENTS.replace("Interviewer", "Host")
    one, two = (
        streams.read_list(text, context("nodes.json")).memories[0].id for text in (GENAGENTS, other)
    )
    assert one != two
    grown = GENAGENTS.rstrip().rstrip("]") + ', {"node_id": 9, "content": "new", "created": 7}]'
    assert streams.read_list(grown, context("nodes.json")).memories[0].id == one
