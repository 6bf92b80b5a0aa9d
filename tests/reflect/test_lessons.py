"""What a sentence is as a lesson, and what only passes."""

import pytest

from tests.core.samples import memory
from workbench.reflect.extractive.lessons import lesson_of

STANDS = {
    "Keys are deleted after the commit, never before and never inside it.": ("convention", ("corrects", "instructs")),
    "Use time zones of the venue in new tests instead of UTC.": ("decision", ("corrects", "instructs")),
    "Fixtures should use America/Los_Angeles by default.": ("gotcha", ("instructs", "generalises")),
    "Presenting a used refresh token revokes every token of the family.": ("decision", ("generalises",)),
    "Bucket lifecycle rule: objects in the bucket expire after 7 days.": ("decision", ()),
    "A token that was used less than 10 seconds ago is accepted once more.": ("decision", ()),
}  # fmt: skip

PASSES = (
    "I ran `npm install` in web/ and produced a package-lock.json.",
    "Production is unaffected, both hosts share a site.",
    "State: endpoint and table done, worker job half done.",
    "First move to the new date picker, then React.",
    "The export is promised for the second week of March.",
    "Re-run of 4812 failed because the secret was missing.",
    "Next step is the test of the worker.",
    "On staging the event was processed before the payment and the booking ended as paid.",
    "React waits for the date picker, which is on the checkout path.",
    "When the repair has run, raise the prefix of the keys in the same deploy window.",
    "The job calls a reusable workflow without any secrets.",
    "PR #321 removes the call everywhere.",
)

SPOKEN = {
    "Mel: We enjoy hiking in the mountains and exploring forests.": False,
    "Mel: Painting helps me to be true to myself.": False,
    "Mel: Last weekend I joined a program for young people.": True,
    "Mel: I'm meeting so many people who care about this.": True,
    "Mel: I love the theme of that painting.": True,
}


@pytest.mark.parametrize("text", STANDS)
def test_what_holds_is_told_by_what_it_teaches(text: str) -> None:
    kind, teaches = STANDS[text]
    found = lesson_of(text, text, memory(observation_type=kind))
    assert (found.kinds, found.passes) == (teaches, False)


@pytest.mark.parametrize("text", PASSES)
def test_states_plans_and_what_happened_once_pass(text: str) -> None:
    assert lesson_of(text, text, memory(observation_type="general")).passes


@pytest.mark.parametrize("text", SPOKEN)
def test_what_people_say_of_themselves_holds_beyond_a_day_or_passes(text: str) -> None:
    assert lesson_of(text, text, memory(observation_type="general")).passes is SPOKEN[text]


def test_a_memory_of_an_outcome_teaches_only_what_it_says_to_do() -> None:
    texts = ("The browser never sends the cookie to another site.", "Set the secret on both apps before a deploy.")
    found = [lesson_of(text, text, memory(observation_type="error")) for text in texts]
    assert [one.passes for one in found] == [True, False]


def test_of_another_language_the_type_of_the_memory_speaks() -> None:
    text = "Deploys laufen freitags nur zu zweit, sonst fehlt jemand für den Rückweg."
    assert lesson_of(text, text, memory(observation_type="convention")).kinds == ("instructs",)
    assert not lesson_of(text, text, memory(observation_type="general")).passes
