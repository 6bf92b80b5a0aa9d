"""Pictures of every area and of the dialogs that its keys open, at three sizes, to be compared by
eye.

    python -m tests.pictures FOLDER [AREA…]   # SVG files, FOLDER/80x24/1-stream.svg, …/1-stream-edit.svg, …
    python -m tests.pictures manual           # those of README and manual, dark and light; names what differs

Two folders of two commits are looked at side by side. The store is the demo's, on a clock that
stands still; a key that opens nothing has no picture, and what it changed is taken back.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.support import demo_app, screen_text
from workbench.tui.app.actions import GLOBAL, Action
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS, Area

SIZES = ((80, 24), (120, 40), (200, 60))
ELSEWHERE = {"back", "quit", "external", "stores", "undo", "redo", "pause"}
"""Keys that leave the app or the area, and those that only make sense behind another."""

MANUAL = Path(__file__).parents[1] / "fixtures" / "pictures"
MANUAL_SIZE = (130, 36)
MANUAL_KEYS = {
    "stream": ("1", "slash", *"token refresh", "enter"),
    "history": ("1", "h"),
    "import": ("1", "F"),
    "palette": ("1", "ctrl+p"),
    "symbols": ("1", "question_mark"),
    "review": ("2",),
    "playbook": ("3",),
    "tune": ("4", "slash", *"tests fail in ci", "enter"),
    "agents": ("5",),
    "health": ("6",),
}
"""What each picture of the manual is called, and the keys that lead to what it shows."""

STILL_S, PATIENCE_S = 0.5, 20.0


async def take(
    folder: Path, size: tuple[int, int], area: Area, actions: Sequence[Action]
) -> list[Action]:
    """Take the pictures of an area at one size; return the actions that open something."""
    opening = []
    name = f"{area.key}-{area.title.lower()}"
    with _place() as place:
        app = demo_app(place)
        async with app.run_test(size=size) as pilot:
            await _at(pilot, app, area.key)
            _save(app, folder / f"{name}.svg")
            for action in actions:
                rev = app.bench.library.revision
                await pilot.press(action.first_key)
                await _still(pilot, app)
                for field in app.screen.query(Input):
                    field.cursor_blink = False
                if app.screen.is_modal:
                    _save(app, folder / f"{name}-{action.id.rpartition('.')[2]}.svg")
                    opening.append(action)
                await _at(pilot, app, area.key)
                if app.bench.library.revision > rev:
                    app.bench.history.undo()
        app.bench.close()
    return opening


async def illustrate(folder: Path, theme: str, name: str, keys: Sequence[str]) -> bool:
    """Take one picture of the manual; tell whether it differs from the one that was there."""
    file = folder / f"{name}.svg"
    before = file.read_text("utf-8") if file.exists() else ""
    with _place() as place:
        app = demo_app(place)
        async with app.run_test(size=MANUAL_SIZE) as pilot:
            app.theme = f"workbench-{theme}"
            for key in keys:
                await pilot.press("space" if key == " " else key)
                await _still(pilot, app)
            for field in app.screen.query(Input):
                field.cursor_blink = False
            _save(app, file)
        app.bench.close()
    return file.read_text("utf-8") != before


@contextmanager
def _place() -> Iterator[Path]:
    """Make a folder to be in, with a home of its own; it always has the same name, as dialogs show
    it.
    """
    place, before = Path(tempfile.gettempdir()) / "workbench-pictures", Path.cwd()
    shutil.rmtree(place, ignore_errors=True)  # of a run that was killed
    place.mkdir()
    for name in ("HOME", *(f"XDG_{kind}_HOME" for kind in ("CONFIG", "DATA", "STATE", "CACHE"))):
        os.environ[name] = str(place / "home" / name.lower())
    os.chdir(place)
    try:
        yield place
    finally:
        os.chdir(before)
        shutil.rmtree(place)


async def _at(pilot: Pilot[Path | None], app: WorkbenchApp, key: str) -> None:
    """Go back to an area, whatever is open, and wait until all is there."""
    for _ in range(8):
        if isinstance(app.screen, AreaScreen) and app.screen.area.key == key:
            break
        await pilot.press("escape" if app.screen.is_modal else key)
        await _still(pilot, app)
    # What a key only moved into, or opened within the area, is left as well.
    await pilot.press("escape", "g", "j")
    await _still(pilot, app)


async def _still(pilot: Pilot[Path | None], app: WorkbenchApp) -> None:
    """Wait until nothing is worked out any more and the screen stays as it is."""
    begun = since = monotonic()
    before = ""
    while monotonic() - begun < PATIENCE_S and monotonic() - since < STILL_S:
        await pilot.pause(0.1)
        now = screen_text(app)
        if now != before or not app.bench.retriever.ready:
            before, since = now, monotonic()


def _save(app: WorkbenchApp, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(app.export_screenshot(title=file.stem), "utf-8")


def main(arguments: list[str]) -> None:
    """Take the pictures into the folder that is named first, of the areas whose keys are named
    behind it.
    """
    if not arguments:
        sys.exit(__doc__)
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    if arguments == ["manual"]:
        for theme in ("dark", "light"):
            for name, keys in MANUAL_KEYS.items():
                if asyncio.run(illustrate(MANUAL / theme, theme, name, keys)):
                    print(
                        f"differs: {(MANUAL / theme / name).relative_to(MANUAL.parents[1])}.svg",
                        flush=True,
                    )
        return
    folder = Path(arguments[0]).absolute()
    for area in AREAS.every:
        if len(arguments) > 1 and area.key not in arguments[1:]:
            continue
        actions = [
            one for one in (*area.actions, *GLOBAL) if one.id.rpartition(".")[2] not in ELSEWHERE
        ]
        for width, height in SIZES:
            actions = asyncio.run(
                take(folder / f"{width}x{height}", (width, height), area, actions)
            )
            print(f"{area.title} at {width}×{height}: {len(actions) + 1} pictures", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
