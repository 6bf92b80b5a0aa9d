"""`workbench export`: playbooks, memories and judgments as files of other tools."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.export_choice import NOTHING, add_choosing, choice_of
from workbench.cli.flagged import add_allowing, allow, held_back, require_clean
from workbench.cli.output import counted, say, warn
from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import Session
from workbench.core.errors import Conflict, WorkbenchError

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.bench.exporting import ExportPreview
    from workbench.bench.outgoing import Rendered
    from workbench.bench.workbench import Workbench

SHOWN = 40
"""Lines of a diff that are shown."""

_DETAILS = """Formats of other tools: ace, skillbook, cass (playbooks); jsonl, semantic-patterns, learnings,
mcp-memory, letta, external-overview, external-detail, external-messages (memories); queries,
trec-qrels (judgments). Plain ones: json, yaml, csv, markdown, prompt, prompt-counts.
block writes into the managed block of a Markdown file such as CLAUDE.md or AGENTS.md.

What an agent reads (every format but jsonl, json, yaml and csv) never holds candidates, archived or
rejected memories, or ones from the future: how many were left out is said; --all-status takes them
along. The plain formats hold a playbook (--book) or memories (--memories, --filter).

`import` reads these back. jsonl loses nothing; json, yaml and csv give the counts as totals, and a
table has no place for sections without bullets; markdown keeps ids, texts, sections, kinds, counts
and pins; prompt text of memories has no ids and cannot be read back, and a block is never read back
into the store it came from.

Without --out the exact text goes to stdout. With --out the file is replaced in one step, after
showing what changes in it; what the file holds beside the exported records stays as it is, and an
unchanged playbook gives the bytes it was imported from. A file that somebody else changed since it
was read or written here is never overwritten: both sides' changes are shown instead."""


def add_commands(commands: Commands) -> None:
    """Add `export`."""
    parser = add_command(commands, "export", export, "export a playbook, memories or judgments", _DETAILS)
    parser.add_argument("--format", required=True, metavar="F", help="what to write; see above")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", metavar="FILE", type=Path, help="write this file")
    where.add_argument("--copy", action="store_true", help="put the text on the clipboard")
    add_choosing(parser)
    add_allowing(parser)
    parser.add_argument("--merge", action="store_true", help="keep what somebody else changed in the file meanwhile")
    parser.add_argument("--force", action="store_true", help="replace a file even if it is another kind or has changed")


def export(session: Session) -> int:
    """Write the text to stdout or the clipboard, or show and replace a file."""
    args = session.args
    path = None if args.out is None else session.cwd / args.out.expanduser()
    with session.changing() if args.allow_flagged else session.reading() as bench:
        choice, cut = choice_of(args, bench)
        allow(bench, args.allow_flagged, args.reason)
        rendered = bench.exporter.render(args.format, choice, path)
        if args.skip_flagged and (held := held_back(bench, rendered.parsed)):
            rendered = bench.exporter.render(args.format, replace(choice, without=held), path)
        for remark in (*cut, *rendered.remarks, *require_clean(bench, rendered.parsed)):
            warn(remark)
        if path is None:
            _copy(rendered.text) if args.copy else to_stdout(rendered.text)
        else:
            _write(bench, rendered, path, args)
    return 0


def _write(bench: "Workbench", rendered: "Rendered", path: Path, args: "Namespace") -> None:
    kind = rendered.outlet
    preview = bench.exporter.preview(path, rendered.text, rendered.remarks, inside=kind.inside)
    if not args.force:
        if kind.reads:
            _require_same_kind(preview)
        elif not kind.inside and preview.present and preview.base is None and preview.changed:
            message = f"{path} exists and was not written from here."
            raise WorkbenchError(message, f"{NOTHING} --force replaces it.")
        if preview.diverged:
            _settle(bench, preview, merge=args.merge)
            return
    bench.exporter.write(preview)
    _report(preview)


def _settle(bench: "Workbench", preview: "ExportPreview", *, merge: bool) -> None:
    """Show both sides' changes to a file that somebody else changed; write it only when asked to put them together."""
    from workbench.core.text import printable

    both = preview.three_way()
    take_theirs = f"`workbench import --theirs {shlex.quote(str(preview.path))}`"
    names = {"ours": "here  ", "theirs": "there ", "both": "both  ", "conflict": "BOTH !"}
    say("Since the file was last read or written here: - taken away, + written by the store, > written there;")
    say("“here” only the store changed it, “there” only the file, “both” alike, “BOTH !” differently.")
    for who, sign, line in both.lines():
        say(f"{names[who]} {sign}{printable(line)}")
    if merge and both.merged is not None:
        bench.exporter.write_merged(preview, both.merged)
        say(f"{preview.path} was written with the changes of both sides; {take_theirs} takes theirs into the store.")
        return
    collide = counted(len(both.conflicts), "place was", "places were") + " changed on both sides. " if merge else ""
    message = f"{preview.path} was changed by somebody else since it was read or written here."
    choices = (f"{take_theirs} takes their changes into the store", *(
        () if merge else ("--merge writes both sides' changes",)), "--force replaces the file")  # fmt: skip
    raise Conflict(message, f"{collide}{NOTHING} {', '.join(choices)}.")


def _require_same_kind(preview: "ExportPreview") -> None:
    """Refuse to replace a file that is not of the format that is written; the store's undo would not bring it back."""
    if preview.present is None or not preview.present.strip():
        return
    from workbench.formats import registry

    written = registry.detect(preview.path, preview.text)
    present = registry.detect(preview.path, preview.present)
    if written and (not present or present[0].format != written[0].format):
        title = registry.format_named(written[0].format).title
        message = f"{preview.path} exists and does not look like a file of this kind ({title})."
        raise WorkbenchError(message, f"{NOTHING} --force replaces it.")


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
    """Write the exact bytes: no newline is translated, no character is made printable."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _report(preview: "ExportPreview") -> None:
    if not preview.changed:
        say(f"{preview.path} is the same already.")
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
