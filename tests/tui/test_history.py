"""The History dialog by its keys: of one record, and of everybody."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.safety.samples import keys as secrets
from tests.tui.support import NOW, app_over, demo_app, demo_bench, open_bench, screen_text
from tests.tui.waiting import until, until_drawn
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench
from workbench.services.stream import votes
from workbench.services.stream.observation import Observation
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
    for key in pressed:
        await pilot.press(key)
        await pilot.pause()
        await until(
            pilot,
            lambda: not (isinstance(pilot.app.screen, HistoryDialog) and pilot.app.screen.reading),
        )
        await pilot.pause()


async def agree(app: WorkbenchApp, pilot: Pilot[Path | None]) -> None:
    question = app.screen
    assert isinstance(question, Confirm)
    question._guard = 0.0
    await keys(pilot, "y")


def by_agent(app: WorkbenchApp) -> Workbench:
    return open_workbench(
        app.bench.library.folder, profiles=Path("none"), actor="agent:claude", clock=lambda: NOW
    )


def shown(app: WorkbenchApp) -> str:
    return app.screen.query_one(ReadingPane).plain


def told(app: WorkbenchApp, where: str = ".history--said") -> str:
    return str(app.screen.query_one(where, Static).render())


def listed(app: WorkbenchApp) -> list[str]:
    assert isinstance(app.screen, HistoryDialog)
    return [event.label for event in app.screen.query_one(LineView).rows]


@pytest.mark.slow
async def test_enter_shows_the_record_as_it_was(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        app.bench.stream.edit(ID, "what it says today")
        app.bench.stream.edit(ID, "what it will say tomorrow")
        await keys(pilot, "h", "j", "enter")
        assert isinstance(app.screen, OpenedRecord)
        assert shown(app).startswith("what it says today\n")
        await keys(pilot, "escape", "escape")
        assert not isinstance(app.screen, HistoryDialog)


@pytest.mark.slow
async def test_u_takes_back_what_an_agent_did_after_a_yes(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        agent = by_agent(app)
        votes.cast(agent.context, agent.stream.get(ID), "harmful")
        await keys(pilot, "p", "h", "j", "u")
        assert "vote harmful" in screen_text(app)
        await keys(pilot, "n")
        assert app.bench.stream.get(ID).harmful_votes == 1
        await keys(pilot, "u")
        await agree(app, pilot)
        memory = app.bench.stream.get(ID)
        assert (memory.harmful_votes, memory.pinned) == (0, True)
        assert listed(app)[0] == f"undo: vote harmful on {ID}"
        assert "Taken back" in screen_text(app)


@pytest.mark.slow
async def test_what_stands_in_the_way_is_said_with_both_values(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        app.bench.stream.edit(ID, "mine")
        by_agent(app).stream.edit(ID, "theirs")
        await keys(pilot, "h", "j", "u")
        await agree(app, pilot)
        assert "(now 'theirs', it would become" in told(app)
        assert app.bench.stream.get(ID).content == "theirs"


async def test_the_history_of_everybody_lists_agents_and_asks_which_record(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        by_agent(app).stream.pin([ID, "mem-20260206-0000001"], True)
        await keys(pilot, "2", "H")
        assert listed(app)[0] == "pin 2 memories"
        assert "agent:claude" in screen_text(app)
        await keys(pilot, "enter")
        assert isinstance(app.screen, Choose)
        await keys(pilot, "enter")
        assert isinstance(app.screen, OpenedRecord)


@pytest.mark.slow
async def test_a_vote_opens_what_it_was_given_to(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        app.bench.stream.vote([ID], "helpful")
        await keys(pilot, "2", "H", "enter")
        assert isinstance(app.screen, OpenedRecord)
        assert "memories:" not in screen_text(app)


@pytest.mark.slow
async def test_older_transactions_are_read_as_the_cursor_comes_near(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    for number in range(PAGE + 20):
        with bench.library.transaction("agent:x", f"step {number}") as tx:
            tx.put(Memory(f"m{number}", f"note {number}", NOW, NOW))
    app = app_over(bench)
    async with app.run_test(size=(100, 30)) as pilot:
        await keys(pilot, "H")
        assert len(listed(app)) == PAGE
        await keys(pilot, "G")
        assert len(listed(app)) == PAGE + 20
        assert listed(app)[-1] == "step 0"


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
        await keys(pilot, "H", "slash", *"pnpm", "enter")
        assert listed(app) == ["step 60", "step 3"]
        assert "Only changes with “pnpm”" in told(app)
        assert app.bench.library.revision == rev
        await keys(pilot, "slash", "ctrl+u", "enter")
        assert len(listed(app)) == PAGE
        await keys(pilot, "question_mark")
        await until_drawn(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert "Take back this change, after y" in told(app, "#keys")


# What the store says about itself


def said(app: WorkbenchApp) -> list[str]:
    return [notification.message for notification in app._notifications]


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
        assert [text for text in said(app) if "workbench undo --group import-abc" in text]
        count = len(said(app))
        app._follow()
        await pilot.pause()
        assert len(said(app)) == count


@pytest.mark.slow
async def test_an_import_that_still_runs_is_not_called_unfinished(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        other = Library(app.bench.library.folder, lambda: NOW)
        with other.transaction("import:a", "import a.jsonl", group="import-abc", more=True) as tx:
            tx.put(Memory("m1", "half an import", NOW, NOW))
        app._follow()
        await pilot.pause()
        assert said(app) == []


@pytest.mark.slow
async def test_damage_is_said_at_the_start_with_its_command(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    for number in range(3):
        with bench.library.transaction("cli", f"note {number}") as tx:
            tx.put(Memory(f"m{number}", f"note {number}", NOW, NOW))
    journal = bench.library.folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"note 1", b"n0te 1")
    journal.write_bytes(b"".join(lines))
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert [
            text
            for text in said(app)
            if "workbench doctor --recover" in text and "journal.jsonl:3" in text
        ]


@pytest.mark.slow
async def test_an_outside_edit_is_said_once_not_twice(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    with bench.library.transaction("cli", "note") as tx:
        tx.put(Memory("m1", "the first wording", NOW, NOW))
    bench.close()
    file = bench.library.folder / "memory.json"
    file.write_text(file.read_text().replace("first", "other"))
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        (text,) = said(app)
        assert "1 records" in text
        assert "workbench doctor" in text


# A text being written


@pytest.mark.slow
@pytest.mark.parametrize("key", ["1", "2", "3"])
async def test_a_half_typed_edit_survives_what_others_do(tmp_path: Path, key: str) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await keys(pilot, key, *(["j"] if key == "3" else []), "e")
        editor = app.screen
        assert isinstance(editor, RecordForm)
        editor.query_one(InertTextArea).text = "half a sen"
        other = Library(app.bench.library.folder, lambda: NOW)
        with other.transaction("agent:test", "ingest") as tx:
            tx.put(Memory(tx.new_memory_id(NOW), "An agent wrote this just now", NOW, NOW))
        app._follow()
        await pilot.pause()
        assert app.screen is editor
        assert editor.query_one(InertTextArea).text == "half a sen"


@pytest.mark.slow
@pytest.mark.parametrize("key", ["1", "2", "3"])
async def test_a_text_that_cannot_be_written_stays_open(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
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
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 30)) as pilot:
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
        await keys(pilot, "escape", "j", "k")
        assert isinstance(app.screen, HistoryDialog)
        await keys(pilot, "escape", "6")
        await until(pilot, lambda: "import [secret: " in screen_text(app))
        assert key not in screen_text(app)
        assert "import [secret: " in screen_text(app)


@pytest.mark.slow
async def test_on_a_small_screen_all_of_it_is_in_sight_and_no_part_of_a_secret_in_a_name(
    tmp_path: Path,
) -> None:
    bench, (_, key) = open_bench(tmp_path), secrets()["github"]
    bench.library.journal.gate = None
    for actor in (f"import:{key}.txt", *(f"agent:{n}" for n in range(12))):
        with bench.library.transaction(actor, f"add by {actor}") as tx:
            tx.put(Memory(f"m-{actor[-6:]}", f"line\n{actor}\n" * 20, NOW, NOW))
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await keys(pilot, "H", "G")
        assert isinstance(app.screen, HistoryDialog)
        await until(pilot, lambda: "m-" in shown(app))
        text = screen_text(app)
        assert "esc close" in text
        assert "take back" in text
        assert key[:6] not in text
        assert "masked-" in text


async def test_a_vote_is_told_as_a_sentence_with_the_counts_of_then(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        before = app.bench.stream.get(ID).helpful_count
        await keys(pilot, "plus", "minus", "h")
        assert f"you voted harmful on {ID}: −0 → −1" in shown(app)
        await keys(pilot, "j")
        assert f"you voted helpful on {ID}: +{before} → +{before + 1}" in shown(app)
        assert "helpful votes" not in shown(app)
        await keys(pilot, "escape", "minus", "H")
        assert f"you took back a harmful vote on {ID}: −1 → −0" in shown(app)
        agent = by_agent(app)
        votes.cast(agent.context, agent.stream.get(ID), "harmful", reason="it is out of date")
        await keys(pilot, "escape", "H")
        assert f"claude voted harmful on {ID}: −0 → −1" in shown(app)
        assert "reason: it is out of date" in shown(app)


async def test_a_vote_on_what_is_gone_is_a_sentence_too(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    bench = app.bench
    made = bench.ingest.add(Observation("the staging cluster is rebuilt on Mondays")).memory.id
    votes.cast(bench.context, bench.stream.get(made), "harmful", reason="it is Tuesdays")
    bench.history.undo()
    bench.history.undo()
    async with app.run_test(size=(140, 45)) as pilot:
        await keys(pilot, "H", "j")
        assert f"you took back a harmful vote on {made}" in shown(app)
        assert "reason: it is Tuesdays → –" in shown(app)
        assert "memories:" not in shown(app)
        await keys(pilot, "j")
        assert f"you voted harmful on {made}" in shown(app)


@pytest.mark.slow
async def test_fields_have_names_and_texts_are_compared_by_words(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        app.bench.stream.edit(ID, "the old text")
        app.bench.stream.edit(ID, "the new text")
        await keys(pilot, "H")
        assert "content: the [-old-]{+new+} text" in shown(app)
        app.bench.ingest.add(Observation("something was seen"))
        await keys(pilot, "escape", "H")
        assert "accumulated" not in shown(app)
        assert "made: 2026-03-20" in shown(app)
        assert "helpful created" in shown(app)
        assert "version" not in shown(app)


@pytest.mark.slow
async def test_undo_asks_once_where_the_change_was_not_made_in_sight(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await keys(pilot, "p", "plus", "2", "u")
        assert isinstance(app.screen, Confirm)
        assert "Take back “vote helpful" in screen_text(app)
        assert "It was done in Stream, " in screen_text(app)
        await keys(pilot, "n")
        assert app.bench.stream.live_vote(ID) == "helpful"
        await keys(pilot, "u")
        await agree(app, pilot)
        assert (app.bench.stream.live_vote(ID), app.bench.stream.get(ID).pinned) == ("", True)
        await keys(pilot, "u")
        assert not app.bench.stream.get(ID).pinned
        await keys(pilot, "1", "p", "u")
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
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
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
        app._follow()
        await keys(pilot, "u")
        assert "in another window" in screen_text(app)
        await keys(pilot, "n")
        assert app.bench.stream.get(ID).pinned


async def test_undo_asks_about_what_was_done_in_another_window_or_before(tmp_path: Path) -> None:
    bench = demo_bench(tmp_path)
    bench.stream.pin([ID])
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        await keys(pilot, "u")
        assert "in another window, or before this one was opened" in screen_text(app)
        await agree(app, pilot)
        assert not app.bench.stream.get(ID).pinned
        other = open_workbench(bench.library.folder, profiles=Path("none"), clock=lambda: NOW)
        other.stream.pin([ID])
        app._follow()
        await keys(pilot, "2", "1", "u")
        assert isinstance(app.screen, Confirm)
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
        assert await goes("36h") == "add 2"
        assert await goes("yesterday") == "add 1"
        assert await goes(str(day)) == "add 71"
        assert await goes("2020-01-01") == f"add {2 * PAGE}"
        assert "Nothing was changed by then" in screen_text(app)
        await keys(pilot, "at", *"soon", "enter")
        assert "“soon” is not a time. Write 36h, 7d" in screen_text(app)
        await keys(pilot, "escape")
        assert isinstance(app.screen, HistoryDialog)
