"""The side panel of the playbook: one bullet, or one section, in full."""

from dataclasses import dataclass
from datetime import datetime

from textual.content import Content

from workbench.bench.bookchanges import LastChange
from workbench.core.interval import helpful_share
from workbench.core.playbook import Bullet
from workbench.core.text import printable
from workbench.tui.content import MUTED, assemble, body, find_words, highlight
from workbench.tui.figures import absolute, ago, number
from workbench.tui.playbook_rows import PINNED, Row, standing, title_of, tokens_of

LABEL = 9
"""Columns of the labels, so that the values stand below each other."""


@dataclass(frozen=True, slots=True)
class Around:
    """What the detail of a bullet shows besides itself; `place` counts from 1 among the section's `siblings`."""

    now: datetime
    place: int
    siblings: int
    changed: LastChange | None = None
    words: tuple[str, ...] = ()


def bullet_detail(row: Row, bullet: Bullet, around: Around) -> Content:
    """Return a bullet in full: its text, its marks by where they come from, and its past."""
    symbol, style, words = standing(bullet)
    head = [(printable(bullet.id), "bold $text-accent")]
    if words:
        head.append((f"  {symbol} {words}", style))
    if bullet.pinned:
        head.append((f"  {PINNED} pinned", "bold $text-accent"))
    place = f" · {around.place} of {around.siblings}"
    parts = [
        assemble(head),
        assemble([(printable(title_of(row.section)), MUTED), (place, MUTED)]),
        Content(""),
        _text(bullet, around.words),
        Content(""),
        *_marks(row, bullet),
        _line("tokens", f"≈ {number(tokens_of(bullet))}", "  characters ÷ 4"),
        *_past(bullet, around),
    ]
    return Content("\n").join(parts)


def section_detail(row: Row, hidden: int) -> Content:
    """Return what there is to know about a section; `hidden` of its bullets are filtered away."""
    parts = [
        Content.styled(printable(title_of(row.section)), "bold $text-accent"),
        Content.styled(f"section {printable(row.section.id)}", MUTED),
        Content(""),
        _line("bullets", number(row.count), f"  {number(hidden)} more hidden by the filter" if hidden else ""),
        _line("tokens", f"≈ {number(row.tokens)}", "  characters ÷ 4"),
        Content(""),
        assemble([("o", "bold $text-accent"), (" adds a bullet here, ", MUTED), ("O", "bold $text-accent")])
        + Content.styled(" another section.", MUTED),
    ]
    return Content("\n").join(parts)


def _text(bullet: Bullet, words: tuple[str, ...]) -> Content:
    if not bullet.content.strip():
        return Content.styled("(no text)", MUTED)
    spans = find_words(bullet.content, words)
    return highlight(bullet.content, spans) if spans else body(bullet.content)


def _marks(row: Row, bullet: Bullet) -> list[Content]:
    helpful = (
        ("imported", bullet.helpful_imported),
        ("merged in", bullet.helpful_absorbed),
        ("votes", bullet.helpful_votes),
    )
    harmful = (("imported", bullet.harmful_imported), ("votes", bullet.harmful_votes))
    share = helpful_share(bullet.helpful_count, bullet.harmful_count)
    lines = [
        _line("helpful", f"+{number(bullet.helpful_count)}", _by_part(helpful)),
        _line("harmful", f"−{number(bullet.harmful_count)}", _by_part(harmful)),
    ]
    if bullet.neutral_count:
        lines.append(_line("neutral", number(bullet.neutral_count)))
    if share.count:
        band = f"({share.low:.2f}–{share.high:.2f})"
        lines.append(_line("share", f"{share.mean:.2f} {band}", f"  n {number(share.count)}"))
        beta = f"Beta({number(1 + bullet.helpful_count)}, {number(1 + bullet.harmful_count)})"
        lines.append(_line("", "", f"mean and 90 % band of {beta}"))
    else:
        lines.append(_line("share", "none", "  no marks yet"))
    lines.append(_line("your vote", row.vote or "none", "  again takes it back" if row.vote else "  + or − votes"))
    return lines


def _by_part(parts: tuple[tuple[str, int], ...]) -> str:
    shown = " · ".join(f"{number(count)} {name}" for name, count in parts if count)
    return f"  {shown}" if shown else ""


def _past(bullet: Bullet, around: Around) -> list[Content]:
    lines = []
    if bullet.aliases:
        lines.append(_line("aliases", printable(", ".join(bullet.aliases))))
    change = around.changed
    if change is None:
        lines.append(_line("changed", "long ago", "  h shows the history"))
    else:
        lines.append(_line("changed", _when(change.at, around.now), f"  {absolute(change.at)}"))
        lines.append(_line("", "", printable(f"by {change.actor}")))
        lines.append(_line("", "", printable(change.label)))
    if bullet.last_feedback_at is not None:
        lines.append(_line("voted", _when(bullet.last_feedback_at, around.now)))
    return lines


def _when(at: datetime, now: datetime) -> str:
    since = ago(at, now)
    return since if since == "now" or since.startswith("in") else f"{since} ago"


def _line(label: str, value: str, rest: str = "") -> Content:
    return assemble([(f"{label:<{LABEL}}  ", MUTED), (value, ""), (rest, MUTED)])
