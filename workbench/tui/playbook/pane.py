"""The panel beside the list of a playbook: what is under the cursor in full, a bullet's past from the journal too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import wrap
from types import MappingProxyType
from typing import NamedTuple

from textual import work
from textual.containers import Vertical
from textual.content import Content
from textual.worker import get_current_worker

from workbench.core.playbook.book import Bullet, Section, is_high_performing, is_problematic, is_unused
from workbench.core.playbook.budget import ORDER, Fitting, Interval, helpful_share
from workbench.core.playbook.filter import NOBODY, Among, BookFilter
from workbench.core.playbook.split import merged_from
from workbench.core.playbook.usage import BulletUsage
from workbench.core.stream.memory import Verdict
from workbench.core.text import cell_width, clip, printable
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import REPLACED_BY, BookView, LastChange, shown_title
from workbench.tui.app.surviving import survives
from workbench.tui.playbook.evidence import deprecated_lines, usage_lines, warning_line
from workbench.tui.safety import FLAGGED, NO_FLAGS, Flags, flag_lines, flags_of, masked_line
from workbench.tui.safety import STYLE as FLAG_STYLE
from workbench.tui.stream.detail import DetailPane
from workbench.tui.widgets.bars import empty_bar, interval_bar
from workbench.tui.widgets.content import MUTED, assemble, body, find_words, highlight, keyed
from workbench.tui.widgets.figures import absolute, amount, number, since
from workbench.tui.widgets.lists.row import Cell

# The playbook's list as values: headings and bullets, and how each is drawn on one line.


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


# The side panel of the playbook: one bullet, or one section, in full.


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
        lines.append(_line("rating", f"{share.mean * 100:.0f} %", f"  helpful of {number(share.count)} votes"))
        lines.append(Content(" " * (LABEL + 2)) + share_bar(bullet, BAR))
        lines.append(_line("", "", f"90 % interval {share.low * 100:.0f}–{share.high * 100:.0f} %"))
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
            _line("merged", f"of {parts} bullets", f"  {around.keys.get('playbook.split', 'S')} separates them")
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


@dataclass(frozen=True, slots=True)
class _Shown:
    row: Row
    view: BookView
    words: tuple[str, ...]


@survives
class BulletPane(Vertical):
    """One bullet, section or cut of the budget in full; `keys` are those of the area's actions, by id."""

    def __init__(self, bench: Workbench, keys: Mapping[str, str]) -> None:
        self.side = DetailPane(id="bullet-detail")
        super().__init__(self.side, id="bullet-side")
        self._bench = bench
        self._keys = keys
        self._shown: _Shown | None = None

    def show(self, row: Row | None, view: BookView | None, words: tuple[str, ...]) -> None:
        """Show a row of a playbook, with the words of the filter marked in it."""
        self._shown = None if row is None or view is None else _Shown(row, view, words)
        self._draw()

    def _draw(self) -> None:
        self.side.show(Content("") if self._shown is None else self._detail(self._shown))

    def _detail(self, shown: _Shown) -> Content:
        row, book = shown.row, shown.view.playbook
        if row.cut is not None:
            return cut_detail(row.cut, shown.view.tokens, self._keys)
        siblings = book.in_section(row.section.id)
        if row.bullet is None:
            return section_detail(row, len(siblings) - row.count)
        told = Told(
            self._last_change(row.bullet), shown.words, self._keys, self.side.scrollable_content_region.width or 60
        )
        return _in_full(self._bench, row, row.bullet, shown.view, told)

    def _last_change(self, bullet: Bullet) -> LastChange | None:
        """Return a bullet's latest change; the first look into the journal happens away from the keyboard."""
        if self._bench.playbooks.changes.begun:
            return self._bench.playbooks.last_change(bullet.book, bullet.id)
        self._look_back()
        return None

    @work(thread=True, exclusive=True, group="changes", exit_on_error=False)
    def _look_back(self) -> None:
        worker = get_current_worker()
        self._bench.playbooks.changes.catch_up()
        if not worker.is_cancelled and self._bench.playbooks.changes.begun:
            self.app.call_from_thread(self._draw)


class Told(NamedTuple):
    """What is said of a bullet besides what its playbook says: its last change, words to mark, keys, and how wide."""

    changed: LastChange | None
    words: tuple[str, ...] = ()
    keys: Mapping[str, str] = MappingProxyType({})
    width: int = 60


def bullet_text(bench: Workbench, key: str, width: int) -> Content:
    """Return a bullet (`BOOK/ID`) in full; raises `UnknownRecord` where it is gone."""
    book, _, id = key.rpartition("/")
    bullet, view = bench.playbooks.bullet(book, id), bench.playbooks.view(book)
    row = next(row for row in rows_of(view, BookFilter(), {}) if row.bullet is not None and row.bullet.id == id)
    changed = bench.playbooks.last_change(book, id) if bench.playbooks.changes.begun else None
    return _in_full(bench, row, bullet, view, Told(changed, width=width))


def _in_full(bench: Workbench, row: Row, bullet: Bullet, view: BookView, told: Told) -> Content:
    book, masked = view.playbook, bench.safety.masked
    siblings = book.in_section(row.section.id)
    replacement = bullet.metadata.get(REPLACED_BY)
    around = Around(
        now=bench.context.now(),
        place=1 + next((i for i, b in enumerate(siblings) if b.id == bullet.id), 0),
        siblings=len(siblings),
        changed=told.changed,
        words=told.words,
        flags=flags_of(bench.safety, bullet),
        masked=masked,
        usage=view.usage.get(bullet.id),
        replacement=next((masked(b.content) for b in book.bullets if b.id == replacement), ""),
        keys=told.keys,
        width=told.width,
    )
    return bullet_detail(row, bullet, around)
