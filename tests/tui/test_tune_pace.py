"""What keeps Tune quick: one paint for a step, no layout, and nothing slow before the hand rests."""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from tests.tui.support import screen_text, shows
from tests.tui.tune_host import slider, tuning
from tests.tui.waiting import PATIENCE
from workbench.services.tuning.evaluation import ScoredSet
from workbench.tui.tuning.ranking import OLD
from workbench.tui.widgets.figures import whole_words

pytestmark = pytest.mark.usefixtures("every_paint")


@pytest.mark.slow
async def test_the_old_verdict_is_marked_until_the_new_one_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, against = threading.Event(), ScoredSet.against

    def not_too_soon(self: ScoredSet, *asked: Any) -> object:
        looked.wait(PATIENCE)
        return against(self, *asked)

    async with tuning(tmp_path) as (app, pilot):
        await shows(pilot, "nDCG@10")
        monkeypatch.setattr(ScoredSet, "against", not_too_soon)
        slider(app, "recency").action_more()
        await shows(pilot, f"{OLD}nDCG@10")
        looked.set()
        await shows(pilot, "(saved")
        assert f"{OLD}nDCG@10" not in screen_text(app)


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
