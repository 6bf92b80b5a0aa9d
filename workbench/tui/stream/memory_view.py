"""How a memory looks: as a row of the stream, and in full."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from textual.content import Content

from workbench.core.record import clock_time
from workbench.core.stream.confidence import SUREST, confidence_of, is_imported, scored, told
from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import Memory, Status
from workbench.core.text import head as begin_of
from workbench.core.text import printable
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.open import Workbench
from workbench.tui.safety import FLAGGED, NO_FLAGS, STYLE, Flags, flag_lines, shown_text
from workbench.tui.widgets.content import MUTED, assemble, body, first_line_bold, highlight, line, says_the_same
from workbench.tui.widgets.figures import absolute, ago, day, days, since, votes
from workbench.tui.widgets.lists.row import Cell

SYMBOLS: dict[Status, str] = {"signal": "·", "candidate": "?", "confirmed": "✓", "promoted": "↗", "archived": "×"}
"""A mark means one thing in every area: what rises and falls is Tune's (▲ ▼), what has no marks the Playbook's (○)."""

STYLES: dict[Status, str] = {
    "signal": MUTED,
    "candidate": "$text-warning",
    "confirmed": "$text-success",
    "promoted": "$text-accent",
    "archived": MUTED,
}
USUAL: Status = "signal"
"""The status that most memories have, and that a row therefore does not name."""

PINNED, REFLECTION, UNREAD, LONG = "★", "◆", "•", "¶"

_WITH_VOTES, _WITH_TYPE, _WITH_STATUS = 56, 66, 100
"""Columns from which a row has room for its votes, its type, and its status in words."""


class Columns(NamedTuple):
    """What the columns of a row show besides the usual.

    `absolute`: days instead of how long ago; `read`: when an agent read it last instead of when it was made;
    `confidence`: how sure it is.
    """

    absolute: bool = False
    read: bool = False
    confidence: bool = False


USUAL_COLUMNS = Columns()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the detail of a memory shows besides itself."""

    now: datetime
    effective: float
    half_life: float | None
    width: int = 60
    live_vote: str = ""
    cited: tuple[tuple[str, Memory | None], ...] = ()
    cited_by: tuple[Memory, ...] = ()
    timeline: tuple[Memory, ...] = ()
    flags: Flags = NO_FLAGS
    masked: Callable[[str], str] = str


def row(
    memory: Memory,
    width: int,
    now: datetime,
    *,
    unread: bool,
    spans: Sequence[tuple[int, int]] = (),
    masked: str | None = None,
    ending: Sequence[Cell] | None = None,
    columns: Columns = USUAL_COLUMNS,
) -> list[Cell]:
    """Return a memory as the cells of one line: age, type, importance, text, votes, status; as many as fit.

    `masked` is the line of a flagged memory, without its secrets. `ending` stands in place of votes and status.
    """
    in_words = width >= _WITH_STATUS
    status = f"{SYMBOLS[memory.status]} {memory.status}" if in_words else SYMBOLS[memory.status]
    if memory.status == USUAL:
        status = ""
    cells = [
        _when(memory, now, columns),
        *([Cell(memory.observation_type, 11, MUTED)] if width >= _WITH_TYPE else []),
        Cell(f"{memory.importance_score:.0f}", 2, "bold" if memory.importance_score >= 9 else "", "right"),
        *([_confidence(memory)] if columns.confidence or in_words else []),
        Cell(_title(memory, width, unread, spans, masked)),
    ]
    if ending is not None:
        return [*cells, *ending]
    if width >= _WITH_VOTES:
        shown = votes(memory.helpful_given, memory.harmful_count)
        cells.append(Cell(shown, 7, _vote_style(memory), "right"))
    return [*cells, Cell(status, 11 if in_words else 1, STYLES[memory.status])]


def _when(memory: Memory, now: datetime, columns: Columns) -> Cell:
    """Return when a memory was made, or read last; nothing for one that was never read."""
    at = memory.last_accessed_at if columns.read else memory.created_at
    shown = "" if columns.read and not memory.access_count else day(at) if columns.absolute else ago(at, now)
    return Cell(shown, 10 if columns.absolute else 6, MUTED, "right")


