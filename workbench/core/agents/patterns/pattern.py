"""A pattern as a value: what it says, where it applies, what speaks for it, and what became of it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, field

from workbench.core.document import Record
from workbench.core.values import texts_in

# The words that patterns are sorted by; kept apart, so that who only asks for them does not load
# the rest.


Category = Literal[
    "strategy",
    "decomposition",
    "sequence",
    "tool_selection",
    "failure",
    "recovery",
    "optimization",
    "domain",
]
"""What a pattern is about: an approach, a way to break down, an order of steps, tools, how things
fail, what to do then, what makes it faster, how a field does it.
"""

CATEGORIES: tuple[Category, ...] = get_args(Category)

Status = Literal["candidate", "validated", "under_review", "deprecated"]
"""Whether it gathers evidence, is used, was contradicted and is out of use until somebody decides,
or is history.
"""

STATUSES: tuple[Status, ...] = get_args(Status)

Outcome = Literal["success", "partial", "failure"]
"""How an application went."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Basis = Literal["recorded", "named", "followed", "served", "unproven"]
"""Why an episode is held to have applied a pattern: somebody recorded it, it names it, it was
served it and did at least half of it; or was only served it. Of an `unproven` one nobody knows how
it ended.
"""

Relation = Literal["specializes", "generalizes", "contradicts", "complements"]
"""How one pattern stands to another."""

PatternChange = Literal["update", "deprecate", "supersede", "merge", "prune"]
"""What an agent may ask to have done to patterns."""

RELATIONS: tuple[Relation, ...] = get_args(Relation)


ContentType = Literal["strategy", "template", "heuristic", "procedure"]
"""The form in which a pattern says what to do."""

ParameterType = Literal["text", "number", "boolean", "list"]
"""What a parameter of a template takes."""


Name = Annotated[str, Meta(max_length=200, pattern=r"\S")]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=10**12)]


class ComplexityRange(Record, frozen=True):
    """How hard the tasks are that a pattern is for, from 0 to 10, both ends included."""

    min: Annotated[float, Meta(ge=0, le=10)] = 0.0
    max: Annotated[float, Meta(ge=0, le=10)] = 10.0


class TaskFeatures(Record, frozen=True):
    """What a task has to be for a pattern: one of the domains, so hard, with all of the
    capabilities at hand.
    """

    domain: tuple[str, ...] = ()
    complexity: ComplexityRange | None = None
    required_capabilities: tuple[str, ...] = ()


class Applicability(Record, frozen=True):
    """Where a pattern applies. What is empty asks for nothing; conditions are texts of
    `conditions`.
    """

    problem_types: tuple[str, ...] = ()
    task_features: TaskFeatures = TaskFeatures()
    context_conditions: tuple[str, ...] = ()
    anti_conditions: tuple[str, ...] = ()


class Strategy(Record, frozen=True):
    """An approach with its principles, and what it costs."""

    approach: str
    key_principles: tuple[str, ...] = ()
    trade_offs: str = ""


class Parameter(Record, frozen=True):
    """What a template is filled with. One without a default has to be given; `choices` are all that
    it may be.
    """

    name: str
    type: ParameterType = "text"
    about: str = ""
    default: object = None
    choices: tuple[str, ...] = ()


class Rule(Record, frozen=True):
    """How a template is filled: the parts with the id `part` stand only `when` a condition on the
    parameters holds.

    With `for_each` they stand once for each item of that parameter, a list; `{{item}}` is the item.
    """

    part: str
    when: str = ""
    for_each: str = ""


class Template(Record, frozen=True):
    """A structure with `{{parameters}}` in its texts, of objects, lists and texts as JSON knows
    them.
    """

    structure: Mapping[str, object] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    instantiation_rules: tuple[Rule, ...] = ()


class Heuristic(Record, frozen=True):
    """A rule of thumb: when a condition holds, an action, and why."""

    action: str
    condition: str = ""
    rationale: str = ""


