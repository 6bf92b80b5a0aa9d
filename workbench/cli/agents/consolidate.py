"""`workbench consolidate`: what agents did and learned is tidied up, stage by stage, and reported."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import ProgressLine, interruptible
from workbench.cli.safety.flags import Shown
from workbench.cli.session import INTERRUPTED, Session
from workbench.core.agents.consolidation import STAGES, StageKind, due_at
from workbench.core.record import InvalidQuery
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.agents.consolidation import Becomes, Change, Consolidated, Stage
    from workbench.services.open import Workbench

LISTED = 20
"""Changes of a stage that are listed; --json lists all."""

LONG = 500
"""Records from which on a stage shows how far it is."""

_ABOUT = f"""The stages, in this order: {", ".join(kind.id for kind in STAGES)}. Each is an action of its own that
`workbench undo` takes back. Ctrl+c stops between two stages; the next run within a day goes on there. Nothing is lost:
episodes are archived under the one that stands for them, patterns go out of use as history. --dry-run says exactly what
a run would change. The report of the last run stands in Health, too, with when the next one is due (after a week).

  workbench consolidate --dry-run
  workbench consolidate --stages episodes,validation --report consolidation.md

Every Sunday at three, by cron (`crontab -e`), or by a systemd timer (OnCalendar=Sun 03:00) with the same command:

  0 3 * * 0  workbench --store /path/to/.workbench consolidate --json >> /path/to/consolidation.log 2>&1"""

_SAYS: "Mapping[Becomes, str]" = {
    "archived": "archived under",
    "validated": "in use, by its evidence",
    "under_review": "under review: it was contradicted",
    "candidate": "a candidate",
    "deprecated": "out of use: worth little",
    "proposed": "waits in Review:",
}


def add_commands(commands: Commands) -> None:
    """Add `consolidate`."""
    parser = add_command(commands, "consolidate", consolidate, "consolidate episodes and patterns", _ABOUT)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument("--stages", metavar="NAME,…", default="", help="only these (otherwise: all, or those left)")
    parser.add_argument("--anew", action="store_true", help="begin anew, whatever run was broken off")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the report to a new file, .md or .json")
    add_json(parser)


def consolidate(session: Session) -> int:
    args = session.args
    names = [name.strip() for name in args.stages.split(",") if name.strip()]
    if args.report is not None and args.dry_run:
        raise InvalidQuery("A dry run has no report.", "Leave out --report; --json prints what would be done.")
    line = _Line()
    with session.reading() if args.dry_run else session.changing() as bench, interruptible() as cancelled:
        work = bench.consolidating
        try:
            if args.dry_run:
                done = work.look(names, line, cancelled)
            else:
                done = work.carry_out(names, line, cancelled, anew=args.anew)
        finally:
            line.clear()
        if args.report is not None:
            _write(session.cwd / args.report, done)
        _tell(session, bench, done)
    return INTERRUPTED if done.left else 0


class _Line:
    """The progress of the stage that is at work."""

    def __init__(self) -> None:
        self._stage, self._line = "", ProgressLine("", LONG)

    def __call__(self, kind: StageKind, done: int, total: int) -> None:
        """Show how far a stage is."""
        if kind.id != self._stage:
            self.clear()
            self._stage, self._line = kind.id, ProgressLine(kind.id, LONG)
        self._line(done, total)

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()


def _tell(session: Session, bench: "Workbench", done: "Consolidated") -> None:
    from workbench.services.agents.consolidation import done_json

    dry, shown = session.args.dry_run, Shown(bench)
    if wants_json(session.args):
        write_json(shown(done_json(done, dry=dry)))
        return
    if done.again:
        say("Going on with the run that was broken off.")
    for one in done.stages:
        for text in _lines(one, dry, shown):
            say(text)
    if done.left:
        left = ", ".join(kind.id for kind in done.left)
        warn(f"Stopped. Left: {left}." if dry else f"Stopped. Left: {left}; `workbench consolidate` goes on there.")
    elif done.run is not None and (due := due_at(done.run)) is not None:
        say(f"The next one is due {moment(due)}.")


def _lines(stage: "Stage", dry: bool, shown: Shown) -> Iterator[str]:
    plan = stage.plan
    parts = [f"{counted(plan.looked, 'record')} looked at"]
    if plan.changes:
        parts.append(f"{len(plan.changes):,} {'would change' if dry else 'changed'}")
    if plan.measured:
        parts.append(f"{plan.measured:,} {'would be measured' if dry else 'measured'} anew")
    facts = (f"{name.replace('_', ' ')} {value:,.0f}" for name, value in plan.facts.items())
    yield f"{stage.kind.title}: {', '.join((*parts, *facts))}"
    yield from (f"  {_line(change, shown)}" for change in plan.changes[:LISTED])
    if len(plan.changes) > LISTED:
        yield f"  and {len(plan.changes) - LISTED:,} more"


def _line(change: "Change", shown: Shown) -> str:
    by = f" {one_line(shown(change.by), 80)}" if change.by else ""
    return f"{one_line(shown(change.id), 80)}  {_SAYS[change.becomes]}{by}"


def _write(file: Path, done: "Consolidated") -> None:
    import json

    from workbench.core.files.replacing import replace_file
    from workbench.services.agents.consolidation import markdown, run_json

    if done.run is not None:
        as_json = file.suffix == ".json"
        text = json.dumps(run_json(done.run), indent=2) + "\n" if as_json else markdown(done.run)
        replace_file(file, text, None)
