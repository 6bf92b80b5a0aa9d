"""`workbench export --format notes --out FOLDER`: what was changed here, back into the notes it came from."""

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn
from workbench.cli.safety.flags import Shown
from workbench.cli.safety.trust import allow, held_back, require_clean
from workbench.cli.session import DONE, FOUND, Session, actor_of
from workbench.core.agents.actors import require_person
from workbench.core.record import WorkbenchError
from workbench.core.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.services.files.folders import FolderEdit, FolderPlan, LeftAlone
    from workbench.services.open import Workbench

SHOWN = 40
"""Lines of differences that are shown of one file; a dry run shows all."""

_WHY = {
    "changed": "it changed on disk since it was read or written here",
    "unplaced": "what was changed has no place in it",
    "forgotten": "its note was forgotten here",
    "unreadable": "it could not be read or written",
}
_NOT_WITH = (
    "book", "section", "min_helpful", "within_budget", "dialect", "memories", "filter", "all_status", "copy", "merge",
)  # fmt: skip


def export_folder(session: Session, path: Path | None) -> int:
    """Show and write what changed; exit code 1 when a file or a flagged record was left alone."""
    args = session.args
    require_person(actor_of(args), "write notes back", "Nothing was written")
    _require_fitting(session, path)
    assert path is not None
    named: Path = args.out
    with session.reading() if args.dry_run and not args.allow_flagged else session.changing() as bench:
        allow(bench, args.allow_flagged, args.reason)
        plan, held = _plan(bench, path, named, args)
        if args.dry_run:
            for edit in plan.edits:
                _show(bench, named, edit, None)
            _say_left(bench, named, plan.left)
            stays = _stays(plan, front=args.front_matter)
            say(f"{counted(len(plan.edits), 'file')} would be changed{stays}. Nothing was written.")
            return FOUND if plan.left or held else DONE
        done = bench.folder_exporter.write(plan)
        for edit in done.edits:
            _show(bench, named, edit, SHOWN)
        for name, copy in done.copies:
            say(f"What {named / name} held is kept as {copy}.")
        _say_left(bench, named, done.left)
        say(_summary(plan, done.edits, front=args.front_matter))
    return FOUND if done.left or held else DONE


def _require_fitting(session: Session, path: Path | None) -> None:
    args = session.args
    for name in _NOT_WITH:
        if getattr(args, name) not in (None, "", False):
            raise WorkbenchError(f"--{name.replace('_', '-')} does not go with --format notes.", "Nothing was written.")
    if path is None:
        hint = "Name it with --out; nothing was written."
        raise WorkbenchError("Notes are written back into the folder they were imported from.", hint)


def _plan(bench: "Workbench", path: Path, named: Path, args: Namespace) -> tuple["FolderPlan", bool]:
    """Return what is written, without flagged records, and whether any was left out unasked."""
    planned = partial(bench.folder_exporter.plan, path, force=args.force, makes_front=args.front_matter)
    plan = planned()
    if not plan.known:
        raise WorkbenchError(
            f"No file in {named} was imported into this store.",
            f"`workbench import {path}` reads it; nothing was written.",
        )
    if held := held_back(bench, plan.parsed, imported=args.skip_flagged):
        plan = planned(without=held)
        if not args.skip_flagged:
            warn("  --allow-flagged ID --reason TEXT lets it out.")
    for remark in require_clean(bench, plan.parsed):
        warn(remark)
    if plan.masked:
        warn(f"Secrets are masked in {counted(plan.masked, 'record')}.")
    return plan, bool(held) and not args.skip_flagged


def _show(bench: "Workbench", path: Path, edit: "FolderEdit", most: int | None) -> None:
    shown, lines = Shown(bench), edit.lines()
    say(f"--- {path / edit.name}" + ("" if edit.after is not None else " (removed)"))
    for line in lines[:most]:
        say(printable(shown(str(line))))
    if most is not None and len(lines) > most:
        say(f"… {counted(len(lines) - most, 'more line', 'more lines')}")


def _say_left(bench: "Workbench", path: Path, left: "Iterable[LeftAlone]") -> None:
    shown = Shown(bench)
    for one in left:
        more = f": {shown(one.reason)}" if one.reason else ""
        warn(f"{path / one.name} was left as it is: {_WHY[one.why]}{more}.")
        if one.why == "changed":
            warn("  `workbench import FOLDER --theirs` takes its text, --force writes ours and keeps a copy.")
        elif one.why == "forgotten":
            warn("  --force removes it and keeps a copy.")


def _summary(plan: "FolderPlan", edits: "tuple[FolderEdit, ...]", *, front: bool) -> str:
    said = counted(sum(edit.records for edit in edits), "record")
    changed = f"{len(edits):,} of {counted(plan.known, 'file')} changed ({said})" if edits else "Nothing to write"
    return changed + _stays(plan, front=front)


def _stays(plan: "FolderPlan", *, front: bool) -> str:
    """Return what of the changes has no place in the files; with front matter only that of entries has none."""
    if not plan.unplaced:
        return ""
    stays = ", ".join(f"{what} of {count:,}" for what, count in sorted(plan.unplaced.items()))
    way = "" if front or "votes" not in plan.unplaced else " (--front-matter makes one in whole notes)"
    return f" · kept in the store only, as the notes have no place for it: {stays}{way}"
