"""The Stream by its keys, over a real store."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.bidi import drawn
from tests.demo import MEMORIES
from tests.tui.review_host import memory, put
from tests.tui.support import (
    NOW,
    answered,
    app_over,
    demo,
    demo_app,
    demo_bench,
    each_key,
    open_bench,
    screen_text,
    tells,
)
from tests.tui.waiting import until, until_drawn
from tests.tui.widgets.host import picture
from workbench.config.loading import load
from workbench.core.stream.confidence import Arranged, SavedView
from workbench.core.stream.memory import Memory
from workbench.core.text import LRM
from workbench.services.open import open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.stream.screen import StreamScreen, ruled_at
from workbench.tui.widgets.dialog import Confirm, SafeInput
from workbench.tui.widgets.header import TopBar


def stream(app: WorkbenchApp) -> StreamScreen:
    screen = app.screen
    assert isinstance(screen, StreamScreen)
    return screen


def current(app: WorkbenchApp) -> Memory:
    memory = stream(app).memory
    assert memory is not None
    return memory


SECRET = "AKIA" + "IOSFODNN7EXAMPL2"


async def keys(pilot: Pilot[Path | None], *pressed: str) -> None:
    for key in each_key(pressed):
        await pilot.press(key)
        await pilot.pause()


async def test_the_filter_narrows_as_one_types_and_esc_clears_it_in_place(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await keys(pilot, "slash", *"type:gotcha", "enter")
        rows = stream(app).memories
        assert rows
        assert {m.observation_type for m in rows} == {"gotcha"}
        await keys(pilot, "j")
        id = current(app).id
        await keys(pilot, "escape")
        assert current(app).id == id
        assert len(stream(app).memories) > 200
        await keys(pilot, "n")
        assert current(app).observation_type == "gotcha"
        assert current(app).id != id


@pytest.mark.slow
async def test_a_key_that_does_not_exist_is_searched_as_a_word_and_that_is_said(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path) as (app, pilot):
        await keys(pilot, "slash", *"importnce:7")
        assert "“importnce:” is searched as a word; importance: exists" in screen_text(app)
        assert "✗" not in screen_text(app)
        await keys(pilot, "home ctrl+k", *"importance:abc")
        assert "✗ “abc” cannot follow “importance:”. For example: importance:" in screen_text(app)
        assert stream(app).memories
        await keys(pilot, "home ctrl+k", *"importance:>8")
        assert stream(app).memories
        assert all(memory.importance_score > 8 for memory in stream(app).memories)
        assert "exists" not in screen_text(app)


@pytest.fixture
def three(tmp_path: Path) -> WorkbenchApp:
    """An app over three signals and, below them, one that is confirmed."""
    bench = open_bench(tmp_path)
    put(
        bench,
        *(memory(f"m{n}", f"Line {n}.", created_at=NOW - timedelta(hours=n)) for n in (1, 2, 3)),
    )
    put(
        bench,
        memory("known", "Known already.", status="confirmed", created_at=NOW - timedelta(hours=4)),
    )
    return app_over(bench)


@pytest.mark.parametrize(
    ("key", "said", "changed"),
    [
        ("plus", "Voted helpful on 2 memories.", lambda m: m.helpful_votes == 1),
        ("p", "Pinned 2 memories.", lambda m: m.pinned),
        ("a", "Confirmed 2 memories. u takes it back.", lambda m: m.status == "confirmed"),
    ],
)
async def test_a_key_is_for_all_marked_rows_and_one_undo_takes_it_back(
    three: WorkbenchApp, key: str, said: str, changed: Callable[[Memory], bool]
) -> None:
    async with three.run_test(size=(80, 24)) as pilot:
        await keys(pilot, "t t")
        assert "2 marked · the next key is for all" in screen_text(three)
        await keys(pilot, key)
        assert [changed(three.bench.stream.get(id)) for id in ("m1", "m2", "m3")] == [
            True,
            True,
            False,
        ]
        assert tells(three, said)
        assert stream(three).rows.mark_count == 0
        await keys(pilot, "u")
        assert not any(changed(three.bench.stream.get(id)) for id in ("m1", "m2", "m3"))


async def test_forgetting_marked_rows_asks_once_with_their_number(three: WorkbenchApp) -> None:
    async with three.run_test(size=(80, 24)) as pilot:
        await keys(pilot, "t t d")
        assert isinstance(three.screen, Confirm)
        assert "Archive 2 memories?" in screen_text(three)
        await keys(pilot, "n")
        assert stream(three).rows.mark_count == 2
        await keys(pilot, "d")
        await answered(pilot)
        assert [three.bench.stream.get(id).status for id in ("m1", "m2", "m3")] == [
            "archived",
            "archived",
            "signal",
        ]
        assert stream(three).rows.mark_count == 0


@pytest.mark.usefixtures("terminal")
async def test_all_marked_texts_are_copied_and_enter_and_h_stay_with_the_cursor(
    three: WorkbenchApp,
) -> None:
    async with three.run_test(size=(80, 24)) as pilot:
        await keys(pilot, "t t h")
        assert isinstance(three.screen, HistoryDialog)
        assert "m3" in screen_text(three)
        await keys(pilot, "escape enter")
        assert "Line 3." in screen_text(three)
        assert stream(three).rows.mark_count == 2
        await keys(pilot, "escape y")
        assert three.clipboard == "Line 1.\n\nLine 2."
        assert tells(three, "2 texts: Copied")
        assert stream(three).rows.mark_count == 0


async def test_a_confirms_one_signal_or_says_that_there_is_none(three: WorkbenchApp) -> None:
    async with three.run_test(size=(80, 24)) as pilot:
        await keys(pilot, "a")
        assert three.bench.stream.get("m1").status == "confirmed"
        assert tells(three, "Confirmed m1. u takes it back.")
        await keys(pilot, "a")
        assert tells(three, "Only a signal is confirmed here; m1: confirmed.")
        await keys(pilot, "u T a")
        assert tells(three, "Confirmed 3 memories. u takes it back. 1 was no signal.")


async def test_since_you_last_looked(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    rev = bench.library.journal.rev
    agent = open_workbench(
        bench.library.folder, profiles=tmp_path, actor="agent:test", clock=lambda: NOW
    )
    with agent.library.transaction("agent:test", "ingest") as tx:
        tx.put(Memory(tx.new_memory_id(NOW), "Arrived meanwhile", NOW, NOW))
    bench.library.journal.refresh()
    app = app_over(bench, seen=rev)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert "Since your last visit: 1 new" in screen_text(app)
        await keys(pilot, "escape")
        assert "Since your last visit" not in screen_text(app)


async def test_narrow_screens_open_the_detail_which_scrolls_like_a_list(tmp_path: Path) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await pilot.pause()
        side = app.screen.query_one("#side")
        assert not side.display
        id = current(app).id
        app.bench.stream.edit(id, "\n".join(f"line {n}" for n in range(60)))
        await keys(pilot, "enter plus")
        assert app.bench.stream.live_vote(id) == "helpful"
        places = {}
        for key in ("j", "ctrl+d", "ctrl+u", "G", "g"):
            await keys(pilot, key)
            places[key] = round(side.scroll_offset.y)
        assert places["j"] == places["ctrl+u"] == 1
        assert places["G"] > 40 > places["ctrl+d"] > 5
        assert places["g"] == 0
        await keys(pilot, "escape")
        assert app.screen.query_one("#list").display


@pytest.mark.slow
async def test_a_click_on_a_tab_goes_to_its_area(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await pilot.pause()
        bar = app.screen.query_one(TopBar)
        column = bar.render().plain.index("3 Playbook") + 2
        await pilot.click(TopBar, offset=(column, 0))
        await pilot.pause()
        assert app.current_mode == "playbook"


async def ranked(pilot: Pilot[Path | None], app: WorkbenchApp, words: str) -> None:
    """Type words into the filter and wait for what is near by meaning."""
    await app.workers.wait_for_complete()
    stream(app).query_one("#filter", SafeInput).value = words
    await until_drawn(pilot, lambda: ruled_at(stream(app).rows.rows) is not None)
    stream(app).rows.focus()


def line_at(app: WorkbenchApp) -> int:
    at = ruled_at(stream(app).rows.rows)
    assert at is not None
    return at


@pytest.mark.slow
async def test_what_arrives_by_meaning_moves_neither_cursor_nor_the_rows_above(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path) as (app, pilot):
        await app.workers.wait_for_complete()
        screen = stream(app)
        screen.query_one("#filter", SafeInput).value = "refresh"
        await pilot.pause()
        screen.rows.focus()
        literal = list(app.bench.stream.view("refresh").memories)
        await keys(pilot, "j j")
        await until(pilot, lambda: ruled_at(screen.rows.rows) is not None)
        assert screen.memories[: len(literal)] == literal
        assert (screen.rows.cursor, line_at(app)) == (2, len(literal))


@pytest.mark.slow
async def test_one_key_goes_to_what_is_near_and_back_and_it_is_marked_last(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await ranked(pilot, app, "refresh")
        at, rows = line_at(app), stream(app).rows
        await keys(pilot, "right_square_bracket")
        assert rows.cursor == at + 1
        await keys(pilot, "right_square_bracket")
        assert rows.cursor == 0
        await keys(pilot, "T")
        assert rows.mark_count == at
        await keys(pilot, "T")
        assert rows.mark_count == len(stream(app).memories)
        await keys(pilot, "T")
        assert rows.mark_count == 0


@pytest.mark.slow
async def test_where_nothing_is_relevant_that_is_said(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await app.workers.wait_for_complete()
        stream(app).query_one("#filter", SafeInput).value = "recipe for lasagne"
        await until(
            pilot, lambda: "none is similar in meaning" in " ".join(screen_text(app).split())
        )
        assert not stream(app).rows.rows


# Arranging


def listed(app: WorkbenchApp) -> list[Memory]:
    return stream(app).memories


async def choose(pilot: Pilot[Path | None], key: str, words: str) -> None:
    """Open a choice with a key, narrow it to one row, and take that."""
    await keys(pilot, key, *words, "enter")


@pytest.mark.slow
async def test_the_list_is_sorted_and_the_same_order_again_turns_it_round(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        found = listed(app)
        await choose(pilot, "s", "votes")
        net = [m.helpful_count - m.harmful_count for m in listed(app)]
        assert net == sorted(net, reverse=True)
        assert {m.id for m in listed(app)} == {m.id for m in found}
        assert f"{MEMORIES} memories · by votes" in screen_text(app)
        assert stream(app).rows.cursor == 0
        await keys(pilot, "s enter")
        assert [m.helpful_count - m.harmful_count for m in listed(app)] == sorted(net)
        assert "by votes, most harmful first" in screen_text(app)
        await choose(pilot, "s", "default")
        assert listed(app) == found
        assert "by votes" not in screen_text(app)


@pytest.mark.slow
async def test_dates_in_full_come_by_themselves_where_others_say_nothing(
    tmp_path: Path,
) -> None:
    old = open_bench(tmp_path / "old")
    with old.library.transaction("human", "old ones") as tx:
        for day in range(1, 9):
            at = NOW.replace(year=2022, day=day)
            tx.put(Memory(id=f"m{day}", content=f"day {day}", created_at=at, last_accessed_at=at))
    app = app_over(old)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "2022-03-08" in screen_text(app)
        await keys(pilot, "W")
        assert "4y" in screen_text(app)


async def test_a_view_is_saved_with_its_order_and_dates_opened_and_removed(
    tmp_path: Path,
) -> None:
    config = tmp_path / "config.toml"
    app = demo_app(tmp_path)
    app.options = replace(app.options, config=config)
    async with app.run_test(size=(120, 40)) as pilot:
        await keys(pilot, "slash", *"type:error", "enter W")
        await choose(pilot, "s", "importance")
        shown = listed(app)
        await choose(pilot, "f", "save")
        await keys(pilot, "enter")
        assert "A view needs a name." in screen_text(app)
        await keys(pilot, *"CI errors", "enter")
        view = SavedView("CI errors", "type:error", Arranged("importance", "absolute"))
        assert load(config).settings.views == (view,)
        await choose(pilot, "f", "everything")
        assert len(listed(app)) == len(app.bench.stream.view("").memories) > len(shown)
        await choose(pilot, "f", "ci")
        assert listed(app) == shown
        assert "by importance" in screen_text(app)
        await choose(pilot, "f", "remove")
        await keys(pilot, "enter")
        await answered(pilot)
        assert load(config).settings.views == ()


async def test_a_saved_view_with_a_broken_filter_opens_with_the_reason(tmp_path: Path) -> None:
    bench = demo_bench(tmp_path)
    settings = bench.context.settings._replace(views=(SavedView("broken", "since:never"),))
    object.__setattr__(bench.context, "settings", settings)
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await choose(pilot, "f", "broken")
        assert "“never” after “since:” is not a time." in screen_text(app)
        assert stream(app).query_one("#filter", SafeInput).has_focus
        await keys(pilot, *["backspace"] * len("never"), *"7d", "enter")
        assert "✗" not in screen_text(app)


@pytest.mark.slow
async def test_a_view_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    """The demo has no settings; a name or filter with a secret is kept nowhere."""
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await choose(pilot, "f", "save")
        await keys(pilot, *"all", "enter")
        assert tells(app, "The demo keeps no settings, so it is gone when you leave.")
        await choose(pilot, "f", "save")
        await keys(pilot, *SECRET, "enter")
        assert "The name holds a secret, which a config file is no place for." in screen_text(app)
        await keys(pilot, "escape")
        stream(app).query_one("#filter", SafeInput).value = SECRET
        await pilot.pause()
        await choose(pilot, "f", "save")
        assert tells(app, "The filter holds a secret, so it is not kept. Nothing was saved.")


def shows(app: WorkbenchApp, text: str) -> bool:
    return current(app).content == text


async def test_right_to_left_text_leaves_list_and_detail_in_their_columns(tmp_path: Path) -> None:
    """In a terminal that orders lines itself the frame between them and the ages before the texts
    stay.
    """
    texts = (
        "شغل اختبارات الوحدة قبل كل دمج",
        "יש להריץ את הבדיקות לפני המיזוג (גרסה 3.2)",
        "run the tests first",
    )
    bench = open_bench(tmp_path)
    put(bench, *(memory(f"mem-{n}", text, tags=("اختبار",)) for n, text in enumerate(texts)))
    app = app_over(bench)
    async with app.run_test(size=(160, 24)) as pilot:
        for text in reversed(texts):
            await until_drawn(pilot, partial(shows, app, text))
            lines = [line for line in picture(app) if "│" in line]
            (frame,) = {cell_len(line[: line.index("│")]) for line in lines}
            for line in lines:
                seen = drawn(line)
                assert seen.index("│") == frame
                assert sorted(seen[:frame]) == sorted(line.replace(LRM, "")[:frame])
            await pilot.press("down")
    bench.close()
