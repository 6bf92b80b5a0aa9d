"""Files in Health: which are listed, what is wrong with them, fixes that are shown before they are
made.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from textual.content import Content
from textual.pilot import Pilot

from tests.tui.health_host import beside, health, keys, settled
from tests.tui.support import NOW, answered, app_over, messages, open_bench, opens, screen_text
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
        await opens(pilot, HealthScreen)
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
    await opens(pilot, FindingsDialog, said)
    await pilot.pause()
    assert isinstance(app.screen, FindingsDialog)
    return app.screen


def said(dialog: FindingsDialog) -> str:
    return str(dialog.state.render())


async def previewed(pilot: Pilot[Path | None], dialog: FindingsDialog) -> str:
    await until(pilot, lambda: dialog.changes)
    await pilot.pause()
    return str(dialog.query_one("#findings-fix").render())


async def test_a_whole_rule_is_shown_before_it_is_fixed(project: Path) -> None:
    async with opened(bench_of(project)) as pilot:
        dialog = await dialog_on(pilot, "playbook.txt")
        await pilot.press("j")
        await previewed(pilot, dialog)
        await pilot.press("F")
        fix = await previewed(pilot, dialog)
        assert "All 2 fixes of duplicate-id" in fix
        assert "y applies" in fix
        await pilot.press("escape")
        assert "(f applies it)" in await previewed(pilot, dialog)
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
        await until(pilot, lambda: messages(app))
        assert (
            messages(app)[-1]
            == f"{path} was changed by another program meanwhile. Nothing was written; check it again."
        )
        assert path.read_text() == theirs
        await previewed(pilot, dialog)
        await pilot.press("f")
        await until(pilot, lambda: "2 findings" in said(dialog))
        assert "Theirs." in path.read_text()
        path.write_text("## mine\n")
        await pilot.press("u")
        await until(pilot, lambda: "was changed by another program" in messages(app)[-1])
        assert path.read_text() == "## mine\n"


@pytest.mark.slow
async def test_the_cut_of_memory_md_is_drawn(project: Path) -> None:
    (project / "MEMORY.md").write_text(INDEX)
    for n in range(1, 211):
        (project / f"t{n}.md").write_text(f"# {n}\n")
    async with opened(bench_of(project)) as pilot:
        app = app_of(pilot)
        dialog = await dialog_on(pilot, "MEMORY.md")
        assert "11 lines below line 200 are not loaded" in said(dialog)
        await pilot.press("v")
        await opens(pilot, WholeFile, lambda s: s.query_one(Pane).rows)
        await pilot.press("c", *["j"] * 3)
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
        await opens(pilot, Prompt)
        await pilot.press(*"nowhere", "enter")
        assert "No such file." in screen_text(app)
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
        await until(pilot, lambda: messages(app))
        assert (project / "playbook.txt").read_text() == BOOK.replace("Ask first", "Ask twice")
        await pilot.press("u")
        await until(pilot, lambda: messages(app)[-1] == "Undone: your edit.")
        assert (project / "playbook.txt").read_text() == BOOK


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
        await opens(pilot, Confirm)
        shown = screen_text(app_of(pilot))
        assert "tea.md" in shown
        assert "-Green." in shown
        assert "+Black [bold]." in shown
        assert "0 new, 1 replaced" in shown
        await pilot.press("escape")
        await settled(pilot)
        assert any("Green" in memory.content for memory in bench.library.memories.all())
        await pilot.press("enter")
        await answered(pilot)
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
    bench.importer.carry_out(bench.importer.plan(vault))
    async with opened(bench) as pilot:
        for memory in bench.library.memories.all():
            with bench.library.transaction("human", "edit") as tx:
                tx.put(replace(memory, content=memory.content.replace("Green", "Black [b]")))
        await settled(pilot)
        await pilot.press("w")
        await opens(pilot, Confirm)
        shown = screen_text(app_of(pilot))
        for said in ("Write 1 file of vault?", "-Green.", "+Black [b]."):
            assert said in shown
        await pilot.press("escape")
        await settled(pilot)
        assert (vault / "tea.md").read_text() == notes["tea.md"]
        await pilot.press("w")
        await answered(pilot)
        await until(pilot, lambda: "Black" in (vault / "tea.md").read_text())
        await settled(pilot)
        assert ("≠", "vault/tea.md") not in listed(pilot)
        await pilot.press("u")
        await until(pilot, lambda: (vault / "tea.md").read_text() == notes["tea.md"])
