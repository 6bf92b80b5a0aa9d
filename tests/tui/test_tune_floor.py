"""What Tune shows of the floor: lines over the rows, the figures in the explanation, and why there
is none.
"""

import re
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import app_over, demo_app, demo_bench, screen_text
from tests.tui.tune_host import WIDE, keys, opened, row, settled, slider, tune, why
from tests.tui.waiting import until
from workbench.config.loading import Settings
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.ranking import Heading, Row

SIZES = [WIDE, (80, 24)]
NOTHING, SOMETHING = "recipe for lasagne", "who may write to customers during an outage"


async def asked(pilot: Pilot[Path | None], app: WorkbenchApp, query: str) -> None:
    await keys(pilot, "slash", "ctrl+u")
    await keys(pilot, *("space" if key == " " else key for key in query))
    await until(pilot, lambda: (q := tune(app).session.question) is not None and q.text == query)
    await until(pilot, lambda: not tune(app).asking)
    await keys(pilot, "enter")
    await settled(pilot)


def headings(app: WorkbenchApp) -> list[str]:
    return [line.text for line in tune(app).rows.rows if isinstance(line, Heading)]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_nothing_relevant_stands_over_all_rows_with_its_figures(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await asked(pilot, app, NOTHING)
        lines = tune(app).rows.rows
        assert isinstance(lines[0], Heading)
        said = re.fullmatch(r"nothing relevant: best (0\.\d\d), floor (0\.\d\d)", lines[0].text)
        assert said is not None
        assert float(said[1]) < float(said[2])
        assert lines[0].text in screen_text(app)
        best = [line for line in lines[1:] if isinstance(line, Row) and line.served]
        assert [line.standing.place for line in best] == list(range(1, 11))
        assert all(line.weak for line in best)
        assert headings(app)[1:] == ["not served: below the top 10"]
        assert " ".join(why(app).split()).startswith("Nothing here is relevant to the query: ")
        await keys(pilot, "down")
        assert "weak below" in why(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_weak_rows_are_marked_and_the_places_go_up_by_one(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await asked(pilot, app, SOMETHING)
        session = tune(app).session
        best = [line for line in tune(app).rows.rows if isinstance(line, Row)][:10]
        assert headings(app) == ["not served: below the top 10"]
        assert session.against is not None
        assert [line.standing.place for line in best] == list(range(1, 11))
        assert len({line.weak for line in best}) == 2
        assert "weak: " in screen_text(app)
        for line in best:
            assert line.weak == session.against.is_weak(line.standing.memory.id)
            cosine, lexical, _ = session.against.scores_of(line.standing.memory.id)
            assert float(line.relevance) == pytest.approx((cosine + lexical) / 2, abs=0.001)
        cosine, lexical, _ = session.against.scores_of(best[0].standing.memory.id)
        relevance = f"relevance {(cosine + lexical) / 2:.3f} = ({cosine:.3f} + {lexical:.3f}) ÷ 2, weak below 0."
        assert relevance in " ".join(why(app).split())
        assert re.search(r"the query reaches 0\.\d{3}, floor 0\.\d{3}", why(app))


@pytest.mark.slow
async def test_no_slider_moves_the_verdict_but_the_time_machine(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await asked(pilot, app, SOMETHING)
        against = tune(app).session.against
        for name in ("recency", "relevance", "blend", "contiguity", "k"):
            slider(app, name).value = (slider(app, name).value or 0.0) / 2
        await settled(pilot)
        assert tune(app).session.against is against
        slider(app, "now").value = -30.0
        await settled(pilot)
        later = tune(app).session.against
        assert later is not None
        assert against is not None
        assert later is not against
        assert later.verdict.standard == against.verdict.standard
        assert later.verdict.reach != against.verdict.reach


@pytest.mark.slow
async def test_it_is_computed_in_the_background_and_the_ranking_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from workbench.services.tuning.floors import Floors

    may, compute = threading.Event(), Floors.settled

    def later(self: Floors, cancelled: object = None) -> object:
        may.wait(60)
        return compute(self)

    monkeypatch.setattr(Floors, "settled", later)
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "the floor is being computed" in screen_text(app))
        assert row(app, 1)
        assert headings(app) == ["not served: below the top 10"]
        may.set()
        await until(pilot, lambda: "the floor is being computed" not in screen_text(app))
        assert tune(app).session.against is not None


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
        assert "relevance 0." in why(app)
