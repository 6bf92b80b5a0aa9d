"""A tuning session: the question, the settings, the ranking they make, and the moves of the
sliders.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from workbench.core import record
from workbench.core.stream.filter import matches
from workbench.core.stream.memory import Memory, hidden_because
from workbench.core.tuning.episodic import GROUPS, Term, domains_of, in_domain, query_words, share
from workbench.core.tuning.flips import Flip, shortest_between
from workbench.core.tuning.floor import UNKNOWN, Standard
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import (
    FACTORS,
    PLAIN_PARTS,
    RELEVANCE_PARTS,
    WEIGHT_KEYS,
    Factor,
    FrozenBounds,
    Profile,
    candidate_filter,
    value_of,
    weight_of,
)
from workbench.core.tuning.recency import hours_between
from workbench.core.tuning.scoring import Scored, Share
from workbench.evaluation.pooling import judging_pool
from workbench.retrieval.arrays import Column
from workbench.retrieval.ranking.cases import ColumnCase, QueryScores, ShareCase
from workbench.retrieval.ranking.flips import PARALLEL, Lines, admitting, flips
from workbench.retrieval.ranking.ranker import Ranker, Ranking
from workbench.retrieval.ranking.relevance import PARTS, RELEVANCE, part_columns
from workbench.services.tuning.floors import AgainstFloor, against

# The five terms of an episode's score, each with what it comes from, for the explanations.


class TermPart(NamedTuple):
    """One term: its value (at most 1) × its weight = what it adds; `note` says where the value
    comes from.

    The weight is the term's share of the profile's weight for its `factor`.
    """

    term: Term
    factor: Factor
    value: float
    weight: float
    weighted: float
    note: str


def term_parts(ranking: Ranking, id: str, query: str) -> tuple[TermPart, ...]:
    """Return the terms of a memory in a ranking of episodes; none under other profiles or when it
    is not ranked.

    Raises `UnknownRecord`.
    """
    terms = ranking.terms_of(id)
    if terms is None:
        return ()
    memory = ranking.pool.memory(id)
    notes: dict[Term, str] = {
        "similarity": "",
        "recency": _age(memory, ranking),
        "success": "" if terms.known else "unknown",
        "use": "never read" if not memory.access_count else f"read {memory.access_count:,}×",
        "domain": _named(memory, query),
    }
    found = []
    for factor in FACTORS:
        for term in GROUPS.get(factor.id, ()):
            value, weight = getattr(terms, term), ranking.weight(factor) * share(term)
            found.append(TermPart(term, factor, value, weight, weight * value, notes[term]))
    return tuple(found)


def _age(memory: Memory, ranking: Ranking) -> str:
    if ranking.profile.mode == "off":
        return "off"
    if memory.pinned and ranking.profile.pinned == "fresh":
        return "pinned"
    days = hours_between(memory.created_at, ranking.now) / 24
    return f"{days:.0f} days" if days >= 2 else f"{days * 24:.0f} hours"


def _named(memory: Memory, query: str) -> str:
    domains, asked = (
        domains_of(memory.category, memory.section, memory.metadata),
        query_words(query),
    )
    hits = [name for name in domains if in_domain((name,), asked)]
    return hits[0] if hits else ("not asked" if domains else "has none")


# A query over the store as it was when it was asked: ranked, compared and explained. Reads only.


NO_EPISODE = "not an episode; this profile ranks only episodes"
NO_CANDIDATE = "excluded by the profile's candidate filter"


class Standing(NamedTuple):
    """A memory in a ranking: its place (`None`: hidden) with its parts, and its place in the
    baseline.
    """

    memory: Memory
    place: int | None
    before: int | None
    scored: Scored | None


class WeightChange(NamedTuple):
    """A weight at which a memory outside the top would be in it: the factor, its weight now and
    then.
    """

    factor: Factor
    now: float
    then: float


class Difference(NamedTuple):
    """What parts two memories of a ranking, the better one first: what each factor adds for each.

    `factors` begin with the one that parts them most. `swap` is the smallest change of a single
    weight that puts the second above the first; `None` where no weight does.
    """

    first: Standing
    second: Standing
    factors: tuple[tuple[Factor, float, float], ...]
    swap: WeightChange | None


class Explanation(NamedTuple):
    """Why a memory stands where it stands in a ranking; `hidden` says why it is not served.

    `hours` is the age that recency counts, `half_life` in days (`None`: it does not decay),
    `shares` what its relevance is made of, `ends` which memories set minimum and maximum of each
    factor (nobody sets frozen ones). `terms` are there for a score of episodes. `against` is the
    query held against the floor.
    """

    id: str
    ranking: Ranking
    standing: Standing
    hidden: str | None
    shares: tuple[Share, ...]
    hours: float
    half_life: float | None
    ends: Mapping[str, tuple[Memory | None, Memory | None]]
    terms: tuple[TermPart, ...] = ()
    against: AgainstFloor | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query with its relevance for every memory; any number of rankings come from it, on any
    thread.

    `standard` is the floor of the store as it was when the query was asked, or why there was none.
    """

    ranker: Ranker
    scores: QueryScores
    standard: Standard = UNKNOWN
    _shares: dict[Hashable, tuple[Share, ...]] = field(default_factory=dict, init=False, repr=False)

    @property
    def text(self) -> str:
        return self.scores.query

    def rank(self, profile: Profile, now: datetime, k: int | None = None) -> Ranking:
        """Rank what an agent asking at `now` would be served."""
        return self.ranker.rank(self.scores, profile, now, k)

    def pool(self, profile: Profile, now: datetime) -> tuple[Memory, ...]:
        """Return what is worth judging for the query: the best of very different settings,
        shuffled, without scores.
        """
        return tuple(
            self.ranker.pool.memory(id)
            for id in judging_pool(self.ranker, self.scores, profile, now)
        )

    def shares(self, ranking: Ranking, id: str) -> tuple[Share, ...]:
        """Return what a memory's raw relevance is made of, part by part. Raises `UnknownRecord`.

        Those of the last memory are remembered: a weight that moves leaves them as they are.
        """
        pool, row = ranking.pool, ranking.pool.row(id)
        parts = PLAIN_PARTS if ranking.profile.scorer == "episodic" else RELEVANCE_PARTS
        case = ColumnCase(
            pool,
            ranking.candidates,
            self.scores,
            ranking.profile,
            ranking.now,
            self.ranker.parts,
            parts,
        )
        key = (id, pool, ranking.candidates, parts, RELEVANCE.depends(case))
        found = self._shares.get(key)
        if found is None:
            found = self._made(ranking, case, row)
            self._shares.clear()
            self._shares[key] = found
        return found

    def _made(self, ranking: Ranking, case: ColumnCase, row: int) -> tuple[Share, ...]:
        pool, chosen = case.pool, case.chosen
        made, position = part_columns(case) if len(chosen) else {}, chosen.position(row)
        found: list[Share] = []
        for part in RELEVANCE_PARTS:
            if part.optional and not any(
                value_of(ranking.profile, knob.key) for knob in part.parameters
            ):
                continue
            found.append(
                PARTS[part.id][1](
                    ShareCase(
                        part,
                        pool,
                        chosen,
                        self.scores,
                        ranking.profile,
                        row,
                        position,
                        made,
                        tuple(found),
                    )
                )
            )
        return tuple(found)


