"""`workbench show`, `list`, `stats`, `views`, `history`, `undo` and `redo`: what the store holds,
what was done, and the way back.
"""

import difflib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from workbench.cli.describe import bullet_json, compact, memory_json
from workbench.cli.output import cut, fail, moment, picked, table, warn
from workbench.cli.parsing import add_at, add_filter, count, time
from workbench.cli.progress import read_memories
from workbench.cli.session import CLI_ACTOR, PROBLEM, Session, actor_of
from workbench.cli.verbs import (
    UNDO,
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    looking_back,
    reasons,
    review_json,
    sign,
    unopened,
    unreviewed,
    value,
)
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidQuery, UnknownRecord, WorkbenchError, parse_time
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
from workbench.core.text import begun_alike, counted, one_line
from workbench.services.context import is_person

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.services.health.history import Event, FieldEvent
    from workbench.services.health.quality import Weeks
    from workbench.services.health.trends import Daily, Trends
    from workbench.services.open import Workbench
    from workbench.services.stream.stream import StreamView


# `workbench undo`, `redo` and `history`: what was done, and the way back.


SHOWN = 60
"""Cells of a value in a history line, or of a view's name."""

_UNDO = """Without an option: your own latest change; agents' changes are not touched. --rev takes back any change
listed by `workbench history`, --group every part of an interrupted import. A change that later changes
depend on is not taken back; both values are shown. --by with --since takes back everything an agent changed since
that time, as one change that `undo` brings back; what later changes depend on stays and is listed."""


def undo(call: Call) -> Answer:
    """Undo and say what, or say what stands in the way."""
    from workbench.core.change import UndoConflict, told

    args, history = call.args, call.bench.history
    if args.by is not None or args.since is not None:
        return _undo_by(call, args.by, call.session.time(args.since))
    try:
        if args.rev is not None:
            label = history.undo_revision(args.rev)
        else:
            label = history.undo() if args.group is None else history.undo_group(args.group)
    except UndoConflict as conflict:
        fail(conflict)
        for clash in conflict.clashes[1:]:
            now, wanted = told(clash.present), told(clash.wanted)
            warn(f"      {clash.key} {clash.name}: now {now}, would become {wanted}")
        return Answer(code=PROBLEM)
    return Answer({"undone": label, "revision": call.bench.library.revision}, [f"Undone: {label}."])


def _undo_by(call: Call, by: str | None, since: "datetime | None") -> Answer:
    """Take back whatever an agent changed since a time."""
    if not by or since is None:
        raise WorkbenchError("--by and --since go together.", "Nothing was changed.")
    actor = by if ":" in by or is_person(by) else f"agent:{by}"
    done, rev = call.bench.history.undo_by(actor, since), call.bench.library.revision
    what = f"{counted(done.taken, 'change')} by {actor.removeprefix('agent:')}"
    stays = [f"stays, later changes depend on it: {label}" for label in done.left]
    json = {"undone": what, "revision": rev, "changes": done.taken, "left": list(done.left)}
    return Answer(json, [f"Undone: {what}{done.found}. {UNDO}", *stays])


def redo(call: Call) -> Answer:
    label = call.bench.history.redo()
    return Answer({"redone": label, "revision": call.bench.library.revision}, [f"Redone: {label}."])


def show_history(call: Call) -> Answer:
    """Print transactions, or the changes of one record."""
    args, history = call.args, call.bench.history
    place = None if args.id is None else history.place_of(args.id)
    found: Iterator[Event] = islice(history.events(place, accesses=args.reads), args.n)
    values = call.wants_json or args.values or place is not None
    if not values:
        found = (replace(event, fields=()) for event in found)
    events = [call.shown(event) for event in found]

    def lines() -> Iterator[str]:
        rows = [(str(e.rev), moment(parse_time(e.at)), e.actor, e.label) for e in events]
        for event, line in zip(events, table(rows, right=(0,)), strict=True):
            yield line
            for field in event.fields if values else ():
                key = f"{field.key} " if place is None else ""
                yield f"      {key}{field.field}: {_change(field)}"

    remarks = [] if events else ["No history yet."]
    return Answer(lambda: [_event_json(event) for event in events], lines, remarks)


