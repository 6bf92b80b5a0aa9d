"""The pane that explains the row under the cursor: its figures, its ways into the top, its decay curve."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.color import Color
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.text import printable
from workbench.core.tuning.profile import RELEVANCE, Profile
from workbench.core.tuning.recency import rank_recency, recency
from workbench.services.safety.masking import masked
from workbench.services.tuning.episode_terms import TermPart
from workbench.services.tuning.floor.against import AgainstFloor
from workbench.services.tuning.session import NO_CANDIDATE, NO_EPISODE, Explanation, Part, TuningSession
from workbench.tui.app.actions import bindings
from workbench.tui.app.surviving import survives
from workbench.tui.tuning.parameters import Heading, Line, WayIn, of_memory, of_query, other_ways, ways, weight
from workbench.tui.widgets.actions import LIST
from workbench.tui.widgets.bars import fill_of
from workbench.tui.widgets.content import MUTED, assemble, body, fitted, keyed, line
from workbench.tui.widgets.figures import days, number
from workbench.tui.widgets.lists.fixed_text import FixedText
from workbench.tui.widgets.lists.reading_pane import KeyScroll

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot


# How recency fades, with the memory's place on the curve: drawn by plotext in quadrant blocks.


HERE = "●"
APART = 2
"""Cells between two labels of the axis: of closer ones the library drops some, and not always the same."""
AXIS = 5
"""Cells that the other axis takes: its labels and the frame."""
_POINTS = 120


@dataclass(frozen=True, slots=True)
class Curve:
    """A falling curve from `x` 0 to `end`; the memory stands at `here`. `unit` follows a number on the axis."""

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
        """Return places of an axis of so many cells with their labels: half-lives, or every so many places.

        There are four at most, and fewer where their labels would not stand apart.
        """
        found: list[tuple[float, str]] = []
        for most in (4, 3, 2, 1):
            unit = self.half or max(1.0, round(self.end / most))
            step = unit * math.ceil(self.end / unit / most)
            places = [i * step for i in range(most) if i * step <= self.end * 0.95]
            found = [(x, f"{x:.3g}{self.unit if x == places[-1] else ''}") for x in places]
            if self._stand_apart(found, width):
                break
        return found

    def _stand_apart(self, ticks: list[tuple[float, str]], width: int) -> bool:
        """Tell whether labels that are centred on their places leave `APART` cells between them."""
        spans = [(x / self.end * (width - 1), (len(label) - 1) / 2) for x, label in ticks]
        return all(right - b - (left + a) > APART for (left, a), (right, b) in pairwise(spans))


def curve_of(found: Explanation, profile: Profile) -> Curve | None:
    """Return the curve of a memory, or `None` where recency does not fade."""
    if profile.mode == "off" or found.standing.scored is None:
        return None
    value = found.standing.scored.raw["recency"]
    if profile.mode == "rank":
        return None if profile.rank_decay == 1 or not value else _by_rank(found, profile.rank_decay, value)
    if found.half_life is None:
        return None
    here = found.hours / 24
    # Four half-lives show the whole fall; an older memory lengthens the axis, up to the point where nothing is left.
    end = max(4 * found.half_life, min(here * 1.15, 12 * found.half_life))
    return Curve(end, found.half_life, min(here, end), value, None, " d")


def _by_rank(found: Explanation, decay: float, value: float) -> Curve:
    here = next((x for x in range(found.pool) if rank_recency(x, decay) <= value), found.pool)
    return Curve(float(max(found.pool, 2)), 0.0, float(here), value, decay, "")


def heading(found: Explanation, profile: Profile) -> Content:
    """Return one line that says how recency goes for this memory."""
    if profile.mode == "off":
        return Content.styled("recency is off: 1 for every memory", MUTED)
    if profile.mode == "rank":
        order = "newest" if profile.rank_order == "newest" else "oldest"
        return Content.styled(f"recency by rank, {order} first:\n{profile.rank_decay:g} per place", MUTED)
    event = "made" if found.terms or profile.mode == "days" else "read"
    since = f"{event} {days(found.hours / 24)} ago" if found.hours >= 1 else f"{event} within the hour"
    if found.half_life is None:
        kept = found.standing.memory.pinned and profile.pinned == "fresh"
        why = "pinned" if kept else found.standing.memory.memory_type
        return assemble([("recency does not fade", ""), (f" ({why})\n{since}", MUTED)])
    return assemble([(f"half-life {days(found.half_life)}", ""), (f"\n{since}", MUTED)])


@survives
class DecayCurve(Vertical):
    """The decay curve and the line above it; plotext is imported when there is something to draw."""

    DEFAULT_CSS = """
    DecayCurve {
        height: 13;
        & .curve--head { height: 2; }
        & PlotextPlot { height: 1fr; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
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

    def clear(self) -> None:
        """Show nothing."""
        self._show(Content(""), None)

    def show(self, found: Explanation, profile: Profile) -> None:
        """Show how recency fades for one memory; draws only what is another curve than before."""
        if found.standing.scored is None:
            self.clear()
        else:
            self._show(heading(found, profile), curve_of(found, profile))

    def _show(self, head: Content, curve: Curve | None) -> None:
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
        curve, plt = self._curve, self._plot.plt
        plt.clear_figure()
        xs = [i * curve.end / _POINTS for i in range(_POINTS + 1)]
        plt.plot(xs, [curve.at(x) for x in xs], marker="hd", color=self._colour("accent"))
        plt.scatter([curve.here], [curve.value], marker=HERE, color=self._colour("foreground"))
        plt.xlim(0, curve.end)
        plt.ylim(0, 1)
        plt.yticks([0, 0.5, 1], ["0", "0.5", "1"])
        ticks = curve.ticks(self.size.width - AXIS)
        plt.xticks([x for x, _ in ticks], [label for _, label in ticks])
        self._plot.refresh()

    def _colour(self, name: str) -> tuple[int, int, int]:
        return Color.parse(self.app.theme_variables[name]).rgb


# Why a memory stands where it stands, figure by figure.


_BY_SETTINGS = {NO_CANDIDATE: "{tune.candidates} changes the filter.", NO_EPISODE: "{tune.load} loads another profile."}
"""What lets in again a memory that only the settings leave out."""

_NAME = 12
_TERM, _SHARE = 26, 14
"""Cells of what a relevance is made of, figure by figure, and of the longest bar beside it."""

_BAR = "▄"
"""Half as high as a line, so that bars below one another stay apart."""

_TABLE = 45
"""Cells of the table of figures; the total stands at its right edge."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What an explanation is seen against: the profile, the baseline's name, the width in cells.

    `every` tells whether every parameter was tried for ways into the top, not only the weights; `against` is the
    query held against the floor; `bounds` whether what set the ends of each scale is shown, too.
    """

    profile: Profile
    baseline: str
    width: int
    every: bool = False
    against: AgainstFloor | None = None
    bounds: bool = False


def explained(found: Explanation, ways: Sequence[WayIn] | None, setting: Setting) -> Content:
    """Return the whole explanation of one memory; `ways` is `None` while they are not worked out."""
    lines = [_place(found, setting), *_title(found.standing.memory.line, setting.width)]
    if found.hidden:
        lines += [
            assemble([("Not served: ", "bold $text-warning"), (printable(found.hidden), "bold $text-warning")]),
            Content.styled(
                keyed(_BY_SETTINGS.get(found.hidden, "Agents are never served it, whatever the settings.")), MUTED
            ),
        ]
        return Content("\n").join(lines)
    if setting.against is not None:
        lines += of_memory(setting.against, found.standing.memory.id)
    # Before the figures: what a person wants who asks about a memory that is not served.
    lines += _ways(found, ways, setting)
    lines += terms_text(found.terms, setting.width) if found.terms else [_header(setting.width)]
    for part in () if found.terms else found.parts:
        lines += _part(part, setting)
        if part.factor.id == RELEVANCE:
            lines += _shares(found, fill_of(part.factor)[1], setting.width)
    if found.standing.scored:
        most = None if found.terms else sum(part.weight for part in found.parts)
        lines += [_total(found.standing.scored.total, most, setting.width), _scope(found, setting)]
        lines += of_query(setting.against) if setting.against is not None else ()
    return Content("\n").join(lines)


def _place(found: Explanation, setting: Setting) -> Content:
    place, before = found.standing.place, found.standing.before
    pieces = [("hidden" if place is None else f"#{place}", "bold $text-accent")]
    if before is None:
        pieces.append((f" · hidden under {printable(setting.baseline)}", MUTED))
    elif before != place:
        pieces.append((f" · #{before} under {printable(setting.baseline)}", MUTED))
    pieces.append((f" · {printable(found.standing.memory.id)}", MUTED))
    return assemble(pieces)


def _title(text: str, width: int) -> list[Content]:
    """Return two lines of a text at most, so that the figures stay in sight."""
    lines = body(text[: 4 * max(20, width)], "bold").wrap(max(20, width))
    if len(lines) <= 2:
        return list(lines)
    return [lines[0], fitted(lines[1].rstrip() + Content.styled(" …", "bold"), max(20, width))]


def _header(width: int) -> Content:
    return Content.styled(f"{'':{_NAME}}{'raw':>7}   {'0 to 1':>6}  {'weight':>6}   {'part':>6}"[:width], MUTED)


def _part(part: Part, setting: Setting) -> list[Content]:
    width = setting.width
    fill, style = fill_of(part.factor)
    figures = f"{part.raw:>7.4f} → {part.norm:>6.4f} × {weight(part.weight):>5} = {part.weighted:>6.4f}"
    head = assemble([(f"{fill} ", style), (f"{part.factor.label:<{_NAME - 2}}", "bold"), (figures, "")])
    if part.dead:
        cause = f"all have {part.raw:.4f}" if part.low_by else f"both frozen bounds are {part.low:.4f}"
        dead = f"    dead: {cause}, so it is 0.5 everywhere and has no effect"
        lines = Content.styled(dead.strip(), "$text-warning").wrap(max(20, width - 4))
        return [head, *(Content("    ") + line.rstrip() for line in lines)]
    if not setting.bounds:
        return [head]
    low, high = ("frozen" if memory is None else memory.line for memory in (part.low_by, part.high_by))
    return [head, _bound("min", part.low, low, width), _bound("max", part.high, high, width)]


def _bound(name: str, value: float, text: str, width: int) -> Content:
    head = f"    {name} {value:>8.4f}  "
    return Content.styled(head, MUTED) + line(text, max(0, width - len(head)), MUTED)


def _shares(found: Explanation, style: str, width: int) -> list[Content]:
    """Return a line for each thing that raw relevance is made of, with a bar of what it adds."""
    shares = [share for share in found.shares if share.part.how != "feeds" and not share.idle]
    full = sum(max(0.0, share.amount) for share in shares if share.part.how == "adds")
    cells = max(0, min(_SHARE, width - _TERM - 6))
    lines = []
    for i, share in enumerate(shares):
        adds, times = share.part.how == "adds", "" if share.times is None else f" × {weight(round(share.times, 10))}"
        text = f"{share.part.label:<10} {share.value:>7.4f}{times}"
        bar = _BAR * round(max(0.0, share.amount) / full * cells) if full and adds else ""
        sign = "=" if not i else "+" if adds else "×"
        lines.append(assemble([(f"    {sign} ", MUTED), (f"{text:<{_TERM}}", ""), (bar, style)]))
    return lines + [line(f"      {share.said}", width, MUTED) for share in found.shares if share.said]


def _total(total: float, most: float | None, width: int) -> Content:
    """Return the sum of the parts, and the `most` that it could be: the sum of the weights."""
    head, figures = "  total" if most is None else f"  total, of at most {weight(round(most, 10))}", f"{total:.4f}"
    gap = " " * max(1, min(width, _TABLE) - len(head) - len(figures))
    return assemble([(head, "bold"), (gap, ""), (figures, "bold $text-accent")])


def _scope(found: Explanation, setting: Setting) -> Content:
    profile = setting.profile
    if found.terms:
        return Content.styled(f"  taken as they are, among {number(found.pool)} episodes", MUTED)
    whom = f"all {number(found.pool)} served memories"
    if profile.scope == "frozen":
        return Content.styled("  each factor 0 to 1 by frozen bounds, whatever the query and the moment", MUTED)
    if profile.scope == "top" and profile.top_n < found.pool:
        whom = f"the {number(profile.top_n)} most relevant of {number(found.pool)}"
    return Content.styled(f"  each factor 0 to 1 over {whom}", MUTED)


def _ways(found: Explanation, ways: Sequence[WayIn] | None, setting: Setting) -> list[Content]:
    place, k = found.standing.place, setting.profile.k
    if ways is None or place is None or place <= k:
        return []
    if not ways:
        return [Content(f"No single {'slider' if setting.every else 'weight'} brings it into the top {k}.")]
    lines = [Content(f"One change brings it into the top {k}:")]
    for way in ways[:6]:
        lines.append(assemble([(f"  {way.label} {way.then}", "bold"), (f" (now {way.now})", MUTED)]))
    return lines


def terms_text(terms: Sequence[TermPart], width: int) -> list[Content]:
    """Return a line per term and what the sum is over; under each its fill in the bar of the row."""
    header = f"{'':{_NAME}}{'value':>7}   {'weight':>6}   {'part':>6}"
    lines = [Content.styled(header[:width], MUTED)]
    for term in terms:
        fill, style = fill_of(term.factor)
        figures = f"{term.value:>7.4f} × {weight(round(term.weight, 6)):>6} = {term.weighted:>7.5f}"
        head = assemble([(f"{fill} ", style), (f"{term.term:<{_NAME - 2}}", "bold"), (figures, "")])
        note = printable(term.note)
        room = width - head.cell_length - 2
        lines.append(head + Content("  ") + line(note, room, MUTED).rstrip() if note and room >= len(note) else head)
        if note and room < len(note):
            lines.append(Content.styled(f"    {note}", MUTED))
    return lines


_TEXT, _CURVE = 51, 24
"""Cells that the text, with its margin, and the curve need at least to stand side by side."""


class WhyPane(KeyScroll, inherit_bindings=False):
    """Text and curve side by side, or one above the other where there is height instead of width."""

    class Tried(Message):
        """Every parameter was tried for a memory."""

        def __init__(self, memory: str, ways: tuple[WayIn, ...]) -> None:
            super().__init__()
            self.memory = memory
            self.ways = ways

    # Not those of a scroll view, which would keep ← and → from the slider.
    BINDINGS: ClassVar[list[BindingType]] = bindings([a for a in LIST if a.id != "list.open"])
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

    def __init__(self, mask: Callable[[str], str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._mask = mask
        self._session: TuningSession | None = None
        self._line: Line | None = None
        self._memory = ""
        self._ways: tuple[WayIn, ...] | None = None
        self._every = self._bounds = False
        self._found: Explanation | None = None
        self._drawn = ""
        self._shape = ("", 0, 0)

    def compose(self) -> ComposeResult:
        """Build the text and the curve."""
        yield Static(classes="why--text")
        yield DecayCurve()

    def on_resize(self) -> None:
        """Give the table what it needs and the curve the rest, below the text where that is too little."""
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

    def show(self, session: TuningSession, line: Line | None) -> None:
        """Explain a line of the ranking; ways that were found for the same memory stay until others are."""
        self._session, self._line = session, line
        memory = "" if line is None or isinstance(line, Heading) else line.standing.memory.id
        if memory != self._memory:
            self._memory, self._ways, self._every = memory, None, False
            self.scroll_home(animate=False)
        self._draw()

    def turn_bounds(self) -> None:
        """Show what set the ends of each factor's scale, or leave it out again."""
        self._bounds = not self._bounds
        self._draw()

    def _draw(self) -> None:
        curve = self.query_one(DecayCurve)
        found = self._session.explain(self._memory) if self._session and self._memory else None
        if self._session is None or found is None:
            about = Content.styled(self._line.about if isinstance(self._line, Heading) else "", MUTED)
            lines = about.wrap(max(20, self.scrollable_content_region.width - self._beside))
            self._write(Content("\n").join(line.rstrip() for line in lines))
            self._found, self._drawn = None, ""
            curve.clear()
            return
        width = self.scrollable_content_region.width - (self._beside + 2 if self._beside else 0)
        profile, name = self._session.profile, self._session.saved.name
        setting = Setting(profile, name, width, self._every, self._session.against, self._bounds)
        self._write(explained(masked(found, self._mask), self._ways, setting))
        self._found = found
        if self._drawn != self._memory:
            self.show_curve()

    def show_curve(self) -> None:
        """Draw how recency fades for the memory: at once for another one, else when the hand rests."""
        if self._found is not None and self._session is not None:
            self._drawn = self._memory
            self.query_one(DecayCurve).show(self._found, self._session.profile)

    @property
    def memory(self) -> str:
        """The memory that is explained; empty when none is."""
        return self._memory

    def show_ways(self, memory: str, ways: tuple[WayIn, ...]) -> None:
        """Show what would bring the memory into the top; for one that was asked for, try every parameter too."""
        self._show_ways(memory, ways, every=False)
        session = self._session
        place = session.ranking.place_of(memory) if session and session.ranking and memory == session.watched else None
        if session and place is not None and place > session.profile.k:
            self._try_all(session.copy(), memory)

    @work(thread=True, exclusive=True, group="ways", description="ways")
    def _try_all(self, session: TuningSession, memory: str) -> None:
        worker = get_current_worker()
        found = (*ways(session, memory), *other_ways(session, memory, lambda: worker.is_cancelled))
        if not worker.is_cancelled:
            self.post_message(self.Tried(memory, found))

    @on(Tried)
    def _tried(self, event: Tried) -> None:
        self._show_ways(event.memory, event.ways, every=True)

    def _show_ways(self, memory: str, ways: tuple[WayIn, ...], *, every: bool) -> None:
        if memory == self._memory and (ways, every) != (self._ways, self._every):
            self._ways, self._every = ways, every
            self._draw()

    def _write(self, content: Content) -> None:
        """Show a text; the screen is laid out anew only when it may be higher or lower than before."""
        shape = (self._memory, self.size.width, content.plain.count("\n"))
        self.query_one(Static).update(content, layout=shape != self._shape)
        self._shape = shape
