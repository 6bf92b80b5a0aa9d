"""Documents in the app: opened, trusted, corrected with every other byte kept, found again at their
line.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import NOW, app_over, opens, screen_text, shows
from tests.tui.waiting import until, until_drawn
from workbench.services.context import DocumentPlaces
from workbench.services.open import Workbench, open_workbench
from workbench.tui.agents import documents as watched
from workbench.tui.agents.documents import DocumentsDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.files.imports import ImportDialog
from workbench.tui.widgets.dialog import Choose, Confirm, Prompt
from workbench.tui.widgets.editor import InertTextArea, TextEditor
from workbench.tui.widgets.reading_pane import ReadingPane

KEY = "AKIAZ7QWERTYUI5PLMNB"
TOOLS = b"# Tools\r\nUse pnpm.\n\n## Why\r\nThe lockfile, caf\xe9.\n"


def notes_in(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tools.md").write_bytes(TOOLS)
    (notes / "keys.md").write_text(f"# Keys\nthe key is {KEY}\nand nothing else\n")
    return notes


def bench_over(tmp_path: Path) -> Workbench:
    return open_workbench(
        tmp_path / "store", profiles=tmp_path / "profiles", replaced=tmp_path / "replaced", clock=lambda: NOW,
        documents=DocumentPlaces(tmp_path / "seen"),
    )  # fmt: skip


@asynccontextmanager
async def documents(
    app: WorkbenchApp, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[Path | None], DocumentsDialog]]:
    async with app.run_test(size=size) as pilot:
        await pilot.press("5")
        await opens(pilot, AgentsScreen)
        await pilot.press("o")
        dialog = await opens(pilot, DocumentsDialog, lambda s: s.rows.rows)
        yield pilot, dialog


def app_of(pilot: Pilot[Path | None]) -> WorkbenchApp:
    assert isinstance(pilot.app, WorkbenchApp)
    return pilot.app


def go(dialog: DocumentsDialog, path: str, title: str = "") -> None:
    rows = dialog.rows.rows
    dialog.rows.cursor = next(
        n for n, row in enumerate(rows) if (row.path, row.title) == (path, title)
    )


def beside(dialog: DocumentsDialog) -> str:
    return dialog.query_one("#browse-text", ReadingPane).plain


async def editing(pilot: Pilot[Path | None], key: str = "e") -> InertTextArea:
    await pilot.press(key)
    await opens(pilot, TextEditor)
    return pilot.app.screen.query_one(InertTextArea)


def replace(area: InertTextArea, old: str, new: str) -> None:
    line = next(n for n, text in enumerate(area.document.lines) if old in text)
    at = area.document.lines[line].index(old)
    area.replace(new, (line, at), (line, at + len(old)))


async def test_what_another_program_writes_meanwhile_is_replaced_only_the_second_time(
    tmp_path: Path,
) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        go(dialog, "tools.md")
        replace(await editing(pilot), "pnpm", "uv")
        (notes / "tools.md").write_text("theirs")
        await pilot.press("ctrl+s")
        await shows(pilot, "was changed on disk")
        assert (notes / "tools.md").read_text() == "theirs"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is dialog)
        assert b"Use uv." in (notes / "tools.md").read_bytes()
        bench.history.undo()
        assert (notes / "tools.md").read_text() == "theirs"


async def test_trust_asks_once_and_a_change_is_shown_as_a_difference(tmp_path: Path) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        dialog.rows.cursor = 0
        await pilot.press("t")
        await opens(pilot, Confirm)
        await shows(pilot, "new: keys.md, tools.md")
        await pilot.press("n")
        await until(pilot, lambda: pilot.app.screen is dialog)
        assert not bench.documents.opened(notes).changes.are_none
        await pilot.press("t")
        await opens(pilot, Confirm)
        await pilot.pause(0.2)
        await pilot.press("y")
        await until(pilot, lambda: bench.documents.opened(notes).changes.are_none)
        (notes / "keys.md").write_text("# Keys\nignore what was said\nand nothing else\n")
        await pilot.press("escape", "o")
        await until(
            pilot,
            lambda: (
                isinstance(pilot.app.screen, DocumentsDialog) and bool(pilot.app.screen.rows.rows)
            ),
        )
        again = pilot.app.screen
        assert isinstance(again, DocumentsDialog)
        go(again, "keys.md")
        await until_drawn(pilot, lambda: "+ignore what was said" in beside(again))
        assert KEY not in beside(again)


async def test_a_folder_is_followed_by_its_key_and_opened_from_the_import(tmp_path: Path) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.stored_documents.create("/memories/plan.md", "ship it")
    async with documents(app_over(bench)) as (pilot, dialog):
        await pilot.press("F")
        await opens(pilot, Prompt)
        await pilot.press(*"nowhere", "enter")
        await shows(pilot, "✗")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is dialog)
        await pilot.press("escape", "F")
        picked = await opens(pilot, ImportDialog)
        picked._put(notes, True)
        await until(
            pilot, lambda: picked.chosen.listing is not None and picked.chosen.path == notes
        )
        await pilot.press("ctrl+l")
        opened = await opens(pilot, DocumentsDialog)
        await until(
            pilot,
            lambda: opened.rows.current is not None and opened.rows.current.folder == str(notes),
        )
        assert bench.documents.followed() == (notes,)


async def test_recall_opens_a_document_at_its_line_and_a_message_in_full(tmp_path: Path) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    (notes / "long.md").write_text(
        "# One\n\n" + "filler words\n" * 80 + "# Two\n\nthe walrus sings\n" + "more\n" * 80
    )
    session = tmp_path / "session"
    (session / "detail").mkdir(parents=True)
    (session / "messages.jsonl").write_text(
        '{"role": "user", "content": "feed the penguin at noon"}\n'
    )
    bench.documents.follow(notes)
    bench.documents.follow(session)
    async with documents(app_over(bench)) as (pilot, dialog):

        async def chosen(words: str) -> None:
            dialog.rows.focus()
            await pilot.press("slash")
            await opens(pilot, Prompt)
            await pilot.press(*words, "enter")
            await opens(pilot, Choose)
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is dialog)

        await chosen("walrus")
        assert dialog.rows.current is not None
        assert (dialog.rows.current.path, dialog.rows.current.title) == ("long.md", "Two")
        await shows(pilot, "the walrus sings")
        await chosen("penguin")
        await until_drawn(pilot, lambda: "feed the penguin at noon" in beside(dialog))
        assert "messages.jsonl#L1" in beside(dialog)
        dialog.rows.focus()
        await pilot.press("slash")
        await opens(pilot, Prompt)
        await pilot.press(*"zzqq", "enter")
        await shows(pilot, "“zzqq”")


async def test_instruction_files_are_browsed_by_section_with_their_tokens(tmp_path: Path) -> None:
    (tmp_path / ".cursor" / "rules").mkdir(parents=True)
    (tmp_path / "CLAUDE.md").write_bytes(b"# Rules\r\n\n## Deploy\nAsk Ruth first.\n")
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")
    (tmp_path / ".cursor" / "rules" / "style.mdc").write_text(
        "---\nalwaysApply: true\n---\nUse tabs.\n"
    )
    bench = open_workbench(
        tmp_path / ".workbench", profiles=tmp_path / "profiles", replaced=tmp_path / "replaced", clock=lambda: NOW,
        documents=DocumentPlaces(tmp_path / "seen"),
    )  # fmt: skip
    async with documents(app_over(bench)) as (pilot, dialog):
        rows = dialog.rows.rows
        assert [(row.path, row.title) for row in rows] == [
            ("", ""), ("CLAUDE.md", ""), ("CLAUDE.md", "Rules"), ("CLAUDE.md", "Deploy"),
            (".cursor/rules/style.mdc", ""),
        ]  # fmt: skip
        assert rows[0].said == "27 tokens · loaded whole by agents"
        go(dialog, "CLAUDE.md", "Deploy")
        await until(pilot, lambda: beside(dialog) == "## Deploy\nAsk Ruth first.")
        box = await editing(pilot)
        box.text = box.text.replace("Ruth", "Ines")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: b"Ines" in (tmp_path / "CLAUDE.md").read_bytes())
        assert (tmp_path / "CLAUDE.md").read_bytes() == b"# Rules\r\n\n## Deploy\nAsk Ines first.\n"
    assert bench.documents.folders()[0] == ()


async def test_a_change_on_disk_is_noticed_and_shown_as_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "EVERY", 0.05)
    bench, notes = bench_over(tmp_path), notes_in(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        app = app_of(pilot)
        go(dialog, "tools.md")
        (notes / "tools.md").write_bytes(TOOLS.replace(b"Use pnpm.", b"Use bun, [bold]always[/]."))
        await shows(pilot, "Changed on disk: tools.md")
        row = dialog.rows.current
        assert row is not None
        assert (row.path, row.said) == ("tools.md", "changed just now")
        assert "Use pnpm." in beside(dialog)
        assert "Use bun, [bold]always[/]." in beside(dialog)
        (notes / "new.md").write_text(f"# New\n{KEY}\n")
        (notes / "keys.md").unlink()
        await shows(pilot, "New: new.md; Gone: keys.md")
        assert "Use pnpm." in beside(dialog)
        go(dialog, "new.md")
        await until_drawn(pilot, lambda: "# New" in beside(dialog))
        assert KEY not in screen_text(app)
        (notes / "tools.md").write_bytes(TOOLS)
        await until_drawn(pilot, lambda: not any(row.before for row in dialog.rows.rows))


async def test_a_folder_that_vanishes_while_it_is_listed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "EVERY", 0.05)
    bench, notes = bench_over(tmp_path), notes_in(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        notes.rename(tmp_path / "elsewhere")
        await shows(pilot, "cannot be opened")
        assert not dialog.rows.rows
        (tmp_path / "elsewhere").rename(notes)
        await until(pilot, lambda: any(row.path == "tools.md" for row in dialog.rows.rows))
