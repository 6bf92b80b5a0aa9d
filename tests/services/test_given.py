"""Which agents had a memory this week, and where it would stand for their last question once it is
corrected.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.services.conftest import NOON, memory, put
from workbench.core.agents.read import AgentRead
from workbench.services.agents.served_lately import Given, Shift
from workbench.services.open import Workbench


def read(
    id: str,
    agent: str = "claude",
    session: str = "s1",
    query: str = "how is it deployed",
    **ago: int,
) -> AgentRead:
    asked = bool(query)
    return AgentRead(
        id, agent, NOON - timedelta(**ago), query, session, memories=("m2", "m1"), is_question=asked
    )


@pytest.fixture
def store(bench: Workbench) -> Workbench:
    put(
        bench,
        memory("m1", "Deploys go through staging first, with make deploy."),
        memory("m2", "The cache is cleared after a commit."),
    )
    return bench


def test_sessions_of_this_week_are_counted_by_agent(store: Workbench) -> None:
    put(
        store,
        read("r1", days=1, query="older"),
        read("r2", hours=1),
        read("r3", session="s2", days=2),
        read("r4", session="s3", days=9),
        read("r5", agent="codex", query="", hours=3),
    )
    assert store.given_lately.of("m1") == (
        Given("claude", 2, NOON - timedelta(hours=1), "how is it deployed", 2),
        Given("codex", 1, NOON - timedelta(hours=3)),
    )
    assert store.given_lately.of("m9") == ()


def test_a_correction_that_says_something_else_goes_out(store: Workbench) -> None:
    put(
        store,
        *(memory(f"x{n}", f"How it is deployed, part {n}.") for n in range(20)),
        read("r1", hours=1),
    )
    given = store.given_lately.of("m1")[0]
    before = store.stream.get("m1")
    same = store.given_lately.shift(given, before)
    gone = store.given_lately.shift(given, replace(before, content="Lunch is at noon."))
    assert same is not None
    assert same.before == same.after
    assert gone == Shift(same.before, None)
    assert store.stream.get("m1") == before


def test_without_a_question_nothing_is_ranked(store: Workbench) -> None:
    given = Given("codex", 1, NOON)
    assert store.given_lately.shift(given, store.stream.get("m1")) is None
