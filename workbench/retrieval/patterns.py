"""The patterns that a task is held against, and what tells one failure from another (source 004,
3.4).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property, lru_cache

from workbench.core.agents.patterns.matching import (
    USED,
    LeftOut,
    Match,
    Task,
    match,
    obstacle,
    ranked,
    text_of,
)
from workbench.core.agents.patterns.pattern import (
    Feature,
    Pattern,
    Status,
    Tree,
    answers_of,
    decision_tree,
)
from workbench.core.words import humped, stop_words, words
from workbench.retrieval.fulltext.terms import stems

_FAILING = frozenset({"error", "fail", "failed", "failure", "exception", "expected", "got"})
"""Words of any failure."""


def telling(*texts: str) -> list[frozenset[str]]:
    """Return for each text the stems by which one failure is told from another, of names in their
    parts; no numbers.
    """
    stop, said = stop_words() | _FAILING, list[set[str]]()
    for text in texts:
        every = (
            part for word in (*words(text), *humped(text)) for part in (word, *word.split("_"))
        )
        said.append(
            {one for one in every if len(one) > 1 and not one.isdigit() and one not in stop}
        )
    known = sorted(set[str]().union(*said))
    of = dict(zip(known, stems(known), strict=True))
    return [frozenset(of[word] for word in some) for some in said]


@lru_cache(256)
def words_of(text: str) -> frozenset[str]:
    """Return those of one text, which several layers of a context ask for."""
    return telling(text)[0]


class PatternIndex:
    """Patterns of some statuses. It is never changed: another set of patterns
    has its own.
    """

    def __init__(self, patterns: Iterable[Pattern], statuses: frozenset[Status] = USED) -> None:
        self.patterns = tuple(pattern for pattern in patterns if pattern.status in statuses)
        self._statuses = statuses

    def applicable(self, task: Task, now: datetime, most: int | None = 5) -> tuple[Match, ...]:
        """Return the patterns that apply to a task, the best first."""
        facts = task.every_fact
        fitting = [
            pattern
            for pattern in self.patterns
            if obstacle(pattern, task, facts, self._statuses) is None
        ]
        return ranked([match(pattern, task, now) for pattern in fitting], most)

    def left_out(self, task: Task) -> tuple[tuple[Pattern, LeftOut], ...]:
        """Return the patterns that do not apply to a task, by id, each with the first reason."""
        facts = task.every_fact
        every = (
            (pattern, obstacle(pattern, task, facts, self._statuses)) for pattern in self.patterns
        )
        found = [(pattern, why) for pattern, why in every if why is not None]
        return tuple(sorted(found, key=lambda one: one[0].id))

    def features_in(self, text: str) -> dict[Feature, frozenset[str]]:
        """Return the problem types and domains that a text names: all words of one stand in it."""
        said = set(words(text))
        found = {
            feature: [answer for answer, parts in known if parts <= said]
            for feature, known in self._named.items()
        }
        return {feature: frozenset(answers) for feature, answers in found.items() if answers}

    @cached_property
    def recoveries(self) -> tuple[tuple[Pattern, frozenset[str]], ...]:
        """The patterns for a recovery, each with what tells its words from others."""
        found = [pattern for pattern in self.patterns if pattern.category == "recovery"]
        return tuple(zip(found, telling(*map(text_of, found)), strict=True))

    @cached_property
    def tree(self) -> Tree:
        """The decision tree over the patterns."""
        return decision_tree(self.patterns)

    @cached_property
    def _named(self) -> dict[Feature, list[tuple[str, frozenset[str]]]]:
        names: Sequence[Feature] = ("problem_type", "domain")
        found: dict[Feature, list[tuple[str, frozenset[str]]]] = {}
        for feature in names:
            answers = set[str]().union(*(answers_of(one, feature) for one in self.patterns))
            parted = (
                (answer, frozenset(words(answer.replace("_", " ")))) for answer in sorted(answers)
            )
            found[feature] = [(answer, parts) for answer, parts in parted if parts - stop_words()]
        return found
