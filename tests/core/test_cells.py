"""Text takes as many cells as Textual paints, is cut between what readers take for characters, and
columns stay.
"""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.bidi import drawn
from workbench.core.text import MAX_JOINED, cell_width, clip, in_order, one_line, printable

WHOLE = {
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "flag": "🇩🇪",
    "skin": "👍🏽",
    "keycap": "1\ufe0f\u20e3",
    "conjunct": "क्षि",
    "long conjunct": "स्त्री",
    "Bengali": "ক্ষ",
    "Thai": "กำ",
    "Thai tone": "น้ำ",
    "Lao": "ນຳ",
    "jamo": "\u1112\u1161\u11ab",
    "niqqud": "שָׁ",
    "decomposed": "e\u0301\u0323",
}


@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
def test_text_is_cut_between_characters(whole: str) -> None:
    for room in range(1, cell_len(whole) + 4):
        shown = clip(f"ab{whole}cdef", room)
        assert cell_len(shown) <= room
        before, there, behind = shown.removesuffix("…").partition(whole)
        assert before in ("", "a", "ab")
        assert there or not behind


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.characters() | st.sampled_from("漢ｶ한ำी्क👩\u200d🇩🇪\ufe0f🏽\u0301ا"), max_size=40),
    st.integers(0, 20),
)
def test_a_line_takes_the_cells_that_textual_paints(text: str, room: int) -> None:
    shown = printable(text)
    assert cell_width(shown) == cell_len(shown)
    cut = clip(shown, room)
    assert cell_len(cut) <= room
    assert cut == shown or not room or cut.endswith("…")


def test_of_flags_side_by_side_each_stays_whole() -> None:
    assert [clip("🇩🇪🇫🇷🇯🇵🇮🇹", room) for room in (4, 5, 6, 7)] == ["🇩🇪…", "🇩🇪🇫🇷…", "🇩🇪🇫🇷…", "🇩🇪🇫🇷🇯🇵…"]


def test_what_counts_as_narrow_at_once_is_narrow() -> None:
    for char in filter(str.isprintable, map(chr, range(0x3000))):
        assert cell_width(char) == cell_len(char), hex(ord(char))


@pytest.mark.parametrize(
    "word", ["हिन्दी", "ภาษาไทย", "தமிழ்", "ខ្មែរ", "\u1112\u1161\u11ab\u1100\u1173\u11af"]
)
def test_a_line_is_filled_in_scripts_with_vowel_signs(word: str) -> None:
    shown = one_line(f"{word} " * 200, 60)
    assert cell_len(shown) > 60 - cell_len(word) - 2
    assert shown.endswith("…")


def test_what_takes_no_cell_is_limited_per_character() -> None:
    for sign in ("\u1161", "ी", "🏽"):
        assert printable("क" + sign * 20) == "क" + sign * MAX_JOINED + "·" * (20 - MAX_JOINED)
    assert printable("ी") == "·"
    joined = printable("ب\u200d" * 40)
    assert cell_len(joined) > 30
    assert printable(joined) == joined
    assert printable("လျှော့ပါ မြွေး") == "လျှော့ပါ မြွေး"


FIELDS = st.sampled_from(
    [
        "5",
        "now",
        "42 %",
        "عربي",
        "بحث 3",
        "(עברית)",
        "עברית 3.2",
        "الخيار --force ثم",
        "deploy مع git",
        "漢字",
        "",
        "…",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(FIELDS, min_size=1, max_size=5), st.sampled_from(["  ", " · ", " │ "]))
def test_columns_stay_where_a_terminal_orders_lines(fields: list[str], gap: str) -> None:
    """Each field is drawn in its own columns, whichever way it is read, and takes no more cells
    than without marks.
    """
    line = gap.join(fields)
    shown = in_order(line)
    assert cell_len(shown) == cell_len(line)
    seen = drawn(shown)
    at = 0
    for field in fields:
        assert sorted(seen[at : at + len(field)]) == sorted(field)
        at += len(field) + len(gap)


def test_a_line_that_opens_from_right_to_left_begins_at_the_left() -> None:
    """Some terminals take the direction of a line from its first letter."""
    for text in ("عربي", "  5 עברית", "│ عربي"):
        strong = next(c for c in in_order(text) if unicodedata.bidirectional(c) in ("L", "R", "AL"))
        assert unicodedata.bidirectional(strong) == "L"
    assert in_order("plain 漢字 — text") == "plain 漢字 — text"
    assert in_order("a\nعربي\nb").count("\n") == 2
