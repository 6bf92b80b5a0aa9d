"""What approving would do to the saved queries: compared with what it does once it is approved."""

from datetime import timedelta

import pytest

from tests.services.conftest import NOON, memory, put
from workbench.core.record import WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.tuning.judgment import SavedQuery
from workbench.services.open import Workbench

DAY = timedelta(days=1)
CACHE = "when must the cache be cleared"


@pytest.fixture
def loaded(bench: Workbench) -> Workbench:
    notes = [f"Note {n} about the build server and its logs" for n in range(14)]
    put(
        bench,
        *(memory(f"n{n:02}", text, NOON - 2 * DAY, status="confirmed") for n, text in enumerate(notes)),
        memory("lunch", "Lunch is at noon in the canteen", NOON - 2 * DAY, status="confirmed", importance_score=2.0),
        memory(
            "c1", "The cache must be cleared after the commit, never before", NOON - DAY, status="candidate",
            is_synthetic=True, importance_score=10.0,
        ),
        memory("old", "The cache must be cleared after every commit", NOON - 3 * DAY, status="confirmed"),
        SavedQuery("q1", CACHE, NOON),
        SavedQuery("q2", "lunch in the canteen", NOON),
        SavedQuery("q3", CACHE, NOON, now=NOON - 2 * DAY),
    )  # fmt: skip
    bench.retriever.load()
    return bench


def test_the_preview_is_what_approving_does(loaded: Workbench) -> None:
    impact = loaded.impact.of(loaded.review.get("c1"))
    assert impact is not None
    tuning = loaded.tuning
    before = tuning.rank(CACHE, tuning.default())
    loaded.review.approve(["c1"])
    after = tuning.rank(CACHE, tuning.default())
    first = impact.queries[0]
    assert first.query.id == "q1"
    assert first.before is None
    assert first.place == after.place_of("c1")
    assert first.enters
    gone = set(before.ids) - set(after.ids)
    assert {first.displaced.id if first.displaced else ""} == gone
    moved = {m.factor: (m.low, m.high) for m in first.moved}
    assert moved["importance"][1] == pytest.approx(
        (before.bounds["importance"].high, after.bounds["importance"].high)
    )
    assert moved["importance"][1][1] == 1.0
    assert [q.query.id for q in impact.entered] == [
        q.query.id for q in impact.queries if (q.place or 99) <= impact.k
    ]


def test_a_query_asked_before_it_was_made_does_not_find_it(loaded: Workbench) -> None:
    impact = loaded.impact.of(loaded.review.get("c1"))
    assert impact is not None
    assert [(q.query.id, q.place) for q in impact.queries if q.place is None] == [("q3", None)]


def test_what_a_prune_takes_away_is_told(loaded: Workbench) -> None:
    put(loaded, memory("seen", "Clear the cache when the commit is done", NOON - DAY))
    put(loaded, Proposal("p1", "prune", "workbench", "noise?", NOON, evidence=("seen",)))
    impact = loaded.impact.of(loaded.review.get("p1"))
    assert impact is not None
    assert impact.memory == "seen"
    assert "q1" in [q.query.id for q in impact.left]
    assert impact.entered == ()


def test_a_merge_is_previewed_with_the_text_it_leaves(loaded: Workbench) -> None:
    put(loaded, memory("new", "Canteen: lunch moved to one o'clock", NOON - DAY))
    put(loaded, Proposal("m1", "merge", "workbench", "same?", NOON, evidence=("new", "old")))
    impact = loaded.impact.of(loaded.review.get("m1"))
    assert impact is not None
    assert impact.memory == "old"
    by_id = {q.query.id: q for q in impact.queries}
    assert (by_id["q2"].place or 99) < (by_id["q2"].before or 99)


def test_it_can_be_left_and_has_nothing_to_say_about_no_memory(loaded: Workbench) -> None:
    with pytest.raises(WorkStopped):
        loaded.impact.of(loaded.review.get("c1"), lambda: True)
    put(loaded, Proposal("p2", "pattern", "agent:x", "nothing", NOON))
    assert loaded.impact.of(loaded.review.get("p2")) is None
