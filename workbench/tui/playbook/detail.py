"""The side panel of the playbook: one bullet, or one section, in full."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import wrap

from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import ORDER, Fitting
from workbench.core.playbook.interval import helpful_share
from workbench.core.playbook.split import merged_from
from workbench.core.playbook.usage import BulletUsage
from workbench.core.text import printable
from workbench.services.playbook.changes import LastChange
from workbench.tui.playbook.evidence import deprecated_lines, usage_lines, warning_line
from workbench.tui.playbook.rows import PINNED, Row, bullets_in, share_bar, standing, title_of
from workbench.tui.safety.flag_view import NO_FLAGS, Flags, flag_lines, masked_line
from workbench.tui.widgets.content import MUTED, assemble, body, find_words, highlight
from workbench.tui.widgets.figures import absolute, number, since
from workbench.tui.widgets.keys import keyed

BAR = 20
LABEL = 9
"""Columns of the labels, so that the values stand below each other."""


@dataclass(frozen=True, slots=True)
class Around:
    """What the detail of a bullet shows besides itself; `place` counts from 1 among the section's `siblings`.

    `replacement` is the text of what stands in the place of a deprecated bullet. `keys` are those of actions, by id.
    `width` is how many cells a line has.
    """

    now: datetime
    place: int
    siblings: int
    changed: LastChange | None = None
    words: tuple[str, ...] = ()
    flags: Flags = NO_FLAGS
    masked: Callable[[str], str] = str
    usage: BulletUsage | None = None
    replacement: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    width: int = 60


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
        *deprecated_lines(bullet, around.replacement, around.now, around.keys.get("playbook.deprecate", "D")),
        *flag_lines(around.flags),
        _text(bullet, around),
        Content(""),
        *_marks(row, bullet),
        *usage_lines(around.usage, row.disputed),
        *([Content("")] if around.usage else []),
        _line("tokens", f"≈ {number(row.tokens)}", "  beyond the budget" if row.over else ""),
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
        _line("tokens", f"≈ {number(row.tokens)}", "  estimated, each part rounded up"),
        Content(""),
        assemble([("o", "bold $text-accent"), (" adds a bullet here, ", MUTED), ("O", "bold $text-accent")])
        + Content.styled(" another section.", MUTED),
    ]
    return Content("\n").join(parts)


def cut_detail(cut: Fitting, total: int, keys: Mapping[str, str]) -> Content:
    """Return what the budget's cut means."""
    parts = [
        Content.styled(f"✂ The budget keeps {cut.share}", "bold $text-warning"),
        Content(""),
        _line("budget", f"{number(cut.budget)} tokens"),
        _line("all", f"≈ {number(total)} tokens", "  estimated"),
        _line("kept", bullets_in(len(cut.inside)), f"  ≈ {number(cut.tokens)} tokens"),
        _line("out", cut.went, "  is:over lists them"),
        _line("order", ORDER),
        Content(""),
        assemble([(keys.get("playbook.budget", "B"), "bold $text-accent"),
                  (" changes the budget, and shows what is out, and why.", MUTED)]),
    ]  # fmt: skip
    return Content("\n").join(parts)


def _text(bullet: Bullet, around: Around) -> Content:
    if not bullet.content.strip():
        return Content.styled("(no text)", MUTED)
    text = masked_line(bullet.content, around.flags, around.masked)
    spans = find_words(text, around.words)
    return highlight(text, spans) if spans else body(text)


def _marks(row: Row, bullet: Bullet) -> list[Content]:
    helpful = (
        ("imported", bullet.helpful_imported),
        ("merged in", bullet.helpful_absorbed),
        ("votes", bullet.helpful_votes),
    )
    harmful = (("imported", bullet.harmful_imported), ("votes", bullet.harmful_votes))
    share = helpful_share(bullet.helpful_count, bullet.harmful_count)
    lines = []
    if bullet.helpful_count:
        lines.append(_line("helpful", f"+{number(bullet.helpful_count)}", _by_part(helpful)))
    if bullet.harmful_count:
        lines.append(_line("harmful", f"−{number(bullet.harmful_count)}", _by_part(harmful)))
    if bullet.neutral_count:
        lines.append(_line("neutral", number(bullet.neutral_count)))
    if share.count:
        band = f"({share.low:.2f}–{share.high:.2f})"
        lines.append(_line("share", f"{share.mean:.2f} {band}", f"  n {number(share.count)}"))
        lines.append(Content(" " * (LABEL + 2)) + share_bar(bullet, BAR))
        beta = f"Beta({number(1 + bullet.helpful_count)}, {number(1 + bullet.harmful_count)})"
        lines.append(_line("", "", f"90 % band of {beta}"))
    lines.append(_line("your vote", row.vote or "none", "  again takes it back" if row.vote else "  + or − votes"))
    return lines


def _by_part(parts: tuple[tuple[str, int], ...]) -> str:
    shown = " · ".join(f"{number(count)} {_one(name, count)}" for name, count in parts if count)
    return f"  {shown}" if shown else ""


def _one(name: str, count: int) -> str:
    return name.removesuffix("s") if count == 1 else name


def _past(bullet: Bullet, around: Around) -> list[Content]:
    lines = []
    if bullet.aliases:
        lines.append(_line("aliases", printable(", ".join(bullet.aliases))))
    if merged_from(bullet):
        parts = len(merged_from(bullet))
        lines.append(
            _line("merged", f"of {parts} bullets", f"  {around.keys.get('playbook.split', 'S')} parts them again")
        )
    lines += warning_line(bullet)
    change = around.changed
    if change is None:
        lines.append(_line("changed", "long ago", keyed("  {playbook.history} shows the history")))
    else:
        lines.append(_line("changed", _when(change.at, around.now), f"  {absolute(change.at)}"))
        lines += _hung(around.masked(f"by {change.actor}"), around.width)
        lines += _hung(around.masked(change.label.replace(f" {bullet.book}/", " ")), around.width)
    if bullet.last_feedback_at is not None:
        lines.append(_line("voted", _when(bullet.last_feedback_at, around.now)))
    return lines


def _hung(text: str, width: int) -> list[Content]:
    """Return a text without a label as lines that stand below the values."""
    room = max(12, width - LABEL - 2)
    return [_line("", "", part) for part in wrap(printable(text[:400]), room, break_on_hyphens=False)]


def _when(at: datetime, now: datetime) -> str:
    return since(at, now, present="now")


def _line(label: str, value: str, rest: str = "") -> Content:
    return assemble([(f"{label:<{LABEL}}  ", MUTED), (value, ""), (rest, MUTED)])
