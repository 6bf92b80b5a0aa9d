"""The way back into a folder of notes: what was changed in the store, seen first, written as one action."""

import asyncio
import time
from pathlib import Path

from textual.content import Content

from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.files.differences import Difference
from workbench.services.files.exports.folders import FolderPlan, LeftAlone
from workbench.services.files.exports.unsaved import parts_of
from workbench.services.files.folder_files import folders_of
from workbench.services.files.threeway import SIGNS, masked_diff, masked_lines
from workbench.services.open import Workbench
from workbench.services.safety.texts import place_of
from workbench.tui.health.reflection import Hands
from workbench.tui.widgets.content import MUTED, assemble, body, undo
from workbench.tui.widgets.dialog import Confirm
from workbench.tui.widgets.figures import amount, number

# A file that changed on disk since it was read or written: what differs, and taking that into the store.


LINES_SHOWN, WIDTH = 16, 100
"""Lines of the differences that are shown, and how much of each."""

STYLES = {"added": "$text-success", "removed": "$text-error", "place": MUTED, "note": MUTED}


async def take_changes(health: Hands, path: Path) -> None:
    """Show what differs in a file, and take its side on a yes; what goes wrong is said, and nothing is changed."""
    bench, app = health.bench, health.workbench_app
    with app.reporting():
        found = await asyncio.to_thread(bench.difference, path)
        detail = Content("\n").join([*_changed_lines(health, found), Content(""), _outcome(health, found)])
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


def _changed_lines(health: Hands, found: Difference) -> list[Content]:
    masks = masked_lines((line.text for line in found.lines), health.bench.safety.masked)
    shown = masked_diff(found.lines, masks)
    parts = [body(one_line(f"{SIGNS[line.kind]}{line.text}", WIDTH), STYLES.get(line.kind, "")) for line in shown]
    more = len(parts) - LINES_SHOWN
    return [*parts[:LINES_SHOWN], *([Content.styled(f"… and {more:,} more lines", MUTED)] if more > 0 else [])]


def _outcome(health: Hands, found: Difference) -> Content:
    """Say what taking the file's side does, or why nothing can be taken."""
    if found.plan is None:
        why = health.bench.safety.masked(found.problem) or "It brings no records into the store."
        return body(why, MUTED)
    new, replaced = len(found.plan.records) - len(found.plan.replaced), len(found.plan.replaced)
    said = f"{new:,} new, {replaced:,} replaced in the store; undo brings back what it says now."
    return assemble([(said, MUTED), (" Export writes the other way round.", MUTED)])


LINES_SHOWN, LISTED = 14, 4
"""Lines of the differences that are shown, and files that are named as left alone."""

_WHY = {
    "changed": "it changed on disk since",
    "unplaced": "what was changed has no place in it",
    "forgotten": "its note was forgotten; only the command removes it",
    "unreadable": "it could not be read or written",
}


async def write_back(health: Hands, at: Path | None) -> bool:
    """Show what writing back changes in the folder that a file is of, and write it on a yes; tell whether it was."""
    bench, app = health.bench, health.workbench_app
    with app.reporting():
        plan, held = await asyncio.to_thread(_planned, bench, at)
        name = bench.safety.masked(plan.root.name)
        detail = Content("\n").join(_lines(bench, plan, held))
        if not plan.edits:
            nothing = Confirm(
                f"Nothing to write back into {name}.", clock=time.monotonic, detail=detail, yes="close", no="close"
            )
            await app.push_screen_wait(nothing)
            return False
        question = f"Write {amount(len(plan.edits), 'file')} of {name}?"
        if not await app.push_screen_wait(
            Confirm(question, clock=time.monotonic, detail=detail, yes="write", no="leave them")
        ):
            return False
        done = await asyncio.to_thread(lambda: bench.folder_exporter.write(plan))
        left = f" {amount(len(done.left), 'file')} left as it was." if len(done.left) > len(plan.left) else ""
        app.say(f"Wrote {amount(len(done.edits), 'file')} of {name}.{left} {undo()} takes it back.")
        return True
    return False


def _planned(bench: Workbench, at: Path | None) -> tuple[FolderPlan, int]:
    """Return what would be written, without what is held back, and how many records that are."""
    root = _folder(bench, at)
    plan = bench.folder_exporter.plan(root)
    held = frozenset(
        place_of(one.record)
        for one in bench.safety.refusals(parts_of(plan.parsed))
        if isinstance(one.record, Memory)
    )  # fmt: skip
    return (bench.folder_exporter.plan(root, without=held) if held else plan), len(held)


def _folder(bench: Workbench, at: Path | None) -> Path:
    """Return the folder that a file was read with, or the only one there is. Raises `WorkbenchError`."""
    roots = folders_of(bench.library)
    here = next((root for root in roots if at is not None and at.is_relative_to(root)), None)
    if here is not None:
        return here
    if not roots:
        raise WorkbenchError("No folder of notes was imported into this store.", "An import of a folder makes one.")
    if len(roots) > 1:
        names = ", ".join(root.name for root in roots[:LISTED])
        raise WorkbenchError(f"Several folders were imported: {names}.", "Go to a file of the one that is meant first.")
    return roots[0]


def _lines(bench: Workbench, plan: FolderPlan, held: int) -> list[Content]:
    """Return the differences, then what is left alone and what has no place in the files."""
    parts = list[Content]()
    for edit in plan.edits:
        parts.append(body(bench.safety.masked(edit.name), "bold"))
        lines = edit.lines()
        shown = masked_diff(lines, masked_lines((line.text for line in lines), bench.safety.masked))
        parts += [body(one_line(f"{SIGNS[line.kind]}{line.text}", WIDTH), STYLES.get(line.kind, "")) for line in shown]
    more = len(parts) - LINES_SHOWN
    parts = [*parts[:LINES_SHOWN], *([Content.styled(f"… and {more:,} more lines", MUTED)] if more > 0 else [])]
    parts += [_left(bench, one) for one in plan.left[:LISTED]]
    if len(plan.left) > LISTED:
        parts.append(Content.styled(f"… and {len(plan.left) - LISTED:,} more left as they are", MUTED))
    if held:
        parts.append(Content.styled(f"{number(held)} held back: text that gives orders.", MUTED))
    if plan.unplaced:
        stays = ", ".join(f"{what} of {count:,}" for what, count in sorted(plan.unplaced.items()))
        parts.append(Content.styled(f"Kept in the store only, as the notes have no place for it: {stays}.", MUTED))
    return parts


def _left(bench: Workbench, one: LeftAlone) -> Content:
    more = f": {one.reason}" if one.reason else ""
    return body(bench.safety.masked(f"{one.name} is left as it is: {_WHY[one.why]}{more}."), MUTED)
