"""Relevance as a column, made by its parts one after the other."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.core.runtime import may_stop
from workbench.core.tuning.naming import (
    HALF,
    MONTHS,
    Month,
    actors_named,
    answering,
    months_named,
    names_question,
)
from workbench.core.tuning.profile import How, Profile, factors_parameters_of, value_of
from workbench.core.tuning.scoring import Share
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.fulltext.thesaurus import Matches, nearness, present
from workbench.retrieval.ranking.cases import (
    Candidates,
    ColumnCase,
    Columns,
    PartColumnCase,
    ShareCase,
)
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.text_keys import searched_text

# Relevance in a conversation as columns, and each part's share.
#
# Words count with those that mean the same, and with those of the memories around; an answer
# inherits from its question; a question is no answer; what another person said, or was said in
# another month, than the query names counts less, and so does what an assistant said where the
# query is about who asks. A long text lends and inherits less. Neighbours are the memories before
# and after in the same session, by time, then id, among those that take part.
#
# Words are counted in the order of the sessions, where neighbours stand side by side.


SATURATION, WORDS = 0.3, 100.0
"""A term that occurs x times counts x / (x + `SATURATION` + length / `WORDS`), times the slider of
length.
"""

AROUND = 2
"""Memories before and after that lend their words; those after lend half as much."""

FROM_BEFORE, FROM_QUESTION, FROM_AFTER = 0.3, 0.7, 0.25
"""What a memory inherits of the excess of the one before, of the question it answers, and of the
one after.
"""

BACK = 4
"""How far back the memory of another actor may stand that a memory answers."""

BRIEF = 25.0
"""Words, without stop words, of the longest text that lends and inherits in full; of twice as many
it is half.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """How often each term counts, in the order of the sessions: where, ascending, and how much; and
    the lengths.
    """

    terms: tuple[tuple[float, Rows, Column], ...]
    lengths: Column


def absolute_column(case: PartColumnCase) -> Column:
    """Return the share of the query's words that each candidate holds. Nobody may change it."""
    words: Words = case.fed.get("neighbours") or case.fed.get("related") or _related(case)
    long = case.profile.length
    return case.kept(
        ("absolute", words, long),
        lambda: _share_of(words, case.chosen, long),
    )


def _share_of(words: Words, chosen: Candidates, long: float) -> Column:
    total, most = np.zeros(len(chosen)), 0.0
    for weight, at, counts in words.terms:
        most += weight
        if len(at):
            # In place: each array of a large pool that is new costs as much as what is worked out
            # in it.
            long_by, of = words.lengths[at], counts + SATURATION
            long_by *= long / WORDS
            of += long_by
            share = np.multiply(weight, counts, out=long_by)
            share /= of
            total[at] += share
    column = np.empty(len(total))
    column[chosen.order] = total / most if most else total
    return column


def _related(case: PartColumnCase) -> Words:
    strength = case.profile.related_words
    return case.kept(
        ("related", strength),
        lambda: _counted(case.case.scores.matches, case.chosen, strength),
    )


def _counted(matches: Matches, chosen: Candidates, strength: float) -> Words:
    if not matches.terms:
        return Words((), np.zeros(len(chosen)))
    terms = []
    for term in matches.terms:
        at = chosen.places(term.rows)
        counts = term.own + strength * term.near
        kept = np.flatnonzero((at >= 0) & (counts > 0))
        terms.append((term.weight, at[kept], counts[kept]))
    return Words(tuple(terms), matches.lengths[chosen.rows[chosen.order]])


def _related_part(case: PartColumnCase) -> Words | None:
    return _related(case) if case.profile.lexical == "absolute" else None


def _neighbours_part(case: PartColumnCase) -> Words | None:
    words: Words | None = case.fed["related"]
    share = case.profile.neighbour_words
    if words is None or not share or case.chosen.alone:
        return words
    return case.kept(("neighbours", words, share), lambda: _with_lent(words, case.chosen, share))