def _confidence(memory: Memory) -> Cell:
    """Return how sure a memory is; nothing for 0, which says nothing."""
    value = confidence_of(memory)
    return Cell(f"{value}/{SUREST}" if value else "", 3, MUTED, "right")


def marks_of(memory: Memory, unread: bool = False) -> str:
    """Return the symbols that stand before a memory's line: unread, pinned, reflection, long."""
    own = (PINNED if memory.pinned else "") + (REFLECTION if memory.is_synthetic else "")
    return (UNREAD if unread else "") + own + (LONG if memory.is_long else "")


def detail(memory: Memory, around: Surroundings) -> Content:
    """Return a memory in full, with where it stands, what it rests on and what came before and after."""
    parts = [
        *flag_lines(around.flags),
        *([] if around.flags.folded else _text(memory, around.flags)),
        _standing(memory, around),
        _origin(memory, around),
    ]
    if memory.tags:
        parts.append(_labelled("tags", printable(", ".join(map(around.masked, memory.tags)))))
    if memory.note:
        parts.append(_labelled("note", printable(around.masked(memory.note))))
    parts += _archive(memory, around.masked)
    parts += _links("cites", [(id, m) for id, m in around.cited], around)
    parts += _links("cited by", [(m.id, m) for m in around.cited_by], around)
    parts += _timeline(memory, around)
    return Content("\n").join(parts)


def _title(memory: Memory, width: int, unread: bool, spans: Sequence[tuple[int, int]], masked: str | None) -> Content:
    marks = marks_of(memory, unread)
    head = assemble(
        [(f"{FLAGGED} " if masked is not None else "", STYLE), (f"{marks} " if marks else "", "bold $text-accent")]
    )
    if masked is not None and masked != memory.line:
        return head + Content(printable(masked[:400]))
    if not spans:
        return head + Content(printable(memory.line[:400]))
    line = begin_of(memory.line[:400], width)
    return head + highlight(line, [span for span in spans if span[0] < len(line)])


def _vote_style(memory: Memory) -> str:
    if memory.harmful_count > memory.helpful_given:
        return "$text-error"
    return "$text-success" if memory.helpful_given else MUTED


def _text(memory: Memory, flags: Flags) -> list[Content]:
    """The line as a title, and the content unless the title says all of it; what is flagged stands out."""
    if memory.content.strip() == memory.line.strip():
        title = shown_text(memory.content, flags.found) if flags.found else body(memory.line)
        return [title.stylize("bold"), Content("")]
    title = body(memory.line, "bold")
    content = shown_text(memory.content, flags.found) if flags.found else body(memory.content)
    if says_the_same(memory.line, memory.content):
        return [first_line_bold(content), Content("")]
    return [title, Content(""), content, Content("")]


def _standing(memory: Memory, around: Surroundings) -> Content:
    half_life = "does not decay" if around.half_life is None else f"half-life {days(around.half_life)}"
    parts = [
        ("importance ", MUTED),
        (f"{memory.importance_score:g}", "bold"),
        (" · effective ", MUTED),
        (f"{around.effective:.3g}", "bold"),
        (f" · {half_life}\n", MUTED),
        ("status ", MUTED),
        ("" if memory.status == USUAL else f"{SYMBOLS[memory.status]} ", STYLES[memory.status]),
        (memory.status, STYLES[memory.status]),
        (" · imported" if is_imported(memory) else "", MUTED),
        (f" · {memory.memory_type}", MUTED),
        (f" · {PINNED} pinned" if memory.pinned else "", "bold"),
        (f"\n{_counted(memory)} {votes(memory.helpful_count, memory.harmful_count)}" if _has_votes(memory) else "", ""),
        (f"  {_count_parts(memory)}" if _has_votes(memory) else "", MUTED),
        (f" · yours: {around.live_vote}" if around.live_vote else "", "bold"),
        *_sureness(memory),
        (f"\n{LONG} {len(memory.content):,} characters: an agent's budget may cut it" if memory.is_long else "", ""),
    ]
    return assemble(parts)


