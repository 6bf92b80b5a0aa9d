"""Characters nobody sees: flagged where they hide something, left alone where writing needs them."""

import pytest

from workbench.safety.scanning import MOST, scan


@pytest.mark.parametrize(
    ("rule", "text", "at"),
    [
        ("zero-width characters", "ig\u200bnore", (2, 3)),
        ("zero-width characters", "a\u2060\u2061b", (1, 3)),
        ("zero-width characters", "pay\u200dpal", (3, 4)),
        ("zero-width characters", "па\u200dроль", (2, 3)),
        ("bidi characters", "abc\u202edef", (3, 4)),
        ("bidi characters", "a\u200eb", (1, 2)),
        ("control characters", "red \x1b[31mtext", (4, 5)),
        ("control characters", "bell\x07", (4, 5)),
        ("control characters", "é\x9b1m", (1, 2)),
        ("tag characters", "hi\U000e0068\U000e0069", (2, 4)),
        ("variation selectors", "x\ufe01\ufe02\ufe03", (1, 4)),
    ],
)
def test_hidden_characters_are_flagged_at_their_place(
    rule: str, text: str, at: tuple[int, int]
) -> None:
    assert [(f.kind, f.rule, (f.start, f.end)) for f in scan(text)] == [("hidden", rule, at)]


@pytest.mark.parametrize(
    "text",
    [
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467 and \u2764\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u05e9\u05dc\u05d5\u05dd\u200f!",
        "\ufeffA file with a mark of its encoding",
        "tabs\tand\r\nlines, naïve café — “quotes” 中文",
    ],
)
def test_what_writing_needs_is_left_alone(text: str) -> None:
    assert scan(text) == ()


def test_a_text_full_of_hidden_characters_is_reported_in_few_places() -> None:
    for unseen in ("a\u200b", "\u2764\ufe0f\ufe0f", "a\u200e", "a\x07"):
        found = scan(unseen * 50_000)
        assert 0 < len(found) <= MOST
