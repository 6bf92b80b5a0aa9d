"""`workbench export`: playbooks, memories and judgments as files of other tools."""

import shlex
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn
from workbench.cli.parsing import Commands, Parser, add_command, count
from workbench.cli.safety.flags import Shown
from workbench.cli.safety.trust import add_allowing, allow, held_back, require_clean
from workbench.cli.session import CLI_ACTOR, DONE, FOUND, Session, actor_of
from workbench.core.agents.actors import require_person
from workbench.core.record import UnknownRecord, WorkbenchError
from workbench.core.text import counted, printable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from workbench.core.files.format import ExportFormat
    from workbench.services.files.exporting import Choice, ExportPreview, Rendered, Written
    from workbench.services.files.folders import FolderEdit, FolderPlan, LeftAlone
    from workbench.services.files.threeway import ThreeWay
    from workbench.services.open import Workbench


# What `workbench export` writes: the options that choose records, and what they mean together.


NOTHING = "Nothing was written."


def add_choosing(parser: Parser) -> None:
    """Add the options that choose records."""
    parser.add_argument("--book", metavar="NAME", help="which playbook, when there are several")
    parser.add_argument(
        "--section",
        metavar="S",
        default="",
        help="playbooks: only sections whose name contains this",
    )
    parser.add_argument(
        "--min-helpful", metavar="N", type=count, help="only what was marked helpful this often"
    )
    parser.add_argument(
        "--within-budget", action="store_true", help="playbooks: only what the token budget keeps"
    )
    parser.add_argument(
        "--dialect",
        choices=("counts", "bare"),
        help="ace: with or without counts (default: as read)",
    )
    parser.add_argument(
        "--memories", action="store_true", help="the memories, where a playbook could be meant too"
    )
    parser.add_argument(
        "--filter", metavar="TEXT", help="memories: only these, in the filter language of `list`"
    )
    parser.add_argument(
        "--all-status", action="store_true", help="memories: include unapproved ones"
    )
    parser.add_argument(
        "--mask",
        action="store_true",
        help="mask secrets in jsonl too, which otherwise loses nothing",
    )


def choice_of(args: "Namespace", bench: "Workbench") -> "tuple[Choice, tuple[str, ...]]":
    """Read which records are meant, with remarks on how that was decided. Raises `WorkbenchError`."""
    from workbench.services.files.exporting import Choice

    kind = bench.exporter.kind(args.format)
    _require_fitting(args, kind)
    found = None if args.filter is None else bench.stream.view(args.filter).memories
    book: str | None = args.book
    remarks: tuple[str, ...] = ()
    if (found is not None or args.memories) and (book or args.section or args.within_budget):
        option = "--filter" if found is not None else "--memories"
        raise WorkbenchError(
            f"{option} chooses memories, --book, --section and --within-budget bullets.",
            f"{NOTHING} Give one.",
        )
    if kind.holds == "playbook" or (
        kind.holds == "either" and (book or args.section or args.within_budget)
    ):
        book = bench.exporter.the_book(book)
    elif kind.holds == "either" and found is None and not args.memories and not args.all_status:
        book, remarks = _only_book(bench)
    chosen = Choice(book, args.section, args.min_helpful, found, args.dialect, args.all_status)
    return replace(
        chosen, within_budget=args.within_budget, mask=args.mask or actor_of(args) != CLI_ACTOR
    ), remarks


def _require_fitting(args: "Namespace", kind: "ExportFormat") -> None:
    for name, fits in (
        ("filter", kind.holds in ("memories", "either")),
        ("memories", kind.holds in ("memories", "either")),
        ("all_status", kind.holds in ("memories", "either")),
        ("dialect", kind.dialects is not None),
        ("book", kind.holds in ("playbook", "either")),
        ("section", kind.holds in ("playbook", "either")),
        ("min_helpful", kind.holds != "queries"),
        ("within_budget", kind.holds in ("playbook", "either")),
    ):
        if getattr(args, name) not in (None, "", False) and not fits:
            raise WorkbenchError(
                f"--{name.replace('_', '-')} does not go with --format {args.format}.", NOTHING
            )


