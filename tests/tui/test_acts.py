"""The usual keys on rows that are no list of memories: history, Health, judging, replacing; they
act on the record.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.health_host import filled
from tests.tui.support import app_over, demo, opens, tells
from tests.tui.tune_host import opened, tune
from tests.tui.waiting import until, until_drawn
from workbench.services.duplicates.comparing import Group
from workbench.services.health.history import Event
from workbench.services.playbook.playbook import MAIN
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.forms import RecordForm
from workbench.tui.health.screen import HealthScreen
from workbench.tui.promotion import CopiesDialog
from workbench.tui.records.actions import NOT_PROMOTED, only_record
from workbench.tui.records.record import OpenedRecord
from workbench.tui.review.screen import ReviewScreen
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.tuning.judging import JudgeDialog
from workbench.tui.tuning.ranking import memory_of
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


def test_a_change_of_several_records_is_about_none() -> None:
    one, two, vote = ("memories", "a"), ("bullets", "main/b"), ("votes", "v")
    assert (only_record([vote, one, one]), only_record([one, two]), only_record([vote])) == (
        one,
        None,
        None,
    )


async def in_a_history(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    await pilot.press("h")
    await until(pilot, lambda: listed(app) > 0)
    return ID


async def on_an_opened_record(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    app.bench.stream.edit(ID, "what it says today")
    await in_a_history(app, pilot)
    await pilot.press("enter")
    await opens(pilot, OpenedRecord)
    return ID


async def in_what_an_agent_was_given(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    await pilot.press("5", "enter", "j")
    line = (await opens(pilot, AgentsScreen)).rows.current
    assert line is not None
    return line.memory


async def in_the_ranking(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    await opened(pilot)
    tune(app).rows.focus()
    memory = memory_of(tune(app).rows.current)
    assert memory is not None
    return memory.id


async def while_judging(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    await in_the_ranking(app, pilot)
    await pilot.press("v")
    judge = await opens(pilot, JudgeDialog)
    return judge.ids[judge.rows.cursor]


async def in_the_pairs(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    await opened(pilot)
    await pilot.press("D")
    dialog = await opens(pilot, DuplicatesDialog, lambda s: s.found)
    await pilot.press("tab")
    assert dialog.group is not None
    id: str = dialog.group.ids[0]
    return id


async def on_a_duplicate(app: WorkbenchApp, pilot: Pilot[Path | None]) -> str:
    await pilot.press("6", "D")
    screen = await opens(
        pilot, HealthScreen, lambda s: any(isinstance(row.item, Group) for row in s.rows.rows)
    )
    rows = screen.rows.rows
    screen.rows.cursor = next(n for n, row in enumerate(rows) if isinstance(row.item, Group))
    group = rows[screen.rows.cursor].item
    assert isinstance(group, Group)
    id: str = group.members[0].id
    return id


PLACES = (
    in_a_history,
    on_an_opened_record,
    in_what_an_agent_was_given,
    in_the_ranking,
    while_judging,
    in_the_pairs,
    on_a_duplicate,
)
"""Where rows stand for memories: each goes there and returns the memory that the keys are for."""


OTHERWISE = {"in_a_history": "h", "on_a_duplicate": "p"}
"""Keys that mean something else there."""


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
async def test_the_usual_keys_are_for_the_memory_of_a_row(
    tmp_path: Path, place: Callable[[WorkbenchApp, Pilot[Path | None]], Any]
) -> None:
    async with demo(tmp_path) as (app, pilot):
        id = await place(app, pilot)
        here, before = app.screen, app.bench.stream.get(id)
        for key, done in (
            ("minus", lambda: app.bench.stream.live_vote(id) == "harmful"),
            ("plus", lambda: app.bench.stream.live_vote(id) == "helpful"),
            ("p", lambda: app.bench.stream.get(id).pinned != before.pinned),
            ("h", lambda: isinstance(app.screen, HistoryDialog)),
        ):
            if key not in OTHERWISE.get(place.__name__, ""):
                await pilot.press(key)
                await until_drawn(pilot, done)
        if app.screen is not here:
            await pilot.press("escape")
            await until_drawn(pilot, lambda: app.screen is here)
        await pilot.press("e")
        await opens(pilot, RecordForm)
        await pilot.press("home", "X", "ctrl+s")
        await until(pilot, lambda: app.screen is here or isinstance(app.screen, CopiesDialog))
        if app.screen is not here:  # another memory has the same text
            await pilot.press("n")
        await until_drawn(pilot, lambda: app.screen is here)
        assert "X" in app.bench.stream.get(id).content


async def test_in_the_history_of_everybody_they_act_on_what_a_change_is_about(
    tmp_path: Path,
) -> None:
    app = app_over(filled(tmp_path))
    async with app.run_test(size=SIZE) as pilot:
        playbooks = app.bench.playbooks
        section = playbooks.add_section(MAIN, "RULES")
        bullet = playbooks.add(MAIN, section, "Name the queue in every log line.")
        app.action_all_history()
        await until_drawn(pilot, lambda: listed(app) == 3)
        await pilot.press("plus")
        await until(pilot, lambda: playbooks.bullet(MAIN, bullet).helpful_count == 1)
        history(app).cursor = len(history(app).rows) - 1
        await pilot.press("P", "plus")
        assert tells(app, "several")
        assert not tells(app, NOT_PROMOTED)
        playbooks.delete(MAIN, [bullet])
        await pilot.press("escape")
        app.action_all_history()
        await until_drawn(pilot, lambda: listed(app) > 3)
        await pilot.press("e")
        await until(pilot, lambda: tells(app, bullet))
        assert isinstance(app.screen, HistoryDialog)


async def test_in_reviews_evidence_they_act_on_the_evidence_and_deciding_stays_with_the_candidate(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, SIZE) as (app, pilot):
        await pilot.press("2")
        review = await opens(pilot, ReviewScreen, lambda s: s.rows.rows)
        evidence = review.query_one("#evidence", ReadingPane)
        candidate, revision = review.queue.current, app.bench.library.revision
        await pilot.press("plus", "minus", "p", "d")
        assert app.bench.library.revision == revision, "in the queue they decide nothing"
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
        await opens(pilot, RecordForm)
        await pilot.press("x", "ctrl+s")
        await until_drawn(pilot, lambda: app.screen is review)
        assert app.bench.stream.get(second).content.endswith("x")
        assert review.queue.current == candidate
        await pilot.press("a")
        await until(
            pilot,
            lambda: review.queue.current is not None and review.queue.current.id != candidate.id,
        )
        memory = app.bench.review.memory(candidate)
        assert memory is not None
        assert memory.status == "confirmed"
