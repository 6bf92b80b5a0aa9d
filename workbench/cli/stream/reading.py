"""`workbench show`, `list` and `stats`: reading the store."""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from workbench.cli.describe import bullet_json, compact, memory_json
from workbench.cli.output import cut, fail, moment, plain, say, say_table, table, warn, write_json
from workbench.cli.parsing import (
    Commands,
    Parser,
    add_at,
    add_command,
    add_json,
    add_limit,
    count,
    wants_json,
)
from workbench.cli.progress import ProgressLine
from workbench.cli.safety.flags import Shown, add_secrets, reasons, review_json, sign, unreviewed
from workbench.cli.session import CLI_ACTOR, PROBLEM, Session, actor_of
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidQuery, UnknownRecord, parse_time
from workbench.core.stream.confidence import (
    NOTES,
    ORDERS,
    SCORE,
    SUREST,
    Arranged,
    SavedView,
    effective_importance,
    find_order,
    is_imported,
    ordered,
    scored,
    told,
)
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.core.reflection.trigger import Gauge
    from workbench.services.health.history import Event, FieldEvent
    from workbench.services.health.overview import Stats
    from workbench.services.open import Workbench
    from workbench.services.stream.stream import StreamView


# `workbench undo`, `redo` and `history`: what was done, and the way back.


HISTORY_DEFAULT = 20
HISTORY_SHOWN = 60
"""Cells of a value in a history line."""

_UNDO = """Without an option: your own latest change; what agents did is not touched. --rev takes back any change that
`workbench history` lists, --group all parts of an import that was stopped. A change that something later
stands on is not taken back; both values are named then."""


def _add_history(commands: Commands) -> None:
    """Add `undo`, `redo` and `history`."""
    parser = add_command(
        commands,
        "undo",
        undo,
        "take back your latest change, or any one",
        _UNDO,
        example="--rev 41",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--rev", metavar="REV", type=count, help="the change with this revision, whoever made it"
    )
    which.add_argument(
        "--group", metavar="NAME", help="everything that was written under this name"
    )
    add_json(parser)
    add_json(add_command(commands, "redo", redo, "do again what was undone last", example=""))
    history = add_command(
        commands, "history", show_history, "list what was done, the newest first",
        example="mem-20261121-0000001 --values",
    )  # fmt: skip
    history.add_argument(
        "id", metavar="ID", nargs="?", help="only what changed in this record, with every value"
    )
    history.add_argument(
        "-n",
        metavar="N",
        type=count,
        default=HISTORY_DEFAULT,
        help=f"how many (default: {HISTORY_DEFAULT})",
    )
    history.add_argument("--values", action="store_true", help="show every value before and after")
    history.add_argument(
        "--reads",
        action="store_true",
        help="list what agents read and what files were written, too",
    )
    add_secrets(history)
    add_json(history)


def undo(session: Session) -> int:
    """Undo and say what, or say what stands in the way."""
    from workbench.core.change import UndoConflict, told

    args = session.args
    with session.changing() as bench:
        history = bench.history
        try:
            if args.rev is not None:
                label = history.undo_revision(args.rev)
            else:
                label = history.undo() if args.group is None else history.undo_group(args.group)
        except UndoConflict as conflict:
            fail(conflict)
            for clash in conflict.clashes[1:]:
                warn(
                    f"      {clash.key} {clash.name}: now {told(clash.present)}, would become {told(clash.wanted)}"
                )
            return PROBLEM
        revision = bench.library.revision
    if wants_json(args):
        write_json({"undone": label, "revision": revision})
    else:
        say(f"Undone: {label}.")
    return 0


def redo(session: Session) -> int:
    with session.changing() as bench:
        label, revision = bench.history.redo(), bench.library.revision
    if wants_json(session.args):
        write_json({"redone": label, "revision": revision})
    else:
        say(f"Done again: {label}.")
    return 0


