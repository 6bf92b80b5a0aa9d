"""The ids and files in a text as links: found, gone through, opened over the present place, and
left again.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.tui.health_host import made
from tests.tui.support import NOW, app_over, demo, open_bench, opens, screen_text, tells
from tests.tui.waiting import until, until_drawn
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import MAIN
from workbench.tui.agents.experience import EpisodesDialog
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.records.actions import links_in
from workbench.tui.records.record import OpenedRecord
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.reading_pane import DetailPane, ReadingPane

INSIGHT = "mem-20260319-0000246"
CITED = "mem-20260317-0000223"


def filled(folder: Path) -> tuple[Workbench, str]:
    """Return a bench with two memories and a bullet that name each other, and the bullet's id."""
    bench = open_bench(folder)
    section = bench.playbooks.add_section(MAIN, "RULES")
    bullet = bench.playbooks.add(MAIN, section, "Read mem-2 before a release; AGENTS.md says why.")
    with bench.library.transaction("human", "two memories") as tx:
        tx.put(
            made("mem-1", f"It follows from mem-2 and [{bullet}]. See docs/NOTES.md, not mem-3.", 2)
        )
        tx.put(made("mem-2", "The release needs the vault open.", 1))
        tx.put(made("word", "A word that is also what a memory is called.", 3))
    return bench, bullet


def title(app: WorkbenchApp) -> str:
    return str(app.screen.query_one(".dialog--title", Static).content)


def opened(app: WorkbenchApp) -> str:
    return app.screen.query_one(ReadingPane).plain if isinstance(app.screen, OpenedRecord) else ""


def test_what_a_text_names_is_found_and_nothing_else(tmp_path: Path) -> None:
    bench, bullet = filled(tmp_path)
    text = f"(mem-2), {MAIN}/{bullet}; [{bullet}] mem-3 a word, mem-1. ~/x/CLAUDE.md 12 https://example.org/a.html"
    found = [
        (text[link.start : link.end], link.place)
        for link in links_in(text, bench, ("memories", "mem-1"))
    ]
    assert found == [
        ("mem-2", ("memories", "mem-2")),
        (f"{MAIN}/{bullet}", ("bullets", f"{MAIN}/{bullet}")),
        (bullet, ("bullets", f"{MAIN}/{bullet}")),
        ("~/x/CLAUDE.md", ("documents", "~/x/CLAUDE.md")),
    ]


@pytest.mark.slow
async def test_from_a_reflection_to_what_it_cites_and_back(tmp_path: Path) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await pilot.press("slash", *"is:reflection", "enter")
        stream = app.screen
        assert isinstance(stream, StreamScreen)
        await until(pilot, lambda: stream.memory is not None and stream.memory.id == INSIGHT)
        await pilot.press("enter", "tab")
        assert isinstance(app.focused, DetailPane)
        await pilot.press("enter")
        await until_drawn(pilot, lambda: CITED in opened(app))
        assert title(app) == f"Stream › {INSIGHT} › {CITED}"
        assert "esc back" in screen_text(app)
        await pilot.press("tab", "enter")
        await until_drawn(pilot, lambda: title(app).count("›") == 3)
        await pilot.press("escape", "escape")
        await until_drawn(pilot, lambda: app.screen is stream)
        assert stream.memory is not None
        assert (stream.memory.id, isinstance(app.focused, DetailPane)) == (INSIGHT, True)
        await pilot.press("escape")
        assert stream.rows.has_focus
        assert "15 shown" in screen_text(app)


async def test_a_bullet_is_opened_and_leads_on(tmp_path: Path) -> None:
    bench, bullet = filled(tmp_path)
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.press("3", "j", "enter", "tab", "enter")
        await until_drawn(pilot, lambda: "The release needs" in opened(app))
        assert title(app) == f"Playbook › {MAIN}/{bullet} › mem-2"
        await pilot.press("escape", "tab", "enter")
        await until_drawn(pilot, lambda: "is not a document of this store" in opened(app))
        await pilot.press("e")
        await until(pilot, lambda: tells(app, "o in Agents edits"))
        await pilot.press("escape", "1")
        stream = app.screen
        assert isinstance(stream, StreamScreen)
        stream.rows.cursor = 1
        await pilot.press("enter", "tab", "tab", "enter")
        await until_drawn(pilot, lambda: "Read mem-2 before" in opened(app))
        await pilot.press("minus")
        await until(pilot, lambda: bench.playbooks.bullet(MAIN, bullet).harmful_count == 1)


async def test_a_text_without_links_leaves_the_keys_to_what_is_around_it(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    with bench.library.transaction("human", "one") as tx:
        tx.put(made("a", "Nothing is named here.", 1))
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.press("enter")
        assert isinstance(app.focused, DetailPane)
        await pilot.press("tab")
        assert not isinstance(app.focused, DetailPane)


async def test_the_editor_begins_at_the_line_that_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vim = tmp_path / "vim"
    vim.write_text(
        f'#!/bin/sh\necho "$1" > {tmp_path}/told\nsed -n "${{1#+}}p" "$2" > {tmp_path}/line\n',
        "utf-8",
    )
    vim.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(vim))
    monkeypatch.delenv("VISUAL", raising=False)
    bench = open_bench(tmp_path)
    with bench.library.transaction("human", "one") as tx:
        tx.put(made("a", "First of all.\nThen the vault opens.\nAt last it closes.", 1))
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        monkeypatch.setattr(type(app), "suspend", lambda _self: nullcontext())
        await pilot.press("slash", *"vault", "enter", "E")
        await until(pilot, (tmp_path / "line").exists)
        assert (tmp_path / "line").read_text("utf-8") == "Then the vault opens.\n"


async def test_an_episodes_text_leads_to_the_memory_it_names_and_back_to_the_list(
    tmp_path: Path,
) -> None:
    bench, _ = filled(tmp_path)
    bench.episodes.store({
        "timestamp": NOW.isoformat(), "task": {"original_input": "Follow mem-2 into the vault."},
        "outcome": {"status": "SUCCESS"},
    })  # fmt: skip
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.press("5", "L")
        dialog = await opens(pilot, EpisodesDialog, lambda s: s.rows.rows)
        await pilot.press("enter", "tab", "enter")
        await until_drawn(pilot, lambda: "The release needs" in opened(app))
        assert title(app).startswith("Episodes › ")
        await pilot.press("escape", "tab")
        assert dialog.rows.has_focus
