"""What keys may cost: only what is in sight is wrapped and drawn, and what takes long happens on another thread."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from tests.safety.hostile import MEGABYTE, hostile, prose
from tests.safety.samples import keys
from tests.services.conftest import ungated
from tests.tui.support import NOW, app_over, demo_app, open_bench
from tests.tui.waiting import until
from workbench.core.duplicates.thresholds import DedupThresholds
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.retrieval.fulltext import fuzzy
from workbench.retrieval.fulltext.fuzzy import SPANNED, FuzzyLines
from workbench.services.context import Touched
from workbench.services.duplicates.bullet_groups import BULLETS, Judge
from workbench.services.health.history import Event, FieldEvent
from workbench.services.stream.memory_lines import MAX_SEARCHED, searched
from workbench.store import history
from workbench.tui.app.saving import Saving
from workbench.tui.stream.history_dialog import HistoryDialog, event_text
from workbench.tui.stream.memory_view import row
from workbench.tui.stream.rows import Row, key_of
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.content import MAX_LINES, body, highlight, word_diff
from workbench.tui.widgets.lists.long_text import LongText
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

pytestmark = pytest.mark.usefixtures("every_paint")

ID = "mem-20260320-0000900"


def with_summary(folder: Path, summary: str) -> Any:
    bench = open_bench(folder)
    with ungated(bench), bench.library.transaction("setup", "set up") as tx:
        tx.put(Memory(ID, "What it says.", NOW, NOW, summary=summary))
    return bench


def test_of_a_text_of_many_lines_the_first_ones_are_shown() -> None:
    text = hostile("line ends", 9_900)
    for shown in (body(text), highlight(text, [(0, 2)])):
        assert shown.plain.count("\n") <= MAX_LINES + 1
        assert "more characters" in shown.plain
    assert body("a\n" * 500).plain == "a\n" * 500


@pytest.mark.slow
async def test_a_long_title_is_wrapped_only_as_far_as_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped: list[int] = []
    wrap = Content._wrap_and_format

    def counted(content: Content, *arguments: Any, **options: Any) -> Any:
        wrapped.append(len(content.plain))
        return wrap(content, *arguments, **options)

    monkeypatch.setattr(Content, "_wrap_and_format", counted)
    bench = with_summary(tmp_path, prose(MEGABYTE))
    async with app_over(bench).run_test(size=(140, 45)) as pilot:
        app = pilot.app
        await until(pilot, lambda: "more characters" in str(app.screen.query_one("#detail", LongText).content))
        await pilot.press("j", "k")
        await pilot.pause()
    assert max(wrapped) < 20_000
    bench.close()


async def test_a_long_text_is_drawn_where_it_is_in_sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: set[int] = set()
    render = LongText.render_line

    def counted(text: LongText, y: int) -> Any:
        drawn.add(y)
        return render(text, y)

    monkeypatch.setattr(LongText, "render_line", counted)
    bench = with_summary(tmp_path, prose(9_000))
    async with app_over(bench).run_test(size=(140, 30)) as pilot:
        await until(pilot, lambda: bool(drawn))
        await pilot.pause()
        shown = pilot.app.screen.query_one("#detail", LongText)
        assert shown.size.height > 150
        assert len(drawn) <= 30
    bench.close()


async def test_the_same_text_again_is_not_wrapped(tmp_path: Path) -> None:
    async with demo_app(tmp_path).run_test(size=(140, 30)) as pilot:
        shown = pilot.app.screen.query_one("#detail", LongText)
        shown.update(Content("a b").stylize("bold", 0, 1))
        lines = shown._wrapped(10)
        shown.update(Content("a b").stylize("bold", 0, 1))
        assert shown._wrapped(10) is lines
        shown.update(Content("a b"))
        assert shown._wrapped(10) is not lines
        assert not shown._wrapped(10)[0].spans


@pytest.mark.slow
@pytest.mark.parametrize("words", ["", "the"])
async def test_a_text_that_was_looked_at_is_drawn_anew_in_its_row_only(tmp_path: Path, words: str) -> None:
    async with (app := demo_app(tmp_path)).run_test(size=(140, 30)) as pilot:
        await app.workers.wait_for_complete()
        screen = app.screen
        assert isinstance(screen, StreamScreen)
        screen.query_one("#filter", SafeInput).value = words
        await until(pilot, lambda: not words or screen._nearby is not None)
        await pilot.pause()
        rows, drawn, second = screen.rows.rows, list[str](), screen.memories[1].id
        draw = screen.rows._draw

        def counted(found: Row, width: int) -> Sequence[Cell] | Content:
            drawn.append(key_of(found))
            return draw(found, width)

        screen.rows._draw = counted
        screen.show_changes(Touched(1, "human", "", "edit", frozenset({("memories", second)})))
        await pilot.pause()
        assert screen.rows.rows is rows
        assert set(drawn) <= {second}


def test_of_a_transaction_of_many_lines_the_first_ones_are_shown() -> None:
    lines = hostile("line ends", 9_900)
    assert word_diff("", lines).plain.count("\n") <= MAX_LINES + 1
    assert "not compared" in word_diff("", lines).plain
    fields = tuple(FieldEvent("memories", f"m{n}", "content", None, lines) for n in range(30))
    text = event_text(Event(1, "2026-03-20T12:00:00Z", "human", "fill", "edit", "", 0, fields), keys=True).plain
    assert text.count("\n") <= 2 * MAX_LINES + 3
    assert text.endswith("… and more")


async def test_a_text_is_wrapped_once_for_each_width(tmp_path: Path) -> None:
    async with demo_app(tmp_path).run_test(size=(140, 30)) as pilot:
        shown = pilot.app.screen.query_one("#detail", LongText)
        shown.update(Content("a b"))
        lines = shown._wrapped(10)
        assert shown._wrapped(9) is not lines
        assert shown._wrapped(10) is lines


def test_of_a_line_with_many_matches_only_what_has_room_is_marked() -> None:
    memory = Memory(ID, "a " * 200, NOW, NOW)
    spans = [(at, at + 1) for at in range(0, 400, 2)]
    cells = [cell for width in (40, 100) for cell in row(memory, width, NOW, unread=False, spans=spans)]
    assert [len(cell.text.spans) for cell in cells if isinstance(cell.text, Content)] == [21, 51]


@pytest.mark.slow
async def test_the_history_is_read_away_from_the_keyboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: set[int] = set()
    doc_ids = history.doc_ids

    def noted(*arguments: Any) -> Any:
        readers.add(threading.get_ident())
        return doc_ids(*arguments)

    monkeypatch.setattr(history, "doc_ids", noted)
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        await pilot.press("h")
        await until(pilot, lambda: isinstance(app.screen, HistoryDialog) and not app.screen.reading)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, HistoryDialog))
    assert readers
    assert threading.get_ident() not in readers


@pytest.mark.slow
def test_free_words_are_looked_for_in_a_bounded_part_of_a_memory() -> None:
    memory = Memory(ID, "What it says.", NOW, NOW, summary=prose(MEGABYTE))
    assert len(searched(memory)) < 2 * MAX_SEARCHED
    (match,) = FuzzyLines(["a " * MEGABYTE]).rank("a")
    assert all(end <= SPANNED for _, end in match.spans)


def test_two_long_bullets_are_compared_by_their_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    similarity = fuzzy.order_similarity

    def noted(one: str, other: str) -> float:
        compared.append(max(len(one), len(other)))
        return similarity(one, other)

    monkeypatch.setattr(fuzzy, "order_similarity", noted)
    text = prose(50_000)
    pair = Bullet("one", "misc", text), Bullet("other", "misc", f"{text}!")
    judge = Judge(BULLETS, DedupThresholds())
    assert judge.relation(*pair) in ("near", "apart", "opposed")
    judge.verdict(*pair)
    assert max(compared) <= MAX_CONTENT


def test_what_is_masked_is_in_sight_before_it_is_saved(tmp_path: Path) -> None:
    rule, key = keys()["aws"]
    bench = open_bench(tmp_path)
    with bench.library.transaction("setup", "set up") as tx:
        tx.put(Memory(ID, "What it says.", NOW, NOW))
    save = Saving(bench, ID, "What it says.", lambda _text, _base: None, str)
    said = save(f"{'A long line of ordinary words before it. ' * 9}Deploy with {key} today.")
    assert said is not None
    assert f"[secret: {rule}]" in said
    assert key not in said
    bench.close()
