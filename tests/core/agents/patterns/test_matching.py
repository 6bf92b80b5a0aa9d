"""Which patterns apply, how they are ranked, the tree over them, and patterns beside each other."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.agents.patterns.samples import NOW, full
from workbench.core.agents.patterns.matching import (
    INVERSE,
    WEIGHTS,
    Task,
    match,
    merged,
    obstacle,
    related,
    similar,
    weaknesses,
)
from workbench.core.agents.patterns.pattern import (
    CATEGORIES,
    Applicability,
    ComplexityRange,
    Evidence,
    Pattern,
    Relation,
    Relationships,
    TaskFeatures,
    Tree,
    decision_tree,
)
from workbench.core.record import InvalidRecord
from workbench.retrieval.patterns import PatternIndex

FITS = Task(
    problem_types=frozenset({"api_timeout"}), domains=frozenset({"python"}), complexity=5,
    capabilities=frozenset({"network", "shell"}), facts={"attempts": 2, "status": 503},
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"category": "domain"}, ("category", ("recovery",), False)),
        (
            {"problem_types": frozenset({"other"})},
            ("problem_type", ("api_timeout", "rate_limit"), False),
        ),
        ({"problem_types": frozenset()}, ("problem_type", ("api_timeout", "rate_limit"), True)),
        ({"domains": frozenset({"rust"})}, ("domain", ("http", "python"), False)),
        ({"complexity": 7}, ("complexity", ("1", "6"), False)),
        ({"complexity": None, "capabilities": None}, None),
        ({"capabilities": frozenset({"shell"})}, ("capability", ("network",), False)),
        ({"facts": {"attempts": 9, "status": 503}}, ("condition", ("attempts < 5",), False)),
        ({"facts": {"attempts": 2}}, ("condition", ("status in [429, 503]",), True)),
        (
            {"facts": {**FITS.facts, "idempotent": False}},
            ("anti_condition", ("idempotent == false",), False),
        ),
        ({"facts": {**FITS.facts, "idempotent": True}}, None),
    ],
)
def test_a_pattern_applies_or_says_what_is_in_the_way(
    changes: dict[str, object], expected: object
) -> None:
    task = replace(FITS, **changes)  # type: ignore[arg-type]
    found = obstacle(full(), task, task.every_fact)
    assert (found and (found.obstacle, found.asked, found.unknown)) == expected


@pytest.mark.parametrize("field", ["context_conditions", "anti_conditions"])
def test_a_condition_that_cannot_be_read_keeps_its_pattern_out(field: str) -> None:
    one = full()
    broken = replace(one, applicability=replace(one.applicability, **{field: ("a ==",)}))  # type: ignore[arg-type]
    found = obstacle(broken, FITS, FITS.every_fact)
    assert found is not None
    assert found.asked == ("a ==",)


def test_only_what_is_validated_is_used() -> None:
    for status in ("candidate", "under_review", "deprecated"):
        found = obstacle(replace(full(), status=status), FITS, FITS.every_fact)
        assert found is not None
        assert (found.obstacle, found.asked) == ("status", (status,))
    assert (
        obstacle(
            replace(full(), status="candidate"), FITS, FITS.every_fact, frozenset({"candidate"})
        )
        is None
    )


def test_the_score_is_the_sources() -> None:
    pattern = full()
    found = match(pattern, FITS, NOW)
    days = (NOW - pattern.support.last_validated).total_seconds() / 86_400  # type: ignore[operator]
    parts = (0.85, 0.9, math.log1p(40) / 10, math.exp(-days / 90), 1.0)
    assert list(found.parts.values()) == pytest.approx(list(parts))
    assert found.score == pytest.approx(
        sum(w * p for w, p in zip((0.4, 0.3, 0.15, 0.1, 0.05), parts, strict=True))
    )
    assert sum(found.weighted.values()) == pytest.approx(found.score)
    assert set(found.parts) == set(WEIGHTS)
    assert ("domain", "python") in found.met
    assert match(pattern, replace(FITS, complexity=None), NOW).parts["match"] == pytest.approx(
        5 / 6
    )


RANGES = (None, ComplexityRange(0, 4), ComplexityRange(3, 9))
NAMES = st.lists(st.sampled_from(["a", "B", "c"]), max_size=2, unique=True).map(tuple)
PATTERNS = st.lists(
    st.builds(
        lambda category, types, domains, complexity: replace(
            full(), category=category, status="validated",
            applicability=Applicability(types, TaskFeatures(domains, complexity)),
        ),
        st.sampled_from(CATEGORIES[:3]), NAMES, NAMES, st.sampled_from(RANGES),
    ),
    max_size=12,
).map(lambda made: [replace(pattern, id=f"p{n:02}") for n, pattern in enumerate(made)])  # fmt: skip
TASKS = st.builds(
    Task, problem_types=st.frozensets(st.sampled_from("abc")), domains=st.frozensets(st.sampled_from("abc")),
    complexity=st.sampled_from([None, 1.0, 5.0]), category=st.sampled_from([None, *CATEGORIES[:3]]),
)  # fmt: skip


def walk(tree: Tree, known: Mapping[str, Collection[str]]) -> set[str]:
    """Return the ids that are left after every question that `known` answers; of several answers,
    all.
    """
    if "patterns" in tree:
        return set(tree["patterns"])
    given = {answer.casefold() for answer in known.get(tree["question"], ())}
    is_open = tree["question"] == "category" and not given
    ways = [below for answer, below in tree["answers"].items() if is_open or answer in given]
    return set[str]().union(*(walk(below, known) for below in (*ways, tree["otherwise"])))


@pytest.mark.slow
@given(PATTERNS, TASKS)
def test_the_index_finds_what_looking_at_each_does_and_the_tree_loses_none(
    patterns: list[Pattern], task: Task
) -> None:
    index = PatternIndex(patterns)
    found = {one.pattern.id for one in index.applicable(task, NOW, None)}
    assert found == {p.id for p in patterns if obstacle(p, task, task.every_fact) is None}
    assert {pattern.id for pattern, _ in index.left_out(task)} == {p.id for p in patterns} - found
    category = () if task.category is None else (task.category,)
    known = {"category": category, "problem_type": task.problem_types, "domain": task.domains}
    assert found <= walk(index.tree, known)


def test_a_tree_asks_what_parts_best() -> None:
    patterns = [
        replace(full(), id=f"p{n}", applicability=Applicability((), TaskFeatures((domain,))))
        for n, domain in enumerate(["python", "python", "rust", "go", "go", "go"])
    ]
    tree = decision_tree(patterns)
    assert tree["question"] == "domain"
    assert walk(tree, {"domain": ["Rust"]}) == {"p2"}
    assert walk(tree, {}) == set()
    assert tree["answers"]["rust"] == {"patterns": ["p2"]}
    assert decision_tree(patterns[:2]) == {"patterns": ["p0", "p1"]}
    anything = [replace(full(), id=str(n), applicability=Applicability()) for n in range(9)]
    assert decision_tree(anything) == {"patterns": [str(n) for n in range(9)]}


def test_a_text_names_features() -> None:
    index = PatternIndex([full()])
    assert index.features_in("Why does the API run into a timeout in Python?") == {
        "problem_type": {"api_timeout"},
        "domain": {"python"},
    }
    assert index.features_in("nothing of that") == {}


def test_similar_patterns_are_of_one_category() -> None:
    one = full()
    twin, other = (
        replace(one, id="twin", name="Retry with pauses"),
        replace(one, id="other", category="domain"),
    )
    gone, far = replace(twin, id="gone", status="deprecated"), replace(one, id="far", name="x", body=None, summary="y",
        description="z", detailed_explanation="", applicability=Applicability())  # fmt: skip
    (found,) = similar(one, [one, twin, other, gone, far])
    assert found.pattern == twin
    assert found.score == pytest.approx(0.5 * found.parts["text"] + 0.3 + 0.2)


def test_merging_generalises_and_keeps_all_evidence() -> None:
    one = full()
    two = replace(
        one, id="two", usage_count=2, relationships=Relationships("pat-y", (), ("pat-z", one.id)),
        support=Evidence(("ep-3", "ep-9"), (), 4, 0.5, confidence_score=0.2, statistical_significance=0.1),
        applicability=Applicability(("dns",), TaskFeatures(("dns",), ComplexityRange(4, 9)), ("attempts < 5",), ("x",)),
    )  # fmt: skip
    both = merged([two, one], "new", NOW)
    where = both.applicability
    assert (both.id, both.name, both.edition, both.status, both.usage_count) == (
        "new",
        one.name,
        1,
        "validated",
        42,
    )
    assert where.problem_types == ("dns", "api_timeout", "rate_limit")
    assert where.task_features == TaskFeatures(("dns", "http", "python"), ComplexityRange(1, 9), ())
    assert (where.context_conditions, where.anti_conditions) == (
        ("attempts < 5",),
        ("x", "idempotent == false"),
    )
    assert both.support.supporting_episodes == ("ep-9", "ep-1", "ep-2")
    assert (both.support.counter_episodes, both.support.num_applications) == (("ep-3",), 16)
    assert both.support.success_rate == pytest.approx((0.9 * 12 + 0.5 * 4) / 16)
    assert both.relationships == Relationships("pat-y", (), ("pat-z",))
    anything = replace(one, id="any", applicability=Applicability())
    assert merged([one, anything], "n", NOW).applicability == Applicability(
        anti_conditions=("idempotent == false",)
    )
    assert merged([one, replace(anything, status="candidate")], "n", NOW).status == "candidate"


@pytest.mark.parametrize(
    ("others", "problem"),
    [
        ([], "one alone"),
        ([{"id": "b", "category": "domain"}], "domain, recovery"),
        ([{"id": "b", "status": "deprecated"}], "b is deprecated"),
    ],
)
def test_what_does_not_go_together_is_not_merged(
    others: list[dict[str, str]], problem: str
) -> None:
    one = full()
    with pytest.raises(InvalidRecord, match=problem):
        merged([one, *(replace(one, **changes) for changes in others)], "n", NOW)  # type: ignore[arg-type]


def test_relations_are_said_and_taken_back() -> None:
    relations: list[Relation] = ["specializes", "generalizes", "contradicts", "complements"]
    for relation in relations:
        bare = replace(full(), relationships=Relationships())
        told = related(bare, relation, "b")
        assert related(told, relation, "b") == told
        assert related(told, relation, "other", remove=True) == told
        assert related(told, relation, "b", remove=True) == bare
        assert INVERSE[INVERSE[relation]] == relation


def test_what_is_worth_little() -> None:
    fresh = replace(full(), last_used=NOW)
    assert weaknesses(fresh, NOW) == ()
    assert weaknesses(full(), NOW) == ("unused",)
    weak = replace(
        fresh, support=Evidence(("a",), ("b", "c"), 9, confidence_score=0.3, last_validated=NOW)
    )
    assert weaknesses(weak, NOW + timedelta(days=91)) == (
        "low_confidence",
        "unused",
        "contradicted",
    )
    assert weaknesses(replace(weak, status="deprecated"), NOW) == ()
