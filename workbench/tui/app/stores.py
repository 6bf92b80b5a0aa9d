"""Choosing another store to open."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.tui.widgets.choose import Choice, Choose

if TYPE_CHECKING:
    from workbench.tui.app.app import WorkbenchApp


async def choose_store(app: "WorkbenchApp", present: Path, recent: Sequence[Path]) -> Path | None:
    """Ask which store to open; return it, or `None` when it is the present one or nobody chose."""
    folders = list(dict.fromkeys((present, *recent)))
    choices = [Choice(str(f), str(f), "open now" if f == present else "") for f in folders]
    chosen = await app.push_screen_wait(Choose("Open a store", choices, str(present)))
    return Path(chosen) if chosen is not None and Path(chosen) != present else None
