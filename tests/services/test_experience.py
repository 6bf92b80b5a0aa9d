"""What agents did and learned, in a context: patterns that apply, what failed alike, tasks like it;
and learning.
"""

from dataclasses import replace
from typing import Any

import pytest

from tests.services.conftest import Open, write
from tests.services.experienced import KEY, ORDER, door, layers_of, material, meta, pattern, said
from workbench.core.agents.actors import AgentSettings
from workbench.core.agents.read import AgentRead
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.core.stream.confidence import confidence_of, scored
from workbench.core.stream.confidence import told as reasons_of
from workbench.services.agents.context import kept
from workbench.services.agents.serving import AgentContext, Layer
from workbench.services.open import Workbench

SECRET_EMPTY = "the deploy job says AUTH_SECRET is empty"
RECOVERY = "pat-20260318-0000007"
LAYERS = ("patterns", "failures", "episodes")


def given(
    bench: Workbench, task: str, *, error: str = "", budget: int = 30_000, **settings: Any
) -> AgentContext:
    return material(bench, task, error, **settings).cut(budget)


def layer(made: AgentContext, id: str) -> Layer | None:
    return layers_of(made).get(id)


def ids(made: AgentContext, id: str) -> list[str]:
    found = layer(made, id)
    return [] if found is None else [item.id for item in found.items]


def why(made: AgentContext, id: str) -> dict[str, str]:
    found = layer(made, id)
    return {} if found is None else {one.id: one.why for one in found.left_out}


STALE = "the cache gives stale answers"


def stale(**more: Any) -> dict[str, Any]:
    """An episode about a stale cache, which failed."""
    failed = {"failures_analyzed": [{"error": "StaleRead: 9 stale answers in 500 rounds"}]}
    return said("The cache gives stale answers", "FAILURE", days=1, reflection=failed,
                **meta(task_type="bugfix", domain="cache"), **more)  # fmt: skip


# In the context


@pytest.mark.slow
def test_a_failure_brings_what_helped_before_and_what_failed_alike(around: Workbench) -> None:
    made = given(around, SECRET_EMPTY)
    assert ids(made, "failures")[0] == RECOVERY
    alike = (
        "ep-20260210-0000004",
        "ep-20260318-0000040",
        "ep-20260226-0000026",
        "ep-20260306-0000033",
    )
    assert set(ids(made, "failures")[1:]) <= set(alike)
    assert "pat-20260226-0000006" in ids(made, "patterns")
    every = [item.id for item in made.given]
    assert len(every) == len(set(every))


@pytest.mark.slow
def test_a_task_brings_tasks_like_it_and_the_patterns_that_those_were_of(around: Workbench) -> None:
    made = given(around, "the audit query over the partitions is slow")
    assert ids(made, "episodes") == ["ep-20260320-0000042"]
    assert ids(made, "patterns") == ["pat-20260223-0000009"]
    assert layer(made, "failures") is None


@pytest.mark.slow
def test_an_error_is_looked_for_in_place_of_the_task(around: Workbench) -> None:
    made = given(
        around, "rename the grid", error="error TS2339: Property 'x' does not exist on type 'Slot'"
    )
    assert "ep-20260317-0000039" in ids(made, "failures")


@pytest.mark.slow
@pytest.mark.parametrize("task", ["recipe for lasagne", "", "  "])
def test_what_has_nothing_to_do_with_it_is_not_there_at_all(around: Workbench, task: str) -> None:
    made = given(around, task)
    assert [id for id in LAYERS if layer(made, id) is not None] == []


def test_what_gives_orders_is_held_back_wherever_it_stands(bench: Workbench) -> None:
    bench.patterns.add(
        [pattern(pattern_id="pat-good"), pattern("Worse", pattern_id="pat-bad", description=ORDER)]
    )
    quiet, loud = (
        one.episode.id for one in bench.episodes.store_all([stale(), stale(session_id=ORDER)])
    )
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