def standings_of(ranking: Ranking, baseline: Ranking) -> tuple[Standing, ...]:
    """Return the listed rows with how they stood in the baseline."""
    rows = ranking.candidates.rows[ranking.positions].tolist()
    listed = enumerate(zip(ranking.top, rows, strict=True), 1)
    return tuple(
        Standing(s.memory, place, _before(ranking, baseline, row, place), s)
        for place, (s, row) in listed
    )


def standing_of(ranking: Ranking, baseline: Ranking, id: str) -> Standing:
    """Return how any memory stands, listed or not. Raises `UnknownRecord`."""
    row, place = ranking.pool.row(id), ranking.place_of(id)
    before = _before(ranking, baseline, row, place)
    return Standing(ranking.pool.memories[row], place, before, ranking.scored(id))


def _before(ranking: Ranking, baseline: Ranking, row: int, place: int | None) -> int | None:
    """Return the place of a pool row in the baseline; all are put in order for the first one that
    may have moved.
    """
    if (ranking.profile, ranking.now) == (baseline.profile, baseline.now):
        return place
    return int(baseline.places[row]) or None


def left_out_because(memory: Memory, ranking: Ranking) -> str | None:
    """Return why a memory takes no part in a ranking, or `None` when it does. Raises
    `UnknownRecord`.
    """
    hidden = hidden_because(memory, ranking.now)
    if hidden or ranking.place_of(memory.id) is not None:
        return hidden
    profile = ranking.profile
    if profile.candidates and not matches(
        memory, candidate_filter(profile.candidates, ranking.now)
    ):
        return NO_CANDIDATE
    return NO_EPISODE


