"""What agents did and learned, in a context: patterns that apply, what failed alike, tasks like it; and learning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.conftest import Open
from tests.bench.test_episodes import KEY, ORDER, meta, said
from workbench.bench.agents.context.making import gathered, kept
from workbench.bench.agents.context.values import AgentContext, Layer
from workbench.bench.agents.door import AgentDoor
from workbench.bench.agents.reading_log import ReadingLog
from workbench.bench.agents.rules import DoorRules
from workbench.bench.demo import fill, surround
from workbench.bench.open import Workbench
from workbench.config.paths import shipped
from workbench.core.agents.actors import AgentSettings
from workbench.core.agents.read import AgentRead

SECRET_EMPTY = "the deploy job says AUTH_SECRET is empty"
RECOVERY = "pat-20260318-0000007"
LAYERS = ("patterns", "failures", "episodes")


@pytest.fixture
def bench(open_bench: Open) -> Workbench:
    return open_bench()


@pytest.fixture
def around(bench: Workbench, tmp_path: Path) -> Workbench:
    """The demo, with what its agents did and learned."""
    fill(bench, shipped("fixtures/demo"))
    surround(bench, shipped("fixtures/demo"), tmp_path / "documents")
    return bench


def given(bench: Workbench, task: str, *, error: str = "", budget: int = 30_000, **settings: Any) -> AgentContext:
    own = bench.context.settings._replace(**settings)
    asker = replace(bench.context, actor="agent:claude", settings=own)
    return gathered(asker, bench.tuning, bench.playbooks, task, error=error).cut(budget)


def layer(made: AgentContext, id: str) -> Layer | None:
    return next((one for one in made.layers if one.kind.id == id), None)


def ids(made: AgentContext, id: str) -> list[str]:
    found = layer(made, id)
    return [] if found is None else [item.id for item in found.items]


def why(made: AgentContext, id: str) -> dict[str, str]:
    found = layer(made, id)
    return {} if found is None else {one.id: one.why for one in found.left_out}


def pattern(name: str = "Clear the cache first", **more: Any) -> dict[str, Any]:
    where = {"problem_types": ["bugfix"], "task_features": {"domain": ["cache"]}}
    doc = {"name": name, "category": "strategy", "summary": "Clear it, then look.", "applicability": where}
    return {**doc, "lifecycle": {"status": "validated"}, **more}


STALE = "the cache gives stale answers"


def stale(**more: Any) -> dict[str, Any]:
    """An episode about a stale cache, which failed."""
    failed = {"failures_analyzed": [{"error": "StaleRead: 9 stale answers in 500 rounds"}]}
    return said("The cache gives stale answers", "FAILURE", days=1, reflection=failed,
                **meta(task_type="bugfix", domain="cache"), **more)  # fmt: skip


# In the context


def test_a_failure_brings_what_helped_before_and_what_failed_alike(around: Workbench) -> None:
    made = given(around, SECRET_EMPTY)
    assert ids(made, "failures")[0] == RECOVERY
    assert set(ids(made, "failures")[1:]) <= {"ep-20260318-0000040", "ep-20260226-0000026", "ep-20260306-0000033"}
    assert "pat-20260226-0000006" in ids(made, "patterns")
    every = [item.id for item in made.given]
    assert len(every) == len(set(every))


def test_a_task_brings_tasks_like_it_and_the_patterns_that_those_were_of(around: Workbench) -> None:
    made = given(around, "the audit query over the partitions is slow")
    assert ids(made, "episodes") == ["ep-20260320-0000042"]
    assert ids(made, "patterns") == ["pat-20260223-0000009"]
    assert layer(made, "failures") is None


def test_an_error_is_looked_for_in_place_of_the_task(around: Workbench) -> None:
    made = given(around, "rename the grid", error="error TS2339: Property 'x' does not exist on type 'Slot'")
    assert "ep-20260317-0000039" in ids(made, "failures")


@pytest.mark.parametrize("task", ["recipe for lasagne", "", "  "])
def test_what_has_nothing_to_do_with_it_is_not_there_at_all(around: Workbench, task: str) -> None:
    made = given(around, task)
    assert [id for id in LAYERS if layer(made, id) is not None] == []


def test_a_store_without_any_has_the_layers_it_had(bench: Workbench) -> None:
    assert [one.kind.id for one in given(bench, "anything at all").layers] == [
        "pinned",
        "playbook",
        "known",
        "retrieved",
    ]


def test_what_gives_orders_is_held_back_wherever_it_stands(bench: Workbench) -> None:
    bench.patterns.add([pattern(pattern_id="pat-good"), pattern("Worse", pattern_id="pat-bad", description=ORDER)])
    quiet, loud = (one.episode.id for one in bench.episodes.store_all([stale(), stale(session_id=ORDER)]))
    made = given(bench, STALE)
    assert ids(made, "patterns") == ["pat-good"]
    assert why(made, "patterns") == {"pat-bad": "held"}
    assert ids(made, "failures") == [quiet]
    assert why(made, "failures") == {loud: "held"}


def test_secrets_stay_where_they_are(bench: Workbench) -> None:
    with bench.library.transaction("human", "as an older version may have left it") as tx:
        (made,) = bench.patterns.add([pattern()])
        tx.put(replace(made, summary=f"Send it {KEY}"))
    text = "\n".join(item.text for item in given(bench, f"{STALE} bugfix").given)
    assert "Send it" in text
    assert KEY not in text


def test_who_gets_only_what_is_approved_gets_what_a_person_wrote(bench: Workbench, open_bench: Open) -> None:
    door(bench).store_episode(stale())
    (own,) = bench.patterns.add([pattern()])
    made = given(bench, f"{STALE} bugfix", agents=AgentSettings("approved"))
    assert ids(made, "patterns") == [own.id]
    assert ids(made, "failures") == []
    assert set(why(made, "failures").values()) == {"unapproved"}


def test_budgets_cut_a_layer_and_what_it_leaves_goes_on(around: Workbench) -> None:
    own = around.context.settings.context._replace(failures=150)
    made = given(around, SECRET_EMPTY, context=own)
    cut = layer(made, "failures")
    assert cut is not None
    assert cut.own == 150
    assert cut.tokens <= cut.budget
    none = gathered(replace(around.context, actor="agent:x"), around.tuning, around.playbooks, SECRET_EMPTY)
    assert ids(none.cut(30_000, {one.kind.id: 0 for one in made.layers}), "failures") == []


def test_what_was_given_counts_as_read_and_nothing_else(around: Workbench) -> None:
    made = given(around, SECRET_EMPTY)
    before = around.episodes.uses()
    asker = replace(around.context, actor="agent:claude")
    kept(asker, made, SECRET_EMPTY)
    episodes = [id for id in (*ids(made, "failures"), *ids(made, "episodes")) if id.startswith("ep-")]
    assert episodes
    for id, use in around.episodes.uses().items():
        was = before[id].access_count if id in before else 0
        assert use.access_count == was + episodes.count(id)
    (read,) = [one for one in around.library.table(AgentRead).all() if one.query == SECRET_EMPTY]
    assert set(read.episodes) == set(episodes)
    assert RECOVERY in read.documents


def door(bench: Workbench, **rules: Any) -> AgentDoor:
    return AgentDoor(bench, "claude", "s-1", ReadingLog(), DoorRules(**rules))
