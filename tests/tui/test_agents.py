"""Agents by its keys: sessions, what was given and written, live, and what stands at the top of
every area.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import (
    NOW,
    app_over,
    demo_app,
    demo_bench,
    follow,
    open_bench,
    opens,
    screen_text,
    shows,
    tells,
)
from tests.tui.waiting import until, until_drawn
from workbench.core.agents.read import AgentRead
from workbench.core.stream.memory import Memory
from workbench.services.agents import reading_log
from workbench.services.agents.reading_log import keep, looked_up, new_id
from workbench.services.context import Context
from workbench.services.open import Workbench
from workbench.tui.agents.experience import EpisodesDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.widgets.dialog import Choose


def agents(app: WorkbenchApp) -> AgentsScreen:
    return next(s for s in app.opened if isinstance(s, AgentsScreen))


@asynccontextmanager
async def opened(
    app: WorkbenchApp, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Pilot[Path | None]]:
    async with app.run_test(size=size) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen) and agents(app)._known)
        await pilot.pause()
        yield pilot


def as_agent(bench: Workbench, name: str = "claude") -> Context:
    """Return the bench's context as an agent has it that works in the same store."""
    return replace(bench.context, actor=f"agent:{name}")


def read(
    bench: Workbench, query: str, *memories: str, session: str = "s-1", agent: str = "claude"
) -> None:
    scores = tuple(0.9 - 0.1 * n for n in range(len(memories)))
    one = AgentRead(
        new_id(), agent, NOW, query, session, "mcp", "workbench", memories, scores, not memories
    )
    keep(as_agent(bench, agent), [one])


def with_memories(folder: Path, *memories: Memory) -> Workbench:
    bench = open_bench(folder)
    with bench.library.transaction("human", "some memories") as tx:
        for memory in memories or (Memory("m1", "the deploy runs at noon", NOW, NOW),):
            tx.put(memory)
    return bench


