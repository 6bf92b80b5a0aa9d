"""The demo store: whole, in the present, and nobody's action."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.bench.conftest import NOON, Open, snapshot
from workbench.bench.demo import ANCHOR, fill
from workbench.bench.open import Workbench
from workbench.config.paths import shipped
from workbench.core.errors import WorkbenchError
from workbench.core.served import is_served


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


def test_it_is_rich_enough_to_try_everything(now: Workbench) -> None:
    stats = now.overview.stats()
    assert stats.memories >= 150
    assert stats.pending >= 12
    assert stats.bullets >= 25
    assert min(stats.queries, stats.judgments) > 0
    assert all(p.evidence or p.flags for p in now.review.queue())
    assert len([m for m in now.library.memories.all() if is_served(m, NOON)]) > 150


def test_undo_does_not_take_the_demo_away(now: Workbench) -> None:
    before = snapshot(now)
    with pytest.raises(WorkbenchError, match="nothing to undo"):
        now.history.undo()
    now.stream.pin([now.library.memories.all()[0].id])
    now.history.undo()
    assert snapshot(now) == before


def test_filling_twice_adds_nothing(now: Workbench) -> None:
    before = {name: set(table) for name, table in snapshot(now).items()}
    fill(now, shipped("fixtures/demo"))
    assert {name: set(table) for name, table in snapshot(now).items()} == before


def test_moved_queries_are_found_by_their_text_and_moment(now: Workbench) -> None:
    queries = now.tuning.queries()
    assert queries
    for query in queries:
        assert now.judging.find(query.text, query.now) == query
        assert now.judging.grades(query.text, query.now)