def _only_book(bench: "Workbench") -> tuple[str | None, tuple[str, ...]]:
    """Return the playbook when nobody said what is meant, with a remark where memories could be
    meant as well.

    Without a playbook memories are meant. Raises `UnknownRecord` when there are several.
    """
    books = bench.exporter.books()
    if not books:
        return None, ()
    if len(books) > 1:
        names = ", ".join(books)
        raise UnknownRecord(
            f"The store has {len(books)} playbooks.",
            f"Name one with --book ({names}), or --memories.",
        )
    memories = len(bench.library.memories)
    remark = (
        (f"The playbook {books[0]}; --memories or --filter TEXT exports memories instead.",)
        if memories
        else ()
    )
    return books[0], remark


SHOWN = 40
"""Lines of a diff that are shown."""

NOTES = "notes"
"""The format that stands for a folder of notes."""

_DETAILS = """Formats of other tools: ace, skillbook, cass (playbooks); jsonl, semantic-patterns, learnings,
mcp-memory, letta, external-overview, external-detail, external-messages (memories); queries,
trec-qrels (judgments). Plain ones: json, yaml, csv, markdown, prompt, prompt-counts.
block writes into the managed block of a Markdown file such as CLAUDE.md or AGENTS.md. notes writes
back into the folder that is named by --out what was changed here of the notes that were imported
from it, and nothing else: a changed text as changed lines, votes, tags and titles as lines of the
front matter where a note has some (--front-matter: or gets some). Files that changed on disk since
are left alone and named (exit code 1), as are those of forgotten notes; --force changes them, and
keeps copies. `undo` takes all of it back.

What an agent reads (every format but jsonl, json, yaml and csv) never holds candidates, archived or
rejected memories, or ones from the future: how many were left out is said; --all-status takes them
along. The plain formats hold a playbook (--book) or memories (--memories, --filter).

`import` reads these back. jsonl loses nothing; json, yaml and csv give the counts as totals, and a
table has no place for sections without bullets; markdown keeps ids, texts, sections, kinds, counts
and pins; prompt text of memories has no ids and cannot be read back, and a block is never read back
into the store it came from.

Without --out the exact text goes to stdout. With --out the file is replaced in one step, after
showing what changes in it; what the file holds beside the exported records stays as it is, and an
unchanged playbook gives the bytes it was imported from. A file that was never read or written here,
is of another kind, holds more than the format can write back, or that somebody else changed since is
not replaced (exit code 2): what would go is said, and both sides' changes are shown where they are
known. --force replaces it and keeps a copy of what it held; its name is printed."""


def add_commands(commands: Commands) -> None:
    """Add `export`."""
    parser = add_command(
        commands, "export", export, "export a playbook, memories or judgments", _DETAILS,
        example="--format ace --out playbook.md",
    )  # fmt: skip
    parser.add_argument(
        "--format", required=True, metavar="F", help="what to write, one of those listed above"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", metavar="FILE", type=Path, help="write this file")
    where.add_argument("--copy", action="store_true", help="put the text on the clipboard")
    add_choosing(parser)
    add_allowing(parser)
    parser.add_argument(
        "--merge", action="store_true", help="keep what others changed in the file meanwhile"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace the file whatever it contains; a copy is kept"
    )
    front = "with notes: let files without front matter get some, for votes, tags, types and titles"
    parser.add_argument("--front-matter", action="store_true", help=front)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would change in --out, and write nothing"
    )


