"""The column of sliders: one per parameter and one for `now`, with what the focused one means below."""

from collections.abc import Callable, Sequence
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from workbench.core.tuning.factors import Factor
from workbench.core.tuning.flips import Flip, nearest_flip
from workbench.core.tuning.profile import Profile
from workbench.tui.app.surviving import survives
from workbench.tui.tuning.hints import Hints
from workbench.tui.tuning.parameters import (
    MACHINE,
    PARAMETERS,
    TIME,
    TIME_ABOUT,
    TIME_SCALE,
    Parameter,
    Value,
    day_offset,
    weight,
)
from workbench.tui.widgets.bars.slider import Slider
from workbench.tui.widgets.content import MUTED, assemble, line
from workbench.tui.widgets.lists.fixed_text import FixedText

LABEL_WIDTH, VALUE_WIDTH = 10, 10
_CHANGED = "bold $text-warning"

Moved = Callable[[Parameter | None, Value], None]
"""Is told which parameter has which new value; `None` is the slider that moves `now`."""


@survives
class TuneSliders(Vertical):
    """The sliders of all parameters.

    `moved` is called within the very turn in which a value changes, not by a message some turns later: between
    them the screen would be painted once with the old ranking.
    """

    class Focused(Message):
        """Another slider has the focus, so another hint is wanted."""

    DEFAULT_CSS = """
    TuneSliders {
        & .slider--profile { height: 1; padding: 0 1; }
        & VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
        & .slider--group { height: 1; padding: 0 1; color: $text-muted; margin-top: 1; }
        & .slider--about { height: 4; padding: 0 1; border-top: solid $panel; }
        &.-compact .slider--group { margin-top: 0; }
        &.-compact .-weights, &.-compact .-relevance, &.-compact .-result, &.-compact .-time { display: none; }
        &.-tight Slider.-two { height: 1; }
        & Slider.-two { height: 2; }
        & Slider:disabled { color: $text-disabled; text-opacity: 100%; }
    }
    """

    def __init__(
        self, profile: Profile, moved: Moved, parameters: Sequence[Parameter] = PARAMETERS, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._profile = profile
        self._parameters = parameters
        self._moved = moved
        self._saved = profile
        self._loading = False
        self._flips: dict[Factor, tuple[Flip, ...]] = {}
        self._steps = ""
        self._last: Slider | None = None

    def compose(self) -> ComposeResult:
        """Build the name of the profile, the sliders by group, and what the focused one means."""
        yield FixedText(classes="slider--profile")
        with VerticalScroll(can_focus=False):
            group = ""
            for parameter in self._parameters:
                if parameter.group != group:
                    group = parameter.group
                    yield Static(Content(group), classes=f"slider--group -{group.split()[0]}")
                yield self._slider(parameter)
            yield Static(Content(MACHINE), classes="slider--group -time")
            yield Slider(
                "now", 0.0, TIME_SCALE, show=day_offset, id=f"slider-{TIME}", digits=False,
                label_width=LABEL_WIDTH, value_width=VALUE_WIDTH,
            )  # fmt: skip
        yield FixedText(classes="slider--about")

    def _slider(self, parameter: Parameter) -> Slider:
        show = partial(self._weight, parameter) if parameter.factor else parameter.show
        return Slider(
            parameter.label, parameter.get(self._profile), parameter.scale_for(self._profile), off=parameter.off,
            show=show, id=f"slider-{parameter.id}", classes="-two" if parameter.factor else "", digits=False,
            label_width=LABEL_WIDTH, value_width=VALUE_WIDTH,
        )  # fmt: skip

    def _weight(self, parameter: Parameter, value: float) -> str:
        return f"{weight(value)} {parameter.share(self._profile):.0%}"

    def on_resize(self, event: events.Resize) -> None:
        """Give up the lines between where there are few, and the second lines of the weights."""
        self.set_class(event.size.height < 30, "-compact")
        self.set_class(event.size.height < 24, "-tight")
        self.call_after_refresh(self._head, self._saved)

    def on_mount(self) -> None:
        """Follow every slider."""
        for slider in self.query(Slider):
            self.watch(slider, "value", partial(self._slid, slider), init=False)

    # What is shown

    @property
    def time(self) -> Slider:
        """The slider that moves `now`."""
        return self.query_one(f"#slider-{TIME}", Slider)

    @property
    def current(self) -> Slider:
        """The slider that has the focus, or had it last."""
        focused = self.screen.focused
        if isinstance(focused, Slider):
            self._last = focused
        return self._last or self.query(Slider).first()

    @property
    def parameter(self) -> Parameter | None:
        """The parameter of the current slider; `None` for the one that moves `now`."""
        return self._parameter(self.current)

    @property
    def highs(self) -> dict[Factor, float]:
        """The upper ends of the scales of the weights."""
        weights = [p for p in self._parameters if p.factor]
        return {p.factor: self.query_one(f"#slider-{p.id}", Slider).scale.maximum for p in weights if p.factor}

    def show(self, profile: Profile, saved: Profile) -> None:
        """Put every slider where a profile has it; `saved` is where backspace leads."""
        self._profile = profile
        for parameter in self._parameters:
            slider = self.query_one(f"#slider-{parameter.id}", Slider)
            scale = max(parameter.scale_for(profile), parameter.scale_for(saved), key=lambda s: s.maximum)
            slider.scale = scale
            slider.disabled = bool(parameter.holds(profile))
            slider.default = scale.clamped(parameter.get(saved))
            self._load(slider, parameter.get(profile))
            slider.refresh()
        self._head(saved)

    def show_time(self, days: float) -> None:
        """Put the slider of `now` to so many days."""
        self._load(self.time, days)

    def _load(self, slider: Slider, value: Value) -> None:
        """Give a slider a value that nobody needs to be told of."""
        self._loading = True
        try:
            with slider.prevent(Slider.Changed):
                slider.value = value
        finally:
            self._loading = False

    def follow(self, moved: Parameter, profile: Profile, saved: Profile) -> None:
        """Take notice that one slider moved: the shares of the weights and the name of the profile follow."""
        self._profile = profile
        if moved.factor:
            for parameter in self._parameters:
                if parameter.factor:
                    self.query_one(f"#slider-{parameter.id}", Slider).refresh()
        self._head(saved)

    def why_disabled(self, slider: Slider) -> str:
        """Return why a slider has no effect."""
        parameter = self._parameter(slider)
        return parameter.holds(self._profile) if parameter else ""

    def _head(self, saved: Profile) -> None:
        """Name the profile; what there is no room for is left out whole, the word that it was changed last."""
        self._saved, changed = saved, self._profile != saved
        head = self.query_one(".slider--profile", FixedText)
        mark, hint = (Content.styled(text, style) for text, style in ((" • changed", _CHANGED), ("  s saves", MUTED)))
        room = max(0, head.size.width - (mark.cell_length if changed else 0))
        name = line(saved.name, min(24, room)).rstrip().stylize("bold")
        label = Content.styled("profile ", MUTED)
        shown = label + name if label.cell_length + name.cell_length <= room else name
        if changed:
            rest = room - shown.cell_length
            shown += mark + hint if hint.cell_length <= rest else mark
        head.write(shown)

    # Hints

    def show_hints(self, hints: Hints) -> None:
        """Mark where the order changes along each weight, and say what one step of another slider would move."""
        self._steps = hints.steps
        self._flips = {factor: found for factor, found in hints.flips.items() if found is not None}
        for factor in hints.flips:
            slider = self.query_one(f"#slider-{factor.id}", Slider)
            slider.ticks = tuple(f.value for f in self._flips.get(factor, ()))
            slider.hint = self._nearest(factor, slider.value or 0.0)
        self._show_about()

    def _nearest(self, factor: Factor, value: float, between: str = " · ") -> str:
        found = self._flips.get(factor, ())
        texts = [flip_text(f) for f in (nearest_flip(found, value, -1), nearest_flip(found, value, 1)) if f]
        return between.join(texts) or ("no value swaps any rows" if factor in self._flips else "")

    def _show_about(self) -> None:
        parameter, slider = self.parameter, self.current
        about = TIME_ABOUT if parameter is None else parameter.about
        if slider.disabled and parameter:
            about = f"No effect: {parameter.holds(self._profile)}."
        constant = parameter.constant(slider.value) if parameter else ""
        hint = "\n".join(filter(None, (constant, self._steps)))
        if parameter and parameter.factor:
            # Where the weights have a second line, the swaps stand there already.
            narrow = slider.size.height < 2
            hint = self._nearest(parameter.factor, slider.value or 0.0, "\n") if narrow else ""
        text = assemble([(about, ""), (f"\n{hint}" if hint else "", MUTED)])
        self.query_one(".slider--about", FixedText).write(text)

    # What happened

    def _slid(self, slider: Slider, value: Value) -> None:
        if self._loading:
            return
        parameter = self._parameter(slider)
        if parameter and parameter.factor:
            slider.hint = self._nearest(parameter.factor, value or 0.0)
            self._profile = parameter.put(self._profile, value)
        if parameter and (parameter.factor or parameter.constant(value)):
            self._show_about()
        self._moved(parameter, value)

    def on_slider_changed(self, event: Slider.Changed) -> None:
        """Keep to itself what it followed already."""
        event.stop()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show what the slider means, and mark it as the one that is moved from other panes too."""
        for slider in self.query(Slider):
            slider.current = slider is event.widget
        self._steps = ""
        self._show_about()
        self.post_message(self.Focused())

    def _parameter(self, slider: Slider) -> Parameter | None:
        return next((p for p in self._parameters if slider.id == f"slider-{p.id}"), None)


def flip_text(flip: Flip) -> str:
    """Return "0.37: #4 ⇄ #5"."""
    return f"{flip.value:.4g}: #{flip.place} ⇄ #{flip.place + 1}"
