"""The app with only the Playbook, and a hand that presses its keys."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from textual.screen import Screen

import workbench.tui.app.app
from tests.tui.support import Driver, each_key, screen_text
from tests.tui.waiting import until_drawn
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.host import AppOptions
from workbench.tui.duplicates import BulletDuplicatesDialog
from workbench.tui.playbook.curation import CardsDialog, SourcePrompt
from workbench.tui.playbook.screen import PlaybookScreen
from workbench.tui.widgets.line_list import LineView

D = TypeVar("D", bound=Screen[Any])

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TEXT = """## HARD RULES
[hr-00001] helpful=9 harmful=1 :: Never write to production without asking.
[hr-00002] helpful=1 harmful=3 :: Retry everything twice.
[hr-00003] helpful=0 harmful=0 :: Ask Ruth before mailing customers.

## APIS TO USE
[api-00004] helpful=3 harmful=0 :: Read the address from the Fly header.
## OTHERS
"""
TWINS = """## RULES
[r-00001] helpful=2 harmful=0 :: Always run the database migrations before the integration tests start.
[r-00002] helpful=5 harmful=1 :: Always run the database migrations before the integration tests start.
[r-00003] helpful=1 harmful=0 :: Always run the database migrations before any integration tests start.
[r-00004] helpful=0 harmful=3 :: Never run the database migrations before the integration tests start.
## OTHERS
[o-00005] helpful=0 harmful=0 :: Ask the person who owns the file before deleting it.
[o-00006] helpful=1 harmful=0 :: ask the person who owns the file before deleting it.
"""
BOOK = "rules"


class PlaybookApp(WorkbenchApp):
    """The app with the one area under test, without the model."""

    DEFAULT_MODE = "playbook"
    CSS_PATH = str(Path(workbench.tui.app.app.__file__).with_name("app.tcss"))

    def _load_retriever(self) -> None:  # type: ignore[override]
        """The playbook needs no model."""


class Clock:
    """A clock that moves a second with every look, so that the order of changes shows."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def open_bench(folder: Path) -> Workbench:
    """Open an empty store in a folder."""
    return open_workbench(
        folder / "store", profiles=folder / "profiles", replaced=folder / "replaced", clock=Clock()
    )


def bring_in(bench: Workbench, path: Path, text: str) -> None:
    """Write a playbook file and import it."""
    path.write_bytes(text.encode())
    bench.importer.carry_out(bench.importer.plan(path))


class Hand(Driver):
    """The app at the Playbook."""

    @property
    def screen(self) -> PlaybookScreen:
        found = self.app.screen_stack[0]
        assert isinstance(found, PlaybookScreen)
        return found

    @property
    def here(self) -> str:
        """The id of the bullet or section under the cursor."""
        row = self.screen.rows.current
        return row.key[1] if row else ""

    @property
    def listed(self) -> list[str]:
        return [row.bullet.id for row in self.screen.rows.rows if row.bullet]

    @property
    def text(self) -> str:
        return screen_text(self.app)

    async def press(self, *keys: str) -> None:
        for key in each_key(keys):
            await self.pilot.press(key)
        await self.pilot.pause()
        await self.made()

    async def made(self) -> None:
        """Wait until no thread makes a file's text, or wraps it."""
        if any(self._makes()):
            await self.until(lambda: not any(self._makes()))
            await self.pilot.pause()

    def _makes(self) -> Iterator[bool]:
        groups = ("looking", "agent", "wrapping", "export-look")
        return (worker.is_running for worker in self.app.workers if worker.group in groups)

    async def write(self, text: str) -> None:
        names = {
            " ": "space",
            ":": "colon",
            "/": "slash",
            ".": "full_stop",
            "-": "minus",
            "_": "underscore",
        }
        await self.press(*(names.get(char, char) for char in text))

    async def dialog(self, kind: type[D]) -> D:
        """Wait for a dialog of a kind, and return it."""
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)
        await self.pilot.pause()
        await self.made()
        assert isinstance(self.app.screen, kind)
        return self.app.screen

    async def back(self) -> None:
        await self.until(lambda: self.app.screen is self.screen)
        await self.pilot.pause()

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text)


@asynccontextmanager
async def opened(bench: Workbench, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Hand]:
    app = PlaybookApp(bench, AppOptions(title="test"))
    async with app.run_test(size=size) as pilot:
        hand = Hand(app, pilot)
        await until_drawn(pilot, lambda: isinstance(app.screen, PlaybookScreen))
        await pilot.pause()
        yield hand


async def finding(hand: Hand) -> BulletDuplicatesDialog:
    """Open the duplicates and wait until every pair is compared."""
    await hand.press("equals_sign")
    dialog = await hand.dialog(BulletDuplicatesDialog)
    await until_drawn(hand.pilot, lambda: dialog.found is not None)
    await hand.pilot.pause()
    return dialog


async def go_to(
    hand: Hand, dialog: BulletDuplicatesDialog, wanted: Callable[[frozenset[str]], bool]
) -> None:
    rows = dialog.query_one(LineView)
    rows.cursor = next(i for i, group in enumerate(rows.rows) if wanted(frozenset(group.ids)))
    await hand.pilot.pause()


REPLY = json.dumps(
    {
        "reasoning": "It was missed.",
        "operations": [
            {
                "type": "ADD",
                "section": "OTHERS",
                "content": "Count twice.",
                "reason": "Once was not enough.",
            },
            {
                "type": "UPDATE",
                "bullet_id": "r-00003",
                "content": "Run the migrations before any integration tests.",
            },
            {"type": "DELETE", "bullet_id": "zz-00001"},
            {"type": "SING"},
        ],
    }
)


async def suggested(hand: Hand, path: Path) -> CardsDialog:
    path.write_text(REPLY)
    await hand.press("I")
    prompt = await hand.dialog(SourcePrompt)
    prompt.query_one("SafeInput").value = str(path)  # type: ignore[attr-defined]
    await hand.press("enter")
    return await hand.dialog(CardsDialog)