def _with_lent(words: Words, chosen: Candidates, share: float) -> Words:
    brief = _brevity(words.lengths)
    steps = [
        (step, part * pairs * (brief[:-step] if step > 0 else brief[-step:]))
        for step, part, pairs in _steps(chosen, share)
    ]
    lengths = _lent_to_all(words.lengths, steps)
    return Words(
        tuple((w, *_lent(at, x, steps, len(lengths))) for w, at, x in words.terms), lengths
    )


Steps = Sequence[tuple[int, Column]]
"""How far words are lent, positive to those after, and what part of them each pair lends: none
across sessions.
"""


def _steps(chosen: Candidates, share: float) -> Iterator[tuple[int, float, Mask]]:
    """Yield how far words are lent, positive to those after, how much of them, and which pairs are
    of one session.
    """
    together = chosen.linked
    for step in range(1, AROUND + 1):
        if step > 1:
            together = together[:-1] & chosen.linked[step - 1 :] if len(together) else together
        yield step, share, together
        yield -step, share / 2, together


def _brevity(lengths: Column) -> Column:
    return BRIEF / np.maximum(lengths, BRIEF)


def _lent_to_all(values: Column, steps: Steps) -> Column:
    """Return the values once every place has lent its own to those around."""
    lent, scratch = values.copy(), np.empty(len(values))
    for step, factor in steps:
        some = scratch[: len(factor)]
        if step > 0:
            lent[step:] += np.multiply(factor, values[:-step], out=some)
        else:
            lent[:step] += np.multiply(factor, values[-step:], out=some)
    return lent


def _lent(at: Rows, counts: Column, steps: Steps, size: int) -> tuple[Rows, Column]:
    """Return where a term counts, and how much, once its places have lent it to those around."""
    if not len(at):
        return at, counts
    total = np.zeros(size)
    total[at] = counts
    if len(at) * SPARSE > size:
        total = _lent_to_all(total, steps)
    else:
        for step, factor in steps:
            pair = at if step > 0 else at + step
            sound = (pair >= 0) & (pair < len(factor))
            total[at[sound] + step] += factor[pair[sound]] * counts[sound]
    found = np.flatnonzero(total)
    return found, total[found]


SPARSE = 16
"""A term that stands in less than one of so many places is lent place by place."""


@dataclass(frozen=True, slots=True, eq=False)
class InheritedRelevance:
    """What each inherits, in the order of the sessions: from the one before, its question and the
    one after.
    """

    before: Column
    question: Column
    after: Column
    asked: Rows
    """The place of the question, one past the end for nobody's."""

    @property
    def gained(self) -> Column:
        return np.maximum(self.before + self.question, self.after)


def usual(so_far: Column, known: Mask | None) -> float:
    """Return what a memory seldom exceeds."""
    values = so_far if known is None or not known.any() else so_far[known]
    return float(values.mean() + values.std())


def _heritage(
    chosen: Candidates,
    pool: Pool,
    so_far: Column,
    least: float,
    start: int,
    end: int,
    asked: Rows | None = None,
) -> InheritedRelevance:
    """Return what those between two places, in the order of the sessions, inherit from each other.

    Who has more than the `least` gives. `asked` are the places of their questions, where they are
    known.
    """
    order, linked = chosen.order[start:end], chosen.linked[start : max(start, end - 1)]
    found, size = so_far[order], len(order)
    # Few stand out; the others leave nothing to anybody.
    giving = np.flatnonzero(found > least)
    excess, (before, after), asking = found[giving] - least, np.zeros((2, size)), np.zeros(size + 1)
    on, back = giving < size - 1, giving > 0
    on[on], back[back] = linked[giving[on]], linked[giving[back] - 1]
    before[giving[on] + 1] = FROM_BEFORE * excess[on]
    after[giving[back] - 1] = FROM_AFTER * excess[back]
    asking[giving] = FROM_QUESTION * (pool.asks[chosen.rows[order[giving]]] * excess)
    if asked is None:
        asked = _answered(pool.speaker[chosen.rows[order]], linked)
    return InheritedRelevance(before, asking[asked], after, asked)


