"""What of a playbook fits a budget of tokens: one order, and one cut."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from workbench.core.binomial import at_least
from workbench.core.playbook.book import Bullet, Playbook, Section, number_of
from workbench.core.tokens import tokens_of

# How sure a ratio of votes is: the mean of its Beta posterior, and the band that leaves a twentieth
# on either side.


MOST = 1_000
"""Marks above which the band is that of the normal distribution: two decimals show no difference."""

_DEVIATIONS = 1.6448536269514722


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the share of helpful marks lies: posterior mean, lower and upper end of the band, marks
    counted.
    """

    mean: float
    low: float
    high: float
    count: int


@lru_cache(4096)
def helpful_share(helpful: int, harmful: int) -> Interval:
    """Return the share of helpful marks under a uniform prior: Beta(1 + helpful, 1 + harmful).
    Negative counts are taken as 0.
    """
    a, b = 1 + max(0, helpful), 1 + max(0, harmful)
    mean, marks = a / (a + b), a + b - 2
    if marks > MOST:
        half = _DEVIATIONS * math.sqrt(mean * (1 - mean) / marks)
        return Interval(mean, max(0.0, mean - half), min(1.0, mean + half), marks)
    return Interval(mean, _quantile(0.05, a, b), _quantile(0.95, a, b), marks)


def _quantile(share: float, a: int, b: int) -> float:
    """Return below what value a share of Beta(a, b) lies, by bisection to seven digits."""
    low, high = 0.0, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        if at_least(a, a + b - 1, middle) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


Standing = Literal["pinned", "proven", "untried", "net harmful"]
"""What decides when a bullet's turn comes."""

STANDINGS: tuple[Standing, ...] = ("pinned", "proven", "untried", "net harmful")
"""In this order."""

ORDER = "pinned, proven, untried newest first (a tenth kept), net harmful"
"""The order in words."""

_STEPS = 50
"""Steps in which a lower bound counts: two bullets within one are taken to be equally good."""


class Costs(NamedTuple):
    """Estimated tokens by bullet id and by section id (its heading and its bullets), and of all
    that is not deprecated.

    Every part is rounded up by itself.
    """

    bullets: Mapping[str, int]
    sections: Mapping[str, int]
    total: int


class Fitting(NamedTuple):
    """What fits into `budget` tokens: the bullets in and out, in file order, and the tokens of
    those in it.
    """

    budget: int
    kept: tuple[Bullet, ...]
    left_out: tuple[Bullet, ...]
    tokens: int

    @property
    def inside(self) -> tuple[str, ...]:
        return tuple(b.id for b in self.kept)

    @property
    def outside(self) -> tuple[str, ...]:
        return tuple(b.id for b in self.left_out)

    @property
    def share(self) -> str:
        """How many are in, of how many: `22 of 41`."""
        return f"{len(self.kept):,} of {len(self.kept) + len(self.left_out):,}"

    @property
    def went(self) -> str:
        """How many are out, by what they are: `12 untried, 7 net harmful`."""
        counts = Counter(map(standing, self.left_out))
        return ", ".join(f"{counts[one]:,} {one}" for one in STANDINGS if counts[one])


def costs(playbook: Playbook) -> Costs:
    """Return what each part of a playbook costs."""
    bullets = {b.id: bullet_tokens(b) for b in playbook.bullets}
    headings = {s.id: heading_tokens(s) for s in playbook.sections}
    sections = dict(headings)
    for bullet in _living(playbook):
        if bullet.section in sections:
            sections[bullet.section] += bullets[bullet.id]
    return Costs(
        bullets, sections, sum(sections[id] for id in sections if sections[id] > headings[id])
    )


def bullet_tokens(bullet: Bullet) -> int:
    """Return the estimated tokens of a bullet's line: as it stands in its file, or else with its
    counts.
    """
    marks = f"[{bullet.id}] helpful={bullet.helpful_count} harmful={bullet.harmful_count} :: "
    line = f"{marks}{bullet.content}" if bullet.raw is None else bullet.raw
    return tokens_of("\n".join((*bullet.lead, line, "")))


def heading_tokens(section: Section) -> int:
    """Return the estimated tokens of a section's heading with the lines above it."""
    return tokens_of("\n".join((*(section.lead or ("",)), f"## {section.title}", "")))


def standing(bullet: Bullet) -> Standing:
    """Return what a bullet is: proven are two votes or more, most of them helpful; net harmful is
    more harm than help.

    What was voted on once, or for and against alike, is as good as untried.
    """
    helpful, harmful = bullet.helpful_count, bullet.harmful_count
    if bullet.pinned:
        return "pinned"
    if harmful > helpful:
        return "net harmful"
    return "proven" if helpful > harmful and helpful + harmful > 1 else "untried"


def ranked(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Return bullets in the order in which a budget takes them.

    Proven ones come by the lower bound of their share of helpful votes, the shorter first where
    that is equal; untried ones the newest first.
    """
    return sorted(bullets, key=_place)


def fit(playbook: Playbook, budget: int) -> Fitting:
    """Return what of a playbook fits; a section's heading costs as soon as one of its bullets is
    in.
    """
    order = ranked(_living(playbook))
    headings = {s.id: heading_tokens(s) for s in playbook.sections}
    places, spent = fill(
        [(standing(b), bullet_tokens(b), b.section) for b in order], budget, headings
    )
    inside = {order[place].id for place in places}
    parts: tuple[list[Bullet], list[Bullet]] = ([], [])
    for bullet in _living(playbook):
        parts[bullet.id not in inside].append(bullet)
    return Fitting(budget, tuple(parts[0]), tuple(parts[1]), spent)


def fill(
    ranked: Sequence[tuple[Standing, int, str]],
    budget: int,
    headings: Mapping[str, int] = MappingProxyType({}),
) -> tuple[set[int], int]:
    """Return the places of those that fit, and the tokens that they take; each is its standing,
    tokens and section.

    What does not fit is passed over, and a shorter one after it may still come in; but nothing that
    is net harmful comes in where something better is out. A tenth of the budget is kept for untried
    ones, as far as any fit it.
    """
    inside, opened, spent = set[int](), set[str](), 0
    turns = (("pinned", budget), ("untried", budget // 10), ("proven", budget), ("untried", budget))
    better = sum(what != "net harmful" for what, _, _ in ranked)
    for turn, share in (*turns, ("net harmful", budget)):
        limit = min(budget, spent + share)
        if turn == "net harmful" and len(inside) < better:
            break
        for place, (what, tokens, section) in enumerate(ranked):
            cost = tokens + (0 if section in opened else headings.get(section, 0))
            if what == turn and place not in inside and spent + cost <= limit:
                spent += cost
                opened.add(section)
                inside.add(place)
    return inside, spent


def _place(bullet: Bullet) -> tuple[float, ...]:
    what, helpful, harmful = standing(bullet), bullet.helpful_count, bullet.harmful_count
    turn = STANDINGS.index(what)
    if what == "proven":
        return turn, -round(_STEPS * helpful_share(helpful, harmful).low), bullet_tokens(bullet)
    if what == "untried":
        return (
            turn,
            -bullet.created_at.timestamp() if bullet.created_at else 0.0,
            -number_of(bullet.id),
        )
    return turn, harmful - helpful


def _living(playbook: Playbook) -> list[Bullet]:
    return [b for b in playbook.bullets if b.state != "deprecated"]
