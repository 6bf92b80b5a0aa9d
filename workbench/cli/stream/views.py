"""`workbench views`, and how a list is arranged: by a view that was saved in the app, or by an order of its own."""

import difflib
from typing import TYPE_CHECKING

from workbench.cli.output import say, table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.session import Session
from workbench.core.record import InvalidQuery, UnknownRecord
from workbench.core.stream.confidence import ORDERS, SCORE, Arranged, SavedView, find_order, ordered
from workbench.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.stream.stream import StreamView

LONG = 2000
"""Texts above which embedding them shows its progress."""

_SHOWN = 60
"""Cells of a view's name."""

_VIEWS = """A view is a filter with an order that was saved in the app (f in the Stream); they stand in the config file,
as [views."NAME"]. `workbench list --view NAME` lists what one shows."""


def add_commands(commands: Commands) -> None:
    """Add `views`."""
    add_json(add_command(commands, "views", list_views, "list the views that were saved", _VIEWS, example="--json"))


def add_arranging(parser: Parser) -> None:
    """Add `--view` and `--sort`; read them with `chosen`."""
    parser.add_argument("--view", metavar="NAME", help="what a saved view shows; FILTER narrows it")
    names = ", ".join(order.id for order in ORDERS)
    about = f"one of {names}; --sort=-NAME turns it round (default: the view's, else the newest first)"
    parser.add_argument("--sort", metavar="ORDER", help=about)


def list_views(session: Session) -> int:
    """Print the saved views."""
    from workbench.services.safety.masking import masked, masked_text

    saved = session.settings().settings.views
    views = masked(saved, masked_text)
    if views != saved:
        warn("Secrets are masked; the config file holds them as they are.")
    if wants_json(session.args):
        write_json([_json(view) for view in views])
        return 0
    for line in table([(one_line(view.name, _SHOWN), view.filter or "everything", _told(view)) for view in views]):
        say(line)
    if not views:
        warn("No view was saved yet: f in the Stream, first row.")
    return 0


def chosen(session: Session) -> tuple[str, Arranged]:
    """Return the filter and the order of `--view`, `--sort` and FILTER. Raises `UnknownRecord`, `InvalidQuery`."""
    args = session.args
    view = SavedView("", "") if args.view is None else _named(session, args.view)
    if args.sort is not None and find_order(args.sort) is None:
        known = ", ".join(order.id for order in ORDERS)
        raise InvalidQuery(f"There is no order “{args.sort}”.", f"There are: {known}; --sort=-NAME turns one round.")
    arranged = view.arranged if args.sort is None else view.arranged._replace(order=args.sort)
    return " ".join(part for part in (view.filter, *args.filter) if part), arranged


def found_by(bench: "Workbench", text: str, name: str | None) -> "StreamView":
    """Return what a filter finds; raises `InvalidQuery`, which names the view that it is of."""
    try:
        return bench.stream.view(text)
    except InvalidQuery as error:
        if name is None:
            raise
        mask = bench.safety.masked
        said = f"The view “{one_line(mask(name), _SHOWN)}” cannot be shown: {mask(error.message)}"
        raise InvalidQuery(said, mask(error.hint)) from error


def arrange(bench: "Workbench", view: "StreamView", arranged: Arranged) -> "Sequence[Memory]":
    """Return the memories of a view in an order. Raises `InvalidQuery` for scores without words to rank for."""
    by = arranged.by
    if by is None or by.id != SCORE:
        return ordered(view.memories, arranged)
    words = " ".join(view.filter.words)
    if not words:
        raise InvalidQuery("To sort by score takes words to rank for.", "Add some to the filter, or sort otherwise.")
    from workbench.services.stream.semantic import semantic_matches  # numeric libraries: only where something is ranked

    line = ProgressLine("reading the memories", LONG)
    try:
        bench.retriever.load(line)
    finally:
        line.clear()
    holding = [memory.id for memory in view.memories]
    found = semantic_matches(bench.tuning, words, view.tests, holding, bench.context.now(), worth=True)
    return ordered(view.memories, arranged, found.held)


def _named(session: Session, name: str) -> SavedView:
    views = {view.name: view for view in session.settings().settings.views}
    if name in views:
        return views[name]
    from workbench.services.safety.masking import masked_text

    near = difflib.get_close_matches(name, views, n=1, cutoff=0.4)
    hint = f"Did you mean “{masked_text(near[0])}”?" if near else "`workbench views` lists those that are."
    raise UnknownRecord(f"There is no view “{one_line(masked_text(name), _SHOWN)}”.", hint)


def _told(view: SavedView) -> str:
    by = view.arranged.by
    if by is None:
        return ""
    return f"by {by.id}, {by.turned if view.arranged.is_turned else by.first}"


def _json(view: SavedView) -> dict[str, str]:
    return {"name": view.name, "filter": view.filter, "order": view.arranged.order, "dates": view.arranged.dates}
