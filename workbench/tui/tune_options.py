"""What a ranking has besides numbers: how recency counts, and whose minimum and maximum normalise."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from workbench.core.profile import Profile, RankOrder, RecencyMode
from workbench.tui.widgets.choose import Choice

TOP_NS = (20, 50, 100, 200)


def choices(profile: Profile) -> Sequence[Choice]:
    """Return every option; those that hold are said to."""
    return [Choice(id, label, "now" if _with(id)(profile) == profile else "") for id, label in _LABELS.items()]


def with_option(profile: Profile, id: str) -> Profile:
    """Return the profile with one option chosen."""
    return _with(id)(profile)


def _with(id: str) -> Callable[[Profile], Profile]:
    return _OPTIONS[id] if id in _OPTIONS else partial(_top, int(id.removeprefix("top-")))


def _mode(mode: RecencyMode, order: RankOrder, profile: Profile) -> Profile:
    return replace(profile, mode=mode, rank_order=order if mode == "rank" else profile.rank_order)


def _pool(profile: Profile) -> Profile:
    return replace(profile, scope="pool")


def _top(top_n: int, profile: Profile) -> Profile:
    return replace(profile, scope="top", top_n=top_n)


_OPTIONS: dict[str, Callable[[Profile], Profile]] = {
    "hours": partial(_mode, "hours", "newest"),
    "rank": partial(_mode, "rank", "newest"),
    "rank-oldest": partial(_mode, "rank", "oldest"),
    "off": partial(_mode, "off", "newest"),
    "pool": _pool,
}
_LABELS = {
    "hours": "Recency by the hours since the last access",
    "rank": "Recency by rank, newest first",
    "rank-oldest": "Recency by rank, oldest first",
    "off": "Recency off",
    "pool": "0 to 1 over all served memories",
    **{f"top-{n}": f"0 to 1 over the {n} most relevant" for n in TOP_NS},
}
