"""A proposal of a kind that only a later version knows: it is listed, shown and turned down, never
accepted.
"""

from pathlib import Path

import pytest

from tests.services.conftest import write
from tests.tui.support import NOW, app_over, screen_text
from tests.tui.waiting import until
from workbench.cli.main import run
from workbench.config import paths
from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench

MEMORY = Memory("m-1", "The disk of the build host is full.", NOW, NOW, status="confirmed")
ASKED = Proposal(
    "u-1",
    "urgent",
    "watcher",
    MEMORY.line,
    NOW,
    ("m-1",),
    flags=("look first",),
    reasons=("it grows",),
)


def opened(folder: Path) -> Workbench:
    profiles, heads = folder / "profiles", paths.heads_dir()
    return open_workbench(folder / ".workbench", profiles=profiles, heads=heads, clock=lambda: NOW)


@pytest.mark.slow
async def test_it_is_listed_and_turned_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = opened(tmp_path)
    write(bench, MEMORY, ASKED, by="agent:watcher")
    with pytest.raises(WorkbenchError, match="does not know the proposal kind “urgent”"):
        bench.review.approve(["u-1"])
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(
            pilot, lambda: "This version does not know this kind of proposal." in screen_text(app)
        )
    bench.close()

    def said(*words: str) -> str:
        options = ["--store", str(tmp_path / ".workbench"), "review", *words]
        assert run(options, open_app=_no_app, cwd=tmp_path, clock=lambda: NOW) == 0
        return capsys.readouterr().out

    assert "u-1" in said("list")
    assert "This version does not know" in said("show", "u-1", "--quick")
    said("reject", "u-1")
    bench = opened(tmp_path)
    assert bench.library.memories.get("m-1").tags == ()
    assert bench.review.waiting() == 0


def _no_app(store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
    raise AssertionError(store, origin, demo)
