"""The layers of a context: what each may take of a budget, shared blocks, and how judged tasks are
served.
"""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Open, memory, put, write
from tests.services.experienced import layers_of, material
from workbench.config.paths import shipped
from workbench.core.agents.layers import LARGE, LAYERS, USUAL, ContextSettings
from workbench.core.playbook.book import Book, Section
from workbench.core.record import UnreadableFile
from workbench.core.tokens import tokens_of
from workbench.services.agents.api import AgentApi
from workbench.services.agents.context import (
    BUDGETS,
    TASKS,
    judged,
    read_tasks,
    summed,
)
from workbench.services.agents.reading_log import ReadingLog
from workbench.services.agents.serving import text_of
from workbench.services.open import Workbench

LOCK = "LockNotAvailableError: canceling statement due to lock timeout"


def test_each_layer_has_a_minimum_and_a_maximum_that_grow_with_the_budget() -> None:
    assert sum(kind.least for kind in LAYERS) <= USUAL
    for kind in LAYERS[:-1]:
        sizes = [kind.most_of(budget) for budget in range(0, 2 * LARGE, 500)]
        assert sizes == sorted(sizes)
        assert all(
            kind.least_of(budget) <= kind.most_of(budget) for budget in range(0, 2 * LARGE, 500)
        )
        assert kind.most_of(LARGE) == getattr(ContextSettings(), kind.id)
    assert {kind.id: kind.most_of(4_000) for kind in LAYERS}["failures"] == 2_000
    assert (
        ContextSettings(turns=0)
        .sized(next(kind for kind in LAYERS if kind.id == "turns"))
        .most_of(USUAL)
        == 0
    )


@pytest.mark.slow
def test_a_context_stays_within_its_budget_with_all_that_is_printed(around: Workbench) -> None:
    whole = material(around, "Run the migration that adds a column to bookings", LOCK)
    for budget in (0, 300, 1_000, 2_000, 4_000, 8_000, 20_000):
        made = whole.cut(budget)
        assert tokens_of(text_of(made)) <= made.tokens <= budget
        assert all(layer.tokens <= layer.budget for layer in made.layers)
        given = [item.id for item in made.given]
        assert len(given) == len(set(given))
    sizes = {id: layer.tokens for id, layer in layers_of(whole.cut(2_000)).items()}
    assert sizes["failures"] > 0
    assert sizes["known"] > 0
    assert sizes["playbook"] > 0


def test_neighbours_of_one_source_share_a_block_and_nothing_unapproved_stands_outside(
    bench: Workbench,
) -> None:
    for n in range(6):
        actor = "human" if n in (2, 3) else "agent:bot"
        write(
            bench,
            memory(
                f"m{n}",
                f"the deploy number {n} of the shop",
                NOON,
                observation_type="convention",
            ),
            by=actor,
        )
    made = material(bench, "the deploy of the shop").cut()
    inside, outside, blocks = set[str](), set[str](), 0
    is_inside = False
    for line in text_of(made).split("\n"):
        blocks += line.startswith("[unreviewed ")
        is_inside = line.startswith("[unreviewed ") or (is_inside and not line.startswith("[end "))
        if line.startswith("- ["):
            (inside if is_inside else outside).add(line[3:5])
    assert inside == {"m0", "m1", "m4", "m5"}
    assert outside == {"m2", "m3"}
    assert blocks <= 3


def test_what_must_never_be_done_comes_first_and_what_was_voted_harmful_not_at_all(
    bench: Workbench,
) -> None:
    write(bench, Book("b", "B"), Section("rules", "rules", "Rules", book="b"))
    bench.playbooks.add("b", "rules", "Never write to production")
    bench.playbooks.add("b", "rules", "A NOT NULL column needs three steps")
    bench.playbooks.add("b", "rules", "Restart the worker when the queue is full")
    harmful = memory("m1", "Empty the queue of the worker when it is full", NOON, harmful_votes=1)
    put(bench, harmful, memory("m2", "The queue of the worker holds a thousand jobs", NOON))
    layers = layers_of(material(bench, "the queue of the worker is full").cut())
    assert [item.text for item in layers["pinned"].items] == ["Never write to production"]
    assert layers["playbook"].items[0].text.startswith("Restart")
    assert [item.id for item in layers["retrieved"].items] == ["m2"]
    assert {left.id: left.why for left in layers["retrieved"].left_out} == {"m1": "harmful"}


