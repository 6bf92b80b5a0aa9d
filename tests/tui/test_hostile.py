"""Hostile stored text stays inert on every screen."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import (
    HOSTILE,
    NOW,
    app_over,
    first_of,
    hidden_on,
    import_file,
    open_bench,
    screen_text,
)
from workbench.core.agents.read import AgentRead
from workbench.tui.app.app import WorkbenchApp

NEXT = "j " * 8
WAYS = {
    "1": f"{NEXT * 4} enter escape e escape h escape H enter escape escape slash h z escape escape "
    "P j j j escape R escape F escape r h enter x enter escape escape",
    "2": f"{NEXT * 2} enter escape e escape h escape m escape tab j j enter escape",
    "3": f"{NEXT * 2} enter escape e escape h escape X escape M escape equals_sign j escape B escape"
    " V c escape D escape",
    "4": f"slash h o s t enter {NEXT} enter escape l escape w escape c down enter escape J 2 2 escape"
    f" B a a escape D {NEXT} escape m escape A escape",
    "5": f"{NEXT} enter {NEXT} enter escape escape L j enter escape K escape",
    "6": f"D {NEXT * 5} z enter escape tab j enter escape",
}
"""Keys that lead through each area and its dialogs, by the key of the area."""
EVIL = "host \x1b[31m [bold]\u202e\u200b x"


def inert(app: WorkbenchApp, where: str) -> None:
    assert hidden_on(app) == [], f"on the screen after {where}"


async def walk(app: WorkbenchApp, pilot: Pilot[Path | None], area: str) -> None:
    await pilot.press(area)
    for key in WAYS[area].split():
        await pilot.press(key)
        inert(app, f"{area}: {key}")


@pytest.mark.slow
@pytest.mark.parametrize("size", first_of((80, 24), (140, 45)))
@pytest.mark.parametrize("area", sorted(WAYS))
async def test_nothing_hostile_reaches_the_terminal(
    tmp_path: Path, area: str, size: tuple[int, int]
) -> None:
    bench = open_bench(tmp_path)
    for name in ("memories.jsonl", "playbook.txt"):
        import_file(bench, HOSTILE / name)
    memories = bench.library.memories.all()
    bench.judging.judge(EVIL, None, memories[0].id, 2)
    bench.judging.judge(f"another {EVIL}", None, memories[1].id, 3)
    bench.episodes.store(
        {
            "timestamp": NOW.isoformat(),
            "task": {"original_input": EVIL},
            "outcome": {"status": "SUCCESS"},
        }
    )
    with bench.library.transaction(f"agent:{EVIL}", f"copy {EVIL}") as tx:
        for one in memories[:20]:
            tx.put(replace(one, id=f"copy-{one.id}"))
        tx.put(AgentRead("r1", EVIL, NOW, EVIL, EVIL, memories=(memories[0].id,), scores=(0.9,)))
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await app.workers.wait_for_complete()
        await walk(app, pilot, area)
    assert app.return_code in (0, None)


async def test_markup_is_shown_as_it_is_written(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, HOSTILE / "memories.jsonl")
    app = app_over(bench)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        assert "[bold]" in screen_text(app)
        assert "[/x]" in screen_text(app) or "[shr-00001]" in screen_text(app)
