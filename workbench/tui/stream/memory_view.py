"""How a memory looks: as a row of the stream, and in full."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from textual.content import Content

from workbench.core.record import clock_time
from workbench.core.stream.confidence import (
    SUREST,
    confidence_of,
    effective_importance,
    is_imported,
    scored,
)
from workbench.core.stream.confidence import told as confidence_told
from workbench.core.stream.memory import Memory, Status
from workbench.core.text import head as begin_of
from workbench.core.text import printable
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_name
from workbench.tui.safety import FLAGGED, STYLE, Flags, flag_lines, shown_text
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    first_line_bold,
    highlight,
    joined,
    line,
    muted,
    says_the_same,
)
from workbench.tui.widgets.figures import AGE, absolute, brief, day, days, since, votes
from workbench.tui.widgets.line_list import Cell

SYMBOLS: dict[Status, str] = {
    "candidate": "?",
    "confirmed": "✓",
    "promoted": "↗",
    "archived": "×",
}
"""The signs of what a row does not have room to say in words."""

STYLES: dict[Status, str] = {
    "signal": MUTED,
    "candidate": "$text-warning",
    "confirmed": "$text-success",
    "promoted": "$text-accent",
    "archived": MUTED,
}
USUAL: Status = "signal"
"""The status that most memories have, and that a row therefore does not name."""

PINNED, UNREAD, LONG = "★", "•", "¶"

_WITH_VOTES, _WITH_TYPE, _WITH_STATUS = 46, 60, 100
"""Columns from which a row has room for its votes, its type, and its status in words."""


class Columns(NamedTuple):
    """What the columns of a row show besides the usual.

    `absolute`: days instead of how long ago; `read`: when an agent read it last instead of when it
    was made; `confidence`: how sure it is. `type` and `votes` are as wide as what is listed needs.
    """

    absolute: bool = False
    read: bool = False
    confidence: bool = False
    type: int = 11
    votes: int = 7


USUAL_COLUMNS = Columns()
_LEAST, _MOST_TYPE = 5, 11


def columns_of(found: Iterable[Memory], absolute: bool, by: str) -> Columns:
    """Return the columns of a list that is ordered `by` something, as wide as its memories need."""
    type, votes = _LEAST, _LEAST
    for memory in found:
        type = max(type, len(memory.observation_type))
        if memory.helpful_given or memory.harmful_count:
            votes = max(votes, len(_votes(memory)))
    return Columns(absolute, by == "read", by == "confidence", min(type, _MOST_TYPE), votes)


def row(
    memory: Memory,
    width: int,
    now: datetime,
    *,
    unread: bool,
    flagged: bool = False,
    spans: Sequence[tuple[int, int]] = (),
    ending: Sequence[Cell] | None = None,
    columns: Columns = USUAL_COLUMNS,
) -> list[Cell]:
    """Return a memory as the cells of one line: age, type, importance, text, votes, status; as many
    as fit.

    `spans` of its line are marked; `ending` stands in place of votes and status.
    """
    in_words = width >= _WITH_STATUS
    marks, status = marks_of(memory, unread), SYMBOLS.get(memory.status, "")
    head = assemble(
        [
            (f"{FLAGGED} " if flagged else "", STYLE),
            (f"{marks} " if marks else "", "bold $text-accent"),
            (f"{status} " if status and not in_words else "", STYLES[memory.status]),
        ]
    )
    line = begin_of(memory.line[:400], width) if spans else memory.line[:400]
    text = (
        highlight(line, [span for span in spans if span[0] < len(line)])
        if spans
        else Content(printable(line))
    )
    cells = [
        _when(memory, now, columns),
        *(
            [Cell(memory.observation_type, columns.type, MUTED, name="type")]
            if width >= _WITH_TYPE
            else []
        ),
        Cell(
            f"{memory.importance_score:.0f}",
            3,
            "bold" if memory.importance_score >= 9 else "",
            "right",
            "imp",
        ),
        *([_confidence(memory)] if columns.confidence or in_words else []),
        Cell(head + text, name="memory"),
    ]
    if ending is not None:
        return [*cells, *ending]
    if width >= _WITH_VOTES:
        counts = memory.helpful_given, memory.harmful_count
        style = "$text-error" if counts[1] > counts[0] else "$text-success" if counts[0] else MUTED
        cells.append(Cell(_votes(memory), columns.votes, style, "right", "votes"))
    if in_words:
        named = "" if memory.status == USUAL else f"{status} {memory.status}"
        cells.append(Cell(named, 11, STYLES[memory.status], name="status"))
    return cells


def _votes(memory: Memory) -> str:
    return votes(memory.helpful_given, memory.harmful_count)


def _when(memory: Memory, now: datetime, columns: Columns) -> Cell:
    """Return when a memory was made, or read last; nothing for one that was never read."""
    at = memory.last_accessed_at if columns.read else memory.created_at
    shown = (
        ""
        if columns.read and not memory.access_count
        else day(at)
        if columns.absolute
        else brief(at, now)
    )
    name = "read" if columns.read else "date" if columns.absolute else "age"
    return Cell(shown, 10 if columns.absolute else AGE, MUTED, "right", name)


def _confidence(memory: Memory) -> Cell:
    """Return how sure a memory is; nothing for 0, which says nothing."""
    value = confidence_of(memory)
    return Cell(f"{value}/{SUREST}" if value else "", 4, MUTED, "right", "conf")


def marks_of(memory: Memory, unread: bool = False) -> str:
    """Return the symbols that stand before a memory's line: unread, pinned, long."""
    marks = ((unread, UNREAD), (memory.pinned, PINNED), (memory.is_long, LONG))
    return "".join(mark for holds, mark in marks if holds)


