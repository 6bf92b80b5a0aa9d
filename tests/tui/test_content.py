"""Stored text on the screen: inert, clipped, marked, compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.widgets.host import is_inert as is_inert_line
from workbench.tui.widgets import content

TEXT = st.text(max_size=80)


def is_inert(text: str) -> bool:
    return all(map(is_inert_line, text.split("\n")))


@pytest.mark.slow
@given(TEXT)
def test_everything_that_is_rendered_is_inert(text: str) -> None:
    assert is_inert(content.body(text).plain)
    assert is_inert(content.line(text, 30).plain)
    assert is_inert(content.highlight(text, [(1, 4), (3, 7)]).plain)
    assert is_inert(content.word_diff(text, text[::-1]).plain)


@pytest.mark.slow
@given(TEXT, st.integers(0, 40), st.sampled_from(["left", "right"]))
def test_a_line_has_exactly_its_width(text: str, width: int, align: str) -> None:
    drawn = content.line(text, width, "bold", align)
    assert drawn.cell_length == width
    assert "\n" not in drawn.plain


def test_a_line_is_clipped_padded_and_aligned() -> None:
    assert content.line("importance", 6).plain == "impor…"
    assert content.line("9", 3, align="right").plain == "  9"
    assert content.line("日本語日本語", 5).plain == "日本…"
    assert content.line("\n\n  first \t line\nsecond", 12).plain == "first line  "


def test_a_body_keeps_its_lines_and_says_what_is_missing() -> None:
    assert content.body("one\ntwo\r\nthree").plain.split("\n")[0] == "one"
    assert content.body("one\ntwo").plain == "one\ntwo"
    assert content.body("x" * 165_536).plain.endswith("x\n… 100\u00a0000 more characters")


def test_found_words_are_marked_in_any_case_and_longest_first() -> None:
    text = "Auth needs AUTH_SECRET; unauthorised"
    spans = content.find_words(text, ["auth", "auth_secret", " "])
    assert [text[a:b] for a, b in spans] == ["Auth", "AUTH_SECRET", "auth"]
    assert content.find_words(text, []) == []
    assert content.find_words("a.b axb", ["a.b"]) == [(0, 3)]


def test_highlights_are_joined_clamped_and_placed_after_replacement() -> None:
    marked = content.highlight("a\tbcd", [(2, 4), (3, 99), (-3, 1), (5, 2)])
    assert marked.plain == "a    bcd"
    assert [(s.start, s.end) for s in marked.spans] == [(0, 1), (5, 8)]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("its env checked", "its environment checked", "its [-env-]{+environment+} checked"),
        ("run the tests now", "run tests", "run [-the -]tests[- now-]"),
        ("", "new", "{+new+}"), ("same", "same", "same"), ("", "", ""),
        ("a b c", "x y z", "[-a b c-]{+x y z+}"), ("see [x]", "see [y]", "see [[-x-]{+y+}]"),
        ("one\ntwo", "one\nthree", "one\n[-two-]{+three+}"),
        ("运行迁移脚本", "运行的迁移脚本", "运行{+的+}迁移脚本"), ("ต้องรันสคริปต์", "ห้ามรันสคริปต์", "[-ต้อง-]{+ห้าม+}รันสคริปต์"),
        ("हिन्दी में पाठ", "हिन्दी का पाठ", "हिन्दी [-में-]{+का+} पाठ"),
    ],
)  # fmt: skip
def test_a_word_diff_shows_both_sides_by_symbols(old: str, new: str, shown: str) -> None:
    assert content.word_diff(old, new).plain == shown


def test_of_a_long_diff_only_what_stands_beside_the_differences_is_shown() -> None:
    same = " ".join(f"word{n}" for n in range(300))
    shown = content.word_diff(f"{same} old {same} tail", f"{same} new {same} end", 4).plain
    assert (
        shown == " … word298 word299 [-old-]{+new+} word0 word1 … word298 word299 [-tail-]{+end+}"
    )
    assert (
        content.word_diff(f"first {same}", f"last {same}", 4).plain
        == "[-first-]{+last+} word0 word1 … "
    )
    assert content.word_diff(same, same, 4).plain == same


@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60))
def test_a_short_diff_is_shown_whole(old: str, new: str) -> None:
    assert content.word_diff(old, new, 60).plain == content.word_diff(old, new).plain


def test_a_diff_too_long_to_compare_says_so() -> None:
    assert content.word_diff("x " * 6000, "x " * 6000).plain.endswith("… the rest is not compared")