def export(session: Session) -> int:
    """Write the text to stdout or the clipboard, or show and replace a file."""
    args = session.args
    path = None if args.out is None else session.cwd / args.out.expanduser()
    if args.format == NOTES:
        return export_folder(session, path)
    if args.front_matter:
        raise WorkbenchError(
            "--front-matter goes with --format notes only.", "Nothing was written."
        )
    if args.dry_run and path is None:
        raise WorkbenchError(
            "--dry-run goes with --out.", "Without it the text is printed, and nothing is written."
        )
    notes = path is not None and session.has_store()
    changes = args.allow_flagged or (notes and not args.dry_run)
    with ExitStack() as stack:
        bench = stack.enter_context(
            session.changing() if changes else session.reading(approved=True)
        )
        # What an agent exports holds what a person wrote or approved.
        by_person = actor_of(args) == CLI_ACTOR
        seen = (
            bench
            if by_person or not changes
            else stack.enter_context(session.reading(remarks=False, approved=True))
        )
        if not bench.trust.standing.trusted and bench.exporter.is_for_agents(args.format):
            # What agents read: a hook that asks for it goes on without, a file is not written.
            if path is not None or args.copy:
                bench.library.require_trust()
            return 0
        choice, cut = choice_of(args, seen)
        allow(bench, args.allow_flagged, args.reason)
        rendered = seen.exporter.render(args.format, choice, path)
        if args.skip_flagged and (held := held_back(seen, rendered.parsed)):
            rendered = seen.exporter.render(args.format, replace(choice, without=held), path)
        for remark in (*cut, *rendered.remarks, *require_clean(seen, rendered.parsed)):
            warn(remark)
        if path is None:
            _copy(rendered.text) if args.copy else to_stdout(rendered.text)
        else:
            _write(bench, rendered, path, args)
    return FOUND if rendered.incomplete else DONE


def _write(bench: "Workbench", rendered: "Rendered", path: Path, args: "Namespace") -> None:
    preview = bench.exporter.preview(path, rendered.text, kind=rendered.export_format)
    if args.dry_run:
        _foretell(preview)
        return
    if preview.obstacle is not None and not args.force:
        _settle(bench, preview, merge=args.merge)
        return
    done = bench.exporter.write(preview, force=args.force)
    _report(preview)
    report_written(done)


def _foretell(preview: "ExportPreview") -> None:
    """Show what writing would change, and whether it would be asked about."""
    for line in preview.diff():
        say(line)
    if preview.obstacle is not None:
        from workbench.services.files.overwriting import why_said

        warn(f"workbench: {why_said(preview.obstacle)}")
    say(
        f"{preview.path} {'would be written' if preview.changed else 'is already up to date'}. Nothing was written."
    )


def report_written(done: "Written") -> None:
    """Say where a copy of a replaced file lies, and that the store could not note what it wrote."""
    if done.copy is not None:
        say(f"What {done.path} held is kept as {done.copy}.")
    if done.problem:
        warn(
            f"workbench: {done.path} was written, but the store could not note that: {done.problem}"
        )


def _settle(bench: "Workbench", preview: "ExportPreview", *, merge: bool) -> None:
    """Say why a file stays as it is, with both sides' changes where they are known; put them
    together when asked to.
    """
    if preview.three_way is not None:
        _show_both(preview.three_way)
    take_theirs = f"`workbench import --theirs {shlex.quote(str(preview.path))}`"
    if merge and preview.merged is not None:
        report_written(bench.exporter.write_merged(preview))
        say(
            f"{preview.path} was written with the changes of both sides; {take_theirs} takes theirs into the store."
        )
        return
    assert preview.obstacle is not None
    changed = preview.obstacle.why == "changed" and not preview.kind.inside
    collide = ""
    if merge and preview.three_way is not None:
        places = len(preview.three_way.conflicts)
        collide = (
            counted(places, "place was", "places were") + " changed on both sides. "
            if places
            else ""
        )
    choices = (
        *(
            (f"{take_theirs} takes their changes into the store",)
            if changed and preview.kind.reads
            else ()
        ),
        *(
            ("--merge writes both sides' changes",)
            if changed and not merge and preview.merged is not None
            else ()
        ),
        "--force replaces the file",
    )
    from workbench.services.files.overwriting import NotReplaced

    raise NotReplaced(preview.obstacle, f"{collide}{', '.join(choices)}.".strip())


