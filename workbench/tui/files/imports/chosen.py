"""What the name in the import dialog stands for: a file with its plan, a folder's files, or how the name may go on."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.core.errors import WorkbenchError
from workbench.core.stream.times import instant
from workbench.services.files.imports.importing import ImportPlan
from workbench.services.files.imports.paths import (
    SESSION,
    Listing,
    Offered,
    as_named,
    completions,
    is_session,
    listing,
)
from workbench.services.open import Workbench
from workbench.tui.files.imports.options import ImportOptions
from workbench.tui.files.imports.rows import format_said


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a name stands for: a plan, a folder's files, or how the name may go on; else a problem in words.

    `session`: it is a session of an agent, which has no plan: what it teaches is looked at apart.
    """

    path: Path | None = None
    plan: ImportPlan | None = None
    format: str = ""
    listing: Listing | None = None
    offered: tuple[Offered, ...] = ()
    problem: str = ""
    session: bool = False


def chosen_by(
    bench: Workbench,
    name: str,
    base: Path,
    exact: Path | None,
    way: ImportOptions,
    tell: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> Chosen:
    """Find out what a name stands for, reading the file it names; made for a thread.

    `exact` is the path of a name that was picked; the empty name is the folder `base`.
    """
    try:
        path = exact or (as_named(name, base) if name.strip() else base)
        if path.is_dir() and not way.folder:
            found = listing(path, cancelled, bench.library.folder)
            return Chosen(path, listing=found)
        if not path.exists():
            offered = completions(path)
            return Chosen(path, offered=offered, problem="" if offered else f"There is no file {path}.")
        if way.format is None and not way.folder and is_session(path):
            return Chosen(path, format=SESSION, session=True)
        plan = bench.importer.plan(
            path,
            format=way.format,
            epoch=way.epoch,
            step_hours=way.step_hours,
            theirs=way.theirs,
            as_candidates=way.more,
            issues=way.more,
            progress=tell,
            cancelled=cancelled,
        )
        return Chosen(path, plan, format_said(plan, way.format))
    except WorkbenchError as error:
        tried = _path(exact, name, base)
        return Chosen(tried, problem=_held(bench, tried) or str(error))
    except (OSError, ValueError):
        return Chosen(problem=f"{name} is no path.")


def _path(exact: Path | None, name: str, base: Path) -> Path | None:
    """Return the file that could not be read, so that it can be tried as another format."""
    try:
        return exact or as_named(name, base)
    except WorkbenchError:
        return None


def _held(bench: Workbench, path: Path | None) -> str:
    """Say what a file of episodes or patterns holds, which no format reads, and what takes it in; "" for another."""
    from workbench.services.agents.experience.import_files import experience_in

    try:
        held = experience_in(bench.context, bench.gate, path) if path is not None and path.is_file() else ()
    except (WorkbenchError, OSError) as error:
        return str(error) if isinstance(error, WorkbenchError) else ""
    if path is None or not held:
        return ""
    new = len(held[0].patterns) if held[0].kind == "patterns" else len(held[0].new)
    return f"{path.name} holds {held[0].kind}, {new:,} of them new. `workbench import {path.name}` takes them in."


def no_time(text: str) -> str | None:
    """Say what is wrong with the time of the first step; nothing is wrong with none."""
    try:
        instant(text or "now", datetime.now(UTC))
    except WorkbenchError as error:
        return str(error)
    return None


def no_hours(text: str) -> str | None:
    """Say what is wrong with the length of a step."""
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    return None if 0 < hours < 1e6 else "This is no number of hours above 0."
