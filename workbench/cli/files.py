"""`workbench convert`, `lint` and `watch`: files of other tools, with or without a store."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli.output import fail, picked, say, table, warn
from workbench.cli.progress import interruptible
from workbench.cli.session import DONE, FOUND, PROBLEM, Session
from workbench.cli.verbs import Answer, Call, Option, Verb, flag, reading, unopened, value
from workbench.config import paths
from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.core.text import counted, printable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from workbench.core.files.format import Issue
    from workbench.core.files.lint import LintFinding
    from workbench.core.files.memory_md import Cut
    from workbench.services.files.lint import Correction, Linted
    from workbench.services.files.overwriting import FileChange
    from workbench.services.open import Workbench


class Given(NamedTuple):
    """A file as somebody named it: a relative name in, a relative name out."""

    full: Path
    name: Path

    def of(self, path: Path) -> Path:
        """Return the name of this file, or of one in its folder or below that, as somebody would
        write it here.
        """
        if path == self.full:
            return self.name
        folder = self.full.parent
        return self.name.parent / path.relative_to(folder) if path.is_relative_to(folder) else path

    def said(self, error: WorkbenchError) -> WorkbenchError:
        """Return an error of the same kind that calls the file as somebody did."""
        said = copy(error)
        said.message, said.hint = (
            text.replace(str(self.full), str(self.name)) for text in (error.message, error.hint)
        )
        return said


# What readers could not take, as lines for a person: of many of one kind the first, and how many
# more.


ALIKE = 20
"""Places with the same problem that are printed one by one."""


class Place(NamedTuple):
    """A line, what is said about it and below that, and the kind it is of with others."""

    line: int
    said: str
    kind: str
    below: tuple[str, ...] = ()


def issue_lines(name: object, issues: "Sequence[Issue]") -> list[str]:
    """Return `name:line: reason` for each issue, and one line for what is left of those of one
    kind.
    """
    return place_lines(name, (Place(issue.line, issue.reason, issue.kind) for issue in issues))


def place_lines(name: object, places: Iterable[Place]) -> list[str]:
    """Return `name:line: said` for each place, with what is said below it, and one line for what is
    left of a kind.
    """
    seen: dict[str, list[int]] = {}
    lines: list[str] = []
    for place in places:
        same = seen.setdefault(place.kind, [])
        same.append(place.line)
        if len(same) <= ALIKE:
            lines += [f"{name}:{place.line}: {place.said}", *place.below]
    for kind, same in seen.items():
        if len(same) > ALIKE:
            more = counted(len(same) - ALIKE, "more place")
            lines.append(f"{name}: … and {more} up to line {max(same):,}: {kind}")
    return lines


# `workbench convert`: one file format into another, without a store.


_CONVERT = """The format of IN is recognised by content, that of OUT by its name: .txt an ACE playbook, .jsonl
learning entries, .json a skillbook or plain JSON, .yaml a cass playbook or plain YAML, .csv, .md,
.af, .qrels. --from and --to override this. OUT may be - for stdout. No store is read or changed."""


def convert_file(call: Call) -> Answer:
    """Convert, say what was lost, and write the new file in one step."""
    args = call.args
    source, target = (Given(call.path(name), name) for name in (args.source, args.target))
    try:
        return _converted(call, source.full, target.full)
    except WorkbenchError as error:
        raise target.said(source.said(error)) from error


def _converted(call: Call, source: Path, target: Path) -> Answer:
    from workbench.cli.export import to_stdout
    from workbench.core.files.replacing import bytes_of, present_bytes, replace_file
    from workbench.services.files.convert import convert
    from workbench.services.files.replaced import Replaced

    args = call.args
    to_screen = str(args.target) == "-"
    there = None if to_screen else present_bytes(target)
    if there is not None and not args.force:
        raise WorkbenchError(f"{target} exists.", "Nothing was written; --force replaces it.")
    done = convert(
        source, args.target, call.session.clock(), read_as=args.read_as, write_as=args.write_as
    )
    for line in (*issue_lines(args.source, done.issues), *done.remarks):
        warn(line)
    if to_screen:
        to_stdout(done.text)
        return Answer()
    goes = there is not None and there != bytes_of(done.text)
    kept = Replaced(paths.replaced_dir()).keep(target, there) if goes and there else None
    replace_file(target, done.text, there)
    read, whole = done.parsed.records_read, done.parsed.records_in
    if done.written is not None and done.written != read:
        warn(f"{counted(read, 'record')} read, {done.written:,} verified in the new file.")
    of = f" of {whole:,}" if whole != read else ""
    lines = [f"{args.target}: {counted(read, 'record')}{of} as {done.export_format.title}."]
    if kept is not None:
        lines.append(f"The previous {args.target} is kept as {kept}.")
    return Answer(lines=lines)


# `workbench lint`: what is wrong with files, and putting it right.


_LINT = """Checks playbooks for duplicate ids and texts, ids that do not match their section, lines outside
any bullet, text above the first heading, ### headings, bullets that the reference parser rejects
and a missing ## OTHERS; MEMORY.md for broken links, topic files that no line mentions and lines
below the first 200 lines or 25,000 bytes; other files for unreadable records, equal texts and
dangling references. Exit code 1: something was found (without --fix). Files change only with
--fix, which shows the changes and keeps a copy of each file; --fix RULE --dry-run shows them and
writes nothing. Rules with a fix: duplicate-id, duplicate-text, wrong-slug, orphan-line,
text-above, deep-heading, loose-bullet, bad-counts, no-others, over-cap, broken-link, unindexed;
without: dangling-reference (fixable in formats that can be written), unreadable. Secrets are
masked. --fix --json lists the number of fixes, the changes and the copies of each file. --cut
prints the lines of a MEMORY.md that Claude Code does not load."""


def lint(call: Call) -> Answer:
    """Say what is wrong with each file; 0 when nothing is, 1 when something is, 2 when none could
    be read.
    """
    from workbench.core.files.lint import RULES
    from workbench.services.files.lint import look_over

    args = call.args
    if args.fix is None and args.dry_run:
        raise WorkbenchError(
            "--dry-run needs --fix RULE or --fix all.",
            "Without --fix nothing is written.",
        )
    if args.fix is not None and args.fix != "all" and args.fix not in RULES:
        raise WorkbenchError(f"Unknown rule “{args.fix}”.", f"Known ones: all, {', '.join(RULES)}.")
    docs, failed, found = list[dict[str, object]](), False, False
    for name in args.files:
        file = Given(call.path(name), name)
        try:
            if args.cut:
                doc, lines, wrong = _cut(file)
            else:
                linted = look_over(file.full, call.session.clock(), args.format)
                if args.fix:
                    docs.append(_fix(call, linted, file))
                    continue
                doc, lines, wrong = _linted(linted, file)
        except WorkbenchError as error:
            failed = True
            fail(file.said(error))
            continue
        docs.append(doc)
        found = found or wrong
        for line in lines:
            call.say(line)
    if not docs or (failed and args.fix and not args.cut):
        return Answer(docs, code=PROBLEM)
    return Answer(docs, code=FOUND if found else DONE)


def _linted(linted: "Linted", file: Given) -> tuple[dict[str, object], list[str], bool]:
    found = linted.findings
    fixable = sum(finding.fix is not None for finding in found)
    count = counted(len(found), "thing") if found else "nothing"
    rest = f"; --fix all fixes {fixable}" if fixable else ""
    doc = {
        "file": linted.path,
        "format": linted.format,
        "findings": [
            {**picked(f, "line", "rule", "message"), "fix": f.fix.label if f.fix else None}
            for f in found
        ],
    }
    lines = place_lines(file.name, map(_place, found))
    return doc, [*lines, f"{file.name}: {count} found{rest}."], bool(found)


def _place(finding: "LintFinding") -> Place:
    kind = f"{finding.kind} ({finding.rule})" if finding.kind else finding.rule
    fix = () if finding.fix is None else (f"    fix: {finding.fix.label}",)
    return Place(finding.line, f"{finding.message} ({finding.rule})", kind, fix)


def _fix(call: Call, linted: "Linted", file: Given) -> dict[str, object]:
    """Show what the fixes change, write it unless this is a dry run, and return what was done for a
    program.
    """
    from workbench.services.files.lint import correction, lines_of, make, require_writable
    from workbench.services.files.replaced import Replaced

    args = call.args
    rules = None if args.fix == "all" else frozenset({args.fix})
    done = correction(linted.path, call.session.clock(), rules, args.format)
    writes = bool(done.fixes) and not args.dry_run
    if not done.fixes:
        by = "" if rules is None else f" by the rule {args.fix}"
        call.say(f"{file.name}: nothing to fix{by}.")
        return _fixed_json(linted, done, written=False)
    if writes:
        require_writable(done.changes)
    for change in done.changes:
        call.say(f"--- {file.of(change.path)}")
        for line in lines_of(change):
            call.say(str(line))
    copies = make(done.changes, Replaced(paths.replaced_dir())) if writes else ()
    for kept in copies if not call.wants_json else ():
        warn(f"The previous file is kept as {kept}.")
    settled = f"{done.found - done.left:,} of {counted(done.found, 'thing')} found"
    would = "" if writes else "would be "
    call.say(f"{file.name}: {settled} {would}fixed by {counted(done.fixes, 'fix', 'fixes')}.")
    return _fixed_json(linted, done, copies, written=writes)


def _fixed_json(
    linted: "Linted", done: "Correction", copies: Iterable[Path] = (), *, written: bool
) -> dict[str, object]:
    from workbench.services.files.lint import lines_of

    changes = done.changes if done.fixes else ()
    return {
        "file": linted.path,
        "format": linted.format,
        "written": written,
        **picked(done, "fixes", "found", "left"),
        "changes": [
            {"file": c.path, "new": c.before is None, "lines": [str(line) for line in lines_of(c)]}
            for c in changes
            if c.before != c.after
        ],
        "copies": copies,
    }


def _cut(file: Given) -> tuple[dict[str, object], list[str], bool]:
    """Return what of a MEMORY.md is not loaded. Raises `WorkbenchError` for any other file."""
    from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES
    from workbench.services.files.lint import cut_of, is_index

    if not is_index(file.full):
        raise WorkbenchError(
            f"{file.full} is not named MEMORY.md.", "Other files are loaded in full."
        )
    cut: Cut = cut_of(file.full)
    size = f"{counted(len(cut.lines), 'line')}, {counted(cut.bytes, 'byte')}"
    said = f"all of it is loaded (up to {MAX_LINES} lines and {MAX_BYTES:,} bytes)"
    if cut.below:
        are = "is" if len(cut.below) == 1 else "are"
        said = f"{counted(len(cut.below), 'line')} below {cut.limit} {are} not loaded"
    doc = {
        "file": file.full,
        "lines": len(cut.lines),
        **picked(cut, "bytes", "limit"),
        "not_loaded": [
            {"line": line.number, **picked(line, "bytes", "text")} for line in cut.below
        ],
    }
    lines = [f"{line.number}: {printable(line.text)}" for line in cut.below]
    return doc, [*lines, f"{file.name}: {size}; {said}."], bool(cut.below)


# `workbench watch`: which files changed on disk since they were read or written here.


_WATCH = """Compares files that the store was imported from or exported to with their last known state:
changed, missing, or new in a given folder. Read-only; `import PLACE --theirs --dry-run` shows the
differences and, without --dry-run, takes them over; `export` goes the other way. With --follow it
runs until ctrl+c and prints changes as they happen. Exit code: 0 when nothing changed, 1 when
something did.

  workbench watch memory-bank --follow"""

_EVERY = 2.0
"""Seconds between two looks of one that follows."""

_STEP = 0.1


def _opened_to_watch(session: Session) -> "AbstractContextManager[Workbench]":
    if session.args.follow and session.args.json:
        raise InvalidQuery(
            "--follow prints lines as things change; it does not go with --json.",
            "Nothing was read.",
        )
    return reading(session)


def watch(call: Call) -> Answer:
    """Say what changed; once, or until somebody stops it."""
    found = _changes(call)
    json = [picked(one, "path", "what", "format") for one in found]
    remarks = [] if found else ["No file changed."]
    if not call.args.follow:
        code = FOUND if found else DONE
        return Answer(json, _change_lines(call, found), remarks, code)
    for remark in remarks:
        warn(remark)
    known: set[FileChange] = set()
    with interruptible() as stopped:
        while True:
            for line in _change_lines(call, [one for one in found if one not in known]):
                say(line)
            sys.stdout.flush()
            end = time.monotonic() + _EVERY
            while time.monotonic() < end and not stopped():
                time.sleep(_STEP)
            if stopped():
                return Answer()
            call.bench.library.refresh()
            known, found = set(found), _changes(call)


def _changes(call: Call) -> "Sequence[FileChange]":
    from workbench.services.files.overwriting import changes

    return changes(call.bench.context, [call.path(place) for place in call.args.places])


def _change_lines(call: Call, found: "Sequence[FileChange]") -> list[str]:
    """Return a line for each change, with the file's name from the working directory."""
    here = call.session.cwd.resolve()
    rows = []
    for one in found:
        name = one.path.relative_to(here) if one.path.is_relative_to(here) else one.path
        rows.append((one.what, call.shown(str(name)), one.format))
    return table(rows)


OPTIONS: Mapping[str, Option] = {
    "source": {"metavar": "IN", "type": Path},
    "target": {"metavar": "OUT", "type": Path},
    "--from": value("F", "the format of IN", dest="read_as"),
    "--to": value("F", "the format of OUT", dest="write_as"),
    "--force": flag("replace OUT if it exists; a copy is kept"),
    "files": {"metavar": "FILE", "type": Path},
    "--format": value("F", "the format, instead of recognising it"),
    "--fix": value("RULE", "fix what this rule found, or “all”"),
    "--cut": flag("print the lines of a MEMORY.md that are not loaded"),
    "--dry-run": flag("with --fix: show what would change, without writing it"),
    "places": value("PLACE", "only these files or folders", type=Path),
    "--follow": flag("keep running and print changes"),
}

VERBS = (
    Verb("convert", convert_file, "convert a file to another format", "source target --from --to --force", _CONVERT,
         "playbook.md skillbook.json", unopened),
    Verb("lint", lint, "check files for problems", "files+ --format --fix --cut --dry-run --json", _LINT,
         "playbook.md MEMORY.md", unopened),
    Verb("watch", watch, "list files that changed since they were read", "places* --follow --json", _WATCH,
         None, _opened_to_watch),
)  # fmt: skip
