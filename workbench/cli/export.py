"""`workbench export`: playbooks, memories and judgments as files of other tools."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, shortened, warn
from workbench.cli.parsing import count
from workbench.cli.safety import NOTHING, allow, held_back, require_clean
from workbench.cli.session import CLI_ACTOR, DONE, FOUND, Session, actor_of
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    several,
    text,
    unless_dry,
    value,
)
from workbench.core.agents.actors import require_person
from workbench.core.record import UnknownRecord, WorkbenchError
from workbench.core.text import counted, printable

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.core.files.format import Format
    from workbench.services.files.exporting import Choice, ExportPreview, Rendered, Written
    from workbench.services.files.folders import FolderPlan, LeftAlone
    from workbench.services.files.threeway import ThreeWay
    from workbench.services.open import Workbench
    from workbench.services.promotion.placements import FileEdit


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


def _open(session: Session) -> "AbstractContextManager[Workbench]":
    """Raise for options that do not go together, and open the store, in which what is written into
    a file is noted.
    """
    args = session.args
    if args.format == NOTES:
        require_person(actor_of(args), "write notes back", "Nothing was written")
        for name in _NOT_WITH_NOTES:
            _require_unused(args, name)
        if args.out is None:
            raise WorkbenchError(
                "Notes are written back to the folder they were imported from.",
                "Name it with --out; nothing was written.",
            )
        return changing(session) if args.allow_flagged else unless_dry(session)
    if args.front_matter:
        raise WorkbenchError("--front-matter goes with --format notes only.", NOTHING)
    if args.dry_run and args.out is None:
        raise WorkbenchError(
            "--dry-run needs --out.", "Without --out the text is printed and nothing is written."
        )
    notes = args.out is not None and session.has_store() and not args.dry_run
    return changing(session) if args.allow_flagged or notes else session.reading(approved=True)


def export(call: Call) -> Answer:
    """Write the text to stdout or the clipboard, or show and replace a file."""
    args, bench = call.args, call.bench
    if args.format == NOTES:
        return _export_notes(call)
    path = None if args.out is None else call.path(args.out)
    if not bench.trust.standing.trusted and bench.exporter.is_for_agents(args.format):
        # What agents read: a hook that asks for it goes on without, a file is not written.
        if path is not None or args.copy:
            bench.library.require_trust()
        return Answer()
    if actor_of(args) == CLI_ACTOR or bench.view is not None:
        return _exported(call, bench, path)
    # What an agent exports holds what a person wrote or approved.
    with call.session.reading(remarks=False, approved=True) as seen:
        return _exported(call, seen, path)


def _exported(call: Call, seen: "Workbench", path: Path | None) -> Answer:
    args, bench = call.args, call.bench
    choice, cut = _choice(call, seen)
    allow(bench, args.allow_flagged, args.reason)
    rendered = seen.exporter.render(args.format, choice, path)
    if args.skip_flagged and (held := held_back(seen, rendered.parsed)):
        rendered = seen.exporter.render(args.format, replace(choice, without=held), path)
    for remark in (*cut, *rendered.remarks, *require_clean(seen, rendered.parsed)):
        warn(remark)
    code = FOUND if rendered.incomplete else DONE
    if path is not None:
        return Answer(lines=_written(call, rendered, path), code=code)
    if args.copy:
        return Answer(lines=[_copied(rendered.text)], code=code)
    to_stdout(rendered.text)
    return Answer(code=code)


def _choice(call: Call, bench: "Workbench") -> "tuple[Choice, tuple[str, ...]]":
    """Read which records are meant, with remarks on how that was decided. Raises `WorkbenchError`."""
    from workbench.services.files.exporting import Choice

    args, exporter = call.args, bench.exporter
    kind = exporter.kind(args.format)
    for name, fits in _fitting(kind).items():
        if not fits:
            _require_unused(args, name)
    found = None if args.filter is None else bench.stream.view(args.filter).memories
    book: str | None = args.book
    remarks: tuple[str, ...] = ()
    bullets = book or args.section or args.within_budget
    if (found is not None or args.memories) and bullets:
        option = "--filter" if found is not None else "--memories"
        raise WorkbenchError(
            f"{option} selects memories; --book, --section and --within-budget select bullets.",
            f"{NOTHING} Give one.",
        )
    if kind.holds == "playbook" or (kind.holds == "either" and bullets):
        book = exporter.the_book(book)
    elif kind.holds == "either" and found is None and not args.memories and not args.all_status:
        book, remarks = _only_book(bench)
    return Choice(
        book, args.section, args.min_helpful, found, args.dialect, args.all_status,
        within_budget=args.within_budget, mask=args.mask or actor_of(args) != CLI_ACTOR,
    ), remarks  # fmt: skip


def _fitting(kind: "Format") -> Mapping[str, bool]:
    """Tell of each option that chooses records whether it goes with a format."""
    memories, bullets = (kind.holds in (one, "either") for one in ("memories", "playbook"))
    of_memories = dict.fromkeys(("filter", "memories", "all_status"), memories)
    of_bullets = dict.fromkeys(("book", "section", "within_budget"), bullets)
    more = {"dialect": kind.dialects is not None, "min_helpful": kind.holds != "queries"}
    return {**of_memories, **of_bullets, **more}


def _require_unused(args: "Namespace", name: str) -> None:
    if getattr(args, name) not in (None, "", False):
        raise WorkbenchError(
            f"--{name.replace('_', '-')} does not go with --format {args.format}.", NOTHING
        )


def _only_book(bench: "Workbench") -> tuple[str | None, tuple[str, ...]]:
    """Return the playbook when nobody said what is meant, with a remark where memories could be
    meant as well.

    Without a playbook memories are meant. Raises `UnknownRecord` when there are several.
    """
    books = bench.exporter.books()
    if len(books) > 1:
        raise UnknownRecord(
            f"The store has {len(books)} playbooks.",
            f"Name one with --book ({', '.join(books)}), or --memories.",
        )
    if not books:
        return None, ()
    said = f"The playbook {books[0]}; --memories or --filter TEXT exports memories instead."
    return books[0], (said,) if len(bench.library.memories) else ()


def _written(call: Call, rendered: "Rendered", path: Path) -> list[str]:
    """Write a file, or say why it stays as it is; return what to say."""
    args, exporter = call.args, call.bench.exporter
    preview = exporter.preview(path, rendered.text, kind=rendered.export_format)
    if args.dry_run:
        if preview.obstacle is not None:
            from workbench.services.files.overwriting import why_said

            warn(f"workbench: {why_said(preview.obstacle)}")
        done = "would be written" if preview.changed else "is already up to date"
        lines = list(map(str, preview.lines()))
        sides = ["--- on disk", "+++ new"] if lines else []
        return [*sides, *lines, f"{path} {done}. {NOTHING}"]
    if preview.obstacle is not None and not args.force:
        return _settled(call.bench, preview, merge=args.merge)
    written = exporter.write(preview, force=args.force)
    return [*_report(preview), *told_of(written)]


def told_of(done: "Written") -> list[str]:
    """Return where a copy of a replaced file lies; what the store could not note of it is a remark."""
    if done.problem:
        warn(
            f"workbench: {done.path} was written, but the store could not record it: {done.problem}"
        )
    return [] if done.copy is None else [f"The previous {done.path} is kept as {done.copy}."]


def _settled(bench: "Workbench", preview: "ExportPreview", *, merge: bool) -> list[str]:
    """Put both sides' changes of a file together when asked to; raises `NotReplaced` otherwise, and
    shows them where they are known.
    """
    from workbench.services.files.overwriting import NotReplaced

    both = preview.three_way
    for line in () if both is None else _both_sides(both):
        say(line)
    take_theirs = f"`workbench import --theirs {shlex.quote(str(preview.path))}`"
    if merge and preview.merged is not None:
        kept = told_of(bench.exporter.write_merged(preview))
        how = f"{take_theirs} imports their version"
        return [*kept, f"{preview.path} was merged; {how}."]
    assert preview.obstacle is not None
    changed = preview.obstacle.why == "changed" and not preview.kind.inside
    ways, collide = ["--force replaces the file"], ""
    if changed and not merge and preview.merged is not None:
        ways.insert(0, "--merge combines both sides")
    if changed and preview.kind.reads:
        ways.insert(0, f"{take_theirs} imports their changes")
    if merge and both is not None and (places := len(both.conflicts)):
        collide = f"{counted(places, 'place was', 'places were')} changed on both sides. "
    raise NotReplaced(preview.obstacle, f"{collide}{', '.join(ways)}.")


def _both_sides(both: "ThreeWay") -> Iterator[str]:
    names = {"ours": "here  ", "theirs": "there ", "both": "both  ", "conflict": "BOTH !"}
    yield "Since the file was last read or written here: - removed, + added by the store, > added in the file;"
    yield "“here” changed in the store, “there” in the file, “both” the same way, “BOTH !” differently."
    for who, _, lines in both.changed():
        for sign, line in lines:
            yield f"{names[who]} {sign}{printable(line.removesuffix(chr(13)))}"


def _copied(text: str) -> str:
    from workbench.clipboard import copy, osc52

    def to_terminal(text: str) -> None:
        with Path("/dev/tty").open("w") as terminal:
            terminal.write(osc52(text))

    try:
        return str(copy(text, to_terminal))
    except OSError:  # no terminal to send it through
        return str(copy(text, to_terminal, environ={}))


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


def _report(preview: "ExportPreview") -> list[str]:
    if not preview.changed:
        return [f"{preview.path} is already up to date."]
    lines = list(map(str, preview.lines()))
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    if preview.present is None:
        return [f"{preview.path} is new: {counted(added, 'line')}."]
    said = f"{preview.path} was replaced: {counted(added, 'line')} added, {removed:,} removed."
    return [*shortened(lines, SHOWN), said]


# `workbench export --format notes --out FOLDER`: what was changed here, back into the notes it came
# from.


_WHY = {
    "changed": "it changed on disk since it was read or written here",
    "unplaced": "the change cannot be expressed in it",
    "forgotten": "its note was archived here",
    "unreadable": "it could not be read or written",
}

_WAYS = {
    "changed": "  `workbench import FOLDER --theirs` imports its text, --force overwrites it and keeps a copy.",
    "forgotten": "  --force removes it and keeps a copy.",
}

_NOT_WITH_NOTES = (
    "book", "section", "min_helpful", "within_budget", "dialect", "memories", "filter", "all_status", "copy", "merge",
)  # fmt: skip


def _export_notes(call: Call) -> Answer:
    """Show and write what changed; exit code 1 when a file or a flagged record was left alone."""
    args, bench, named = call.args, call.bench, call.args.out
    allow(bench, args.allow_flagged, args.reason)
    plan, held = _notes_planned(call)
    if args.dry_run:
        lines = [line for edit in plan.edits for line in _edit_lines(call, edit, None)]
        files = counted(len(plan.edits), "file")
        lines.append(f"{files} would be changed{_stays(call, plan)}. {NOTHING}")
        return Answer(
            lines=lines, remarks=_left(call, plan.left), code=FOUND if plan.left or held else DONE
        )
    done = bench.folder_exporter.write(plan)
    lines = [line for edit in done.edits for line in _edit_lines(call, edit, SHOWN)]
    lines += [f"The previous {named / name} is kept as {copy}." for name, copy in done.copies]
    records = counted(sum(edit.records for edit in done.edits), "record")
    changed = f"{len(done.edits):,} of {counted(plan.known, 'file')} changed ({records})"
    lines.append((changed if done.edits else "Nothing to write") + _stays(call, plan))
    return Answer(
        lines=lines, remarks=_left(call, done.left), code=FOUND if done.left or held else DONE
    )


def _notes_planned(call: Call) -> tuple["FolderPlan", bool]:
    """Return what is written, without flagged records, and whether any was left out unasked."""
    args, bench, path = call.args, call.bench, call.path(call.args.out)
    planned = partial(
        bench.folder_exporter.plan, path, force=args.force, makes_front=args.front_matter
    )
    plan = planned()
    if not plan.known:
        raise WorkbenchError(
            f"No file in {args.out} was imported into this store.",
            f"`workbench import {path}` reads it; nothing was written.",
        )
    if held := held_back(bench, plan.parsed, imported=args.skip_flagged):
        plan = planned(without=held)
        if not args.skip_flagged:
            warn("  --allow-flagged ID --reason TEXT exports it.")
    for remark in require_clean(bench, plan.parsed):
        warn(remark)
    if plan.masked:
        warn(f"Secrets are masked in {counted(plan.masked, 'record')}.")
    return plan, bool(held) and not args.skip_flagged


def _edit_lines(call: Call, edit: "FileEdit", most: int | None) -> list[str]:
    removed = "" if edit.after is not None else " (removed)"
    lines = [printable(call.shown(str(line))) for line in edit.lines()]
    return [f"--- {call.args.out / edit.name}{removed}", *shortened(lines, most)]


def _left(call: Call, left: "Sequence[LeftAlone]") -> Iterator[str]:
    """Say which files were left as they are, why, and what changes them."""
    for one in left:
        more = f": {call.shown(one.reason)}" if one.reason else ""
        yield f"{call.args.out / one.name} was left unchanged: {_WHY[one.why]}{more}."
        if way := _WAYS.get(one.why):
            yield way


def _stays(call: Call, plan: "FolderPlan") -> str:
    """Return what of the changes has no place in the files; with front matter only that of entries
    has none.
    """
    if not plan.unplaced:
        return ""
    stays = ", ".join(f"{what} of {count:,}" for what, count in sorted(plan.unplaced.items()))
    asks = "votes" in plan.unplaced and not call.args.front_matter
    way = " (--front-matter adds it to whole notes)" if asks else ""
    return f" · kept in the store only, as the notes cannot hold it: {stays}{way}"


OPTIONS: Mapping[str, Option] = {
    "--format": value("F", "one of the formats listed above"),
    "--out": value("FILE", "write this file", type=Path),
    "--copy": flag("copy the text to the clipboard"),
    "--section": text("playbooks: only sections whose name contains this", "S"),
    "--min-helpful": value("N", "only records marked helpful at least N times", type=count),
    "--within-budget": flag("playbooks: only what fits the token budget"),
    "--dialect": {"choices": ("counts", "bare"), "help": "ace: with or without counts (default: as read)"},
    "--memories": flag("export memories, if the format also fits playbooks"),
    "--filter": value("TEXT", "memories: only these (filter language of `list`)"),
    "--all-status": flag("memories: include unapproved ones"),
    "--mask": flag("mask secrets in jsonl too (default: jsonl is lossless)"),
    "--allow-flagged": several(
        "ID", "allow this flagged record, from now on (needs --reason); repeatable"
    ),
    "--reason": text("with --allow-flagged: why, kept in the history"),
    "--skip-flagged": flag("leave out flagged records, imported ones too, and name them"),
    "--merge": flag("merge with changes others made in the file"),
    "--force": flag("replace the file whatever it contains; a copy is kept"),
    "--front-matter": flag(
        "with notes: add front matter (votes, tags, types, titles) to files without it"
    ),
    "--dry-run": flag("show what would change in --out, without writing it"),
}  # fmt: skip

VERBS = (
    Verb("export", export, "export a playbook, memories or judgments",
         "--format! --out|--copy --book --section --min-helpful --within-budget --dialect --memories --filter "
         "--all-status --mask --allow-flagged --reason --skip-flagged --merge --force --front-matter --dry-run",
         _DETAILS, "--format ace --out playbook.md", _open),
)  # fmt: skip
