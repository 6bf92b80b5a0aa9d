"""The five terms of an episode's score, each with what it comes from, for the explain pane and the command line."""

from dataclasses import dataclass

from workbench.core.stream.memory import Memory
from workbench.core.tuning.episodic import GROUPS, Term, domains_of, in_domain, query_words, share
from workbench.core.tuning.profile import FACTORS, Factor
from workbench.core.tuning.recency import hours_between
from workbench.retrieval.ranking.ranker import Ranking


@dataclass(frozen=True, slots=True)
class TermPart:
    """One term: its value (at most 1) × its weight = what it adds; `note` says where the value comes from.

    The weight is the term's share of the profile's weight for its `factor`.
    """

    term: Term
    factor: Factor
    value: float
    weight: float
    weighted: float
    note: str


def term_parts(ranking: Ranking, id: str, query: str) -> tuple[TermPart, ...]:
    """Return the terms of a memory in a ranking of episodes; none under other profiles or when it is not ranked.

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
    domains, asked = domains_of(memory.category, memory.section, memory.metadata), query_words(query)
    hits = [name for name in domains if in_domain((name,), asked)]
    return hits[0] if hits else ("not asked" if domains else "has none")
