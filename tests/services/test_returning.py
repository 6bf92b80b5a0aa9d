"""Texts that come in again after they were archived or purged: by the reason of that, however long
ago.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Clock, bring, memory, put
from tests.services.ingested import RULE, WORDS, fill_up
from workbench.core.record import InvalidRecord
from workbench.core.review import lifecycle
from workbench.core.stream.memory import Memory
from workbench.services.agents.requests import AgentRequests
from workbench.services.open import Workbench, open_workbench
from workbench.services.stream.ingest import Ingest
from workbench.services.stream.observation import Observation


@pytest.fixture
def bench(tmp_path: Path, clock: Clock) -> Iterator[Workbench]:
    """An empty store on a machine that remembers it."""
    opened = open_workbench(
        tmp_path / "store", profiles=tmp_path / "profiles", clock=clock, heads=tmp_path / "heads"
    )
    yield opened
    opened.close()


def as_agent(bench: Workbench, name: str = "agent:claude") -> Ingest:
    return Ingest(replace(bench.context, actor=name), bench.retriever)


def archived(bench: Workbench, reason: str, text: str = RULE, **metadata: str) -> Memory:
    found = memory("m1", text)
    gone = lifecycle.archive(found, reason)  # type: ignore[arg-type]
    put(bench, found)
    put(bench, replace(gone, metadata={**gone.metadata, **metadata}))
    return bench.stream.get("m1")


@pytest.mark.parametrize("reason", ["forgotten", "rejected"])
@pytest.mark.parametrize("later", [0, 12])
@pytest.mark.parametrize("way", ["add", "append"])
def test_a_person_is_told_what_was_not_wanted(
    bench: Workbench, clock: Clock, reason: str, later: int, way: str
) -> None:
    archived(bench, reason)
    clock.advance(days=1)
    fill_up(bench, later)
    rev = bench.library.revision
    done = getattr(bench.ingest, way)(Observation(f"  {RULE.upper()} "))
    assert done.outcome == "forgotten"
    assert done.memory.id == "m1"
    assert done.at == NOON
    assert bench.library.revision == rev
    assert getattr(bench.ingest, way)(Observation(RULE), again=True).outcome == "created"
    assert getattr(bench.ingest, way)(Observation(RULE)).outcome in ("skipped", "absorbed")


@pytest.mark.parametrize("way", ["add", "append"])
def test_an_agent_counts_as_seen_and_two_sessions_ask(
    bench: Workbench, clock: Clock, way: str
) -> None:
    archived(bench, "forgotten")
    fill_up(bench)
    asked = []
    for session in ("s1", "s1", "s2"):
        clock.advance(minutes=1)
        done = getattr(as_agent(bench), way)(Observation(RULE, session_id=session))
        assert done.outcome == "seen"
        assert bench.stream.get("m1").status == "archived"
        asked.append([p for p in bench.review.queue() if p.kind == "return"])
    assert [len(some) for some in asked] == [0, 0, 1]
    assert bench.stream.get("m1").helpful_absorbed == 3
    (proposal,) = asked[-1]
    assert proposal.evidence == ("m1",)
    assert proposal.flags == ()
    assert bench.review.matching((proposal,), "lock_timeout return") == (proposal,)
    bench.review.approve([proposal.id])
    assert bench.stream.get("m1").status == "signal"


def test_a_rejected_return_is_asked_again_after_two_more_sessions(
    bench: Workbench, clock: Clock
) -> None:
    archived(bench, "rejected")
    for number in range(2):
        clock.advance(minutes=1)
        as_agent(bench).append(Observation(RULE, session_id=f"s{number}"))
    (first,) = [p for p in bench.review.queue() if p.kind == "return"]
    clock.advance(minutes=1)
    bench.review.reject([first.id])
    for number in range(2, 4):
        assert not [p for p in bench.review.queue() if p.kind == "return"]
        clock.advance(minutes=1)
        as_agent(bench).append(Observation(RULE, session_id=f"s{number}"))
    assert [p.id for p in bench.review.queue() if p.kind == "return"] != [first.id]


@pytest.mark.parametrize("way", ["add", "append"])
def test_what_was_pruned_comes_back(bench: Workbench, clock: Clock, way: str) -> None:
    archived(bench, "pruned")
    fill_up(bench)
    clock.advance(days=30)
    done = getattr(as_agent(bench), way)(Observation(RULE))
    back = bench.stream.get("m1")
    assert done.outcome == "restored"
    assert back.status == "signal"
    assert back.archived_reason is None
    assert back.last_accessed_at == NOON + timedelta(days=30)


@pytest.mark.parametrize(
    ("reason", "key"), [("merged", "merged_into"), ("superseded", "superseded_by")]
)
@pytest.mark.parametrize("way", ["add", "append"])
def test_what_was_merged_or_superseded_counts_for_its_successor(
    bench: Workbench, reason: str, key: str, way: str
) -> None:
    put(bench, memory("m2", "Deploys of the API wait for the migrations"))
    archived(bench, reason, **{key: "m2"})
    fill_up(bench)
    done = getattr(bench.ingest, way)(Observation(RULE, session_id="s9"))
    assert done.outcome == "absorbed"
    assert done.memory.id == "m2"
    assert bench.stream.get("m2").helpful_absorbed == 1
    put(bench, lifecycle.forget(bench.stream.get("m2")))
    assert getattr(bench.ingest, way)(Observation(RULE)).outcome == "forgotten"


def test_a_near_copy_of_what_was_forgotten_is_told(bench: Workbench) -> None:
    archived(bench, "forgotten")
    done = bench.ingest.add(Observation(RULE + "!"))
    assert done.outcome == "created"
    assert (done.unwanted and done.unwanted.id) == "m1"
    assert bench.ingest.add(Observation(f"Something about {WORDS[0]}")).unwanted is None


def purged(bench: Workbench, *names: str) -> None:
    bench.eraser.carry_out(bench.eraser.plan(names))


@pytest.mark.parametrize("way", ["add", "append"])
def test_a_purged_text_is_recognised(bench: Workbench, way: str) -> None:
    put(bench, memory("m1", "An earlier wording of the rule about migrations"))
    bench.stream.edit("m1", RULE)
    purged(bench, "m1")
    for text in (RULE, "An earlier wording of the rule about migrations"):
        for door in (bench.ingest, as_agent(bench)):
            done = getattr(door, way)(Observation(text))
            assert done.outcome == "purged"
            assert done.memory.id == "m1"
            assert done.at == NOON
    assert not bench.library.memories.all()
    assert RULE.encode() not in b"".join(
        path.read_bytes() for path in bench.library.folder.glob("*.json*")
    )
    assert getattr(bench.ingest, way)(Observation(RULE), again=True).outcome == "created"
    assert getattr(bench.ingest, way)(Observation(RULE)).outcome in ("skipped", "absorbed")


def test_an_import_leaves_out_what_was_purged(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(
        '{"id": "n1", "content": "Deploy on Fridays only after lunch"}\n'
        '{"id": "n2", "content": "The cache lives in Redis"}\n'
    )
    bench.importer.carry_out(bench.importer.plan(path, format="json-lines"))
    ids = {m.content: m.id for m in bench.library.memories.all()}
    purged(bench, ids["Deploy on Fridays only after lunch"])
    plan = bench.importer.plan(path, format="json-lines")
    assert plan.records == ()
    assert plan.purged == (ids["Deploy on Fridays only after lunch"],)
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x9", "content": "deploy on fridays  only after lunch"}\n')
    plan = bench.importer.plan(other, format="json-lines")
    assert plan.records == ()
    assert len(plan.purged) == 1
    again = bench.importer.plan(path, format="json-lines", again=True)
    bench.importer.carry_out(again)
    assert len(bench.library.memories.all()) == 2


def test_an_import_leaves_out_a_purged_bullet(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "playbook.md"
    bring(
        bench, path,
        "## OTHERS\n[shr-00001] helpful=1 harmful=0 :: Use pnpm\n[shr-00002] helpful=0 harmful=0 :: Pin it\n",
    )  # fmt: skip
    purged(bench, "shr-00001")
    plan = bench.importer.plan(path)
    assert plan.records == ()
    assert plan.purged == ("shr-00001",)


def test_an_agent_cannot_replace_a_memory_with_a_purged_text(bench: Workbench) -> None:
    put(bench, memory("m1", RULE), memory("m2", "Something else"))
    purged(bench, "m1")
    wishes = AgentRequests(replace(bench.context, actor="agent:claude"))
    with pytest.raises(InvalidRecord, match="erased this text"):
        wishes.replace(bench.stream.get("m2"), Observation(RULE))
