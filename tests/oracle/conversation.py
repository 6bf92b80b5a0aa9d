"""Relevance in a conversation: the plain rules of its parts.

Words count with those that mean the same, and with those of the memories around; an answer inherits
from its question; a question is no answer; what another person said, or was said in another month,
than the query names counts less, and so does what an assistant said where the query is about who
asks. A long text lends and inherits less. Neighbours are the memories before and after in the same
session, by time, then id, among those that take part.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.oracle.cases import Candidate, PartCase
from workbench.core.stream.memory import Memory
from workbench.core.tuning.naming import (
    HALF,
    Month,
    actors_named,
    answering,
    months_named,
    names_question,
    question_share,
)
from workbench.retrieval.ranking.relevance import (
    AROUND,
    BACK,
    BRIEF,
    FROM_AFTER,
    FROM_BEFORE,
    FROM_QUESTION,
    SATURATION,
    WORDS,
)

Words = tuple[tuple[float, ...], float]
"""How often each term that is asked for counts in a memory, and the length of its text in words."""


@dataclass(frozen=True, slots=True)
class Line:
    """The candidates of one session in order: their places in the pool."""

    places: tuple[int, ...]

    def at(self, index: int) -> int | None:
        """Return a place by its index, `None` outside."""
        return self.places[index] if 0 <= index < len(self.places) else None


def related_words(case: PartCase) -> list[Words]:
    """Return each candidate's words: every term counts with its related ones."""
    strength = case.profile.related_words
    return [(tuple(own + strength * near for own, near in c.counts), c.length) for c in case.pool]


def neighbour_words(case: PartCase) -> list[Words]:
    """Return each candidate's words with its share of those of the memories around it."""
    words: Sequence[Words] = case.fed.get("related", ()) or related_words(case)
    share = case.profile.neighbour_words
    if not share:
        return list(words)
    found, lent = list(words), [share * brevity(c.length) for c in case.pool]
    for line in lines(case.pool):
        for index, place in enumerate(line.places):
            counts, length = list(words[place][0]), words[place][1]
            for step in range(1, AROUND + 1):
                for other, times in ((line.at(index - step), 1.0), (line.at(index + step), 0.5)):
                    if other is not None:
                        part = times * lent[other]
                        counts = [
                            x + part * y for x, y in zip(counts, words[other][0], strict=True)
                        ]
                        length += part * words[other][1]
            found[place] = (tuple(counts), length)
    return found


def absolute_scores(case: PartCase) -> list[float]:
    """Return for each candidate the share of the query's words that it holds, by weight; the pool
    does not move it.
    """
    weights, long = case.case.weights, case.profile.length
    words: Sequence[Words] = case.fed.get("neighbours", ()) or neighbour_words(case)
    most = sum(weights)
    if not most:
        return [0.0] * len(case.pool)
    return [
        sum(
            w * x / (x + SATURATION + long * length / WORDS)
            for w, x in zip(weights, counts, strict=True)
        )
        / most
        for counts, length in words
    ]


def carry_scores(case: PartCase) -> list[float]:
    """Return what each memory inherits: most from the question that it answers, less from what
    stands beside it.
    """
    gained, share, so_far = [0.0] * len(case.pool), case.profile.carry, case.so_far
    if not share or not so_far:
        return gained
    usual = case.usual
    excess = [max(0.0, value - usual) for value in so_far]
    for line in lines(case.pool):
        for index, place in enumerate(line.places):
            before, after, asked = (
                line.at(index - 1),
                line.at(index + 1),
                _answered(case.pool, line, index),
            )
            kept = FROM_BEFORE * excess[before] if before is not None else 0.0
            if asked is not None:
                kept += (
                    FROM_QUESTION * question_share(case.pool[asked].memory.content) * excess[asked]
                )
            most = max(kept, FROM_AFTER * excess[after] if after is not None else 0.0)
            gained[place] = share * brevity(case.pool[place].length) * most
    return gained


def question_shares(case: PartCase) -> list[float]:
    """Return what is left of a memory that asks more than it tells: all where the query looks for a
    question.
    """
    share = 0.0 if names_question(case.case.query) else case.profile.questions
    return [1 - share * question_share(c.memory.content) for c in case.pool]


def actor_shares(case: PartCase) -> list[float]:
    """Return what is left of a memory that another actor said than the one who is named."""
    share, named = (
        case.profile.other_actor,
        actors_named(case.case.query, case.case.actors),
    )
    return [
        1 - share if named and (who := speaker(c.memory)) and who not in named else 1.0
        for c in case.pool
    ]


def role_shares(case: PartCase) -> list[float]:
    """Return what is left of a memory that an assistant said, where the query is about who asks."""
    share, answers = case.profile.role, answering(case.case.query, case.case.actors)
    return [1 - share if speaker(c.memory) in answers else 1.0 for c in case.pool]


def month_shares(case: PartCase) -> list[float]:
    """Return what is left of a memory that was made in another month than the one that is named."""
    share, months = case.profile.month, months_named(case.case.query)
    return [
        1 - share * (1 - month_share(months, c.memory.created_at)) if months else 1.0
        for c in case.pool
    ]


def month_share(months: Collection[Month], at: datetime) -> float:
    """Return how well a moment fits the best of some months: 1 in one or on its day, `HALF` on
    another day of it.
    """
    return max((_month_share(month, at.astimezone(UTC)) for month in months), default=0.0)


def _month_share(month: Month, at: datetime) -> float:
    if at.month != month.month or month.year not in (None, at.year):
        return 0.0
    return 1.0 if month.day in (None, at.day) else HALF


def brevity(length: float) -> float:
    """Return what a text of some length lends and inherits: 1 up to `BRIEF` words, then ever less."""
    return BRIEF / max(length, BRIEF)


def speaker(memory: Memory) -> str:
    """Return who said a memory, empty when nobody knows."""
    return memory.source.speaker or ""


def actors_of(memories: Sequence[Memory]) -> frozenset[str]:
    """Return everybody who said at least two of some memories."""
    said = [who for memory in memories if (who := speaker(memory))]
    return frozenset(who for who in set(said) if said.count(who) > 1)


def lines(pool: Sequence[Candidate]) -> list[Line]:
    """Return the sessions of a pool, each in order; a memory without a session stands alone."""
    memories = [c.memory for c in pool]
    order = sorted(range(len(memories)), key=lambda i: (memories[i].created_at, memories[i].id))
    sessions: dict[str, list[int]] = {}
    for place in order:
        if memories[place].session_id:
            sessions.setdefault(memories[place].session_id, []).append(place)
    return [Line(tuple(places)) for places in sessions.values()]


def _answered(pool: Sequence[Candidate], line: Line, index: int) -> int | None:
    """Return whom a memory answers: the nearest before it that another actor said, else the one
    just before.
    """
    who = speaker(pool[line.places[index]].memory)
    for back in range(1, BACK + 1):
        place = line.at(index - back)
        other = speaker(pool[place].memory) if place is not None else ""
        if who and other and other != who:
            return place
    return line.at(index - 1)
