"""The playbook's list and text as values: headings and bullets as lines, and what is under the
cursor in full.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from textwrap import wrap

from textual.content import Content

from workbench.core.playbook.book import (
    Bullet,
    Section,
    is_high_performing,
    is_problematic,
    is_unused,
)
from workbench.core.playbook.budget import ORDER, Fitting, helpful_share
from workbench.core.playbook.filter import NOBODY, Among, BookFilter
from workbench.core.playbook.operations import merged_from
from workbench.core.playbook.usage import LEAST, BulletUsage, Rate
from workbench.core.record import parse_time
from workbench.core.stream.memory import Verdict
from workbench.core.text import cell_width, clip, one_line, printable
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import (
    REASON,
    REPLACED_BY,
    SINCE,
    WARNS_OF,
    BookView,
    shown_title,
)
from workbench.tui.safety import FLAGGED, STYLE, flag_lines, flags_of
from workbench.tui.widgets.bars import empty_bar, interval_bar
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    find_words,
    highlight,
    joined,
    key_of,
    keyed,
    muted,
)
from workbench.tui.widgets.figures import absolute, amount, number, since
from workbench.tui.widgets.line_list import Cell

HIGH, PROBLEMATIC, DEPRECATED, PINNED, DISPUTED, CUT = "⊕", "⊖", "×", "★", "⇅", "✂"
UNTITLED = "(above the first heading)"
WARN, KEY = "bold $text-warning", "bold $text-accent"

_MOST_ID = 18
_LEAST_TOKENS = 3
_BAR = 5
_WIDE = 90
"""Cells of the interval's bar, and the width from which on it has twice as many."""
_SHORT_BIG = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10_000, "k"))

_share = lru_cache(maxsize=4096)(helpful_share)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: a section's heading, one of its bullets with this person's vote, or what
    the budget keeps.

    `over` tells a bullet that does not fit, `disputed` one whose votes and runs contradict each
    other.
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
    """Return what the budget keeps, then headings and bullets in file order, without those the
    filter hides.
    """
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
            rows.append(
                Row(section, b, view.votes.get(b.id), 0, cost[b.id], b.id in over, b.id in disputed)
            )
    return rows


def columns_of(rows: Sequence[Row], words: tuple[str, ...] = ()) -> Columns:
    """Return widths that fit every row, within reason."""
    bullets = [row.bullet for row in rows if row.bullet]
    return Columns(
        id=min(_MOST_ID, max((cell_width(printable(b.id[:_MOST_ID])) for b in bullets), default=0)),
        helpful=1 + max((len(short(b.helpful_count)) for b in bullets), default=1),
        harmful=1 + max((len(short(b.harmful_count)) for b in bullets), default=1),
        words=words,
        tokens=max(
            [_LEAST_TOKENS, *(len(number(row.tokens)) + 2 * row.over for row in rows if row.bullet)]
        ),
    )


def cells(bench: Workbench, row: Row, columns: Columns, width: int) -> list[Cell] | Content:
    """Return a row as cells: mark, id, text, pin, helpful and harmful marks, their interval,
    tokens.
    """
    if row.cut is not None:
        words = f"── {CUT} budget of {number(row.cut.budget)} tokens keeps {row.cut.share}: out are {row.cut.went} "
        return Content.styled(words + "─" * max(0, width - len(words)), WARN).truncate(width)
    if row.bullet is None:
        return _heading(row, columns)
    bullet = bench.safety.shown(row.bullet)
    symbol, style, _ = (DISPUTED, WARN, "") if row.disputed else standing(bullet)
    text_style = f"{MUTED} strike" if bullet.state == "deprecated" else MUTED if row.over else ""
    shown = printable(" ".join(bullet.content[: 8 * width + 64].split()))
    text = highlight(shown, find_words(shown, columns.words))
    if bench.safety.flags(row.bullet):
        text = Content.styled(f"{FLAGGED} ", STYLE) + text
    # A gap of its own would cost two columns in front of the votes, so pin and votes are one cell.
    votes = [
        (PINNED if bullet.pinned else " ", KEY),
        *_count("+", bullet.helpful_count, columns.helpful, "$text-success", row.vote == "helpful"),
        *_count("−", bullet.harmful_count, columns.harmful, "$text-error", row.vote == "harmful"),
    ]
    bar, cut = _BAR if width < _WIDE else 2 * _BAR, CUT if row.over else ""
    tokens = assemble([(cut, WARN), (f"{number(row.tokens):>{columns.tokens - len(cut)}}", MUTED)])
    return [
        Cell(symbol, 1, style),
        Cell(clip(printable(bullet.id[: 4 * _MOST_ID]), columns.id), columns.id, MUTED, name="id"),
        Cell(text, 0, text_style, name="bullet"),
        Cell(assemble(votes), 3 + columns.helpful + columns.harmful, "", "right", "votes"),
        Cell(share_bar(bullet, bar), bar, name="helps"),
        Cell(tokens, columns.tokens, MUTED, "right", "tok"),
    ]


