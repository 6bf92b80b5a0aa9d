"""Files in Health: which are listed, what is wrong with them, fixes that are shown before they are
made.
"""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from textual.content import Content
from textual.pilot import Pilot

from tests.tui.support import NOW, app_over, import_file, open_bench, screen_text
from tests.tui.test_health import beside, health, keys, settled
from tests.tui.waiting import until
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.files.preview import Pane
from workbench.tui.files.section import FindingsDialog, WholeFile
from workbench.tui.health.screen import HealthScreen
from workbench.tui.health.sections import Row
from workbench.tui.widgets.dialog import Confirm, Prompt

BOOK = (
    "### RULES\n[rule-00001] helpful=2 harmful=0 :: Ask first.\n[rule-00001] helpful=0 harmful=1 :: Test last.\n"
    "[rule-00001] helpful=0 harmful=0 :: Say why.\n\n## OTHERS\n"
)
INDEX = "# Memory\n" + "".join(f"- [Topic {n}](t{n}.md) — about {n}\n" for n in range(1, 211))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a playbook that has two ids too many, and rules without a fault."""
    here = tmp_path / "project"
    here.mkdir()
    (here / "playbook.txt").write_text(BOOK)
    (here / "CLAUDE.md").write_text("# Rules\n\n- Run the tests.\n")
    return here


def bench_of(project: Path) -> Workbench:
    beside = project.parent
    return open_workbench(
        project / ".workbench",
        profiles=beside / "none",
        replaced=beside / "replaced",
        clock=lambda: NOW,
    )


@asynccontextmanager
async def opened(
    bench: Workbench, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Pilot[Path | None]]:
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: isinstance(app.screen, HealthScreen))
        await settled(pilot)
        yield pilot


def app_of(pilot: Pilot[Path | None]) -> WorkbenchApp:
    assert isinstance(pilot.app, WorkbenchApp)
    return pilot.app


def rows(pilot: Pilot[Path | None]) -> list[Row]:
    return [
        row
        for row in health(app_of(pilot)).rows.rows
        if row.section == "files" and row.name and row.name != "gap"
    ]


def listed(pilot: Pilot[Path | None]) -> list[tuple[str, str]]:
    """Return the sign or number, and the file's name, of each row."""
    found = []
    for row in rows(pilot):
        cells = row.draw(80)
        assert not isinstance(cells, Content)
        found.append((str(cells[0].text), str(cells[1].text)))
    return found


async def dialog_on(pilot: Pilot[Path | None], name: str) -> FindingsDialog:
    app = app_of(pilot)
    health(app).rows.cursor = next(
        n
        for n, row in enumerate(health(app).rows.rows)
        if row.section == "files" and row.name.endswith(name)
    )
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, FindingsDialog) and said(app.screen))
    await pilot.pause()
    assert isinstance(app.screen, FindingsDialog)
    return app.screen


def said(dialog: FindingsDialog) -> str:
    return str(dialog.state.render())


async def previewed(pilot: Pilot[Path | None], dialog: FindingsDialog) -> str:
    await until(pilot, lambda: dialog.changes)
    await pilot.pause()
    return str(dialog.query_one("#findings-fix").render())


def toasts(app: WorkbenchApp) -> list[str]:
    return [notification.message for notification in app._notifications]


@pytest.mark.slow
async def test_the_files_of_a_project_are_listed_with_their_findings(project: Path) -> None:
    async with opened(bench_of(project)) as pilot:
        assert listed(pilot) == [("3", "playbook.txt"), ("✓", "CLAUDE.md")]
        health(app_of(pilot)).rows.cursor = next(
            n
            for n, row in enumerate(health(app_of(pilot)).rows.rows)
            if row.name.endswith("playbook.txt")
        )
        await pilot.pause()
        assert "2  duplicate-id" in beside(app_of(pilot))
        assert "ACE playbook · in the project" in beside(app_of(pilot))


