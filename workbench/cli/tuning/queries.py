"""`workbench queries`: the saved queries with their judgments, out to files and measured against
runs.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, say_table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.safety.flags import Shown
from workbench.cli.session import Session
from workbench.cli.tuning.profile import profile_in_use, profile_of
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.open import Workbench

LONG = 2000
"""Texts above which embedding them shows its progress."""

_DETAILS = """list                what is saved, with the number of grades of each
export FILE         write them: --format jsonl (queries with grades), qrels (grades),
                    run (a profile's rankings), judgments (who gave which grade, and when)
measure FILE        how good a run of another system is, by the grades of this store

A file that exists is left alone unless --force is given; “-” writes to stdout. `workbench import FILE` reads
query sets and qrels, and `workbench eval FILE` measures profiles on them."""


def add_commands(commands: Commands) -> None:
    """Add `queries`."""
    parser = add_command(
        commands,
        "queries",
        queries,
        "list, export and measure saved queries",
        _DETAILS,
        example="export queries.jsonl",
    )
    parser.add_argument(
        "what", choices=("list", "export", "measure"), help="what to do, as described above"
    )
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="the file to write or to read"
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "qrels", "run", "judgments"),
        help="export: what to write (jsonl)",
    )
    parser.add_argument(
        "--profile", metavar="P", help="export, run: whose rankings (the one in use)"
    )
    parser.add_argument("--force", action="store_true", help="export: replace a file that is there")
    add_json(parser)
    parser.mixes = True


def queries(session: Session) -> int:
    args = session.args
    _check(args.what, args)
    notes = args.what == "export" and str(args.file) != "-" and session.has_store()
    with session.changing() if notes else session.reading() as bench:
        if args.what == "list":
            return _list(session, bench)
        if args.what == "measure":
            return _measure(session, bench)
        return _export(session, bench)


def _check(what: str, args: object) -> None:
    """Raise for options that do not go together."""
    file, format, profile, force = (
        getattr(args, name) for name in ("file", "format", "profile", "force")
    )
    if what == "list" and file is not None:
        raise WorkbenchError("`queries list` takes no file.", "`queries export FILE` writes one.")
    if what != "list" and file is None:
        raise WorkbenchError(f"`queries {what}` needs a FILE.", "Nothing was done.")
    if what != "export" and (format or profile or force):
        raise WorkbenchError(
            "--format, --profile and --force go with `queries export`.", "Nothing was done."
        )
    if profile and format != "run":
        raise WorkbenchError("--profile goes with --format run.", "Nothing was written.")
    if what == "export" and getattr(args, "json", False):
        raise WorkbenchError(
            "--json does not go with `queries export`.", "--format jsonl writes JSON lines."
        )


def _list(session: Session, bench: "Workbench") -> int:
    grades: dict[str, list[int]] = {}
    for judgment in bench.library.judgments.all():
        grades.setdefault(judgment.query, []).append(judgment.grade)
    shown = Shown(bench, how="the app shows them")
    saved = shown(list(bench.tuning.queries()))
    if wants_json(session.args):
        rows = [
            {"id": q.id, "query": q.text, "now": q.now, "tags": q.tags, "created_at": q.created_at}
            for q in saved
        ]
        write_json(
            [
                {**row, "judgments": len(grades.get(q.id, []))}
                for row, q in zip(rows, saved, strict=True)
            ]
        )
        return 0
    if not saved:
        warn(
            "No queries are saved yet; S saves one in Tune, and `workbench import FILE` reads a query set."
        )
        return 0
    lines = [
        (q.id, str(len(grades.get(q.id, []))), moment(q.now) if q.now else "", q.text)
        for q in saved
    ]
    shown.remark()
    say_table([("id", "graded", "asked at", "query"), *lines], right=(1,))
    return 0


def _export(session: Session, bench: "Workbench") -> int:
    from workbench.cli.files.export import report_written, to_stdout
    from workbench.core.files.replacing import present_bytes
    from workbench.services.tuning import queries as export

    args = session.args
    to_file = str(args.file) != "-"
    path = session.cwd / args.file.expanduser()
    if to_file and present_bytes(path) is not None and not args.force:
        raise WorkbenchError(
            f"{path} is there already.", "Nothing was written; --force replaces it."
        )
    text = _text(session, bench)
    if not to_file:
        to_stdout(text)
        return 0
    preview = bench.exporter.preview(
        path, text, kind=export.KINDS[args.format or "jsonl"].export_format
    )
    done = bench.exporter.write(preview, force=args.force)
    say(
        f"{path} has {counted(text.count(chr(10)), 'line')} now."
        if preview.changed
        else f"{path} is already up to date."
    )
    report_written(done)
    return 0


def _text(session: Session, bench: "Workbench") -> str:
    from workbench.services.tuning import queries as export

    args = session.args
    write = export.KINDS[args.format or "jsonl"].write
    if write is not None:
        return write(bench.context)
    profile = profile_of(session, bench)
    warn(f"Ranked under {profile_in_use(session, bench)}.")
    loading, line = (
        ProgressLine("reading the memories", LONG),
        ProgressLine("asking the queries", 1),
    )
    with progressing(loading, line) as cancelled:
        bench.retriever.load(loading, cancelled)
        loading.clear()
        return export.run(bench.context, bench.tuning, profile, progress=line, cancelled=cancelled)


def _measure(session: Session, bench: "Workbench") -> int:
    from workbench.services.tuning.queries import score_run

    found = score_run(bench.context, session.cwd / session.args.file.expanduser())
    if found.unknown:
        warn(f"{counted(found.unknown, 'topic')} of the run are no saved queries and were ignored.")
    if wants_json(session.args):
        write_json(found)
    else:
        say(f"Run “{found.tag}”: {found.sentence}")
    return 0
