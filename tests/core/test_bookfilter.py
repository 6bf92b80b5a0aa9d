"""The filter of the playbook."""

import pytest

from workbench.core.playbook.book import Bullet, Section
from workbench.core.playbook.filter import FLAGS, HELP, parse_book_filter
from workbench.core.record import InvalidQuery

API = Section("apis_to_use", "apis_to_use", "APIS TO USE")
RULES = Section("hard_rules", "hard_rules", "HARD RULES")
HIGH = Bullet(
    "api-00001", API.id, "Read the client address first", helpful_imported=9, aliases=("api-00077",)
)
BAD = Bullet("api-00002", API.id, "Never retry a Payment", harmful_votes=2, pinned=True)
NEW = Bullet("hr-00003", RULES.id, "Ask before a payment", state="deprecated")
PLACES = ((HIGH, API), (BAD, API), (NEW, RULES))


def found(text: str) -> list[str]:
    wanted = parse_book_filter(text)
    return [bullet.id for bullet, section in PLACES if wanted.matches(bullet, section)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", ["api-00001", "api-00002", "hr-00003"]),
        ("payment", ["api-00002", "hr-00003"]),
        ("PAYMENT ask", ["hr-00003"]),
        ('"a payment"', ["api-00002", "hr-00003"]),
        ('"before a pay', ["hr-00003"]),
        ("api-00077", ["api-00001"]),
        ("apis", ["api-00001", "api-00002"]),
        ("-payment", ["api-00001"]),
        ("is:high", ["api-00001"]),
        ("is:problematic", ["api-00002"]),
        ("is:unused", ["hr-00003"]),
        ("is:high,unused", ["api-00001", "hr-00003"]),
        ("-is:unused", ["api-00001", "api-00002"]),
        ("is:pinned", ["api-00002"]),
        ("is:voted", ["api-00002"]),
        ("is:deprecated", ["hr-00003"]),
        ("section:rules", ["hr-00003"]),
        ('section:"apis to"', ["api-00001", "api-00002"]),
        ("section:rules,apis -section:apis", ["hr-00003"]),
        ("IS:High", ["api-00001"]),
    ],
)
def test_what_a_filter_finds(text: str, ids: list[str]) -> None:
    assert found(text) == ids


@pytest.mark.parametrize("text", ["is:unsued", "is:", "section:", "is:,", "is:high,unsued"])
def test_a_clause_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        parse_book_filter(text)
    assert caught.value.hint


def test_a_mistyped_flag_names_the_nearest() -> None:
    with pytest.raises(InvalidQuery, match="“is:unsued”") as caught:
        parse_book_filter("is:unsued")
    assert "is:unused" in caught.value.hint


def test_every_flag_is_in_the_help() -> None:
    text = " ".join(f"{what} {why}" for what, why in HELP)
    assert [flag for flag in FLAGS if f"is:{flag}" not in text] == []
