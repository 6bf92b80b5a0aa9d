"""What an agent would be given for a task, seen before it is."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import answered, demo_app, open_bench, opens, screen_text, shows
from tests.tui.waiting import until, until_drawn
from workbench.core.agents.layers import ContextSettings
from workbench.core.agents.read import AgentRead
from workbench.services.agents.context import gathered
from workbench.services.agents.serving import AgentContext, text_of
from workbench.tui.agents.context import (
    STEP,
    ContextPreview,
    Given,
    Head,
    More,
    Out,
    Row,
    Section,
    Whole,
)
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.widgets.dialog import Choose, Prompt


@asynccontextmanager
async def opened(
    app: WorkbenchApp, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Pilot[Path | None]]:
    """Open the area, and go to the task of the context."""
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.bench.retriever.ready)
        await pilot.press("5")
        await opens(pilot, AgentsScreen)
        await until_drawn(pilot, lambda: preview(app).made)
        await pilot.press("c")
        yield pilot


def screen(app: WorkbenchApp) -> AgentsScreen:
    return next(s for s in app.opened if isinstance(s, AgentsScreen))


def preview(app: WorkbenchApp) -> ContextPreview:
    return screen(app).preview


def made(app: WorkbenchApp) -> AgentContext:
    found = preview(app).made
    assert found is not None
    return found


def to_row(app: WorkbenchApp, kind: type[Row], at: int = 0) -> Row:
    """Put the cursor on the first row of a kind, or on a later one."""
    rows = preview(app).rows
    place = [n for n, row in enumerate(rows.rows) if isinstance(row, kind)][at]
    rows.cursor = place
    return rows.rows[place]


async def asked(
    pilot: Pilot[Path | None], app: WorkbenchApp, task: str = "AUTH_SECRET"
) -> AgentContext:
    await pilot.press(*task, "enter")
    await until_drawn(pilot, lambda: preview(app).made is not None and made(app).task == task)
    return made(app)


@pytest.mark.slow
async def test_it_follows_task_and_budget_and_counts_no_read(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    reads, rev = len(app.bench.library.table(AgentRead)), app.bench.library.revision
    async with opened(app) as pilot:
        larger = await asked(pilot, app)
        assert larger.layers[-1].items
        await pilot.press(*["left"] * 3)
        smaller = made(app)
        assert smaller.budget == larger.budget - 3 * STEP
        assert smaller.tokens < larger.tokens
        assert "over budget by" in screen_text(app)
        await pilot.press("right")
        assert made(app).budget == smaller.budget + STEP
    assert (len(app.bench.library.table(AgentRead)), app.bench.library.revision) == (reads, rev)


async def test_the_row_of_a_memory_opens_it_and_says_where_it_is_given(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with opened(app, (200, 60)) as pilot:
        await asked(pilot, app)
        given = to_row(app, Given, 2)  # after what must never be done
        assert isinstance(given, Given)
        await pilot.press("enter")
        await until_drawn(pilot, lambda: "Given in “Pinned”" in screen(app).side.plain)
        assert app.bench.stream.get(given.item.id).content[:30] in screen(app).side.plain
        await pilot.press("escape")
        assert app.focused is preview(app).rows
        to_row(app, Out)
        await until_drawn(pilot, lambda: "Left out of “" in screen(app).side.plain)
        to_row(app, Whole)
        await until_drawn(pilot, lambda: "## Playbook" in screen(app).side.plain)


async def test_a_layer_leads_to_what_it_gives_and_the_rest_is_listed_when_it_is_opened(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with opened(app) as pilot:
        await asked(pilot, app)
        head = to_row(app, Head, 1)
        assert isinstance(head, Head)
        await pilot.press("enter")
        assert preview(app).row == Section(head.layer)
        more = to_row(app, More)
        assert isinstance(more, More)
        before = len(preview(app).rows.rows)
        await pilot.press("enter")
        assert len(preview(app).rows.rows) == before + more.count - 1
        assert isinstance(preview(app).row, Out)


async def test_it_is_copied_as_text_and_as_json_and_a_row_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    copied: list[str] = []
    monkeypatch.setattr(AgentsScreen, "copy", lambda _, text: copied.append(text))
    async with opened(app) as pilot:
        await pilot.press("enter", "y", "Y")
        text, answer = copied
        assert json.loads(answer)["text"] == text == text_of(made(app))
        assert "left_out" in json.loads(answer)["layers"][0]
        given = to_row(app, Given, 2)  # after what must never be done
        assert isinstance(given, Given)
        await pilot.press("y")
        assert copied[-1] == app.bench.stream.get(given.item.id).content


async def test_it_is_written_to_a_new_file_and_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = demo_app(tmp_path)
    async with opened(app) as pilot:
        await pilot.press("enter")
        for name in ("context.md", "context.json"):
            await pilot.press("X")
            await opens(pilot, Prompt)
            await pilot.press("ctrl+a", "ctrl+k", *name, "enter")
            await opens(pilot, AgentsScreen)
        assert (tmp_path / "context.md").read_text("utf-8") == f"{text_of(made(app))}\n"
        assert json.loads((tmp_path / "context.json").read_text("utf-8"))["text"] == text_of(
            made(app)
        )
        (tmp_path / "context.md").write_text("mine")
        await pilot.press("X")
        await opens(pilot, Prompt)
        await pilot.press("enter")
        assert isinstance(app.screen, Prompt)
        assert (tmp_path / "context.md").read_text("utf-8") == "mine"


async def test_a_store_that_is_not_trusted_gives_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    monkeypatch.setattr(
        type(app.bench.trust), "standing", app.bench.trust.standing._replace(trusted=False)
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await answered(pilot, "n")
        await pilot.press("5")
        await shows(pilot, "is not trusted, so")
        assert preview(app).made is None
        await pilot.press("c", "enter", "y", "X", "left", "enter", "p")
        assert isinstance(app.screen, AgentsScreen | Choose)


@pytest.mark.slow
async def test_keys_move_the_budget_of_one_layer_and_another_profile_ranks_anew(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with opened(app) as pilot:
        before = await asked(pilot, app)
        to_row(app, Head, 1)
        await pilot.press("left")
        after = made(app)
        assert (after.budget, after.layers[0]) == (before.budget, before.layers[0])
        assert after.layers[1].budget == max(0, before.layers[1].budget - STEP)
        assert "•" in screen_text(app)
        await pilot.press("backspace")
        assert made(app) == before
        for key, name in (("r", "engram"), ("p", "generative-agents")):
            await pilot.press(key)
            await opens(pilot, Choose)
            await pilot.press(*name, "enter")
            await until_drawn(pilot, lambda name=name: f"ranked under {name}" in screen_text(app))  # type: ignore[misc]
        await until(pilot, lambda: made(app).layers[-1] != before.layers[-1])


def test_the_budgets_of_layers_are_settings(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    own = bench.context.settings._replace(context=ContextSettings(pinned=700))
    agent = replace(bench.context, actor="agent:a", settings=own)
    made = gathered(agent, bench.tuning, bench.playbooks, "").cut(20_000)
    assert made.layers[0].budget == 700
