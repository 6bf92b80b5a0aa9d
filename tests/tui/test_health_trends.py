"""Trends in Health: plots that need no colour, the numbers beside them, and what is decided shown
at once.
"""

from pathlib import Path

import pytest

from tests.tui.health_host import beside, filled, go, keys, made, opened, rows
from tests.tui.support import app_over, screen_text
from workbench.tui.widgets.content import clipped


@pytest.mark.slow
async def test_what_is_decided_shows_in_plot_and_numbers(tmp_path: Path) -> None:
    ids = ("a", "b", "c", "d")
    app = app_over(
        filled(tmp_path, *(made(id, f"what {id} says", 3, status="candidate") for id in ids))
    )
    async with opened(app, (80, 24)) as pilot:
        go(app, "trends", "decisions")
        assert "decisions" in screen_text(app)
        assert "approved" not in screen_text(app)
        app.bench.review.approve(["a", "b", "c"])
        app.bench.review.reject(["d"])
        await keys(pilot, "enter")
        assert "Decisions a day, 75% approved" in beside(app)
        assert beside(app).count("█") > 2
        await keys(pilot, "escape u")
        assert "Decisions a day, 100% approved" in beside(app)


async def test_each_row_has_its_numbers(tmp_path: Path) -> None:
    app = app_over(filled(tmp_path))
    async with opened(app) as pilot:
        app.bench.stream.vote(["old", "seen"], "helpful")
        await keys(pilot)
        assert [row.name for row in rows(app, "trends") if row.item] == [
            "made", "types", "categories", "decisions", "votes", "hits", "statuses", "confidences", "sources",
        ]  # fmt: skip
        for name, said in (
            ("made", "Memories a day: 9 in all"), ("types", f"{clipped('general', 20)} ▓"), ("categories", "(none)"),
            ("votes", "helpful: 2"), ("statuses", "signal"), ("confidences", "0 to 5"), ("sources", "(none)"),
        ):  # fmt: skip
            go(app, "trends", name)
            await pilot.pause()
            assert said in beside(app)