def show_history(session: Session) -> int:
    """Print transactions, or the changes of one record."""
    args = session.args
    with session.reading() as bench:
        place = None if args.id is None else bench.history.place_of(args.id)
        shown = Shown(bench, secrets=args.show_secrets)
        found: Iterator[Event] = islice(bench.history.events(place, accesses=args.reads), args.n)
        if not (values := wants_json(args) or args.values or place is not None):
            found = (replace(event, fields=()) for event in found)
        events = [shown(event) for event in found]
    if wants_json(args):
        write_json([_event_json(event) for event in events])
        shown.remark()
        return 0
    if not events:
        warn("Nothing was done in this store yet.")
    for event, line in zip(
        events, table([_row(event) for event in events], right=(0,)), strict=True
    ):
        say(line)
        if values:
            _print_fields(event, place is None)
    shown.remark()
    return 0


def _row(event: "Event") -> tuple[str, ...]:
    return (str(event.rev), moment(parse_time(event.at)), event.actor, event.label)


def _print_fields(event: "Event", with_keys: bool) -> None:
    for field in event.fields:
        say(f"      {f'{field.key} ' if with_keys else ''}{field.field}: {_change(field)}")


def _change(field: "FieldEvent") -> str:
    if field.redacted:
        return "(purged)"
    if field.step is not None:
        return f"{field.step:+g}"
    old, new = compact(field.before), compact(field.after)
    start = 0 if field.before is None or field.after is None else _history_start(old, new)
    before = "" if field.before is None else f"{_value(old, start)} → "
    return f"{before}{'(default)' if field.after is None else _value(new, start)}"


