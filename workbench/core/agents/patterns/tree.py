"""A decision tree over patterns, as data: questions about a task, and which patterns are left (004, 3.4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.core.agents.patterns.pattern import Pattern

Feature = Literal["category", "problem_type", "domain"]
"""What a question is about."""

FEATURES: tuple[Feature, ...] = get_args(Feature)

FEW = 3
"""Patterns among which nobody is asked any more."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The ids of the patterns that are left."""

    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: for each answer a subtree; `otherwise` is that of any other answer, or of none."""

    about: Feature
    answers: tuple[tuple[str, "Node"], ...]
    otherwise: "Node"


Node = Leaf | Question


def decision_tree(patterns: Sequence[Pattern], features: Sequence[Feature] = FEATURES) -> Node:
    """Return the tree over these patterns; at each place it asks what leaves the fewest patterns, on average.

    A pattern that does not mind an answer is below all of them, so that no path loses one that applies.
    """
    ids = tuple(sorted(pattern.id for pattern in patterns))
    splits = [split for feature in features if (split := _split(feature, patterns)) is not None]
    if len(patterns) <= FEW or not splits:
        return Leaf(ids)
    best = min(splits, key=lambda split: (split.expected, features.index(split.about)))
    if best.expected >= len(patterns):
        return Leaf(ids)
    rest = [feature for feature in features if feature != best.about]
    answers = tuple((answer, decision_tree(part, rest)) for answer, part in sorted(best.parts.items()))
    return Question(best.about, answers, decision_tree(best.others, rest))


def walk(tree: Node, known: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return the ids that are left after every question that `known` answers, by feature; of several answers, all.

    A category that nobody names leaves the patterns of every one.
    """
    if isinstance(tree, Leaf):
        return tree.patterns
    given = {answer.casefold() for answer in known.get(tree.about, ())}
    ways = [node for answer, node in tree.answers if answer in given]
    if tree.about == "category" and not given:
        ways = [node for _, node in tree.answers]
    return tuple(sorted({id for node in (*ways, tree.otherwise) for id in walk(node, known)}))


def tree_json(tree: Node) -> dict[str, object]:
    """Return a tree as JSON has it."""
    if isinstance(tree, Leaf):
        return {"patterns": list(tree.patterns)}
    answers = {answer: tree_json(node) for answer, node in tree.answers}
    return {"question": tree.about, "answers": answers, "otherwise": tree_json(tree.otherwise)}


@dataclass(frozen=True, slots=True)
class _Split:
    about: Feature
    parts: Mapping[str, list[Pattern]]
    others: list[Pattern]

    @property
    def expected(self) -> float:
        """How many patterns are left on average, when every answer is as likely as it is frequent."""
        sizes = [len(part) for part in self.parts.values()]
        return sum(size * size for size in sizes) / sum(sizes)


def _split(feature: Feature, patterns: Sequence[Pattern]) -> _Split | None:
    asked = [(pattern, answers_of(pattern, feature)) for pattern in patterns]
    others = [pattern for pattern, answers in asked if not answers]
    names = {answer for _, answers in asked for answer in answers}
    parts = {name: [p for p, answers in asked if name in answers or not answers] for name in names}
    return _Split(feature, parts, others) if parts else None


def answers_of(pattern: Pattern, feature: Feature) -> frozenset[str]:
    """Return the answers that a pattern asks for; none where any will do."""
    where = pattern.applicability
    asked = {"category": (pattern.category,), "problem_type": where.problem_types, "domain": where.task_features.domain}
    return frozenset(map(str.casefold, asked[feature]))
