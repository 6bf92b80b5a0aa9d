"""`workbench show`, `list` and `stats`: reading the store."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cli.describe import bullet_json, compact, memory_json
from workbench.cli.output import cut, moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_at, add_command, add_json, add_limit, count, wants_json
from workbench.cli.safety.flags import Shown, add_secrets, reasons, review_json, sign, unreviewed
from workbench.cli.session import CLI_ACTOR, Session, actor_of
from workbench.cli.stream.views import add_arranging, arrange, chosen, found_by
from workbench.core.playbook.book import Bullet
from workbench.core.record import UnknownRecord
from workbench.core.stream.confidence import NOTES, SUREST, is_imported, scored, told
from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.core.reflection.trigger import Gauge
    from workbench.services.health.overview import Stats
    from workbench.services.open import Workbench

DEFAULT = 50
SHOWN = 200
"""Cells of a metadata value."""

_LIST = """FILTER is the filter language of the Stream: type: memory: status: tag: section: session: speaker: since:
until: pinned: id: is:, "exact phrase", a leading - excludes, other words are searched for with typing errors
forgiven. Archived memories are listed only when a status: asks for them. Dates are always written in full."""


_STATS = """Trends are of the last days, the last of which is today: each is one block of a line, a · stands for none.
Decisions are those about candidates and other proposals, votes those that stand."""


def add_commands(commands: Commands) -> None:
    """Add `show`, `list` and `stats`."""
    show = add_command(
        commands, "show", show_record, "print memories or bullets in full", example="mem-20261121-0000001 shr-00001"
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
    listing.add_argument("filter", metavar="FILTER", nargs="*", help="which memories (default: all)")
    listing.takes_filter = True
    add_arranging(listing)
    add_limit(listing, DEFAULT)
    add_at(listing)
    add_secrets(listing)
    add_json(listing)
    stats = add_command(commands, "stats", print_stats, "show statistics of the store", _STATS, example="--days 30")
    stats.add_argument("--days", metavar="N", type=count, help="days that trends are of (default: six weeks)")
    add_at(stats)
    add_json(stats)


def show_record(session: Session) -> int:
    """Print records with all they hold."""
    at, by_person = session.at(), actor_of(session.args) == CLI_ACTOR
    with session.reading(at=None if by_person else at) as bench:
        found = [_record(bench, id, at if by_person else None) for id in dict.fromkeys(session.args.ids)]
        shown = Shown(bench, secrets=session.args.show_secrets)
        printed = [shown(record) for record in found]
    if wants_json(session.args):
        docs = [
            (memory_json(shown) if isinstance(shown, Memory) else bullet_json(shown)) | review_json(bench, record)
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
        raise UnknownRecord(f"{id} is neither a memory nor a bullet.", "`workbench history` shows what changed.")
    return record


def _print_record(session: Session, record: Memory | Bullet, why: str, mark: str) -> None:
    """Print a record; `why` says why it is flagged, the `mark` stands before its text."""
    facts = _memory_facts(record, session.clock(), why) if isinstance(record, Memory) else _bullet_facts(record, why)
    for line in table([(name, value) for name, value in facts if value]):
        say(line)
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
    for line in table(rows, right=(4,)):
        say(line)
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
        stats, gauge, shown = Shown(bench)(bench.overview.stats()), bench.overview.gauge(), Shown(bench)
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
    for line in table(_stats_rows(stats, gauge)):
        say(line)
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
    status = f"{memory.status} ({memory.archived_reason})" if memory.archived_reason else memory.status
    effective, sure = effective_importance(memory, now), scored(memory)
    notes = {name: value for name, value in memory.metadata.items() if name not in NOTES and name != FILE_KEY}
    return [
        ("id", memory.id),
        ("summary", memory.summary),
        ("type", f"{memory.observation_type} · {memory.memory_type}{' · reflection' if memory.is_synthetic else ''}"),
        ("status", status + (" · imported" if is_imported(memory) else "") + (" · pinned" if memory.pinned else "")),
        ("⚑ flagged", why),
        ("importance", f"{memory.importance_score:g} · with votes {effective:g}"),
        ("votes", f"+{memory.helpful_given} −{memory.harmful_count}{_start(memory)}"),
        ("confidence", f"{sure.value} of {SUREST}: {known}" if (known := " · ".join(told(sure))) else ""),
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
        ("read", f"{moment(memory.last_accessed_at)} · {memory.access_count:,} times" if memory.access_count else ""),
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
    return {c.name: {"value": c.value, "limit": c.limit, "fraction": c.fraction} for c in gauge.conditions}
