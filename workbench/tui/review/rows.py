"""One line of the Review queue: flags, importance, what it is about, and how long it waits."""

from collections.abc import Callable
from datetime import datetime, timedelta

from textual.content import Content

from workbench.core.record import moved
from workbench.core.review.describe import describe
from workbench.core.review.kinds import KINDS, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.review.queue import GONE, NO_EVIDENCE, WAITS
from workbench.services.review.review import is_put_off
from workbench.tui.widgets.content import MUTED, assemble, keyed
from workbench.tui.widgets.figures import ago
from workbench.tui.widgets.lists.row import Cell

SYMBOLS = {NO_EVIDENCE: "∅", GONE: "†", WAITS: "◔"}
"""One sign per known flag; any other flag is "!"."""

OTHER = "!"
FLAG = "$text-warning"
FOLDED = "! folded: {list.open} or {review.unfold} opens it"

HALF_A_DAY = timedelta(hours=12)

_FLAG_CELLS = 2
_AGE_CELLS = 6
_WORDS_FROM = 84
"""From this width on, the flags stand in words too."""


def row(
    proposal: Proposal,
    memory: Memory | None,
    width: int,
    now: datetime,
    *,
    folded: bool = False,
    mask: Callable[[str], str] = str,
) -> list[Cell]:
    """Return the cells of a proposal; `memory` is what it is about. Of a folded one the text is not shown.

    `mask` takes secrets out.
    """
    rests = is_put_off(proposal, now)
    # Half a day rounds "in 6 days and 23 hours" to a week.
    at = moved(proposal.review_after, HALF_A_DAY) if rests and proposal.review_after else proposal.created_at
    style = MUTED if rests else ""
    signs = f"{flag_signs(proposal.flags):<{_FLAG_CELLS}}"
    weight = assemble([(signs, FLAG), (f" {proposal.importance:2.0f}", style)])
    shown = Cell(keyed(FOLDED), 0, FLAG) if folded else Cell(mask(title(proposal, memory)), 0, style)
    cells = [Cell(weight, _FLAG_CELLS + 3), shown]
    if width >= _WORDS_FROM:
        cells.append(Cell(", ".join(map(mask, proposal.flags)), 20, FLAG))
    return [*cells, Cell(ago(at, now), _AGE_CELLS, MUTED, "right")]


def title(proposal: Proposal, memory: Memory | None) -> str:
    """Return what a proposal is about, in stored words (not yet safe to draw)."""
    kind = kind_of(proposal.kind)
    if kind.is_candidate or memory is None:
        return proposal.title
    label = kind.sign or f"{describe(proposal).label}:".replace("?:", "?")
    return f"{label} {memory.line}"


def flag_signs(flags: tuple[str, ...]) -> str:
    """Return the signs of the flags, at most two."""
    signs = dict.fromkeys(SYMBOLS.get(flag, OTHER) for flag in flags)
    return "".join(signs)[:_FLAG_CELLS]


def flags_in_words(flags: tuple[str, ...]) -> Content:
    """Return the flags with their signs, on one wrapping line."""
    parts = [f"{SYMBOLS.get(flag, OTHER)} {one_line(flag, 200)}" for flag in flags]
    return Content.styled("   ".join(parts), FLAG)


def legend(width: int) -> Content:
    """Return what the signs of the list stand for, as many as fit whole into `width` cells."""
    signed = ((kind.sign, kind.label) for kind in KINDS.values() if kind.sign)
    signs = [*((sign, flag) for flag, sign in SYMBOLS.items()), *signed, (OTHER, "flagged")]
    while sum(len(sign) + len(words) + 2 for sign, words in signs) > width and signs:
        signs.pop()
    pieces = [piece for sign, words in signs for piece in ((f"{sign} ", FLAG), (f"{words} ", MUTED))]
    return assemble(pieces)
