"""Contradictions that cheap rules see, and what they must leave alone."""

from unittest.mock import patch

import pytest

from workbench.core.duplicates import dedup
from workbench.core.review import contradiction
from workbench.core.review.contradiction import contradictions

PLAIN = "Always clear the cache after the commit, because readers put the old value back."


def reasons(text: str, *others: str) -> list[str]:
    return [
        c.reason for c in contradictions(text, [(str(n), other) for n, other in enumerate(others)])
    ]


@pytest.mark.parametrize(
    ("text", "other", "reason"),
    [
        (
            "Clear the cache after the commit.",
            "Clear the cache before the commit.",
            "“after”, the other “before”",
        ),
        (
            "The tests passed on staging.",
            "The tests failed on staging.",
            "“passed”, the other “failed”",
        ),
        ("Do not use npm in the web folder.", "Use npm in the web folder.", "this negates “use”"),
        (
            "Use npm in the web folder.",
            "Do not use npm in the web folder.",
            "the other negates “use”",
        ),
        (
            "always use pnpm, never npm, in web",
            "always use npm, never pnpm, in web",
            "this negates “npm”",
        ),
        (
            "The retry limit of uploads is 5.",
            "The retry limit of uploads is 7.",
            "this says 5, the other 7",
        ),
    ],
)
def test_what_says_it_the_other_way_round_is_found_with_its_reason(
    text: str, other: str, reason: str
) -> None:
    (found,) = reasons(text, other)
    assert reason in found


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (PLAIN, PLAIN),
        ("Never use npm here.", "Never use npm here, use pnpm."),
        ("Clear the cache after the commit.", "Lunch is before noon."),
        ("Rotate the signing keys every 30 days.", "The importer reads 500 rows at a time."),
        ("", PLAIN),
        ("!!!", "???"),
    ],
)
def test_agreement_and_other_subjects_are_no_contradiction(text: str, other: str) -> None:
    assert reasons(text, other) == []


def test_the_sentences_it_comes_from_are_named() -> None:
    other = "Deploys are quiet. Clear the cache before the commit. Then wait."
    (found,) = contradictions(
        "Read the plan. Clear the cache after the commit.", [("a", PLAIN), ("b", other)]
    )
    assert (found.other, found.mine) == ("b", "Clear the cache after the commit.")
    assert found.theirs == "Clear the cache before the commit."


def test_not_null_in_capitals_is_the_name_of_a_constraint_and_negates_nothing() -> None:
    column = "The email column of the users table has a default value, NULL is read as empty."
    assert not reasons(
        "The email column of the users table has a default value, NOT NULL is read as empty.",
        column,
    )
    assert reasons("Do not cache null in the users table.", "Cache null in the users table.")


def test_of_a_text_without_end_no_more_is_compared_than_forty_sentences_have() -> None:
    with patch.object(contradiction, "negated", side_effect=dedup.negated) as looked_at:
        for endless in ("never " * 200_000, "Never do. " * 100_000, "never\n" * 200_000):
            assert not reasons(endless, endless)
    assert looked_at.call_count <= 6 * 40
    assert max(len(call.args[0]) for call in looked_at.call_args_list) <= 1_000
    assert reasons(
        "Clear the cache after the commit. " + "never " * 200_000,
        "Clear the cache before the commit.",
    )
