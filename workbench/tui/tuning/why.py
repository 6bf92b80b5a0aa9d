"""The pane that explains the row under the cursor: its figures, its ways into the top, its decay
curve.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.color import Color
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.core.text import printable
from workbench.core.tuning.profile import FACTORS, RELEVANCE, Factor, Profile
from workbench.core.tuning.recency import rank_recency, recency
from workbench.services.tuning.session import (
    NO_CANDIDATE,
    NO_EPISODE,
    Difference,
    Explanation,
    TermPart,
    WeightChange,
)
from workbench.tui.actions import DIFFERENCE, LIST
from workbench.tui.app.actions import bindings
from workbench.tui.tuning.ranking import missing
from workbench.tui.tuning.sliders import Hints, weight
from workbench.tui.widgets.bars import fill_of
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    fitted,
    joined,
    keyed,
    line,
    muted,
)
from workbench.tui.widgets.dialog import TextDialog
from workbench.tui.widgets.figures import FixedText, days, number
from workbench.tui.widgets.line_list import ListKeys

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot


# How recency fades, with the memory's place on the curve: drawn by plotext in quadrant blocks.


LABEL_CELLS, AXIS_CELLS = 9, 5
"""Cells for each label of the axis, which the library drops where they are close; and cells of the
other axis.
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """A falling curve from `x` 0 to `end`; the memory stands at `here`. `unit` follows a number on
    the axis.
    """

    end: float
    half: float
    here: float
    value: float
    by_rank: float | None
    unit: str

    def at(self, x: float) -> float:
        """Return the recency at `x` days, or at place `x` where recency goes by rank."""
        return recency(x * 24, self.half) if self.by_rank is None else self.by_rank**x

    def ticks(self, width: int) -> list[tuple[float, str]]:
        """Return at most four places of an axis of so many cells with their labels: half-lives, or
        places.
        """
        most = max(1, min(4, width // LABEL_CELLS))
        unit = self.half or max(1.0, round(self.end / most))
        step = unit * math.ceil(self.end / unit / most)
        places = [i * step for i in range(most) if i * step <= self.end * 0.95]
        return [(x, f"{x:.3g}{self.unit if x == places[-1] else ''}") for x in places]


def curve_of(found: Explanation, profile: Profile) -> Curve | None:
    """Return the curve of a memory, or `None` where recency does not fade."""
    if profile.mode == "off" or found.standing.scored is None:
        return None
    value, pool = found.standing.scored.raw["recency"], len(found.ranking.candidates)
    if profile.mode == "rank":
        decay = profile.rank_decay
        if decay == 1 or not value:
            return None
        place = next((x for x in range(pool) if rank_recency(x, decay) <= value), pool)
        return Curve(float(max(pool, 2)), 0.0, float(place), value, decay, "")
    if found.half_life is None:
        return None
    # Four half-lives show the whole fall; an older memory lengthens the axis, up to the point where
    # nothing is left.
    here, life = found.hours / 24, found.half_life
    end = max(4 * life, min(here * 1.15, 12 * life))
    return Curve(end, life, min(here, end), value, None, " d")


def heading(found: Explanation, profile: Profile) -> Content:
    """Return two lines that say how recency goes for this memory."""
    if profile.mode == "off":
        return muted("recency is off: 1 for every memory")
    if profile.mode == "rank":
        return muted(
            f"recency by rank, {profile.rank_order} first:\n{profile.rank_decay:g} per place"
        )
    event = "made" if found.terms or profile.mode == "days" else "read"
    since = (
        f"{event} {days(found.hours / 24)} ago" if found.hours >= 1 else f"{event} within the hour"
    )
    if found.half_life is not None:
        return assemble([(f"half-life {days(found.half_life)}", ""), (f"\n{since}", MUTED)])
    memory = found.standing.memory
    why = "pinned" if memory.pinned and profile.pinned == "fresh" else memory.memory_type
    return assemble([("recency does not fade", ""), (f" ({why})\n{since}", MUTED)])


class DecayCurve(Vertical):
    """The decay curve and the line above it; plotext is imported when there is something to draw."""

    DEFAULT_CSS = """
    DecayCurve {
        height: 13;
        & .curve--head { height: 2; }
        & PlotextPlot { height: 1fr; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._plot: PlotextPlot | None = None
        self._curve: Curve | None = None

    def compose(self) -> ComposeResult:
        """Start with the line alone."""
        yield FixedText(classes="curve--head")

    def on_resize(self) -> None:
        """Draw as many labels as there is room for."""
        self._draw()

    def on_mount(self) -> None:
        """Draw in the colours of another theme when it changes."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw())

    def show(self, found: Explanation | None) -> None:
        """Show how recency fades for one memory; draws only what is another curve than before."""
        if found is None or found.standing.scored is None:
            head, curve = BLANK, None
        else:
            head, curve = (
                heading(found, found.ranking.profile),
                curve_of(found, found.ranking.profile),
            )
        self.query_one(FixedText).write(head)
        if curve == self._curve:
            return
        self._curve = curve
        if curve is not None and self._plot is None:
            from textual_plotext import PlotextPlot

            self._plot = PlotextPlot()
            # The terminal's own colours: those of the theme are around the curve already.
            self._plot.theme = "clear"
            self.mount(self._plot)
        self._draw()

    def _draw(self) -> None:
        if self._plot is None:
            return
        self._plot.display = self._curve is not None
        if self._curve is None:
            return
        curve, plt, colours = self._curve, self._plot.plt, self.app.theme_variables
        accent, foreground = (Color.parse(colours[name]).rgb for name in ("accent", "foreground"))
        plt.clear_figure()
        xs = [i * curve.end / 120 for i in range(121)]
        plt.plot(xs, [curve.at(x) for x in xs], marker="hd", color=accent)
        plt.scatter([curve.here], [curve.value], marker="●", color=foreground)
        plt.xlim(0, curve.end)
        plt.ylim(0, 1)
        plt.yticks([0, 0.5, 1], ["0", "0.5", "1"])
        ticks = curve.ticks(self.size.width - AXIS_CELLS)
        plt.xticks([x for x, _ in ticks], [label for _, label in ticks])
        self._plot.refresh()


# Why a memory stands where it stands, figure by figure.


_BY_SETTINGS = {
    NO_CANDIDATE: "{tune.candidates} changes the filter.",
    NO_EPISODE: "{tune.load} loads another profile.",
}
"""What lets in again a memory that only the settings leave out."""

_NAME = 12
_TERM, _SHARE = 26, 14
"""Cells of what a relevance is made of, figure by figure, and of the longest bar beside it."""

_TABLE = 45
"""Cells of the table of figures; the total stands at its right edge."""


def explained(
    found: Explanation, baseline: str, hints: Hints | None, width: int, *, bounds: bool
) -> list[Content]:
    """Return the whole explanation of one memory; `hints` is `None` while its ways into the top are
    not worked out.

    `baseline` is the name of the saved profile; `bounds` tells whether what set the ends of each
    scale is shown, too.
    """
    place, before, memory = found.standing.place, found.standing.before, found.standing.memory
    was = (
        ""
        if before == place
        else f" · {'hidden' if before is None else f'#{before}'} under {printable(baseline)}"
    )
    head = [
        ("hidden" if place is None else f"#{place}", "bold $text-accent"),
        (f"{was} · {printable(memory.id)}", MUTED),
    ]
    lines = [assemble(head), *_title(memory.line, max(20, width))]
    if found.hidden:
        what = keyed(
            _BY_SETTINGS.get(found.hidden, "Agents are never served it, whatever the settings.")
        )
        warning = Content.styled(f"Not served: {printable(found.hidden)}", "bold $text-warning")
        return [*lines, warning, muted(what)]
    # Before the figures: what a person wants who asks about a memory that is not served.
    lines += [*_against_floor(found), *_ways(found, hints)]
    if found.terms:
        lines += terms_text(found.terms, width)
    else:
        lines.append(_header("    raw   0 to 1  weight     part", width))
        for factor in FACTORS:
            if factor.id in found.ranking.bounds:
                lines += _part(found, factor, width, bounds=bounds)
    return [*lines, *_total(found, width), *_query(found)]


def _title(text: str, width: int) -> list[Content]:
    """Return two lines of a text at most, so that the figures stay in sight."""
    first, *more = body(text[: 4 * width], "bold").wrap(width)
    if len(more) > 1:
        more = [fitted(more[0].rstrip() + Content.styled(" …", "bold"), width)]
    return [first, *more]


def _against_floor(found: Explanation) -> list[Content]:
    """Return how well a memory matches, as its row says, and the floor where there is one."""
    against, id = found.against, found.id
    if against is None:
        return []
    floor, (cosine, lexical, known) = against.verdict.standard.floor, against.scores_of(id)
    made = f"({cosine:.3f} + {lexical:.3f}) ÷ 2" if known else "words alone"
    below = "" if floor is None else f", weak below {floor.memory:.3f}"
    text = f"match {against.relevance(id):.3f} = {made}{below}"
    return [Content.styled(text, "$text-warning" if against.is_weak(id) else MUTED)]


def _query(found: Explanation) -> list[Content]:
    """Return what the query reaches against the floor, or why there is none."""
    if found.against is None:
        return []
    floor, reach = found.against.verdict.standard.floor, found.against.verdict.reach
    if floor is None or reach is None:
        why = missing(found.against.verdict.standard)
        return [muted(f"  {why}")] if why else []
    text = f"  the query reaches {reach.together:.3f}, floor {floor.query:.3f}"
    return [Content.styled(text, "$text-warning" if found.against.empty else MUTED)]


def _header(figures: str, width: int) -> Content:
    return muted(f"{'':{_NAME}}{figures}"[:width])


def _part(found: Explanation, factor: Factor, width: int, *, bounds: bool) -> list[Content]:
    """Return the line of a factor, and below it what its raw value is made of, or why it has no
    effect.
    """
    scored, ends, (fill, style) = (
        found.standing.scored,
        found.ranking.bounds[factor.id],
        fill_of(factor),
    )
    assert scored is not None
    raw, weighted = scored.raw[factor.id], scored.weighted[factor.id]
    times = weight(found.ranking.weight(factor))
    figures = f"{raw:>7.4f} → {scored.norm[factor.id]:>6.4f} × {times:>5} = {weighted:>6.4f}"
    lines = [
        assemble([(f"{fill} ", style), (f"{factor.label:<{_NAME - 2}}", "bold"), (figures, "")])
    ]
    by = found.ends[factor.id]
    if ends.dead:
        cause = f"all have {raw:.4f}" if by[0] else f"both frozen bounds are {ends.low:.4f}"
        dead = Content.styled(
            f"dead: {cause}, so it is 0.5 everywhere and has no effect", "$text-warning"
        )
        lines += [Content("    ") + part.rstrip() for part in dead.wrap(max(20, width - 4))]
    elif bounds:
        for name, value, memory in (("min", ends.low, by[0]), ("max", ends.high, by[1])):
            head = f"    {name} {value:>8.4f}  "
            lines.append(
                muted(head) + line(memory.line if memory else "frozen", width - len(head), MUTED)
            )
    return [*lines, *_shares(found, style, width)] if factor.id == RELEVANCE else lines


def _shares(found: Explanation, style: str, width: int) -> list[Content]:
    """Return a line for each thing that raw relevance is made of, with a bar of what it adds."""
    shares = [share for share in found.shares if share.part.how != "feeds" and not share.idle]
    full = sum(max(0.0, share.amount) for share in shares if share.part.how == "adds")
    cells = max(0, min(_SHARE, width - _TERM - 6))
    lines = []
    for i, share in enumerate(shares):
        adds, times = (
            share.part.how == "adds",
            "" if share.times is None else f" × {weight(round(share.times, 10))}",
        )
        # Half as high as a line, so that bars below one another stay apart.
        bar = "▄" * round(max(0.0, share.amount) / full * cells) if full and adds else ""
        sign = "=" if not i else "+" if adds else "×"
        text = f"{f'{share.part.label:<10} {share.value:>7.4f}{times}':<{_TERM}}"
        lines.append(assemble([(f"    {sign} ", MUTED), (text, ""), (bar, style)]))
    return lines + [
        Content("      ") + line(s.said, width - 6, MUTED) for s in found.shares if s.said
    ]


def _total(found: Explanation, width: int) -> list[Content]:
    """Return the sum of the parts, what it could be at most, and over whom each factor goes from 0
    to 1.
    """
    scored, ranking = found.standing.scored, found.ranking
    if scored is None:
        return []
    profile, pool = ranking.profile, len(ranking.candidates)
    most = sum(ranking.weight(factor) for factor in FACTORS if factor.id in ranking.bounds)
    head = "  total" if found.terms else f"  total, of at most {weight(round(most, 10))}"
    figure = f"{scored.total:.4f}"
    gap = " " * max(1, min(width, _TABLE) - len(head) - len(figure))
    if found.terms:
        scope = f"taken as they are, among {number(pool)} episodes"
    elif profile.scope == "frozen":
        scope = "each factor 0 to 1 by frozen bounds, whatever the query and the moment"
    elif profile.scope == "top" and profile.top_n < pool:
        scope = (
            f"each factor 0 to 1 over the {number(profile.top_n)} most relevant of {number(pool)}"
        )
    else:
        scope = f"each factor 0 to 1 over all {number(pool)} served memories"
    total = assemble([(head, "bold"), (gap, ""), (figure, "bold $text-accent")])
    return [total, muted(f"  {scope}")]


def _ways(found: Explanation, hints: Hints | None) -> list[Content]:
    place, k = found.standing.place, found.ranking.profile.k
    if hints is None or place is None or place <= k:
        return []
    if not hints.ways:
        return [
            Content(
                f"No single {'slider' if hints.every else 'weight'} brings it into the top {k}."
            )
        ]
    ways = [
        assemble([(f"  {w.label} {w.then}", "bold"), (f" (now {w.now})", MUTED)])
        for w in hints.ways[:6]
    ]
    return [Content(f"One change brings it into the top {k}:"), *ways]


def terms_text(terms: Sequence[TermPart], width: int) -> list[Content]:
    """Return a line per term of a score of episodes, with its fill in the bar of the row and where
    it comes from.
    """
    lines = [_header("  value   weight     part", width)]
    for term in terms:
        fill, style = fill_of(term.factor)
        figures = f"{term.value:>7.4f} × {weight(round(term.weight, 6)):>6} = {term.weighted:>7.5f}"
        head = assemble(
            [(f"{fill} ", style), (f"{term.term:<{_NAME - 2}}", "bold"), (f"{figures}  ", "")]
        )
        note, room = muted(printable(term.note)), width - head.cell_length
        lines += [head + note] if note.cell_length <= room else [head, Content("    ") + note]
    return lines


# Why one of two memories is above the other.


class DifferenceDialog(TextDialog[WeightChange]):
    """What parts two memories, factor by factor; the result is the weight that is to swap them."""

    BINDINGS = bindings(DIFFERENCE)

    def __init__(self, found: Difference, shown: Callable[[Any], Any]) -> None:
        self._swap = found.swap
        offered = [a for a in DIFFERENCE if found.swap or a.id != "difference.swap"]
        title = f"Why #{found.first.place} is above #{found.second.place}"
        super().__init__(title, difference_text(found, shown), offered)

    def action_swap(self) -> None:
        """Take the change of the weight, where there is one."""
        if self._swap is not None:
            self.dismiss(self._swap)


def difference_text(found: Difference, shown: Callable[[Any], Any]) -> Content:
    """Return both texts, what each factor adds for them, and what would swap them."""
    places = (f"#{found.first.place}", f"#{found.second.place}")
    lines = [
        assemble([(f"{place:<5}", "bold $text-accent")]) + line(shown(one.memory).line, 96)
        for place, one in zip(places, (found.first, found.second), strict=True)
    ]
    lines += [
        BLANK,
        muted(f"{'':14}{places[0]:>8} {places[1]:>8}   difference"),
    ]
    most = max((abs(one - other) for _, one, other in found.factors), default=0.0) or 1.0
    for factor, one, other in found.factors:
        fill, style = fill_of(factor)
        bar = "▄" * round(abs(one - other) / most * _SHARE)
        figures = f"{factor.label:<{_NAME}}{one:>8.4f} {other:>8.4f}     {one - other:>+8.4f}  "
        lines.append(assemble([(f"{fill} ", style), (figures, ""), (bar, style)]))
    first = sum(one for _, one, _ in found.factors)
    second = sum(other for _, _, other in found.factors)
    total = f"  {'total':<{_NAME}}{first:>8.4f} {second:>8.4f}     {first - second:>+8.4f}"
    lines.append(Content(total))
    swap = found.swap
    if swap is None:
        said = "No single weight swaps them."
    else:
        change = f"{swap.factor.label} {weight(swap.now)} → {weight(swap.then)}"
        said = f"They swap with {change}: the smallest change of a single weight."
    return joined(*lines, BLANK, Content.styled(said, "bold"))


_TEXT, _CURVE = 51, 24
"""Cells that the text, with its margin, and the curve need at least to stand side by side."""


class WhyPane(VerticalScroll, ListKeys, inherit_bindings=False):
    """Text and curve side by side, or one above the other where there is height instead of width."""

    # Not those of a scroll view, which would keep ← and → from the slider.
    BINDINGS = bindings([a for a in LIST if a.id != "list.open"])
    DEFAULT_CSS = """
    WhyPane {
        layout: horizontal;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        padding: 0 1;
        & .why--text { width: 1fr; height: auto; }
        & DecayCurve { margin-left: 2; }
        &.-tall { layout: vertical; }
        &.-tall DecayCurve { margin: 1 0 0 0; }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="why", classes="pane")
        self.border_title = " Why "
        self._found: Explanation | str = ""
        self._baseline = ""
        self._hints: Hints | None = None
        self._bounds = False
        self._shape = ("", 0, 0)

    def compose(self) -> ComposeResult:
        """Build the text and the curve."""
        yield Static(classes="why--text")
        yield DecayCurve()

    def on_resize(self) -> None:
        """Give the table what it needs and the curve the rest, below the text where that is too
        little.
        """
        curve = self.query_one(DecayCurve)
        self.set_class(self._beside == 0, "-tall")
        curve.styles.width = self._beside or "100%"
        self._draw()

    @property
    def _beside(self) -> int:
        """The cells of the curve beside the text; 0 where it stands below."""
        width, height = self.scrollable_content_region.size
        rest = width - _TEXT
        return 0 if rest < _CURVE or height > width // 2 else min(rest, 2 * _CURVE)

    @property
    def memory(self) -> str:
        """The memory that is explained; empty when none is."""
        return "" if isinstance(self._found, str) else self._found.id

    def move_by(self, lines: int) -> None:
        self.scroll_to(y=self.scroll_target_y + lines, animate=False)

    def show(self, found: Explanation | str, baseline: str) -> None:
        """Explain a line of the ranking, or say what it is; ways that were found for the same
        memory stay.
        """
        before, self._found, self._baseline = self.memory, found, baseline
        if before != self.memory:
            self._hints = None
            self.scroll_home(animate=False)
        self._draw()
        if before != self.memory:
            self.show_curve()

    def show_hints(self, hints: Hints) -> None:
        """Show what would bring the memory into the top."""
        before = self._hints
        if hints.memory == self.memory and (
            before is None or (before.ways, before.every) != (hints.ways, hints.every)
        ):
            self._hints = hints
            self._draw()

    def show_curve(self) -> None:
        """Draw how recency fades for the memory: at once for another one, else when the hand rests."""
        self.query_one(DecayCurve).show(None if isinstance(self._found, str) else self._found)

    def turn_bounds(self) -> None:
        """Show what set the ends of each factor's scale, or leave it out again."""
        self._bounds = not self._bounds
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width - (self._beside + 2 if self._beside else 0)
        if isinstance(self._found, str):
            lines = [line.rstrip() for line in muted(self._found).wrap(max(20, width))]
        else:
            lines = explained(self._found, self._baseline, self._hints, width, bounds=self._bounds)
        content = joined(*lines)
        # The screen is laid out anew only when the text may be higher or lower than before.
        shape = (self.memory, self.size.width, content.plain.count("\n"))
        self.query_one(Static).update(content, layout=shape != self._shape)
        self._shape = shape