class Step(Record, frozen=True):
    """One step of a procedure; `id` names it for branches, `depends_on` names steps that come
    before it.
    """

    text: str
    id: str = ""
    depends_on: tuple[str, ...] = ()


class Branch(Record, frozen=True):
    """Where a procedure goes on (the id of a step) when a condition holds."""

    when: str
    go_to: str


class Procedure(Record, frozen=True):
    """Steps in order, with branches, until one of the conditions holds."""

    steps: tuple[Step, ...]
    branching_logic: tuple[Branch, ...] = ()
    termination_conditions: tuple[str, ...] = ()


class Body(Record, frozen=True):
    """What a pattern says to do, in the form that `type` names."""

    type: ContentType
    strategy: Strategy | None = None
    template: Template | None = None
    heuristic: Heuristic | None = None
    procedure: Procedure | None = None


class Baseline(Record, frozen=True):
    """How comparable tasks went without the pattern: how many, the share that succeeded, and what
    one took on average.

    Time is in seconds; cost in whatever the runs count it in.
    """

    runs: int = 0
    success_rate: float | None = None
    time: float | None = None
    cost: float | None = None


class Evidence(Record, frozen=True):
    """What speaks for a pattern: what it brought along, and what the last validation found.

    `confidence_score` is 0–1, `statistical_significance` a p-value; savings are against the
    baseline, in its units. The episodes that it was `mined_from` do not validate it.
    """

    supporting_episodes: tuple[str, ...] = ()
    counter_episodes: tuple[str, ...] = ()
    num_applications: Count = 0
    success_rate: Share = 0.0
    avg_time_saving: float | None = None
    avg_cost_saving: float | None = None
    success_rate_improvement: float | None = None
    confidence_score: Share = 0.0
    statistical_significance: Share = 1.0
    last_validated: datetime | None = None
    mined_from: tuple[str, ...] = ()


class Guidance(Record, frozen=True):
    """How a pattern is put to use."""

    when_to_apply: str = ""
    how_to_apply: str = ""
    expected_benefits: tuple[str, ...] = ()
    potential_risks: tuple[str, ...] = ()
    alternative_patterns: tuple[str, ...] = ()


class Relationships(Record, frozen=True):
    """How a pattern stands to others, by their ids."""

    specializes: str | None = None
    generalizes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    complements: tuple[str, ...] = ()


class Pattern(Record, frozen=True):
    """A pattern. `edition` counts how often what it says was changed; `version` is that of the
    record.

    `usage_count` counts applications since ever. Those before `evidence_since` say nothing about it
    any more. `status_reason` says why it stands where it does; `metadata` keeps what an imported
    one said beyond the schema.
    """

    id: Name
    name: Name
    category: Category
    created_at: datetime
    last_updated: datetime
    description: str = ""
    summary: str = ""
    detailed_explanation: str = ""
    applicability: Applicability = Applicability()
    body: Body | None = None
    guidance: Guidance = Guidance()
    support: Evidence = Evidence()
    baseline: Baseline = Baseline()
    status: Status = "candidate"
    status_reason: str = ""
    usage_count: Count = 0
    last_used: datetime | None = None
    superseded_by: Name | None = None
    evidence_since: datetime | None = None
    relationships: Relationships = Relationships()
    metadata: Mapping[str, object] = field(default_factory=dict)
    edition: Annotated[int, Meta(ge=1, le=10**12)] = 1
    version: int = 1

    @property
    def content(self) -> str:
        """Its text, for search."""
        said = (self.name, self.summary, self.description, self.detailed_explanation, self.guidance.when_to_apply,
                self.guidance.how_to_apply, self.applicability.problem_types, self.body)  # fmt: skip
        return "\n".join(dict.fromkeys(text for text in texts_in(said, names=True) if text))

    @property
    def session_id(self) -> str:
        """The session it belongs to; none."""
        return ""

    @property
    def line(self) -> str:
        """What it says in one or two sentences: the shortest of its texts that says more than its
        name.
        """
        return self.summary or self.description or self.name


