"""All that waits is one queue in Review: by group, what nobody stored among it, with an end."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.experienced import runs
from tests.tui.review_host import ReviewDriver, Ticking, candidate, memory, put, review, store
from tests.tui.support import NOW, open_bench, screen_text
from workbench.core.review.kinds import GROUPS, KINDS
from workbench.services.context import DocumentPlaces
from workbench.services.open import Workbench, open_workbench
from workbench.services.review import finders
from workbench.tui.agents.documents import DocumentsDialog
from workbench.tui.review.dialogs import GroupDialog

OLD = NOW - timedelta(days=40)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return store(tmp_path, Ticking())


def noise(bench: Workbench, count: int) -> None:
    put(
        bench,
        *(memory(f"n{n}", f"Line {n} that nobody touched.", created_at=OLD) for n in range(count)),
    )


def groups(drive: ReviewDriver) -> list[str]:
    return [
        row.id.removeprefix("group ")
        for row in drive.screen.rows.rows
        if row.id.startswith("group ")
    ]


def status(bench: Workbench, id: str) -> str:
    return bench.library.memories.get(id).status


async def found(drive: ReviewDriver, group: str) -> None:
    await drive.until(lambda: group in groups(drive) and not drive.screen.looking.is_looking)


def test_every_kind_has_a_group() -> None:
    assert {kind.group for kind in KINDS.values()} <= {group.id for group in GROUPS}


@pytest.mark.slow
async def test_what_nobody_stored_is_listed_below_its_heading_and_decided_by_the_same_keys(
    bench: Workbench,
) -> None:
    noise(bench, 2)
    async with review(bench) as drive:
        await found(drive, "noise")
        assert (groups(drive), drive.current) == (["new", "noise"], "c1"), (
            "what is found moves nobody's cursor"
        )
        assert drive.count == "4 to decide"
        assert "Review (4)" in screen_text(drive.app)
        prunes = drive.ids[4:]
        drive.go(prunes[0])
        await drive.until(lambda: "Should this be archived?" in drive.text("candidate"))
        await drive.keys("a")
        assert status(bench, "n0") == "archived"
        assert drive.current == prunes[1]
        assert f"Approved {prunes[0]} · u takes it back" in screen_text(drive.app)
        await drive.keys("x")
        await drive.until(
            lambda: f"Rejected {prunes[1]} · u takes it back" in screen_text(drive.app)
        )
        assert (drive.ids, groups(drive)) == (["c1", "c2", "c3", "c4"], [])
        await drive.keys("u")
        await drive.keys("u")
        await drive.until(lambda: drive.ids[4:] == prunes)
        assert (status(bench, "n0"), drive.current) == ("signal", prunes[0])


async def test_many_are_one_line_that_enter_lists_and_that_decides_all_after_a_look(
    bench: Workbench,
) -> None:
    noise(bench, 7)
    async with review(bench) as drive:
        await found(drive, "noise")
        assert drive.ids == ["c1", "c2", "c3", "c4"]
        assert "Suggested for archiving  7  enter lists" in screen_text(drive.app)
        drive.go("group noise")
        await drive.until(lambda: "7 × prune" in drive.text("candidate"))
        await drive.keys("i")
        assert "select one of the group" in drive.said[-1]
        await drive.keys("enter")
        assert len(drive.ids) == 11
        await drive.keys("enter a")
        assert isinstance(drive.app.screen, GroupDialog)
        assert "Approve 7, including 7 you have not read?" in screen_text(drive.app)
        for _ in range(8):
            await drive.keys("space")
        await drive.keys("y")
        assert {status(bench, f"n{n}") for n in range(7)} == {"archived"}
        await drive.keys("u")
        await drive.until(lambda: "noise" in groups(drive))
        assert {status(bench, f"n{n}") for n in range(7)} == {"signal"}


@pytest.mark.slow
async def test_prunes_of_important_memories_are_folded_at_the_end_and_decided_one_by_one(
    bench: Workbench,
) -> None:
    noise(bench, 2)
    put(bench, memory("gold", "Nobody touched this either.", created_at=OLD, importance_score=8))
    async with review(bench) as drive:
        await found(drive, "important")
        assert groups(drive) == ["new", "noise", "important"]
        assert drive.ids[:4] == ["c1", "c2", "c3", "c4"]
        assert len(drive.ids) == 6
        drive.go("group important")
        await drive.keys("a")
        assert "one at a time" in " ".join(drive.said)
        drive.go("group noise")
        await drive.keys("a")
        await drive.keys("y")
        assert [status(bench, id) for id in ("n0", "n1", "gold")] == [
            "archived",
            "archived",
            "signal",
        ]
        drive.go("group important")
        await drive.keys("enter j a")
        assert status(bench, "gold") == "archived"


async def test_a_large_store_is_looked_through_when_one_asks(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finders, "SMALL", 5)
    noise(bench, 2)
    async with review(bench) as drive:
        await drive.until(lambda: groups(drive)[-1:] == ["ask"])
        assert drive.ids == ["c1", "c2", "c3", "c4"]
        drive.go("group ask")
        await drive.until(lambda: "because the store is large" in drive.text("candidate"))
        await drive.keys("enter")
        await found(drive, "noise")
        assert "ask" not in groups(drive)


async def test_documents_that_were_put_off_are_done_once_they_are_trusted(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("# One\n\nA note.\n")
    places = DocumentPlaces(seen=tmp_path / "seen")
    bench = open_workbench(
        tmp_path / "store", profiles=tmp_path / "profiles", clock=Ticking(), documents=places
    )
    bench.documents.follow(notes)
    async with review(bench) as drive:
        await found(drive, "trust")
        assert "notes: 1 document you have not reviewed" in screen_text(drive.app)
        await drive.keys("space")
        assert "1 put off" in drive.count
        await drive.until(lambda: groups(drive) == ["later"])
        drive.go(drive.ids[0])
        await drive.keys("a")
        await drive.until(lambda: isinstance(drive.app.screen, DocumentsDialog))
        bench.documents.trust(bench.documents.opened(notes))
        await drive.keys("escape")
        await drive.until(lambda: drive.ids == [])
        assert bench.review.queue() == ()


async def test_the_filter_holds_for_what_is_found(bench: Workbench) -> None:
    noise(bench, 2)
    put(bench, candidate("c9", "Nobody touched the build."))
    async with review(bench) as drive:
        await found(drive, "noise")
        await drive.keys("slash", *"touched", "enter")
        assert (len(drive.ids), groups(drive)) == (3, ["new", "noise"])
        await drive.keys("escape slash", *"prune", "enter")
        assert groups(drive) == ["noise"]


async def test_records_of_an_instruction_file_show_all_that_would_go(tmp_path: Path) -> None:
    bench, file = open_bench(tmp_path, Ticking()), tmp_path / "CLAUDE.md"
    file.write_text(
        "# Rules\n\n- Use pnpm and never npm here.\n- The staging host is reset every night.\n"
    )
    bench.importer.carry_out(bench.importer.plan(file, format="claude-memory"))
    async with review(bench) as drive:
        await found(drive, "places")
        assert drive.count == "0 to decide · 1 suggested"
        assert "Review (" not in screen_text(drive.app), "the badge counts what is stored"
        await drive.until(lambda: "2 memories would be archived" in drive.text("evidence"))
        assert "2 records from CLAUDE.md, 2 never voted" in drive.text("candidate")
        assert "Use pnpm" in drive.text("evidence")
        await drive.keys("a")
        assert {one.status for one in bench.library.memories.all()} == {"archived"}
        await drive.keys("u")
        assert {one.status for one in bench.library.memories.all()} == {"signal"}
        await found(drive, "places")


@pytest.mark.slow
async def test_what_recurs_in_episodes_shows_its_numbers_and_becomes_a_pattern(
    tmp_path: Path,
) -> None:
    bench = open_bench(tmp_path, Ticking())
    bench.episodes.store_all(runs())
    async with review(bench) as drive:
        await found(drive, "new")
        await drive.until(lambda: "8 of 9 succeeded, 2 of 10 without" in drive.text("candidate"))
        assert "Fisher's exact test: p = 0.0055" in drive.text("candidate")
        assert "✗ Deploy the API b0" in drive.text("candidate")
        await drive.keys("e m P")
        assert "No text here." in drive.said
        await drive.keys("a")
        assert [one.name for one in bench.patterns.all()] == ["canary in infra/deploy"]
        await drive.keys("u")
        assert bench.patterns.all() == ()
