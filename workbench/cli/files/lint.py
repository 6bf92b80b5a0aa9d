"""`workbench lint`: what is wrong with files, and putting it right."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.files.convert import Given, given
from workbench.cli.issues import Place, place_lines
from workbench.cli.output import fail, say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import FOUND, PROBLEM, Session
from workbench.config import paths
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.files.lint import LintFinding
    from workbench.core.files.memory_md import Cut
    from workbench.services.files.lint import Correction, Linted

_DETAILS = """Looks for duplicate ids and texts, ids that do not match their section, lines that belong to no
bullet, text above the first heading, ### headings, bullets the reference reader does not take, a
missing ## OTHERS; in MEMORY.md for links to nothing, topic files that no line names, and lines that
fall below the first 200 lines or 25,000 bytes; in other files for records that cannot be read,
equal texts and references to nothing. Exit code 1: something was found (without --fix). Files are only
changed with --fix, which shows what changes and keeps a copy of each file; --fix RULE --dry-run shows
just that and writes nothing.
Rules: duplicate-id, duplicate-text, wrong-slug, orphan-line, text-above, deep-heading, loose-bullet,
bad-counts, no-others, over-cap, broken-link, unindexed (these can be put right), dangling-reference
(in formats that are written, too), unreadable. Secrets are masked in what is shown. --fix --json says of
each file how many fixes were made, what changes, and where its copies are. --cut prints what Claude Code
does not load of a MEMORY.md."""


def add_commands(commands: Commands) -> None:
    """Add `lint`."""
    parser = add_command(
        commands, "lint", lint, "look files over", _DETAILS, example="playbook.md MEMORY.md"
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument(
        "--format", metavar="F", help="the files' format instead of the one recognised"
    )
    parser.add_argument("--fix", metavar="RULE", help="put right what this rule found, or “all”")
    parser.add_argument(
        "--cut", action="store_true", help="print the lines of a MEMORY.md that are not loaded"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="with --fix: show what would change, and write nothing",
    )
    add_json(parser)


def lint(session: Session) -> int:
    """Say what is wrong with each file; 0 when nothing is, 1 when something is, 2 when none could
    be read.
    """
    from workbench.services.files.lint import look_over

    _require_rule(session)
    if session.args.cut:
        return _show_cuts(session)
    found: list[Linted] = []
    fixed: list[dict[str, object]] = []
    failed = False
    for name in session.args.files:
        file = given(session.cwd, name)
        try:
            linted = look_over(file.full, session.clock(), session.args.format)
            found.append(linted)
            if session.args.fix:
                fixed.append(_fix(session, linted, file))
            elif not wants_json(session.args):
                _tell(linted, file)
        except WorkbenchError as error:
            failed = True
            fail(file.said(error))
    if wants_json(session.args):
        write_json(fixed if session.args.fix else [_document(linted) for linted in found])
    if not found or (failed and session.args.fix):
        return PROBLEM
    return FOUND if any(linted.findings for linted in found) and not session.args.fix else 0


def _require_rule(session: Session) -> None:
    """Raise `WorkbenchError` for a rule that there is not, or a dry run of nothing."""
    from workbench.core.files.lint import RULES

    rule = session.args.fix
    if rule is None and session.args.dry_run:
        raise WorkbenchError(
            "--dry-run goes with --fix RULE, or --fix all.",
            "Without --fix nothing is ever written.",
        )
    if rule is not None and rule != "all" and rule not in RULES:
        raise WorkbenchError(f"There is no rule “{rule}”.", f"Known ones: all, {', '.join(RULES)}.")


def _tell(linted: "Linted", file: Given) -> None:
    for line in place_lines(file.name, map(_place, linted.findings)):
        say(line)
    fixable = sum(finding.fix is not None for finding in linted.findings)
    count = counted(len(linted.findings), "thing") if linted.findings else "nothing"
    rest = f"; --fix all puts {fixable} right" if fixable else ""
    say(f"{file.name}: {count} found{rest}.")


def _place(finding: "LintFinding") -> Place:
    kind = f"{finding.kind} ({finding.rule})" if finding.kind else finding.rule
    fix = () if finding.fix is None else (f"    fix: {finding.fix.label}",)
    return Place(finding.line, f"{finding.message} ({finding.rule})", kind, fix)


def _fix(session: Session, linted: "Linted", file: Given) -> dict[str, object]:
    """Show what the fixes change, write it unless this is a dry run, and return what was done for a
    program.
    """
    from workbench.services.files.lint import correction, make, require_writable
    from workbench.services.files.replaced import Replaced

    rules = None if session.args.fix == "all" else frozenset({session.args.fix})
    done = correction(linted.path, session.clock(), rules, session.args.format)
    writes, speaks = bool(done.fixes) and not session.args.dry_run, not wants_json(session.args)
    if not done.fixes:
        if speaks:
            say(
                f"{file.name}: nothing to put right{'' if rules is None else f' by the rule {session.args.fix}'}."
            )
        return _fixed_document(linted, done, written=False)
    if writes:
        require_writable(done.changes)
    if speaks:
        _tell_changes(done, file)
    copies = make(done.changes, Replaced(paths.replaced_dir())) if writes else ()
    if speaks:
        for copy in copies:
            warn(f"What was there is kept as {copy}.")
        would = "" if writes else "would be "
        settled = (
            f"{done.found - done.left:,} of {counted(done.found, 'thing')} found {would}put right"
        )
        say(f"{file.name}: {settled} by {counted(done.fixes, 'fix', 'fixes')}.")
    return _fixed_document(linted, done, copies, written=writes)


def _tell_changes(done: "Correction", file: Given) -> None:
    from workbench.services.files.lint import lines_of

    for change in done.changes:
        say(f"--- {file.of(change.path)}")
        for line in lines_of(change):
            say(str(line))


def _fixed_document(
    linted: "Linted", done: "Correction", copies: Iterable[Path] = (), *, written: bool
) -> dict[str, object]:
    from workbench.services.files.lint import lines_of

    changes = (
        [change for change in done.changes if change.before != change.after] if done.fixes else []
    )
    return {
        "file": str(linted.path),
        "format": linted.format,
        "written": written,
        "fixes": done.fixes,
        "found": done.found,
        "left": done.left,
        "changes": [
            {
                "file": str(c.path),
                "new": c.before is None,
                "lines": [str(line) for line in lines_of(c)],
            }
            for c in changes
        ],
        "copies": [str(copy) for copy in copies],
    }


def _show_cuts(session: Session) -> int:
    """Say of each MEMORY.md what is not loaded of it, with the same exit codes."""
    cuts: list[tuple[Path, Cut]] = []
    for name in session.args.files:
        file = given(session.cwd, name)
        try:
            cuts.append((file.full, _measured(file.full)))
        except WorkbenchError as error:
            fail(file.said(error))
            continue
        if not wants_json(session.args):
            _tell_cut(name, cuts[-1][1])
    if wants_json(session.args):
        write_json([_cut_document(*each) for each in cuts])
    if not cuts:
        return PROBLEM
    return FOUND if any(cut.below for _, cut in cuts) else 0


def _measured(path: Path) -> "Cut":
    """Return what of a MEMORY.md is loaded. Raises `WorkbenchError` for any other file."""
    from workbench.services.files.lint import cut_of, is_index

    if not is_index(path):
        raise WorkbenchError(f"{path} is not named MEMORY.md.", "Other files are loaded whole.")
    return cut_of(path)


def _tell_cut(path: Path, cut: "Cut") -> None:
    from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES
    from workbench.core.text import printable

    size = f"{counted(len(cut.lines), 'line')}, {counted(cut.bytes, 'byte')}"
    for line in cut.below:
        say(f"{line.number}: {printable(line.text)}")
    if cut.below:
        are = "is" if len(cut.below) == 1 else "are"
        said = f"{counted(len(cut.below), 'line')} below {cut.limit} {are} not loaded"
    else:
        said = f"all of it is loaded (up to {MAX_LINES} lines and {MAX_BYTES:,} bytes)"
    say(f"{path}: {size}; {said}.")


def _cut_document(path: Path, cut: "Cut") -> dict[str, object]:
    below = [{"line": line.number, "bytes": line.bytes, "text": line.text} for line in cut.below]
    return {
        "file": str(path),
        "lines": len(cut.lines),
        "bytes": cut.bytes,
        "limit": cut.limit,
        "not_loaded": below,
    }


def _document(linted: "Linted") -> dict[str, object]:
    return {
        "file": str(linted.path),
        "format": linted.format,
        "findings": [
            {
                "line": f.line,
                "rule": f.rule,
                "message": f.message,
                "fix": f.fix.label if f.fix else None,
            }
            for f in linted.findings
        ],
    }