def share_bar(bullet: Bullet, width: int) -> Content:
    """Return where the share of helpful marks lies, as a bar from 0 to 1; dots when there are no
    marks.
    """
    if is_unused(bullet):
        return empty_bar(width)
    found = _share(bullet.helpful_count, bullet.harmful_count)
    style = (
        "$text-error"
        if is_problematic(bullet)
        else "$text-success"
        if is_high_performing(bullet)
        else "$accent"
    )
    return interval_bar(found.low, found.mean, found.high, width, style)


def standing(bullet: Bullet) -> tuple[str, str, str]:
    """Return the symbol, the style and the words for how a bullet does."""
    if bullet.state == "deprecated":
        return DEPRECATED, MUTED, "deprecated"
    if is_problematic(bullet):
        return PROBLEMATIC, "bold $text-error", "problematic"
    if is_high_performing(bullet):
        return HIGH, "$text-success", "high performing"
    if is_unused(bullet):
        return " ", MUTED, "unused"
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
    return [
        Cell(title, 0, "bold $text-accent"),
        Cell(remark, len(remark), f"not bold {MUTED}", "right"),
    ]


def _count(sign: str, count: int, width: int, style: str, mine: bool) -> list[tuple[str, str]]:
    """Return a count right-aligned after a space; this person's own vote is underlined."""
    shown = f"{sign}{short(count)}"
    pad = " " * (1 + width - len(shown))
    return [
        (pad, ""),
        (shown if count else " " * len(shown), f"bold underline {style}" if mine else style),
    ]


# One bullet, one section, or the cut of the budget, in full.


BAR, LABEL = 20, 9
"""Cells of the bar of a rating, and of the labels, so that the values stand below each other."""

_VERDICTS = {"helps": "$text-success", "hurts": "$text-error", "unclear": MUTED}


def row_text(
    bench: Workbench, view: BookView, row: Row, width: int, words: tuple[str, ...] = ()
) -> Content:
    """Return a row of a playbook in full, with words marked in it, as wide as there is room."""
    if row.cut is not None:
        parts = _cut_parts(row.cut, view.tokens)
    elif row.bullet is None:
        parts = _section_parts(row, len(view.playbook.in_section(row.section.id)) - row.count)
    else:
        parts = _bullet_parts(bench, view, row, row.bullet, width, words)
    return joined(*parts)


def bullet_text(bench: Workbench, key: str, width: int) -> Content:
    """Return a bullet (`BOOK/ID`) in full; raises `UnknownRecord` where it is gone."""
    book, _, id = key.rpartition("/")
    bench.playbooks.bullet(book, id)
    view = bench.playbooks.view(book)
    row = next(
        row for row in rows_of(view, BookFilter()) if row.bullet is not None and row.bullet.id == id
    )
    return row_text(bench, view, row, width)


def _cut_parts(cut: Fitting, total: int) -> list[Content]:
    return [
        Content.styled(f"✂ The budget keeps {cut.share}", WARN),
        BLANK,
        _line("budget", f"{number(cut.budget)} tokens"),
        _line("all", f"≈ {number(total)} tokens", "  estimated"),
        _line("kept", bullets_in(len(cut.inside)), f"  ≈ {number(cut.tokens)} tokens"),
        _line("out", cut.went, "  is:over lists them"),
        _line("order", ORDER),
        BLANK,
        assemble(
            [
                (key_of("playbook.budget"), KEY),
                (" changes the budget, and shows what is out, and why.", MUTED),
            ]
        ),
    ]


