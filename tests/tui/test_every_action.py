"""No key is shown that does nothing: every action of an area has a method behind it."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

from tests.tui.support import demo_app
from workbench.tui.app.areas import AREAS


@pytest.mark.slow
async def test_every_path_that_an_action_names_leads_somewhere(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test() as pilot:
        for area in AREAS.every:
            await app.switch_mode(area.id)
            await pilot.pause()
            for action in area.actions:
                if named := re.fullmatch(r"do\('(.+)'\)", action.method):
                    assert callable(attrgetter(named[1])(app.screen)), action.id
