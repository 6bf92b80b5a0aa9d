"""What Tune shows of the floor: lines over the rows, the figures in the explanation, and why there
is none.
"""

import re
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import app_over, demo_bench, screen_text
from tests.tui.tune_host import WIDE, keys, opened, row, settled, tune, tuning, why
from tests.tui.waiting import until
from workbench.config.loading import Settings
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.ranking import Heading, Row

NOTHING, SOMETHING = "recipe for lasagne", "who may write to customers during an outage"


async def asked(pilot: Pilot[Path | None], app: WorkbenchApp, query: str) -> None:
    await keys(pilot, "slash ctrl+u")
    await keys(pilot, *("space" if key == " " else key for key in query))
    await until(pilot, lambda: (q := tune(app).session.question) is not None and q.text == query)
    await until(pilot, lambda: not tune(app).asking)
    await keys(pilot, "enter")
    await settled(pilot)


def headings(app: WorkbenchApp) -> list[str]:
    return [line.text for line in tune(app).rows.rows if isinstance(line, Heading)]


@pytest.mark.slow
async def test_what_is_below_the_floor_is_said_and_weak_rows_are_marked(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        await asked(pilot, app, NOTHING)
        lines = tune(app).rows.rows
        said = re.fullmatch(r"nothing relevant: best (0\.\d\d), floor (0\.\d\d)", headings(app)[0])
        assert said is not None
        assert float(said[1]) < float(said[2])
        assert headings(app)[1:] == ["not served: below the top 10"]
        best = [line for line in lines[1:] if isinstance(line, Row) and line.served]
        assert [line.standing.place for line in best] == list(range(1, 11))
        assert all(line.weak for line in best)
        await keys(pilot, "down")
        assert "weak below" in why(app)
        await asked(pilot, app, SOMETHING)
        assert headings(app) == ["not served: below the top 10"]
        best = [line for line in tune(app).rows.rows if isinstance(line, Row)][:10]
        assert len({line.weak for line in best}) == 2
        assert "weak: " in screen_text(app)
        assert re.search(r"the query reaches 0\.\d{3}, floor 0\.\d{3}", why(app))


@pytest.mark.slow
async def test_turned_off_it_is_not_spoken_of(tmp_path: Path) -> None:
    bench = demo_bench(tmp_path)
    object.__setattr__(
        bench.context, "settings", (bench.context.settings or Settings())._replace(floor=False)
    )
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await asked(pilot, app, NOTHING)
        assert headings(app) == ["not served: below the top 10"]
        assert "floor" not in screen_text(app)
        assert "floor" not in why(app)
        assert "weak" not in why(app)
        assert f"match {row(app, 1).relevance.strip()} = " in why(app)
