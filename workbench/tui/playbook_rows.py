"""The playbook's list as values: headings and bullets, and how each is drawn on one line."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.bench.playbook import BookView
from workbench.core.bookfilter import BookFilter
from workbench.core.playbook import Bullet, Section, is_high_performing, is_problematic, is_unused
from workbench.core.text import clip, printable
from workbench.core.tokens import estimated_tokens
from workbench.core.vote import Verdict
from workbench.tui.content import MUTED, assemble, find_words, highlight
from workbench.tui.figures import number
from workbench.tui.widgets.row import Cell

HIGH, PROBLEMATIC, UNUSED, DEPRECATED, PINNED = "▲", "▼", "○", "×", "★"
UNTITLED = "(above the first heading)"

_MOST_ID = 18
_SHORT_BIG = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10_000, "k"))


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: the heading of a section, or one of its bullets with this person's vote."""

    section: Section
    bullet: Bullet | None = None
    vote: Verdict | None = None
    count: int = 0
    tokens: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What names the row while it is moved and changed."""
        return ("bullet", self.bullet.id) if self.bullet else ("section", self.section.id)


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths that all rows share, and the words to mark in them."""

    id: int
    helpful: int
    harmful: int
    words: tuple[str, ...] = ()


def rows_of(view: BookView, wanted: BookFilter) -> list[Row]:
    """Return headings and bullets in file order, without those the filter hides."""
    rows: list[Row] = []
    for section, bullets in view.listed(wanted):
        if not section.title.strip() and not bullets:
            continue
        tokens = sum(tokens_of(b) for b in bullets)
        rows.append(Row(section, count=len(bullets), tokens=tokens))
        rows += (Row(section, b, view.votes.get(b.id)) for b in bullets)
    return rows


def columns_of(rows: Sequence[Row], words: tuple[str, ...] = ()) -> Columns:
    """Return widths that fit every row, within reason."""
    bullets = [row.bullet for row in rows if row.bullet]
    return Columns(
        id=min(_MOST_ID, max((len(b.id) for b in bullets), default=0)),
        helpful=1 + max((len(short(b.helpful_count)) for b in bullets), default=1),
        harmful=1 + max((len(short(b.harmful_count)) for b in bullets), default=1),
        words=words,
    )


def cells(row: Row, columns: Columns, width: int) -> list[Cell]:
    """Return a row as cells: mark, id, text, pin, helpful and harmful marks."""
    if row.bullet is None:
        return _heading(row, columns)
    bullet = row.bullet
    symbol, style, _ = standing(bullet)
    text_style = MUTED if bullet.state == "deprecated" else ""
    shown = printable(" ".join(bullet.content[: 8 * width + 64].split()))
    text = highlight(shown, find_words(shown, columns.words))
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
    ]


def standing(bullet: Bullet) -> tuple[str, str, str]:
    """Return the symbol, the style and the words for how a bullet does."""
    if bullet.state == "deprecated":
        return DEPRECATED, MUTED, "deprecated, left out of exports"
    if is_problematic(bullet):
        return PROBLEMATIC, "bold $text-error", "problematic"
    if is_high_performing(bullet):
        return HIGH, "$text-success", "high performing"
    if is_unused(bullet):
        return UNUSED, MUTED, "unused"
    return " ", "", ""


def title_of(section: Section) -> str:
    """Return what a section is called on the screen; it may hold stored text."""
    return section.title if section.title.strip() else UNTITLED


def tokens_of(bullet: Bullet) -> int:
    """Return a bullet's estimated tokens, its id included."""
    return estimated_tokens(len(bullet.id) + 3 + len(bullet.content))


def short(count: int) -> str:
    """Return a count in at most four characters: 9999, 12k, 999M."""
    for size, letter in _SHORT_BIG:
        if count >= size:
            return f"{min(count // (1000 if letter == 'k' else size), 999)}{letter}"
    return str(count)


def bullets_in(count: int) -> str:
    """Return a number of bullets in words."""
    return "1 bullet" if count == 1 else f"{number(count)} bullets"


def _heading(row: Row, columns: Columns) -> list[Cell]:
    shown = printable(clip(title_of(row.section), 400))
    title = highlight(shown, find_words(shown, columns.words))
    remark = f"{row.count} · ≈{number(row.tokens)} tok" if row.count else "empty · o adds a bullet"
    return [Cell(title, 0, "bold $text-accent"), Cell(remark, len(remark), f"not bold {MUTED}", "right")]


def _marked_id(id: str, columns: Columns) -> str:
    return clip(printable(id[: 4 * _MOST_ID]), columns.id)


def _count(sign: str, count: int, width: int, style: str, mine: bool) -> list[tuple[str, str]]:
    """Return a count right-aligned after a space; this person's own vote is underlined."""
    shown = f"{sign}{short(count)}"
    pad = " " * (1 + width - len(shown))
    return [(pad, ""), (shown, f"bold underline {style}" if mine else style if count else "$text-disabled")]
