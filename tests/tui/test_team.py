"""The app on a store that a team shares, while its database goes away and comes back."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders.cutting import Way
from tests.builders.postgres import KEEPER, PASSWORD, postgres
from tests.tui.support import NOW, app_over, screen_text, shows
from tests.tui.waiting import until, until_drawn
from workbench.config import paths
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench
from workbench.store.entry import Level
from workbench.tui.widgets.header import TopBar

Join = Callable[..., Workbench]
SIZE = (130, 40)


@pytest.fixture
def way() -> Iterator[Way]:
    with closing(Way(postgres())) as made:
        yield made


@pytest.fixture
def join(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Join]:
    """Opens the store of one team for a member, at a machine of their own."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    server, opened = postgres(), list[Workbench]()
    store = server.new_store()

    def open_it(role: str, level: Level = "writer") -> Workbench:
        server.add(store, role, level)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / role))
        folder = paths.team_copy(way.url(role, store).replace(f":{PASSWORD}@", "@"))
        bench = open_workbench(
            folder, profiles=tmp_path / "profiles", clock=lambda: NOW, believed=True
        )
        opened.append(bench)
        return bench

    yield open_it
    for bench in opened:
        bench.close()


def put(bench: Workbench, number: int, text: str) -> None:
    with bench.library.transaction("human", "put") as tx:
        tx.put(Memory(f"mem-20260320-{number:07d}", text, NOW, NOW))


async def test_what_others_do_is_seen_and_the_header_says_when_the_database_is_away(
    join: Join, way: Way
) -> None:
    keeper, ann = join(KEEPER, "owner"), join("ann")
    put(keeper, 1, "Deploys need AUTH_SECRET in CI")
    ann.library.follow(0.05)
    app = app_over(ann)
    async with app.run_test(size=SIZE) as pilot:
        await shows(pilot, "AUTH_SECRET")
        put(keeper, 2, "The build takes nine minutes")
        await shows(pilot, "nine minutes")
        way.cut()
        await until_drawn(pilot, lambda: "TEAM AWAY" in screen_text(app).splitlines()[0])
        assert app.screen.query_one(TopBar).alarm
        await pilot.press("down", "+")
        assert len(ann.library.votes.all()) == 0
        await pilot.press("/", *"nine", "enter")
        await until_drawn(pilot, lambda: "AUTH_SECRET" not in screen_text(app))
        await pilot.press("escape", "escape")
        way.away = False
        await until_drawn(pilot, lambda: "TEAM AWAY" not in screen_text(app))
        await pilot.press("+")
        await until(pilot, lambda: len(ann.library.votes.all()) == 1)
        put(keeper, 3, "And it is still followed")
        await shows(pilot, "still followed")


async def test_health_says_as_whom_one_is_there(join: Join) -> None:
    keeper, ann = join(KEEPER, "owner"), join("ann", "reader")
    put(keeper, 1, "Deploys need AUTH_SECRET in CI")
    app = app_over(ann)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("6")
        await shows(pilot, "You are ann, reader")


async def test_what_was_typed_is_kept_when_the_database_goes_away_or_the_role_may_not(
    join: Join, way: Way
) -> None:
    keeper, ann = join(KEEPER, "owner"), join("ann", "reviewer")
    put(keeper, 1, "Deploys need AUTH_SECRET in CI")
    ann.library.follow(0.05)
    app = app_over(ann)
    async with app.run_test(size=SIZE) as pilot:
        await shows(pilot, "AUTH_SECRET")
        await pilot.press("e", *"often ")
        form = app.screen
        way.cut()
        await until(pilot, lambda: ann.library.away)
        await pilot.press("ctrl+s")
        await shows(pilot, "cannot be reached")
        assert app.screen is form
        way.away = False
        await until(pilot, lambda: ann.library.away is None)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is not form)
        (memory,) = ann.library.memories.all()
        assert "often" in memory.content


async def test_a_writer_is_told_that_an_edit_is_not_theirs_and_keeps_what_was_typed(
    join: Join,
) -> None:
    keeper, ann = join(KEEPER, "owner"), join("ann")
    put(keeper, 1, "Deploys need AUTH_SECRET in CI")
    ann.library.follow(0.05)
    app = app_over(ann)
    async with app.run_test(size=SIZE) as pilot:
        await shows(pilot, "AUTH_SECRET")
        await pilot.press("e", *"often ", "ctrl+s")
        await shows(pilot, "reviewer")
        assert "often" in screen_text(app)
    assert [memory.content for memory in keeper.library.memories.all()] == [
        "Deploys need AUTH_SECRET in CI"
    ]
