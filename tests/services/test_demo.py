"""The demo store: whole, in the present, and nobody's action."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Open, snapshot
from workbench.config.paths import shipped
from workbench.core.record import WorkbenchError, parse_time
from workbench.services.demo import ANCHOR, fill, lay_out
from workbench.services.files.lint import known_files
from workbench.services.open import Workbench
from workbench.services.promotion.placements import places_of, scratch_of


@pytest.fixture
def now(bench: Workbench) -> Workbench:
    fill(bench, shipped("fixtures/demo"))
    return bench


def test_it_ends_a_moment_ago(now: Workbench) -> None:
    newest = max(m.created_at for m in now.library.memories.all())
    assert timedelta() < NOON - newest < timedelta(days=1)
    assert all(m.last_accessed_at <= NOON for m in now.library.memories.all())
    assert all(q.now is not None and q.now <= NOON for q in now.library.queries.all())


def test_everything_moves_by_the_same_step(now: Workbench, open_bench: Open, filled: Path) -> None:
    there = {m.id: m for m in open_bench(folder=filled).library.memories.all()}
    for moved in now.library.memories.all():
        assert moved.created_at - there[moved.id].created_at == NOON - ANCHOR


def test_undo_does_not_take_the_demo_away(now: Workbench) -> None:
    before = snapshot(now)
    with pytest.raises(WorkbenchError, match="Nothing to undo"):
        now.history.undo()
    now.stream.pin([now.library.memories.all()[0].id])
    now.history.undo()
    assert snapshot(now) == before


def test_the_history_has_a_date_for_each_of_six_weeks(now: Workbench) -> None:
    entries = list(now.library.changes_back())
    weeks = {(NOON - parse_time(entry.at)).days // 7 for entry in entries}
    assert weeks >= set(range(6))
    assert entries == sorted(entries, key=lambda entry: entry.at, reverse=True)
    assert {entry.actor for entry in entries} >= {"agent:claude", "agent:codex"}


def test_there_is_something_for_each_feature_to_find(now: Workbench, scratch: Path) -> None:
    groups = now.deduplication.likeness().groups(now.deduplication.likeness().limits.review)
    assert len([group for group in groups if group.ordinary]) == 2
    asked = now.upkeep.plan().proposals
    assert [p.title for p in asked if p.kind == "replaces"] == ["Handbook screenshots: 1280 by 800"]
    (stale,) = now.still_true.plan().found
    assert [gone.name.text for gone in stale.gone] == [".claude/rules/design.md"]
    assert not (scratch / stale.gone[0].name.text).exists()
    rules = now.playbooks.open(now.playbooks.books()[0].book.id).bullets
    assert [rule.id for rule in rules if rule.harmful_count > rule.helpful_count] == [
        "cms-00020",
        "psw-00025",
    ]


@pytest.mark.slow
def test_what_recurs_in_them_and_what_patterns_say_twice_is_offered(around: Workbench) -> None:
    around.working_out.run(lambda: False, only=("pattern", "pattern-merge"))
    titles = {one.kind: one.title for one in around.review.found()}
    assert titles == {
        "pattern": "follow-the-value in ci/ci: 5 of 5 succeeded, 0 of 3 without",
        "pattern-merge": "Make it fail before you fix it",
    }


@pytest.fixture
def scratch(now: Workbench) -> Path:
    return lay_out(now, shipped("fixtures/demo"))


@pytest.mark.slow
def test_it_has_a_scratch_project_in_which_stands_what_was_promoted(
    now: Workbench, scratch: Path
) -> None:
    text = (scratch / "CLAUDE.md").read_text("utf-8")
    placed = [m for m in now.library.memories.all() if m.promoted_to == "CLAUDE.md"]
    assert len(placed) == 2
    assert all(memory.content in text for memory in placed)
    assert now.promotion.places.project == scratch
    assert now.promotion.places.is_scratch is True
    assert [offer.label for offer in now.promotion.offers() if offer.target.kind != "playbook"] == [
        "CLAUDE.md", "AGENTS.md", "memory file", "skill",
    ]  # fmt: skip
    names = {known.path.relative_to(scratch).as_posix() for known in known_files(now.library)}
    assert {"CLAUDE.md", "AGENTS.md", ".claude/memory/MEMORY.md"} <= names
    with pytest.raises(WorkbenchError, match="Nothing to undo"):
        now.history.undo()


def test_a_link_is_no_scratch_project(now: Workbench, tmp_path: Path) -> None:
    store, elsewhere = now.library.folder, tmp_path / "elsewhere"
    elsewhere.mkdir()
    scratch_of(store).symlink_to(elsewhere)
    assert places_of(store).project is None
