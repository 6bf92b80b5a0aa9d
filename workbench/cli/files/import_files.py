"""`workbench import`: other tools' files into the store."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from workbench.cli.files.convert import given
from workbench.cli.issues import issue_lines
from workbench.cli.output import fail, say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, hours, time, wants_json
from workbench.cli.progress import ProgressLine, interruptible
from workbench.cli.safety.flags import Shown
from workbench.cli.session import INTERRUPTED, PROBLEM, Session
from workbench.core.files.formats import format_named
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.agents.patterns import ExperienceFile
    from workbench.services.files.importing import ImportPlan, ImportReport
    from workbench.services.open import Workbench

LONGEST = 10_000
"""Characters of a record that a dry run shows."""

LINES = "json-lines"
"""The format in which a person may name the field that holds the text."""

LONG = 1000
"""Records above which an import shows its progress."""

_DETAILS = """Formats are recognised by content: learning entries (JSON lines), ACE playbooks, skillbooks, cass,
query sets and qrels, genagents and Generative Agents nodes, .learnings,
beads, MCP memory, mem0, Letta, claude-mem (export or database), Claude Code's MEMORY.md,
external memory, run logs (bullet_usage_log.jsonl), replies of a Curator or Reflector and logs of
their operations (curator_operations_diff.jsonl), episodes and patterns as `episode show --json` and
`pattern show --json` print them and as agent-playbook writes them (--format semantic-patterns makes
memories of its patterns), and what `export --format json`, yaml, csv or markdown and `list --json`
write. Instruction files (AGENTS.md, CLAUDE.md, GEMINI.md,
rules of editors, SKILL.md) are documents and bring no records, unless --as-candidates takes their
statements to be reviewed. Issues of beads stay out, too, unless --issues takes those that are
closed. Other JSON lines are read by the field that holds their text ("text", "lesson", "message" and
the like; --text names another). A folder is read note by note (memory banks, vaults, an agent's memory folder): links
among them become relations, and files that are as they were read last are passed over; its JSON files of
episodes and patterns (agent-playbook's episodic/ among them) are taken in, too, and what else lies there is named.
Ids are kept, so importing a file again adds only what is new, and what was changed in the store stays; --theirs takes
the file's version instead. What was purged, and notes that another file brought, are skipped and named;
--again takes them. `workbench undo` takes the last imported file back."""


def add_commands(commands: Commands) -> None:
    """Add `import`."""
    parser = add_command(
        commands, "import", import_files, "import files of memories, playbooks or queries", _DETAILS,
        example="playbook.md notes/ --dry-run",
    )  # fmt: skip
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument(
        "--format", metavar="F", help="read the files as this format instead of recognising it"
    )
    theirs = "take the file's version of what differs; with --dry-run as a diff"
    text = "the field that holds the text of JSON lines that are of no other format"
    parser.add_argument("--text", metavar="NAME", default="", help=text)
    parser.add_argument("--theirs", action="store_true", help=theirs)
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be imported, and write nothing"
    )
    again = "store what is skipped as purged, or as known from another file"
    parser.add_argument("--again", action="store_true", help=again)
    as_candidates = "take the statements of an instruction file as candidates"
    parser.add_argument("--as-candidates", action="store_true", help=as_candidates)
    parser.add_argument(
        "--issues",
        action="store_true",
        help="take the closed issues of a beads file as observations",
    )
    parser.add_argument(
        "--as-new", action="store_true", help="let the memories count towards the next reflection"
    )
    parser.add_argument(
        "--epoch",
        metavar="WHEN",
        type=time,
        help="time of step 0 in files that count steps (otherwise they end now)",
    )
    parser.add_argument(
        "--step", metavar="HOURS", type=hours, default=1.0, help="hours a step takes (default: 1)"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="name everything in a folder that is not read"
    )
    add_json(parser)


def import_files(session: Session) -> int:
    """Import every file that can be read; exit code 2 only when none could."""
    from workbench.core.record import WorkStopped

    _require_format(session)
    dry = session.args.dry_run
    store = (
        session.reading(planning=True, whole=True)
        if dry
        else session.changing(checkpoint=True, makes=True)
    )
    read = 0
    done: list[dict[str, object]] = []
    with store as bench:
        shown = Shown(bench)
        for path in session.args.files:
            try:
                rows, taken = _take_experience(session, bench, path)
                read += len(rows)
                done += rows
                if rows and not (session.cwd / path.expanduser()).is_dir():
                    continue
                plan = _plan(session, bench, path, taken)
                if rows and not (plan.files or plan.unchanged):
                    _say_passed(session, plan, shown)
                    continue
                _introduce(session, path, plan, shown)
            except WorkStopped as error:
                fail(error)
                return INTERRUPTED
            except WorkbenchError as error:
                fail(given(session.cwd, path).said(error))
                continue
            read += 1
            if not session.args.dry_run and not _carry_out(session, bench, plan):
                return INTERRUPTED
            if wants_json(session.args):
                done.append(_json(plan, shown, dry=session.args.dry_run))
                continue
            _report(plan, shown, dry=session.args.dry_run)
            _say_passed(session, plan, shown)
    if wants_json(session.args):
        write_json(done)
    return 0 if read else PROBLEM


def _require_format(session: Session) -> None:
    """Settle the format that is asked for, which naming the field of the text does, too. Raises
    `WorkbenchError`.
    """
    args = session.args
    if args.text:
        args.format = args.format or LINES
        if args.format != LINES:
            raise WorkbenchError(f"--text goes with --format {LINES} only.", "Nothing was read.")
    if args.format is not None:
        format_named(args.format)


def _take_experience(
    session: Session, bench: "Workbench", path: Path
) -> tuple[list[dict[str, object]], frozenset[Path]]:
    """Take in what a file or a folder holds of episodes and patterns; return what JSON says of
    each, and the files.
    """
    from workbench.services.agents.consolidation import experience_in

    place = session.cwd / path.expanduser()
    found = () if session.args.format else experience_in(bench.context, bench.gate, place)
    rows = [_taken(session, bench, path, one) for one in found]
    return rows, frozenset(file.resolve() for one in found for file in one.files)


def _taken(
    session: Session, bench: "Workbench", path: Path, found: "ExperienceFile"
) -> dict[str, object]:
    """Take in what a file or a folder holds of one kind, say so, and return it for JSON."""
    from workbench.services.agents.consolidation import take

    args = session.args
    taken = (
        tuple(one.id for one in found.patterns)
        if found.kind == "patterns"
        else ("",) * len(found.new)
    )
    new, ids = len(taken), () if args.dry_run or not taken else take(bench.context, found)
    if not wants_json(args):
        _say_taken(path, found, new, Shown(bench), dry=args.dry_run)
    for problem in found.problems:
        warn(bench.safety.masked(problem))
    return {
        "file": path, "format": found.kind, "dry_run": args.dry_run, "new": {found.kind: new},
        "present": len(found.present), "kept": [], "memories": [], found.kind: list(ids),
    }  # fmt: skip


def _say_taken(path: Path, found: "ExperienceFile", new: int, shown: Shown, *, dry: bool) -> None:
    """Say what files held of one kind, and of a dry run each that would come in."""
    from workbench.core.text import one_line

    say(f"{path}: {found.kind} (JSON)")
    for line in found.lines if dry else ():
        say(f"  + {one_line(shown(line), LONGEST)}")
    what = (
        f"{'would be new' if dry else 'new'}: {counted(new, found.kind.removesuffix('s'))}"
        if new
        else "nothing new"
    )
    say(f"  {what}{f', {len(found.present):,} present already' if found.present else ''}")
    if found.skipped:
        say(f"  {counted(found.skipped, 'record')} skipped")


def _json(plan: "ImportPlan", shown: Shown, *, dry: bool) -> dict[str, object]:
    """Return what one file brought: how many of each kind, and the ids of new memories."""
    from workbench.core.stream.memory import Memory
    from workbench.services.files.theirs import passed_over

    ids = [record.id for record in plan.records if isinstance(record, Memory)]
    about = {"file": plan.path, "format": plan.parsed.format, "dry_run": dry}
    kept, ids = shown(list(plan.kept)), shown(ids)
    return {
        **about,
        "new": plan.counts,
        "present": plan.present,
        "kept": kept,
        "memories": ids,
        "purged": shown(list(plan.purged)),
        "known": shown([memory.id for memory in plan.known]),
        "passed_over": {why: shown(list(names)) for why, names in passed_over(plan.passed).items()},
    }


def _plan(session: Session, bench: "Workbench", path: Path, taken: frozenset[Path]) -> "ImportPlan":
    """Read one file, say what it is and what in it cannot be read; of a folder the files `taken` in
    are not told.
    """
    args = session.args
    line = ProgressLine(f"reading {path.name}", LONG, monotonic)
    with interruptible() as cancelled:
        try:
            plan = bench.importer.plan(
                session.cwd / path.expanduser(), format=args.format, epoch=session.time(args.epoch),
                step_hours=args.step, theirs=args.theirs, as_candidates=args.as_candidates,
                issues=args.issues, text_name=args.text, again=args.again, progress=line, cancelled=cancelled,
            )  # fmt: skip
        finally:
            line.clear()
    root = plan.path.resolve()
    return replace(plan, passed=tuple(one for one in plan.passed if root / one.path not in taken))


def _introduce(session: Session, path: Path, plan: "ImportPlan", show: Shown) -> None:
    """Say what a file is, and what in it cannot be read."""
    args = session.args
    if not wants_json(args):
        say(f"{path}: {_format(plan, args.format)}")
    for line_said in _issues(path, plan):
        warn(show(line_said))


def _say_passed(session: Session, plan: "ImportPlan", show: Shown) -> None:
    """Name what a folder holds that is not read, all of it when asked to."""
    from workbench.core.text import printable
    from workbench.services.files.importing import SHOWN, passed_said

    for line in (
        ()
        if wants_json(session.args)
        else passed_said(plan.passed, None if session.args.verbose else SHOWN)
    ):
        say(f"  {printable(show(line))}")


def _issues(path: Path, plan: "ImportPlan") -> list[str]:
    """Return what could not be read, under the names of the files that it stands in."""
    if not plan.path.is_dir():
        return issue_lines(path, plan.parsed.issues)
    files = dict.fromkeys(issue.file for issue in plan.parsed.issues)
    told = ((file, [issue for issue in plan.parsed.issues if issue.file == file]) for file in files)
    return [line for file, issues in told for line in issue_lines(path / file, issues)]


def _list(plan: "ImportPlan", shown: Shown) -> None:
    """Say of every record that would be written what it is."""
    from workbench.core.text import one_line
    from workbench.services.files.importing import replacement_said, said

    taken = {id(new) for _, new in plan.replaced}
    for record in plan.records:
        if id(record) not in taken:
            say(f"  + {one_line(shown(said(record)), LONGEST)}")
    for old, new in plan.replaced:
        for line in replacement_said(old, new):
            say(f"  {one_line(shown(line), LONGEST)}")


def _report(plan: "ImportPlan", show: Shown, *, dry: bool) -> None:
    """Say what is new, what stayed, and which values were changed on the way."""
    from workbench.core.stream.confidence import imported
    from workbench.services.files.importing import skipped

    if dry:
        _list(plan, show)
    say(f"  {_counts(plan, dry=dry)}")
    if plan.kept:
        shown = show(_some(plan.kept))
        say(
            f"  kept as they are in the store, where they differ: {shown}; --theirs takes the file's version"
        )
    if plan.purged:
        say(f"  left out, since they were purged: {show(_some(plan.purged))}; --again takes them")
    if plan.known:
        files = dict.fromkeys(
            str(imported(memory.metadata).get("path") or memory.id) for memory in plan.known
        )
        known = counted(len(plan.known), "memory", "memories")
        say(f"  {known} skipped, known from {show(_some(list(files), 3))}; --again keeps both")
    for note in plan.parsed.mappings if plan.records else ():
        say(f"  {show(str(note))}")
    if plan.parsed.offered:
        said = counted(plan.parsed.offered, "statement")
        say(f"  {said} can be understood alone; --as-candidates takes them to be reviewed")
    if plan.parsed.closed:
        say(f"  {counted(plan.parsed.closed, 'closed issue')}; --issues takes them as observations")
    if left_out := skipped(plan):
        say(f"  {counted(left_out, 'record')} skipped")


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _format(plan: "ImportPlan", asked: str | None) -> str:
    """Name the format, and why it was taken for that."""
    title, found = format_named(plan.parsed.format).title, plan.parsed.detected
    if plan.path.is_dir():
        same = f", {plan.unchanged:,} as they were" if plan.unchanged else ""
        return f"a folder of {counted(len(plan.files) + plan.unchanged, 'file')}{same}"
    if asked is not None:
        return f"read as {title}, as asked for"
    return f"{title}, {found.confidence:.0%} sure ({found.reason})" if found else title


def _counts(plan: "ImportPlan", *, dry: bool) -> str:
    from workbench.services.files.importing import counts_said

    fresh = counts_said(plan)
    parts = [f"{'would be new' if dry else 'new'}: {', '.join(fresh)}" if fresh else _nothing(plan)]
    if plan.present:
        parts.append(f"{plan.present:,} present already")
    if plan.replaced:
        taken = counted(len(plan.replaced), "record")
        parts.append(f"{taken} {'would be ' if dry else ''}replaced by the file's version")
    if plan.kept:
        parts.append(f"{len(plan.kept):,} kept")
    return " · ".join(parts)


def _nothing(plan: "ImportPlan") -> str:
    """Say that there is nothing new; of a valid file without any record, that it holds none."""
    known = plan.parsed.records_in or plan.parsed.offered or plan.unchanged
    return "nothing new" if known else "it holds no records"


def _carry_out(session: Session, bench: "Workbench", plan: "ImportPlan") -> bool:
    """Write what is new; return whether it went through to the end."""
    line = ProgressLine(f"importing {plan.path.name}", LONG, monotonic)
    with interruptible() as cancelled:
        try:
            report = bench.importer.carry_out(
                plan, as_new=session.args.as_new, progress=line, cancelled=cancelled
            )
        finally:
            line.clear()
    if report.overtaken:
        some = _some(report.overtaken)
        warn(f"workbench: Stored by another program meanwhile, and left as it is: {some}.")
    if report.cancelled:
        warn(_cancelled(report))
    return not report.cancelled


def _cancelled(report: "ImportReport") -> str:
    total = len(report.plan.records)
    done = f"{report.written:,} of {total:,} records were written"
    rest = (
        "`workbench undo` takes them back, importing again adds the rest."
        if report.written
        else "Nothing changed."
    )
    return f"workbench: The import of {report.plan.path.name} was stopped; {done}. {rest}"
