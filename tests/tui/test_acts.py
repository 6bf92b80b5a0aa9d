"""The usual keys on rows that are no list of memories: history, Health, judging, replacing; they
act on the record.
"""

from pathlib import Path

import pytest

from tests.tui.support import app_over, demo_app, open_bench
from tests.tui.test_health import FRIDAY, filled
from tests.tui.tune_host import WIDE, opened, tune
from tests.tui.waiting import until, until_drawn
from workbench.services.duplicates.comparing import Group
from workbench.services.health.history import Event
from workbench.services.playbook.playbook import MAIN
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.forms import RecordForm
from workbench.tui.health.screen import HealthScreen
from workbench.tui.records.actions import NOT_PROMOTED, only_record
from workbench.tui.records.record import OpenedRecord
from workbench.tui.review.screen import ReviewScreen
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.tuning.judging import JudgeDialog
from workbench.tui.widgets.line_list import LineView
from workbench.tui.widgets.reading_pane import ReadingPane

SIZE = (140, 45)
ID = "mem-20260320-0000257"


def history(app: WorkbenchApp) -> LineView[Event]:
    assert isinstance(app.screen, HistoryDialog)
    rows: LineView[Event] = app.screen.query_one(LineView)
    return rows


def listed(app: WorkbenchApp) -> int:
    shown = app.screen.query(LineView) if isinstance(app.screen, HistoryDialog) else ()
    return sum(len(rows.rows) for rows in shown)


def said(app: WorkbenchApp) -> str:
    return " ".join(note.message for note in app._notifications)


def test_a_change_of_several_records_is_about_none() -> None:
    one, two, vote = ("memories", "a"), ("bullets", "main/b"), ("votes", "v")
    assert (only_record([vote, one, one]), only_record([one, two]), only_record([vote])) == (
        one,
        None,
        None,
    )


