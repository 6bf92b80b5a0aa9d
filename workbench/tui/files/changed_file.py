"""A file that changed on disk since it was read or written: what differs, and taking that into the store."""

import asyncio
import time
from pathlib import Path

from textual.content import Content

from workbench.core.text import one_line
from workbench.services.files.diff import SIGNS, masked_diff, masked_lines
from workbench.services.files.differences import Difference
from workbench.tui.health.model import Hands
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.keys import undo

SHOWN, WIDTH = 16, 100
"""Lines of the differences that are shown, and how much of each."""

STYLES = {"added": "$text-success", "removed": "$text-error", "place": MUTED, "note": MUTED}


async def take_changes(health: Hands, path: Path) -> None:
    """Show what differs in a file, and take its side on a yes; what goes wrong is said, and nothing is changed."""
    bench, app = health.bench, health.workbench_app
    with app.reporting():
        found = await asyncio.to_thread(bench.difference, path)
        detail = Content("\n").join([*_lines(health, found), Content(""), _outcome(health, found)])
        name = bench.safety.masked(path.name)
        if found.plan is None:
            await app.push_screen_wait(
                Confirm(f"{name} changed on disk.", clock=time.monotonic, detail=detail, yes="close", no="close")
            )
            return
        question = f"Take what {name} says now?"
        if await app.push_screen_wait(
            Confirm(question, clock=time.monotonic, detail=detail, yes="take it", no="leave both")
        ):
            plan = found.plan
            await asyncio.to_thread(lambda: bench.importer.carry_out(plan))
            app.say(f"{name} is as the store knows it. {undo()} takes it back.")


def _lines(health: Hands, found: Difference) -> list[Content]:
    masks = masked_lines((line.text for line in found.lines), health.bench.safety.masked)
    shown = masked_diff(found.lines, masks)
    parts = [body(one_line(f"{SIGNS[line.kind]}{line.text}", WIDTH), STYLES.get(line.kind, "")) for line in shown]
    more = len(parts) - SHOWN
    return [*parts[:SHOWN], *([Content.styled(f"… and {more:,} more lines", MUTED)] if more > 0 else [])]


def _outcome(health: Hands, found: Difference) -> Content:
    """Say what taking the file's side does, or why nothing can be taken."""
    if found.plan is None:
        why = health.bench.safety.masked(found.problem) or "It brings no records into the store."
        return body(why, MUTED)
    new, replaced = len(found.plan.records) - len(found.plan.replaced), len(found.plan.replaced)
    said = f"{new:,} new, {replaced:,} replaced in the store; undo brings back what it says now."
    return assemble([(said, MUTED), (" Export writes the other way round.", MUTED)])
