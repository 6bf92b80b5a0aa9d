"""Proposals in words."""

import pytest

from tests.core.samples import NOW
from workbench.core.review.describe import describe
from workbench.core.review.kinds import KINDS
from workbench.core.review.proposal import Proposal


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_has_a_question_and_says_what_yes_and_no_do(kind: str) -> None:
    words = describe(
        Proposal(
            "p", kind, "workbench", "a title", NOW, ("a", "b"), flags=("look",), reasons=("why",)
        )
    )
    assert words.question.endswith("?")
    assert words.label
    assert words.yes
    assert words.no
    assert (words.title, words.pro, words.contra) == ("a title", ("why",), ("look",))


def test_a_contradiction_and_a_larger_group_are_named_as_such() -> None:
    asked = describe(
        Proposal("p", "reconfirm", "workbench", "", NOW, ("a", "b"), flags=("contradicted",))
    )
    assert (asked.label, asked.question) == (
        "contradicted",
        "A newer memory contradicts this. Is it still true?",
    )
    group = describe(Proposal("p", "merge", "workbench", "", NOW, ("a", "b", "c")))
    assert (group.label, group.question) == ("merge of 3", "Are these 3 duplicates?")
