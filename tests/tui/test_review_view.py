"""What Review shows, in every width, and how it follows the store."""

from pathlib import Path

import pytest

from tests.tui.review_host import TEXTS, Ticking, candidate, memory, put, review, store
from tests.tui.support import NOW, screen_text
from tests.tui.widgets.host import HOSTILE, is_inert
from workbench.core.change import Change, FieldChange
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench
from workbench.tui.widgets.dialog import SafeInput


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def bench(tmp_path: Path, clock: Ticking) -> Workbench:
    return store(tmp_path, clock)


async def test_the_filter_narrows_and_esc_clears_it_in_place(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("slash", *"cache", "enter")
        assert drive.ids == ["c3"]
        assert "1 listed" in drive.count
        await drive.keys("escape")
        assert (drive.ids, drive.current) == (["c1", "c2", "c3", "c4"], "c3")
        await drive.keys("n n")
        assert drive.current == "c1", "n goes round the end"
        await drive.keys("N")
        assert drive.current == "c4"
        drive.screen.query_one("#filter", SafeInput).value = "satus:x"
        await drive.pilot.pause()
        assert "Did you mean" in drive.count
        assert drive.ids == ["c1", "c2", "c3", "c4"]
        await drive.keys("escape slash", *"zzz")
        assert "Nothing matches." in screen_text(drive.app)


@pytest.mark.slow
async def test_an_item_that_another_process_decides_is_not_taken_away_in_silence(
    bench: Workbench,
) -> None:
    async with review(bench) as drive:
        with bench.library.transaction("agent:x", "confirm c1") as tx:
            tx.put(memory("c1", TEXTS["c1"], status="confirmed"))
        await drive.until(lambda: drive.current == "c2")
        assert any("c1 was decided in another session" in said for said in drive.said)


@pytest.mark.slow
async def test_the_evidence_names_what_is_gone_and_what_was_rejected_before(
    bench: Workbench,
) -> None:
    put(
        bench,
        candidate(
            "again",
            TEXTS["c3"].replace("must", "has to"),
            "o2",
            "o3",
            "nowhere",
            importance_score=10,
        ),
    )
    bench.review.reject(["c3"], "too general")
    async with review(bench, (200, 60)) as drive:
        drive.go("again")
        await drive.settle()
        evidence = drive.text("evidence")
        assert "Similar to a rejected candidate" in evidence
        assert "because too general" in evidence
        assert "rejected just now" in evidence
        assert "[-must-]{+has to+}" in evidence
        assert "✗ forgotten · o3" in evidence
        assert "✗ nowhere · not in this store" in evidence
        assert "Cleared the cache before the commit" in evidence
        assert "! cites deleted memories" in drive.text("candidate")


async def test_reading_on_scrolls_the_texts_and_a_decision_starts_at_the_top(
    bench: Workbench,
) -> None:
    put(bench, memory("o1", "\n".join(f"line {n}" for n in range(200))))
    async with review(bench, (120, 30)) as drive:
        pane = drive.screen.query_one("#evidence")
        await drive.keys("J")
        assert pane.scroll_offset.y > 0
        await drive.keys("K")
        assert pane.scroll_offset.y == 0
        await drive.keys("tab tab G")
        await drive.until(lambda: pane.scroll_offset.y > 100)
        await drive.keys("a")
        await drive.settle()
        assert pane.scroll_offset.y == 0


async def test_a_proposal_of_any_kind_shows_its_changes_and_none_of_its_text_acts(
    bench: Workbench,
) -> None:
    step = {
        "status": FieldChange("signal", "archived"),
        "content": FieldChange(f"old {HOSTILE}", f"new {HOSTILE}"),
    }
    put(
        bench,
        Proposal(
            id="p1", kind="prune", actor=HOSTILE, title=f"Prune {HOSTILE}", created_at=NOW, evidence=("o1", HOSTILE),
            flags=(HOSTILE,), importance=7, changes=(Change("memories", "o1", "update", step),),
        ),
        candidate("again", TEXTS["c3"], HOSTILE, summary=HOSTILE, tags=(HOSTILE,), importance_score=10),
    )  # fmt: skip
    bench.review.reject(["c3"], HOSTILE)
    async with review(bench, (200, 60)) as drive:
        for id in ("p1", "again"):
            drive.go(id)
            await drive.settle()
            shown = screen_text(drive.app)
            assert all(is_inert(line) for line in shown.splitlines())
            assert "[b]bold[/b] [/x] [shr-00001]" in shown
        drive.go("p1")
        await drive.settle()
        assert "Approving would change" in drive.text("candidate")
        assert "status: [-signal-]{+archived+}" in drive.text("candidate")
        await drive.keys("e")
        assert drive.app.screen is drive.screen
        assert "This proposal has no text to edit." in " ".join(drive.said)
        await drive.keys("x")
        assert "w says why" not in screen_text(drive.app), "only a memory can keep the reason"
        assert bench.library.proposals.get("p1").state == "rejected"