def test_who_gets_only_what_is_approved_gets_what_a_person_wrote(
    bench: Workbench, open_bench: Open
) -> None:
    door(bench).keep_episode(stale())
    (own,) = bench.patterns.add([pattern()])
    made = given(bench, f"{STALE} bugfix", agents=AgentSettings("approved"))
    assert ids(made, "patterns") == [own.id]
    assert ids(made, "failures") == []
    assert set(why(made, "failures").values()) == {"unapproved"}


@pytest.mark.slow
def test_what_was_given_counts_as_read_and_nothing_else(around: Workbench) -> None:
    made = given(around, SECRET_EMPTY)
    before = around.episodes.uses()
    asker = replace(around.context, actor="agent:claude")
    kept(asker, made, SECRET_EMPTY)
    episodes = [
        id for id in (*ids(made, "failures"), *ids(made, "episodes")) if id.startswith("ep-")
    ]
    assert episodes
    for id, use in around.episodes.uses().items():
        was = before[id].access_count if id in before else 0
        assert use.access_count == was + episodes.count(id)
    (read,) = [one for one in around.library.table(AgentRead).all() if one.query == SECRET_EMPTY]
    assert set(read.episodes) == set(episodes)
    assert RECOVERY in read.documents


@pytest.mark.slow
def test_the_parts_of_a_context_are_what_the_context_gives(around: Workbench) -> None:
    whole = door(around).memory_context(SECRET_EMPTY, 8_000)
    parts = door(around).get_context_for_task(SECRET_EMPTY, 8_000)
    names = (
        "applicable_patterns",
        "similar_episodes",
        "similar_failures",
        "recovery_patterns",
        "domain_knowledge",
    )
    rows = {name: parts[name] for name in names}
    layers = whole["layers"]
    assert isinstance(layers, list)
    every = [row["id"] for found in rows.values() if isinstance(found, list) for row in found]
    assert sorted(every) == sorted(id for one in layers for id in one["ids"])
    assert [row["id"] for row in rows["recovery_patterns"]] == [RECOVERY]
    assert parts["tokens"] == whole["tokens"]


@pytest.mark.slow
def test_a_failure_is_looked_up_by_what_it_says(around: Workbench) -> None:
    found = door(around).similar_failures("ERR_PNPM_OUTDATED_LOCKFILE", 2_000)
    assert "ep-20260226-0000027" in [row["id"] for row in found["similar_failures"]]
    assert door(around).similar_failures("zebra crossing", 2_000)["similar_failures"] == []


# Learning


NAMED = ["clear the cache FIRST", "pat-x"]
LEARNT: dict[str, Any] = {
    "metadata": {"task_type": "bugfix", "domain": "cache", "patterns_applied": NAMED}
}


def rows(answer: dict[str, Any], name: str = "patterns") -> list[dict[str, Any]]:
    found = answer[name]
    assert isinstance(found, list)
    return found


def test_an_episode_is_kept_and_counts_for_the_patterns_it_names(bench: Workbench) -> None:
    (known,) = bench.patterns.add([pattern()])
    told = said("Empty the cache", execution={"duration": 12.5}, **LEARNT)
    answer = door(bench).learn_from_episode(told, ["Look at the key"])
    assert answer["stored"] is True
    assert answer["outcome"] == "SUCCESS"
    assert answer["insights"] == 1
    (row,) = rows(answer)
    assert row["pattern"] == known.id
    assert row["episodes"] == 1
    assert row["successes"] == 1
    assert row["is_new"] is False
    (one,) = bench.patterns.applications(known.id)
    assert one.episode == answer["episode"]
    assert one.outcome == "success"
    assert one.time == 12.5
    opened = bench.episodes.open(str(answer["episode"]))
    assert opened.body.get("reflection.insights") == ["Look at the key"]
    assert opened.use.referenced_by == (known.id,)