def _history_start(old: str, new: str) -> int:
    """Return from which character on two texts are shown, so that what differs is in sight."""
    same = len(os.path.commonprefix((old, new)))  # noqa: RUF071 - letters of texts, not parts of paths
    if same < HISTORY_SHOWN // 2 or max(len(old), len(new)) <= HISTORY_SHOWN:
        return 0
    cut = same - HISTORY_SHOWN // 6
    space = old.rfind(" ", cut - HISTORY_SHOWN // 6, cut)
    return space + 1 if space >= 0 else cut


def _value(text: str, start: int) -> str:
    return one_line(f"… {text[start:]}" if start else text, HISTORY_SHOWN) or "(empty)"


def _event_json(event: "Event") -> dict[str, object]:
    keys = list(dict.fromkeys(field.key for field in event.fields))
    return {
        "rev": event.rev, "at": event.at, "actor": event.actor, "label": event.label, "kind": event.kind,
        "group": event.group, "target": event.target, "records": keys, "fields": plain(event.fields),
    }  # fmt: skip


# `workbench views`, and how a list is arranged: by a view that was saved in the app, or by an order
# of its own.


LONG = 2000
"""Texts above which embedding them shows its progress."""

_SHOWN = 60
"""Cells of a view's name."""

_VIEWS = """A view is a filter with an order that was saved in the app (f in the Stream); they stand in the config file,
as [views."NAME"]. `workbench list --view NAME` lists what one shows."""


def _add_views(commands: Commands) -> None:
    """Add `views`."""
    add_json(
        add_command(
            commands,
            "views",
            list_views,
            "list the views that were saved",
            _VIEWS,
            example="--json",
        )
    )


def add_arranging(parser: Parser) -> None:
    """Add `--view` and `--sort`; read them with `chosen`."""
    parser.add_argument("--view", metavar="NAME", help="what a saved view shows; FILTER narrows it")
    names = ", ".join(order.id for order in ORDERS)
    about = (
        f"one of {names}; --sort=-NAME turns it round (default: the view's, else the newest first)"
    )
    parser.add_argument("--sort", metavar="ORDER", help=about)


def list_views(session: Session) -> int:
    """Print the saved views."""
    from workbench.services.safety.masking import masked, masked_text

    saved = session.settings().settings.views
    views = masked(saved, masked_text)
    if views != saved:
        warn("Secrets are masked; the config file holds them as they are.")
    if wants_json(session.args):
        write_json([_view_json(view) for view in views])
        return 0
    say_table(
        [(one_line(view.name, _SHOWN), view.filter or "everything", _told(view)) for view in views]
    )
    if not views:
        warn("No view was saved yet: f in the Stream, first row.")
    return 0


def chosen(session: Session) -> tuple[str, Arranged]:
    """Return the filter and the order of `--view`, `--sort` and FILTER. Raises `UnknownRecord`,
    `InvalidQuery`.
    """
    args = session.args
    view = SavedView("", "") if args.view is None else _named(session, args.view)
    if args.sort is not None and find_order(args.sort) is None:
        known = ", ".join(order.id for order in ORDERS)
        raise InvalidQuery(
            f"There is no order “{args.sort}”.",
            f"There are: {known}; --sort=-NAME turns one round.",
        )
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
    """Return the memories of a view in an order. Raises `InvalidQuery` for scores without words to
    rank for.
    """
    by = arranged.by
    if by is None or by.id != SCORE:
        return ordered(view.memories, arranged)
    words = " ".join(view.filter.words)
    if not words:
        raise InvalidQuery(
            "To sort by score takes words to rank for.",
            "Add some to the filter, or sort otherwise.",
        )
    from workbench.services.stream.semantic import (
        semantic_matches,
    )  # numeric libraries: only where something is ranked

    line = ProgressLine("reading the memories", LONG)
    try:
        bench.retriever.load(line)
    finally:
        line.clear()
    holding = [memory.id for memory in view.memories]
    found = semantic_matches(
        bench.tuning, words, view.tests, holding, bench.context.now(), worth=True
    )
    return ordered(view.memories, arranged, found.held)


def _named(session: Session, name: str) -> SavedView:
    views = {view.name: view for view in session.settings().settings.views}
    if name in views:
        return views[name]
    from workbench.services.safety.masking import masked_text

    near = difflib.get_close_matches(name, views, n=1, cutoff=0.4)
    hint = (
        f"Did you mean “{masked_text(near[0])}”?"
        if near
        else "`workbench views` lists those that are."
    )
    raise UnknownRecord(f"There is no view “{one_line(masked_text(name), _SHOWN)}”.", hint)


def _told(view: SavedView) -> str:
    by = view.arranged.by
    if by is None:
        return ""
    return f"by {by.id}, {by.turned if view.arranged.is_turned else by.first}"


def _view_json(view: SavedView) -> dict[str, str]:
    return {
        "name": view.name,
        "filter": view.filter,
        "order": view.arranged.order,
        "dates": view.arranged.dates,
    }


DEFAULT = 50
SHOWN = 200
"""Cells of a metadata value."""

_LIST = """FILTER is the filter language of the Stream: type: memory: status: tag: section: session: speaker: since:
until: pinned: id: is:, "exact phrase", a leading - excludes, other words are searched for with typing errors
forgiven. Archived memories are listed only when a status: asks for them. Dates are always written in full."""


_STATS = """Trends are of the last days, the last of which is today: each is one block of a line, a · stands for none.
Decisions are those about candidates and other proposals, votes those that stand."""


def add_commands(commands: Commands) -> None:
    _add_history(commands)
    show = add_command(
        commands,
        "show",
        show_record,
        "print memories or bullets in full",
        example="mem-20261121-0000001 shr-00001",
    )
    about = "a memory's id or a bullet's (BOOK/ID when several playbooks have it)"
    show.add_argument("ids", metavar="ID", nargs="+", help=about)
    add_at(show, "as it was at this revision or time")
    add_secrets(show)
    add_json(show)
    listing = add_command(
        commands, "list", list_memories, "list memories, the newest first", _LIST,
        example="type:error since:7d --sort votes",
    )  # fmt: skip
    listing.add_argument(
        "filter", metavar="FILTER", nargs="*", help="which memories (default: all)"
    )
    listing.takes_filter = True
    add_arranging(listing)
    add_limit(listing, DEFAULT)
    add_at(listing)
    add_secrets(listing)
    add_json(listing)
    stats = add_command(
        commands, "stats", print_stats, "show statistics of the store", _STATS, example="--days 30"
    )
    stats.add_argument(
        "--days", metavar="N", type=count, help="days that trends are of (default: six weeks)"
    )
    add_at(stats)
    add_json(stats)
    _add_views(commands)


def show_record(session: Session) -> int:
    """Print records with all they hold."""
    at, by_person = session.at(), actor_of(session.args) == CLI_ACTOR
    with session.reading(at=None if by_person else at) as bench:
        found = [
            _record(bench, id, at if by_person else None) for id in dict.fromkeys(session.args.ids)
        ]
        shown = Shown(bench, secrets=session.args.show_secrets)
        printed = [shown(record) for record in found]
    if wants_json(session.args):
        docs = [
            (memory_json(shown) if isinstance(shown, Memory) else bullet_json(shown))
            | review_json(bench, record)
            for shown, record in zip(printed, found, strict=True)
        ]
        write_json(docs[0] if len(docs) == 1 else docs)
    else:
        for number, (record, stored) in enumerate(zip(printed, found, strict=True)):
            if number:
                say()
            _print_record(session, record, reasons(stored), unreviewed(bench, stored))
    shown.remark()
    return 0


def _record(bench: "Workbench", id: str, at: int | None) -> Memory | Bullet:
    from workbench.services.stream.votable import find_votable

    if at is None:
        record: object = find_votable(bench.context, id)
    else:
        record = bench.history.at_revision(bench.history.place_of(id), at)
    if not isinstance(record, Memory | Bullet):
        raise UnknownRecord(
            f"{id} is neither a memory nor a bullet.", "`workbench history` shows what changed."
        )
    return record


def _print_record(session: Session, record: Memory | Bullet, why: str, mark: str) -> None:
    """Print a record; `why` says why it is flagged, the `mark` stands before its text."""
    facts = (
        _memory_facts(record, session.clock(), why)
        if isinstance(record, Memory)
        else _bullet_facts(record, why)
    )
    say_table([(name, value) for name, value in facts if value])
    say()
    say(mark + record.content)


def list_memories(session: Session) -> int:
    """Print the memories that a filter lets through."""
    args = session.args
    text, arranged = chosen(session)
    with session.reading(at=session.at()) as bench:
        view = found_by(bench, text, args.view)
        memories = arrange(bench, view, arranged)
    listed, shown = cut(memories, args.limit), Shown(bench, secrets=args.show_secrets)
    if wants_json(args):
        write_json([memory_json(shown(memory)) | review_json(bench, memory) for memory in listed])
        shown.remark()
        return 0
    rows = [
        (
            masked.id,
            moment(m.created_at),
            masked.observation_type,
            m.status,
            f"{m.importance_score:g}",
            sign(bench, m) + (f"({_length(m)}) " if m.is_long else "") + said,
        )
        for m in listed
        for masked, said in ((shown(m), shown(m.line)),)
    ]
    say_table(rows, right=(4,))
    shown.remark()
    if not view.total:
        warn("The store has no memories yet; `workbench import` or `workbench ingest` adds some.")
    elif not listed:
        warn(f"No memory matches; the store holds {counted(view.total, 'memory', 'memories')}.")
    return 0


def print_stats(session: Session) -> int:
    """Print counts, how far the reflection gauge is along, and how the store goes."""
    from workbench.cli.health.trends import trends_json, trends_lines
    from workbench.services.health.trends import DAYS

    with session.reading(at=session.at()) as bench:
        stats, gauge, shown = (
            Shown(bench)(bench.overview.stats()),
            bench.overview.gauge(),
            Shown(bench),
        )
        trends = shown(bench.trends.look(session.args.days or DAYS))
        unfinished = dict(bench.library.unfinished)
    if wants_json(session.args):
        store, reflection = session.choice().folder, _gauge_json(gauge)
        write_json(
            {
                **stats._asdict(), "store": store, "reflection": reflection, "unfinished": list(unfinished.values()),
                "trends": trends_json(trends),
            }
        )  # fmt: skip
        return 0
    say_table(_stats_rows(stats, gauge))
    for group, label in unfinished.items():
        say(f"not finished: {label}; `workbench undo --group {group}` takes back what was written")
    for line in trends_lines(trends):
        say(line)
    return 0


def _length(memory: Memory) -> str:
    return f"{len(memory.content):,} characters"


def _start(memory: Memory) -> str:
    return f" · counts +{memory.helpful_created} from the start" if memory.helpful_created else ""


def _memory_facts(memory: Memory, now: "datetime", why: str) -> list[tuple[str, str]]:
    status = (
        f"{memory.status} ({memory.archived_reason})" if memory.archived_reason else memory.status
    )
    effective, sure = effective_importance(memory, now), scored(memory)
    notes = {
        name: value
        for name, value in memory.metadata.items()
        if name not in NOTES and name != FILE_KEY
    }
    return [
        ("id", memory.id),
        ("summary", memory.summary),
        (
            "type",
            f"{memory.observation_type} · {memory.memory_type}{' · reflection' if memory.is_synthetic else ''}",
        ),
        (
            "status",
            status
            + (" · imported" if is_imported(memory) else "")
            + (" · pinned" if memory.pinned else ""),
        ),
        ("⚑ flagged", why),
        ("importance", f"{memory.importance_score:g} · with votes {effective:g}"),
        ("votes", f"+{memory.helpful_given} −{memory.harmful_count}{_start(memory)}"),
        (
            "confidence",
            f"{sure.value} of {SUREST}: {known}" if (known := " · ".join(told(sure))) else "",
        ),
        ("length", f"{_length(memory)}: an agent's budget may cut it" if memory.is_long else ""),
        ("section", memory.section),
        ("category", memory.category),
        ("tags", ", ".join(memory.tags)),
        ("session", memory.session_id),
        ("said by", memory.source.speaker or ""),
        ("cites", ", ".join(memory.citations)),
        ("related", ", ".join(memory.related)),
        ("was", ", ".join(memory.aliases)),
        ("promoted to", memory.promoted_to or ""),
        ("review after", moment(memory.review_after) if memory.review_after else ""),
        ("created", moment(memory.created_at)),
        (
            "read",
            f"{moment(memory.last_accessed_at)} · {memory.access_count:,} times"
            if memory.access_count
            else "",
        ),
        *((name, one_line(compact(value), SHOWN)) for name, value in notes.items()),
    ]


def _bullet_facts(bullet: Bullet, why: str) -> list[tuple[str, str]]:
    return [
        ("id", bullet.id),
        ("playbook", bullet.book),
        ("section", bullet.section),
        ("votes", f"+{bullet.helpful_count} −{bullet.harmful_count}"),
        ("state", bullet.state + (" · pinned" if bullet.pinned else "")),
        ("⚑ flagged", why),
        ("was", ", ".join(bullet.aliases)),
    ]


def _stats_rows(stats: "Stats", gauge: "Gauge") -> list[tuple[str, str]]:
    leading = gauge.leading
    return [
        ("memories", f"{stats.memories:,}"),
        ("  by status", _split(stats.by_status)),
        ("  by type", _split(stats.by_type)),
        ("to review", f"{stats.pending:,}"),
        ("playbooks", f"{stats.books:,} with {counted(stats.bullets, 'bullet')}"),
        ("queries", f"{stats.queries:,} with {counted(stats.judgments, 'judgment')}"),
        ("votes", f"{stats.votes:,}"),
        ("reflection", f"{leading.value:.0f} of {leading.limit:g} {leading.name}"),
        ("revision", f"{stats.revision:,}"),
    ]


def _split(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items() if number)


def _gauge_json(gauge: "Gauge") -> dict[str, object]:
    return {
        c.name: {"value": c.value, "limit": c.limit, "fraction": c.fraction}
        for c in gauge.conditions
    }
