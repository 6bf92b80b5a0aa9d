"""Names of sections and bullets, as other people's tools make them."""

import pytest

from tests.core.samples import playbook
from workbench.core.playbook.book import (
    Bullet,
    bullet_id,
    is_high_performing,
    is_problematic,
    is_unused,
    next_number,
    section_key,
    slug_for,
)


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("STRATEGIES & INSIGHTS", "strategies_and_insights"),
        ("Problem-Solving Heuristics:", "problem-solving_heuristics"),
        ("  Others : ", "others"),
        ("APIs to use for specific information", "apis_to_use_for_specific_information"),
    ],
)
def test_section_keys(title: str, key: str) -> None:
    """Lower case, `_`, `and`, no trailing colon; hyphens stay."""
    assert section_key(title) == key


@pytest.mark.parametrize(
    ("key", "slug"),
    [
        ("financial_strategies_and_insights", "fin"), ("formulas_and_calculations", "calc"),
        ("code_snippets_and_templates", "code"), ("useful_code_snippets_and_templates", "code"),
        ("common_mistakes_to_avoid", "err"), ("common_mistakes_and_correct_strategies", "cms"),
        ("problem_solving_heuristics", "prob"), ("problem-solving_heuristics", "prob"),
        ("problem_solving_heuristics_and_workflows", "psw"), ("context_clues_and_indicators", "ctx"),
        ("strategies_and_hard_rules", "shr"), ("hard_rules", "hr"), ("strategies_and_insights", "si"),
        ("apis_to_use_for_specific_information", "api"), ("verification_checklist", "vc"),
        ("troubleshooting_and_pitfalls", "ts"), ("others", "misc"), ("meta_strategies", "meta"),
        ("one_two_three_four_five_six", "ottff"), ("deployment", "depl"), ("(git)_*_flow", "gf"), ("", "misc"),
        ("__", "misc"),
    ],
)  # fmt: skip
def test_slugs(key: str, slug: str) -> None:
    """Known ones, then initials of up to five words, then four letters."""
    assert slug_for(key) == slug


def test_bullet_ids_have_five_digits() -> None:
    """More when they are needed."""
    assert bullet_id("others", 7) == "misc-00007"
    assert bullet_id("others", 123456) == "misc-123456"


def test_the_counter_runs_over_the_whole_file() -> None:
    """Aliases count, ids without a number do not, nor do absurd ones."""
    odd = (
        Bullet("a-00007", "s", "x", aliases=("b-00012",)),
        Bullet("free", "s", "x"),
        Bullet("x-٣", "s", "x"),
        Bullet("x-" + "9" * 40, "s", "x"),
    )
    assert next_number(odd) == 13
    assert next_number(()) == 1


def test_statistics() -> None:
    """The thresholds people know."""

    def marks(helpful: int, harmful: int) -> Bullet:
        return Bullet("b", "s", "x", helpful_imported=helpful, harmful_votes=harmful)

    assert [is_high_performing(marks(*m)) for m in ((6, 1), (5, 0), (6, 2))] == [True, False, False]
    assert [is_problematic(marks(*m)) for m in ((1, 1), (0, 0), (2, 1))] == [True, False, False]
    assert [is_unused(marks(*m)) for m in ((0, 0), (1, 0), (0, 1))] == [True, False, False]


def test_bullets_of_a_section_in_order() -> None:
    """And none of another's."""
    assert [b.id for b in playbook().in_section("rules")] == ["rul-00001", "rul-00002", "rul-00003"]
