"""A slider for a number: one line of label, bar and value, for keys, digits and the mouse."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.core.reflection.trigger import Gauge
from workbench.core.tuning.profile import FACTORS, RELEVANCE, Factor
from workbench.tui.actions import SLIDER
from workbench.tui.app.actions import bindings
from workbench.tui.widgets.content import BLANK, MUTED, assemble, fitted, joined, line, muted
from workbench.tui.widgets.figures import number, shares
from workbench.tui.widgets.line_list import CURSOR, RESTING, FromWidget

# An interval of a share as a bar in text: where the share may lie, and its middle.


# Numbers of days as a small plot: drawn by plotext in whole blocks, so that it needs no colour.


LINES = 7
"""Lines of a plot, the axis with the dates included."""

LEAST = 24
"""Cells below which there is no room for a plot."""

MOST = 120
_APART = 14
"""Cells between two dates of the axis."""

_BLOCK = "sd"
"""What plotext calls a whole block."""


def day_plot(days: Sequence[date], values: Sequence[int], cells: int) -> Content:
    """Return the plot of a number for each day in so many cells; nothing where there is no room, or
    all is 0.
    """
    width = min(cells, MOST)
    if width < LEAST or not any(values):
        return BLANK
    from rich.text import Text  # neither is needed before something is drawn
    from textual_plotext.plot import Plot

    plot, top = Plot(), max(values)
    plot.theme("clear")
    plot.plotsize(width, LINES)
    plot.frame(False)
    places = [float(place) for place in range(len(values))]
    plot.bar(places, list(values), width=0.6, marker=_BLOCK)
    marks = [0, top] if top < 4 else [0, top // 2, top]
    plot.yticks([float(mark) for mark in marks], [number(mark) for mark in marks])
    step = max(1, -(-len(days) * _APART // width))
    plot.xticks(places[::step], [f"{day.day} {day:%b}" for day in days[::step]])
    lines = Text.from_ansi(plot.build()).plain.splitlines()
    return Content("\n".join(line.rstrip() for line in lines).rstrip())


# A small gauge in text: how far something is on its way to a limit.


def gauge(value: float, limit: float, label: str, cells: int = 4) -> Content:
    """Return "▓▓▓░ 112/150 importance"; the bar is full only when the limit is reached."""
    share = 1.0 if limit <= 0 else min(1.0, max(0.0, value / limit))
    filled = math.floor(share * cells)
    reached = value >= limit
    figures = f" {value:.0f}/{limit:.0f} {label}"
    if not reached and f"{value:.0f}" == f"{limit:.0f}":
        figures = f" {value:.1f}/{limit:.0f} {label}"
    style = "bold $text-accent" if reached else ""
    return assemble(
        [("▓" * filled, "$accent"), ("░" * (cells - filled), "$text-muted"), (figures, style)]
    )


def behind(found: Gauge) -> Content:
    """Return " · 38/100 observations · 2/24 hours": the conditions of a reflection that do not
    lead.
    """
    others = [c for c in found.conditions if c.name != found.leading.name]
    return muted("".join(f" · {c.value:.0f}/{c.limit:.0f} {c.name}" for c in others))


BAND, MIDDLE, REST = "━", "●", "·"


def interval_pieces(
    low: float, middle: float, high: float, cells: int, style: str = "$accent"
) -> list[tuple[str, str]]:
    """Return a bar from 0 to 1 of exactly `cells` cells as pieces of text: the band, and a dot in
    its middle.
    """
    if cells <= 0:
        return []
    first, at, last = (min(cells - 1, max(0, int(share * cells))) for share in (low, middle, high))
    return [
        (REST * first, MUTED),
        (BAND * (at - first), style),
        (MIDDLE, f"bold {style}"),
        (BAND * (last - at), style),
        (REST * (cells - 1 - last), MUTED),
    ]


def interval_bar(
    low: float, middle: float, high: float, cells: int, style: str = "$accent"
) -> Content:
    """Return the same as finished text."""
    return assemble(interval_pieces(low, middle, high, cells, style))


def empty_bar(cells: int) -> Content:
    """Return the bar of a share nothing is known about."""
    return muted(REST * max(0, cells))


# The score of a memory as a stacked bar of its weighted parts.


def fill_of(factor: Factor) -> tuple[str, str]:
    """Return the fill of a factor's part and its style; the fills differ, so the bar needs no
    colour.
    """
    return factor.glyph, "$accent" if factor.id == RELEVANCE else "$text-muted"


def factor_bar(parts: Mapping[str, float], width: int, full: float = 1.0) -> Content:
    """Return the weighted parts, by factor, as a bar of exactly `width` cells.

    A total of `full` fills the width. The parts are rounded by largest remainder, so that they add
    up.
    """
    return fitted(assemble(bar_pieces(parts, width, full)), width)


def bar_pieces(parts: Mapping[str, float], width: int, full: float) -> list[tuple[str, str]]:
    """Return the same as pieces of text with their styles, for a longer line."""
    values = [parts.get(factor.id, 0.0) for factor in FACTORS]
    total = sum(p for p in values if p > 0)
    cells = min(width, round(total / full * width)) if full > 0 else 0
    counts = shares(values, cells)
    pieces = [
        (factor.glyph * n, fill_of(factor)[1]) for factor, n in zip(FACTORS, counts, strict=True)
    ]
    return [*pieces, (" " * (width - sum(counts)), "")]


# The scale of a slider as a value: positions, steps, and the "off" stop beyond its upper end.


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of values from `minimum` to `maximum`.

    `step` and `fine` are added on a linear scale; on a logarithmic one (`minimum` > 0) they
    multiply: 0.1 means 10 %. With `off`, `None` is a value too and lies beyond the maximum.
    """

    minimum: float = 0.0
    maximum: float = 1.0
    step: float = 0.05
    fine: float = 0.01
    log: bool = False
    off: bool = False

    def clamped(self, value: float | None) -> float | None:
        """Return the value within the range; `None` stays only where "off" exists."""
        if value is None or math.isnan(value):
            return None if self.off else self.maximum
        return min(self.maximum, max(self.minimum, value))

    def fraction(self, value: float) -> float:
        """Return where a value lies, 0 at the minimum and 1 at the maximum."""
        value = min(self.maximum, max(self.minimum, value))
        if self.log:
            return math.log(value / self.minimum) / math.log(self.maximum / self.minimum)
        return (value - self.minimum) / (self.maximum - self.minimum)

    def at(self, fraction: float) -> float:
        """Return the value at a fraction of the range, on the grid of fine steps."""
        fraction = min(1.0, max(0.0, fraction))
        if self.log:
            return _digits(self.minimum * (self.maximum / self.minimum) ** fraction)
        exact = self.minimum + fraction * (self.maximum - self.minimum)
        return _tidy(self.minimum + round((exact - self.minimum) / self.fine) * self.fine)

    def cell(self, value: float | None, cells: int) -> int:
        """Return which of `cells` cells a value falls on; with `off` the last one is for `None`."""
        if value is None:
            return cells - 1
        return round(self.fraction(value) * (cells - 1 - self.off))

    def at_cell(self, cell: int, cells: int) -> float | None:
        """Return the value a cell stands for: the inverse of `cell`, as near as cells allow."""
        if self.off and cell >= cells - 1:
            return None
        return self.clamped(self.at(cell / max(1, cells - 1 - self.off)))

    def moved(self, value: float | None, direction: int, fine: bool = False) -> float | None:
        """Return the value one step down (−1) or up (+1); linear scales go to the next multiple of
        the step.
        """
        if value is None:
            return self.maximum if direction < 0 else None
        if direction > 0 and self.off and value >= self.maximum:
            return None
        step = self.fine if fine else self.step
        if self.log:
            return self.clamped(_digits(value * (1 + step) ** direction))
        steps = (value - self.minimum) / step
        goal = math.floor(steps + 1e-9) + 1 if direction > 0 else math.ceil(steps - 1e-9) - 1
        return self.clamped(_tidy(self.minimum + goal * step))


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _tidy(value: float) -> float:
    """Undo the binary noise of a multiple of 0.01."""
    return round(value, 10) + 0.0