@pytest.mark.slow
async def test_in_the_history_of_a_record_they_act_on_it_and_the_cursor_stays(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.stream.edit(ID, "what it says today")
        await pilot.press("h")
        await until_drawn(pilot, lambda: listed(app) > 0)
        await pilot.press("j")
        before = history(app).current
        await pilot.press("plus")
        await until(pilot, lambda: app.bench.stream.live_vote(ID) == "helpful")
        await until(pilot, lambda: "vote" in history(app).rows[0].label)
        assert history(app).current == before
        await pilot.press("e")
        await until_drawn(pilot, lambda: isinstance(app.screen, RecordForm))
        await pilot.press("x", "ctrl+s")
        await until_drawn(pilot, lambda: isinstance(app.screen, HistoryDialog))
        assert app.bench.stream.get(ID).content != "what it says today"
        assert history(app).current == before
        await pilot.press("enter")
        await until_drawn(pilot, lambda: isinstance(app.screen, OpenedRecord))
        await pilot.press("p")
        await until(pilot, lambda: app.bench.stream.get(ID).pinned)


async def test_in_the_history_of_everybody_they_act_on_what_a_change_is_about(
    tmp_path: Path,
) -> None:
    app = app_over(filled(tmp_path))
    async with app.run_test(size=SIZE) as pilot:
        section = app.bench.playbooks.add_section(MAIN, "RULES")
        bullet = app.bench.playbooks.add(MAIN, section, "Name the queue in every log line.")
        app.action_all_history()
        await until_drawn(pilot, lambda: listed(app) == 3)
        await pilot.press("plus")
        await until(pilot, lambda: app.bench.playbooks.bullet(MAIN, bullet).helpful_count == 1)
        history(app).cursor = len(history(app).rows) - 1
        await pilot.press("P", "plus")
        await pilot.pause()
        assert "several" in said(app)
        assert NOT_PROMOTED not in said(app)


async def test_in_health_a_duplicate_is_edited_and_a_heading_says_what_the_key_is_for(
    tmp_path: Path,
) -> None:
    app = app_over(filled(tmp_path))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("6", "D")
        screen = app.screen
        assert isinstance(screen, HealthScreen)
        await until(pilot, lambda: any(isinstance(row.item, Group) for row in screen.rows.rows))
        screen.rows.cursor = 0
        await pilot.press("plus")
        await until(pilot, lambda: "a group of duplicates" in said(app))
        place = next(
            n
            for n, r in enumerate(screen.rows.rows)
            if isinstance(r.item, Group) and "Friday" in str(r.item)
        )
        group = screen.rows.rows[place].item
        assert isinstance(group, Group)
        assert group.members[0].content == FRIDAY
        screen.rows.cursor = place
        await pilot.press("minus")
        await until(pilot, lambda: app.bench.stream.live_vote(group.members[0].id) == "harmful")
        await pilot.press("d")
        await until(pilot, lambda: app.bench.stream.get(group.members[0].id).status == "archived")


@pytest.mark.slow
async def test_while_judging_a_memory_can_be_pinned_and_its_history_seen(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        tune(app).rows.focus()
        await pilot.press("J")
        await until_drawn(pilot, lambda: isinstance(app.screen, JudgeDialog))
        judge = app.screen
        assert isinstance(judge, JudgeDialog)
        memory = app.bench.stream.get(judge.ids[judge.rows.cursor])
        await pilot.press("p")
        await until(pilot, lambda: app.bench.stream.get(memory.id).pinned != memory.pinned)
        await pilot.press("h")
        await until_drawn(pilot, lambda: isinstance(app.screen, HistoryDialog))
        await pilot.press("escape", "enter")
        await until_drawn(pilot, lambda: isinstance(app.screen, OpenedRecord))
        await pilot.press("escape")
        await until_drawn(pilot, lambda: app.screen is judge)


async def test_a_record_that_is_gone_is_told_of(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=SIZE) as pilot:
        section = app.bench.playbooks.add_section(MAIN, "RULES")
        bullet = app.bench.playbooks.add(MAIN, section, "Name the queue in every log line.")
        app.bench.playbooks.delete(MAIN, [bullet])
        app.action_all_history()
        await until_drawn(pilot, lambda: listed(app) == 3)
        await pilot.press("e")
        await until(pilot, lambda: bullet in said(app))
        assert isinstance(app.screen, HistoryDialog)


async def test_in_reviews_evidence_they_act_on_the_evidence_and_deciding_stays_with_the_candidate(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.rows.rows)
        review = app.screen
        assert isinstance(review, ReviewScreen)
        evidence = review.query_one("#evidence", ReadingPane)
        candidate = review.queue.current
        assert candidate is not None
        await until(pilot, lambda: review.texts.evidence is not None)
        await pilot.press("tab")
        assert evidence.has_focus
        first, second = (cited.id for cited in review.bench.review.cited(candidate)[:2])
        await pilot.press("plus")
        await until(pilot, lambda: app.bench.stream.live_vote(first) == "helpful")
        await pilot.press("j", "minus")
        await until(pilot, lambda: app.bench.stream.live_vote(second) == "harmful")
        await pilot.press("e")
        await until_drawn(pilot, lambda: isinstance(app.screen, RecordForm))
        await pilot.press("x", "ctrl+s")
        await until_drawn(pilot, lambda: app.screen is review)
        assert app.bench.stream.get(second).content.endswith("x")
        assert review.queue.current == candidate
        await pilot.press("enter")
        await until_drawn(pilot, lambda: isinstance(app.screen, OpenedRecord))
        await pilot.press("escape")
        await until_drawn(pilot, lambda: app.screen is review)
        await pilot.press("a")
        await until(
            pilot,
            lambda: review.queue.current is not None and review.queue.current.id != candidate.id,
        )
        memory = app.bench.review.memory(candidate)
        assert memory is not None
        assert memory.status == "confirmed"


async def test_on_the_queue_keys_that_decide_nothing_do_nothing(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.rows.rows)
        revision = app.bench.library.revision
        await pilot.press("plus", "minus", "p", "d")
        await pilot.press("tab", "tab")
        assert app.bench.library.revision == revision
        await pilot.press("escape")
        review = app.screen
        assert isinstance(review, ReviewScreen)
        assert review.rows.has_focus