def _section_parts(row: Row, hidden: int) -> list[Content]:
    add, section = key_of("playbook.add"), key_of("playbook.section")
    return [
        Content.styled(printable(title_of(row.section)), KEY),
        muted(f"section {printable(row.section.id)}"),
        BLANK,
        _line(
            "bullets",
            number(row.count),
            f"  {number(hidden)} more hidden by the filter" if hidden else "",
        ),
        _line("tokens", f"≈ {number(row.tokens)}", "  estimated, each part rounded up"),
        BLANK,
        assemble(
            [
                (add, KEY),
                (" adds a bullet here, ", MUTED),
                (section, KEY),
                (" another section.", MUTED),
            ]
        ),
    ]


def _bullet_parts(
    bench: Workbench, view: BookView, row: Row, bullet: Bullet, width: int, words: tuple[str, ...]
) -> list[Content]:
    """Return a bullet's text, its marks by where they come from, what runs say of it, and its past."""
    shown, now, usage = bench.safety.shown(bullet), bench.context.now(), view.usage.get(bullet.id)
    siblings = [one.id for one in view.playbook.in_section(row.section.id)]
    symbol, style, stands = standing(bullet)
    head = [
        (printable(shown.id), KEY),
        (f"  {f'{symbol} {stands}'.strip()}" if stands else "", style),
        (f"  {PINNED} pinned" if bullet.pinned else "", KEY),
    ]
    place = (
        f"{printable(title_of(row.section))} · {siblings.index(bullet.id) + 1} of {len(siblings)}"
    )
    spans = find_words(shown.content, words)
    text = highlight(shown.content, spans) if spans else body(shown.content)
    return [
        assemble(head),
        muted(place),
        BLANK,
        *_deprecated(bench, view, shown, now),
        *flag_lines(flags_of(bench.safety, bullet)),
        text if shown.content.strip() else muted("(no text)"),
        BLANK,
        *_marks(row, bullet),
        *(_usage(usage, row.disputed) if usage else ()),
        _line("tokens", f"≈ {number(row.tokens)}", "  beyond the budget" if row.over else ""),
        *_past(bench, shown, now, width),
    ]


def _deprecated(bench: Workbench, view: BookView, bullet: Bullet, now: datetime) -> list[Content]:
    """Return why a bullet is deprecated, since when, and what stands in its place; nothing for an
    active one.
    """
    if bullet.state != "deprecated":
        return []
    told, when = bullet.metadata, ""
    with suppress(ValueError, KeyError):
        when = f" {since(parse_time(str(told[SINCE])), now)}"
    lines = [
        assemble(
            [(f"{DEPRECATED} Deprecated", WARN), (f"{when}: not exported, not counted.", MUTED)]
        )
    ]
    if told.get(REASON):
        lines.append(muted("because  ") + body(str(told[REASON])[:500]))
    if name := told.get(REPLACED_BY):
        found = next(
            (bench.safety.shown(b).content for b in view.playbook.bullets if b.id == name),
            "which is gone",
        )
        parts = [
            ("instead  ", MUTED),
            (one_line(str(name), 40), "bold"),
            (f"  {one_line(found, 160)}", ""),
        ]
        lines.append(assemble(parts))
    lines.append(assemble([(key_of("playbook.deprecate"), KEY), (" restores it.", MUTED)]))
    return [*lines, BLANK]