@pytest.mark.slow
async def test_sessions_open_to_what_was_given_and_to_the_memory(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with opened(app, (80, 24)) as pilot:
        assert "54 sessions" in screen_text(app)
        assert "codex" in screen_text(app)
        await pilot.press("enter", "j")
        text = screen_text(app)
        assert "0.650" in text
        assert "View resources is still" in text
        await pilot.press("enter")
        assert "as 1 of 3" in screen_text(app)
        assert "when is the view resources dropped" in screen_text(app)
        await pilot.press("escape", "escape")
        assert app.focused is agents(app).sessions


async def test_what_was_left_out_or_looked_up_is_said_in_words(tmp_path: Path) -> None:
    bench = with_memories(tmp_path)
    asked, context = reading_log.Asked("mcp", "s-1"), as_agent(bench)
    earlier = NOW - timedelta(minutes=1)
    one = AgentRead(
        new_id(), "claude", NOW, "how", memories=("m1", "gone"), scores=(0.9, 0.8), held=2, weak=3
    )
    none = AgentRead(new_id(), "claude", earlier, "lasagne", is_empty=True)
    keep(context, [one, none, looked_up(context, "", ["m1"], asked)])
    app = app_over(bench)
    async with opened(app, (200, 60)) as pilot:
        text = ""
        for key in ("j", "k", "enter"):
            await pilot.press(key)
            text += screen_text(app)
        for said in (
            "2 served, 2 held back, 3 too weak",
            "nothing relevant, nothing served",
            "gone no longer in the store",
            "2 higher-ranked held back: instructions",
            "looked up by id",
        ):
            assert said in text


async def test_a_question_is_asked_again_in_tune(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with opened(app) as pilot:
        await until(pilot, lambda: app.bench.retriever.ready)
        await pilot.press("enter", "j", "v")
        tune = await opens(pilot, TuneScreen)
        await until(pilot, lambda: tune.box.value == "when is the view resources dropped")
        await until(pilot, lambda: tune.session.ranking is not None and app.focused is tune.rows)


async def test_a_memory_is_judged_as_no_answer_to_the_question_it_was_served_for(
    tmp_path: Path,
) -> None:
    bench = with_memories(tmp_path)
    read(bench, "when is the deploy", "m1")
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("0")
        assert tells(app, "Go to a memory that was served")
        await pilot.press("enter", "j", "0")
        assert bench.judging.grades("when is the deploy") == {"m1": 0}
        await pilot.press("enter")
        await until_drawn(pilot, lambda: "Judged 0 of 3 for this question" in screen_text(app))
        await pilot.press("escape")
        assert not bench.library.memories.get("m1").harmful_count
        await pilot.press("u")
        await until(pilot, lambda: not bench.judging.grades("when is the deploy"))


async def test_sessions_are_found_and_one_agent_is_shown_alone_until_esc(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with opened(app, (80, 24)) as pilot:
        rows = agents(app).sessions.rows
        wanted = next(at for at, session in enumerate(rows) if session.agent != rows[0].agent)
        await pilot.press("slash", *rows[wanted].agent, "enter")
        await until_drawn(pilot, lambda: agents(app).sessions.cursor == wanted)
        await pilot.press("f")
        await opens(pilot, Choose)
        await pilot.press("down", "enter")
        for shown, key in (({"codex"}, "escape"), ({"codex", "claude"}, "g")):
            await until_drawn(
                pilot,
                lambda shown=shown: {one.agent for one in agents(app).sessions.rows} == shown,  # type: ignore[misc]
            )
            await pilot.press(key)


@pytest.mark.slow
async def test_following_is_paused_and_goes_on(tmp_path: Path) -> None:
    bench, other = with_memories(tmp_path), open_bench(tmp_path)
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("ctrl+f")
        read(other, "asked meanwhile", "m1")
        follow(app)
        await pilot.pause()
        assert "paused · ctrl+f" in screen_text(app)
        assert not agents(app).sessions.rows
        await pilot.press("ctrl+f")
        await until_drawn(pilot, lambda: agents(app).sessions.rows)
        assert "paused · ctrl+f" not in screen_text(app)
        assert "asked meanwhile" in screen_text(app)
    other.close()


async def test_new_memories_are_told_of_where_the_top_is_out_of_sight(tmp_path: Path) -> None:
    bench = demo_bench(tmp_path)
    app = app_over(bench)
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: bench.retriever.ready)
        stream = app.screen
        assert isinstance(stream, StreamScreen)
        await pilot.press("G")
        here, seen = stream.rows.current, stream.rows.cursor - stream.rows.scroll_offset.y
        assert here is not None
        with bench.library.transaction("agent:claude", "two more") as tx:
            for name in ("new-1", "new-2"):
                tx.put(Memory(name, f"{name} was written", NOW, NOW))
        await shows(pilot, "2 new, . goes there")
        assert stream.rows.current == here
        assert stream.rows.cursor - stream.rows.scroll_offset.y == seen
        await pilot.press("full_stop")
        await until_drawn(pilot, lambda: "goes there" not in screen_text(app))
        assert "• new-" in screen_text(app)
        assert stream.rows.cursor < 2


def done(task: str, status: str = "SUCCESS", days: int = 0, **more: object) -> dict[str, object]:
    at = (NOW - timedelta(days=days)).isoformat()
    return {
        "timestamp": at,
        "task": {"original_input": task},
        "outcome": {"status": status},
        **more,
    }


async def test_episodes_are_listed_by_time_noted_tagged_deleted_and_undone(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    trace = {"trace": [{"tool": "make", "stderr": "[bold]no rule[/bold]\x1b[31m"}]}
    bench.episodes.store_all(
        [
            done("Move the build", days=200, execution=trace),
            done("Fix the [red]login[/red]", "FAILURE"),
        ]
    )
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("L")
        dialog = await opens(pilot, EpisodesDialog, lambda s: s.rows.rows)
        await pilot.press("slash", *"move bui", "enter")
        await until_drawn(pilot, lambda: dialog.rows.cursor == 1)
        await pilot.press("k", "n", *"seen", "enter")
        await until(pilot, lambda: bool(bench.episodes.notes(dialog.rows.rows[0].episode.id)))
        await until_drawn(
            pilot, lambda: isinstance(app.screen, EpisodesDialog) and "seen" in screen_text(app)
        )
        await pilot.press("t", *"ui, x", "enter")
        await until(pilot, lambda: bench.episodes.all()[0].tags == ("ui", "x"))
        await opens(pilot, EpisodesDialog)
        await pilot.press("t", "ctrl+u", "enter")
        await until(pilot, lambda: bench.episodes.all()[0].tags == ())
        await opens(pilot, EpisodesDialog)
        await pilot.press("u")
        await until(pilot, lambda: bench.episodes.all()[0].tags == ("ui", "x"))
        await pilot.press("d")
        await shows(pilot, "(deleted)")
        await pilot.press("u", "u")
        await until(pilot, lambda: bench.episodes.all()[0].tags == ())
        await until_drawn(pilot, lambda: "(deleted)" not in screen_text(app))
        await pilot.press("j")
        await shows(pilot, "o shows it")
        assert "no rule" not in screen_text(app)
        await pilot.press("o")
        await until_drawn(pilot, lambda: "o shows it" not in screen_text(app))
        assert "[bold]no rule[/bold]" in screen_text(app)


async def test_episodes_are_searched(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    twin = {"execution": {"duration": 60.0}, "metadata": {"domain": "ci", "task_type": "deploy"}}
    bench.episodes.store_all([
        done("Deploy the shop to staging", days=40) | twin, done("Deploy the shop to staging", days=41) | twin,
        done("Fix the login", "FAILURE"),
    ])  # fmt: skip
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("L")
        dialog = await opens(pilot, EpisodesDialog, lambda s: len(s.rows.rows) == 3)
        await pilot.press("s", *"struct", "enter")
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("f", *"outcome:FAILURE", "enter")
        await until(pilot, lambda: [row.task for row in dialog.rows.rows] == ["Fix the login"])
        await pilot.press("c", "f", "ctrl+u", *"domain:ci", "enter")
        await until(pilot, lambda: len(dialog.rows.rows) == 2)
        await pilot.press("c")
        await until_drawn(
            pilot,
            lambda: "1  Fix the login" in screen_text(app) and "2  Deploy" in screen_text(app),
        )
        await pilot.press("f", "ctrl+u", *"until:1999", "enter")
        await shows(pilot, "✗")
        await pilot.press("f", "ctrl+u", "enter", "C")
        await until(pilot, lambda: app.screen is not dialog)
        await shows(pilot, "Archive 1 episode under 1")
        await pilot.press("y")
        await until(
            pilot, lambda: sum(one.status == "archived" for one in bench.episodes.all()) == 1
        )
        await until(pilot, lambda: app.screen is dialog)
        dialog.rows.cursor = 1
        await until_drawn(
            pilot, lambda: "2 instances" in screen_text(app) and "60 s" in screen_text(app)
        )


async def test_without_episodes_it_says_how_to_have_some_and_a_lost_file_is_named(
    tmp_path: Path,
) -> None:
    bench = open_bench(tmp_path)
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("L")
        await shows(pilot, "No episodes yet")
        await pilot.press("n", "t", "d", "z", "u", "escape")
        bench.library.blobs.remove((bench.episodes.store(done("Lost")).episode.hash,))
        await opens(pilot, AgentsScreen)
        await pilot.press("L")
        await shows(pilot, "is missing")