def _lines(ranking: Ranking, factor: Factor, high: float) -> Lines:
    """Return the totals as lines over one weight, the others as they are."""
    offset: Column = np.zeros(len(ranking.candidates))
    for other in FACTORS:
        if other != factor and other.id in ranking.factors:
            offset += ranking.weight(other) * ranking.factors[other.id].norm
    return Lines(offset, ranking.factors[factor.id].norm, ranking.candidates.id_rank, 0.0, high)


def _by(ranking: Ranking, id: str, shown: Callable[[Any], Any]) -> Memory | None:
    return shown(ranking.pool.memory(id)) if id else None


def _half_life(memory: Memory, profile: Profile) -> float | None:
    if memory.pinned and profile.pinned == "fresh":
        return None
    return profile.half_lives.of(memory.memory_type)


def _since(memory: Memory, profile: Profile) -> datetime:
    """Return the moment recency counts from: the last access; when it was made, for episodes and in
    mode "days".
    """
    made = profile.scorer == "episodic" or profile.mode == "days"
    return memory.created_at if made else memory.last_accessed_at


BEYOND = 40
"""How many memories are ranked below those that are served."""


class Settings(NamedTuple):
    """Where the sliders stand: the profile, and the days that `now` is moved by."""

    profile: Profile
    days: float = 0.0


class Move(NamedTuple):
    """One slider (its id; empty when several moved at once) from where it stood to where it stands."""

    slider: str
    before: Settings
    after: Settings


class Moves:
    """The last moves; steps of one slider in a row are one move."""

    def __init__(self) -> None:
        self._done: list[Move] = []
        self._undone: list[Move] = []
        self._open = False

    def note(self, slider: str, before: Settings, after: Settings) -> None:
        """Remember a step; what was taken back cannot be made again after it."""
        if before == after:
            return
        self._undone.clear()
        if self._open and slider and self._done and self._done[-1].slider == slider:
            before = self._done.pop().before
        if before != after:
            self._done.append(Move(slider, before, after))
        self._open = True

    def back(self) -> Move | None:
        """Return the move to take back, `None` when none is left."""
        return self._shift(self._done, self._undone)

    def again(self) -> Move | None:
        """Return the move to make again, `None` when none was taken back."""
        return self._shift(self._undone, self._done)

    def clear(self) -> None:
        self._done.clear()
        self._undone.clear()

    def _shift(self, source: list[Move], target: list[Move]) -> Move | None:
        self._open = False
        if not source:
            return None
        target.append(source.pop())
        return target[-1]