def test_a_decision_that_a_later_one_replaces_is_left_out(bench: Workbench) -> None:
    old = memory(
        "m1", "The upgrade of the frontend to React 19 waits for the date picker", NOON - timedelta(days=9),
        observation_type="decision", tags=("react",),
    )  # fmt: skip
    said = "Upgrade the frontend to React 19 now; this replaces the wait"
    new = replace(old, id="m2", content=said, created_at=NOON)
    other = replace(
        new, id="m3", tags=("queue",), content="React workers are no longer upgraded by hand"
    )

    def left_out() -> dict[str, str]:
        last = material(bench, "upgrade the frontend to React 19").cut().layers[-1]
        assert "m2" in {item.id for item in last.items}
        return {left.id: left.why for left in last.left_out}

    put(bench, old, new, other)
    assert left_out() == {"m1": "replaced"}
    put(bench, replace(old, status="confirmed"))
    assert left_out() == {}


def test_an_agents_decision_replaces_none_that_a_person_wrote(
    bench: Workbench, open_bench: Open
) -> None:
    old = memory(
        "m1", "The upgrade of the frontend to React 19 waits for the date picker", NOON - timedelta(days=9),
        observation_type="decision", tags=("react",),
    )  # fmt: skip
    said = "Upgrade the frontend to React 19 now; this replaces the wait"
    write(open_bench("human"), old)
    write(open_bench("agent:claude"), replace(old, id="m2", content=said, created_at=NOON))
    bench.library.refresh()
    last = material(bench, "upgrade the frontend to React 19").cut().layers[-1]
    assert {item.id for item in last.items} == {"m1", "m2"}


@pytest.mark.slow
def test_a_recovery_that_shares_no_word_with_the_error_is_not_given(around: Workbench) -> None:
    def given(error: str) -> list[str]:
        layers = material(around, "Get the release out", error).cut().layers
        return [item.id for layer in layers if layer.kind.id == "failures" for item in layer.items]

    assert given(LOCK)[0] == "pat-20260218-0000008"
    assert "pat-20260318-0000007" not in given(LOCK)
    assert given("AUTH_SECRET is empty")[0] == "pat-20260318-0000007"
    assert given("zebra crossing") == []


@pytest.mark.slow
def test_a_working_memory_gets_the_same_patterns_and_episodes_in_their_blocks(
    around: Workbench,
) -> None:
    task = "the audit query over the partitions is slow"
    api = AgentApi(around, "claude", "s-1", ReadingLog())
    texts = api.texts_for(task, True)
    same = {item.id for layer in material(around, task).cut().layers for item in layer.items}
    assert {id.partition("-")[0] for id, _ in texts} == {"pat", "ep"}
    assert {id for id, _ in texts} <= same
    assert all(text.startswith("[unreviewed ") for id, text in texts if id.startswith("ep-"))


@pytest.mark.slow
def test_the_judged_tasks_are_served_better_than_they_were(around: Workbench) -> None:
    """Before layers had minimum and maximum it was 132 and 218 helpful ones, and 14 and 37 that
    mislead.
    """
    tasks = read_tasks(shipped("fixtures/demo") / TASKS)
    assert len(tasks) == 30
    assert sum(task.held_out for task in tasks) == 10
    asker = replace(around.context, actor="agent:claude")
    done = list(judged(asker, around.tuning, around.playbooks, tasks, BUDGETS[:2]))
    small, usual = (summed([one for one in done if one.budget == budget]) for budget in BUDGETS[:2])
    assert small["helpful"] >= 1.4 * 132
    assert usual["helpful"] >= 218
    assert usual["misleading"] <= 37 / 2


def test_judged_tasks_are_read_line_by_line_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps({"task": "a", "helps": ["m1"]}) + "\n\n[1]\n")
    with pytest.raises(UnreadableFile, match=r"tasks\.jsonl:3"):
        read_tasks(file)
