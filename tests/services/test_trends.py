"""Trends: what happened on which day, and that what was taken back did not."""

from datetime import UTC, timedelta, timezone

import pytest

from tests.services.conftest import NOON, Clock, Open, write
from workbench.core.agents.episodes.criteria import Criteria
from workbench.core.agents.read import AgentRead
from workbench.core.health import sparkline
from workbench.core.stream.memory import Memory, Source
from workbench.services.agents.api import AgentApi
from workbench.services.agents.reading_log import ReadingLog
from workbench.services.health.trends import DAYS, TrendsLook, summed
from workbench.services.open import Workbench
from workbench.services.stream.fields import FieldEdit

TODAY = -1


def made(id: str, days: float, **fields: object) -> Memory:
    at = NOON - timedelta(days=days)
    return Memory(id, f"what {id} says", at, at, **fields)  # type: ignore[arg-type]


def put(bench: Workbench, *memories: Memory) -> None:
    write(bench, *memories, by="agent:claude")


def candidates(bench: Workbench, *ids: str) -> None:
    put(bench, *(made(id, 3, status="candidate") for id in ids))


def test_an_empty_store_has_days_and_nothing_in_them(bench: Workbench) -> None:
    found = bench.trends.look(zone=UTC)
    assert len(found.days) == len(found.made) == DAYS == 42
    assert found.days[TODAY] == NOON.date()
    held = (*found.statuses.values(), *found.sources.values())
    assert not any((*found.made, *found.decided, *found.voted, *held))
    assert found.approval is None
    assert found.types == {}
    assert found.categories == {}


def test_memories_by_day_type_and_category_and_older_ones_only_in_what_is_held(
    bench: Workbench,
) -> None:
    put(
        bench,
        made("a", 0, observation_type="error", category="ci"),
        made("b", 0.2, observation_type="error", confidence=4),
        made("c", 41, source=Source(hook="Stop")),
        made("d", 42, source=Source(speaker="user"), is_synthetic=True),
    )
    found = bench.trends.look(zone=UTC)
    assert found.made == (1, *(0,) * 40, 2)
    assert {name: sum(days) for name, days in found.types.items()} == {"error": 2, "general": 1}
    assert {name: sum(days) for name, days in found.categories.items()} == {"": 2, "ci": 1}
    assert list(found.types) == ["error", "general"], "the most frequent first"
    assert found.confidences == {"0": 3, "1": 0, "2": 0, "3": 0, "4": 1, "5": 0}
    assert found.sources == {"": 2, "Stop": 1, "reflection": 1}
    assert found.statuses["signal"] == 4


def test_a_day_is_one_of_the_zone(bench: Workbench) -> None:
    put(bench, made("a", 0.45))
    assert bench.trends.look(2, UTC).made == (0, 1)
    assert bench.trends.look(2, timezone(timedelta(hours=-4))).made == (1, 0)


def test_decisions_stand_on_the_day_they_were_made(bench: Workbench, clock: Clock) -> None:
    candidates(bench, "a", "b", "c", "d")
    bench.review.approve(["a"])
    clock.advance(days=2)
    bench.review.reject(["b"])
    bench.review.edit("c", FieldEdit("in other words"))
    bench.review.approve(["c"])
    found = bench.trends.look(3, UTC)
    assert found.approved == (1, 0, 1)
    assert found.rejected == (0, 0, 1)
    assert found.decided == (1, 0, 2)
    assert found.approval == pytest.approx(2 / 3)


def test_what_is_taken_back_was_not_decided_and_what_is_done_again_was(bench: Workbench) -> None:
    candidates(bench, "a", "b")
    bench.review.approve(["a", "b"])
    assert sum(bench.trends.look().approved) == 2
    bench.history.undo()
    assert sum(bench.trends.look().decided) == 0
    bench.history.redo()
    assert sum(bench.trends.look().approved) == 2
    bench.history.undo()
    bench.review.reject(["a"])
    assert sum(bench.trends.look().approved) == 0
    assert sum(bench.trends.look().rejected) == 1