@dataclass(slots=True)
class TuningSession:
    """The settings (`profile`, against `saved`), the question, and `now`: `asked_at` moved by
    `days`.

    `text` is what is asked, `query` the saved query that it is. `watched` is a memory that somebody
    asked about. `ranking` and `baseline` are there when there is something to rank, and follow
    every change of what they are made of; so does `against`, the query held against the floor.
    `moves` are those since something was stored. `marked` are the memories, at most two, that are
    to be compared.
    """

    saved: Profile
    profile: Profile
    asked_at: datetime
    days: float = 0.0
    text: str = ""
    query: SavedQuery | None = None
    watched: str | None = None
    question: Question | None = None
    ranking: Ranking | None = None
    baseline: Ranking | None = None
    against: AgainstFloor | None = None
    moves: Moves = field(default_factory=Moves)
    marked: tuple[str, ...] = ()

    @property
    def now(self) -> datetime:
        """The moment that is ranked at."""
        return record.moved(self.asked_at, timedelta(days=self.days))

    @property
    def settings(self) -> Settings:
        """Where the sliders stand."""
        return Settings(self.profile, self.days)

    @property
    def changed(self) -> bool:
        """Whether the settings differ from the saved profile."""
        return self.profile != self.saved

    def copy(self) -> "TuningSession":
        """Return the session as it is now, for another thread."""
        return replace(self)

    # Asking

    def moment(self, present: datetime) -> datetime:
        """Return when the query is asked: in the present, unless it was saved with a moment of its
        own.
        """
        return present if self.query is None or self.query.now is None else self.query.now

    def put(self, question: Question | None, asked_at: datetime) -> None:
        """Take another question, or the same one over a store that changed."""
        self._ask(question, asked_at)
        self.rerank()

    def take(self, ranked: "TuningSession") -> None:
        """Take what a copy was put on another thread, with its ranking unless the settings moved
        meanwhile.
        """
        self._ask(ranked.question, ranked.asked_at)
        if (ranked.settings, ranked.saved) == (self.settings, self.saved):
            self.ranking, self.baseline, self.against = (
                ranked.ranking,
                ranked.baseline,
                ranked.against,
            )
        else:
            self.rerank()

    def _ask(self, question: Question | None, asked_at: datetime) -> None:
        self.question, self.asked_at, self.baseline, self.against = question, asked_at, None, None
        if question is not None:
            known = question.ranker.pool.row_of
            self.watched = self.watched if self.watched in known else None
            self.marked = tuple(id for id in self.marked if id in known)

    # Moving

    def move(self, slider: str, settings: Settings) -> None:
        """Put one slider elsewhere; its id makes its steps in a row one move."""
        self.moves.note(slider, self.settings, settings)
        self._stand(settings)

    def load(self, profile: Profile, saved: Profile, days: float | None = None) -> None:
        """Put all sliders elsewhere at once. Against another saved profile, no move before leads
        back.
        """
        settings = Settings(profile, self.days if days is None else days)
        if saved == self.saved:
            self.moves.note("", self.settings, settings)
        else:
            self.moves.clear()
        self.saved = saved
        self._stand(settings)

    def undo(self) -> Move | None:
        """Take back the last move since something was stored; `None` when there is none."""
        move = self.moves.back()
        if move is not None:
            self._stand(move.before)
        return move

    def redo(self) -> Move | None:
        """Make the move again that was taken back; `None` when there is none."""
        move = self.moves.again()
        if move is not None:
            self._stand(move.after)
        return move

    def _stand(self, settings: Settings) -> None:
        self.profile, self.days = settings.profile, settings.days
        self.rerank()

    # Ranking

    def rerank(self) -> None:
        """Rank anew; costs a pass over a few columns, no embedding."""
        self.ranking = None
        profile = self.profile
        if self.question is None or not any(weight_of(profile, key) for key in WEIGHT_KEYS):
            return
        known = self.baseline
        if known is None or (known.profile, known.now) != (self.saved, self.asked_at):
            self.baseline = self.question.rank(self.saved, self.asked_at, 1)
        self.ranking = self.question.rank(profile, self.now, profile.k + BEYOND)
        if self.against is None or self.against.now != self.now:
            self.against = against(self.question.standard, self.question.scores, self.ranking)

    def watch(self, memory: str | None) -> None:
        """Let a memory stand in the list whatever its place; one that takes no part, and `None`,
        end that.
        """
        takes_part = self.ranking is not None and memory in self.ranking.pool.row_of
        self.watched = memory if takes_part else None

    def mark(self, memory: str) -> None:
        """Mark a memory, or take its mark away; of three the first loses its own."""
        others = tuple(id for id in self.marked if id != memory)
        self.marked = others if memory in self.marked else (*others, memory)[-2:]

    def standings(self) -> tuple[Standing, ...]:
        """Return the memories in the order of the ranking, with how far each moved."""
        if self.ranking is None or self.baseline is None:
            return ()
        return standings_of(self.ranking, self.baseline)

    def standing(self, id: str | None) -> Standing | None:
        """Return how any memory stands; `None` where nothing is ranked or it is not there."""
        ranking = self.ranking
        if ranking is None or self.baseline is None or id is None or id not in ranking.pool.row_of:
            return None
        return standing_of(ranking, self.baseline, id)

    def explain(
        self, id: str, shown: Callable[[Any], Any] = lambda record: record
    ) -> Explanation | None:
        """Say where every figure of a memory's score comes from; `shown` makes records such as a
        person may see.
        """
        ranking, standing = self.ranking, self.standing(id)
        if self.question is None or ranking is None or standing is None:
            return None
        memory, profile = standing.memory, ranking.profile
        ends = {
            factor: (_by(ranking, bounds.low_id, shown), _by(ranking, bounds.high_id, shown))
            for factor, bounds in ranking.bounds.items()
        }
        return Explanation(
            id=id,
            ranking=ranking,
            standing=standing._replace(memory=shown(memory)),
            hidden=left_out_because(memory, ranking),
            shares=tuple(
                replace(s, facts=shown(s.facts)) if s.facts else s
                for s in self.question.shares(ranking, id)
            ),
            hours=hours_between(_since(memory, profile), ranking.now),
            half_life=_half_life(memory, profile),
            ends=ends,
            terms=shown(term_parts(ranking, id, self.question.text)),
            against=self.against,
        )

    def flips(self, factor: Factor, high: float) -> tuple[Flip, ...] | None:
        """Return where the top changes as one weight goes from 0 to `high`; `None` when nothing is
        ranked.
        """
        ranking = self.ranking
        if ranking is None or not ranking.ids:
            return None
        return (
            flips(_lines(ranking, factor, high), ranking.profile.k)
            if factor.id in ranking.factors
            else ()
        )

    def ways(self, id: str, highs: Iterable[float]) -> tuple[WeightChange, ...]:
        """Return the single weights that would bring a memory into the top, the smallest change
        first.

        `highs` are the upper ends of the scales, factor by factor.
        """
        ranking = self.ranking
        place = ranking.place_of(id) if ranking is not None and id in ranking.pool.row_of else None
        if ranking is None or place is None or place <= ranking.profile.k:
            return ()
        position = ranking.candidates.position(ranking.pool.row(id))
        assert position is not None
        found: list[WeightChange] = []
        for factor, high in zip(FACTORS, highs, strict=True):
            if factor.id in ranking.factors:
                now = ranking.weight(factor)
                then = admitting(
                    _lines(ranking, factor, max(high, now)), position, ranking.profile.k, now
                )
                found += [WeightChange(factor, now, value) for value in then if value is not None]
        return tuple(sorted(found, key=lambda way: (abs(way.then - way.now), way.factor.id)))

    def difference(self, highs: Iterable[float]) -> Difference | None:
        """Return what parts the two marked memories; `None` unless two are marked that take part.

        `highs` are the upper ends of the scales, factor by factor.
        """
        standings = [s for s in map(self.standing, self.marked) if s and s.scored]
        ranking = self.ranking
        if len(standings) < 2 or ranking is None:
            return None
        first, second = sorted(standings, key=lambda s: s.place or 0)
        assert first.scored is not None
        assert second.scored is not None
        ahead, factors, swaps = first.scored.total - second.scored.total, [], []
        for factor, high in zip(FACTORS, highs, strict=True):
            if factor.id in ranking.factors:
                one, other = first.scored.weighted[factor.id], second.scored.weighted[factor.id]
                factors.append((factor, one, other))
                lead = first.scored.norm[factor.id] - second.scored.norm[factor.id]
                now = ranking.weight(factor)
                # Totals are linear in a weight: here both are equal.
                level = now - ahead / lead if abs(lead) > PARALLEL else math.inf
                end = 0.0 if lead > 0 else max(high, now)
                if 0 <= level <= max(high, now):
                    then = shortest_between(level, end, last=True)
                    swaps += [] if then is None else [WeightChange(factor, now, then)]
        return Difference(
            first,
            second,
            tuple(sorted(factors, key=lambda part: -abs(part[1] - part[2]))),
            min(swaps, key=lambda swap: abs(swap.then - swap.now), default=None),
        )

    def moved(self, other: Profile, now: datetime) -> int:
        """Return how many of the top places would hold another memory under another profile or at
        another time.
        """
        if self.question is None or self.ranking is None:
            return 0
        top, here = self.question.rank(other, now).ids, self.ranking.ids[: self.profile.k]
        return max(len(here), len(top)) - sum(a == b for a, b in zip(here, top, strict=False))

    def bounds(self) -> FrozenBounds | None:
        """Return the minimum and maximum of each factor in the ranking; `None` where nothing is
        normalised.
        """
        if self.ranking is None or not self.ranking.factors or self.profile.scorer != "factors":
            return None
        found = {name: (one.low, one.high) for name, one in self.ranking.factors.items()}
        return FrozenBounds(**found)
