"""A whole sitting at Review: many decisions and their undo, marked groups, and where one was the
last time.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.tui.review_host import (
    TEXTS,
    ReviewDriver,
    Ticking,
    candidate,
    memory,
    put,
    review,
    store,
)
from tests.tui.support import NOW, app_over, open_bench, screen_text
from workbench.core.document import to_doc
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench
from workbench.tui.review.dialogs import GroupDialog
from workbench.tui.widgets.dialog import SafeInput


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return store(tmp_path, Ticking())


def documents(bench: Workbench) -> dict[str, dict[str, object]]:
    library = bench.library
    return {m.id: to_doc(m) for m in library.memories.all()} | {
        p.id: to_doc(p) for p in library.proposals.all()
    }


def many(bench: Workbench, count: int) -> None:
    put(bench, *(candidate(f"h{n:03}", f"Lesson {n}: {TEXTS['c1']}", "o1") for n in range(count)))


@pytest.mark.parametrize("count", [10, pytest.param(40, marks=pytest.mark.slow)])
async def test_so_many_keys_decide_so_many_and_as_many_undos_take_all_back(
    tmp_path: Path, count: int
) -> None:
    bench = open_bench(tmp_path, Ticking())
    put(bench, memory("o1", "What was seen."))
    many(bench, count)
    before, keys = documents(bench), "aax" * (count // 3) + "a"
    async with review(bench, (80, 24)) as drive:
        for left, key in zip(range(count - 1, -1, -1), keys, strict=True):
            drive.app.simulate_key(key)
            await drive.until(lambda left=left: len(drive.ids) == left)  # type: ignore[misc]
        assert drive.ids == []
        assert f"{count} decided · 0 left" in drive.count
        status = [m.status for m in bench.library.memories.all() if m.id != "o1"]
        assert (status.count("confirmed"), status.count("archived")) == (
            count - count // 3,
            count // 3,
        )
        for there in range(1, count + 1):
            drive.app.simulate_key("u")
            await drive.until(lambda there=there: len(drive.ids) == there)  # type: ignore[misc]
        assert documents(bench) == before
        assert len(drive.ids) == count
        assert drive.current == "h000"
        assert f"{count} to decide" in drive.count


async def test_keys_typed_ahead_are_each_for_the_next_item(bench: Workbench) -> None:
    async with review(bench) as drive:
        for key in ("a", "space", "x", "a"):
            drive.app.simulate_key(key)
        await drive.until(
            lambda: drive.ids == ["c2"] and bench.library.memories.get("c4").status == "confirmed"
        )
        assert [bench.library.memories.get(id).status for id in TEXTS] == [
            "confirmed", "candidate", "archived", "confirmed",
        ]  # fmt: skip
        assert drive.said == []


# Where one was


@pytest.mark.slow
async def test_the_next_sitting_starts_at_the_item_of_the_last(tmp_path: Path) -> None:
    bench = store(tmp_path, Ticking())
    async with review(bench) as drive:
        await drive.keys("j j")
        assert drive.app.review_at == "c3"
    app = app_over(bench, review_at="c3")
    async with app.run_test(size=(140, 45)) as pilot:
        again = ReviewDriver(app, pilot)
        await again.start()
        assert again.current == "c3"
        await again.keys("1 2")
        assert again.current == "c3"


async def test_an_item_that_is_decided_meanwhile_is_not_waited_for(tmp_path: Path) -> None:
    bench = store(tmp_path, Ticking())
    app = app_over(bench, review_at="gone")
    async with app.run_test(size=(140, 45)) as pilot:
        drive = ReviewDriver(app, pilot)
        await drive.start()
        assert drive.current == "c1"


# Marked groups


@pytest.mark.slow
async def test_a_group_that_was_opened_is_decided_at_once(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("j j j g T a")
        assert drive.ids == []
        assert not isinstance(drive.app.screen, GroupDialog)
        for id in TEXTS:
            events = list(bench.history.events(("memories", id)))
            assert events[0].label == "approve 4 proposals", (
                "each one has its own record in the history"
            )


@pytest.mark.slow
async def test_what_was_never_opened_is_shown_to_its_end_first(bench: Workbench) -> None:
    many(bench, 30)
    async with review(bench, (120, 30)) as drive:
        await drive.keys("T x")
        assert isinstance(drive.app.screen, GroupDialog)
        assert "Reject 34, including 33 you have not read?" in screen_text(drive.app)
        await drive.keys("y")
        assert isinstance(drive.app.screen, GroupDialog), "the end was not in sight"
        await drive.keys("n")
        assert len(drive.ids) == 34
        assert bench.library.memories.get("h000").status == "candidate"
        await drive.keys("x")
        for _ in range(40):
            await drive.keys("space")
        assert "You have read them all." in screen_text(drive.app)
        await drive.keys("y")
        assert drive.ids == []
        await drive.keys("u")
        assert len(drive.ids) == 34, "one undo takes all back"
        await drive.keys("T x")
        assert drive.ids == [], "seen once is seen"


@pytest.mark.slow
async def test_a_text_that_changed_since_counts_as_never_opened(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("j k")
        put(bench, candidate("c2", "Something else is to be read.", "o1", importance_score=8))
        await drive.until(lambda: "Something else" in screen_text(drive.app))
        drive.screen.query_one("#filter", SafeInput).value = "read"  # keeps c1 and c2
        await drive.pilot.pause()
        await drive.keys("T a")
        assert isinstance(drive.app.screen, GroupDialog)
        assert "Approve 2, including 1 you have not read?" in screen_text(drive.app)


# Kinds of proposals


def ask(kind: str, *evidence: str, reasons: tuple[str, ...] = ()) -> Proposal:
    return Proposal(
        f"{kind}-1",
        kind,
        "workbench",
        "t",
        NOW,
        evidence=evidence,
        importance=7,
        reasons=reasons,
        flags=("look",),
    )


async def test_a_merge_of_very_many_compares_the_first_and_names_the_same_ones(
    bench: Workbench,
) -> None:
    at = NOW - timedelta(days=1)
    older = [
        memory(f"n{n:02}", f"Clear the cache, {n}.", created_at=at - timedelta(hours=n))
        for n in range(1, 29)
    ]
    same = memory("same", "Clear the cache.", created_at=at - timedelta(minutes=1))
    put(bench, memory("newest", "Clear the cache."), same, *older)
    put(bench, ask("merge", "newest", "same", *(m.id for m in older)))
    async with review(bench) as drive:
        drive.go("merge-1")
        await drive.until(lambda: "Are these 30" in drive.text("candidate"))
        card = drive.text("candidate")
        assert "From same to the newest  the same text" in card
        assert card.count("to the newest") == 20
        assert "… and 9 more; they are shown in full alongside." in card
        await drive.settle()
        assert "Clear the cache, 28." in drive.text("evidence")


# Citations and contradictions


async def test_the_tree_of_citations_is_drawn_to_its_raw_events(bench: Workbench) -> None:
    put(
        bench,
        memory(
            "r1",
            "Readers win races.",
            status="confirmed",
            is_synthetic=True,
            citations=("o2", "c0"),
        ),
        candidate("c0", "Caches lose to readers.", "r1", "o3", importance_score=10),
    )
    async with review(bench, (200, 60)) as drive:
        evidence = drive.text("evidence")
        assert "Evidence: 2 memories  down 2 levels" in evidence
        lines = evidence.splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("└ · o2"))
        assert lines[at + 1].startswith("  Cleared the cache before the commit")
        assert any(line.startswith("└ · c0") and "shown above" in line for line in lines)
        assert "✗ forgotten · o3" in evidence


@pytest.mark.slow
async def test_a_neighbour_that_says_the_opposite_is_named_with_the_reason(
    bench: Workbench,
) -> None:
    put(bench, memory("other", "The cache must be cleared before the commit.", status="confirmed"))
    put(bench, memory("twin", "the cache must be cleared after the commit"))
    put(
        bench,
        candidate("c0", "The cache must be cleared after the commit.", "o1", importance_score=10),
    )
    async with review(bench) as drive:
        await drive.settle()
        evidence = drive.text("evidence")
        assert "≠ other · this says “after”, the other “before”" in evidence
        said = evidence.partition("Evidence:")[0]
        assert "≈ 1.00  twin · signal" in said, (
            "it stands above what is cited, however much that is"
        )
        assert "≈ 1.00  other" not in said
