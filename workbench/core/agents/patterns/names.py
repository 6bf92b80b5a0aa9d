"""The words that patterns are sorted by; kept apart, so that who only asks for them does not load the rest."""

from typing import Literal, get_args

Category = Literal[
    "strategy", "decomposition", "sequence", "tool_selection", "failure", "recovery", "optimization", "domain"
]
"""What a pattern is about: an approach, a way to break down, an order of steps, tools, how things fail, what to do
then, what makes it faster, how a field does it."""

CATEGORIES: tuple[Category, ...] = get_args(Category)

Status = Literal["candidate", "validated", "under_review", "deprecated"]
"""Whether it gathers evidence, is used, was contradicted and is out of use until somebody decides, or is history."""

STATUSES: tuple[Status, ...] = get_args(Status)

Outcome = Literal["success", "partial", "failure"]
"""How an application went."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Relation = Literal["specializes", "generalizes", "contradicts", "complements"]
"""How one pattern stands to another."""

RELATIONS: tuple[Relation, ...] = get_args(Relation)