def detail(
    bench: Workbench, memory: Memory, flags: Flags, width: int, *, unread: bool = False
) -> Content:
    """Return a memory in full, with where it stands, what it rests on and what came before and
    after.
    """
    stream, now, shown = bench.stream, bench.context.now(), bench.safety.shown(memory)
    # What else speaks of it is looked up once the store was read, and this is shown anew then.
    is_read = bench.library.is_read
    told = {
        "tags": ", ".join(shown.tags),
        "note": shown.note,
        "archived": shown.archived_reason,
        "promoted to": shown.promoted_to,
        "review after": absolute(memory.review_after) if memory.review_after else "",
        "also known as": ", ".join(shown.aliases),
    }
    parts = [
        *flag_lines(flags),
        *([] if flags.folded else _text(memory, flags)),
        _state(memory, now, stream.live_vote(memory.id), unread),
        _origin(shown, now),
        *(
            assemble([(f"{label} ", MUTED), (printable(value), "")])
            for label, value in told.items()
            if value
        ),
        *_links(bench, "cites", stream.cited(memory)),
    ]
    if is_read:
        parts += _links(bench, "cited by", [(one.id, one) for one in stream.cited_by(memory.id)])
        parts += _timeline(bench, memory, width)
    return joined(*parts)


def _text(memory: Memory, flags: Flags) -> list[Content]:
    """The line as a title, and the content unless the title says all of it; what is flagged stands
    out.
    """
    content = shown_text(memory.content, flags.found) if flags.found else body(memory.content)
    if memory.content.strip() == memory.line.strip():
        return [content.stylize("bold") if flags.found else body(memory.line, "bold"), BLANK]
    if says_the_same(memory.line, memory.content):
        return [first_line_bold(content), BLANK]
    return [body(memory.line, "bold"), BLANK, content, BLANK]