def _marks(row: Row, bullet: Bullet) -> list[Content]:
    helpful = (
        ("imported", bullet.helpful_imported), ("merged in", bullet.helpful_absorbed), ("votes", bullet.helpful_votes),
    )  # fmt: skip
    harmful = (("imported", bullet.harmful_imported), ("votes", bullet.harmful_votes))
    share = _share(bullet.helpful_count, bullet.harmful_count)
    lines = []
    if bullet.helpful_count:
        lines.append(_line("helpful", f"+{number(bullet.helpful_count)}", _by_part(helpful)))
    if bullet.harmful_count:
        lines.append(_line("harmful", f"−{number(bullet.harmful_count)}", _by_part(harmful)))
    if bullet.neutral_count:
        lines.append(_line("neutral", number(bullet.neutral_count)))
    if share.count:
        lines.append(
            _line(
                "rating", f"{share.mean * 100:.0f} %", f"  helpful of {amount(share.count, 'vote')}"
            )
        )
        lines.append(Content(" " * (LABEL + 2)) + share_bar(bullet, BAR))
        lines.append(_line("", "", f"90 % interval {share.low * 100:.0f}–{share.high * 100:.0f} %"))
    lines.append(
        _line(
            "your vote",
            row.vote or "none",
            "  again takes it back" if row.vote else "  + or − votes",
        )
    )
    return lines


def _by_part(parts: tuple[tuple[str, int], ...]) -> str:
    shown = (
        f"{number(count)} {name.removesuffix('s') if count == 1 else name}"
        for name, count in parts
        if count
    )
    return f"  {' · '.join(shown)}"


def _usage(usage: BulletUsage, disputed: bool) -> list[Content]:
    """Return how often runs were right with a bullet and without it, and what follows from that."""
    lines = [BLANK, Content.styled("Outcomes of runs", "bold")]
    if disputed:
        votes, runs = ("harmful", "more") if usage.verdict == "helps" else ("helpful", "less")
        said = (
            f"{DISPUTED} Disputed: mostly voted {votes}, but runs are right {runs} often with it."
        )
        lines.append(Content.styled(said, WARN))
    lines += [*_rate("used", usage.used), *_rate("not used", usage.unused)]
    if usage.difference is not None:
        band = f" ({usage.low:+.2f} … {usage.high:+.2f})".replace("-", "−")
        lines.append(_line("difference", f"{usage.difference:+.2f}".replace("-", "−"), band))
    why = f"at least {LEAST} runs on either side are needed"
    if min(usage.used.runs, usage.unused.runs) >= LEAST:
        why = "it spans zero"
    said = f"Unclear: {why}." if usage.verdict == "unclear" else f"It {usage.verdict}."
    return [*lines, _line("", "") + Content.styled(said, _VERDICTS[usage.verdict]), BLANK]


def _rate(label: str, rate: Rate) -> list[Content]:
    if rate.share is None:
        return [_line(label, "", "no runs")]
    count = f"  {number(rate.correct)}/{number(rate.runs)} right"
    head = _line(label, f"{rate.share:.2f} ({rate.low:.2f}–{rate.high:.2f})", count)
    return [head, _line("", "") + interval_bar(rate.low, rate.share, rate.high, BAR)]


def _past(bench: Workbench, bullet: Bullet, now: datetime, width: int) -> list[Content]:
    lines, parts = [], len(merged_from(bullet))
    if bullet.aliases:
        lines.append(_line("aliases", printable(", ".join(bullet.aliases))))
    if parts:
        lines.append(
            _line("merged", f"of {parts} bullets", f"  {key_of('playbook.split')} separates them")
        )
    if rule := bullet.metadata.get(WARNS_OF):
        lines.append(assemble([("warns of ", MUTED), (printable(str(rule)[:60]), "")]))
    playbooks = bench.playbooks
    change = playbooks.changes.of(bullet.book, bullet.id) if playbooks.changes.begun else None
    if change is None:
        lines.append(_line("changed", "long ago", keyed("  {playbook.history} shows the history")))
    else:
        lines.append(
            _line("changed", since(change.at, now, present="now"), f"  {absolute(change.at)}")
        )
        for said in (f"by {change.actor}", change.label.replace(f" {bullet.book}/", " ")):
            shown, room = printable(bench.safety.masked(said)[:400]), max(12, width - LABEL - 2)
            lines += [_line("", "", part) for part in wrap(shown, room, break_on_hyphens=False)]
    if bullet.last_feedback_at is not None:
        lines.append(_line("voted", since(bullet.last_feedback_at, now, present="now")))
    return lines


def _line(label: str, value: str, rest: str = "") -> Content:
    return assemble([(f"{label:<{LABEL}}  ", MUTED), (value, ""), (rest, MUTED)])
