"""The rows of the live ranking: place, movement, relevance, the bar of the three parts, and the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from textual.content import Content

from workbench.core.stream.memory import Memory
from workbench.core.tuning.factors import FACTORS
from workbench.core.tuning.scoring import Scored
from workbench.services.safety.safety import Safety
from workbench.services.tuning.floor.against import AgainstFloor
from workbench.services.tuning.question import Standing
from workbench.tui.safety.flag_view import FLAGGED
from workbench.tui.safety.flag_view import STYLE as FLAG_STYLE
from workbench.tui.stream.memory_view import marks_of
from workbench.tui.tuning.floor import nothing_relevant
from workbench.tui.widgets.bars.factor_bar import bar_pieces, fill_of
from workbench.tui.widgets.content import MUTED, assemble, clipped, fitted

_MOVE, _MIN_BAR, _MAX_BAR = 4, 6, 16


@dataclass(frozen=True, slots=True)
class Heading:
    """A line over rows: its text, a longer one for where there is room, and what the rows below it have in common."""

    text: str
    long: str = ""
    about: str = ""


class Move(NamedTuple):
    """How a row moved: `places` up or down, into or out of the best k, or `to` the place it has in another ranking.

    `joined` is new to the ranking, but not within k; a row that is `hidden` stands in neither.
    """

    kind: Literal["up", "down", "same", "new", "joined", "out", "to", "hidden"]
    places: int = 0

    @property
    def text(self) -> str:
        """The mark of it: ▲2, ▼1, →4, "new", "out", "+", or nothing."""
        return _MARKS[self.kind] + (str(self.places) if self.places else "")

    @property
    def style(self) -> str:
        """The style of its mark: better, worse, or neither."""
        if self.kind in ("up", "new", "joined"):
            return "bold $text-success"
        return "bold $text-warning" if self.kind in ("down", "out") else MUTED


_MARKS = {"up": "▲", "down": "▼", "same": "", "new": "new", "joined": "+", "out": "out", "to": "→", "hidden": ""}


@dataclass(frozen=True, slots=True)
class Row:
    """A memory in the ranking; `served` is whether it is within k, `asked` whether somebody asked for it.

    `share` is the part of the best total that its own is; a `weak` one is below the floor.
    """

    standing: Standing
    served: bool
    relevance: str
    move: Move
    share: float
    asked: bool = False
    weak: bool = False


Line = Row | Heading


def key_of(line: Line) -> tuple[str, str]:
    """Name a line, so that the cursor stays on it."""
    return ("heading", line.text) if isinstance(line, Heading) else ("memory", line.standing.memory.id)


def is_heading(line: Line) -> bool:
    """Tell whether a line is a heading."""
    return isinstance(line, Heading)


def lines_of(
    standings: Sequence[Standing], k: int, asked: Standing | None, against: AgainstFloor | None = None
) -> list[Line]:
    """Return the best rows, the one asked for when it is not among the rows, then those below the cut.

    Where nothing is relevant, that stands above them.
    """
    totals = [s.scored.total for s in standings if s.scored]
    full = max(totals, default=0.0) or 1.0
    listed = {s.memory.id for s in standings}
    rows = [
        _row(standing, against, full, k, asked is not None and asked.memory.id == standing.memory.id)
        for standing in standings
    ]
    lines: list[Line] = [Heading(*nothing_relevant(against))] if rows and against is not None and against.empty else []
    lines += rows[:k]
    if asked is not None and asked.memory.id not in listed:
        lines += [Heading("asked for", about="The memory that was asked for."), _row(asked, against, full, k, True)]
    if rows[k:]:
        about = "Ranked, but not served: k is smaller."
        lines += [Heading(f"not served: below the best {k}", about=about), *rows[k:]]
    return lines


def movement(standing: Standing, k: int) -> Move:
    """Return how a row moved against the baseline."""
    place, before = standing.place, standing.before
    if place is None:
        return Move("hidden" if before is None else "out")
    if place <= k and (before is None or before > k):
        return Move("new")
    if before is None:
        return Move("joined")
    if before <= k < place:
        return Move("out")
    return Move("up" if before > place else "down" if before < place else "same", abs(before - place))


def draw(line: Line, width: int, safety: Safety) -> Content:
    """Return one line of the list, exactly `width` cells; what is flagged is marked, and its secrets are masked.

    It is put together as one text with its styles, not cell by cell: a slider step draws every row in sight anew.
    """
    if isinstance(line, Heading):
        text = f"── {line.long if line.long and len(line.long) + 4 <= width else line.text} "
        return fitted(Content.styled(text + "─" * max(0, width - len(text)), MUTED), width)
    scored = line.standing.scored
    room = width - 3 - _MOVE - len(line.relevance) - 4
    bar = max(_MIN_BAR, min(_MAX_BAR, room // 4))
    style = "" if line.served and not line.weak else MUTED
    place = "–" if line.standing.place is None else str(line.standing.place)
    head = [
        (f"{place:>3} ", style),
        (f"{line.move.text:<{_MOVE}} ", line.move.style),
        (f"{line.relevance} ", style),
        *(_bar(scored, bar, line.share) if scored else [(" " * bar, "")]),
        (" ", ""),
    ]
    if room - bar < 1:
        return fitted(assemble(head), width)
    memory = line.standing.memory
    if safety.flags(memory):
        mark = min(2, room - bar)
        head.append((clipped(FLAGGED, mark), FLAG_STYLE))
        bar += mark
    shown = clipped(_words(line, safety.masked(memory.line)), room - bar)
    return assemble([*head, (shown, "bold" if line.asked else style)])


def _words(line: Row, text: str) -> str:
    mark = marks_of(line.standing.memory)
    return ("◂ " if line.asked else "") + ("weak: " if line.weak else "") + (f"{mark} " if mark else "") + text


def legend(width: int, baseline: str) -> Content:
    """Return what the fills of the bars and the marks of movement stand for, as much as fits."""
    pieces: list[tuple[str, str]] = []
    for factor in FACTORS:
        fill, style = fill_of(factor)
        pieces += [(fill * 2, style), (f" {factor.label}  ", MUTED)]
    parts = assemble(pieces)
    moves = assemble([("▲▼ new out", ""), (f" against {baseline}", MUTED)])
    gap = width - parts.cell_length - moves.cell_length
    return parts + Content(" " * gap) + moves if gap >= 0 else fitted(parts, width)


def _row(standing: Standing, against: AgainstFloor | None, full: float, k: int, asked: bool) -> Row:
    served = standing.place is not None and standing.place <= k
    share = standing.scored.total / full if standing.scored else 0.0
    id = standing.memory.id
    if against is None or standing.scored is None:
        return Row(standing, served, "    –", movement(standing, k), share, asked)
    relevance = f"{against.relevance(id):5.3f}"[:5]
    return Row(standing, served, relevance, movement(standing, k), share, asked, served and against.is_weak(id))


def _bar(scored: Scored, width: int, share: float) -> list[tuple[str, str]]:
    """Return the bar of a row, which is filled where the row's share of the best total is 1."""
    parts = scored.weighted
    return bar_pieces(parts, width, sum(parts.values()) / share if share else 1.0)


def memory_of(line: "Line | None") -> Memory | None:
    """Return the memory a line of the ranking shows; a heading shows none."""
    return None if line is None or isinstance(line, Heading) else line.standing.memory
