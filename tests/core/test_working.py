"""The rules of a working memory: layers, lifetimes, and what is pruned in which order."""

from datetime import UTC, datetime
from typing import Any

import pytest

from workbench.core.agents.working import (
    LAYERS,
    LIMIT,
    WorkingMemory,
    add_retrieved,
    episode_of,
    fill,
    prune,
    push_state,
    put,
    summary,
    task_of,
    temperatures,
)
from workbench.core.record import InvalidRecord

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
TASK = "Add JWT authentication to auth.py. Tests must pass. Never touch middleware.py. Done when CI is green."


def made(*sets: tuple[str, Any, str], memory: WorkingMemory | None = None) -> WorkingMemory:
    memory = memory or WorkingMemory("s1")
    for key, value, scope in sets:
        memory = put(memory, key, value, scope, NOON)
    return memory


def with_results(many: int, text: str = "found") -> WorkingMemory:
    return made(*((f"st_{n:02}", {"output": f"{text} {n}"}, "intermediate") for n in range(many)))


def test_five_layers_come_to_twenty_thousand_tokens() -> None:
    assert {id: budget for id, (budget, _) in LAYERS.items()} == {
        "system": 2_000, "task": 5_000, "execution": 3_000, "results": 8_000, "retrieved": 2_000,
    }  # fmt: skip
    assert LIMIT == 20_000


def test_a_task_is_read_as_goals_constraints_and_criteria() -> None:
    found = task_of(TASK)
    assert found["primary_goal"] == "Add JWT authentication to auth.py."
    assert found["constraints"] == ["Tests must pass.", "Never touch middleware.py."]
    assert found["success_criteria"] == ["Done when CI is green."]
    assert found["target_files"] == ["auth.py", "middleware.py"]
    assert task_of({"goal": "x", "plan": ["a"]}) == {"goal": "x", "plan": ["a"]}


def test_an_accumulator_appends_and_a_control_variable_ends_with_the_next_state() -> None:
    memory = made(
        ("files", "a.py", "accumulator"),
        ("files", ["b.py"], "accumulator"),
        ("retry", 2, "control"),
    )
    assert memory.value("task.files") == ["a.py", "b.py"]
    after = push_state(memory, {"current_phase": "testing"}, NOON)
    assert after.value("execution.retry") is None
    assert after.value("execution.current_phase") == "testing"
    assert after.value("task.files") == ["a.py", "b.py"]
    assert [one["current_phase"] for one in after.value("metadata.states")] == ["testing"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x" * 1_000_000, "1,000,000 characters"),
        (float("nan"), "not a JSON value"),
        (object(), "not a JSON value"),
        (1 << 70, "not a JSON value"),
    ],
)
def test_what_cannot_be_kept_is_refused(value: object, said: str) -> None:
    with pytest.raises(InvalidRecord, match=said):
        made(("big", value, "task"))
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises(InvalidRecord, match="too deeply"):
        made(("deep", deep, "task"))
    with pytest.raises(InvalidRecord, match="“nowhere”"):
        made(("a", 1, "nowhere"))


def test_the_latest_result_is_hot_the_next_five_warm_and_older_ones_cold_unless_a_step_names_them() -> (
    None
):
    memory = made(
        ("plan", [{"id": "st_09", "use": "st_01"}, {"id": "st_02", "status": "done"}], "task"), ("goal", "g", "task"),
        memory=with_results(9),
    )  # fmt: skip
    warmth = {one.key: how for one, how in temperatures(memory)}
    assert [warmth[f"st_{n:02}"] for n in range(9)] == [
        "cold", "warm", "cold", "warm", "warm", "warm", "warm", "warm", "hot",
    ]  # fmt: skip
    assert (warmth["goal"], warmth["plan"]) == ("hot", "warm")


def test_pruning_takes_old_results_traces_and_unread_context_and_the_results_are_still_found() -> (
    None
):
    trace = [
        "began",
        *(f"step {n} in src/app/main.py took 12.5 s" for n in range(40)),
        "ValueError: 404",
        "ended",
    ]
    memory = made(
        ("st_09", {"output": "ok", "trace": trace}, "intermediate"), memory=with_results(9)
    )
    memory, added = add_retrieved(memory, [("ep-1", "an episode"), ("ep-2", "another")], NOON)
    assert added == ("ep-1", "ep-2")
    done = prune(memory)
    assert [name.split("_")[1] for name in done.moved] == ["03", "02", "01", "00"]
    assert done.summarised == ("intermediate.st_09",)
    assert done.dropped == ("retrieved.ep-1", "retrieved.ep-2")
    assert done.memory.value("intermediate.st_00") == {"output": "found 0"}
    assert done.memory.value("intermediate.st_09")["trace"] == trace
    assert fill(done.memory)["results"] < fill(memory)["results"]
    assert prune(done.memory).memory == done.memory  # twice is once


def test_a_layer_over_its_budget_is_pruned_then_summarised_and_then_refuses() -> None:
    memory = made(
        *((f"st_{n:02}", {"output": f"line {n}\n" * 900}, "intermediate") for n in range(8))
    )
    assert fill(memory)["results"] <= 8_000
    assert memory.value("intermediate.st_00") == {"output": "line 0\n" * 900}
    memory = made(
        *(
            (f"note_{n}", f"The first line.\n{'word ' * 1_800}\nfailed: exit 3 in a/b.py", "task")
            for n in range(4)
        )
    )
    assert fill(memory)["task"] <= 5_000
    assert memory.value("task.note_0").startswith("The first line.\nword word")
    with pytest.raises(InvalidRecord, match="task layer"):
        made(*((f"n{n}", "short and plain " * 20, "task") for n in range(120)), memory=memory)


def test_a_summary_keeps_the_first_and_last_line_errors_paths_and_numbers() -> None:
    text = "\n".join(
        ("Begin", "noise", "TypeError: x is none", "wrote src/a/b.py", "took 12.5 s", "End")
    )
    for part in ("Begin", "End", "TypeError: x is none", "src/a/b.py", "12.5"):
        assert part in summary(text)
    assert "noise" not in summary(text)


def test_what_is_retrieved_is_cut_to_its_layer() -> None:
    memory, added = add_retrieved(
        WorkingMemory("s1"), [(f"ep-{n}", "long words here " * 300) for n in range(9)], NOON
    )
    assert 1 < len(added) < 9
    text = f"[unreviewed ab12]\n{'words ' * 3_000}\n[end ab12]"
    framed, _ = add_retrieved(WorkingMemory("s1"), [("ep-1", text)], NOON)
    assert framed.value("retrieved.ep-1").endswith("\n[end ab12]")
    assert fill(memory)["retrieved"] <= 2_000


def test_an_episode_has_every_result_in_order_and_none_comes_of_an_empty_memory() -> None:
    memory = made(
        *((key, value, "task") for key, value in task_of(TASK).items()), memory=with_results(9)
    )
    doc: Any = episode_of(prune(memory).memory, "success", "")
    assert doc["task"]["original_input"] == TASK
    assert [row["output"] for row in doc["execution"]["trace"]] == [f"found {n}" for n in range(9)]
    assert doc["outcome"] == {"status": "SUCCESS", "primary_output": "found 8"}
    assert episode_of(made(("tokens", 5, "metadata")), "SUCCESS", "") is None
