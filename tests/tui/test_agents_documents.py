"""Documents in the app: opened, trusted, corrected with every other byte kept, found again at their
line.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import NOW, app_over, screen_text
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
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await pilot.press("D")
        await until(
            pilot, lambda: isinstance(app.screen, DocumentsDialog) and bool(app.screen.rows.rows)
        )
        dialog = app.screen
        assert isinstance(dialog, DocumentsDialog)
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
    await until(pilot, lambda: isinstance(pilot.app.screen, TextEditor))
    return pilot.app.screen.query_one(InertTextArea)


def replace(area: InertTextArea, old: str, new: str) -> None:
    line = next(n for n, text in enumerate(area.document.lines) if old in text)
    at = area.document.lines[line].index(old)
    area.replace(new, (line, at), (line, at + len(old)))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_edit_keeps_every_other_byte_and_undo_brings_it_back(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench), size) as (pilot, dialog):
        go(dialog, "tools.md")
        replace(await editing(pilot), "pnpm", "uv")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is dialog)
        assert (notes / "tools.md").read_bytes() == TOOLS.replace(b"pnpm", b"uv")
        await until_drawn(pilot, lambda: "Use uv." in beside(dialog))
        await pilot.press("u")
        await until(pilot, lambda: (notes / "tools.md").read_bytes() == TOOLS)


@pytest.mark.slow
async def test_undo_is_refused_when_somebody_else_changed_the_file_since(tmp_path: Path) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        go(dialog, "tools.md")
        replace(await editing(pilot), "pnpm", "uv")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is dialog)
        (notes / "tools.md").write_text("theirs")
        await pilot.press("u")
        await until(
            pilot,
            lambda: any("changed by somebody else" in n.message for n in pilot.app._notifications),
        )
        assert (notes / "tools.md").read_text() == "theirs"


@pytest.mark.slow
async def test_secrets_are_masked_in_the_editor_and_stay_in_the_file(tmp_path: Path) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        go(dialog, "keys.md")
        area = await editing(pilot)
        assert KEY not in area.text
        replace(area, "nothing else", "no other")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is dialog)
        assert (notes / "keys.md").read_text() == f"# Keys\nthe key is {KEY}\nand no other\n"
        replace(await editing(pilot), "the key", "my key")
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(pilot.app.screen, TextEditor)
        assert KEY in (notes / "keys.md").read_text()


async def test_a_document_that_vanishes_under_the_editor_keeps_what_was_typed(
    tmp_path: Path,
) -> None:
    notes, bench = notes_in(tmp_path), bench_over(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        go(dialog, "tools.md")
        area = await editing(pilot)
        replace(area, "pnpm", "uv")
        (notes / "tools.md").unlink()
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: "is gone from the disk" in screen_text(app_of(pilot)))
        assert "Use uv." in area.text
        assert not (notes / "tools.md").exists()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is dialog)
        assert (notes / "tools.md").read_bytes() == TOOLS.replace(b"pnpm", b"uv")


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
        await until_drawn(pilot, lambda: "was changed on disk" in screen_text(app_of(pilot)))
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
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await until_drawn(pilot, lambda: "new: keys.md, tools.md" in screen_text(app_of(pilot)))
        await pilot.press("n")
        await until(pilot, lambda: pilot.app.screen is dialog)
        assert not bench.documents.opened(notes).changes.are_none
        await pilot.press("t")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await pilot.pause(0.2)
        await pilot.press("y")
        await until(pilot, lambda: bench.documents.opened(notes).changes.are_none)
        (notes / "keys.md").write_text("# Keys\nignore what was said\nand nothing else\n")
        await pilot.press("escape", "D")
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
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt))
        await pilot.press(*"nowhere", "enter")
        await until_drawn(pilot, lambda: "✗" in screen_text(app_of(pilot)))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is dialog)
        await pilot.press("escape", "F")
        await until(pilot, lambda: isinstance(pilot.app.screen, ImportDialog))
        picked = pilot.app.screen
        assert isinstance(picked, ImportDialog)
        picked._put(notes, True)
        await until(
            pilot, lambda: picked.chosen.listing is not None and picked.chosen.path == notes
        )
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(pilot.app.screen, DocumentsDialog))
        opened = pilot.app.screen
        assert isinstance(opened, DocumentsDialog)
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
            await until(pilot, lambda: isinstance(pilot.app.screen, Prompt))
            await pilot.press(*words, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, Choose))
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is dialog)

        await chosen("walrus")
        assert dialog.rows.current is not None
        assert (dialog.rows.current.path, dialog.rows.current.title) == ("long.md", "Two")
        await until_drawn(pilot, lambda: "the walrus sings" in screen_text(app_of(pilot)))
        await chosen("penguin")
        await until_drawn(pilot, lambda: "feed the penguin at noon" in beside(dialog))
        assert "messages.jsonl#L1" in beside(dialog)
        dialog.rows.focus()
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt))
        await pilot.press(*"zzqq", "enter")
        await until_drawn(pilot, lambda: "says “zzqq”" in screen_text(app_of(pilot)))


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
        await until_drawn(pilot, lambda: "Changed on disk: tools.md" in screen_text(app))
        row = dialog.rows.current
        assert row is not None
        assert (row.path, row.said) == ("tools.md", "changed just now")
        assert "Use pnpm." in beside(dialog)
        assert "Use bun, [bold]always[/]." in beside(dialog)
        (notes / "new.md").write_text(f"# New\n{KEY}\n")
        (notes / "keys.md").unlink()
        await until_drawn(pilot, lambda: "New: new.md; Gone: keys.md" in screen_text(app))
        assert "Use pnpm." in beside(dialog)
        go(dialog, "new.md")
        await until_drawn(pilot, lambda: "# New" in beside(dialog))
        assert KEY not in screen_text(app)
        (notes / "tools.md").write_bytes(TOOLS)
        await until_drawn(pilot, lambda: not any(row.before for row in dialog.rows.rows))


@pytest.mark.slow
async def test_what_is_saved_here_is_no_change_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "EVERY", 0.05)
    bench, notes = bench_over(tmp_path), notes_in(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        go(dialog, "tools.md")
        area = await editing(pilot)
        replace(area, "pnpm", "bun")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: "Use bun" in beside(dialog))
        looked = dialog._looks
        (notes / "more.md").write_text("# More\n")
        await until(
            pilot,
            lambda: (
                dialog._looks is not looked and any(r.path == "more.md" for r in dialog.rows.rows)
            ),
        )
        assert not any(row.before for row in dialog.rows.rows)


async def test_a_folder_that_vanishes_while_it_is_listed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "EVERY", 0.05)
    bench, notes = bench_over(tmp_path), notes_in(tmp_path)
    bench.documents.follow(notes)
    async with documents(app_over(bench)) as (pilot, dialog):
        notes.rename(tmp_path / "elsewhere")
        await until_drawn(pilot, lambda: "cannot be opened" in screen_text(app_of(pilot)))
        assert not dialog.rows.rows
        (tmp_path / "elsewhere").rename(notes)
        await until(pilot, lambda: any(row.path == "tools.md" for row in dialog.rows.rows))
