"""What a ranking has besides numbers: how recency counts, whose minimum and maximum normalise, who takes part."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from workbench.core.tuning.profile import (
    FEEDBACK_HALF_LIFE,
    LITERAL_FEEDBACK_HALF_LIFE,
    FrozenBounds,
    LexicalRule,
    PinnedHandling,
    Profile,
    RankOrder,
    RecencyMode,
)
from workbench.tui.widgets.choose import Choice
from workbench.tui.widgets.keys import keyed

CANDIDATES = "candidates"
"""The option that asks for a filter."""

TOP_NS = (20, 50, 100, 200)


def choices(profile: Profile, bounds: FrozenBounds | None) -> Sequence[Choice]:
    """Return every option; those that hold are said to. `bounds` are those of the present ranking."""
    labels = dict(_LABELS)
    if profile.frozen is not None:
        labels["frozen"] = "0 to 1 by the frozen bounds"
    found = [Choice(id, label, _remark(id, profile)) for id, label in labels.items()]
    if bounds is not None:
        how = "anew" if profile.frozen is not None else "for every query and moment"
        found.append(Choice("freeze", f"Freeze the bounds of this ranking {how}"))
    only = f"Candidates: only {profile.candidates}" if profile.candidates else "Candidates: all that may be served"
    return [*found, Choice(CANDIDATES, only, keyed("{tune.candidates} asks for a filter"))]


def with_option(profile: Profile, id: str, bounds: FrozenBounds | None = None) -> Profile:
    """Return the profile with one option chosen."""
    return replace(profile, scope="frozen", frozen=bounds) if id == "freeze" else _with(id)(profile)


def _remark(id: str, profile: Profile) -> str:
    if id.startswith("pinned-") and not profile.fades:
        return "recency does not fade with time"
    if profile.scorer == "episodic" and id.startswith("votes-"):
        return "the score of episodes has no votes"
    if profile.scorer == "episodic" and (id in ("pool", "frozen") or id.startswith("top-")):
        return "episodes are not normalised"
    return "now" if _with(id)(profile) == profile else ""


def _with(id: str) -> Callable[[Profile], Profile]:
    return _OPTIONS[id] if id in _OPTIONS else partial(_top, int(id.removeprefix("top-")))


def _mode(mode: RecencyMode, order: RankOrder, profile: Profile) -> Profile:
    return replace(profile, mode=mode, rank_order=order if mode == "rank" else profile.rank_order)


def _pinned(handling: PinnedHandling, profile: Profile) -> Profile:
    return replace(profile, pinned=handling)


def _votes_fade(half_life: float, profile: Profile) -> Profile:
    return replace(profile, feedback_half_life=half_life)


def _lexical(rule: LexicalRule, profile: Profile) -> Profile:
    return replace(profile, lexical=rule)


def _pool(profile: Profile) -> Profile:
    return replace(profile, scope="pool")


def _frozen(profile: Profile) -> Profile:
    return replace(profile, scope="frozen")


def _top(top_n: int, profile: Profile) -> Profile:
    return replace(profile, scope="top", top_n=top_n)


_OPTIONS: dict[str, Callable[[Profile], Profile]] = {
    "hours": partial(_mode, "hours", "newest"),
    "days": partial(_mode, "days", "newest"),
    "rank": partial(_mode, "rank", "newest"),
    "rank-oldest": partial(_mode, "rank", "oldest"),
    "off": partial(_mode, "off", "newest"),
    "pinned-fresh": partial(_pinned, "fresh"),
    "pinned-fades": partial(_pinned, "fades"),
    "votes-slow": partial(_votes_fade, FEEDBACK_HALF_LIFE),
    "votes-literal": partial(_votes_fade, LITERAL_FEEDBACK_HALF_LIFE),
    "lexical-bm25": partial(_lexical, "bm25"),
    "lexical-absolute": partial(_lexical, "absolute"),
    "pool": _pool,
    "frozen": _frozen,
}
_LABELS = {
    "hours": "Recency by the hours since the last access",
    "days": "Recency by the days since it was made, exp(−age / τ)",
    "rank": "Recency by rank, newest first",
    "rank-oldest": "Recency by rank, oldest first",
    "off": "Recency off",
    "pinned-fresh": "Pinned memories stay fresh",
    "pinned-fades": "Pinned memories fade as the others do",
    "votes-slow": "Votes fade slower than recency, by half in 29 d",
    "votes-literal": "Votes fade as ENGRAM prints it, × 0.99 an hour",
    "lexical-bm25": "Full text as BM25, against the mean length",
    "lexical-absolute": "Full text word by word, with words around",
    "pool": "0 to 1 over all served memories",
    **{f"top-{n}": f"0 to 1 over the {n} most relevant" for n in TOP_NS},
}
