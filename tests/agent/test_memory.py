"""The memory of an agent in Python, by the names of source 004, section 4.4."""

from pathlib import Path
from typing import Any

import pytest

from workbench.agent.memory import Memory
from workbench.core.record import InvalidQuery
from workbench.services.open import open_workbench

EPISODE: dict[str, Any] = {
    "task": {"original_input": "Add JWT authentication to the service"}, "outcome": {"status": "FAILURE"},
    "execution": {"trace": [{"tool": "pytest", "status": "failed", "stderr": "KeyError: 'AUTH_SECRET'"}]},
}  # fmt: skip
PATTERN = {
    "name": "Sign with PyJWT",
    "category": "strategy",
    "summary": "Sign JWT authentication tokens with PyJWT.",
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(
        open_workbench(tmp_path / "store", profiles=tmp_path / "profiles"), "planner", "s1"
    )


def test_the_three_scenarios_of_a_task(memory: Memory) -> None:
    stored = memory.episodes.store_episode(EPISODE)
    pattern = memory.patterns.add_pattern(PATTERN)
    assert (
        EPISODE["task"]["original_input"] in memory.episodes.retrieve_by_id(stored["id"])["episode"]
    )
    for found in (
        memory.episodes.search_semantic("JWT authentication", 3),
        memory.episodes.search_structured({"outcome": "FAILURE"}),
        memory.episodes.get_recent(5, {"session": "s1"}),
        memory.episodes.get_similar_failures("KeyError: 'AUTH_SECRET'"),
    ):
        assert [row["id"] for row in found] == [stored["id"]]
    with pytest.raises(InvalidQuery, match="no such filter"):
        memory.episodes.get_recent(5, {"nonsense": 1})
    assert memory.patterns.get_pattern(pattern)["status"] == "candidate"
    assert (
        memory.patterns.find_applicable("add JWT authentication", {"attempts": 1}) == []
    )  # a candidate is not given

    begun = memory.working.init("Add JWT authentication. Tests must pass.")
    assert stored["id"] in begun["retrieved"]
    memory.working.set("library", "PyJWT")
    assert memory.working.get("library") == "PyJWT"
    memory.working.push_state({"current_phase": "implementation"})
    memory.working.add_intermediate("st_1", "PyJWT")
    memory.working.prune()
    context = memory.get_context_for_task("add JWT authentication")
    assert {"applicable_patterns", "similar_episodes", "domain_knowledge"} <= set(context)
    learned = memory.learn_from_episode(
        {**EPISODE, "metadata": {"strategies_applied": [PATTERN["name"]]}},
        ["set AUTH_SECRET first"],
    )
    assert (learned["insights"], learned["patterns"][0]["pattern"]) == (1, pattern)
    memory.patterns.record_application(pattern, stored["id"], "success")
    assert memory.working.clear("SUCCESS")["episode"]
    assert memory.patterns.validate_patterns([pattern])["patterns"][0]["outlook"] == "insufficient"
    assert memory.patterns.deprecate_pattern(pattern, "replaced")
    memory.close()
