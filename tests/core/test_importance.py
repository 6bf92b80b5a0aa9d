"""Heuristic importance, table by table."""

import pytest

from workbench.core.record import UnknownRecord
from workbench.core.stream import importance
from workbench.core.stream.importance import (
    CODE,
    GENERAL,
    TABLES,
    Rating,
    base_importance,
    rate,
    table_named,
)
from workbench.core.stream.memory import OBSERVATION_TYPES


@pytest.mark.parametrize(
    ("kind", "score"),
    [
        ("instruction", 10), ("error", 9), ("decision", 8), ("code_change", 7), ("insight", 7), ("test_result", 6),
        ("general", 5), ("tool_output", 3), ("correction", 9), ("failure", 9), ("convention", 7), ("command", 6),
        ("gotcha", 8), ("discovery", 6), ("pattern", 7), ("never heard of", 5),
    ],
)  # fmt: skip
def test_general_base_scores(kind: str, score: float) -> None:
    """ENGRAM's table and the lifecycle types; unknown types are average."""
    assert base_importance(kind, "plain words") == score


@pytest.mark.parametrize(
    ("kind", "score"),
    [
        ("production_incident", 10), ("security_issue", 10), ("architectural_decision", 9), ("error", 9),
        ("test_failure", 8), ("api_design", 8), ("bug_fix", 7), ("feature_implementation", 7), ("refactoring", 6),
        ("configuration_change", 7), ("code_review_feedback", 8), ("dependency_change", 6), ("test_success", 5),
        ("general", 5), ("file_read", 2), ("correction", 9), ("instruction", 10), ("never heard of", 5),
    ],
)  # fmt: skip
def test_code_base_scores(kind: str, score: float) -> None:
    """The code-specific table; what it does not name reads from the general one."""
    assert base_importance(kind, "plain words", CODE) == score


@pytest.mark.parametrize(
    ("content", "score"),
    [
        ("a critical bug", 7), ("BREAKING change", 7), ("security, breaking, critical", 7), ("todo: later", 6),
        ("FIXME and a HACK", 6), ("critical TODO", 8), ("uncritical hackathon", 5), ("securityholder", 5), ("", 5),
    ],
)  # fmt: skip
def test_general_boosts_are_whole_words_and_count_once(content: str, score: float) -> None:
    """Two for danger, one for unfinished work."""
    assert base_importance("general", content) == score


@pytest.mark.parametrize(
    ("content", "score"),
    [
        ("CVE-2026-1 found", 8), ("the test failed", 7), ("all tests failed", 7), ("the build failed", 5),
        ("latest failed", 5), ("a test", 5), ("on prod", 6), ("in production", 6), ("the product", 5),
        ("reproduction", 5), ("the main\n branch", 6), ("main or branch", 5), ("prod test failed: security", 10),
        ("on the main\nBranch", 6), ("main, **branch**", 6), ("the MA\u0130N branch", 6), ("tests\u0301 failed", 5),
    ],
)  # fmt: skip
def test_code_boosts(content: str, score: float) -> None:
    """Three, two and one; “prod” is not “product”, and signs may stand between the words of a phrase."""
    assert base_importance("general", content, CODE) == score


@pytest.mark.parametrize("table", TABLES)
def test_a_long_text_is_not_important_for_being_long(table: importance.ImportanceTable) -> None:
    """What the text is about stands at its beginning; a word far behind says nothing of the whole."""
    phrases = [phrase for boost in table.boosts for group in boost.groups for phrase in group]
    answer = f"An answer. {'It goes on and on, and names this and that. ' * 40} {' '.join(phrases)}"
    assert base_importance("general", answer, table) == 5
    assert base_importance("general", f"{' '.join(phrases)}. {answer}", table) > 5


def test_the_score_is_capped_and_explained() -> None:
    """What earned the points is told."""
    assert rate("error", "CRITICAL todo") == Rating(10.0, 9.0, ((2, "critical"), (1, "todo")))
    assert rate("general", "tests have failed", CODE).boosts == ((2, "tests + failed"),)
    assert rate("general", "nothing") == Rating(5.0, 5.0)


def test_tables_are_found_by_name() -> None:
    """An unknown name lists the known ones."""
    assert [table_named(t.name) for t in TABLES] == [GENERAL, CODE]
    with pytest.raises(UnknownRecord, match=r"“weather”.*general, code"):
        table_named("weather")


def test_tables_stay_on_the_scale_and_cannot_be_changed() -> None:
    """0–10, shared by everybody."""
    for table in TABLES:
        assert all(0 <= score <= 10 for score in table.base.values())
        assert table.about
        with pytest.raises(TypeError):
            table.base["error"] = 1.0  # type: ignore[index]


def test_every_type_that_a_table_rates_can_be_entered_and_filtered() -> None:
    """And every type that can be entered is rated by one."""
    rated = {kind for table in TABLES for kind in table.base}
    assert rated == set(OBSERVATION_TYPES)
