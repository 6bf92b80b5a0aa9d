"""Review by its keys, over a real store."""

from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import TextArea

from tests.tui.review_host import TEXTS, Ticking, memory, put, review, store
from tests.tui.support import NOW, screen_text
from workbench.services.open import Workbench
from workbench.services.review.rewriting import rejection_of
from workbench.tui.forms import RecordForm
from workbench.tui.review.dialogs import MergeChoice, ReasonDialog


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def bench(tmp_path: Path, clock: Ticking) -> Workbench:
    return store(tmp_path, clock)


async def test_deciding_is_advancing_and_undo_brings_the_item_and_the_cursor_back(
    bench: Workbench,
) -> None:
    async with review(bench) as drive:
        assert drive.ids == ["c1", "c2", "c3", "c4"]
        assert "4 to decide" in drive.count
        await drive.keys("j a")
        assert drive.current == "c3"
        assert "1 decided · 3 left" in drive.count
        assert bench.library.memories.get("c2").status == "confirmed"
        await drive.keys("x")
        assert drive.current == "c4"
        await drive.keys("u")
        assert (drive.current, drive.ids) == ("c3", ["c1", "c3", "c4"])
        assert "1 decided · 3 left" in drive.count
        await drive.keys("u")
        assert (drive.current, drive.ids) == ("c2", ["c1", "c2", "c3", "c4"])
        await drive.keys("U")
        assert (drive.current, drive.ids) == ("c3", ["c1", "c3", "c4"])
        assert "1 decided · 3 left" in drive.count


@pytest.mark.slow
async def test_later_goes_to_the_end_and_the_cursor_does_not_follow_it(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("space")
        assert drive.current == "c2"
        assert drive.ids == ["c2", "c3", "c4", "c1"]
        assert "3 to decide · 1 put off" in drive.count
        assert "+7d" in screen_text(drive.app)
        await drive.keys("u")
        assert (drive.current, drive.ids[0]) == ("c1", "c1")


@pytest.mark.parametrize("digit", "1")
async def test_rejecting_takes_no_later_key(bench: Workbench, digit: str) -> None:
    async with review(bench, (80, 24)) as drive:
        await drive.keys("x")
        assert "Rejected c1 · u takes it back · w adds a reason" in screen_text(drive.app)
        here = drive.app.screen
        await drive.keys(digit)
        assert drive.app.screen is not here
    assert rejection_of(bench.library.memories.get("c1")).reason == ""


async def test_the_reasons_are_of_the_last_rejection_and_undone_with_it(bench: Workbench) -> None:
    async with review(bench, (80, 24)) as drive:
        await drive.keys("w")
        assert any("No candidate rejected yet" in said for said in drive.said)
        await drive.keys("x a w")
        assert isinstance(drive.app.screen, ReasonDialog)
        shown = screen_text(drive.app)
        assert "Why was “Read the contract" in shown
        assert "Already stored" in shown
        await drive.keys("3")
        rejected = bench.library.memories.get("c1")
        assert (rejected.archived_reason, rejection_of(rejected).reason) == (
            "rejected",
            "duplicate",
        )
        assert rejection_of(rejected).at == NOW
        await drive.keys("w j enter")
        assert rejection_of(bench.library.memories.get("c1")).reason == "too general"
        await drive.keys("w escape u u")
        assert bench.library.memories.get("c1").status == "candidate"
        await drive.keys("w")
        assert len(drive.app.screen_stack) == 1, "nothing is rejected any more"


@pytest.mark.slow
async def test_saving_an_edit_never_approves(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("e")
        assert isinstance(drive.app.screen, RecordForm)
        drive.app.screen.query_one(TextArea).text = "Read the contract first."
        await drive.keys("ctrl+s")
        edited = bench.library.memories.get("c1")
        assert (edited.content, edited.status) == ("Read the contract first.", "candidate")
        assert (drive.current, drive.ids) == ("c1", ["c1", "c2", "c3", "c4"])
        assert "Saved, not yet decided. a approves it, u undoes the edit." in drive.said
        await drive.keys("a")
        assert bench.library.memories.get("c1").status == "confirmed"
        assert drive.current == "c2"


async def test_a_refused_edit_stays_in_the_editor(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("e")
        drive.app.screen.query_one(TextArea).text = "precious words"
        bench.review.approve(["c1"])
        await drive.keys("ctrl+s")
        assert isinstance(drive.app.screen, RecordForm)
        assert drive.app.screen.query_one(TextArea).text == "precious words"
        assert "No open proposal c1." in screen_text(drive.app)


async def test_an_outer_editor_saves_and_does_not_approve(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = ["Saved outside.", "x" * 20_000]

    async def edited(_self: object, text: str, _line: int = 0) -> str:
        front, _, content = text.rpartition("---\n")
        assert content.strip() in TEXTS.values()
        return f"{front}---\n{saved.pop(0)}"

    async with review(bench) as drive:
        monkeypatch.setattr(type(drive.screen), "edit_externally", edited)
        await drive.keys("E")
        saved_one = bench.library.memories.get("c1")
        assert (saved_one.content, saved_one.status, drive.current) == (
            "Saved outside.",
            "candidate",
            "c1",
        )
        await drive.keys("j E")
        assert isinstance(drive.app.screen, RecordForm)
        assert len(drive.app.screen.query_one(TextArea).text) == 20_000
        assert bench.library.memories.get("c2").content == TEXTS["c2"]


@pytest.mark.slow
async def test_merging_shows_both_texts_and_then_advances(bench: Workbench) -> None:
    text = "The cache must be cleared after the commit and never before it."
    put(bench, memory("twin", text, created_at=NOW - timedelta(days=9)))
    async with review(bench) as drive:
        await drive.keys("j j")
        await drive.settle()
        await drive.keys("m")
        assert isinstance(drive.app.screen, MergeChoice)
        shown = " ".join(screen_text(drive.app).split())
        assert "Merge c3 into …" in shown
        assert "{+,+}" in shown
        await drive.keys("n")
        assert bench.library.memories.get("c3").status == "candidate"
        await drive.keys("m t")
        assert "twin stays signal and gets the text of c3" in " ".join(
            screen_text(drive.app).split()
        )
        await drive.keys("t y")
        assert bench.library.memories.get("c3").archived_reason == "merged"
        assert bench.library.memories.get("twin").content == text
        assert drive.current == "c4"
        await drive.keys("u")
        assert drive.current == "c3"


@pytest.mark.slow
async def test_marked_rows_are_decided_together(bench: Workbench) -> None:
    async with review(bench) as drive:
        await drive.keys("j j a g t t")
        assert "2 marked" in screen_text(drive.app)
        await drive.keys("x")
        assert drive.ids == ["c4"]
        await drive.keys("w 4")
        assert [rejection_of(bench.library.memories.get(id)).reason for id in ("c1", "c2")] == [
            "outdated"
        ] * 2
        await drive.keys("u")
        assert drive.ids == ["c1", "c2", "c4"]
        await drive.keys("T space")
        assert "3 put off" in drive.count
        assert drive.screen.rows.mark_count == 0, "what is put off is listed still"