@pytest.mark.slow
async def test_a_source_that_is_gone_and_what_was_imported_are_listed(
    tmp_path: Path, project: Path
) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, project / "playbook.txt")
    (project / "playbook.txt").unlink()
    async with opened(bench) as pilot:
        (sign, name), waits = listed(pilot)
        assert waits == ("1", "waits in Review · Changed on disk · enter goes there")
        assert sign == "✗"
        assert name.endswith("playbook.txt")
        assert "not there" in screen_text(app_of(pilot))
        (project / "playbook.txt").write_text(BOOK)
        await keys(pilot, "r")
        assert listed(pilot)[0][0] == "3"


async def test_a_fix_is_shown_then_made_then_taken_back(project: Path) -> None:
    async with opened(bench_of(project)) as pilot:
        app = app_of(pilot)
        dialog = await dialog_on(pilot, "playbook.txt")
        assert "3 findings" in said(dialog)
        assert await previewed(pilot, dialog) == "deep-heading: make it a ## heading  (f does it)"
        text = screen_text(app)
        assert "### RULES" in text
        assert (project / "playbook.txt").read_text() == BOOK
        await pilot.press("f")
        await until(pilot, lambda: "2 findings" in said(dialog))
        assert (project / "playbook.txt").read_text() == BOOK.replace("###", "##")
        assert (
            toasts(app)[-1]
            == "Done: make it a ## heading (line 1). u takes it back while this is open."
        )
        await pilot.press("u")
        await until(pilot, lambda: "3 findings" in said(dialog))
        assert (project / "playbook.txt").read_text() == BOOK
        assert toasts(app)[-1] == "Took back: make it a ## heading (line 1)."
        await pilot.press("u")
        assert "No fix was made here yet" in toasts(app)[-1]


async def test_a_whole_rule_is_shown_before_it_is_fixed(project: Path) -> None:
    async with opened(bench_of(project)) as pilot:
        dialog = await dialog_on(pilot, "playbook.txt")
        await pilot.press("j")
        await previewed(pilot, dialog)
        await pilot.press("F")
        fix = await previewed(pilot, dialog)
        assert fix == "All 2 fixes of duplicate-id, as shown below: y makes them, esc leaves them"
        await pilot.press("escape")
        assert "(f does it)" in await previewed(pilot, dialog)
        await pilot.press("y")
        assert (project / "playbook.txt").read_text() == BOOK
        await pilot.press("F")
        await previewed(pilot, dialog)
        await pilot.press("y")
        await until(pilot, lambda: "1 finding" in said(dialog))
        fixed = (project / "playbook.txt").read_text()
        assert [line[:12] for line in fixed.splitlines()[1:4]] == [
            "[rule-00001]",
            "[rule-00002]",
            "[rule-00003]",
        ]
        await pilot.press("u")
        await until(pilot, lambda: "3 findings" in said(dialog))
        await pilot.press("escape")
        await settled(pilot)
        assert (project / "playbook.txt").read_text() == BOOK
        assert listed(pilot)[0] == ("3", "playbook.txt")


async def test_a_file_that_changed_meanwhile_is_not_written_over(project: Path) -> None:
    path = project / "playbook.txt"
    async with opened(bench_of(project)) as pilot:
        app = app_of(pilot)
        dialog = await dialog_on(pilot, "playbook.txt")
        await previewed(pilot, dialog)
        theirs = BOOK + "[misc-00009] helpful=0 harmful=0 :: Theirs.\n"
        path.write_text(theirs)
        await pilot.press("f")
        await until(pilot, lambda: toasts(app))
        assert (
            toasts(app)[-1]
            == f"{path} was changed by another program meanwhile. Nothing was written; look again."
        )
        assert path.read_text() == theirs
        await previewed(pilot, dialog)
        await pilot.press("f")
        await until(pilot, lambda: "2 findings" in said(dialog))
        assert "Theirs." in path.read_text()
        path.write_text("## mine\n")
        await pilot.press("u")
        await until(pilot, lambda: "was changed by another program since" in toasts(app)[-1])
        assert path.read_text() == "## mine\n"


