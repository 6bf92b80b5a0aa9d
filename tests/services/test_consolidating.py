"""A consolidation: a dry run is the run, stages are actions of their own, what was broken off goes
on, all is noted.
"""

from datetime import timedelta
from typing import Any

import pytest

from tests.services.conftest import Clock, Open, snapshot
from tests.services.experienced import meta, pattern, said
from workbench.core.agents.consolidation import KEPT, STAGES, StageKind, due_at
from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.services.agents.consolidation import (
    Consolidated,
    Consolidating,
    done_json,
    markdown,
    run_json,
)
from workbench.services.open import Workbench
from workbench.services.tuning.retriever import Retriever

SAME = "Deploy the service to staging and see whether it answers"
OWN = ("consolidations",)


@pytest.fixture
def bench(open_bench: Open) -> Workbench:
    """Three episodes that say the same, a pattern that works, and one that does not."""
    made = open_bench()
    made.episodes.store_all(
        [said(SAME, days=40 + n, **meta(task_type="deploy", domain="ops")) for n in range(3)]
    )
    made.episodes.store(
        said("Deploy nothing at all to staging", days=41, **meta(task_type="deploy", domain="ops"))
    )
    good, bad = made.patterns.add(
        [pattern(pattern_id="good"), pattern("Ask again", pattern_id="bad")]
    )
    for n in range(6):
        made.patterns.record(good.id, f"run-{n}", "success")
        made.patterns.record(bad.id, f"run-{n}", "failure")
    return made


def changes(done: Consolidated) -> dict[str, dict[str, str]]:
    return {
        one.kind.id: {change.id: change.becomes for change in one.changes} for one in done.stages
    }


def state(bench: Workbench) -> dict[str, Any]:
    return {table: docs for table, docs in snapshot(bench).items() if table not in OWN}


def test_a_dry_run_says_what_a_run_does_and_writes_nothing(bench: Workbench) -> None:
    before = snapshot(bench)
    looked = bench.consolidating.look()
    assert snapshot(bench) == before
    done = bench.consolidating.carry_out()
    assert changes(looked) == changes(done)
    assert done_json(looked, dry=True)["stages"][:4] == done_json(done, dry=False)["stages"][:4]  # type: ignore[index]
    assert sorted(changes(done)["episodes"].values()) == ["archived", "archived"]
    assert changes(done)["validation"] == {"bad": "under_review"}
    assert changes(done)["refinement"] == {"bad": "deprecated"}
    assert [one.status for one in bench.episodes.all()].count("archived") == 2
    assert bench.patterns.get("bad").status == "deprecated"


def test_each_stage_is_an_action_that_undo_takes_back(bench: Workbench) -> None:
    before = state(bench)
    bench.consolidating.carry_out()
    for said_of in ("deprecate the pattern bad", "validate all patterns", "consolidate 2 episodes"):
        assert said_of in bench.history.undo()
    assert state(bench) == before
    assert bench.consolidating.last() is not None


def test_it_stops_between_two_stages_and_goes_on_there(bench: Workbench, clock: Clock) -> None:
    told = list[str]()

    def tell(kind: StageKind, done: int, total: int) -> None:
        assert done <= total
        told.append(kind.id)

    def stopped() -> bool:
        run = bench.consolidating.last()
        return run is not None and len(run.done) == 1

    done = bench.consolidating.carry_out(tell=tell, cancelled=stopped)
    assert [one.kind.id for one in done.stages] == ["episodes"]
    assert next(kind.id for kind in done.left) == "extraction"
    assert bench.patterns.get("bad").status == "validated"
    clock.advance(hours=2)
    rest = bench.consolidating.carry_out(tell=tell)
    assert rest.again
    assert [one.kind.id for one in rest.stages] == [kind.id for kind in STAGES[1:]]
    run = bench.consolidating.last()
    assert run is not None
    assert run.left == ()
    assert len(bench.consolidating.runs()) == 1
    assert due_at(run) == clock() + timedelta(days=7)
    assert {"episodes", "indexes"} <= set(told)


def test_after_a_day_or_when_asked_for_it_begins_anew(bench: Workbench, clock: Clock) -> None:
    consolidating = bench.consolidating
    assert consolidating.carry_out(cancelled=lambda: True).stages == ()
    assert not consolidating.carry_out(anew=True, cancelled=lambda: True).again
    assert not consolidating.carry_out(["report"]).again
    consolidating.carry_out(cancelled=lambda: True)
    clock.advance(hours=25)
    assert not consolidating.carry_out().again


def test_what_a_stage_raises_leaves_what_was_done_before_it(bench: Workbench) -> None:
    own = Consolidating(bench.context, bench.episode_finder, bench.patterns, breaks)
    with pytest.raises(WorkbenchError, match="It broke"):
        own.carry_out()
    run = own.last()
    assert run is not None
    assert run.left == ("indexes", "report")
    assert [one.status for one in bench.episodes.all()].count("archived") == 2


def breaks() -> Retriever:
    raise WorkbenchError("It broke.")


def test_stages_are_named_and_run_in_their_order(bench: Workbench) -> None:
    done = bench.consolidating.carry_out(["report", "validation"])
    assert [one.kind.id for one in done.stages] == ["validation", "report"]
    with pytest.raises(InvalidQuery, match="stage “dreams”"):
        bench.consolidating.look(["dreams"])


def test_the_report_has_what_there_is_and_when_the_next_one_is_due(bench: Workbench) -> None:
    run = bench.consolidating.carry_out().run
    assert run is not None
    facts = run.done[-1].facts
    assert facts["episodes_mature"] == 2
    assert facts["episodes_archived"] == 2
    assert facts["patterns_deprecated"] == 1
    assert facts["episodes_bytes"] > 0
    text = markdown(run)
    assert "The next one is due 2026-11-28" in text
    assert "- patterns deprecated: 1" in text
    doc = run_json(run)
    assert doc["left"] == []
    assert doc["next_due_at"] == "2026-11-28T12:00:00Z"


def test_so_many_runs_are_kept(bench: Workbench, clock: Clock) -> None:
    for _ in range(KEPT + 3):
        clock.advance(minutes=1)
        bench.consolidating.carry_out(["report"])
    assert len(bench.consolidating.runs()) == KEPT


def test_what_recurs_in_episodes_is_counted_for_review_and_not_applied(bench: Workbench) -> None:
    for n in range(12):
        about = meta(
            task_type="move", domain="ci", strategies_applied=["cache-first"] if n % 2 else []
        )
        bench.episodes.store(said(f"Move build {n}", "SUCCESS" if n % 2 else "FAILURE", **about))
    done = bench.consolidating.carry_out(["extraction"])
    (waiting,) = bench.review.queue()
    assert [change.id for change in done.stages[0].changes] == [waiting.id]
    assert waiting.title.startswith("cache-first in ci/move")
    again = bench.consolidating.carry_out(["extraction"])
    assert again.stages[0].changes == ()
    assert {pattern.id for pattern in bench.patterns.all()} == {"good", "bad"}


def test_an_empty_store_has_nothing_to_consolidate(open_bench: Open) -> None:
    assert not any(changes(open_bench().consolidating.carry_out()).values())
