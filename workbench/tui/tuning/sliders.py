"""The column of sliders: one per parameter and one for `now`, with what the focused one means
below.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from workbench.core import record
from workbench.core.runtime import Cancelled
from workbench.core.text import one_line
from workbench.core.tuning.flips import Direction, Flip, just_beyond, nearest_flip
from workbench.core.tuning.profile import (
    FACTORS,
    KNOBS,
    WEIGHT_KEYS,
    Factor,
    Knob,
    Profile,
    ProfileInUse,
    value_of,
    weight_of,
    with_value,
)
from workbench.services.tuning.session import Settings, TuningSession, WeightChange
from workbench.tui.app.host import Host
from workbench.tui.app.private_names import Guarded
from workbench.tui.widgets.bars import Scale, Slider
from workbench.tui.widgets.content import MUTED, assemble, keyed
from workbench.tui.widgets.figures import FixedText, days, hourly, whole_words

# The parameters of a ranking as sliders show them: label, scale, and how a profile gets another
# value.


Value = float | None

TIME = "now"
"""The id of the slider that is no part of a profile: the days that `now` is moved by."""

TIME_SCALE = Scale(-180.0, 180.0, 5.0, 1.0)
LIFE_SCALE = Scale(1 / 24, 1000.0, 0.1, 0.02, log=True, off=True)


def weight(value: float) -> str:
    """Return a weight with two decimals, with more where it has more."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.4f}".rstrip("0")


