"""Better 1 or 2? Learns the weights and the half-life from answers about pairs of memories.

Bayesian over the settings of the grid: the prior is centred on the present profile, every answer
multiplies in how likely each setting makes it (8 % of answers being slips), and the next pair is
the one whose answer is expected to tell most. Values only; nothing is applied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from workbench.core.tuning.profile import WEIGHT_KEYS, Profile, check_profile, weight_of
from workbench.evaluation.pairs import Pair, Pairs, entropy, pairs_of, settings_around, with_weights
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.ranker import Ranker

Answer = Literal["a", "b", "=", "?"]

REACH = 0.3
"""How far the prior lets settings be from the present profile: at this moved share of weight it
falls to 1/e.
"""

GRADES = (3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1)
"""What a person whose mind is a setting would grade the first memories of its order: regret is
counted in these.
"""


class Outlook(NamedTuple):
    """What is still to be gained: expected regret in nDCG@10 now, and after `answers` more answers."""

    now: float
    then: float
    answers: int

    @property
    def gain(self) -> float:
        """What the answers are expected to bring, never below 0."""
        return max(0.0, self.now - self.then)


@dataclass(frozen=True, eq=False)
class Preferences:
    """What the answers so far say about the settings; `answers` holds (number of the pair, answer)."""

    pairs: Pairs
    answers: tuple[tuple[int, Answer], ...] = ()

    @cached_property
    def posterior(self) -> Column:
        """The probability of each setting, shape (settings,), sum 1."""
        return _normalised(self._log)

    @cached_property
    def number(self) -> int | None:
        """The number of the pair to ask next: the one whose answer is expected to tell most; `None`
        when all are.
        """
        tells = self._telling()
        return int(np.argmax(tells)) if len(tells) and tells.max() > 0 else None

    def _telling(self) -> Column:
        """Return how much each answer is expected to tell; nothing where there is one."""
        tells = information(self.pairs, self.posterior)
        tells[[number for number, _ in self.answers]] = -1.0
        return tells

    @property
    def question(self) -> Pair | None:
        """The pair to ask next; `None` when there is nothing left to ask."""
        return None if self.number is None else self.pairs.every[self.number]

    def answered(self, answer: Answer) -> "Preferences":
        """Take an answer to `question`: `a` or `b` is better, `=` both the same, `?` can't say
        (teaches nothing).
        """
        return (
            self
            if self.number is None
            else replace(self, answers=(*self.answers, (self.number, answer)))
        )

    def taken_back(self) -> "Preferences":
        """Forget the last answer."""
        return replace(self, answers=self.answers[:-1])

    @property
    def profile(self) -> Profile:
        """The posterior mean of the weights under the likeliest half-life."""
        return _mean_profile(self.pairs, self.posterior)

    @property
    def spread(self) -> tuple[float, ...]:
        """How far the weights' shares are still open: their posterior standard deviations, factor
        by factor.
        """
        weights = np.tile(self.pairs.settings.weights, (len(self.pairs.settings.lives), 1))
        mean = self.posterior @ weights
        return tuple(np.sqrt(self.posterior @ (weights - mean) ** 2).tolist())

    def outlook(self, answers: int = 10, worlds: int = 24, seed: int = 0) -> Outlook:
        """Estimate what another ten answers could change, by playing them through.

        Draws `worlds` settings from the posterior as what the person might have in mind, and
        compares the expected loss of nDCG@10 of the present answer with that of the one the further
        answers would lead to.
        """
        random = np.random.default_rng(seed)
        draws = random.choice(len(self.posterior), worlds, p=self.posterior)
        tells = self._telling()
        # Questions that tell little now would hardly come up among the next ones.
        open_ones = np.argsort(-tells, kind="stable")[: 20 * answers]
        before = [regret(self.pairs, self.profile, draw) for draw in draws.tolist()]
        after = [self._played(draw, open_ones, answers, random) for draw in draws.tolist()]
        return Outlook(float(np.mean(before)), float(np.mean(after)), answers)

    @cached_property
    def _log(self) -> Column:
        log = -self.pairs.settings.distance / REACH
        for number, answer in self.answers:
            log = log + _told(self.pairs, number, answer)
        return log

    def _played(
        self, truth: int, open_ones: Rows, answers: int, random: np.random.Generator
    ) -> float:
        prefer, surprise = self.pairs.prefer[open_ones], self.pairs.surprise[open_ones]
        log, asked = self._log, np.zeros(len(open_ones), np.bool_)
        for _ in range(min(answers, len(open_ones))):
            posterior = _normalised(log)
            tells = np.where(asked, -1.0, entropy(prefer @ posterior) - surprise @ posterior)
            best = int(np.argmax(tells))
            asked[best] = True
            said_a = random.random() < prefer[best, truth]
            log = log + np.log(prefer[best] if said_a else 1 - prefer[best])
        return regret(self.pairs, _mean_profile(self.pairs, _normalised(log)), truth)


def begin(
    ranker: Ranker, queries: Sequence[tuple[QueryScores, datetime]], profile: Profile, seed: int = 0
) -> Preferences:
    """Begin asking about the pools of some queries, each with its moment. Raises `InvalidRecord`."""
    check_profile(profile)
    return Preferences(pairs_of(ranker, queries, profile, settings_around(profile), seed))


def information(pairs: Pairs, posterior: Column) -> Column:
    """Return what each pair's answer is expected to tell about the settings, in nats, shape
    (pairs,).
    """
    weight = posterior.astype(np.float32)
    return np.asarray(entropy(pairs.prefer @ weight) - pairs.surprise @ weight, np.float64)


def regret(pairs: Pairs, profile: Profile, truth: int) -> float:
    """Return how much nDCG@10 `profile` loses over the pools, for a person whose mind is the
    setting `truth`.
    """
    settings = pairs.settings
    life, weight = divmod(truth, len(settings.weights))
    mine = next(
        i
        for i, p in enumerate(settings.lives)
        if (p.mode, p.half_lives) == (profile.mode, profile.half_lives)
    )
    own = np.array([weight_of(profile, key) for key in WEIGHT_KEYS])
    grades = np.array(GRADES, np.float64)
    discount = 1 / np.log2(np.arange(2, 12))
    lost = []
    for pool in pairs.pooled:
        gain = np.zeros(len(pool.ids))
        order = np.argsort(-(pool.columns[life] @ settings.weights[weight]), kind="stable")
        gain[order[: len(grades)]] = grades[: len(order)]
        shown = gain[np.argsort(-(pool.columns[mine] @ own), kind="stable")[:10]]
        ideal = gain[order[:10]] @ discount[: len(shown)]
        lost.append(float(1 - shown @ discount[: len(shown)] / ideal) if ideal else 0.0)
    return fmean(lost) if lost else 0.0


def _told(pairs: Pairs, number: int, answer: Answer) -> Column:
    if answer == "?":
        return np.zeros(len(pairs.settings))
    if answer == "=":
        likelihood = pairs.equal(number)
    else:
        likelihood = pairs.prefer[number] if answer == "a" else 1 - pairs.prefer[number]
    return np.asarray(np.log(likelihood), np.float64)


def _mean_profile(pairs: Pairs, posterior: Column) -> Profile:
    settings = pairs.settings
    by_life = posterior.reshape(len(settings.lives), len(settings.weights))
    life = int(np.argmax(by_life.sum(axis=1)))
    return with_weights(
        settings.lives[life], by_life[life] @ settings.weights / by_life[life].sum()
    )


def _normalised(log: Column) -> Column:
    weight = np.exp(log - log.max())
    result: Column = weight / weight.sum()
    return result
