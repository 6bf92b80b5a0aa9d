"""The column of sliders: one per parameter and one for `now`, with what the focused one means below."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from workbench.core.text import printable
from workbench.core.tuning.flips import Direction, Flip, just_beyond, nearest_flip
from workbench.core.tuning.profile import Factor, Profile, ProfileInUse
from workbench.core.words import only_stop_words
from workbench.services.safety.safety import Safety
from workbench.services.tuning.session import Move, Settings, TuningSession
from workbench.tui.app.host import Host
from workbench.tui.app.surviving import survives
from workbench.tui.tuning.parameters import (
    MACHINE,
    PARAMETERS,
    TIME,
    TIME_ABOUT,
    TIME_SCALE,
    Hints,
    Line,
    Parameter,
    Value,
    day_offset,
    draw,
    is_heading,
    key_of,
    legend,
    lines_of,
    missing,
    scope_texts,
    slider_label,
    slider_text,
    weight,
)
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.content import MUTED, assemble, keyed, line
from workbench.tui.widgets.figures import absolute, number
from workbench.tui.widgets.lists.fixed_text import FixedText
from workbench.tui.widgets.lists.line_list import LineView

# The live ranking: what was ranked and when, the rows, and what their marks mean.


Piece = tuple[Content, ...]
"""One thing to say, in several wordings, the longest first."""

_WARNING = "bold $text-warning"


@survives
class RankingPane(Vertical):
    """The list of a ranking between its title and its legend."""

    DEFAULT_CSS = """
    RankingPane {
        & .ranking--title, & .ranking--legend { height: 1; padding: 0 1; }
    }
    """

    def __init__(self, safety: Safety, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._safety = safety
        self._against = ""
        self._pieces: tuple[Piece, ...] = ()

    def compose(self) -> ComposeResult:
        """Build title, list and legend."""
        yield FixedText(classes="ranking--title")
        yield LineView(self._row, key_of, is_heading=is_heading, id="list")
        yield FixedText(classes="ranking--legend")

    @property
    def rows(self) -> LineView[Line]:
        return self.query_one("#list", LineView)

    def show(self, session: TuningSession, obstacle: str) -> None:
        """Show a ranking, or the obstacle in its place."""
        self.rows.set_empty(Content(obstacle))
        self.rows.set_rows(lines(session))
        self._pieces = tuple(title(session))
        self._against = session.saved.name
        self._show_frame()

    def _row(self, line: Line, width: int) -> Content:
        return draw(line, width, self._safety)

    def on_resize(self) -> None:
        """Draw title and legend for the width there is."""
        self._show_frame()

    def _show_frame(self) -> None:
        width = max(0, self.size.width - 2)
        self.query_one(".ranking--title", FixedText).write(as_many(self._pieces, width))
        self.query_one(".ranking--legend", FixedText).write(legend(width, self._against))


def lines(session: TuningSession) -> list[Line]:
    """Return the rows of a ranking, with the memory that somebody asked about."""
    standings, watched = session.standings(), session.watched_standing()
    return lines_of(standings, session.profile.k, watched, session.against) if standings or watched else []


def title(session: TuningSession) -> Iterator[Piece]:
    """Yield what stands above a ranking: how many, at which moved moment, by whose bounds, and what is odd."""
    if session.ranking is None or not len(session.ranking.pool):
        yield (Content.styled("ranking", "bold"),)
        return
    count, k = len(session.ranking.candidates), session.profile.k
    yield (Content.styled(f"Top {k} of {number(count)}" if k < count else f"All {number(count)} (k = {k})", "bold"),)
    if session.profile.candidates:
        only = printable(session.profile.candidates)
        yield (assemble([("only ", ""), (only, _WARNING)]), Content.styled("filtered", _WARNING))
    if session.days:
        moved = day_offset(session.days)
        yield (
            assemble([(f"as of {absolute(session.now)} ", ""), (f"({moved})", _WARNING)]),
            assemble([("now ", ""), (moved, _WARNING)]),
        )
    if session.profile.scope != "pool" and session.profile.scorer == "factors":
        yield tuple(Content.styled(text, MUTED) for text in scope_texts(session.profile))
    if session.question is not None and only_stop_words(session.question.text):
        texts = ("only common words: full text finds nothing", "only common words")
        yield tuple(Content.styled(text, _WARNING) for text in texts)
    if session.question is not None and (why := missing(session.question.standard)):
        yield tuple(Content.styled(text, MUTED) for text in why)
    yield (Content.styled("number = relevance", MUTED),)


def as_many(pieces: Sequence[Piece], width: int) -> Content:
    """Return the pieces side by side, each in its longest wording that there is room for; the others are left out."""
    shown = Content("")
    for piece in pieces:
        joined = [shown + Content.styled(" · ", MUTED) + text if shown.plain else text for text in piece]
        shown = next((line for line in joined if line.cell_length <= width), shown)
    return shown


LABEL_WIDTH, VALUE_WIDTH = 10, 10
_CHANGED = "bold $text-warning"


@survives
class TuneSliders(Vertical):
    """The sliders of all parameters: where they stand are the session's settings.

    `moved` is called when the session has ranked anew, within the very turn in which a value changes, not by a message
    some turns later: between them the screen would be painted once with the old ranking.
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

    def __init__(self, session: TuningSession, moved: Callable[[], None], used: Callable[[], ProfileInUse]) -> None:
        super().__init__(id="sliders")
        self._session = session
        self._moved = moved
        self._used = used
        self._loading = False
        self._flips: dict[Factor, tuple[Flip, ...]] = {}
        self._steps = ""
        self._last: Slider | None = None

    def compose(self) -> ComposeResult:
        """Build the name of the profile, the sliders by group, and what the focused one means."""
        yield FixedText(classes="slider--profile")
        with VerticalScroll(can_focus=False):
            group = ""
            for parameter in PARAMETERS:
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
        slider = Slider(
            parameter.label, parameter.get(self._profile), parameter.scale_for(self._profile), off=parameter.off,
            show=show, id=f"slider-{parameter.id}", classes="-two" if parameter.factor else "", digits=False,
            label_width=LABEL_WIDTH, value_width=VALUE_WIDTH,
        )  # fmt: skip
        slider.display = parameter.offered(self._profile, self._session.saved)
        return slider

    def _weight(self, parameter: Parameter, value: float) -> str:
        return f"{weight(value)} {parameter.share(self._profile):.0%}"

    def on_resize(self, event: events.Resize) -> None:
        """Give up the lines between where there are few, and the second lines of the weights."""
        self.set_class(event.size.height < 30, "-compact")
        self.set_class(event.size.height < 24, "-tight")
        self.call_after_refresh(self.show_head)

    def on_mount(self) -> None:
        """Follow every slider."""
        for slider in self.query(Slider):
            self.watch(slider, "value", partial(self._slid, slider), init=False)

    # What is shown

    @property
    def _profile(self) -> Profile:
        return self._session.profile

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
        weights = [p for p in PARAMETERS if p.factor]
        return {p.factor: self.query_one(f"#slider-{p.id}", Slider).scale.maximum for p in weights if p.factor}

    def show(self) -> None:
        """Put every slider where it stands in the session; the saved profile is where backspace leads."""
        profile, saved = self._session.profile, self._session.saved
        for parameter in PARAMETERS:
            slider = self.query_one(f"#slider-{parameter.id}", Slider)
            scale = max(parameter.scale_for(profile), parameter.scale_for(saved), key=lambda s: s.maximum)
            slider.scale = scale
            slider.disabled = bool(parameter.holds(profile))
            slider.display = parameter.offered(profile, saved)
            slider.default = scale.clamped(parameter.get(saved))
            self._load(slider, parameter.get(profile))
            slider.refresh()
        self._load(self.time, self._session.days)
        self.show_head()

    def _load(self, slider: Slider, value: Value) -> None:
        """Give a slider a value that nobody needs to be told of."""
        self._loading = True
        try:
            with slider.prevent(Slider.Changed):
                slider.value = value
        finally:
            self._loading = False

    def _refresh_shares(self) -> None:
        for parameter in PARAMETERS:
            if parameter.factor:
                self.query_one(f"#slider-{parameter.id}", Slider).refresh()

    def show_head(self) -> None:
        """Name the profile, and which one is in use.

        What there is no room for is left out whole, the word that it was changed last.
        """
        saved, changed = self._session.saved, self._session.changed
        head = self.query_one(".slider--profile", FixedText)
        mark, hint = (
            Content.styled(text, style)
            for text, style in ((" • changed", _CHANGED), (keyed("  {tune.save} saves"), MUTED))
        )
        room = max(0, head.size.width - (mark.cell_length if changed else 0))
        name = line(saved.name, min(24, room)).rstrip().stylize("bold")
        used = self._used()
        same = used.name == saved.name
        texts = (
            (f" in use ({used.origin})", f" ({used.origin})") if same else (f" agents: {used}", f" agents: {used.name}")
        )
        label = Content.styled("profile ", MUTED)
        shown = label + name if label.cell_length + name.cell_length <= room else name
        if changed:
            rest = room - shown.cell_length
            shown += mark + hint if hint.cell_length <= rest else mark
        else:
            in_use = (Content.styled(printable(text), MUTED) for text in texts)
            shown += next((text for text in in_use if shown.cell_length + text.cell_length <= room), Content(""))
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
        parameter, session = self._parameter(slider), self._session
        if parameter is None:
            session.move(TIME, Settings(session.profile, value or 0.0))
        else:
            session.move(parameter.id, Settings(parameter.put(session.profile, value), session.days))
            if parameter.factor:
                slider.hint = self._nearest(parameter.factor, value or 0.0)
                self._refresh_shares()
            if parameter.factor or parameter.constant(value):
                self._show_about()
            self.show_head()
        self._moved()

    def on_slider_changed(self, event: Slider.Changed) -> None:
        """Keep to itself what it followed already."""
        event.stop()

    @on(Slider.Refused)
    def _refused(self, event: Slider.Refused) -> None:
        self._say(f"{event.why} {event.slider.label} stays at {event.slider.shown_value}.", "warning")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show what the slider means, and mark it as the one that is moved from other panes too."""
        for slider in self.query(Slider):
            slider.current = slider is event.widget
        self._steps = ""
        self._show_about()
        self.post_message(self.Focused())

    def _parameter(self, slider: Slider) -> Parameter | None:
        return next((p for p in PARAMETERS if slider.id == f"slider-{p.id}"), None)

    def _say(self, text: str, severity: str = "information") -> None:
        cast(Host, self.app).say(text, severity)

    # Moving them all, or the current one from another pane

    def put(self, profile: Profile, saved: Profile) -> None:
        """Put the sliders where a profile has them, against a saved one."""
        self._session.load(profile, saved)
        self._follow()

    def revert(self) -> None:
        """Put every parameter back to the saved profile, and `now` to the time of the query."""
        self._session.revert()
        self._follow()

    def undo(self) -> bool:
        """Take back the last move since something was stored; return whether there was one."""
        return self._moved_to(self._session.undo(), "back")

    def redo(self) -> bool:
        """Make the move again that was taken back; return whether there was one."""
        return self._moved_to(self._session.redo(), "again")

    def _moved_to(self, move: Move | None, how: Literal["back", "again"]) -> bool:
        if move is not None:
            self._follow()
            there = move.before if how == "back" else move.after
            label, known = slider_label(move.slider, PARAMETERS), PARAMETERS
            self._say(f"{label} {how} to {slider_text(move.slider, there, known)}")
        return move is not None

    def _follow(self) -> None:
        self.show()
        self._moved()

    def nudge(self, move: Callable[[Slider], None]) -> None:
        """Move the current slider, or say why it has no effect."""
        slider, parameter = self.current, self.parameter
        if slider.disabled and parameter is not None:
            self._say(f"{slider.label} has no effect now: {parameter.holds(self._profile)}.")
        else:
            move(slider)

    def jump(self, direction: Direction) -> None:
        """Put the current weight just beyond the next value at which two rows swap, up (1) or down (-1)."""
        slider, parameter = self.current, self.parameter
        if parameter is None or parameter.factor is None:
            self._say("Flips are known for the three weights. Go to one of their sliders first.")
            return
        limit = slider.scale.maximum if direction > 0 else 0.0
        found = self._session.flips(parameter.factor, slider.scale.maximum) or ()
        flip = nearest_flip(found, slider.value or 0.0, direction)
        beyond = just_beyond(found, flip, direction, limit) if flip else None
        if beyond is None:
            self._say(f"No {'more' if direction > 0 else 'less'} {parameter.label} changes the order.")
        else:
            slider.value = beyond


def flip_text(flip: Flip) -> str:
    """Return "0.37: #4 ↔ #5"."""
    return f"{flip.value:.3g}: #{flip.place} ↔ #{flip.place + 1}"