def _sureness(memory: Memory) -> list[tuple[str, str]]:
    """Return how sure a memory is and why; nothing where nothing is known of that."""
    found = scored(memory)
    reasons = told(found)
    return [(f"\nconfidence {found.value} of {SUREST}", ""), (f"  {', '.join(reasons)}", MUTED)] if reasons else []


def _has_votes(memory: Memory) -> bool:
    return bool(memory.helpful_count or memory.harmful_count)


def _counted(memory: Memory) -> str:
    """Return what its counts are called: nobody voted on what counts from the start, or was only seen again."""
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


def _origin(memory: Memory, around: Surroundings) -> Content:
    source, masked = memory.source, around.masked
    turn = f" turn {source.turn}" if source.turn is not None else ""
    parts = [
        ("made ", MUTED),
        (since(memory.created_at, around.now), ""),
        (f" · {absolute(memory.created_at)}", MUTED),
        (f" · read {memory.access_count}×" if memory.access_count else "", MUTED),
        ("\n", ""),
        ("id ", MUTED),
        (printable(masked(memory.id)), ""),
        (" · session ", MUTED) if memory.session_id else ("", ""),
        (printable(masked(memory.session_id)), ""),
        (" · said by ", MUTED) if source.speaker else ("", ""),
        (printable(masked(source.speaker or "")), ""),
        (printable(f" · {masked(source.hook or '')}{turn}") if source.hook or turn else "", MUTED),
        (f"\nfile {printable(masked(source.file))}" if source.file else "", MUTED),
    ]
    return assemble(parts)


def _archive(memory: Memory, masked: Callable[[str], str]) -> list[Content]:
    found = []
    if memory.archived_reason:
        found.append(_labelled("archived", printable(masked(memory.archived_reason))))
    if memory.promoted_to:
        found.append(_labelled("promoted to", printable(masked(memory.promoted_to))))
    if memory.review_after:
        found.append(_labelled("review after", absolute(memory.review_after)))
    if memory.aliases:
        found.append(_labelled("also known as", printable(", ".join(map(masked, memory.aliases)))))
    return found


def _links(label: str, found: Sequence[tuple[str, Memory | None]], around: Surroundings) -> list[Content]:
    if not found:
        return []
    rows = [Content(""), Content.styled(label, f"{MUTED}")]
    for id, memory in found:
        symbol = "!" if memory is None else SYMBOLS[memory.status]
        text = "not in this store" if memory is None else around.masked(memory.line)
        rows.append(
            assemble([(f"  {symbol} ", ""), (printable(text[:300]), ""), (f"  {printable(around.masked(id))}", MUTED)])
        )
    return rows


def _timeline(memory: Memory, around: Surroundings) -> list[Content]:
    if len(around.timeline) < 2:
        return []
    rows = [Content(""), Content.styled("before and after in this session", MUTED)]
    for other in around.timeline:
        here = other.id == memory.id
        clock = clock_time(other.created_at).strftime("%H:%M")
        mark = "▸ " if here else "  "
        text = line(around.masked(other.line), max(10, around.width - 8), "bold" if here else "")
        rows.append(assemble([(f"{mark}{clock} ", MUTED)]) + text)
    return rows


def _labelled(label: str, value: str) -> Content:
    return assemble([(f"{label} ", MUTED), (value, "")])


# What is shown around a memory wherever one is shown in full.


def surroundings(bench: Workbench, memory: Memory, flags: Flags, width: int) -> Surroundings:
    """Return what the detail of a memory shows besides itself, in so many columns."""
    stream, now = bench.stream, bench.context.now()
    # What else speaks of it is looked up once the store was read, and this is shown anew then.
    is_read = bench.library.is_read
    return Surroundings(
        now=now,
        width=width,
        effective=effective_importance(memory, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life),
        half_life=None if memory.pinned else WORKBENCH.half_lives.of(memory.memory_type),
        live_vote=stream.live_vote(memory.id),
        cited=stream.cited(memory),
        cited_by=stream.cited_by(memory.id) if is_read else (),
        timeline=stream.timeline(memory.id, 3) if is_read else (memory,),
        flags=flags,
        masked=bench.safety.masked,
    )
