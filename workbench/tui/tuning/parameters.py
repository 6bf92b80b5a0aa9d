"""The parameters of a ranking as sliders show them: label, scale, and how a profile gets another value."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from workbench.core.tuning.profile import Profile
from workbench.retrieval.ranking.outcome import Factor
from workbench.tui.widgets.bars.scale import Scale
from workbench.tui.widgets.figures import days, hourly

Value = float | None

WEIGHTS, HALF_LIVES, VOTES, RELEVANCE, RESULT = "weights", "half-life of recency", "votes", "relevance", "result"
MACHINE = "time machine"

TIME = "now"
"""The id of the slider that is no part of a profile: the days that `now` is moved by."""

EPISODES_LACK = frozenset(
    {"half-life-working", "half-life-semantic", "half-life-procedural", "feedback", "feedback-half-life", "contiguity"}
)
"""The parameters that the score of episodes does not have; their sliders rest."""

TIME_SCALE = Scale(-180.0, 180.0, 5.0, 1.0)


def weight(value: float) -> str:
    """Return a weight with two decimals, with more where it has more."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.4f}".rstrip("0")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a profile; `factor` is set for the three weights, `off` says what `None` means."""

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

    def scale_for(self, profile: Profile) -> Scale:
        """Return the scale, long enough for the profile's value; the weights share the longest of theirs."""
        values = [getattr(profile, p.id) for p in PARAMETERS if p.factor] if self.factor else [self.get(profile)]
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

    def holds(self, profile: Profile) -> str:
        """Return why the parameter has no effect under a profile, or an empty text."""
        if profile.scorer == "episodic" and self.id in EPISODES_LACK:
            return "the score of episodes has no such part"
        if self.group != HALF_LIVES or profile.fades:
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


def _put(name: str, profile: Profile, value: Value) -> Profile:
    change: dict[str, Any] = {name: value}
    return replace(profile, **change)


def _put_k(profile: Profile, value: Value) -> Profile:
    return replace(profile, k=round(value or 1))


def _put_life(name: str, profile: Profile, value: Value) -> Profile:
    change: dict[str, Any] = {name: value}
    return replace(profile, half_lives=replace(profile.half_lives, **change))


def _get(name: str, profile: Profile) -> Value:
    value: Value = getattr(profile, name)
    return value


def _get_life(name: str, profile: Profile) -> Value:
    value: Value = getattr(profile.half_lives, name)
    return value


def _weight(factor: Factor, about: str) -> Parameter:
    return Parameter(
        factor, factor, WEIGHTS, about, partial(_get, factor), partial(_put, factor), show=weight, factor=factor
    )


def _life(name: str, about: str) -> Parameter:
    return Parameter(
        f"half-life-{name}", name, HALF_LIVES, about, partial(_get_life, name), partial(_put_life, name),
        _LIFE, days, "never",
    )  # fmt: skip


def _plain(
    name: str, label: str, group: str, about: str, scale: Scale, show: Callable[[float], str] = weight, off: str = ""
) -> Parameter:
    return Parameter(
        name.replace("_", "-"), label, group, about, partial(_get, name), partial(_put, name), scale, show, off
    )


_LIFE = Scale(1 / 24, 1000.0, 0.1, 0.02, log=True, off=True)
_SHARE = Scale(0.0, 1.0, 0.05, 0.01)

PARAMETERS: tuple[Parameter, ...] = (
    _weight("recency", "How much recent access counts."),
    _weight("importance", "How much importance counts."),
    _weight("relevance", "How much the match counts."),
    _life("episodic", "Events: until recency halves."),
    _life("working", "The task: until recency halves."),
    _life("semantic", "Facts: until recency halves."),
    _life("procedural", "How-to: until recency halves."),
    _plain("feedback", "per vote", VOTES, "Importance one vote gives.", Scale(0.0, 2.0, 0.1, 0.02)),
    _plain("feedback_half_life", "half-life", VOTES, "Time until a vote counts half.", _LIFE, days, "never"),
    _plain("blend", "dense", RELEVANCE, "Cosine's share; BM25 has the rest.", _SHARE),
    _plain("contiguity", "contiguity", RELEVANCE, "What a match gives neighbours.", _SHARE),
    Parameter(
        "k", "k", RESULT, "How many an agent is served.", partial(_get, "k"), _put_k,
        Scale(1.0, 50.0, 1.0, 1.0), lambda value: f"{value:.0f}",
    ),
)  # fmt: skip
"""Every parameter that has a slider, in the order of the screen."""

TIME_ABOUT = "As if it were earlier or later."
