"""A folder of its own for every test to be in, and a store with one playbook for the tests of the
Playbook.
"""

import gc
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from textual._styles_cache import StylesCache
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.idle import Idle, idle, idle_and
from tests.tui.painting import Painter, pressed
from tests.tui.playbook_host import TEXT, TWINS, bring_in, open_bench
from tests.tui.stylesheets import parse_once
from tests.tui.waiting import PATIENCE
from workbench.services.open import Workbench

TOGETHER = 64
"""Tests of apps between two collections: an app leaves twenty megabytes, a collection takes a fifth
of a second.
"""

_apps = count(1)


@pytest.fixture(autouse=True)
def _parses_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an app start in less time, with the same rules."""
    parse_once(monkeypatch)


@pytest.fixture
def every_paint() -> None:
    """Paint whenever an app would, also between what a key begins and its end: for tests of just
    that.
    """


@pytest.fixture(autouse=True)
def _waits_for_what_is_done(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a key be followed by all that it brings about, however busy the machine is, and by no
    pause.

    After the last of the keys that a test presses at once the screen is painted, once; long proofs
    paint as often as an app does.
    """
    rests: Idle = idle
    if (
        "every_paint" not in request.fixturenames
        and request.node.get_closest_marker("slow") is None
    ):
        painter = Painter()
        rests = idle_and(painter.paint)
        monkeypatch.setattr(Screen, "_compositor_refresh", painter.noting())
        monkeypatch.setattr(Pilot, "pause", painter.after(Pilot.pause))
        monkeypatch.setattr(Pilot, "press", pressed(Pilot.press, rests))
    monkeypatch.setattr("textual.app.wait_for_idle", idle)
    monkeypatch.setattr("textual.pilot.wait_for_idle", rests)


@pytest.fixture(autouse=True)
def _toasts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no toast go by the clock before a test has read it: on a busy machine a start takes
    longer than one stays.
    """
    monkeypatch.setattr(App, "NOTIFICATION_TIMEOUT", PATIENCE)


@pytest.fixture(autouse=True)
def _room_for_the_next_app() -> Iterator[None]:
    """Collect what many apps left: each holds what it froze, and Textual's caches hold what it
    drew.
    """
    yield
    if next(_apps) % TOGETHER == 0:
        StylesCache.get_inner_outer.cache_clear()
        gc.unfreeze()
        gc.collect()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test write into the checkout: dialogs offer names in the folder that the app was
    started in.
    """
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workbench]:
    """An empty store."""
    bench = open_bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The file that the playbook comes from."""
    return tmp_path / "rules.txt"


@pytest.fixture
def bench(empty: Workbench, source: Path) -> Workbench:
    """A store with the playbook of that file."""
    bring_in(empty, source, TEXT)
    return empty


@pytest.fixture
def twins(empty: Workbench, tmp_path: Path) -> Workbench:
    """A playbook with equal, folded and near texts, and an opposite."""
    bring_in(empty, tmp_path / "twins.txt", TWINS)
    return empty


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that takes copies, on a machine without a clipboard of its own."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("workbench.clipboard.to_desktop", lambda text: False)