def day_offset(value: float) -> str:
    """Return how far `now` is moved: "today", "+30 d"."""
    whole = round(value)
    return "today" if not whole else f"{'+' if whole > 0 else '−'}{abs(whole)}\u00a0d"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a profile that has a slider; `factor` is set for a weight."""

    knob: Knob
    factor: Factor | None = None
    whole: bool = False

    @property
    def id(self) -> str:
        return self.knob.id

    @property
    def label(self) -> str:
        return self.knob.label

    @property
    def full_label(self) -> str:
        """What it is called where its group is not in sight."""
        return f"half-life {self.label}" if self.knob.fading else self.label

    def get(self, profile: Profile) -> Value:
        return value_of(profile, self.knob.key)

    def put(self, profile: Profile, value: Value) -> Profile:
        return with_value(profile, self.knob.key, round(value or 1) if self.whole else value)

    def text(self, value: Value) -> str:
        """Return a value as the slider shows it."""
        if value is None:
            return "never"
        return days(value) if self.knob.days else f"{value:.0f}" if self.whole else weight(value)

    def share(self, profile: Profile) -> float:
        """Return which part of all weights a weight is."""
        total = sum(weight_of(profile, key) for key in WEIGHT_KEYS)
        return (self.get(profile) or 0.0) / total if total else 0.0

    def scale(self, *profiles: Profile) -> Scale:
        """Return the scale, long enough for the values of the profiles; the weights share the
        longest of theirs.
        """
        knob, keys = self.knob, WEIGHT_KEYS if self.factor else (self.knob.key,)
        if knob.days:
            return LIFE_SCALE
        most = max(value_of(profile, key) or 0.0 for profile in profiles for key in keys)
        # A whole number of steps keeps the grid of the slider.
        high = knob.high if most <= knob.high else float(-(-most // 1))
        return Scale(1.0 if self.whole else 0.0, high, knob.step, knob.fine)

    def constant(self, value: Value) -> str:
        """Return the hourly factor that a half-life comes to, as the sources print it; empty for
        other parameters.
        """
        return hourly(value) if self.knob.days and value else ""

    def offered(self, *profiles: Profile) -> bool:
        """Tell whether the slider is of use under one of some profiles: of words one by one, or
        where it is moved.
        """
        moved = (p.lexical == "absolute" or self.get(p) != self.knob.default for p in profiles)
        return not self.knob.talk or any(moved)

    def holds(self, profile: Profile) -> str:
        """Return why the parameter has no effect under a profile, or an empty text."""
        if profile.scorer == "episodic" and not self.knob.episodes:
            return "the score of episodes has no such part"
        if self.knob.by_word and profile.lexical != "absolute":
            return "full text counts as BM25"
        if not self.knob.fading or profile.fades:
            return ""
        return "recency is off" if profile.mode == "off" else "recency goes by rank"


def _weight(factor: Factor) -> Parameter:
    knob = Knob(
        factor.id, factor.weight, factor.label, "weights", factor.words, episodes=factor.episodes
    )
    return Parameter(knob, factor)


K = Parameter(
    Knob(
        "k",
        "k",
        "served (k)",
        "result",
        "How many memories an agent is served.",
        50.0,
        1.0,
        1.0,
        None,
        episodes=True,
    ),
    whole=True,
)
WEIGHTS = tuple(map(_weight, FACTORS))
ADVANCED = (*map(Parameter, KNOBS), K)
PARAMETERS = (*WEIGHTS, *ADVANCED)
"""Every parameter that has a slider, in the order of the screen; only the weights are always in sight."""

LABEL_CELLS = 14
ADVANCED_WORDS = "\nHalf-lives, votes, how texts match, how many are served, and the time machine."
SWAPS = (
    "{tune.previous-flip} and {tune.next-flip} move it just beyond the value where two rows swap."
)


class AdvancedLine(Guarded, Static):
    """Says how many sliders there are besides; a click shows or hides them."""

    ALLOW_SELECT = False

    async def on_click(self) -> None:
        """Press the key that it names."""
        await self.screen.run_action("do('sliders.turn_advanced')")


class TuneSliders(Guarded, Vertical):
    """The sliders of all parameters: where they stand are the session's settings.

    `moved` is called when the session has ranked anew, within the very turn in which a value
    changes, not by a message some turns later: between them the screen would be painted once with
    the old ranking.
    """

    class Focused(Message):
        """Another slider has the focus, so another hint is wanted."""

    DEFAULT_CSS = """
    TuneSliders {
        & VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
        & .slider--words { height: auto; padding: 0 1 0 2; color: $text-muted; }
        & .slider--advanced { height: auto; padding: 0 1; margin-top: 1; }
        & #advanced { height: auto; display: none; }
        & .slider--group { height: 1; padding: 0 1; color: $text-muted; margin-top: 1; }
        & .slider--about { height: 5; padding: 0 1; border-top: solid $panel; }
        &.-advanced #advanced { display: block; }
        &.-advanced.-compact .slider--words { display: none; }
        &.-advanced.-compact .slider--group { margin-top: 0; }
        &.-advanced.-compact .-relevance, &.-advanced.-compact .-result { display: none; }
        &.-advanced.-compact .-time { display: none; }
        &.-advanced.-tight Slider.-two { height: 1; }
        & Slider.-two { height: 2; }
        & Slider:disabled { color: $text-disabled; text-opacity: 100%; }
    }
    """

    def __init__(
        self, session: TuningSession, moved: Callable[[], None], used: Callable[[], ProfileInUse]
    ) -> None:
        super().__init__(id="sliders", classes="pane")
        self._session = session
        self._moved = moved
        self._used = used
        self._loading = False
        self._hints = Hints()
        self._last: Slider | None = None

    def compose(self) -> ComposeResult:
        """Build the name of the profile, the sliders by group, and what the focused one means."""
        with VerticalScroll(can_focus=False):
            for parameter in WEIGHTS:
                yield self._slider(parameter)
                yield Static(Content(parameter.knob.words), classes="slider--words")
            yield AdvancedLine(classes="slider--advanced")
            with Vertical(id="advanced"):
                yield from self._advanced()
        yield FixedText(classes="slider--about")

    def _advanced(self) -> Iterator[Widget]:
        group = ""
        for parameter in ADVANCED:
            if parameter.knob.group != group:
                group = parameter.knob.group
                yield Static(Content(group), classes=f"slider--group -{group.split()[0]}")
            yield self._slider(parameter)
        yield Static(Content("time machine"), classes="slider--group -time")
        yield Slider(
            TIME, 0.0, TIME_SCALE, show=day_offset, id="slider-now",
            digits=False, label_width=LABEL_CELLS, value_width=8,
        )  # fmt: skip

    def _slider(self, parameter: Parameter) -> Slider:
        profile, saved = self._session.profile, self._session.saved
        slider = Slider(
            parameter.label, parameter.get(profile), parameter.scale(profile, saved), off=parameter.text(None),
            show=partial(self._shown, parameter), id=f"slider-{parameter.id}",
            classes="-two" if parameter.factor else "", digits=False, label_width=LABEL_CELLS,
            value_width=10 if parameter.factor else 8,
        )  # fmt: skip
        slider.display = parameter.offered(profile, saved)
        return slider

    def _shown(self, parameter: Parameter, value: float) -> str:
        share = f" {parameter.share(self._session.profile):.0%}" if parameter.factor else ""
        return f"{parameter.text(value)}{share}"

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

    def _of(self, parameter: Parameter) -> Slider:
        return self.query_one(f"#slider-{parameter.id}", Slider)

    @property
    def time(self) -> Slider:
        """The slider that moves `now`."""
        return self.query_one("#slider-now", Slider)

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

    def _parameter(self, slider: Slider) -> Parameter | None:
        return next((p for p in PARAMETERS if slider.id == f"slider-{p.id}"), None)

    def show(self) -> None:
        """Put every slider where it stands in the session; the saved profile is where backspace
        leads.
        """
        profile, saved = self._session.profile, self._session.saved
        for parameter in PARAMETERS:
            slider = self._of(parameter)
            slider.scale = scale = parameter.scale(profile, saved)
            slider.disabled = bool(parameter.holds(profile))
            slider.display = parameter.offered(profile, saved)
            slider.default = scale.clamped(parameter.get(saved))
            self._load(slider, parameter.get(profile))
            slider.refresh()
        self._load(self.time, self._session.days)
        self.show_head()

    def turn_advanced(self) -> None:
        """Show the sliders beside the weights, or hide them; the hand goes to one that is in sight."""
        self.toggle_class("-advanced")
        self._last = None
        where = "#advanced Slider" if self.has_class("-advanced") else "Slider"
        wanted = next(one for one in self.query(where).results(Slider) if one.display)
        self.call_after_refresh(wanted.focus)
        self.show_head()

    def _show_advanced(self) -> None:
        """Say how many sliders are not in sight, and how many of them were moved."""
        profile, saved = self._session.profile, self._session.saved
        shown = [p for p in ADVANCED if p.offered(profile, saved)]
        moved = sum(p.get(profile) != p.get(saved) for p in shown) + bool(self._session.days)
        is_open = self.has_class("-advanced")
        verb = "hides them" if is_open else f"shows {len(shown) + 1} more"
        pieces = [
            ("Advanced", "bold"),
            (keyed(f"  {{tune.advanced}} {verb}"), MUTED),
            (f"\n{moved} changed" if moved else "", ""),
            ("" if is_open or moved else ADVANCED_WORDS, MUTED),
        ]
        self.query_one(AdvancedLine).update(assemble(pieces))

    def _load(self, slider: Slider, value: Value) -> None:
        """Give a slider a value that nobody needs to be told of."""
        self._loading = True
        try:
            with slider.prevent(Slider.Changed):
                slider.value = value
        finally:
            self._loading = False

    def show_head(self) -> None:
        """Name the profile, and which one is in use."""
        self._show_advanced()
        saved, used = self._session.saved, self._used()
        if self._session.changed:
            text = f" • changed  {keyed('{tune.save} saves')}"
        elif used.name == saved.name:
            text = f" ({used.origin})"
        else:
            text = f" agents: {one_line(used.name, 60)}"
        name = one_line(saved.name, 18)
        self.border_title = whole_words(Content(f"profile {name}{text}"), self.size.width - 3)

    # Hints

    def show_hints(self, hints: "Hints") -> None:
        """Mark where the order changes along each weight, and say what one step of another slider
        would move.
        """
        self._hints = hints
        for parameter in WEIGHTS:
            slider = self._of(parameter)
            slider.ticks = tuple(flip.value for flip in hints.flips.get(parameter.id) or ())
            slider.hint = self._nearest(parameter, slider.value or 0.0)
        self._show_about()

    def _nearest(self, parameter: Parameter, value: float, between: str = " · ") -> str:
        flips = self._hints.flips.get(parameter.id)
        if flips is None:
            return ""
        near = (nearest_flip(flips, value, -1), nearest_flip(flips, value, 1))
        swaps = between.join(
            f"{flip.value:.3g}: #{flip.place} ↔ #{flip.place + 1}" for flip in near if flip
        )
        return swaps or "no value swaps any rows"

    def _show_about(self) -> None:
        parameter, slider = self.parameter, self.current
        if parameter is None:
            about, hint = "As if it were earlier or later.", self._hints.steps
        else:
            about, hint = (
                parameter.knob.words,
                "\n".join(filter(None, (parameter.constant(slider.value), self._hints.steps))),
            )
            if slider.disabled:
                about = f"No effect: {parameter.holds(self._session.profile)}."
            if parameter.factor and slider.size.height < 2:
                hint = self._nearest(parameter, slider.value or 0.0, "\n")
            elif parameter.factor:
                # The swaps and, with room, what it does stand below the slider already.
                about, hint = keyed(SWAPS), ""
        text = assemble([(about, ""), (f"\n{hint}" if hint else "", MUTED)])
        self.query_one(".slider--about", FixedText).write(text)

    # What happened

    def _slid(self, slider: Slider, value: Value) -> None:
        if self._loading:
            return
        parameter, session = self._parameter(slider), self._session
        if parameter is None:
            session.move(TIME, Settings(session.profile, value or 0.0))
            self._show_advanced()
        else:
            session.move(
                parameter.id, Settings(parameter.put(session.profile, value), session.days)
            )
            if parameter.factor:
                slider.hint = self._nearest(parameter, value or 0.0)
                for other in WEIGHTS:
                    self._of(other).refresh()
            self._show_about()
            self.show_head()
        self._moved()

    def on_slider_changed(self, event: Slider.Changed) -> None:
        """Keep to itself what it followed already."""
        event.stop()

    @on(Slider.Refused)
    def _refused(self, event: Slider.Refused) -> None:
        self._say(f"{event.why} {event.slider.label} stays at {event.slider.shown_value}.")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show what the slider means, and mark it as the one that is moved from other panes too."""
        for slider in self.query(Slider):
            slider.current = slider is event.widget
        self._hints = replace(self._hints, steps="")
        self._show_about()
        self.post_message(self.Focused())

    def _say(self, text: str) -> None:
        cast(Host, self.app).say(text)

    # Moving them all, or the current one from another pane

    def put(self, profile: Profile, saved: Profile, days: float | None = None) -> None:
        """Put the sliders where a profile has them, against a saved one."""
        self._session.load(profile, saved, days)
        self._follow()

    def undo(self, *, again: bool = False) -> bool:
        """Take back the last move since something was stored, or make it `again`; return whether
        there was one.
        """
        session = self._session
        move = session.redo() if again else session.undo()
        if move is None:
            return False
        self._follow()
        parameter = next((p for p in PARAMETERS if p.id == move.slider), None)
        label, there = move.slider or "the sliders", "where they stood"
        if move.slider == TIME:
            there = day_offset(session.days)
        elif parameter is not None:
            label, there = parameter.full_label, parameter.text(parameter.get(session.profile))
        self._say(f"{label} {'again' if again else 'back'} to {there}")
        return True

    def _follow(self) -> None:
        self.show()
        self._moved()

    def nudge(self, move: str) -> None:
        """Move the current slider, or say why it has no effect."""
        slider, parameter = self.current, self.parameter
        if slider.disabled and parameter is not None:
            self._say(
                f"{slider.label} has no effect now: {parameter.holds(self._session.profile)}."
            )
        else:
            getattr(slider, f"action_{move}")()

    @property
    def highs(self) -> list[float]:
        """The upper ends of the weights' scales."""
        return [self._of(parameter).scale.maximum for parameter in WEIGHTS]

    def take(self, change: WeightChange) -> None:
        """Put a weight where a change has it, and the hand on its slider."""
        slider = self.query_one(f"#slider-{change.factor.id}", Slider)
        slider.value = change.then
        slider.focus()

    def jump(self, direction: Direction) -> None:
        """Put the current weight just beyond the next value at which two rows swap, up (1) or down
        (-1).
        """
        slider, parameter = self.current, self.parameter
        if parameter is None or parameter.factor is None:
            self._say("Flips are known for the three weights. Go to one of their sliders first.")
            return
        found = self._session.flips(parameter.factor, slider.scale.maximum) or ()
        flip = nearest_flip(found, slider.value or 0.0, direction)
        limit = slider.scale.maximum if direction > 0 else 0.0
        beyond = just_beyond(found, flip, direction, limit) if flip else None
        if beyond is None:
            self._say(
                f"No {'more' if direction > 0 else 'less'} {parameter.label} changes the order."
            )
        else:
            slider.value = beyond


