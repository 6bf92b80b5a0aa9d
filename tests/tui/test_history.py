"""The History dialog by its keys: of one record, and of everybody."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.safety.samples import keys as secrets
from tests.tui.support import (
    NOW,
    answered,
    app_over,
    demo,
    each_key,
    follow,
    messages,
    open_bench,
    opens,
    screen_text,
    shows,
)
from tests.tui.waiting import until
from workbench.core.stream.memory import Memory, Vote, vote_id
from workbench.services.open import Workbench, open_workbench
from workbench.services.stream import votes
from workbench.store.library import Library
from workbench.tui.agents.documents import DocumentsDialog
from workbench.tui.agents.experience import PatternsDialog
from workbench.tui.agents.planning import PlansDialog
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.duplicates import BulletDuplicatesDialog
from workbench.tui.forms import RecordForm
from workbench.tui.manual import HelpScreen
from workbench.tui.records.record import OpenedRecord
from workbench.tui.stream.history_dialog import PAGE, HistoryDialog
from workbench.tui.widgets.dialog import Choose, Confirm, Dialog
from workbench.tui.widgets.editor import InertTextArea
from workbench.tui.widgets.line_list import LineView
from workbench.tui.widgets.reading_pane import ReadingPane

ID = "mem-20260320-0000257"


async def keys(pilot: Pilot[Path | None], *pressed: str) -> None:
    for key in each_key(pressed):
        await pilot.press(key)
        await until(
            pilot,
            lambda: not (isinstance(pilot.app.screen, HistoryDialog) and pilot.app.screen.reading),
        )
        await pilot.pause()


def by_agent(app: WorkbenchApp) -> Workbench:
    return open_workbench(
        app.bench.library.folder, profiles=Path("none"), actor="agent:claude", clock=lambda: NOW
    )


def shown(app: WorkbenchApp) -> str:
    return app.screen.query_one(ReadingPane).plain


def told(app: WorkbenchApp, where: str = ".dialog--state") -> str:
    return str(app.screen.query_one(where, Static).render())


def listed(app: WorkbenchApp) -> list[str]:
    assert isinstance(app.screen, HistoryDialog)
    return [event.label for event in app.screen.query_one(LineView).rows]


@pytest.mark.slow
async def test_enter_shows_the_record_as_it_was(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        app.bench.stream.edit(ID, "what it says today")
        app.bench.stream.edit(ID, "what it will say tomorrow")
        await keys(pilot, "h j enter")
        assert isinstance(app.screen, OpenedRecord)
        assert shown(app).startswith("what it says today\n")
        await keys(pilot, "escape escape")
        assert not isinstance(app.screen, HistoryDialog)


@pytest.mark.slow
async def test_u_takes_back_what_an_agent_did_and_u_on_that_does_it_again(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        agent = by_agent(app)
        votes.cast(agent.context, agent.stream.get(ID), "harmful")
        await keys(pilot, "p h j u")
        memory = app.bench.stream.get(ID)
        assert (memory.harmful_votes, memory.pinned) == (0, True)
        assert listed(app)[0] == f"undo: vote harmful on {ID}"
        assert "Taken back" in screen_text(app)
        await keys(pilot, "g u")
        assert app.bench.stream.get(ID).harmful_votes == 1


async def test_u_says_how_many_memories_a_change_is_of_before_and_after_it_takes_it_back(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path) as (app, pilot):
        ids = [m.id for m in app.bench.library.memories.all() if m.id != ID][:10]
        app.bench.stream.vote([*ids, ID], "helpful")
        await keys(pilot, "h u")
        await opens(pilot, Confirm)
        assert "11 memories" in screen_text(app)
        await answered(pilot)
        await until(pilot, lambda: "11 memories" in told(app))
        assert app.bench.stream.get(ID).helpful_votes == 0


async def test_esc_in_the_text_goes_to_the_list_before_it_closes(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await keys(pilot, "h tab escape")
        assert isinstance(app.screen, HistoryDialog)
        assert isinstance(app.focused, LineView)
        await keys(pilot, "escape")
        assert not isinstance(app.screen, HistoryDialog)


async def test_one_key_takes_back_all_an_agent_did_since_a_time_and_one_undo_brings_it_back(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        agent = by_agent(app)
        votes.cast(agent.context, agent.stream.get(ID), "harmful")
        agent.stream.edit(ID, "what claude says")
        await keys(pilot, "H j A enter")
        question = await opens(pilot, Confirm)
        assert "Take back 2 changes by claude?" in screen_text(app)
        assert f"vote harmful on {ID}" in screen_text(app)
        assert f"edit {ID}" in screen_text(app)
        assert question.is_current
        await answered(pilot)
        await keys(pilot)
        assert app.bench.stream.get(ID).content != "what claude says"
        assert app.bench.stream.get(ID).harmful_votes == 0
        assert "Taken back: 2 changes by claude." in told(app)
        assert listed(app)[0] == "undo 2 changes by claude"
        await keys(pilot, "A")
        assert "Go to a change of an agent first." in told(app)
        await keys(pilot, "escape u")
        assert app.bench.stream.get(ID).content == "what claude says"
        assert app.bench.stream.get(ID).harmful_votes == 1


async def test_changes_are_told_by_record_in_words_and_never_as_json(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    with bench.library.transaction("agent:claude", "observed") as tx:
        tx.put(Memory("m1", "Deploys need two reviews", NOW, NOW, tags=("ci", "review")))
        tx.put(Memory("m2", "Another", NOW, NOW, metadata={"run": {"ok": True, "share": 0.5}}))
    bench.stream.pin(["m1"])
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        await keys(pilot, "H")
        assert "changed memory “Deploys need two reviews” m1" in shown(app)
        assert "pinned: yes" in shown(app)
        await keys(pilot, "j")
        assert "added memory “Deploys need two reviews” m1" in shown(app)
        assert "tags: ci, review" in shown(app)
        assert "metadata · run · share: 0.5" in shown(app)
        assert not set('{}[]"') & set(shown(app))
        agent = by_agent(app)
        with agent.library.transaction("agent:claude", "vote on 2") as tx:
            for id in ("m2", "m1"):
                tx.put(
                    Vote(
                        vote_id("memories", id, "agent:claude"),
                        "memories",
                        id,
                        "agent:claude",
                        "helpful",
                        NOW,
                    )
                )
        await keys(pilot, "escape H")
        assert "claude voted helpful on “Deploys need two reviews” m1" in shown(app)


async def test_the_history_of_everybody_lists_agents_and_asks_which_record(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        by_agent(app).stream.pin([ID, "mem-20260206-0000001"], True)
        await keys(pilot, "2 H")
        assert listed(app)[0] == "pin 2 memories"
        assert "agent:claude" in screen_text(app)
        await keys(pilot, "enter")
        assert isinstance(app.screen, Choose)
        await keys(pilot, "enter")
        assert isinstance(app.screen, OpenedRecord)


async def test_slash_finds_in_all_of_the_history_and_its_letters_are_no_keys(
    tmp_path: Path,
) -> None:
    bench = open_bench(tmp_path)
    for number in range(PAGE + 20):
        with bench.library.transaction("agent:x", f"step {number}") as tx:
            tx.put(
                Memory(f"m{number}", f"note {'of Pnpm' if number in (3, 60) else number}", NOW, NOW)
            )
    app, rev = app_over(bench), bench.library.revision
    async with app.run_test(size=(80, 24)) as pilot:
        await keys(pilot, "H slash", *"pnpm", "enter")
        assert listed(app) == ["step 60", "step 3"]
        assert "Only changes with “pnpm”" in told(app)
        assert app.bench.library.revision == rev
        await keys(pilot, "slash ctrl+u enter")
        assert len(listed(app)) == PAGE
        await keys(pilot, "question_mark")
        await opens(pilot, HelpScreen)
        assert "Undo this change" in told(app, "#keys")


# What the store says about itself


@pytest.mark.slow
async def test_what_was_not_finished_is_said_once_with_its_command(tmp_path: Path) -> None:
    bench = open_bench(tmp_path, lambda: NOW.replace(hour=NOW.hour + 1))
    other = Library(bench.library.folder, lambda: NOW)
    with other.transaction("import:a", "import a.jsonl", group="import-abc", more=True) as tx:
        tx.put(Memory("m1", "half an import", NOW, NOW))
    bench.library.journal.refresh()
    app = app_over(bench)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert [text for text in messages(app) if "workbench undo --group import-abc" in text]
        count = len(messages(app))
        follow(app)
        await pilot.pause()
        assert len(messages(app)) == count


# A text being written


@pytest.mark.slow
@pytest.mark.parametrize("key", ["1", "2", "3"])
async def test_a_text_that_cannot_be_written_stays_open(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo(tmp_path) as (app, pilot):
        await keys(pilot, key, *(["j"] if key == "3" else []), "e")
        editor = app.screen
        assert isinstance(editor, RecordForm)
        editor.query_one(InertTextArea).text = "precious words"

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", full)
            await keys(pilot, "ctrl+s")
        assert app.screen is editor
        assert "cannot be written" in " ".join(screen_text(app).split())
        await keys(pilot, "ctrl+s")
        assert app.screen is not editor


@pytest.mark.slow
async def test_secrets_are_masked_until_z_shows_those_of_one_change(tmp_path: Path) -> None:
    _, key = secrets()["github"]
    async with demo(tmp_path, (140, 30)) as (app, pilot):
        bench = app.bench
        with bench.library.transaction("import:notes.jsonl", f"import {key}") as tx:
            tx.put(replace(bench.stream.get(ID), content=f"the key {key} opens it"))
        await keys(pilot, "h")
        assert key not in screen_text(app)
        assert "[secret: GitHub token]" in shown(app)
        assert "Secrets are masked. z shows them." in shown(app)
        await keys(pilot, "z")
        assert key in shown(app)
        await keys(pilot, "enter")
        assert isinstance(app.screen, OpenedRecord)
        assert key not in shown(app)
        await keys(pilot, "z")
        assert key in shown(app)
        await keys(pilot, "escape j k")
        assert isinstance(app.screen, HistoryDialog)
        await keys(pilot, "escape 6", *("tab",) * 7)
        await shows(pilot, "import [secret: ")
        assert key not in screen_text(app)
        assert "import [secret: " in screen_text(app)


async def test_a_vote_is_told_as_a_sentence_with_the_counts_of_then(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        before = app.bench.stream.get(ID).helpful_count
        await keys(pilot, "plus minus h")
        assert f"you voted harmful on {ID}: −0 → −1" in shown(app)
        await keys(pilot, "j")
        assert f"you voted helpful on {ID}: +{before} → +{before + 1}" in shown(app)
        assert "helpful votes" not in shown(app)
        await keys(pilot, "escape minus H")
        assert f"you took back a harmful vote on {ID}: −1 → −0" in shown(app)
        agent = by_agent(app)
        votes.cast(agent.context, agent.stream.get(ID), "harmful", reason="it is out of date")
        await keys(pilot, "escape H")
        assert f"claude voted harmful on {ID}: −0 → −1" in shown(app)
        assert "reason: it is out of date" in shown(app)


@pytest.mark.slow
async def test_undo_asks_once_where_the_change_was_not_made_in_sight(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await keys(pilot, "p plus 2 u")
        assert isinstance(app.screen, Confirm)
        assert "Take back “vote helpful" in screen_text(app)
        assert " in Stream, " in screen_text(app)
        await keys(pilot, "n")
        assert app.bench.stream.live_vote(ID) == "helpful"
        await keys(pilot, "u")
        await answered(pilot)
        assert (app.bench.stream.live_vote(ID), app.bench.stream.get(ID).pinned) == ("", True)
        await keys(pilot, "u")
        assert not app.bench.stream.get(ID).pinned
        await keys(pilot, "1 p u")
        assert not isinstance(app.screen, Confirm)
        assert not app.bench.stream.get(ID).pinned


@pytest.mark.parametrize(
    "opened",
    [
        PatternsDialog,
        PlansDialog,
        DocumentsDialog,
        lambda bench: BulletDuplicatesDialog(bench, next(iter(bench.library.books.all())).id),
    ],
)
async def test_undo_in_a_dialog_asks_about_what_was_done_behind_it(
    tmp_path: Path, opened: Callable[[Workbench], Dialog[None]]
) -> None:
    async with demo(tmp_path) as (app, pilot):
        await keys(pilot, "plus")
        dialog = opened(app.bench)
        app.push_screen(dialog)
        await until(pilot, lambda: dialog.is_current and dialog.is_mounted)
        app.bench.stream.pin([ID])
        await keys(pilot, "u")
        await until(pilot, lambda: not app.bench.stream.get(ID).pinned)
        assert app.screen is dialog
        await keys(pilot, "u")
        assert "Take back “vote helpful" in screen_text(app)
        await keys(pilot, "n")
        assert (app.bench.stream.live_vote(ID), app.screen) == ("helpful", dialog)
        other = open_workbench(app.bench.library.folder, profiles=Path("none"), clock=lambda: NOW)
        other.stream.pin([ID])
        other.close()
        follow(app)
        await keys(pilot, "u")
        assert "in another window" in screen_text(app)
        await keys(pilot, "n")
        assert app.bench.stream.get(ID).pinned


async def test_at_goes_to_the_last_change_by_a_time_or_a_revision(
    tmp_path: Path, tokyo: None
) -> None:
    bench = open_bench(tmp_path)
    for days in range(2 * PAGE, -1, -1):
        at = NOW - timedelta(days=days)
        with Library(bench.library.folder, lambda at=at: at).transaction(  # type: ignore[misc]
            "cli", f"add {days}"
        ) as tx:
            tx.put(Memory(f"m{days}", f"It is {days} days old", at, at))
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:

        async def goes(text: str) -> str:
            await keys(pilot, "at", *text)
            await keys(pilot, "enter")
            event = app.screen.query_one(LineView).current
            return event.label if event else ""

        await keys(pilot, "H")
        assert NOW.hour > 15, "in Tokyo it is tomorrow already"
        day = (NOW - timedelta(days=70)).date()
        assert await goes("3") == f"add {2 * PAGE - 2}"
        assert await goes("yesterday") == "add 1"
        assert await goes(str(day)) == "add 71"
        assert await goes("2020-01-01") == f"add {2 * PAGE}"
        assert "Nothing had changed by then" in screen_text(app)
        await keys(pilot, "at", *"soon", "enter")
        assert "“soon” is not a time. Write 36h, 7d" in screen_text(app)
        await keys(pilot, "escape")
        assert isinstance(app.screen, HistoryDialog)