def texts_of(pattern: Pattern) -> Iterator[str]:
    """Yield everything of a pattern that somebody may read: all its texts, names of fields that it
    brought included.
    """
    said = (pattern.name, pattern.summary, pattern.description, pattern.detailed_explanation, pattern.applicability,
            pattern.body, pattern.guidance, pattern.status_reason, pattern.metadata)  # fmt: skip
    return texts_in(said, names=True)


class Application(Record, frozen=True):
    """That a pattern was applied in an episode, and how that went; `id` is the pattern's and the
    episode's.

    An `outcome` other than success speaks against it. Time is in seconds.
    """

    id: str
    pattern: str
    episode: str
    outcome: Outcome
    at: datetime
    task: str = ""
    note: str = ""
    time: float | None = None
    cost: float | None = None
    actor: str = ""
    version: int = 1
    basis: Basis = "recorded"

    @property
    def counts(self) -> bool:
        """Whether it is evidence."""
        return self.basis not in ("served", "unproven")


def conditions_of(pattern: Pattern) -> Iterator[tuple[str, str]]:
    """Yield the conditions of a pattern that are not empty, each after its path in JSON."""
    where = pattern.applicability
    for name in ("context_conditions", "anti_conditions"):
        for number, text in enumerate(getattr(where, name)):
            yield f"applicability.{name}[{number}]", text
    body = pattern.body
    if body is not None and body.heuristic is not None and body.heuristic.condition:
        yield "content.heuristic.condition", body.heuristic.condition
    for number, rule in enumerate(
        body.template.instantiation_rules if body and body.template else ()
    ):
        if rule.when:
            yield f"content.template.instantiation_rules[{number}].when", rule.when
    if body is not None and body.procedure is not None:
        for number, branch in enumerate(body.procedure.branching_logic):
            yield f"content.procedure.branching_logic[{number}].when", branch.when
        for number, text in enumerate(body.procedure.termination_conditions):
            yield f"content.procedure.termination_conditions[{number}]", text


# A decision tree over patterns, as data: questions about a task, and which patterns are left (004,
# 3.4).


Feature = Literal["category", "problem_type", "domain"]
"""What a question is about."""

FEATURES: tuple[Feature, ...] = get_args(Feature)

FEW = 3
"""Patterns among which nobody is asked any more."""


Tree = Mapping[str, Any]
"""The `patterns` that are left, by id; or a `question`, for each of its `answers` a tree, and one
for what is `otherwise`: any other answer, or none.
"""


def decision_tree(patterns: Sequence[Pattern], features: Sequence[Feature] = FEATURES) -> Tree:
    """Return the tree over these patterns; at each place it asks what leaves the fewest patterns,
    on average.

    A pattern that does not mind an answer is below all of them, so that no path loses one that
    applies.
    """
    best: Feature | None = None
    least, parts = float(len(patterns)), dict[str, list[Pattern]]()
    for feature in features if len(patterns) > FEW else ():
        asked = [(pattern, answers_of(pattern, feature)) for pattern in patterns]
        names = {answer for _, answers in asked for answer in answers}
        split = {
            name: [p for p, answers in asked if name in answers or not answers]
            for name in sorted(names)
        }
        sizes = [len(part) for part in split.values()]
        # When every answer is as likely as it is frequent.
        if sizes and (expected := sum(size * size for size in sizes) / sum(sizes)) < least:
            best, least, parts = feature, expected, split
    if best is None:
        return {"patterns": sorted(pattern.id for pattern in patterns)}
    rest = [feature for feature in features if feature != best]
    others = [pattern for pattern in patterns if not answers_of(pattern, best)]
    answers = {answer: decision_tree(part, rest) for answer, part in parts.items()}
    return {"question": best, "answers": answers, "otherwise": decision_tree(others, rest)}


def answers_of(pattern: Pattern, feature: Feature) -> frozenset[str]:
    """Return the answers that a pattern asks for; none where any will do."""
    where = pattern.applicability
    asked = {
        "category": (pattern.category,),
        "problem_type": where.problem_types,
        "domain": where.task_features.domain,
    }
    return frozenset(map(str.casefold, asked[feature]))
