"""What hooks captured is compared with what was there, once, the next time that somebody has the
model at hand.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.services.conftest import Clock, Open, memory, put
from tests.services.ingested import fill_up
from workbench.core.agents.hook_event import HookEvent
from workbench.services.agents.capture import catching_up
from workbench.services.agents.capture.catching_up import CaughtUp
from workbench.services.agents.capture.hooks import take
from workbench.services.agents.capture.progress import Place
from workbench.services.open import Workbench, open_workbench

RULE = "Always use pnpm instead of npm when you install packages in this repository"
CONTRARY = "Never use pnpm instead of npm when you install packages in this repository"


def said(
    bench: Workbench,
    clock: Clock,
    tmp_path: Path,
    *texts: str,
    session: str = "s-1",
    by: str = "claude",
) -> None:
    """Let a person correct an agent at its prompts, as its hook tells it, with other things said in
    between.
    """
    for number, text in enumerate(texts):
        place = Place(bench.library.folder, tmp_path / "captures", f"agent:{by}", clock)
        event = HookEvent(
            "UserPromptSubmit", "UserPromptSubmit", f"{session}-{number}", text=f"No, {text}"
        )
        before = bench.library.revision
        take(event, place)
        bench.library.refresh()
        assert bench.library.revision > before
        fill_up(bench)


def told(bench: Workbench) -> list[str]:
    """What was captured and is still there, in its order."""
    found = [
        m
        for m in bench.library.memories.all()
        if "captured" in m.metadata and m.status != "archived"
    ]
    return [m.id for m in sorted(found, key=lambda m: m.id)]


@pytest.fixture
def by_person(bench: Workbench) -> str:
    """A rule that a person wrote, long ago."""
    put(bench, memory("rule", f"No, {RULE}", memory_type="procedural", status="confirmed"))
    fill_up(bench)
    return "rule"


def test_a_near_copy_is_counted_on_what_it_repeats_and_put_away(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path
) -> None:
    before = bench.stream.get(by_person)
    said(bench, clock, tmp_path, RULE + "!")
    (copy,) = told(bench)
    assert bench.catch_up.run() == CaughtUp(compared=1, counted=1)
    after, away = bench.stream.get(by_person), bench.stream.get(copy)
    assert after.content == before.content
    assert after.status == before.status
    assert after.importance_score == before.importance_score
    assert after.helpful_absorbed == before.helpful_absorbed + 1
    assert after.helpful_count == before.helpful_count + 1
    assert copy in after.aliases
    assert away.status == "archived"
    assert away.archived_reason == "merged"
    assert away.metadata["merged_into"] == by_person
    assert told(bench) == []


def test_it_is_nobody_s_action_and_can_be_taken_back_by_its_number(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path
) -> None:
    said(bench, clock, tmp_path, RULE + "!")
    bench.stream.pin([by_person])
    bench.catch_up.run()
    event = next(bench.history.events())
    assert event.actor == "workbench"
    assert event.label == "deduplicate 1 captured"
    assert bench.history.undo() == f"pin {by_person}"
    bench.history.undo_revision(event.rev)
    assert len(told(bench)) == 1
    assert bench.catch_up.run() == CaughtUp()


def test_an_agent_that_repeats_itself_is_no_second_source(
    bench: Workbench, clock: Clock, tmp_path: Path
) -> None:
    said(bench, clock, tmp_path, RULE, RULE + "!")
    said(bench, clock, tmp_path, RULE + "!!", session="s-2", by="codex")
    first, *_ = told(bench)
    count = bench.stream.get(first).helpful_count
    assert bench.catch_up.run() == CaughtUp(compared=3, counted=2)
    assert told(bench) == [first]
    assert bench.stream.get(first).helpful_count == count + 1


def test_what_says_the_contrary_is_asked_about_and_both_stay(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path
) -> None:
    said(bench, clock, tmp_path, CONTRARY)
    assert bench.catch_up.run() == CaughtUp(compared=1, proposed=1)
    (asked,) = [p for p in bench.library.proposals.all() if p.state == "open"]
    assert asked.kind == "reconfirm"
    assert asked.evidence[0] == by_person
    assert len(told(bench)) == 1


def test_what_waits_for_a_decision_is_not_put_away_into_what_does_not(
    bench: Workbench, clock: Clock, tmp_path: Path
) -> None:
    put(bench, memory("noted", f"No, {RULE}!", memory_type="procedural"))
    fill_up(bench)
    said(bench, clock, tmp_path, RULE)
    (copy,) = told(bench)
    assert bench.stream.get(copy).status == "candidate"
    assert bench.catch_up.run() == CaughtUp(compared=1, proposed=1)
    (merge,) = [p for p in bench.library.proposals.all() if p.state == "open"]
    assert merge.kind == "merge"
    assert set(merge.evidence) == {"noted", copy}
    bench.review.reject([merge.id])
    shutil.rmtree(bench.context.caches)
    assert bench.catch_up.run() == CaughtUp(compared=1)


def test_nothing_is_compared_twice_and_nothing_of_a_person_s_own(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path
) -> None:
    put(bench, memory("again", f"No, {RULE}.", memory_type="procedural"))
    assert bench.catch_up.run() == CaughtUp()
    assert not bench.retriever.ready  # nobody waits for a model where there is nothing to compare
    said(bench, clock, tmp_path, RULE + "!")
    assert bench.catch_up.run().compared == 1
    rev = bench.library.revision
    assert bench.catch_up.run() == CaughtUp()
    assert bench.library.revision == rev
    assert json.loads((bench.context.caches / "compared.json").read_bytes())["rev"] == rev


def test_it_goes_on_where_it_was_stopped(
    bench: Workbench,
    open_bench: Open,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [f"{RULE}{mark}" for mark in ("", "!", "!!", " !", "!!!")]
    said(bench, clock, tmp_path, *texts)
    first, *_ = told(bench)
    monkeypatch.setattr(catching_up, "AT_ONCE", 2)
    looks = iter((False, True))
    assert bench.catch_up.run(lambda: next(looks)) == CaughtUp(compared=2, counted=1)
    other = open_bench()
    assert other.catch_up.run() == CaughtUp(compared=3, counted=3)
    assert told(other) == [first]


@pytest.mark.slow
@pytest.mark.parametrize(
    "note", [b"", b"[]", b'{"store": "other", "rev": 9}', b'{"rev": -1}', b'{"store": 1}', b"\xff"]
)
def test_a_note_that_says_nothing_costs_a_comparison_and_no_more(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path, note: bytes
) -> None:
    said(bench, clock, tmp_path, RULE + "!")
    bench.catch_up.run()
    (bench.context.caches / "compared.json").write_bytes(note)
    assert bench.catch_up.run() == CaughtUp()


def test_what_was_cared_for_since_stays(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path
) -> None:
    said(bench, clock, tmp_path, RULE + "!")
    (copy,) = told(bench)
    bench.stream.pin([copy])
    assert bench.catch_up.run() == CaughtUp(compared=1, proposed=1)
    assert told(bench) == [copy]


def test_a_store_that_came_from_elsewhere_is_left_alone(
    bench: Workbench, by_person: str, clock: Clock, tmp_path: Path
) -> None:
    said(bench, clock, tmp_path, RULE + "!")
    there = tmp_path / "copy" / "store"
    shutil.copytree(bench.library.folder, there)
    copy = open_workbench(there, profiles=tmp_path, heads=tmp_path / "heads", clock=clock)
    assert not copy.library.standing.trusted
    assert copy.catch_up.run() == CaughtUp()
    copy.close()
