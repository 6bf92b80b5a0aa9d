"""`workbench import`: other tools' files into the store."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from workbench.cli.files import Given, issue_lines
from workbench.cli.output import fail, warn
from workbench.cli.parsing import hours, time
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import DONE, INTERRUPTED, PROBLEM, Session
from workbench.cli.verbs import Answer, Call, Option, Shown, Verb, flag, text, value
from workbench.core.files.formats import format_named
from workbench.core.record import WorkbenchError, WorkStopped
from workbench.core.text import counted, one_line, printable

if TYPE_CHECKING:
    from workbench.services.agents.patterns import ExperienceFile
    from workbench.services.files.importing import ImportPlan
    from workbench.services.open import Workbench

LONGEST = 10_000
"""Characters of a record that a dry run shows."""

LINES = "json-lines"
"""The format in which a person may name the field that holds the text."""

LONG = 1000
"""Records above which an import shows its progress."""

_DETAILS = """Formats are recognised by content: learning entries (JSON lines), ACE playbooks, skillbooks, cass,
query sets and qrels, genagents and Generative Agents nodes, .learnings, beads, MCP memory, mem0,
Letta, claude-mem (export or database), Claude Code's MEMORY.md, external memory, run logs
(bullet_usage_log.jsonl), replies of a Curator or Reflector and logs of their operations
(curator_operations_diff.jsonl), episodes and patterns (from `episode show --json`, `pattern show
--json` or agent-playbook; --format semantic-patterns turns its patterns into memories), and the
output of `export --format json`, yaml, csv or markdown and `list --json`. Instruction files
(AGENTS.md, CLAUDE.md, GEMINI.md, editor rules, SKILL.md) are documents without records;
--as-candidates takes their statements to Review. beads issues are skipped, unless --issues takes
the closed ones. Other JSON lines are read by their text field ("text", "lesson", "message" and
the like; --text names another).

