"""Health by its keys: the gauge, upkeep, duplicates, the store, the history."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from tests.hostile import ORDER, RULE, half_done
from tests.tui.support import (
    HOSTILE,
    NOW,
    app_over,
    demo_app,
    first_of,
    hidden_on,
    import_file,
    open_bench,
    screen_text,
)
from tests.tui.waiting import until
from tests.tui.widgets.host import is_inert
from workbench.config.paths import captures_dir
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import Memory
from workbench.services.agents.capture.progress import folder_of, note
from workbench.services.duplicates.comparing import Group
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.health.screen import HealthScreen
from workbench.tui.health.sections import Row
from workbench.tui.health.upkeep import Proposed
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.widgets.dialog import Confirm
from workbench.tui.widgets.reading_pane import ReadingPane

FRIDAY = "Deploys on Friday need a second person"
SIZES = [(80, 24), (140, 45), (200, 60)]
PNPM = "Use pnpm for installs in this repository"


def made(id: str, content: str, days: float, **fields: object) -> Memory:
    at = NOW - timedelta(days=days)
    return Memory(id, content, at, at, **fields)  # type: ignore[arg-type]


MEMORIES = (
    made("old", "a note that nobody ever read", 20),
    made("older", "yet another thing nobody looked at", 40),
    made("seen", "the build needs the token of the vault", 2, helpful_absorbed=3),
    made("f1", FRIDAY, 3), made("f2", FRIDAY, 2),
    made("p1", PNPM, 5), made("p2", f"{PNPM}.", 4),
    made("n1", "always pnpm, never npm", 5), made("n2", "always npm, never pnpm", 4),
)  # fmt: skip


def filled(folder: Path, *memories: Memory) -> Workbench:
    bench = open_bench(folder)
    with bench.library.transaction("agent:claude", "some observations") as tx:
        for memory in memories or MEMORIES:
            tx.put(memory)
    return bench


def health(app: WorkbenchApp) -> HealthScreen:
    return next(s for s in app.opened if isinstance(s, HealthScreen))


async def settled(pilot: Pilot[Path | None]) -> None:
    """Wait until every part has found out what it shows."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await pilot.pause()
    await until(pilot, lambda: app.bench.retriever.ready and not health(app).working)
    await pilot.pause()


async def keys(pilot: Pilot[Path | None], *pressed: str) -> None:
    for key in pressed:
        await pilot.press(key)
        await settled(pilot)


@asynccontextmanager
async def opened(
    app: WorkbenchApp, size: tuple[int, int] = (140, 45)
) -> AsyncIterator[Pilot[Path | None]]:
    async with app.run_test(size=size) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: isinstance(app.screen, HealthScreen))
        await settled(pilot)
        yield pilot


def rows(app: WorkbenchApp, section: str) -> list[Row]:
    return [row for row in health(app).rows.rows if row.section == section and not row.heading]


def go(app: WorkbenchApp, section: str, name: str) -> None:
    """Put the cursor on a row whose name begins like this."""
    every = health(app).rows.rows
    health(app).rows.cursor = next(
        n for n, row in enumerate(every) if row.section == section and row.name.startswith(name)
    )


def beside(app: WorkbenchApp) -> str:
    return health(app).query_one("#detail", ReadingPane).plain


def status(app: WorkbenchApp, id: str) -> str:
    return app.bench.stream.get(id).status


async def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with opened(app, (80, 26)) as pilot:
        text = screen_text(app)
        assert "Nothing to do: no rule of the lifecycle has anything to say." in text
        assert "Nothing was done in this store yet." in text
        await keys(pilot, "D")
        assert "No duplicates among 0 memories." in screen_text(app)
        await keys(pilot, "m", "x")
        said = [note.message for note in app._notifications]
        assert said.count("No duplicates among 0 memories. There is nothing to go to.") == 2
        await keys(pilot, "a", "p", "m", "x", "t", "c", "z", "enter", "escape")
        assert app.bench.library.journal.rev == 0


async def test_upkeep_goes_to_review_by_one_key(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        go(app, "upkeep", "prune")
        await pilot.pause()
        assert "Should this be archived?" in beside(app)
        assert "untouched for 40 days" in beside(app)
        expected = app.bench.upkeep.plan()
        await keys(pilot, "a")
        assert {p.id for p in app.bench.library.proposals.all()} == {
            p.id for p in expected.proposals
        }
        assert "2 in Review" in screen_text(app)
        assert status(app, "old") == "signal"
        revision = app.bench.library.journal.rev
        await keys(pilot, "a")
        assert app.bench.library.journal.rev == revision


async def test_all_prunes_are_shown_and_accepted_together(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, Proposed))
        await pilot.pause()
        text = screen_text(app)
        assert "Prune these 2 memories?" in text
        assert "a note that nobody ever read" in text
        await pilot.press("escape")
        await pilot.pause()
        assert status(app, "old") == "signal"
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, Proposed))
        await pilot.press("y")
        await until(pilot, lambda: status(app, "old") == "archived")
        await settled(pilot)
        assert status(app, "older") == "archived"
        assert "to prune" not in screen_text(app)
        await keys(pilot, "u")
        assert status(app, "old") == status(app, "older") == "signal"
        assert "to prune" in screen_text(app)


