"""Whether memory gets better, on top of Health: each number with its weeks, its chart and a
sentence, and found out while the rest of the screen works.
"""

import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.tui.health_host import beside, go, health, keys, made, opened, rows, settled
from tests.tui.support import NOW, app_over, open_bench, opens, screen_text, shows
from tests.tui.waiting import until
from workbench.core.agents.read import AgentRead
from workbench.services.health.quality import Quality, Weeks
from workbench.services.open import Workbench
from workbench.tui.health.screen import HealthScreen


class Clock:
    at = NOW

    def __call__(self) -> datetime:
        return self.at


def lived(folder: Path) -> Workbench:
    """Three weeks, in which ever more of what an agent asks is answered; it ends now."""
    clock = Clock()
    bench = open_bench(folder, clock)
    for week in range(3):
        clock.at = NOW - timedelta(days=7 * (2 - week), hours=1)
        with bench.library.transaction("agent:claude", "observed") as tx:
            days = 7 * (2 - week) + 1
            tx.put(made(f"m{week}", f"what week {week} suggests", days, status="candidate"))
            tx.put(made(f"s{week}", f"what week {week} taught", days))
        with bench.library.transaction("agent:claude", "read", kind="access") as tx:
            for n in range(10):
                given = n < 4 + 2 * week
                tx.put(
                    AgentRead(
                        f"read-{week}-{n}", "claude", clock.at, "why", is_empty=not given,
                        memories=("s0",) if given else (),
                    )
                )  # fmt: skip
        bench.stream.vote([f"s{week}"], "helpful" if week else "harmful")
    bench.judging.judge("what the week taught", None, "s0", 3)
    clock.at = NOW
    return bench


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_each_number_has_its_weeks_a_chart_and_a_sentence(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = app_over(lived(tmp_path))
    async with opened(app, size) as pilot:
        assert health(app).rows.rows[0].section == "better", "it stands on top"
        assert "Is memory getting better?" in screen_text(app)
        assert [row.name for row in rows(app, "better")] == [
            "answered", "ndcg", "harmful", "used", "age", "debt",
        ]  # fmt: skip
        for name, told, weeks in (
            ("answered", "80% of 10 questions", ("80%", "60%", "40%")),
            ("ndcg", "over 1 query", ("2026-03-20",)),
            ("harmful", "0% of 1 vote", ("100%",)),
            ("used", "17% of 6 memories", ("50%",)),
            ("age", "over 1 memory", ("15 d", "8 d")),
            ("debt", "Decisions waiting in Review: 3", ("2", "1")),
        ):
            go(app, "better", name)
            await keys(pilot, *(["enter"] if size[0] < 100 else []))
            await settled(pilot)
            await until(pilot, lambda told=told: told in " ".join(beside(app).split()))  # type: ignore[misc]
            assert all(week in beside(app) for week in weeks), name
            assert "█" in beside(app), name
            if size[0] < 100:
                await keys(pilot, "escape")
        assert "Known since 2026-03-06" in beside(app)


async def test_it_is_found_out_while_the_rest_works_and_anew_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, ready, look = lived(tmp_path), threading.Event(), Quality.look

    def slow(self: Quality, **options: Any) -> Weeks:
        assert ready.wait(60)
        return look(self, **options)

    monkeypatch.setattr(Quality, "look", slow)
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("6")
        await opens(pilot, HealthScreen)
        await shows(pilot, "memories")
        assert "Agents' questions answered" not in screen_text(app)
        ready.set()
        await shows(pilot, "Agents' questions answered")
        await settled(pilot)
        await shows(pilot, "0.")
        app.bench.review.approve(["m0", "m1"])
        await keys(pilot, "r")
        go(app, "better", "debt")
        await settled(pilot)
        assert "Decisions waiting in Review: 1" in " ".join(beside(app).split())