A folder (memory bank, vault, an agent's memory folder) is read note by note: links between notes
become relations, unchanged files are skipped, JSON files of episodes and patterns are included,
and other files are named.

Ids are kept, so importing a file again adds only new records and keeps your changes; --theirs
takes the file's version instead. Purged records, and notes that another file brought, are skipped
and named; --again takes them. `workbench undo` takes back the last imported file."""


def _open(session: Session) -> "AbstractContextManager[Workbench]":
    """Settle the format that is asked for, which naming the field of the text does, too, and open
    the store.
    """
    args = session.args
    if args.text:
        args.format = args.format or LINES
        if args.format != LINES:
            raise WorkbenchError(f"--text needs --format {LINES}.", "Nothing was read.")
    if args.format is not None:
        format_named(args.format)
    if args.dry_run:
        return session.reading(planning=True, whole=True)
    return session.changing(checkpoint=True, makes=True)


def import_files(call: Call) -> Answer:
    """Import every file that can be read; exit code 2 only when none could."""
    # What is masked of a file no option shows, so nothing is said of it.
    call = call._replace(shown=Shown(call.bench))
    args, read = call.args, 0
    done: list[dict[str, object]] = []
    for path in args.files:
        try:
            rows, taken = _take_experience(call, path)
            read += len(rows)
            done += rows
            if rows and not call.path(path).is_dir():
                continue
            plan = _plan(call, path, taken)
        except WorkStopped as error:
            fail(error)
            return Answer(code=INTERRUPTED)
        except WorkbenchError as error:
            fail(Given(call.path(path), path).said(error))
            continue
        if not rows or plan.files or plan.unchanged:
            call.say(f"{path}: {_format(plan, args.format)}")
            for line in _issues(path, plan):
                warn(call.shown(line))
            read += 1
            if not args.dry_run and not _carry_out(call, plan):
                return Answer(code=INTERRUPTED)
            done.append(_plan_json(call, plan))
            for line in _report(call, plan):
                call.say(f"  {line}")
        for line in _passed(call, plan):
            call.say(f"  {printable(call.shown(line))}")
    return Answer(done, code=DONE if read else PROBLEM)


def _take_experience(call: Call, path: Path) -> tuple[list[dict[str, object]], frozenset[Path]]:
    """Take in what a file or a folder holds of episodes and patterns; return what JSON says of
    each, and the files.
    """
    from workbench.services.agents.consolidation import experience_in

    bench = call.bench
    found = () if call.args.format else experience_in(bench.context, bench.gate, call.path(path))
    rows = [_taken(call, path, one) for one in found]
    return rows, frozenset(file.resolve() for one in found for file in one.files)


def _taken(call: Call, path: Path, found: "ExperienceFile") -> dict[str, object]:
    """Take in what a file or a folder holds of one kind, say so, and return it for JSON."""
    from workbench.services.agents.consolidation import take

    bench, dry = call.bench, call.args.dry_run
    new = len(found.patterns if found.kind == "patterns" else found.new)
    ids = take(bench.context, found) if new and not dry else ()
    call.say(f"{path}: {found.kind} (JSON)")
    for line in found.lines if dry else ():
        call.say(f"  + {one_line(call.shown(line), LONGEST)}")
    would = "would be new" if dry else "new"
    what = f"{would}: {counted(new, found.kind.removesuffix('s'))}" if new else "nothing new"
    there = f", {len(found.present):,} already present" if found.present else ""
    call.say(f"  {what}{there}")
    if found.skipped:
        call.say(f"  {counted(found.skipped, 'record')} skipped")
    for problem in found.problems:
        warn(bench.safety.masked(problem))
    return {
        "file": path, "format": found.kind, "dry_run": dry, "new": {found.kind: new},
        "present": len(found.present), "kept": [], "memories": [], found.kind: list(ids),
    }  # fmt: skip


def _plan_json(call: Call, plan: "ImportPlan") -> dict[str, object]:
    """Return what one file brought: how many of each kind, and the ids of new memories."""
    from workbench.core.stream.memory import Memory
    from workbench.services.files.importing import passed_over

    return {
        "file": plan.path,
        "format": plan.parsed.format,
        "dry_run": call.args.dry_run,
        "new": plan.counts,
        "present": plan.present,
        "kept": plan.kept,
        "memories": [record.id for record in plan.records if isinstance(record, Memory)],
        "purged": plan.purged,
        "known": [memory.id for memory in plan.known],
        "passed_over": passed_over(plan.passed),
    }


def _plan(call: Call, path: Path, taken: frozenset[Path]) -> "ImportPlan":
    """Read one file or folder, of which the files `taken` in are not told."""
    args = call.args
    line = ProgressLine(f"reading {path.name}", LONG, monotonic)
    with progressing(line) as cancelled:
        plan = call.bench.importer.plan(
            call.path(path), format=args.format, epoch=call.session.time(args.epoch), step_hours=args.step,
            theirs=args.theirs, as_candidates=args.as_candidates, issues=args.issues, text_name=args.text,
            again=args.again, progress=line, cancelled=cancelled,
        )  # fmt: skip
    root = plan.path.resolve()
    return replace(plan, passed=tuple(one for one in plan.passed if root / one.path not in taken))


def _passed(call: Call, plan: "ImportPlan") -> Sequence[str]:
    """Name what a folder holds that is not read, all of it when asked to."""
    from workbench.services.files.importing import SHOWN, passed_said

    return passed_said(plan.passed, None if call.args.verbose else SHOWN)


def _issues(path: Path, plan: "ImportPlan") -> list[str]:
    """Return what could not be read, under the names of the files that it stands in."""
    issues = plan.parsed.issues
    if not plan.path.is_dir():
        return issue_lines(path, issues)
    files = dict.fromkeys(issue.file for issue in issues)
    told = ((file, [issue for issue in issues if issue.file == file]) for file in files)
    return [line for file, some in told for line in issue_lines(path / file, some)]


def _report(call: Call, plan: "ImportPlan") -> Iterator[str]:
    """Say what is new, what stayed, and which values were changed on the way."""
    from workbench.core.stream.confidence import imported
    from workbench.services.files.importing import replacement_said, said

    shown, parsed = call.shown, plan.parsed
    if call.args.dry_run:
        replacing = {id(new) for _, new in plan.replaced}
        told = [f"+ {shown(said(one))}" for one in plan.records if id(one) not in replacing]
        told += [shown(line) for old, new in plan.replaced for line in replacement_said(old, new)]
        yield from (one_line(line, LONGEST) for line in told)
    yield _counts(plan, dry=call.args.dry_run)
    if plan.kept:
        kept = shown(_some(plan.kept))
        yield f"kept as they are in the store: {kept}; --theirs takes the file's version"
    if plan.purged:
        yield f"skipped, purged before: {shown(_some(plan.purged))}; --again takes them"
    if plan.known:
        names = (str(imported(one.metadata).get("path") or one.id) for one in plan.known)
        files = shown(_some(list(dict.fromkeys(names)), 3))
        known = counted(len(plan.known), "memory", "memories")
        yield f"{known} skipped, known from {files}; --again keeps both"
    yield from (shown(str(note)) for note in (parsed.mappings if plan.records else ()))
    yield from _skipped(plan)


def _skipped(plan: "ImportPlan") -> Iterator[str]:
    from workbench.services.files.importing import skipped

    parsed = plan.parsed
    if parsed.offered:
        make = counted(parsed.offered, "statement makes sense", "statements make sense")
        yield f"{make} without the rest; --as-candidates sends them to Review"
    if parsed.closed:
        yield f"{counted(parsed.closed, 'closed issue')}; --issues takes them as observations"
    if left_out := skipped(plan):
        yield f"{counted(left_out, 'record')} skipped"


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _format(plan: "ImportPlan", asked: str | None) -> str:
    """Name the format, and why it was taken for that."""
    title, found = format_named(plan.parsed.format).title, plan.parsed.detected
    if plan.path.is_dir():
        same = f", {plan.unchanged:,} unchanged" if plan.unchanged else ""
        return f"a folder of {counted(len(plan.files) + plan.unchanged, 'file')}{same}"
    if asked is not None:
        return f"read as {title}, as requested"
    return f"{title}, {found.confidence:.0%} sure ({found.reason})" if found else title


def _counts(plan: "ImportPlan", *, dry: bool) -> str:
    from workbench.services.files.importing import counts_said

    parsed, would = plan.parsed, "would be " if dry else ""
    if fresh := counts_said(plan):
        parts = [f"{would}new: {', '.join(fresh)}"]
    else:
        known = parsed.records_in or parsed.offered or plan.unchanged
        parts = ["nothing new" if known else "it contains no records"]
    if plan.present:
        parts.append(f"{plan.present:,} already present")
    if plan.replaced:
        taken = counted(len(plan.replaced), "record")
        parts.append(f"{taken} {would}replaced by the file's version")
    if plan.kept:
        parts.append(f"{len(plan.kept):,} kept")
    return " · ".join(parts)


def _carry_out(call: Call, plan: "ImportPlan") -> bool:
    """Write what is new; return whether it went through to the end."""
    line = ProgressLine(f"importing {plan.path.name}", LONG, monotonic)
    with progressing(line) as cancelled:
        report = call.bench.importer.carry_out(
            plan, as_new=call.args.as_new, progress=line, cancelled=cancelled
        )
    if report.overtaken:
        some = _some(report.overtaken)
        warn(f"workbench: Stored by another program meanwhile and left unchanged: {some}.")
    if report.cancelled:
        done = f"{report.written:,} of {len(plan.records):,} records were written"
        back = "`workbench undo` takes them back; importing again adds the rest."
        rest = back if report.written else "Nothing changed."
        warn(f"workbench: The import of {plan.path.name} was stopped; {done}. {rest}")
    return not report.cancelled


OPTIONS: Mapping[str, Option] = {
    "files": {"metavar": "FILE", "type": Path},
    "--format": value("F", "the format, instead of recognising it"),
    "--text": text("the text field of JSON lines in no known format", "NAME"),
    "--theirs": flag("take the file's version of records that differ (--dry-run shows a diff)"),
    "--dry-run": flag("show what would be imported, without importing it"),
    "--again": flag("also store what was purged or came from another file"),
    "--as-candidates": flag("import statements of instruction files as candidates"),
    "--issues": flag("import closed beads issues as observations"),
    "--as-new": flag("count the memories towards the next reflection"),
    "--epoch": value("WHEN", "time of step 0 in files that count steps (default: the last step is now)", type=time),
    "--step": value("HOURS", "hours per step (default: 1)", type=hours, default=1.0),
    "--verbose": flag("name every file in a folder that is not read"),
}  # fmt: skip

VERBS = (
    Verb("import", import_files, "import files of memories, playbooks or queries",
         "files+ --format --text --theirs --dry-run --again --as-candidates --issues --as-new --epoch --step --verbose "
         "--json", _DETAILS, "playbook.md notes/ --dry-run", _open),
)  # fmt: skip
