"""An empty store: every area and dialog says what to do, and no key does anything to it."""

from pathlib import Path

import pytest

from tests.tui.support import app_over, open_bench, screen_text
from tests.tui.waiting import until_drawn

PLACES = {
    "stream": ("1", "No memories yet", "plus e p d h y enter escape"),
    "review": ("2", "workbench import", "a x space e m y h n enter S r P z i escape 9"),
    "playbook": ("3", "No playbook yet. O adds", "plus e d M X b J y h o j enter"),
    "playbook's tools": ("3", "No playbook yet.", "equals_sign B V I D W S"),
    "tune": ("4", "Press / and write", "v m A B c w enter"),
    "agents": ("5", "No agent has read or written here yet", "plus e d v f h y enter tab P"),
    "documents": ("5o", "No documents yet", "e u t j"),
    "episodes": ("5L", "No episodes yet", "n t d z u"),
    "patterns": ("5l", "No patterns yet", "a D w e y"),
    "health": ("6", "No history yet", "D m x a p m x t c z enter escape"),
    "reflecting": ("R", "No memories yet", "enter"),
}
"""The keys that lead there, words of what is said, and keys that would change something."""


@pytest.mark.parametrize("place", PLACES)
async def test_an_empty_store_says_what_to_do(tmp_path: Path, place: str) -> None:
    to, said, keys = PLACES[place]
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*to)
        await until_drawn(pilot, lambda: said in " ".join(screen_text(app).split()))
        for key in keys.split():
            await pilot.press(key)
        assert app.bench.library.revision == 0
    assert app.return_code in (0, None)
