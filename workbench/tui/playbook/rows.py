"""The playbook's list as values: headings and bullets, and how each is drawn on one line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.core.playbook.book import Bullet, Section, is_high_performing, is_problematic, is_unused
from workbench.core.playbook.budget import Fitting
from workbench.core.playbook.filter import NOBODY, Among, BookFilter
from workbench.core.playbook.interval import Interval, helpful_share
from workbench.core.stream.vote import Verdict
from workbench.core.text import cell_width, clip, printable
from workbench.services.playbook.playbook import BookView, shown_title
from workbench.tui.safety.flag_view import FLAGGED
from workbench.tui.safety.flag_view import STYLE as FLAG_STYLE
from workbench.tui.widgets.bars.interval_bar import empty_bar, interval_bar
from workbench.tui.widgets.content import MUTED, assemble, find_words, highlight
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.lists.row import Cell

HIGH, PROBLEMATIC, UNUSED, DEPRECATED, PINNED, DISPUTED, CUT = "⊕", "⊖", "○", "×", "★", "⇅", "✂"
UNTITLED = "(above the first heading)"

_MOST_ID = 18
_BAR = 5
_WIDE = 90
"""Cells of the interval's bar, and the width from which on it has twice as many."""
_SHORT_BIG = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10_000, "k"))


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: a section's heading, one of its bullets with this person's vote, or what the budget keeps.

    `over` tells a bullet that does not fit, `disputed` one whose votes and runs contradict each other.
    """

    section: Section
    bullet: Bullet | None = None
    vote: Verdict | None = None
    count: int = 0
    tokens: int = 0
    over: bool = False
    disputed: bool = False
    cut: Fitting | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What names the row while it is moved and changed."""
        if self.cut is not None:
            return ("cut", "")
        return ("bullet", self.bullet.id) if self.bullet else ("section", self.section.id)


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths that all rows share, and the words to mark in them."""

    id: int
    helpful: int
    harmful: int
    words: tuple[str, ...] = ()
    tokens: int = 1


def rows_of(view: BookView, wanted: BookFilter, among: Among = NOBODY) -> list[Row]:
    """Return what the budget keeps, then headings and bullets in file order, without those the filter hides."""
    over, disputed, cost = view.over, view.disputed, view.costs.bullets
    listed = view.listed(wanted, among)
    rows = [Row(listed[0][0], cut=view.cut)] if listed and view.cut else []
    for section, bullets in listed:
        if not section.title.strip() and not bullets:
            continue
        whole = view.costs.sections[section.id]
        tokens = sum(cost[b.id] for b in bullets if b.state != "deprecated") if wanted else whole
        rows.append(Row(section, count=len(bullets), tokens=tokens))
        for b in bullets:
            rows.append(Row(section, b, view.votes.get(b.id), 0, cost[b.id], b.id in over, b.id in disputed))
    return rows


def columns_of(rows: Sequence[Row], words: tuple[str, ...] = ()) -> Columns:
    """Return widths that fit every row, within reason."""
    bullets = [row.bullet for row in rows if row.bullet]
    return Columns(
        id=min(_MOST_ID, max((cell_width(printable(b.id[:_MOST_ID])) for b in bullets), default=0)),
        helpful=1 + max((len(short(b.helpful_count)) for b in bullets), default=1),
        harmful=1 + max((len(short(b.harmful_count)) for b in bullets), default=1),
        words=words,
        tokens=max((len(number(row.tokens)) + 2 * row.over for row in rows if row.bullet), default=1),
    )


Share = Callable[[int, int], Interval]
"""The interval of a share of helpful marks; a caller may remember those it has worked out."""


def cells(
    row: Row, columns: Columns, width: int, masked: str | None = None, share: Share = helpful_share
) -> list[Cell] | Content:
    """Return a row as cells: mark, id, text, pin, helpful and harmful marks, their interval, tokens.

    `masked` is the text of a flagged bullet, without its secrets.
    """
    if row.cut is not None:
        return cut_line(row.cut, width)
    if row.bullet is None:
        return _heading(row, columns)
    bullet = row.bullet
    symbol, style, _ = standing(bullet)
    text_style = f"{MUTED} strike" if bullet.state == "deprecated" else MUTED if row.over else ""
    if row.disputed:
        symbol, style = DISPUTED, "bold $text-warning"
    whole = bullet.content if masked is None else masked
    shown = printable(" ".join(whole[: 8 * width + 64].split()))
    text = highlight(shown, find_words(shown, columns.words))
    if masked is not None:
        text = Content.styled(f"{FLAGGED} ", FLAG_STYLE) + text
    # A gap of its own would cost two columns in front of the votes, so pin and votes are one cell.
    votes = assemble(
        [
            (PINNED if bullet.pinned else " ", "bold $text-accent"),
            *_count("+", bullet.helpful_count, columns.helpful, "$text-success", row.vote == "helpful"),
            *_count("−", bullet.harmful_count, columns.harmful, "$text-error", row.vote == "harmful"),
        ]
    )
    return [
        Cell(symbol, 1, style),
        Cell(_marked_id(bullet.id, columns), columns.id, MUTED),
        Cell(text, 0, text_style),
        Cell(votes, 3 + columns.helpful + columns.harmful, "", "right"),
        Cell(share_bar(bullet, _BAR if width < _WIDE else 2 * _BAR, share), _BAR if width < _WIDE else 2 * _BAR),
        Cell(_tokens(row, columns), columns.tokens, MUTED, "right"),
    ]


def _tokens(row: Row, columns: Columns) -> Content:
    """Return what a bullet costs; scissors tell that it does not fit the budget."""
    cut = CUT if row.over else ""
    room = columns.tokens - len(cut)
    return assemble([(cut, "bold $text-warning"), (f"{number(row.tokens):>{room}}", MUTED)])


def share_bar(bullet: Bullet, width: int, share: Share = helpful_share) -> Content:
    """Return where the share of helpful marks lies, as a bar from 0 to 1; dots when there are no marks."""
    if is_unused(bullet):
        return empty_bar(width)
    found = share(bullet.helpful_count, bullet.harmful_count)
    style = "$text-error" if is_problematic(bullet) else "$text-success" if is_high_performing(bullet) else "$accent"
    return interval_bar(found.low, found.mean, found.high, width, style)


def cut_line(cut: Fitting, width: int) -> Content:
    """Return the line that says what the budget keeps."""
    words = f"── {CUT} budget of {number(cut.budget)} tokens keeps {cut.share}: out are {cut.went} "
    return Content.styled(words + "─" * max(0, width - len(words)), "bold $text-warning").truncate(width)


def standing(bullet: Bullet) -> tuple[str, str, str]:
    """Return the symbol, the style and the words for how a bullet does."""
    if bullet.state == "deprecated":
        return DEPRECATED, MUTED, "deprecated"
    if is_problematic(bullet):
        return PROBLEMATIC, "bold $text-error", "problematic"
    if is_high_performing(bullet):
        return HIGH, "$text-success", "high performing"
    if is_unused(bullet):
        return UNUSED, MUTED, "unused"
    return " ", "", ""


def title_of(section: Section) -> str:
    """Return what a section is called on the screen; it may hold stored text."""
    return shown_title(section) if section.title.strip() else UNTITLED


def short(count: int) -> str:
    """Return a count in at most four characters: 9999, 12k, 999M."""
    for size, letter in _SHORT_BIG:
        if count >= size:
            return f"{min(count // (1000 if letter == 'k' else size), 999)}{letter}"
    return str(count)


def bullets_in(count: int) -> str:
    """Return a number of bullets in words."""
    return amount(count, "bullet")


def _heading(row: Row, columns: Columns) -> list[Cell]:
    shown = printable(clip(title_of(row.section), 400))
    title = highlight(shown, find_words(shown, columns.words))
    remark = (
        f"{bullets_in(row.count)} · tokens ≈{number(row.tokens)}"
        if row.count
        else keyed("empty · {playbook.add} adds a bullet")
    )
    return [Cell(title, 0, "bold $text-accent"), Cell(remark, len(remark), f"not bold {MUTED}", "right")]


def _marked_id(id: str, columns: Columns) -> str:
    return clip(printable(id[: 4 * _MOST_ID]), columns.id)


def _count(sign: str, count: int, width: int, style: str, mine: bool) -> list[tuple[str, str]]:
    """Return a count right-aligned after a space; this person's own vote is underlined."""
    shown = f"{sign}{short(count)}"
    pad = " " * (1 + width - len(shown))
    return [(pad, ""), (shown if count else " " * len(shown), f"bold underline {style}" if mine else style)]