@pytest.mark.slow
async def test_a_read_only_file_says_so(project: Path) -> None:
    path = project / "playbook.txt"
    path.chmod(stat.S_IRUSR)
    async with opened(bench_of(project)) as pilot:
        dialog = await dialog_on(pilot, "playbook.txt")
        await previewed(pilot, dialog)
        await pilot.press("f")
        await until(pilot, lambda: toasts(app_of(pilot)))
        assert "is read-only" in toasts(app_of(pilot))[-1]
        assert path.read_text() == BOOK


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_cut_of_memory_md_is_drawn(project: Path, size: tuple[int, int]) -> None:
    (project / "MEMORY.md").write_text(INDEX)
    for n in range(1, 211):
        (project / f"t{n}.md").write_text(f"# {n}\n")
    async with opened(bench_of(project), size) as pilot:
        app = app_of(pilot)
        dialog = await dialog_on(pilot, "MEMORY.md")
        assert "11 lines below line 200 are not loaded" in said(dialog)
        await previewed(pilot, dialog)
        assert "older-memories.md (a new file)" in screen_text(app)
        await pilot.press("v")
        await until(
            pilot, lambda: isinstance(app.screen, WholeFile) and app.screen.query_one(Pane).rows
        )
        await pilot.press("c", *["j"] * 3)
        await pilot.pause()
        text = screen_text(app)
        assert "── line 200: Claude Code stops loading here, 11 lines below ──" in text
        assert "Topic 200" in text
        await pilot.press("escape", "f")
        await until(pilot, (project / "older-memories.md").exists)
        await until(pilot, lambda: "all of it is loaded" in said(dialog))
        await pilot.press("u")
        await until(pilot, lambda: "11 lines below" in said(dialog))
        assert not (project / "older-memories.md").exists()
        assert (project / "MEMORY.md").read_text() == INDEX


