"""What keeps Tune quick: one paint for a step, no layout, and nothing slow before the hand rests."""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from tests.tui.support import demo_app, screen_text
from tests.tui.tune_host import WIDE, opened, settled, slider, tune
from tests.tui.waiting import PATIENCE, until
from workbench.services.tuning.evaluation import ScoredSet
from workbench.services.tuning.session import TuningSession
from workbench.tui.tuning.ranking import OLD, joined
from workbench.tui.tuning.sliders import hints_of
from workbench.tui.widgets.figures import whole_words

pytestmark = pytest.mark.usefixtures("every_paint")


@pytest.mark.slow
async def test_a_step_is_ranked_in_the_turn_of_its_key(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        before = tune(app).session.ranking
        slider(app, "recency").action_fine_more()
        # No turn of the event loop lies between, so that slider and ranking are painted together.
        assert tune(app).session.ranking is not before
        assert tune(app).session.profile.recency == pytest.approx(0.06)


@pytest.mark.slow
async def test_while_steps_come_fast_nothing_slow_is_worked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked: list[float] = []

    def noted(session: TuningSession, *args: Any) -> object:
        worked.append(session.profile.recency)
        return hints_of(session, *args)

    monkeypatch.setattr("workbench.tui.tuning.screen.hints_of", noted)
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await settled(pilot)
        worked.clear()
        target = slider(app, "recency")
        for _ in range(10):
            target.action_more()
        assert tune(app).resting
        await settled(pilot)
        assert worked == [pytest.approx(0.55)]


@pytest.mark.slow
async def test_the_old_verdict_is_marked_until_the_new_one_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, against = threading.Event(), ScoredSet.against

    def not_too_soon(self: ScoredSet, *asked: Any) -> object:
        looked.wait(PATIENCE)
        return against(self, *asked)

    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await until(pilot, lambda: "nDCG@10" in screen_text(app))
        monkeypatch.setattr(ScoredSet, "against", not_too_soon)
        slider(app, "recency").action_more()
        await until(pilot, lambda: f"{OLD}nDCG@10" in screen_text(app))
        looked.set()
        await until(pilot, lambda: "(saved" in screen_text(app))
        assert f"{OLD}nDCG@10" not in screen_text(app)


def test_pieces_that_there_is_no_room_for_go_whole() -> None:
    pieces = [("best 10 of 20", ""), ("frozen at that moment", ""), ("odd", "")]
    assert joined(pieces, 43).plain == "best 10 of 20 · frozen at that moment · odd"
    assert joined(pieces, 42).plain == "best 10 of 20 · frozen at that moment"
    assert joined(pieces, 20).plain == "best 10 of 20 · odd"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, "a verdict needs words"),
        (21, "a verdict needs words"),
        (20, "a verdict needs …"),
        (4, "a …"),
        (2, ""),
    ],
)
def test_a_sentence_is_cut_after_a_word(width: int, shown: str) -> None:
    found = whole_words(Content("a verdict needs words"), width)
    assert found.plain == shown
    assert found.cell_length <= width
