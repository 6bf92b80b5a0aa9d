"""What `workbench export` writes: the options that choose records, and what they mean together."""

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli.parsing import Parser, count
from workbench.cli.session import CLI_ACTOR, actor_of
from workbench.core.errors import UnknownRecord, WorkbenchError

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.core.files.format import ExportFormat
    from workbench.services.files.exports.choice import Choice
    from workbench.services.open import Workbench

NOTHING = "Nothing was written."


def add_choosing(parser: Parser) -> None:
    """Add the options that choose records."""
    parser.add_argument("--book", metavar="NAME", help="which playbook, when there are several")
    parser.add_argument("--section", metavar="S", default="", help="playbooks: only sections whose name holds this")
    parser.add_argument("--min-helpful", metavar="N", type=count, help="only what was marked helpful this often")
    parser.add_argument("--within-budget", action="store_true", help="playbooks: only what the token budget keeps")
    parser.add_argument("--dialect", choices=("counts", "bare"), help="ace: with or without counts (default: as read)")
    parser.add_argument("--memories", action="store_true", help="the memories, where a playbook could be meant too")
    parser.add_argument("--filter", metavar="TEXT", help="memories: only these, in the filter language of `list`")
    parser.add_argument("--all-status", action="store_true", help="memories: those too that nobody approved")
    parser.add_argument("--mask", action="store_true", help="mask secrets in jsonl too, which otherwise loses nothing")


def choice_of(args: "Namespace", bench: "Workbench") -> "tuple[Choice, tuple[str, ...]]":
    """Read which records are meant, with remarks on how that was decided. Raises `WorkbenchError`."""
    from workbench.services.files.exports.choice import Choice

    kind = bench.exporter.kind(args.format)
    _require_fitting(args, kind)
    found = None if args.filter is None else bench.stream.view(args.filter).memories
    book: str | None = args.book
    remarks: tuple[str, ...] = ()
    if (found is not None or args.memories) and (book or args.section or args.within_budget):
        option = "--filter" if found is not None else "--memories"
        raise WorkbenchError(
            f"{option} chooses memories, --book, --section and --within-budget bullets.", f"{NOTHING} Give one."
        )
    if kind.holds == "playbook" or (kind.holds == "either" and (book or args.section or args.within_budget)):
        book = bench.exporter.the_book(book)
    elif kind.holds == "either" and found is None and not args.memories and not args.all_status:
        book, remarks = _only_book(bench)
    chosen = Choice(book, args.section, args.min_helpful, found, args.dialect, args.all_status)
    return replace(chosen, within_budget=args.within_budget, mask=args.mask or actor_of(args) != CLI_ACTOR), remarks


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
            raise WorkbenchError(f"--{name.replace('_', '-')} does not go with --format {args.format}.", NOTHING)


def _only_book(bench: "Workbench") -> tuple[str | None, tuple[str, ...]]:
    """Return the playbook when nobody said what is meant, with a remark where memories could be meant as well.

    Without a playbook memories are meant. Raises `UnknownRecord` when there are several.
    """
    books = bench.exporter.books()
    if not books:
        return None, ()
    if len(books) > 1:
        names = ", ".join(books)
        raise UnknownRecord(f"The store has {len(books)} playbooks.", f"Name one with --book ({names}), or --memories.")
    memories = len(bench.library.memories)
    remark = (f"The playbook {books[0]}; --memories or --filter TEXT exports memories instead.",) if memories else ()
    return books[0], remark
