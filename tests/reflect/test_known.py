"""What need not be proposed again."""

import pytest

from workbench.reflect.languages import KnownTexts

KNOWN = KnownTexts(
    [
        "Use pnpm for everything in web/ and packages/: `pnpm install`. A package-lock.json in a diff is a mistake.",
        "Never deploy on Fridays.",
        "Tests run before every push.",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "A package-lock.json in a diff is a mistake.",
        "a package-lock.json  in a DIFF is a mistake",
        "Use pnpm in web/ and packages/: pnpm install.",
        "Never deploy on a Friday.",
    ],
)
def test_what_a_known_text_says_is_known(text: str) -> None:
    assert KNOWN.says(text)


def test_texts_are_the_same_that_differ_in_a_word_of_many_and_contradict_nothing() -> None:
    text = "Always map the secret, because called workflows get none."
    assert KnownTexts([text]).same("always map the secret because called workflows get none") == [
        text
    ]
    assert KnownTexts([text]).same(
        "Always map the secrets, because all called workflows get none."
    ) == [text]
    for other in (
        "Never map the secret, because called workflows get none.",
        "Always map the secret.",
        "Always map the secret, because called workflows get 3.",
        "Always map the certificate, because nested jobs get none.",
    ):
        assert KnownTexts([text]).same(other) == []


@pytest.mark.parametrize(
    "text",
    [
        "Deploy on Fridays.",
        "Never run tests before every push.",
        "Tests run after every push.",
        "The cache is cleared after the commit.",
        "",
    ],
)
def test_the_opposite_and_the_new_are_not(text: str) -> None:
    assert not KNOWN.says(text)
