"""What keys may cost: only what is in sight is wrapped and drawn, and what takes long happens on
another thread.
"""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from tests.safety.hostile import MEGABYTE, hostile, prose
from tests.safety.samples import keys
from tests.services.conftest import ungated
from tests.tui.support import NOW, demo_app, open_bench
from tests.tui.waiting import until
from workbench.core.limits import DedupThresholds
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.retrieval.fulltext import fuzzy
from workbench.retrieval.fulltext.fuzzy import SPANNED, FuzzyLines
from workbench.services.duplicates.comparing import BULLETS, Judge
from workbench.services.health.history import Event, FieldEvent
from workbench.services.stream.memory_lines import MAX_SEARCHED, searched
from workbench.store import history
from workbench.tui.app.saving import Saving
from workbench.tui.stream.history_dialog import HistoryDialog, event_text
from workbench.tui.stream.memory_view import row

pytestmark = pytest.mark.usefixtures("every_paint")

ID = "mem-20260320-0000900"


def with_summary(folder: Path, summary: str) -> Any:
    bench = open_bench(folder)
    with ungated(bench), bench.library.transaction("setup", "set up") as tx:
        tx.put(Memory(ID, "What it says.", NOW, NOW, summary=summary))
    return bench


def test_of_a_transaction_of_many_lines_the_first_ones_are_shown(tmp_path: Path) -> None:
    lines = hostile("line ends", 9_900)
    fields = tuple(FieldEvent("memories", f"m{n}", "content", None, lines) for n in range(30))
    event = Event(1, "2026-03-20T12:00:00Z", "human", "fill", "edit", "", 0, fields)
    text = event_text(open_bench(tmp_path), event, (), keys=True, opens="z").plain
    assert text.count("\n") <= 20_000
    assert text.endswith("… and more")


def test_of_a_line_with_many_matches_only_what_has_room_is_marked() -> None:
    memory = Memory(ID, "a " * 200, NOW, NOW)
    spans = [(at, at + 1) for at in range(0, 400, 2)]
    cells = [
        cell for width in (40, 100) for cell in row(memory, width, NOW, unread=False, spans=spans)
    ]
    assert [len(cell.text.spans) for cell in cells if isinstance(cell.text, Content)] == [21, 51]


@pytest.mark.slow
async def test_the_history_is_read_away_from_the_keyboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
