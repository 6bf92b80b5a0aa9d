"""The three scenarios of source 004, section 4.1, as an agent with the official client goes through
them.
"""

from typing import Any

import pytest

from tests.mcp.conftest import Connect
from tests.mcp.support import ask
from workbench.config.paths import shipped
from workbench.services.demo import surround
from workbench.services.open import Workbench

LOCK = "LockNotAvailableError: canceling statement due to lock timeout"
WAITS, SECRET = "pat-20260218-0000008", "pat-20260318-0000007"


@pytest.fixture
def around(bench: Workbench, tmp_path: Any) -> Workbench:
    surround(bench, shipped("fixtures/demo"), tmp_path / "documents")
    return bench


def ids(answer: dict[str, Any], *names: str) -> list[str]:
    return [row["id"] for name in names for row in answer[name]]


@pytest.mark.slow
async def test_a_task_begins_with_the_patterns_and_episodes_of_tasks_like_it(
    connect: Connect, around: Workbench
) -> None:
    async with connect(groups={"all"}) as client:
        asked = {"task": "Make the query of the audit list fast, it scans every partition"}
        parts = await ask(client, "get_context_for_task", **asked)
        whole = await ask(client, "memory_context", **asked)
    assert "pat-20260223-0000009" in ids(parts, "applicable_patterns")
    assert "ep-20260320-0000042" in ids(parts, "similar_episodes")
    assert (len(parts["applicable_patterns"]) <= 3, len(parts["similar_episodes"]) <= 5) == (
        True,
        True,
    )
    assert "## What works" in whole["text"]
    assert "## Similar episodes" in whole["text"]


@pytest.mark.slow
async def test_a_failure_brings_what_helped_then_by_the_words_of_the_error(
    connect: Connect, around: Workbench
) -> None:
    async with connect(groups={"all"}) as client:
        asked = {"task": "Add a column to bookings", "error": LOCK}
        parts = await ask(client, "get_context_for_task", **asked)
        assert ids(parts, "recovery_patterns") == [WAITS]
        assert "AUTH_SECRET" not in str(parts["similar_failures"])
        asked = {"task": "Repair the smoke job", "error": "AUTH_SECRET is empty"}
        parts = await ask(client, "get_context_for_task", **asked)
        assert ids(parts, "recovery_patterns")[0] == SECRET
        assert "ep-20260318-0000040" in ids(parts, "similar_failures")


@pytest.mark.slow
async def test_a_task_that_is_done_is_kept_as_an_episode_and_teaches_its_patterns(
    connect: Connect, around: Workbench
) -> None:
    before = around.patterns.get(WAITS).usage_count
    found = {
        "name": "Ask who holds the lock first",
        "category": "recovery",
        "summary": "pg_blocking_pids, then wait.",
    }
    episode = {
        "task": {"original_input": "Add a column to bookings"},
        "execution": {"trace": [{"action": "alembic upgrade head", "error": LOCK}], "duration": 60},
        "outcome": {"status": "SUCCESS", "primary_output": "The migration ran at a quiet hour."},
        "reflection": {"patterns_discovered": [found]},
        "metadata": {"domain": "database", "task_type": "migration", "patterns_applied": [WAITS]},
    }
    async with connect(groups={"all"}) as client:
        learned = {
            "episode": episode,
            "insights": ["A lock that is not there in 3 s is not worth waiting"],
        }
        answer = await ask(client, "learn_from_episode", **learned)
        assert answer["stored"]
        again = await ask(client, "similar_failures", error=LOCK)
        assert answer["episode"] in ids(again, "similar_failures")
    around.library.refresh()
    rows = {row["pattern"]: row for row in answer["patterns"]}
    (new,) = [id for id, row in rows.items() if row["is_new"]]
    assert around.patterns.get(new).status == "candidate"
    assert around.patterns.get(WAITS).usage_count == before + 1