def _carry_part(case: PartColumnCase) -> Column | None:
    share, so_far, chosen = case.profile.carry, case.so_far, case.chosen
    if so_far is None or not share or not len(so_far) or chosen.alone:
        return None
    pool, column = case.case.pool, np.empty(len(so_far))

    def answered() -> Rows:
        return _answered(pool.speaker[chosen.rows[chosen.order]], chosen.linked)

    asked = case.kept(("answered",), answered)
    least = usual(so_far, case.known)
    column[chosen.order] = (
        share * _heritage(chosen, pool, so_far, least, 0, len(so_far), asked).gained
    )
    column *= _brevity(case.case.scores.matches.lengths[chosen.rows])
    return column


def _answered(who: NDArray[np.int32], linked: Mask) -> Rows:
    """Return whom each of some speakers answers; one past the end for nobody. Neighbours in a
    session are `linked`.
    """
    size = len(who)
    found = np.full(size, size, np.intp)
    found[1:] = np.where(linked, np.arange(size - 1), size)
    open_ones, together = who >= 0, linked
    for step in range(1, min(BACK, size - 1) + 1):
        if step > 1:
            together = together[:-1] & linked[step - 1 :]
        other = together & (who[:-step] >= 0) & (who[:-step] != who[step:]) & open_ones[step:]
        at = np.flatnonzero(other)
        found[at + step] = at
        open_ones[at + step] = False
    return found


def _questions_part(case: PartColumnCase) -> Column | None:
    share = _asking_costs(case.profile, case.case.scores.query)
    column: Column = 1 - share * case.case.pool.asks[case.chosen.rows]
    return column if share else None


def _asking_costs(profile: Profile, query: str) -> float:
    return 0.0 if names_question(query) else profile.questions


def _actor_part(case: PartColumnCase) -> Column | None:
    share, pool = case.profile.other_actor, case.case.pool
    named = actors_named(case.case.scores.query, pool.actors) if share else frozenset()
    if not named:
        return None
    codes = [pool.speakers[name] for name in named]
    who = pool.speaker[case.chosen.rows]
    return np.where((who >= 0) & ~np.isin(who, codes), 1 - share, 1.0)


def _role_part(case: PartColumnCase) -> Column | None:
    share, pool = case.profile.role, case.case.pool
    answers = answering(case.case.scores.query, pool.actors) if share else frozenset()
    if not answers:
        return None
    return np.where(
        np.isin(pool.speaker[case.chosen.rows], [pool.speakers[name] for name in answers]),
        1 - share,
        1.0,
    )


def _month_part(case: PartColumnCase) -> Column | None:
    share = case.profile.month
    months = months_named(case.case.scores.query) if share else ()
    if not months:
        return None
    fits = _fit(months, case.case.pool.created[case.chosen.rows])
    return 1 - share * (1 - fits)


def _fit(months: tuple[Month, ...], created: Rows) -> Column:
    at = created.astype("datetime64[us]")
    month = at.astype("datetime64[M]")
    year = month.astype("datetime64[Y]").astype(int) + 1970
    number, day = (
        month.astype(int) % 12 + 1,
        (at.astype("datetime64[D]") - month.astype("datetime64[D]")).astype(int),
    )
    fits = np.zeros(len(at))
    for named in months:
        same = number == named.month
        if named.year is not None:
            same &= year == named.year
        exact = same if named.day is None else same & (day + 1 == named.day)
        fits = np.maximum(fits, np.where(exact, 1.0, np.where(same, HALF, 0.0)))
    return fits


def _nothing(case: ShareCase) -> Share:
    return Share(case.part, 0.0, None, 0.0)


def _related_share(case: ShareCase) -> Share:
    """Tell which related word in the memory counts most."""
    best: tuple[float, str, str, float] | None = None
    if case.profile.lexical == "absolute" and (strength := case.profile.related_words):
        text = searched_text(case.pool.memories[case.row])
        for term in case.scores.matches.terms:
            for stem, cosine in present(text, term.related):
                counts = strength * nearness(cosine)
                best = max(best or (0.0, "", "", 0.0), (counts, stem, term.term, cosine))
    if best is None:
        return _nothing(case)
    counts, word, asked, cosine = best
    return Share(
        case.part,
        counts,
        None,
        0.0,
        {"word": word, "asked": asked, "cosine": cosine, "counts": counts},
    )