def test_what_was_discovered_becomes_a_candidate_once(bench: Workbench) -> None:
    found = [
        pattern("Warm it again", lifecycle={"status": "validated"}),
        {"name": "No category"},
        "a remark",
    ]
    told = said(
        "Empty the cache", "FAILURE", episode_id="run-1", reflection={"patterns_discovered": found}
    )
    answer = door(bench).learn_from_episode(told, [])
    (row,) = rows(answer)
    assert row["is_new"]
    assert bench.patterns.get(row["pattern"]).status == "candidate"
    (left,) = rows(answer, "not_taken")
    assert left["name"] == "No category"
    assert "category" in left["why"]
    again = door(bench).learn_from_episode(told, [])
    assert again["stored"] is False
    assert len(bench.patterns.all()) == 1
    (row,) = rows(again)
    assert row["episodes"] == 1
    assert row["successes"] == 0
    assert row["is_new"] is False


@pytest.mark.slow
def test_a_memory_that_a_success_went_by_is_the_surer_once_and_never_the_agents_own(
    around: Workbench,
) -> None:
    theirs = next(
        one
        for one in around.library.memories.all()
        if one.status == "signal" and not one.helpful_count
    )
    agent = replace(around.context, actor="agent:claude")
    mine = replace(theirs, id="mem-own")
    write(around, mine, by=agent.actor)

    def went_by(name: str, outcome: str = "SUCCESS") -> object:
        named = {"memories_applied": [theirs.id, mine.id, "mem-none", theirs.id]}
        return door(around).learn_from_episode(
            said(name, outcome, episode_id=name, metadata=named), []
        )["memories"]

    assert went_by("failed", "FAILURE") == []
    assert went_by("done") == [theirs.id]
    assert went_by("done") == [theirs.id]
    found = around.stream.get(theirs.id)
    assert reasons_of(scored(found)) == (
        *reasons_of(scored(theirs)),
        "applied with success once (+1)",
    )
    assert found.helpful_count == theirs.helpful_count
    assert found.harmful_count == theirs.harmful_count
    assert went_by("again") == [theirs.id]
    assert confidence_of(around.stream.get(theirs.id)) == confidence_of(theirs) + 2
    around.history.undo_revision(around.library.revision)
    assert confidence_of(around.stream.get(theirs.id)) == confidence_of(theirs) + 1


def test_what_is_no_episode_teaches_nothing(bench: Workbench) -> None:
    with pytest.raises(InvalidRecord, match=r"outcome\.status"):
        door(bench).learn_from_episode(
            {**said("x"), "outcome": {"status": "FINE"}, **LEARNT}, ["y"]
        )
    door(bench).learn_from_episode(said("x", episode_id="run-1"), [])
    found = {"patterns_discovered": [pattern("Not kept")]}
    with pytest.raises(InvalidRecord, match="run-1 already exists"):
        door(bench).learn_from_episode(said("y", episode_id="run-1", reflection=found), [])
    assert bench.patterns.all() == ()
    with pytest.raises(WorkbenchError, match="only reads"):
        door(bench, reads_only=True).learn_from_episode(said("z"), [])


# What went otherwise


def test_savings_are_against_episodes_without_the_pattern_where_nobody_says_more(
    bench: Workbench,
) -> None:
    (own,) = bench.patterns.add([pattern()])

    def ran(n: int, status: str, seconds: float, days: float = 1) -> str:
        took, about = {"duration": seconds}, meta(task_type="bugfix", domain="cache")
        return bench.episodes.store(
            said(f"Run {n}", status, days=days, execution=took, **about)
        ).episode.id

    for n in range(5):
        bench.patterns.record(own.id, ran(n, "SUCCESS", 60), "success", time=60)
    ran(9, "SUCCESS", 1, days=100)  # too long ago
    (found,) = bench.patterns.validations()
    assert found.after.support.avg_time_saving is None
    for n, status in enumerate(("FAILURE", "SUCCESS", "FAILURE", "SUCCESS"), 10):
        ran(n, status, 100)
    (found,) = bench.patterns.validations()
    support = found.after.support
    assert support.avg_time_saving == 40.0
    assert support.success_rate_improvement == 0.5
    assert found.before.baseline == found.after.baseline
    assert found.outlook == "validated"