def _change(field: "FieldEvent") -> str:
    if field.redacted:
        return "(purged)"
    if field.step is not None:
        return f"{field.step:+g}"
    old, new = compact(field.before), compact(field.after)
    start = 0 if field.before is None or field.after is None else _differing(old, new)
    before, after = (
        one_line(f"… {text[start:]}" if start else text, SHOWN) or "(empty)" for text in (old, new)
    )
    was = "" if field.before is None else f"{before} → "
    return was + ("(default)" if field.after is None else after)


def _differing(old: str, new: str) -> int:
    """Return from which character on two texts are shown, so that what differs is in sight."""
    same = begun_alike(old, new)
    if same < SHOWN // 2 or max(len(old), len(new)) <= SHOWN:
        return 0
    start = same - SHOWN // 6
    space = old.rfind(" ", start - SHOWN // 6, start)
    return space + 1 if space >= 0 else start


def _event_json(event: "Event") -> dict[str, object]:
    names = ("rev", "at", "actor", "label", "kind", "group", "target")
    keys = list(dict.fromkeys(field.key for field in event.fields))
    return {**picked(event, *names), "records": keys, "fields": event.fields}


# `workbench views`, and how a list is arranged: by a view that was saved in the app, or by an order
# of its own.


_VIEWS = """A view is a filter and an order saved in the app (f in the Stream). Views are stored in the config
file, as [views."NAME"]. `workbench list --view NAME` lists the memories of one."""


def list_views(call: Call) -> Answer:
    """Print the saved views."""
    saved = call.session.settings().settings.views
    views = call.shown(saved)
    json = [
        {**picked(view, "name", "filter"), **picked(view.arranged, "order", "dates")}
        for view in views
    ]
    rows = [(one_line(v.name, SHOWN), v.filter or "everything", _order_said(v)) for v in views]
    none = "No saved views yet: f in the Stream, first row."
    return Answer(json, table(rows), [] if views else [none])


def _order_said(view: SavedView) -> str:
    by = view.arranged.by
    if by is None:
        return ""
    return f"by {by.id}, {by.turned if view.arranged.is_turned else by.first}"


def _chosen(session: Session) -> tuple[str, Arranged]:
    """Return the filter and the order of `--view`, `--sort` and FILTER. Raises `UnknownRecord`,
    `InvalidQuery`.
    """
    args = session.args
    view = SavedView("", "") if args.view is None else _view(session, args.view)
    arranged = view.arranged
    if args.sort is not None:
        if find_order(args.sort) is None:
            known = ", ".join(order.id for order in ORDERS)
            raise InvalidQuery(
                f"Unknown order “{args.sort}”.",
                f"There are: {known}; --sort=-NAME reverses one.",
            )
        arranged = arranged._replace(order=args.sort)
    return " ".join(part for part in (view.filter, *args.filter) if part), arranged


def _view(session: Session, name: str) -> SavedView:
    views = {view.name: view for view in session.settings().settings.views}
    if name in views:
        return views[name]
    from workbench.services.safety.masking import masked_text

    near = difflib.get_close_matches(name, views, n=1, cutoff=0.4)
    meant = f"Did you mean “{masked_text(near[0])}”?" if near else ""
    raise UnknownRecord(
        f"Unknown view “{one_line(masked_text(name), SHOWN)}”.",
        meant or "`workbench views` lists them.",
    )


def _found_by(bench: "Workbench", text: str, name: str | None) -> "StreamView":
    """Return what a filter finds; raises `InvalidQuery`, which names the view that it is of."""
    try:
        return bench.stream.view(text)
    except InvalidQuery as error:
        if name is None:
            raise
        mask = bench.safety.masked
        said = f"The view “{one_line(mask(name), SHOWN)}” cannot be shown: {mask(error.message)}"
        raise InvalidQuery(said, mask(error.hint)) from error


def _arranged(bench: "Workbench", view: "StreamView", arranged: Arranged) -> "Sequence[Memory]":
    """Return the memories of a view in an order. Raises `InvalidQuery` for scores without words to
    rank for.
    """
    by = arranged.by
    if by is None or by.id != SCORE:
        return ordered(view.memories, arranged)
    words = " ".join(view.filter.words)
    if not words:
        raise InvalidQuery(
            "Sorting by score needs words to search for.",
            "Add some to the filter, or choose another order.",
        )
    # Numeric libraries: only where something is ranked.
    from workbench.services.stream.semantic import semantic_matches

    read_memories(bench)
    holding = [memory.id for memory in view.memories]
    found = semantic_matches(
        bench.tuning, words, view.tests, holding, bench.context.now(), worth=True
    )
    return ordered(view.memories, arranged, found.held)


# `workbench list` and `show`.


_LIST = """FILTER is the filter language of the Stream: type: memory: status: tag: section: session: speaker:
since: until: pinned: id: is:, "exact phrase"; a leading - excludes, and other words are searched
for, forgiving typing errors. Archived memories are listed only when a status: asks for them.
Dates are written in full."""


def list_memories(call: Call) -> Answer:
    """Print the memories that a filter lets through."""
    args, bench, shown = call.args, call.bench, call.shown
    text, arranged = _chosen(call.session)
    view = _found_by(bench, text, args.view)
    listed = cut(_arranged(bench, view, arranged), args.limit)

    def rows() -> Iterator[tuple[str, ...]]:
        for m in listed:
            masked, long = shown(m), f"({_length(m)}) " if m.is_long else ""
            said = sign(bench, m) + long + shown(m.line)
            about = (masked.observation_type, m.status, f"{m.importance_score:g}")
            yield masked.id, moment(m.created_at), *about, said

    remarks = []
    if not view.total:
        remarks = ["No memories yet; `workbench import` or `workbench ingest` adds some."]
    elif not listed:
        remarks = [
            f"No memory matches; the store holds {counted(view.total, 'memory', 'memories')}."
        ]
    return Answer(
        lambda: [memory_json(shown(memory)) | review_json(bench, memory) for memory in listed],
        lambda: table([*rows()], right=(4,)),
        remarks,
    )  # fmt: skip


def _opened_to_show(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store: a person is shown what a record was from the history of today's store."""
    by_person = actor_of(session.args) == CLI_ACTOR
    return session.reading(at=None if by_person else session.at())


def show_records(call: Call) -> Answer:
    """Print records with all they hold."""
    bench, shown = call.bench, call.shown
    at = call.session.at() if actor_of(call.args) == CLI_ACTOR else None
    found = [(record, shown(record)) for record in _records(bench, call.args.ids, at)]

    def lines() -> Iterator[str]:
        for number, (stored, record) in enumerate(found):
            if number:
                yield ""
            facts = _facts(record, call.session.clock(), reasons(stored))
            yield from table([(name, value) for name, value in facts if value])
            yield ""
            yield unreviewed(bench, stored) + record.content

    docs = [
        (memory_json(one) if isinstance(one, Memory) else bullet_json(one))
        | review_json(bench, stored)
        for stored, one in found
    ]
    return Answer(docs[0] if len(docs) == 1 else docs, lines)


def _records(bench: "Workbench", ids: "Sequence[str]", at: int | None) -> Iterator[Memory | Bullet]:
    from workbench.services.stream.votable import find_votable

    for id in dict.fromkeys(ids):
        if at is None:
            yield find_votable(bench.context, id)
            continue
        record = bench.history.at_revision(bench.history.place_of(id), at)
        if not isinstance(record, Memory | Bullet):
            raise UnknownRecord(
                f"{id} is neither a memory nor a bullet.", "`workbench history` shows what changed."
            )
        yield record


def _length(memory: Memory) -> str:
    return f"{len(memory.content):,} characters"


def _facts(record: Memory | Bullet, now: "datetime", why: str) -> list[tuple[str, str]]:
    """Return what is known of a record; `why` says why it is flagged."""
    pinned = " · pinned" if record.pinned else ""
    if isinstance(record, Bullet):
        return [
            ("id", record.id),
            ("playbook", record.book),
            ("section", record.section),
            ("votes", f"+{record.helpful_count} −{record.harmful_count}"),
            ("state", record.state + pinned),
            ("⚑ flagged", why),
            ("was", ", ".join(record.aliases)),
        ]
    m, sure = record, scored(record)
    effective = effective_importance(m, now)
    reason = f" ({m.archived_reason})" if m.archived_reason else ""
    imported = " · imported" if is_imported(m) else ""
    reflected = " · reflection" if m.is_synthetic else ""
    start = f" · imported with +{m.helpful_created}" if m.helpful_created else ""
    known = " · ".join(told(sure))
    read = f"{moment(m.last_accessed_at)} · {m.access_count:,} times" if m.access_count else ""
    return [
        ("id", m.id),
        ("summary", m.summary),
        ("type", f"{m.observation_type} · {m.memory_type}{reflected}"),
        ("status", f"{m.status}{reason}{imported}{pinned}"),
        ("⚑ flagged", why),
        ("importance", f"{m.importance_score:g} · with votes {effective:g}"),
        ("votes", f"+{m.helpful_given} −{m.harmful_count}{start}"),
        ("confidence", f"{sure.value} of {SUREST}: {known}" if known else ""),
        ("length", f"{_length(m)}: an agent's budget may truncate it" if m.is_long else ""),
        ("section", m.section),
        ("category", m.category),
        ("tags", ", ".join(m.tags)),
        ("session", m.session_id),
        ("said by", m.source.speaker or ""),
        ("cites", ", ".join(m.citations)),
        ("related", ", ".join(m.related)),
        ("was", ", ".join(m.aliases)),
        ("promoted to", m.promoted_to or ""),
        ("review after", moment(m.review_after) if m.review_after else ""),
        ("created", moment(m.created_at)),
        ("read", read),
        *(
            (name, one_line(compact(value), 200))
            for name, value in m.metadata.items()
            if name not in NOTES and name != FILE_KEY
        ),
    ]


# `workbench stats`: counts, and how the store goes: a line of blocks for each number.


LISTED = 8
"""Types and categories that are listed; the rest is counted."""

WIDEST = 70
"""Days that a line has room for; of more each block is of several."""

_STATS = """Trends are of the last days, the last of which is today: each is one block of a line, a · stands for none.
Decisions are those about candidates and other proposals, votes those that stand. Whether memory gets better is told
week by week, each number of the store as it was at the end of that week: today's judged queries are asked of it again,
which needs the model."""


def show_stats(call: Call) -> Answer:
    """Print counts, how far the reflection gauge is along, and how the store goes."""
    from workbench.services.health.trends import DAYS

    bench = call.bench
    stats, gauge = call.shown(bench.overview.stats()), bench.overview.gauge()
    trends = call.shown(bench.trends.look(call.args.days or DAYS))
    weeks = bench.quality.look(-(-(call.args.days or DAYS) // 7))
    unfinished = dict(bench.library.unfinished)
    names = ("made", "types", "categories", "approved", "rejected", "helpful", "harmful", "statuses", "confidences",
             "sources", "approval")  # fmt: skip
    json = {
        **stats._asdict(),
        "store": call.session.choice().folder,
        "reflection": {
            c.name: picked(c, "value", "limit", "fraction") for c in gauge.conditions
        },
        "unfinished": list(unfinished.values()),
        "trends": {
            "days": [day.isoformat() for day in trends.days],
            **picked(trends, *names),
            "hits": {
                name: {**picked(one, "asked", "answered"), "rate": round(one.rate, 4)}
                for name, one in trends.hits.items()
            },
        },
        "weeks": {
            "ends": list(weeks.ends),
            "known_since": weeks.since,
            "purged": weeks.purged,
            **{
                one.kind.id: [
                    value and {"value": round(value.value, 4), "of": value.of}
                    for value in one.values
                ]
                for one in weeks.figures
            },
        },
    }  # fmt: skip
    leading = gauge.leading
    rows = [
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
    lines = [
        f"not finished: {label}; `workbench undo --group {group}` takes back what was written"
        for group, label in unfinished.items()
    ]
    return Answer(json, lambda: [*table(rows), *lines, *_week_lines(weeks), *_trend_lines(trends)])


def _week_lines(weeks: "Weeks") -> Iterator[str]:
    from workbench.core.health import sparkline

    yield ""
    yield f"is memory getting better? {counted(len(weeks.ends), 'week')}, each up to its last day"
    yield from table([(f"  {sparkline(one.heights)}", one.sentence) for one in weeks.figures])
    yield from (f"  {remark}" for remark in weeks.remarks)


def _trend_lines(trends: "Trends") -> Iterator[str]:
    first, last = trends.days[0], trends.days[-1]
    yes, no = sum(trends.approved), sum(trends.rejected)
    decided = "none"
    if trends.approval is not None:
        share = f"{trends.approval:.0%} approved"
        decided = f"{yes + no:,}: {yes:,} approved, {no:,} rejected ({share})"
    votes = f"+{sum(trends.helpful):,} −{sum(trends.harmful):,}"
    yield ""
    yield f"last {counted(len(trends.days), 'day')}, {first} to {last}"
    yield from table(
        [
            ("  memories", _blocks(trends.made), f"{sum(trends.made):,}"),
            ("  decisions", _blocks(trends.decided), decided),
            ("  votes", _blocks(trends.voted), votes),
            *_named_trends("type", trends.types),
            *_named_trends("category", trends.categories),
        ]
    )
    if trends.hits:
        hits = (
            f"{name} {one.answered:,} of {counted(one.asked, 'question')} ({one.rate:.0%})"
            for name, one in trends.hits.items()
        )
        yield f"answered to agents: {', '.join(hits)}"
    yield "all of the store"
    sums = (("  confidence", trends.confidences), ("  sources", trends.sources))
    yield from table([(name, _split(counts) or "nothing yet") for name, counts in sums])


def _named_trends(what: str, names: "Mapping[str, Daily]") -> Iterator[tuple[str, str, str]]:
    rows = [(f"{what} {_name(name)}", days) for name, days in names.items()]
    if rest := rows[LISTED:]:
        both = tuple(map(sum, zip(*(days for _, days in rest), strict=True)))
        rows[LISTED:] = [(f"{len(rest):,} more", both)]
    return ((f"  {name}", _blocks(days), f"{sum(days):,}") for name, days in rows)


def _blocks(values: "Daily") -> str:
    """Return a line with a block for as many sums of neighbouring days as it has room for; the last
    one ends today.
    """
    from workbench.core.health import sparkline
    from workbench.services.health.trends import summed

    return sparkline(summed(values, -(-len(values) // WIDEST)))


def _split(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{_name(name)} {number:,}" for name, number in counts.items() if number)


def _name(name: str) -> str:
    return one_line(name, 24) if name else "(none)"


OPTIONS: Mapping[str, Option] = {
    "--rev": value("REV", "the change with this revision, by anyone", type=count),
    "--group": value("NAME", "every change of this group"),
    "--by": value("NAME", "everything this agent changed from --since on"),
    "--since": value("WHEN", "36h, 7d, yesterday, 2026-11-21, …", type=time),
    "id": value("ID", "only changes of this record, with all values"),
    "-n": value("N", "how many (default: %(default)s)", type=count),
    "--values": flag("show all values before and after"),
    "--reads": flag("include agents' reads and written files"),
    "ids": value("ID", "a memory's id or a bullet's (BOOK/ID when several playbooks have it)"),
    "--at:show": lambda parser: add_at(parser, "as it was at this revision or time"),
    "filter": partial(add_filter, help="which memories (default: all)"),
    "--view": value("NAME", "use a saved view; FILTER narrows it"),
    "--sort": value(
        "ORDER",
        f"one of {', '.join(order.id for order in ORDERS)}; --sort=-NAME reverses it"
        " (default: the view's, else newest first)",
    ),
    "--days": value("N", "days in the trends (default: six weeks)", type=count),
}

VERBS = (
    Verb("undo", undo, "undo your latest change, or any one", "--rev|--group|--by --since --json", _UNDO,
         "--rev 41", changing),
    Verb("redo", redo, "redo the last undone change", "--json", opens=changing),
    Verb("history", show_history, "list changes, newest first",
         "id? -n=20 --values --reads --show-secrets --json", "", "mem-20261121-0000001 --values"),
    Verb("show", show_records, "print memories or bullets in full", "ids+ --at:show --show-secrets --json", "",
         "mem-20261121-0000001 shr-00001", _opened_to_show),
    Verb("list", list_memories, "list memories, newest first",
         "filter --view --sort limit=50 --at --show-secrets --json", _LIST, "type:error since:7d --sort votes",
         looking_back),
    Verb("stats", show_stats, "show statistics of the store", "--days --at --json", _STATS, "--days 30", looking_back),
    Verb("views", list_views, "list saved views", "--json", _VIEWS, "--json", unopened),
)  # fmt: skip