def test_who_reads_on_and_who_reads_all_see_the_same(bench: Workbench, open_bench: Open) -> None:
    candidates(bench, *"abcdef")
    look = bench.trends
    for step in (
        lambda: bench.review.approve(["a", "b"]),
        bench.history.undo,
        lambda: bench.review.reject(["b"]),
        lambda: bench.review.later(["c"]),
        lambda: bench.review.split("d", ["one part of it", "the other part of it"]),
        lambda: bench.review.approve(["e"]),
        lambda: bench.stream.forget(["e"]),
    ):
        step()
        assert look.look() == TrendsLook(bench.context).look() == open_bench().trends.look()
    assert sum(look.look().approved) == 1
    assert sum(look.look().rejected) == 1


def test_other_proposals_count_when_they_are_decided(bench: Workbench) -> None:
    put(bench, made("old", 40), made("older", 41))
    bench.upkeep.carry_out(search=False)
    one, two = bench.review.queue()
    bench.review.approve([one.id])
    bench.review.reject([two.id])
    found = bench.trends.look()
    assert sum(found.approved) == 1
    assert sum(found.rejected) == 1
    assert found.approval == 0.5


def test_votes_that_stand(bench: Workbench, clock: Clock) -> None:
    put(bench, made("a", 5), made("b", 5))
    bench.stream.vote(["a", "b"], "helpful")
    clock.advance(days=1)
    bench.stream.vote(["a"], "harmful")
    found = bench.trends.look(2, UTC)
    assert found.helpful == (1, 0)
    assert found.harmful == (0, 1)
    assert found.voted == (1, 1)


def test_weeks_end_today() -> None:
    assert summed((1,) * 14, 7) == (7, 7)
    assert summed((5, *(1,) * 14), 7) == (5, 7, 7)
    assert summed((1, 2), 7) == (3,)
    assert summed((), 7) == ()


def test_a_line_of_blocks() -> None:
    assert sparkline((0, 1, 4, 8)) == "·▁▄█"
    assert sparkline((0, 1, 1000)) == "·▁█", "what is there is seen"
    assert sparkline((0, 0)) == "··"
    assert sparkline(()) == ""


def test_questions_of_agents_by_what_was_looked_through(bench: Workbench) -> None:
    def read(n: int, **fields: object) -> AgentRead:
        return AgentRead(f"read-{n}", "claude", NOON - timedelta(days=n), "why", **fields)  # type: ignore[arg-type]

    reads = [
        read(0, memories=("m1",)), read(1, is_empty=True), read(2, about="episodes", is_empty=True),
        read(3, episodes=("ep-1",)), read(4, about="context", is_empty=True, episodes=("ep-1",)),
        read(5, about="zebra"), read(6, is_question=False), read(50, is_empty=True),
    ]  # fmt: skip
    with bench.library.transaction("agent:claude", "read", kind="access") as tx:
        for one in reads:
            tx.put(one)
    hits = bench.trends.look(zone=UTC).hits
    assert hits == {"memories": (3, 2), "episodes": (2, 1), "context": (1, 1)}
    assert hits["episodes"].rate == 0.5


def test_every_door_says_what_it_looked_through(bench: Workbench) -> None:
    log = ReadingLog()
    door = AgentApi(bench, "claude", "s-1", log)
    door.find_patterns("anything", limit=3)
    door.find_episodes("anything", "semantic", Criteria(), 3)
    door.similar_failures("anything", 2_000)
    door.memory_context("anything", 2_000)
    door.memory_search("anything")
    door.recall_memory("anything", "all", 3)
    log.flush()
    bench.library.refresh()
    asked = {name: one.asked for name, one in bench.trends.look(zone=UTC).hits.items()}
    assert asked == {"context": 2, "patterns": 1, "episodes": 1, "memories": 1, "documents": 1}