def _show_both(both: "ThreeWay") -> None:
    names = {"ours": "here  ", "theirs": "there ", "both": "both  ", "conflict": "BOTH !"}
    say(
        "Since the file was last read or written here: - taken away, + written by the store, > written there;"
    )
    say(
        "“here” only the store changed it, “there” only the file, “both” alike, “BOTH !” differently."
    )
    for who, _, lines in both.changed():
        for sign, line in lines:
            shown = printable(line.removesuffix("\r"))
            say(f"{names[who]} {sign}{shown}")


def _copy(text: str) -> None:
    from workbench.clipboard import copy, osc52

    def to_terminal(text: str) -> None:
        with Path("/dev/tty").open("w") as terminal:
            terminal.write(osc52(text))

    try:
        say(str(copy(text, to_terminal)))
    except OSError:  # no terminal to send it through
        say(str(copy(text, to_terminal, environ={})))


def to_stdout(text: str) -> None:
    """Write the exact bytes: no newline is translated, and only a terminal gets no character that
    it would obey.
    """
    from workbench.core.files.replacing import bytes_of

    if sys.stdout.isatty():
        say(text.removesuffix("\n"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(bytes_of(text))
    sys.stdout.buffer.flush()


def _report(preview: "ExportPreview") -> None:
    if not preview.changed:
        say(f"{preview.path} is already up to date.")
        return
    lines = preview.diff()
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    if preview.present is None:
        say(f"{preview.path} is new: {counted(added, 'line')}.")
        return
    for line in lines[2 : 2 + SHOWN]:
        say(line)
    if len(lines) - 2 > SHOWN:
        say(f"… {counted(len(lines) - 2 - SHOWN, 'more line', 'more lines')}")
    say(f"{preview.path} was replaced: {counted(added, 'line')} added, {removed:,} removed.")


# `workbench export --format notes --out FOLDER`: what was changed here, back into the notes it came
# from.


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
    _require_folder(session, path)
    assert path is not None
    named: Path = args.out
    with (
        session.reading()
        if args.dry_run and not args.allow_flagged
        else session.changing() as bench
    ):
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


def _require_folder(session: Session, path: Path | None) -> None:
    args = session.args
    for name in _NOT_WITH:
        if getattr(args, name) not in (None, "", False):
            raise WorkbenchError(
                f"--{name.replace('_', '-')} does not go with --format notes.",
                "Nothing was written.",
            )
    if path is None:
        hint = "Name it with --out; nothing was written."
        raise WorkbenchError(
            "Notes are written back into the folder they were imported from.", hint
        )


def _plan(
    bench: "Workbench", path: Path, named: Path, args: "Namespace"
) -> tuple["FolderPlan", bool]:
    """Return what is written, without flagged records, and whether any was left out unasked."""
    planned = partial(
        bench.folder_exporter.plan, path, force=args.force, makes_front=args.front_matter
    )
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
            warn(
                "  `workbench import FOLDER --theirs` takes its text, --force writes ours and keeps a copy."
            )
        elif one.why == "forgotten":
            warn("  --force removes it and keeps a copy.")


def _summary(plan: "FolderPlan", edits: "tuple[FolderEdit, ...]", *, front: bool) -> str:
    said = counted(sum(edit.records for edit in edits), "record")
    changed = (
        f"{len(edits):,} of {counted(plan.known, 'file')} changed ({said})"
        if edits
        else "Nothing to write"
    )
    return changed + _stays(plan, front=front)


def _stays(plan: "FolderPlan", *, front: bool) -> str:
    """Return what of the changes has no place in the files; with front matter only that of entries
    has none.
    """
    if not plan.unplaced:
        return ""
    stays = ", ".join(f"{what} of {count:,}" for what, count in sorted(plan.unplaced.items()))
    way = (
        ""
        if front or "votes" not in plan.unplaced
        else " (--front-matter makes one in whole notes)"
    )
    return f" · kept in the store only, as the notes have no place for it: {stays}{way}"
