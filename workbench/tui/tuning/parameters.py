"""The parameters of a ranking as sliders show them: label, scale, and how a profile gets another value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from workbench.core.tuning.factors import FACTORS, KNOBS, WEIGHT_KEYS, Factor, Knob
from workbench.core.tuning.profile import Profile, value_of, weight_of, with_value
from workbench.services.tuning.session import Settings
from workbench.tui.widgets.bars.scale import Scale
from workbench.tui.widgets.figures import days, hourly

Value = float | None

WEIGHTS, RESULT = "weights", "result"
MACHINE = "time machine"

TIME = "now"
"""The id of the slider that is no part of a profile: the days that `now` is moved by."""

TIME_SCALE = Scale(-180.0, 180.0, 5.0, 1.0)


def weight(value: float) -> str:
    """Return a weight with two decimals, with more where it has more."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.4f}".rstrip("0")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a profile; `factor` is set for a weight, `off` says what `None` means.

    A weight's scale is as long as that of the longest weight. `fading` ones count only while recency fades
    with time, `by_word` ones only while full text counts word by word, and what the score of episodes lacks has no
    effect on it.
    """

    id: str
    label: str
    group: str
    about: str
    get: Callable[[Profile], Value]
    put: Callable[[Profile, Value], Profile]
    scale: Scale = field(default_factory=Scale)
    show: Callable[[float], str] = weight
    off: str = ""
    factor: Factor | None = None
    fading: bool = False
    episodes: bool = True
    by_word: bool = False
    talk: bool = False
    default: Value = None

    @property
    def full_label(self) -> str:
        """What it is called where its group is not in sight."""
        return f"half-life {self.label}" if self.fading else self.label

    def share(self, profile: Profile) -> float:
        """Return which part of all weights a weight is."""
        total = sum(weight_of(profile, key) for key in WEIGHT_KEYS)
        return (self.get(profile) or 0.0) / total if total else 0.0

    def scale_for(self, profile: Profile) -> Scale:
        """Return the scale, long enough for the profile's value; the weights share the longest of theirs."""
        values = [weight_of(profile, key) for key in WEIGHT_KEYS] if self.factor else [self.get(profile)]
        most = max((v for v in values if v is not None), default=0.0)
        if most <= self.scale.maximum:
            return self.scale
        # A whole number of steps keeps the grid of the slider.
        return replace(self.scale, maximum=-(-most // 1) * 1.0)

    def text(self, value: Value) -> str:
        """Return a value as the slider shows it."""
        return self.off if value is None else self.show(value)

    def constant(self, value: Value) -> str:
        """Return the hourly factor that a half-life comes to, as the sources print it; empty for other parameters."""
        return hourly(value) if self.show is days and value else ""

    def offered(self, *profiles: Profile) -> bool:
        """Tell whether the slider is of use under one of some profiles: of words one by one, or where it is moved."""
        return not self.talk or any(p.lexical == "absolute" or self.get(p) != self.default for p in profiles)

    def holds(self, profile: Profile) -> str:
        """Return why the parameter has no effect under a profile, or an empty text."""
        if profile.scorer == "episodic" and not self.episodes:
            return "the score of episodes has no such part"
        if self.by_word and profile.lexical != "absolute":
            return "full text counts as BM25"
        if not self.fading or profile.fades:
            return ""
        return "recency is off" if profile.mode == "off" else "recency goes by rank"


def scope_texts(profile: Profile) -> tuple[str, str]:
    """Return whose minimum and maximum make each factor go from 0 to 1, in more words and in fewer."""
    if profile.scope == "top":
        return f"0 to 1 over the {profile.top_n} most relevant", f"over the top {profile.top_n}"
    return (
        ("0 to 1 by frozen bounds", "frozen bounds") if profile.scope == "frozen" else ("0 to 1 over all", "over all")
    )


def day_offset(value: float) -> str:
    """Return how far `now` is moved: "today", "+30 d"."""
    whole = round(value)
    return "today" if not whole else f"{'+' if whole > 0 else '−'}{abs(whole)}\u00a0d"


_LIFE = Scale(1 / 24, 1000.0, 0.1, 0.02, log=True, off=True)


def _get(key: str, default: float | None, profile: Profile) -> Value:
    return value_of(profile, key, default)


def _put(key: str, default: float | None, profile: Profile, value: Value) -> Profile:
    return with_value(profile, key, value, default)


def _put_k(profile: Profile, value: Value) -> Profile:
    return replace(profile, k=round(value or 1))


def _weight(factor: Factor) -> Parameter:
    get, put = partial(_get, factor.weight, 0.0), partial(_put, factor.weight, 0.0)
    return Parameter(
        factor.id, factor.label, WEIGHTS, factor.words, get, put,
        factor=factor, episodes=factor.episodes,
    )  # fmt: skip


def _of_knob(knob: Knob) -> Parameter:
    get, put = partial(_get, knob.key, knob.default), partial(_put, knob.key, knob.default)
    scale = _LIFE if knob.days else Scale(0.0, knob.high, knob.step, knob.fine)
    return Parameter(
        knob.id, knob.label, knob.group, knob.words, get, put, scale, days if knob.days else weight,
        "never" if knob.days else "", fading=knob.fading, episodes=knob.episodes, by_word=knob.by_word,
        talk=knob.talk, default=knob.default,
    )  # fmt: skip


_K = Parameter(
    "k", "k", RESULT, "How many an agent is served.", partial(_get, "k", None), _put_k, Scale(1.0, 50.0, 1.0, 1.0),
    lambda value: f"{value:.0f}",
)  # fmt: skip


PARAMETERS = (*map(_weight, FACTORS), *map(_of_knob, KNOBS), _K)
"""Every parameter that has a slider, in the order of the screen."""

TIME_ABOUT = "As if it were earlier or later."


def slider_label(slider: str, parameters: Sequence[Parameter]) -> str:
    """Return what a slider is called where it stands alone; "the sliders" without one."""
    parameter = next((p for p in parameters if p.id == slider), None)
    if parameter is None:
        return slider or "the sliders"
    return parameter.label if parameter.label == slider else f"{parameter.group}, {parameter.label}"


def slider_text(slider: str, settings: Settings, parameters: Sequence[Parameter]) -> str:
    """Return where a slider stands, as it shows it; "where they stood" for several."""
    if slider == TIME:
        return day_offset(settings.days)
    parameter = next((p for p in parameters if p.id == slider), None)
    return "where they stood" if parameter is None else parameter.text(parameter.get(settings.profile))
