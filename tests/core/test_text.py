"""Stored text cannot act on a terminal, and ordinary text passes unchanged."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calls import steps_of
from workbench.core import text as module
from workbench.core.text import (
    MAX_MARKS,
    TAB,
    clean_for_store,
    clip,
    is_needed,
    one_line,
    printable,
)
from workbench.core.words import words

anything = st.text(st.characters(), max_size=60)
few = settings(max_examples=100, deadline=None)

ACUTE = "\u0301"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", "␛[2J␛]0;owned␇"),
        ("\x00\x08\x0b\x0c\x1f", "␀␈␋␌␟"),
        ("a\tb", f"a{TAB}b"),
        ("a\nb", "a⏎b"),
        ("a\r\nb", "a␍⏎b"),
        ("\x7f", "␡"),
        ("\x80\x9b31m\x9f\x85", "��31m��"),
        ("\u202eevil\u202c \u2066x\u2069\u200e\u200f\u061c", "·evil· ·x····"),
        ("pass\u200bword\u200c\u200d\u2060\ufeff\u00ad", "pass·word·····"),
        ("a\u2028b\u2029c", "a·b·c"),
        ("\ud800x\udfff", "�x�"),
        ("\ufdd0\uffff\U0001ffff", "���"),
        ("\ue000\U000f0000\U0010fffd", "���"),
        ("\u0378", "�"),
        ("h\U000e0068\U000e0069\U000e0001", "h···"),
        ("\u115f\u3164\u034f", "···"),
        ("pay\u200dpal па\u200dроль 漢\u200c字 │\u200d│", "pay·pal па·роль 漢·字 │·│"),
        ("\u200dب\u200cب\u200c ب\u200c\u200cب", "·ب\u200cب· ب··ب"),
        ("😀\u200d 😀\u200c😀 a\ufe0f\u200d😀", "😀· 😀·😀 a\ufe0f·😀"),
        ("👩" + "\u200d👩" * 5, "👩" + "\u200d👩" * 4 + "·👩"),
        ("क" + "\u200d\u094d" * 3, "क\u200d\u094d·\u094d·\u094d"),
        ("x\ufe00\U000e0101", "x··"),
    ],
)
def test_what_is_not_ink_shows_as_a_symbol(text: str, shown: str) -> None:
    """Controls, bidi, zero width, surrogates, noncharacters, tags."""
    assert printable(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "", "plain ASCII ~!@#", "Grüße, naïve café — “quoted” …", "日本語 テキスト", "한국어", "हिन्दी में पाठ", "สวัสดีครับ",
        "می\u200cخواهم API\u200cها ه\u200d.ق", "क्\u200dष क्\u200cष र\u200d्य", "ശ്രീ ന്\u200d", "ශ්\u200dරී",
        "👨\u200d👩\u200d👧\u200d👦👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🏴\u200d☠\ufe0f 🙂\u200d↔\ufe0f",
        "שָׁלוֹם", "👍🏽 🇩🇪 ✅", "e" + ACUTE * MAX_MARKS, "❤\ufe0f 1\ufe0f\u20e3", "a\u00a0b\u3000c", "│┌─▓▲◆",
    ],
)  # fmt: skip
def test_ordinary_text_passes_unchanged(text: str) -> None:
    """In any script, with emoji."""
    assert printable(text) == text


def test_newlines_may_stay() -> None:
    """Windows line ends lose their carriage return to a space; a lone one stays visible."""
    assert printable("a\nb\r\nc\rd\u2028e", keep_newlines=True) == "a\nb \nc␍d·e"


def test_marks_are_limited_per_base() -> None:
    """Four stay, the rest shows; a line that opens with a mark would draw on what stands before it."""
    assert printable("z" + ACUTE * 6 + "a" + ACUTE) == "z" + ACUTE * 4 + "··a" + ACUTE
    assert printable("z" + ACUTE * 5) == "z" + ACUTE * 4 + "·"
    assert printable(ACUTE + "a") == "·a"
    assert printable("a\n" + ACUTE + "b", keep_newlines=True) == "a\n·b"
    assert printable("❤\ufe0f\ufe0f") == "❤\ufe0f·"
    assert printable("1\ufe0f\u20e3\ufe0e") == "1\ufe0f\u20e3·"


@pytest.mark.slow
@few
@given(anything, st.booleans())
def test_nothing_that_acts_is_left(text: str, keep_newlines: bool) -> None:
    """Idempotent, one character for one except tabs, and encodable."""
    shown = printable(text, keep_newlines=keep_newlines)
    for at, char in enumerate(shown):
        assert (
            (char in "\u200c\u200d" and is_needed(shown, at))
            or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
            or char == "\n"
        )
    assert keep_newlines or "\n" not in shown
    assert printable(shown, keep_newlines=keep_newlines) == shown
    assert len(shown) == len(text) + text.count("\t") * (len(TAB) - 1)
    shown.encode()


def test_what_is_no_character_is_shown_as_such_however_many_there_are() -> None:
    many = "".join(map(chr, (*range(0xE000, 0xF900), *range(0xF0000, 0x100000))))
    assert printable(f"a{many}b\t") == "a" + "\ufffd" * len(many) + f"b{TAB}"


def test_one_line() -> None:
    """The first line with text, on one line, within the limit."""
    assert one_line("\n \t\n  two \t words  \nmore", 20) == "two words"
    assert one_line("a\x1b[0m b", 20) == "a␛[0m b"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line(" \n\t", 20) == one_line("", 20) == ""


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abc", 1, "…"), ("abc", 0, ""), ("abc", -1, ""), ("é", 0, ""),
        ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 1, "…"),
        ("é" + "e" + ACUTE + "éé", 3, "é" + "e" + ACUTE + "…"), ("ée" + ACUTE, 2, "ée" + ACUTE),
        ("❤\ufe0fab", 3, "❤\ufe0f…"), ("❤\ufe0fab", 2, "…"), ("日\ufe0f本", 4, "日\ufe0f本"),
    ],
)  # fmt: skip
def test_clip(text: str, width: int, cut: str) -> None:
    """Wide characters take two cells, marks none."""
    assert clip(text, width) == cut


@pytest.mark.slow
@few
@given(anything, st.integers(0, 20))
def test_clip_never_exceeds_the_width(text: str, width: int) -> None:
    """And cuts only what is too long."""
    cut = clip(printable(text), width)
    cells = sum(
        0
        if unicodedata.category(c) in ("Mn", "Me")
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in cut
    )
    assert cells <= width
    assert cut == printable(text) or cut.endswith("…") or width == 0


def test_only_what_cannot_be_written_is_cleaned_for_the_store() -> None:
    """NUL and lone surrogates; a pair that was split is joined; control characters stay."""
    assert clean_for_store("a\0b\ud800c\udc00") == "a�b�c�"
    assert clean_for_store("\ud83d\ude00") == "😀"
    kept = "plain\x1b[0m\u202e\ttab\r\n é"
    assert clean_for_store(kept) == kept
    assert clean_for_store("ascii") == "ascii"


@pytest.mark.slow
@few
@given(anything)
def test_what_is_cleaned_can_be_written(text: str) -> None:
    """As UTF-8, without NUL."""
    cleaned = clean_for_store(text)
    assert b"\0" not in cleaned.encode()
    assert clean_for_store(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use PNPM, not npm!", ["use", "pnpm", "not", "npm"]),
        ("don't / DON’T", ["don't", "don't"]),
        ("AUTH_SECRET _critical_ __init__ ___", ["auth_secret", "critical", "init"]),
        ("pre-prod v1.2", ["pre", "prod", "v1", "2"]),
        ("cafe" + ACUTE, ["café"]),
        ("'quoted' it's", ["quoted", "it's"]),
        ("", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    """Lower case, whole, in order."""
    assert words(text) == found


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.text(st.sampled_from("ab \n\t\u0301\u200d\ufe0f\u2764漢\x07ب\u094dक"), max_size=120),
    st.integers(0, 12),
)
def test_one_line_of_a_long_line_is_its_beginning(text: str, limit: int) -> None:
    line = next((" ".join(raw.split()) for raw in text.splitlines() if raw.strip()), "")
    assert one_line(text, limit) == clip(printable(line), limit)


def test_of_a_long_line_only_what_can_be_seen_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def looked(text: str) -> str:
        seen.append(len(text))
        return printable(text)

    monkeypatch.setattr(module, "printable", looked)
    assert one_line("\u2764\ufe0f\ufe0f" * 100_000, 40).endswith("…")
    assert one_line("a\u0301 " * 100_000, 40).endswith("…")
    assert max(seen) <= 40 * (MAX_MARKS + 2) + 1
    seen.clear()
    assert one_line("\ue000\u4e00" * 100_000, 40).endswith("…")
    assert seen == [41], "a mark may be one too many to see, any other character takes a cell"


@pytest.mark.parametrize(
    "text",
    ["\n \r\n" * 1000 + "x", "x" + "\ny" * 1000, "\u2028\x85" * 1000],
    ids=["before", "behind", "none"],
)
def test_of_many_lines_only_one_is_parted(text: str) -> None:
    assert one_line(text, 40) == ("x" if "x" in text else "")
    assert steps_of(lambda: one_line(text, 40)) < 50