def _state(memory: Memory, now: datetime, own_vote: str, unread: bool) -> Content:
    effective = effective_importance(memory, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life)
    half_life = None if memory.pinned else WORKBENCH.half_lives.of(memory.memory_type)
    status = f"{SYMBOLS.get(memory.status, '')} {memory.status}".strip()
    confidence = scored(memory)
    reasons = confidence_told(confidence)
    parts = [
        ("importance ", MUTED),
        (f"{memory.importance_score:g}", "bold"),
        (" · effective ", MUTED),
        (f"{effective:.3g}", "bold"),
        (
            f" · {'does not decay' if half_life is None else f'half-life {days(half_life)}'}\nstatus ",
            MUTED,
        ),
        (status, STYLES[memory.status]),
        (f"{' · imported' if is_imported(memory) else ''} · {memory.memory_type}", MUTED),
        (" · insight of a reflection" if memory.is_synthetic else "", MUTED),
        (f" · {PINNED} pinned" if memory.pinned else "", "bold"),
        (f" · {UNREAD} new" if unread else "", "bold"),
    ]
    if memory.helpful_count or memory.harmful_count:
        parts += [(f"\n{_counted(memory)} {votes(memory.helpful_count, memory.harmful_count)}", "")]
        parts += [(f"  {_count_parts(memory)}", MUTED)]
    parts.append((f" · yours: {own_vote}" if own_vote else "", "bold"))
    if reasons:
        parts += [
            (f"\nconfidence {confidence.value} of {SUREST}", ""),
            (f"  {', '.join(reasons)}", MUTED),
        ]
    if memory.is_long:
        parts.append(
            (f"\n{LONG} {len(memory.content):,} characters: an agent's budget may truncate it", "")
        )
    return assemble(parts)


def _counted(memory: Memory) -> str:
    """Return what its counts are called: nobody voted on what counts from the start, or was only
    seen again.
    """
    imported = memory.helpful_imported or memory.harmful_imported
    return "votes" if imported or memory.helpful_votes or memory.harmful_votes else "counts as"


def _count_parts(memory: Memory) -> str:
    parts = (
        ("imported", memory.helpful_imported - memory.harmful_imported),
        ("from the start", memory.helpful_created),
        ("absorbed", memory.helpful_absorbed),
        ("votes", memory.helpful_votes - memory.harmful_votes),
    )
    shown = ", ".join(f"{value:+d} {name}" for name, value in parts if value)
    return f"({shown})" if shown else ""


def _origin(memory: Memory, now: datetime) -> Content:
    source = memory.source
    turn = f" turn {source.turn}" if source.turn is not None else ""
    parts = [
        ("made ", MUTED),
        (since(memory.created_at, now), ""),
        (f" · {absolute(memory.created_at)}", MUTED),
        (f" · read {memory.access_count}×" if memory.access_count else "", MUTED),
        ("\nid ", MUTED),
        (printable(memory.id), ""),
        (" · session ", MUTED) if memory.session_id else ("", ""),
        (printable(memory.session_id), ""),
        (" · said by ", MUTED) if source.speaker else ("", ""),
        (printable(source.speaker or ""), ""),
        (printable(f" · {source.hook or ''}{turn}") if source.hook or turn else "", MUTED),
        (f"\nfile {printable(source.file)}" if source.file else "", MUTED),
    ]
    return assemble(parts)


def _links(
    bench: Workbench, label: str, found: Iterable[tuple[str, Memory | None]]
) -> list[Content]:
    rows = [BLANK, muted(label)]
    for id, memory in found:
        text = "not in this store" if memory is None else bench.safety.shown(memory).line[:300]
        name = printable(masked_name(id, bench.safety.masked))
        status = "" if memory is None or memory.status == USUAL else f"{memory.status} · "
        rows.append(assemble([(f"  {printable(text)}", ""), (f"  {status}{name}", MUTED)]))
    return rows if len(rows) > 2 else []


def _timeline(bench: Workbench, memory: Memory, width: int) -> list[Content]:
    around = bench.stream.timeline(memory.id, 3)
    rows = [BLANK, muted("before and after in this session")]
    for other in around:
        clock = clock_time(other.created_at).strftime("%H:%M")
        mark, style = ("▹", "bold") if other.id == memory.id else (" ", "")
        text = line(bench.safety.shown(other).line, max(10, width - 8), style)
        rows.append(assemble([(f"{mark} {clock} ", MUTED)]) + text)
    return rows if len(around) > 1 else []