async def test_enter_lists_what_a_rule_proposes_without_agreeing_to_it(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        go(app, "upkeep", "confirm")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Proposed))
        await pilot.pause()
        assert "seen again 3 times" in screen_text(app)
        await pilot.press("y")
        await pilot.pause()
        assert isinstance(app.screen, Proposed)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, HealthScreen)


async def test_duplicates_are_found_merged_kept_apart_and_brought_back(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        await keys(pilot, "D")
        signs = [row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)]
        assert signs == ["=", "~", "≠"]
        go(app, "duplicates", "=")
        await pilot.pause()
        assert "= the same text" in beside(app)
        await keys(pilot, "m")
        assert status(app, "f2") == "archived"
        go(app, "duplicates", "~")
        await pilot.pause()
        assert "{+.+}" in beside(app)
        await keys(pilot, "x")
        assert [row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)] == [
            "≠"
        ]
        await keys(pilot, "u", "u")
        assert status(app, "f2") == "signal"
        assert [
            row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)
        ] == signs
        await keys(pilot, "a")
        assert {p.kind for p in app.bench.library.proposals.all() if p.state == "open"} == {"merge"}
        assert [row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)] == [
            "≠"
        ]


async def test_a_pair_that_says_something_else_is_merged_only_after_a_yes(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        await keys(pilot, "D")
        go(app, "duplicates", "≠")
        await pilot.pause()
        assert "they do not negate the same" in beside(app)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        await settled(pilot)
        assert status(app, "n1") == status(app, "n2") == "signal"
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await settled(pilot)
        assert {status(app, "n1"), status(app, "n2")} == {"signal", "archived"}


@pytest.mark.slow
async def test_comparing_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        plan, nap = app.bench.deduplication.plan, Event()

        def slow(threshold: float | None, tell: Progress, cancelled: Cancelled) -> object:
            """Be at it until somebody says stop."""
            while not cancelled():
                tell(3, 9)
                nap.wait(0.005)
            return plan(threshold, tell, cancelled)

        monkeypatch.setattr(app.bench.deduplication, "plan", slow)
        await pilot.press("D")
        await until(pilot, lambda: "3/9 memories · esc stops it" in screen_text(app))
        await pilot.press("j")
        await pilot.press("escape")
        await settled(pilot)
        assert "Not compared yet" in screen_text(app)


@pytest.mark.slow
async def test_what_others_do_is_followed(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        await keys(pilot, "D")
        app.bench.stream.edit("f2", "Something else altogether")
        await settled(pilot)
        assert "=" not in [row.name[0] for row in rows(app, "duplicates")]
        assert "edit f2" in screen_text(app)
        app.bench.history.undo()
        await settled(pilot)
        assert "=" in [row.name[0] for row in rows(app, "duplicates")]


async def test_a_change_is_taken_back_from_the_history(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    app.bench.stream.pin(["old"])
    async with opened(app) as pilot:
        go(app, "history", str(app.bench.library.journal.rev))
        await pilot.pause()
        assert "pinned" in beside(app)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        question = app.screen
        assert isinstance(question, Confirm)
        question._guard = 0.0
        await pilot.press("y")
        await until(pilot, lambda: not app.bench.stream.get("old").pinned)
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, HistoryDialog))


async def test_an_outside_edit_is_shown_and_taken_over(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    bench.close()
    file = tmp_path / "store" / "memory.json"
    doc = json.loads(file.read_text("utf-8"))
    changed = next(d for d in doc["memories"].values() if d["id"] == "old")
    changed["content"] = "what another program wrote"
    file.write_text(json.dumps(doc), "utf-8")
    app = app_over(open_bench(tmp_path))
    async with opened(app) as pilot:
        go(app, "store", "edit")
        await pilot.pause()
        assert "another" in beside(app)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        question = app.screen
        assert isinstance(question, Confirm)
        question._guard = 0.0
        await pilot.press("y")
        await settled(pilot)
        assert app.bench.stream.get("old").content == "what another program wrote"
        assert "changed by another program" not in screen_text(app)


async def test_what_capturing_brought_and_which_hooks_failed_is_said(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with opened(app) as pilot:
        assert "No session of an agent was followed yet" in screen_text(app)
        captures = captures_dir()
        assert captures is not None
        folder = folder_of(captures, app.bench.library.folder)
        folder.mkdir(parents=True)
        (folder / "one.json").write_text(
            '{"session": "s-1", "passed": {"small-talk": 3, "[red]odd": 1}}'
        )
        note(captures, NOW, "claude", "Stop", "[b]The store is locked.\x1b[2J")
        health(app).sections["captures"].gather()
        await settled(pilot)
        text = screen_text(app)
        assert "1  sessions of agents followed" in text
        assert "4  things passed over" in text
        assert "Stop failed: [b]The store is locked." in text
        assert all(map(is_inert, text.split("\n")))
        go(app, "captures", "passed")
        await settled(pilot)
        assert "prompts that say too little (3)" in beside(app)
        go(app, "captures", "failure-0")
        await settled(pilot)
        assert "stops no agent" in beside(app)


async def test_damage_is_named_and_so_is_the_way_out(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    app = app_over(bench)
    async with opened(app) as pilot:
        journal = tmp_path / "store" / "journal.jsonl"
        spoilt = bytearray(journal.read_bytes())
        spoilt[len(spoilt) // 2] ^= 1
        journal.write_bytes(bytes(spoilt))
        await keys(pilot, "r")
        go(app, "store", "journal")
        await pilot.pause()
        assert "1 place damaged" in screen_text(app)
        assert "its checksum does not match" in beside(app)
        assert "workbench doctor --recover" in beside(app)


@pytest.mark.slow
async def test_narrow_screens_open_the_text_by_enter(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app, (80, 24)) as pilot:
        await keys(pilot, "D", "j", "j", "enter")
        text = screen_text(app)
        assert "= the same text" in text
        assert "Reflection" not in text
        await keys(pilot, "escape")
        assert "Reflection" in screen_text(app)


async def test_tab_goes_from_part_to_part_and_a_click_selects(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        seen = []
        for _ in range(11):
            row = health(app).rows.current
            assert row is not None
            seen.append(row.section)
            await pilot.press("tab")
        parts = [
            "reflection",
            "upkeep",
            "duplicates",
            "store",
            "files",
            "history",
            "captures",
            "trends",
        ]
        parts += ["still-true", "consolidation"]
        assert seen == [*parts, "reflection"]
        await pilot.press("shift+tab", "shift+tab", "tab")
        await pilot.click("#parts", offset=(6, 2))
        current = health(app).rows.current
        assert current is not None
        assert (current.section, current.name) == ("reflection", "observations")


@pytest.mark.slow
@pytest.mark.parametrize("size", first_of(*SIZES[:2]))
async def test_hostile_texts_stay_inert(tmp_path: Path, size: tuple[int, int]) -> None:
    bench = open_bench(tmp_path, lambda: NOW + timedelta(days=400))
    import_file(bench, HOSTILE / "memories.jsonl")
    twice = [
        Memory(f"copy-{m.id}", m.content, m.created_at, m.created_at)
        for m in bench.library.memories.all()
    ]
    with bench.library.transaction("agent:\x1b[31m", "copy \u202e[bold]") as tx:
        for memory in twice:
            tx.put(memory)
    app = app_over(bench)
    async with opened(app, size) as pilot:
        await keys(pilot, "D")
        for key in ["j"] * 40 + ["z", "enter", "escape", "tab", "j", "enter", "escape"]:
            await pilot.press(key)
            await pilot.pause()
            assert hidden_on(app) == [], f"on the screen after {key}"


async def test_a_broken_change_of_files_is_shown_and_settled_after_a_yes(tmp_path: Path) -> None:
    project = tmp_path / "project"
    half_done(project / ".workbench")
    app = app_over(open_workbench(project / ".workbench", profiles=tmp_path, clock=lambda: NOW))
    async with opened(app) as pilot:
        go(app, "store", "half-done")
        await settled(pilot)
        assert RULE in beside(app)
        assert ORDER.strip() in beside(app)
        assert not (project / RULE).exists()
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert isinstance(app.screen, Confirm)
        app.screen._guard = 0  # the key is meant, however soon it comes
        await pilot.press("y")
        await until(pilot, (project / RULE).exists)
        await settled(pilot)
        assert not any(row.name.startswith("half-done") for row in rows(app, "store"))


async def test_what_waits_is_one_line_that_goes_to_review(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        plan = app.bench.upkeep.plan()
        count = len(plan.of("prune"))
        go(app, "upkeep", "in review")
        await pilot.pause()
        assert (
            f"{count}  wait in Review · Suggested for archiving · enter goes there"
            in screen_text(app)
        )
        assert f"Review (+{len(plan.proposals) - count})" in screen_text(app), (
            "the tab counts no prunes"
        )
        await pilot.press("enter")
        await until(
            pilot,
            lambda: app.screen.id != "health" and "Suggested for archiving" in screen_text(app),
        )
        await until(
            pilot,
            lambda: getattr(app.screen.query_one("#queue").current, "id", "") == "group noise",  # type: ignore[attr-defined]
        )
        await until(pilot, lambda: f"Suggested for archiving  {count}" in screen_text(app))