def _neighbours_share(case: ShareCase) -> Share:
    """Tell which word of a memory beside it counts most."""
    share, terms = case.profile.neighbour_words, case.scores.matches.terms
    found = []
    if case.profile.lexical == "absolute" and share:
        for step, row in case.chosen.around(case.row, AROUND):
            part = share if step < 0 else share / 2
            for term, (own, _) in zip(terms, case.scores.matches.counts(row), strict=True):
                if own:
                    lent = (
                        part * own * (BRIEF / max(float(case.scores.matches.lengths[row]), BRIEF))
                    )
                    found.append((lent * term.weight, lent, step, term.term))
    if not found:
        return _nothing(case)
    _, counts, step, word = max(found)
    where = "before" if step < 0 else "after"
    facts: dict[str, str | float] = {
        "word": word,
        "steps": abs(step),
        "where": where,
        "counts": counts,
    }
    return Share(case.part, counts, None, 0.0, facts)


def _carry_share(case: ShareCase) -> Share:
    """Tell what the memory inherits, and from which one."""
    gained = case.made_of("carry")
    if not gained or case.position is None:
        return _nothing(case)
    chosen, at = case.chosen, int(case.chosen.places(np.array([case.row]))[0])
    start = max(0, at - BACK)
    known = None if case.scores.known is None else case.scores.known[chosen.rows]
    heritage, own = (
        _heritage(chosen, case.pool, case.added, usual(case.added, known), start, at + 2),
        at - start,
    )
    ways = {
        at - 1: float(heritage.before[own]), start + int(heritage.asked[own]): float(heritage.question[own]),
        at + 1: float(heritage.after[own]),
    }  # fmt: skip
    source = chosen.rows[chosen.order[max(ways, key=lambda place: ways[place])]]
    facts: dict[str, str | float] = {"gained": gained, "id": case.pool.memories[int(source)].id}
    return Share(case.part, gained, None, gained, facts)


def _questions_share(case: ShareCase) -> Share:
    """Tell how much of the memory asks."""
    asks = float(case.pool.asks[case.row])
    return _kept(case, _asking_costs(case.profile, case.scores.query) * asks, {"asks": asks})


def _other_actor_share(case: ShareCase) -> Share:
    """Tell who said the memory when the query names somebody else."""
    who, named = case.pool.said_by(case.row), actors_named(case.scores.query, case.pool.actors)
    lost = case.profile.other_actor if who and named and who not in named else 0.0
    return _kept(case, lost, {"speaker": who, "named": " and ".join(sorted(named))})


def _role_share(case: ShareCase) -> Share:
    """Tell that an assistant said the memory when the query is about who asks."""
    who = case.pool.said_by(case.row)
    lost = case.profile.role if who in answering(case.scores.query, case.pool.actors) else 0.0
    return _kept(case, lost, {"speaker": who})


def _month_share(case: ShareCase) -> Share:
    """Tell when the memory was made when the query names another month."""
    months, created = months_named(case.scores.query), case.pool.created[[case.row]]
    lost = case.profile.month * (1 - float(_fit(months, created)[0])) if months else 0.0
    made = str(created.astype("datetime64[us]")[0])[:10]
    return _kept(
        case,
        lost,
        {"made": made, "named": " and ".join(MONTHS[m.month - 1].title() for m in months)},
    )


def _kept(case: ShareCase, lost: float, facts: dict[str, str | float]) -> Share:
    """Return a part that takes something away, with its facts where it does."""
    times = 1 - lost
    return Share(case.part, times, None, times, facts if lost else {})


def relevance_column(case: ColumnCase) -> Column:
    """Let the parts make the relevance of all candidates. Raises `Stopped`."""
    so_far = _made(case)[0]
    return np.zeros(len(case.chosen)) if so_far is None else so_far


def part_columns(case: ColumnCase) -> Mapping[str, Any]:
    """Return what each part comes to for all candidates, by its id; `None` for one that changes
    nothing.
    """
    return _made(case)[1]


Made = tuple[Column | None, Mapping[str, Any]]


