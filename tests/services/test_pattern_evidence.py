"""Patterns live on episodes: those that name them, or were served them and followed; and on no
others.
"""

from datetime import timedelta
from typing import Any

from tests.services.conftest import NOON, Clock
from tests.services.experienced import door, meta, said
from workbench.services.open import Workbench

STEPS = [
    "Read the log of the job",
    "Rotate the signing key",
    "Start the job again",
    "Tell the channel",
]
DOC: dict[str, Any] = {
    "name": "Rotate the key", "category": "sequence", "lifecycle": {"status": "validated"},
    "content": {"type": "procedure", "procedure": {"steps": STEPS}},
}  # fmt: skip


def deploys(
    first: int, many: int, strategy: str, outcome: str, **more: Any
) -> list[dict[str, Any]]:
    """Return episodes that name a strategy; the first of all are the oldest."""
    about = meta(
        task_type="deploy", domain="infra", strategies_applied=[strategy] if strategy else []
    )
    return [
        said(f"Deploy {n}", outcome, days=30 - n / 10, **about, **more)
        for n in range(first, first + many)
    ]


def run(*trace: str, status: str = "SUCCESS", **more: Any) -> dict[str, Any]:
    return {"task": {"original_input": "Mend the deploy"}, "outcome": {"status": status, **more},
            "execution": {"trace": [{"tool": "Bash", "input": line} for line in trace]}}  # fmt: skip


def bases(bench: Workbench, id: str) -> list[tuple[str, str]]:
    return sorted((one.basis, one.outcome) for one in bench.patterns.applications(id))


def test_what_it_was_mined_from_does_not_validate_it_and_later_episodes_do(
    bench: Workbench,
) -> None:
    bench.episodes.store_all([*deploys(0, 6, "canary", "SUCCESS"), *deploys(6, 6, "", "FAILURE")])
    bench.consolidating.carry_out()
    (proposal,) = bench.review.queue()
    bench.review.approve([proposal.id])
    (mined,) = bench.patterns.all()
    assert len(mined.support.mined_from) == 6
    bench.patterns.record(mined.id, mined.support.mined_from[0], "success")
    (found,) = bench.patterns.validate()
    assert found.outlook == "insufficient"
    assert found.finding.episodes == 0
    bench.episodes.store_all(deploys(12, 4, "canary", "SUCCESS"))
    assert bench.patterns.validate()[0].outlook == "insufficient"
    bench.episodes.store_all(deploys(16, 8, "Canary", "SUCCESS"))
    (found,) = bench.patterns.validate()
    assert found.finding.episodes == 12
    assert found.after.status == "validated"
    assert found.after.support.mined_from == mined.support.mined_from
    assert bench.history.undo() == "validate all patterns"
    assert bench.patterns.get(mined.id).status == "candidate"


def test_served_and_followed_counts_and_served_alone_is_only_shown(
    bench: Workbench, clock: Clock
) -> None:
    (known,) = bench.patterns.add([DOC])
    agent = door(bench)
    agent.keep_episode(run(*STEPS))
    assert bases(bench, known.id) == [], "before it was served"
    assert agent.find_patterns("mend the deploy", limit=5)["patterns"]
    clock.advance(minutes=5)
    agent.keep_episode(run("read the job's log", "rotated the signing keys"))
    agent.keep_episode(run("tell the channel"))
    agent.keep_episode({**run(*STEPS, status="FAILURE"), "session_id": "another session"})
    early = {**run(*STEPS), "timestamp": (NOON - timedelta(hours=2)).isoformat()}
    agent.keep_episode({**early, "execution": {**early["execution"], "duration": 60}})
    assert bases(bench, known.id) == [("followed", "success"), ("served", "success")]
    assert bench.patterns.get(known.id).usage_count == 1
    (found,) = bench.patterns.validations()
    assert found.finding.episodes == 1


def test_an_episode_has_one_row_and_what_somebody_recorded_stands(bench: Workbench) -> None:
    (known,) = bench.patterns.add([DOC])
    named = {"metadata": {"patterns_applied": [known.id, "rotate THE key"]}}
    bench.patterns.record(known.id, "ep-a", "failure")
    door(bench).learn_from_episode({**run(), **named, "episode_id": "ep-a"}, [])
    assert bases(bench, known.id) == [("recorded", "failure")]
    door(bench).learn_from_episode({**run(), **named, "episode_id": "ep-b"}, [])
    assert bases(bench, known.id) == [("named", "success"), ("recorded", "failure")]
    bench.patterns.record(known.id, "ep-b", "partial")
    assert bases(bench, known.id) == [("recorded", "failure"), ("recorded", "partial")]
    assert bench.patterns.get(known.id).usage_count == 2


def test_an_episode_whose_end_nobody_knows_counts_for_no_pattern(bench: Workbench) -> None:
    (known,) = bench.patterns.add([DOC])
    bench.episodes.store(
        {**run(status="PARTIAL"), **meta(patterns_applied=[known.id], tags=["no evidence"])}
    )
    assert bases(bench, known.id) == [("unproven", "partial")]
    assert bench.patterns.validations()[0].finding.episodes == 0
    open_ended = deploys(6, 6, "", "PARTIAL")
    for one in open_ended:
        one["metadata"]["tags"] = ["no evidence"]
    bench.episodes.store_all([*deploys(0, 6, "canary", "SUCCESS"), *open_ended])
    bench.consolidating.carry_out(["extraction"])
    assert bench.review.queue() == ()


def test_an_episode_that_goes_on_keeps_its_one_row(bench: Workbench) -> None:
    (known,) = bench.patterns.add([DOC])
    begun = {
        **run(status="PARTIAL"),
        **meta(patterns_applied=[known.id], tags=["no evidence"]),
        "episode_id": "ep-a",
    }
    bench.episodes.store_all([begun])
    assert bases(bench, known.id) == [("unproven", "partial")]
    for status in ("SUCCESS", "FAILURE"):
        ended = {
            **run(*STEPS, status=status),
            **meta(patterns_applied=[known.id]),
            "episode_id": "ep-a",
        }
        bench.episodes.store_all([ended], goes_on=True)
        assert bases(bench, known.id) == [("named", status.lower())]
    assert bench.patterns.get(known.id).usage_count == 1
