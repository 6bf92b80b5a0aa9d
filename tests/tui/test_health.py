"""Health by its keys: the gauge, upkeep, duplicates, the store, the history."""

import json
from pathlib import Path

from tests.hostile import ORDER, RULE, half_done
from tests.tui.health_host import (
    beside,
    filled,
    go,
    health,
    keys,
    opened,
    rows,
    settled,
    status,
)
from tests.tui.support import (
    NOW,
    answered,
    app_over,
    demo_app,
    open_bench,
    opens,
    screen_text,
    shows,
)
from tests.tui.waiting import until
from tests.tui.widgets.host import is_inert
from workbench.config.paths import captures_dir
from workbench.services.agents.capture.progress import folder_of, note
from workbench.services.duplicates.comparing import Group
from workbench.services.open import open_workbench
from workbench.tui.health.upkeep import Proposed
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.widgets.dialog import Confirm


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
        await opens(pilot, Proposed)
        await pilot.pause()
        text = screen_text(app)
        assert "Prune these 2 memories?" in text
        assert "a note that nobody ever read" in text
        await pilot.press("escape")
        assert status(app, "old") == "signal"
        await pilot.press("p")
        await opens(pilot, Proposed)
        await pilot.press("y")
        await until(pilot, lambda: status(app, "old") == "archived")
        await settled(pilot)
        assert status(app, "older") == "archived"
        assert "to prune" not in screen_text(app)
        await keys(pilot, "u")
        assert status(app, "old") == status(app, "older") == "signal"
        assert "to prune" in screen_text(app)


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
        stays = next(line for line in beside(app).split("\n") if line.startswith("Stays"))
        assert "p1" in stays
        assert "text of p2" in stays
        await keys(pilot, "x")
        assert [row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)] == [
            "≠"
        ]
        await keys(pilot, "u u")
        assert status(app, "f2") == "signal"
        assert [
            row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)
        ] == signs
        await keys(pilot, "a")
        assert {p.kind for p in app.bench.library.proposals.all() if p.state == "open"} == {"merge"}
        assert [row.name[0] for row in rows(app, "duplicates") if isinstance(row.item, Group)] == [
            "≠"
        ]


async def test_beside_a_heading_stand_the_texts_of_its_rows_as_far_as_there_is_room(
    tmp_path: Path,
) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app, (200, 60)) as pilot:
        health(app).sections["upkeep"].go()
        await pilot.pause()
        assert "a note that nobody ever read" in beside(app)


async def test_a_pair_that_says_something_else_is_merged_only_after_a_yes(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        await keys(pilot, "D")
        go(app, "duplicates", "≠")
        await pilot.pause()
        assert "negations differ" in beside(app)
        await pilot.press("m")
        await opens(pilot, Confirm)
        await pilot.press("n")
        await settled(pilot)
        assert status(app, "n1") == status(app, "n2") == "signal"
        await pilot.press("m")
        await opens(pilot, Confirm)
        await pilot.press("y")
        await settled(pilot)
        assert {status(app, "n1"), status(app, "n2")} == {"signal", "archived"}


async def test_a_change_is_taken_back_from_the_history(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    app.bench.stream.pin(["old"])
    async with opened(app) as pilot:
        go(app, "history", str(app.bench.library.journal.rev))
        await pilot.pause()
        assert "pinned" in beside(app)
        await pilot.press("t")
        await until(pilot, lambda: not app.bench.stream.get("old").pinned)
        await settled(pilot)
        await pilot.press("enter")
        await opens(pilot, HistoryDialog)


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
        await answered(pilot)
        await settled(pilot)
        assert app.bench.stream.get("old").content == "what another program wrote"
        assert "changed by another program" not in screen_text(app)


async def test_what_capturing_brought_and_which_hooks_failed_is_said(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with opened(app) as pilot:
        go(app, "captures", "nothing")
        await settled(pilot)
        assert "No agent sessions followed yet" in screen_text(app)
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
        go(app, "captures", "failure-0")
        await settled(pilot)
        text = screen_text(app)
        assert "1  agent sessions followed" in text
        assert "4  items skipped" in text
        assert "Stop failed: [b]The store is locked." in text
        assert all(map(is_inert, text.split("\n")))
        go(app, "captures", "passed")
        await settled(pilot)
        assert "prompts without content (3)" in beside(app)
        go(app, "captures", "failure-0")
        await settled(pilot)
        assert "never stops an agent" in beside(app)


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


async def test_tab_goes_from_part_to_part_and_a_click_selects(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        seen = []
        for _ in range(12):
            row = health(app).rows.current
            assert row is not None
            seen.append(row.section)
            await pilot.press("tab")
        parts = [
            "better",
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
        assert seen == [*parts, "better"]
        await pilot.press("shift+tab", "shift+tab", "tab")
        await pilot.click("#parts", offset=(6, 3))
        current = health(app).rows.current
        assert current is not None
        assert (current.section, current.name) == ("better", "ndcg")


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
        await answered(pilot)
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
        assert "Review (" not in screen_text(app), "the tab counts what is stored"
        await pilot.press("enter")
        await until(
            pilot,
            lambda: app.screen.id != "health" and "Suggested for archiving" in screen_text(app),
        )
        await until(
            pilot,
            lambda: getattr(app.screen.query_one("#queue").current, "id", "") == "group noise",  # type: ignore[attr-defined]
        )
        await shows(pilot, f"Suggested for archiving  {count}")