# What takes longer than a frame: where weights swap rows, what a step moves, what brings a memory
# into the top.


@dataclass(frozen=True, slots=True)
class WayIn:
    """One parameter's value that would bring a memory into the top, and the value it has now."""

    label: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Hints:
    """Where weights swap rows (`None`: nothing is ranked), what a step moves, and what brings
    `memory` into the top.

    `every` tells whether every parameter was tried for `ways`, not only the weights.
    """

    flips: Mapping[str, tuple[Flip, ...] | None] = field(default_factory=dict)
    steps: str = ""
    memory: str = ""
    ways: tuple[WayIn, ...] = ()
    every: bool = False


def hints_of(
    session: TuningSession,
    parameter: Parameter | None,
    memory: str,
    cancelled: Cancelled = lambda: False,
) -> Iterator[Hints]:
    """Yield the hints for a slider (`None`: `now`) and a memory; for one that is watched, all ways
    in after that.
    """
    steps = "" if parameter and parameter.factor else steps_of(session, parameter)
    highs = [p.scale(session.profile, session.saved).maximum for p in WEIGHTS]
    flips = {
        p.id: session.flips(p.factor, high)
        for p, high in zip(WEIGHTS, highs, strict=True)
        if p.factor
    }
    ways = tuple(
        WayIn(w.factor.label, weight(w.then), weight(w.now)) for w in session.ways(memory, highs)
    )
    hints = Hints(flips, steps, memory, ways)
    yield hints
    standing = session.standing(memory) if memory and memory == session.watched else None
    if standing is not None and (standing.place or 0) > session.profile.k:
        yield replace(hints, ways=(*ways, *other_ways(session, memory, cancelled)), every=True)


