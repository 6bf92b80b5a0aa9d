"""Plans (source 000, algorithms 10 to 12): parted so that durations add up, left by the rules, and
what is next.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.core.agents import plan as rules
from workbench.core.agents.plan import Candidate, Situation, Step
from workbench.core.record import InvalidRecord

GOAL = "Implement the login endpoint"


@given(
    st.integers(0, 2_000), st.sampled_from(rules.CHUNKS), st.lists(st.integers(0, 90), max_size=12)
)
def test_a_decomposition_adds_up_and_stops_at_two_chunks(
    minutes: int, chunk: int, named: list[int]
) -> None:
    assume(minutes <= 100 * chunk)
    plan = rules.decomposed(
        Step(GOAL, minutes), chunk, [Step(f"Do {at}", time) for at, time in enumerate(named)]
    )
    assert plan.total == minutes
    for path, step in rules.walk(plan):
        assert sum(one.total for one in step.steps) in (0, step.total)
        assert len(step.steps) <= min(8, step.total // chunk)
        assert bool(step.steps) == (step.total >= 2 * chunk and len(path) < rules.DEEPEST)
        assert step.total >= 0
    if minutes >= 480:
        assert 5 <= len(plan.steps) <= 8
    assert rules.plan_text(rules.read_plan(rules.plan_text(plan))) == rules.plan_text(plan)


@pytest.mark.parametrize(
    ("minutes", "chunk", "steps"),
    [(29, 15, 0), (30, 15, 2), (480, 60, 8), (480, 30, 8), (60, 5, 8), (119, 60, 0)],
)
def test_a_goal_has_as_many_parts_as_chunks_and_at_most_eight(
    minutes: int, chunk: int, steps: int
) -> None:
    assert len(rules.decomposed(Step(GOAL, minutes), chunk).steps) == steps


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Goal\n- [ ] x (-5 min)", "0 to 100,000 minutes, not -5"),
        ("Goal\nno step", "Line 2 is not a step"),
        ("", "goal is missing"),
        (
            "Goal\n" + "".join(f"- step {n}\n" for n in range(10_000)),
            "at most 200 steps; this one would have 10,000",
        ),
        ("Goal\n- a\n  - b\n    - c\n      - d", "3 levels"),
        ("Goal\n" + "".join(f"{' ' * n}- {n}\n" for n in range(2_000)), "3 levels"),
        ("Goal\n- a\n  - goal", "part of itself"),
        (f"Goal\n- {'x' * 400}", "1 to 300 characters"),
    ],
)
def test_what_is_no_plan_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InvalidRecord, match=said):
        rules.read_plan(text)


def test_a_duration_that_does_not_fit_is_refused() -> None:
    for goal, chunk, said in (
        (Step(GOAL, -1), 15, "not -1"),
        (Step(GOAL, 60), 7, "A chunk"),
        (Step(GOAL, 9_000), 5, "200"),
    ):
        with pytest.raises(InvalidRecord, match=said):
            rules.decomposed(goal, chunk)
    with pytest.raises(InvalidRecord, match="Its steps take"):
        rules.reworded(rules.decomposed(Step(GOAL, 60)), Step(GOAL, 20))


def test_a_check_list_is_read_whatever_its_indents_and_changed_step_by_step() -> None:
    plan = rules.read_plan(
        "# Ship it\n* [x] Build (1 h)\n- Test\n    - [ ] Unit (20 min)\n    - [-] Manual (10 min)\n"
    )
    assert [(rules.named(p), s.text, s.total) for p, s in rules.walk(plan)] == [
        ("", "Ship it", 90), ("1", "Build", 60), ("2", "Test", 30), ("2.1", "Unit", 20), ("2.2", "Manual", 10),
    ]  # fmt: skip
    assert (rules.current(plan), rules.progress(plan)) == ((1, 0), (2, 3))
    done = rules.changed(plan, (1, 0), lambda one: (rules.marked(one, "done"),))
    assert (done.is_settled, rules.current(done)) == (True, None)
    moved, path = rules.moved(plan, (0,), 5)
    assert (moved.steps[1].text, path) == ("Build", (1,))
    assert len(rules.changed(plan, (1,), lambda _: ()).steps) == 1


@pytest.mark.parametrize(
    ("observation", "rule"),
    [
        ("Tests passed", None),
        ("Error: Module not found", "error_detected"),
        ("User: Actually, do this instead", "user_instruction"),
        ("Already implemented in branch X", "goal_satisfied"),
        ("Warning: Deprecated API", None),
        ("Build failed: syntax error", "error_detected"),
        ("Tests ran with 0 errors and without any failures", None),
        ("no error, failures: 0", None),
        ("10 errors", "error_detected"),
        ("It is not blocked", None),
        ("The column is missing", "blocked"),
        ("The login endpoint is implemented", "goal_satisfied"),
        ("The import is implemented elsewhere", None),
        ("Not done yet", None),
        ("the user: admin row exists", None),
    ],
)
def test_an_observation_takes_one_off_the_step_by_the_first_rule_that_fires(
    observation: str, rule: str
) -> None:
    assert rules.rule_for(GOAL, observation) == rule


def test_a_plan_is_left_once_in_five_minutes_also_when_the_clock_is_set_back() -> None:
    now = datetime(2026, 11, 27, tzinfo=UTC)
    after = [timedelta(minutes=m) for m in (-1, 0, 4, 5)]
    assert [rules.is_debounced(now, now + one) for one in after] == [False, True, True, False]


def test_candidates_are_ranked_by_value_then_confidence_then_order() -> None:
    known = Situation("fix auth bug", "the auth notes", goals=4, finished=1, actions=250)
    sure, unsure = (
        Candidate("grounding", "b", "pat-2", 0.9),
        Candidate("grounding", "a", "pat-1", 0.2),
    )
    found = rules.ranked([Candidate("reasoning", "r"), unsure, sure, Candidate("retrieval", "s"),
                          Candidate("learning", "l"), Candidate("learning", "sixth")], known)  # fmt: skip
    assert [(one.action, one.value) for one in found] == [
        ("l", 1.0), ("b", 0.75), ("a", 0.75), ("s", 0.6667), ("r", 0.5),
    ]  # fmt: skip
    assert all(one.reason for one in found)
