"""What an agent asked and was given is kept: masked, purged with its memories, and not forever."""

import pytest

from tests.services.conftest import Clock, Open, memory, put
from workbench.core.agents.read import AgentRead
from workbench.services.agents import reading_log
from workbench.services.agents.reading_log import Asked, keep, new_id
from workbench.services.agents.serving import serve
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench


def kept(bench: Workbench) -> list[AgentRead]:
    """Return the readings, without those that the demo brings along."""
    bench.library.refresh()
    fresh = (read for read in bench.library.table(AgentRead).all() if read.at > ANCHOR)
    return sorted(fresh, key=lambda read: read.at)


def ask(agent: Workbench, query: str, k: int = 3) -> tuple[str, ...]:
    tuning = agent.tuning
    asked = Asked("mcp", "s-7")
    return serve(agent.context, tuning, query, k, tuning.default(), agent.safety, asked).ranking.ids


def test_a_question_without_an_answer_is_kept_too_and_counts_nothing(
    demo: Workbench, open_bench: Open
) -> None:
    agent = open_bench("agent:claude")
    assert ask(agent, "recipe for lasagne") == ()
    (read,) = kept(demo)
    assert read.is_empty
    assert next(demo.history.events(accesses=True)).label == "asked, and was served nothing"


def test_a_purge_takes_the_readings_of_a_memory_along(bench: Workbench, clock: Clock) -> None:
    put(
        bench,
        memory("m1", "the deploy runs at noon", clock.at),
        memory("m2", "ask before it", clock.at),
    )
    both = AgentRead(new_id(), "claude", clock.at, "when", memories=("m2", "m1"), scores=(0.9, 0.8))
    other = AgentRead(new_id(), "claude", clock.at, "what", memories=("m2",), scores=(0.9,))
    keep(bench.context, [both, other])
    bench.eraser.carry_out(bench.eraser.plan(["m1"]))
    assert kept(bench) == [other]


def test_several_readings_are_one_line(bench: Workbench, clock: Clock) -> None:
    put(bench, memory("m1", "the deploy runs at noon", clock.at))
    rev = bench.library.revision
    keep(
        bench.context,
        [AgentRead(new_id(), "claude", clock.at, q, memories=("m1",), scores=(1.0,)) for q in "ab"],
    )
    assert bench.library.revision == rev + 1
    assert bench.stream.get("m1").access_count == 2


def test_the_oldest_readings_go(
    bench: Workbench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_log, "KEPT", 10)
    for number in range(15):
        clock.advance(minutes=1)
        keep(bench.context, [AgentRead(new_id(), "claude", clock.at, f"question {number}")])
    left = [read.query for read in kept(bench)]
    assert left[-1] == "question 14"
    assert 10 <= len(left) <= 12
    assert left == [f"question {n}" for n in range(15 - len(left), 15)]
