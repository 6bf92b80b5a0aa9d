"""`workbench archive`: old memories out of the way, and into a file if wanted."""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.files.export import report_written
from workbench.cli.output import moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, time, wants_json
from workbench.cli.safety.flags import Shown
from workbench.cli.session import Session
from workbench.core.record import InvalidQuery
from workbench.core.stream.memory import STATUSES
from workbench.core.stream.times import instant
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.files.exporting import ExportPreview, Written
    from workbench.services.open import Workbench
    from workbench.services.stream.archiving import ArchivePlan

LISTED = 20
"""Memories that a dry run lists."""

FORMAT = "jsonl"

_DETAILS = """Archives every memory of a status that was made before DATE, in one action that `undo` takes back; pinned
ones stay. Signals and candidates are archived as pruned, confirmed and promoted memories as done. An archived memory is
served to no agent and kept in the store; `unforget` brings one back, `purge` erases it.
With --to the archived entries are also written to a file of learning entries (JSON lines), with those that it has;
`import` reads it. The file is replaced as by `export`: never one that was not read or written here. With --status
archived nothing changes, and the file gets what was archived before.

  workbench archive --before 2026-01-01 --status promoted --to memory-archive.jsonl"""


def add_commands(commands: Commands) -> None:
    """Add `archive`."""
    parser = add_command(commands, "archive", archive, "archive old memories of a status", _DETAILS)
    about = "made before this: 3mo, 2026-01-01, …"
    parser.add_argument("--before", metavar="WHEN", type=time, required=True, help=about)
    parser.add_argument("--status", metavar="S", choices=STATUSES, required=True, help=", ".join(STATUSES))
    parser.add_argument("--to", metavar="FILE", type=Path, help="write them to this file, too: memory-archive.jsonl")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be archived")
    add_json(parser)


def archive(session: Session) -> int:
    args = session.args
    if args.status == "archived" and args.to is None:
        raise InvalidQuery("They are archived already.", "Nothing was changed; --to FILE writes them to a file.")
    path = None if args.to is None else session.cwd / args.to.expanduser()
    with session.reading() if args.dry_run else session.changing() as bench:
        plan = bench.archiving.plan(args.status, instant(args.before, session.clock()))
        if args.dry_run or not plan.memories:
            _show(session, bench, plan)
            return 0
        if path is not None:
            _require_room(bench, plan, path)
        bench.archiving.carry_out(plan)
        written = None if path is None else _write(bench, plan, path)
    _report(session, plan, written)
    return 0


def _require_room(bench: "Workbench", plan: "ArchivePlan", path: Path) -> None:
    """Raise, before anything is changed, when the file may not be written or a text may not leave the store."""
    from workbench.services.files.overwriting import NotReplaced

    bench.safety.require_outgoing(plan.memories)
    obstacle = _preview(bench, plan, path).obstacle
    if obstacle is not None:
        raise NotReplaced(obstacle, "Nothing was archived; name another file.")


def _preview(bench: "Workbench", plan: "ArchivePlan", path: Path) -> "ExportPreview":
    from workbench.services.files.exporting import Choice

    rendered = bench.exporter.render(FORMAT, Choice(memories=bench.archiving.for_file(plan, path)), path)
    return bench.exporter.preview(path, rendered.text, rendered.remarks, kind=rendered.export_format)


def _write(bench: "Workbench", plan: "ArchivePlan", path: Path) -> "Written":
    written = bench.exporter.write(_preview(bench, plan, path))
    report_written(written)
    return written


def _show(session: Session, bench: "Workbench", plan: "ArchivePlan") -> None:
    """Say what a plan is about; it is carried out by nobody."""
    if wants_json(session.args):
        write_json(_json(plan, dry=session.args.dry_run))
        return
    shown = Shown(bench, how="`workbench show` tells them")
    rows = [(shown(m).id, moment(m.created_at), m.observation_type, shown(m.line)) for m in plan.memories[:LISTED]]
    for line in table(rows) if rows else ():
        say(line)
    if len(plan.memories) > LISTED:
        say(f"… {len(plan.memories) - LISTED:,} more")
    shown.remark()
    what = counted(len(plan.memories), "memory", "memories")
    say(f"{what} of status {plan.status} from before {moment(plan.before)}. Nothing was changed.")
    _remark(plan)


def _report(session: Session, plan: "ArchivePlan", written: "Written | None") -> None:
    if wants_json(session.args):
        write_json({**_json(plan, dry=False), "file": None if written is None else written.path})
        return
    what = counted(len(plan.memories), "memory", "memories")
    if plan.changes:
        say(f"Archived {what}. `workbench undo` brings them back.")
    if written is not None:
        say(f"{written.path} holds them; `workbench import` reads it.")
    _remark(plan)


def _remark(plan: "ArchivePlan") -> None:
    if plan.pinned:
        warn(f"{counted(plan.pinned, 'memory', 'memories')} of that age stay{'s' if plan.pinned == 1 else ''}: pinned.")


def _json(plan: "ArchivePlan", *, dry: bool) -> dict[str, object]:
    return {
        "dry_run": dry,
        "status": plan.status,
        "before": plan.before,
        "ids": [memory.id for memory in plan.memories],
        "pinned": plan.pinned,
    }
