"""Refining with Claude, through the real SDK against a local server: what is sent, what comes of
it, what it costs.
"""

from collections.abc import Iterator

import pytest

from tests.reflect.server import MessagesServer, Reply, error_reply, messages_server
from tests.services.conftest import NOON, memory, put
from workbench.core.reflection.reflector import ReflectionProblem, Step
from workbench.core.stream.memory import Memory
from workbench.reflect.claude.asker import Budget
from workbench.reflect.claude.reflector import ClaudeReflector
from workbench.services.open import Workbench
from workbench.services.reflection.wording import Refinement

BETTER = (
    "Always clear the cache after the commit, because a reader that comes before it puts the old value back; "
    "use the outbox instead of a hook. (because of 1)"
)
EMPTY = "sk-ant-" + "api03-" + "Q7" * 46


@pytest.fixture
def candidate(bench: Workbench) -> Memory:
    put(
        bench,
        memory("o1", "Cleared the cache before the commit."),
        memory("o2", f"The key is {EMPTY}"),
    )
    put(
        bench,
        memory(
            "c1",
            "Clear it later.",
            NOON,
            status="candidate",
            is_synthetic=True,
            citations=("o1", "o2"),
        ),
    )
    return bench.stream.get("c1")


def refinement(bench: Workbench, url: str) -> Refinement:
    def connect(budget: Budget) -> ClaudeReflector:
        return ClaudeReflector(bench.context.settings.claude, budget, url, "test-key", retries=0)

    return Refinement(bench.context, connect=connect)


@pytest.fixture
def answering() -> Iterator[MessagesServer]:
    with messages_server([Reply(BETTER)]) as server:
        yield server


def test_a_round_comes_back_and_counts_against_the_budget(
    bench: Workbench, candidate: Memory, answering: MessagesServer
) -> None:
    heard: list[Step] = []
    found = refinement(bench, answering.url).ask(
        candidate, candidate.content, heard.append, lambda: False
    )
    assert [text.startswith("Always clear the cache after") for text in found.texts] == [True]
    assert found.usage.total > 0
    assert "".join(step.text for step in heard).startswith("Always clear")
    assert sum(run.input + run.output for run in bench.library.runs.all()) == found.usage.total
    assert bench.stream.get("c1").content == "Clear it later.", "nothing is taken by itself"


def test_exactly_what_is_previewed_is_sent_with_secrets_masked(
    bench: Workbench, candidate: Memory, answering: MessagesServer
) -> None:
    maker = refinement(bench, answering.url)
    preview = maker.preview(candidate, candidate.content)
    assert not answering.requests
    maker.ask(candidate, candidate.content, lambda _: None, lambda: False)
    assert preview.texts[0] == answering.requests[0].prompt
    assert EMPTY not in preview.texts[0]
    assert "Cleared the cache before the commit." in preview.texts[0]


def test_a_failure_is_said_and_changes_nothing(bench: Workbench, candidate: Memory) -> None:
    refused = error_reply(400, "invalid_request_error", "no")
    with messages_server([refused]) as server, pytest.raises(ReflectionProblem):
        refinement(bench, server.url).ask(
            candidate, candidate.content, lambda _: None, lambda: False
        )
    assert bench.stream.get("c1") == candidate


def test_without_a_key_it_says_so(bench: Workbench) -> None:
    assert "No API key" in bench.refinement.missing
