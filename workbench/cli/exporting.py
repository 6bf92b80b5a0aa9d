"""`workbench export`: the playbook or the memories as files of other tools."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import counted, say, warn
from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import Session
from workbench.core.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.bench.exporting import ExportPreview
    from workbench.bench.workbench import Workbench
    from workbench.core.memory import Memory

SHOWN = 40
"""Lines of a diff that are shown."""

_DETAILS = """Without --out the exact text goes to stdout. With --out the file is replaced in one step, after
showing what changes in it. An unchanged playbook gives the bytes it was imported from."""


def add_commands(commands: Commands) -> None:
    """Add `export`."""
    parser = add_command(commands, "export", export, "export a playbook or the memories", _DETAILS)
    parser.add_argument("--format", required=True, choices=("ace", "jsonl"), help="ace: a playbook; jsonl: memories")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write this file")
    parser.add_argument("--book", metavar="NAME", help="ace: which playbook, when there are several")
    parser.add_argument("--dialect", choices=("counts", "bare"), help="ace: with or without counts (default: as read)")
    parser.add_argument("--force", action="store_true", help="replace a file even if it is of another kind")
    parser.add_argument("--filter", metavar="TEXT", help="jsonl: only these memories, in the filter language of `list`")


def export(session: Session) -> int:
    """Write the text to stdout, or show and replace a file."""
    args = session.args
    wrong = ("book", "dialect") if args.format == "jsonl" else ("filter",)
    for name in wrong:
        if getattr(args, name) is not None:
            raise WorkbenchError(f"--{name} does not go with --format {args.format}.", "Nothing was written.")
    with session.reading() as bench:
        text, remarks = _ace(session, bench) if args.format == "ace" else _jsonl(session, bench)
        for remark in remarks:
            warn(remark)
        if args.out is None:
            _to_stdout(text)
        else:
            preview = bench.exporter.preview(session.cwd / args.out.expanduser(), text, remarks)
            if not args.force:
                _require_same_kind(preview)
            bench.exporter.write(preview)
            _report(preview)
    return 0


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
        raise WorkbenchError(message, "Nothing was written; --force replaces it.")


def _ace(session: Session, bench: "Workbench") -> tuple[str, tuple[str, ...]]:
    book = bench.exporter.the_book(session.args.book)
    return bench.exporter.ace(book, session.args.dialect)


def _jsonl(session: Session, bench: "Workbench") -> tuple[str, tuple[str, ...]]:
    if session.args.filter is None:
        return bench.exporter.jsonl(), ()
    from workbench.bench.stream import MAX_FUZZY

    view = bench.stream.view(session.args.filter)
    found = {memory.id for memory in view.memories}
    chosen: list[Memory] = [memory for memory in bench.library.memories.all() if memory.id in found]
    cut = view.filter.words and len(chosen) == MAX_FUZZY
    remark = f"Free words find at most {MAX_FUZZY:,} memories; use clauses such as type: or tag: to export more."
    return bench.exporter.jsonl(chosen), (remark,) if cut else ()


def _to_stdout(text: str) -> None:
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