async def test_a_file_is_added_by_its_path(tmp_path: Path, project: Path) -> None:
    async with opened(open_bench(tmp_path)) as pilot:
        app = app_of(pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
        await pilot.press(*"nowhere", "enter")
        assert "There is no such file." in screen_text(app)
        prompt = app.screen
        assert isinstance(prompt, Prompt)
        prompt.query_one("SafeInput").value = f"'{project / 'playbook.txt'}'"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(
            pilot,
            lambda: app.screen is health(app) and rows(pilot)[0].item == project / "playbook.txt",
        )
        assert listed(pilot)[0][0] == "3"
        await keys(pilot, "r")
        assert listed(pilot)[0][0] == "3"


async def test_a_file_is_edited_outside_and_that_is_taken_back(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/Ask first/Ask twice/' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    async with opened(bench_of(project)) as pilot:
        app = app_of(pilot)
        monkeypatch.setattr(type(app), "suspend", lambda _self: nullcontext())
        await dialog_on(pilot, "playbook.txt")
        await pilot.press("E")
        await until(pilot, lambda: toasts(app))
        assert (project / "playbook.txt").read_text() == BOOK.replace("Ask first", "Ask twice")
        await pilot.press("u")
        await until(pilot, lambda: toasts(app)[-1] == "Took back: your edit.")
        assert (project / "playbook.txt").read_text() == BOOK


async def test_hostile_files_stay_inert(project: Path) -> None:
    (project / "MEMORY.md").write_text(
        "# \x1b[31mred\u202e\n- [[b]x](\x1b[2J.md) — \x07bell\n" * 120
    )
    async with opened(bench_of(project)) as pilot:
        await dialog_on(pilot, "MEMORY.md")
        for key in ("j", "F", "escape", "v", "c"):
            await pilot.press(key)
            await pilot.pause()
            text = screen_text(app_of(pilot))
            assert not [c for c in "\x1b\x07\u202e" if c in text], key


async def test_a_file_that_changed_on_disk_says_so_and_offers_the_difference(
    tmp_path: Path, project: Path
) -> None:
    bench = bench_of(project)
    vault = project / "vault"
    vault.mkdir()
    (vault / "tea.md").write_text("# Tea\n\nGreen.\nHot.\n")
    (vault / "old.md").write_text("Old.\n")
    bench.importer.carry_out(bench.importer.plan(vault))
    async with opened(bench) as pilot:
        assert ("≠", "vault/tea.md") not in listed(pilot)
        (vault / "tea.md").write_text("# Tea\n\nBlack [bold].\nHot.\n")
        (vault / "old.md").unlink()
        await pilot.press("r")
        await settled(pilot)
        assert listed(pilot)[:2] == [("≠", "vault/tea.md"), ("–", "vault/old.md")]
        row = next(row for row in rows(pilot) if row.name.endswith("tea.md"))
        health(app_of(pilot)).sections["files"].go(row.item)
        await pilot.pause()
        assert "It changed on disk since it was read" in beside(app_of(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        shown = screen_text(app_of(pilot))
        assert "Take what tea.md says now?" in shown
        assert "-Green." in shown
        assert "+Black [bold]." in shown
        assert "0 new, 1 replaced" in shown
        await pilot.press("escape")
        await settled(pilot)
        assert any("Green" in memory.content for memory in bench.library.memories.all())
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await asyncio.sleep(0.2)  # a question takes no answer at once
        await pilot.press("y")
        await until(
            pilot, lambda: any("Black" in memory.content for memory in bench.library.memories.all())
        )
        await settled(pilot)
        await until(pilot, lambda: ("≠", "vault/tea.md") not in listed(pilot))


async def test_notes_are_written_back_after_a_look_and_undo_brings_them_back(project: Path) -> None:
    bench = bench_of(project)
    vault = project / "vault"
    vault.mkdir()
    notes = {"tea.md": "# Tea\n\nGreen.\n", "milk.md": "Cold.\n"}
    for name, text in notes.items():
        (vault / name).write_text(text)
    async with opened(bench) as pilot:
        await pilot.press("w")
        none = "No folder of notes was imported"
        await until(pilot, lambda: any(none in note.message for note in pilot.app._notifications))
        bench.importer.carry_out(bench.importer.plan(vault))
        await pilot.press("r")
        await settled(pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        assert "Nothing to write back into vault." in screen_text(app_of(pilot))
        await pilot.press("escape")
        for memory in bench.library.memories.all():
            with bench.library.transaction("human", "edit") as tx:
                tx.put(
                    replace(
                        memory,
                        content=memory.content.replace("Green", "Black [b]"),
                        helpful_votes=1,
                    )
                )
        await settled(pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        shown = screen_text(app_of(pilot))
        for said in ("Write 1 file of vault?", "-Green.", "+Black [b].", "Kept in the store only"):
            assert said in shown
        await pilot.press("escape")
        await settled(pilot)
        assert (vault / "tea.md").read_text() == notes["tea.md"]
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await asyncio.sleep(0.2)  # a question takes no answer at once
        await pilot.press("y")
        await until(pilot, lambda: "Black" in (vault / "tea.md").read_text())
        await settled(pilot)
        assert ("≠", "vault/tea.md") not in listed(pilot)
        await pilot.press("u")
        await until(pilot, lambda: (vault / "tea.md").read_text() == notes["tea.md"])


async def test_a_changed_file_that_brings_no_records_only_says_so(project: Path) -> None:
    bench = bench_of(project)
    bench.importer.carry_out(bench.importer.plan(project / "playbook.txt"))
    (project / "playbook.txt").write_text("no playbook any more")
    async with opened(bench) as pilot:
        assert ("≠", "playbook.txt") in listed(pilot)
        health(app_of(pilot)).sections["files"].go(
            next(row.item for row in rows(pilot) if row.name.endswith("book.txt"))
        )
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        assert "playbook.txt changed on disk." in screen_text(app_of(pilot))
