"""Retrieval for an agent counts as read; a look never does."""

from dataclasses import replace

import pytest

from tests.services.conftest import Clock, Open, files_in, memory, put
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.agents.serving import give, look, serve
from workbench.services.open import Workbench
from workbench.services.safety.safety import Safety
from workbench.services.stream.semantic import semantic_matches


@pytest.mark.slow
def test_what_an_agent_is_given_counts_as_read_in_one_line(
    demo: Workbench, open_bench: Open, clock: Clock
) -> None:
    agent = open_bench("agent:claude")
    clock.advance(hours=3)
    rev = agent.library.journal.rev
    before = {m.id: m.access_count for m in agent.library.memories.all()}
    tuning = agent.tuning
    served = serve(agent.context, tuning, "how do we deploy", 4, tuning.default())
    ids = served.ranking.ids
    assert len(ids) == 4
    assert served.problem == ""
    assert agent.library.journal.rev == rev + 1
    for id in ids:
        read = agent.stream.get(id)
        assert read.access_count == before[id] + 1
        assert read.last_accessed_at == clock.at
    demo.library.journal.refresh()
    assert demo.overview.since(rev).read == tuple(sorted(ids))
    assert next(demo.history.events()).kind == "edit"
    assert next(demo.history.events(accesses=True)).label == "read 4 memories"
    with pytest.raises(WorkbenchError, match="only records what was read or written"):
        demo.history.undo_revision(rev + 1)


@pytest.mark.slow
def test_a_look_writes_nothing(demo: Workbench) -> None:
    tuning = demo.tuning
    tuning.rank("warm the caches", tuning.default())
    before = files_in(demo.library.folder)
    for number in range(25):
        tuning.rank(f"how do we deploy number {number}", tuning.default())
    assert files_in(demo.library.folder) == before


def test_a_store_that_changes_while_a_query_is_answered_answers_it(
    demo: Workbench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every time somebody takes the ranker, another memory has come by the next time."""
    tuning, ranker, came = demo.tuning, demo.retriever.ranker, 0

    def taken() -> Ranker:
        nonlocal came
        found, came = ranker(), came + 1
        put(demo, memory(f"came-{came}", f"the deploy number {came} runs at noon", clock.at))
        return found

    monkeypatch.setattr(demo.retriever, "ranker", taken)
    served = look(tuning, "when does the deploy run", 5, tuning.default(), clock.at)
    assert len(served.top) == 5
    assert semantic_matches(tuning, "when does the deploy run", (), (), clock.at).rows
    agent = replace(demo.context, actor="agent:claude")
    assert give(agent, tuning, "when does the deploy run", 5, tuning.default(), Safety(agent)).top
    assert came > 3


def test_a_person_is_not_served(demo: Workbench) -> None:
    with pytest.raises(InvalidRecord):
        serve(demo.context, demo.tuning, "deploy", 3, demo.tuning.default())


@pytest.mark.slow
def test_a_store_that_cannot_be_written_still_serves(
    demo: Workbench, open_bench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = open_bench("agent:claude")
    tuning = agent.tuning
    tuning.question("warm")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        served = serve(agent.context, tuning, "how do we deploy", 4, tuning.default())
    assert len(served.ranking.ids) == 4
    assert "no space left" in served.problem
    assert agent.stream.get(served.ranking.ids[0]).access_count == 0
