"""Which episodes are meant: by what their heads say, and by what else is searched of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from workbench.core.agents.episodes.digest import Digest
from workbench.core.agents.episodes.episode import KIND, OUTCOMES, Episode
from workbench.core.agents.episodes.phases import BEGINS, UNASKED, phase_of
from workbench.core.errors import InvalidQuery

Strategy = Literal["semantic", "structured", "hybrid", "temporal", "failure"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""The ways to episodes (source 004, section 2.4): by meaning, attributes, both, time, and by how they failed."""

PHASES = (*BEGINS, "deleted")

RECENT = timedelta(days=30)
"""How old an episode is at the most that counts as recent."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """What an episode must be; what is empty asks for nothing. Names are compared without regard to case.

    Without a `phase` those are meant that nobody has to ask for: not archived, not deleted; `every` means all of them
    but the deleted ones.
    """

    domain: str = ""
    type: str = ""
    outcome: str = ""
    tag: str = ""
    phase: str = ""
    session: str = ""
    tool: str = ""
    strategy: str = ""
    since: datetime | None = None
    until: datetime | None = None
    prefer_recent: bool = False
    only_successful: bool = False
    every: bool = False

    @property
    def are_none(self) -> bool:
        """Whether no attribute of an episode is asked for."""
        asked = (self.domain, self.type, self.outcome, self.tag, self.phase, self.session, self.tool, self.strategy)
        return not any(asked) and self.since is None and self.until is None

    def fit(self, episode: Episode, now: datetime) -> bool:
        """Tell whether an episode is meant by what its head says."""
        if episode.at > now or not self._is_in_phase(episode, now):
            return False
        if self.only_successful and episode.outcome != "SUCCESS":
            return False
        if self.prefer_recent and now - episode.at > RECENT:
            return False
        if (self.since is not None and episode.at < self.since) or (self.until is not None and episode.at > self.until):
            return False
        named = _same(self.domain[:KIND], episode.domain) and _same(self.type[:KIND], episode.type)
        return named and _same(self.outcome, episode.outcome) and _among(self.tag, episode.tags)

    def fit_digest(self, digest: Digest) -> bool:
        """Tell whether an episode is meant by what is searched of it."""
        used = _among(self.tool, digest.tools) and _among(self.strategy, digest.strategies)
        return used and _same(self.session, digest.session)

    def _is_in_phase(self, episode: Episode, now: datetime) -> bool:
        phase = phase_of(episode, now)
        if self.phase:
            return phase == self.phase
        return phase != "deleted" if self.every else phase in UNASKED


def checked(criteria: Criteria) -> Criteria:
    """Return criteria that can be met; raises `InvalidQuery`."""
    if criteria.outcome and criteria.outcome.upper() not in OUTCOMES:
        raise InvalidQuery(f"There is no outcome “{criteria.outcome}”.", f"Outcomes are: {', '.join(OUTCOMES)}.")
    if criteria.phase and criteria.phase not in PHASES:
        raise InvalidQuery(f"There is no phase “{criteria.phase}”.", f"Phases are: {', '.join(PHASES)}.")
    return criteria


def _same(wanted: str, found: str) -> bool:
    return not wanted or wanted.casefold() == found.casefold()


def _among(wanted: str, found: tuple[str, ...]) -> bool:
    return not wanted or wanted.casefold() in {one.casefold() for one in found}