FULL, TRACK, HANDLE, TICK_FULL, TICK_REST = "━", "─", "●", "╋", "┼"
CHANGED = "•"
"""Stands behind the label while the value is not the default."""

_MIN_BAR = 6
_NUMBER = frozenset("0123456789.")
_MOST_TYPED = 12
"""Characters that a typed value has at most."""


def two_decimals(value: float) -> str:
    """Return a value with two decimals, the usual form of a weight."""
    return f"{value:.2f}"


class Slider(Widget, can_focus=True):
    """A number on a scale; `None` is its "off" state, where `off` (its words) is given.

    Left and right step, with shift finely; backspace goes back to `default`, which is the first
    value until it is set. Digits or enter start typing (enter takes the number, esc leaves it,
    leaving the slider takes it); what cannot be taken sends `Refused` and changes nothing. The
    wheel steps, a click on the bar sets. `ticks` are values marked on the bar. With two lines of
    height the second one shows `hint`. Load a value without a message with `with
    slider.prevent(Slider.Changed)`.
    """

    class Changed(FromWidget):
        """The value is another one than before."""

    class Refused(FromWidget):
        """What was typed is no value of this slider; `why` is a sentence that says so."""

        def __init__(self, slider: "Slider", why: str) -> None:
            super().__init__(slider)
            self.slider, self.why = slider, why

    ALLOW_SELECT = False
    BINDINGS = bindings(SLIDER)
    DEFAULT_CSS = """
    Slider {
        width: 1fr;
        height: 1;
        &:focus { background: $block-cursor-background; }
    }
    """

    value: reactive[float | None] = reactive[float | None](None, init=False)
    ticks: reactive[tuple[float, ...]] = reactive[tuple[float, ...]](())
    hint = reactive("")
    default: reactive[float | None] = reactive[float | None](None)
    current = reactive(False)
    """Whether keys of another widget move this slider; it says so while it has no focus."""
    typed: reactive[str | None] = reactive[str | None](None)
    """The digits typed so far; `None` when nobody types."""

    def __init__(
        self,
        label: str,
        value: float | None,
        scale: Scale | None = None,
        *,
        off: str = "",
        show: Callable[[float], str] = two_decimals,
        ticks: Sequence[float] = (),
        label_width: int = 12,
        value_width: int = 8,
        digits: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.label = label
        self.scale = scale or Scale()
        self._off = off or "off"
        self._show = show
        self._label_width = label_width
        self._value_width = value_width
        self._digits = digits
        self._dragging = False
        self.set_reactive(Slider.value, self.scale.clamped(value))
        self.set_reactive(Slider.default, self.scale.clamped(value))
        self.set_reactive(Slider.ticks, tuple(ticks))

    def validate_value(self, value: float | None) -> float | None:
        """Keep the value on the scale."""
        return self.scale.clamped(value)

    def watch_value(self) -> None:
        self.post_message(self.Changed(self))

    @property
    def shown_value(self) -> str:
        """The value as text: as typed so far, the words for "off", or the formatted number."""
        if self.typed is not None:
            return f"{self.typed}▏"
        return self._off if self.value is None else self._show(self.value)

    # Drawing

    def render(self) -> Content:
        """Return label, bar and value, and the hint where there is a second line."""
        width = self.content_size.width
        start, cells = self._bar_place(width)
        mark = CURSOR if self.has_focus else RESTING if self.current else " "
        changed = CHANGED if self.value != self.default else ""
        label = line(self.label, max(0, start - 4), "bold" if self.has_focus else "")
        head = Content(f"{mark} ") + label + Content.styled(f"{changed:1} ", "bold")
        shown = line(
            self.shown_value, self._value_width, "bold" if self.typed is not None else "", "right"
        )
        first = head + self._bar(cells) + Content(" ") + shown
        if self.content_size.height < 2:
            return first
        # What is not being moved has nothing to say of where it would change the order.
        hint = self.hint if self.has_focus or self.current else ""
        return joined(first, Content("  ") + line(hint, max(0, width - 2), MUTED))

    def _bar_place(self, width: int) -> tuple[int, int]:
        """Return where the bar starts and how many cells it has; the label gives way first."""
        label = min(self._label_width, max(0, width - 5 - self._value_width - _MIN_BAR))
        return label + 4, max(0, width - label - 5 - self._value_width)

    def _bar(self, cells: int) -> Content:
        handle = self.scale.cell(self.value, cells) if cells else 0
        ticks = {
            self.scale.cell(t, cells)
            for t in self.ticks
            if self.scale.minimum <= t <= self.scale.maximum
        }
        before = "".join(TICK_FULL if i in ticks else FULL for i in range(min(handle, cells)))
        after = "".join(TICK_REST if i in ticks else TRACK for i in range(handle + 1, cells))
        return assemble(
            [(before, "$accent"), (HANDLE if cells else "", "bold $accent"), (after, MUTED)]
        )

    # Keys

    def check_consume_key(self, key: str, character: str | None = None) -> bool:  # noqa: ARG002 - Textual's signature
        """Claim the characters of a value, so that nothing else takes them."""
        return self._is_typing(character)

    def _is_typing(self, character: str | None) -> bool:
        """Whether a character is part of a value: any, once somebody types, so that no letter runs
        an action.
        """
        if character is None or not character.isprintable():
            return False
        return self.typed is not None or (self._digits and character in _NUMBER)

    def on_key(self, event: events.Key) -> None:
        """Collect a typed value; any key that is no part of it takes the value and goes on."""
        if self._is_typing(event.character):
            typed = self.typed or ""
            again = event.character == "." in typed
            self.typed = typed if again else (typed + (event.character or ""))[:_MOST_TYPED]
        elif self.typed is None:
            return
        elif event.key == "backspace":
            self.typed = self.typed[:-1] or None
        elif event.key == "escape":
            self.typed = None
        else:
            self._take_typed()
            if event.key != "enter":
                return
        event.stop()
        event.prevent_default()

    def _take_typed(self) -> None:
        text, self.typed = (self.typed or "").strip(), None
        if not text or text == ".":
            return
        try:
            value = self._off_or_number(text)
        except ValueError as error:
            self.post_message(self.Refused(self, str(error)))
            return
        self.value = value

    def _off_or_number(self, text: str) -> float | None:
        """Read a typed value. Raises `ValueError` with a sentence that says what is wrong with it."""
        if self.scale.off and text.casefold() in ("off", self._off.casefold()):
            return None
        try:
            value = float(text.replace("−", "-").replace(",", "."))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"“{text}” is not a number.")
        if value < self.scale.minimum and self.scale.minimum >= 0:
            raise ValueError(f"“{text}” is too low: the least is {self._show(self.scale.minimum)}.")
        return value

    def on_blur(self) -> None:
        """Leaving the slider takes what was typed."""
        self._take_typed()

    def action_less(self) -> None:
        """One step down."""
        self.value = self.scale.moved(self.value, -1)

    def action_more(self) -> None:
        self.value = self.scale.moved(self.value, 1)

    def action_fine_less(self) -> None:
        """One fine step down."""
        self.value = self.scale.moved(self.value, -1, fine=True)

    def action_fine_more(self) -> None:
        self.value = self.scale.moved(self.value, 1, fine=True)

    def action_reset(self) -> None:
        """Back to the default."""
        self.value = self.default

    def action_above(self) -> None:
        self.screen.focus_previous(Slider)

    def action_below(self) -> None:
        self.screen.focus_next(Slider)

    def action_type(self) -> None:
        """Start typing a value."""
        self.typed = ""

    # Mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Put the handle where the bar is pressed, and follow the mouse."""
        start, cells = self._bar_place(self.content_size.width)
        offset = event.get_content_offset(self)
        if event.button != 1 or offset is None or offset.y or not start <= offset.x < start + cells:
            return
        self.typed = None
        self._dragging = True
        self.capture_mouse()
        self._put(offset.x)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """One step up, with shift or ctrl a fine one."""
        self._roll(event, self.action_fine_more if event.shift or event.ctrl else self.action_more)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """One step down, with shift or ctrl a fine one."""
        self._roll(event, self.action_fine_less if event.shift or event.ctrl else self.action_less)

    def _roll(self, event: events.MouseEvent, move: Callable[[], None]) -> None:
        event.stop()
        event.prevent_default()
        self.focus(scroll_visible=False)
        move()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse while the bar is held."""
        if self._dragging:
            self._put(event.x - self.gutter.left)

    def on_mouse_up(self) -> None:
        """Let go of the bar."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def _put(self, x: int) -> None:
        start, cells = self._bar_place(self.content_size.width)
        self.value = self.scale.at_cell(min(max(0, x - start), cells - 1), cells)