def steps_of(session: TuningSession, parameter: Parameter | None) -> str:
    """Return how many of the top would change one step to either side of a parameter (`None`:
    `now`).
    """
    if session.ranking is None or not session.ranking.ids:
        return ""
    here = session.days if parameter is None else parameter.get(session.profile)
    scale = TIME_SCALE if parameter is None else parameter.scale(session.profile)
    texts = []
    for arrow, direction in (("←", -1), ("→", 1)):
        there = scale.moved(here, direction)
        if there != here:
            profile = (
                session.profile if parameter is None else parameter.put(session.profile, there)
            )
            now = (
                record.moved(session.asked_at, timedelta(days=there or 0.0))
                if parameter is None
                else session.now
            )
            moved = session.moved(profile, now)
            texts.append(
                f"{arrow} {moved or 'none'} of {session.profile.k} {'moves' if moved == 1 else 'move'}"
            )
    return " · ".join(texts)


def other_ways(session: TuningSession, id: str, cancelled: Cancelled) -> Iterable[WayIn]:
    """Try every step of the parameters that are no weights; takes some hundred rankings."""
    found: list[tuple[int, WayIn]] = []
    for parameter in ADVANCED:
        if parameter.offered(session.profile, session.saved) and not parameter.holds(
            session.profile
        ):
            found += (hit for d in (-1, 1) if (hit := _first(session, parameter, d, id, cancelled)))
    return (way for _, way in sorted(found, key=lambda hit: hit[0]))


def _first(
    session: TuningSession, parameter: Parameter, direction: int, id: str, cancelled: Cancelled
) -> tuple[int, WayIn] | None:
    """Return the first step to one side that brings a memory into the top, and how many steps it
    takes.
    """
    scale, here = parameter.scale(session.profile), parameter.get(session.profile)
    value, steps = here, 0
    while (
        session.question and not cancelled() and (there := scale.moved(value, direction)) != value
    ):
        value, steps = there, steps + 1
        profile = parameter.put(session.profile, value)
        place = session.question.rank(profile, session.now, 1).place_of(id)
        if place is not None and place <= profile.k:
            return steps, WayIn(parameter.full_label, parameter.text(value), parameter.text(here))
    return None