def _made(case: ColumnCase) -> Made:
    """Return the relevance and its parts, remembered: who asks for the one soon asks for the
    others.
    """
    parts = tuple(part.id for part in case.parts)
    return case.cache.get(
        ("parts", parts, case.chosen, _depends(case)), partial(_joined_parts, case)
    )


def _joined_parts(case: ColumnCase) -> Made:
    so_far: Column | None = None
    fed: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for part in case.parts:
        may_stop()
        made[part.id] = PARTS[part.id][0](PartColumnCase(case, so_far, fed))
        if part.how == "feeds":
            fed[part.id] = made[part.id]
        else:
            so_far = _joined(so_far, part.how, made[part.id])
    return so_far, made


def _joined(so_far: Column | None, how: How, column: Column | None) -> Column | None:
    """Add a column to what there is so far, in place, or multiply by it; nothing times a column is
    nothing.
    """
    if column is None:
        return so_far
    if so_far is None:
        return column.copy() if how == "adds" else None
    joined: Column = (np.add if how == "adds" else np.multiply)(so_far, column, out=so_far)
    return joined


def _depends(case: ColumnCase) -> Hashable:
    values = (value_of(case.profile, knob.key) for knob in factors_parameters_of(case.parts))
    return case.scores, case.profile.lexical, tuple(values)


def _dense(case: PartColumnCase) -> Column:
    column: Column = np.multiply(
        case.case.scores.dense[case.chosen.rows], case.profile.blend, dtype=np.float64
    )
    return column


def _lexical(case: PartColumnCase) -> Column:
    share: float | Column = 1 - case.profile.blend
    if case.known is not None:
        share = np.where(case.known, share, 1.0)
    if case.profile.lexical == "absolute":
        return share * absolute_column(case)
    column: Column = np.multiply(
        case.case.scores.lexical[case.chosen.rows], share, dtype=np.float64
    )
    return column


def _contiguity(case: PartColumnCase) -> Column | None:
    so_far, contiguity = case.so_far, case.profile.contiguity
    if so_far is None or not contiguity or not len(so_far) or case.chosen.alone:
        return None
    excess = so_far - usual(so_far, case.known)
    np.maximum(excess, 0.0, out=excess)
    gained: Column = contiguity * case.chosen.neighbour_maximum(excess)
    return gained


def _dense_share(case: ShareCase) -> Share:
    value, times = float(case.scores.dense[case.row]), case.profile.blend
    known = case.scores.known
    facts: dict[str, str | float] = {}
    if known is not None and not known[case.row]:
        facts = {"what": "text" if known.any() else "query or the text"}
    return Share(case.part, value, times, times * value, facts)


def _lexical_share(case: ShareCase) -> Share:
    """Tell the share of full text."""
    times, amount = (
        1 - case.profile.blend if case.scores.knows(case.row) else 1.0,
        case.made_of("lexical"),
    )
    if case.profile.lexical == "absolute" and amount is not None:
        return Share(case.part, amount / times if times else 0.0, times, amount)
    value = float(case.scores.lexical[case.row])
    return Share(case.part, value, times, times * value)


def _contiguity_share(case: ShareCase) -> Share:
    """Tell what neighbours in the session add."""
    gained = case.made_of("contiguity") or 0.0
    return Share(case.part, gained, None, gained)


PARTS: Mapping[str, tuple[Callable[[PartColumnCase], Any], Callable[[ShareCase], Share]]] = {
    "related": (_related_part, _related_share),
    "neighbours": (_neighbours_part, _neighbours_share),
    "dense": (_dense, _dense_share),
    "lexical": (_lexical, _lexical_share),
    "contiguity": (_contiguity, _contiguity_share),
    "carry": (_carry_part, _carry_share),
    "questions": (_questions_part, _questions_share),
    "other_actor": (_actor_part, _other_actor_share),
    "role": (_role_part, _role_share),
    "month": (_month_part, _month_share),
}
"""What each part comes to for all candidates, `None` where it changes nothing, and what tells its
share in one memory's relevance. A part that feeds may make anything; nobody changes a column that
was made.
"""

RELEVANCE = Columns(_depends, relevance_column)
