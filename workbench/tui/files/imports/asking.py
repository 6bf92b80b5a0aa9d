"""What the import dialog asks for: another format, and when the steps of a file were."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from textual.app import App

from workbench.core.stream.times import instant
from workbench.tui.files.imports.chosen import no_hours, no_time
from workbench.tui.files.imports.options import ImportOptions
from workbench.tui.files.imports.rows import choices
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.texts.prompt import Prompt


async def ask_format(app: App[Any], path: Path, way: ImportOptions, held: str) -> ImportOptions | None:
    """Ask as which format a file is to be read; `held` is the one it is read as now. Raises `UnreadableFile`."""
    offered = [Choice(*choice) for choice in choices(path)]
    format = await app.push_screen_wait(Choose(f"What is {path.name}?", offered, held))
    return None if format is None else replace(way, format=format)


async def ask_steps(app: App[Any], way: ImportOptions, now: datetime) -> ImportOptions | None:
    """Ask when the first step was, and how long a step takes."""
    hint = "2026-01-31T09:00; empty: the last step is now"
    epoch = await app.push_screen_wait(Prompt("When was the first step?", placeholder=hint, check=no_time))
    if epoch is None:
        return None
    asked = Prompt("How many hours does a step take?", f"{way.step_hours:g}", check=no_hours)
    hours = await app.push_screen_wait(asked)
    if hours is None:
        return None
    return replace(way, epoch=instant(epoch, now) if epoch else None, step_hours=float(hours))
