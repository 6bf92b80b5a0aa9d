"""Free-word filtering and ordered similarity."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from workbench.retrieval.fulltext.fuzzy import (
    EXACT,
    INSIDE,
    START,
    TYPO,
    FuzzyLines,
    order_similarity,
    spans_in,
)

LINES = [
    "Support group on Monday",
    "the supporting cast, in groups",
    "a supprot gruop with typos",
    "deploy to staging",
    "Deployment failed: AUTH_SECRET missing",
    "src/auth/login.py",
]


def best(lines: Sequence[str], query: str) -> list[tuple[int, float]]:
    """Return the lines that match and their scores, the best first, equals in their own order."""
    scores, _ = FuzzyLines(lines).scores(query)
    return sorted(
        ((at, score) for at, score in enumerate(scores.tolist()) if score), key=lambda one: -one[1]
    )


def indexes(query: str, lines: Sequence[str] = LINES) -> list[int]:
    return [at for at, _ in best(lines, query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("support group", [0, 1, 2]),
        ("SUPPORT", [0, 1, 2]),
        ("suport", [0, 1]),
        ("deploy", [3, 4]),
        ("deplyoment", [4]),
        ("auth_secret", [4]),
        ("auth/login", [5]),
        ("logn.py", []),
        ("logn", [5]),
        ("ploy", [3, 4]),
        ("teh", []),
        ("group deploy", []),
        ("", []),
    ],
)
def test_what_matches_in_which_order(query: str, expected: list[int]) -> None:
    assert indexes(query) == expected


def test_substrings_come_before_typos_whatever_the_rest_scores() -> None:
    matches = best(["xalphax xbetax", "alpha bata", "alpha beta"], "alpha beta")
    assert [at for at, _ in matches] == [2, 0, 1]
    assert matches[1][1] >= INSIDE > TYPO >= matches[2][1]


def test_whole_words_before_starts_before_insides() -> None:
    assert indexes("log", ["catalog", "login", "a log"]) == [2, 1, 0]


@pytest.mark.parametrize(
    ("line", "query", "parts"),
    [
        ("İstanbul: support, SUPPORT", "support", ["support", "SUPPORT"]),
        ("the gruop and groups", "group", ["group"]),
        ("the gruop and group", "gropu the", ["the", "group"]),
    ],
)
def test_spans_are_places_in_the_line(line: str, query: str, parts: list[str]) -> None:
    assert [line[start:end] for start, end in spans_in(line, query)] == parts


@pytest.mark.parametrize(
    ("line", "query", "part"),
    [
        ("große Straße", "strasse", "Straße"),
        ("große Strasse", "straße", "Strasse"),
        ("the\u0301 noir", "thé", "the\u0301"),
        ("完ＡＰＩ", "api", "ＡＰＩ"),
        ("a soft\u00adhyphen", "softhyphen", "soft\u00adhyphen"),
        ("eine ﬁrma", "firma", "ﬁrma"),
        ("हिन्दी में", "हिन्दी", "हिन्दी"),
        ("部署流水线", "流水", "流水"),
        ("进程watchdog单层重启", "单层", "单层"),
        ("ขอลบแคชก่อน", "แคช", "แคช"),
        ("the ser\u00advers run", "servers", "ser\u00advers"),
        ("İstanbul ofisi", "istanbul", "İstanbul"),
        ("очистить кэшировние", "кэширование", "кэшировние"),
    ],
)
def test_forms_of_the_same_letters_match_and_are_highlighted(
    line: str, query: str, part: str
) -> None:
    assert indexes(query, ["else", line]) == [1]
    assert [line[start:end] for start, end in spans_in(line, query)] == [part]


def test_what_shows_of_a_line_is_counted_in_its_own_letters() -> None:
    _, shows = FuzzyLines(["ßßß one two", "ßßß one two"], [7, 11]).scores("two")
    assert shows.tolist() == [False, True]


def test_overlapping_spans_are_joined() -> None:
    assert spans_in("xabcdx", "abc bcd") == ((1, 5),)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(st.text("abcdé -_.İ(", max_size=12), max_size=6), st.text("abcdé .(", max_size=8))
def test_what_matches_has_spans_that_stay_in_the_line(lines: list[str], query: str) -> None:
    every = best(lines, query)
    for at, score in every:
        spans = spans_in(lines[at], query)
        assert 0 < score <= 100
        assert spans
        assert all(0 <= a < b <= len(lines[at]) for a, b in spans)
        assert all(left[1] < right[0] for left, right in pairwise(spans))
    for index, line in enumerate(lines):
        if query.split() and all(word in line for word in query.split()):
            assert index in {at for at, _ in every}


@settings(max_examples=60, deadline=None)
@given(st.text("abcdefgh", min_size=4, max_size=9), st.data())
def test_one_typo_is_forgiven_from_four_letters_on(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    wrong = data.draw(
        st.sampled_from(
            [
                word[:at] + "z" + word[at:],
                word[:at] + "z" + word[at + 1 :],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            ]
        )
    )
    assert indexes(wrong, [f"1 {word}, 2", "unrelated"]) == [0]


def plain(line: str, word: str) -> int:
    """How well a line holds a word as it is typed: the rule, read off the line itself."""
    if word not in line:
        return 0
    starts = [
        at
        for at in range(len(line))
        if line.startswith(word, at) and not re.match(r"\w", line[at - 1 : at])
    ]
    whole = any(not re.match(r"\w", line[at + len(word) :]) for at in starts)
    return EXACT if whole else START if starts else INSIDE


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text("ab-_. é\n\u3000", max_size=14), max_size=6),
    st.text("ab-._é", min_size=1, max_size=4),
)
def test_each_line_has_the_value_that_is_read_off_it(lines: list[str], word: str) -> None:
    assert FuzzyLines(lines).scores(word)[0].tolist() == [plain(line, word) for line in lines]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text("ab ", max_size=8), st.text("ab ", max_size=8)), max_size=5))
def test_a_match_shows_when_it_stands_in_what_shows(parts: list[tuple[str, str]]) -> None:
    lines = FuzzyLines(
        [f"{head}\n{rest}" for head, rest in parts], [len(head) for head, _ in parts]
    )
    assert lines.scores("ab")[1].tolist() == ["ab" in head for head, _ in parts]


def test_order_similarity_sees_order_and_small_differences() -> None:
    assert order_similarity("Run  the tests.", "run the tests.") == 100
    assert order_similarity("always pnpm, never npm", "always npm, never pnpm") <= 50
    assert (
        order_similarity(
            "Prefer composition over inheritance", "Prefer inheritance over composition"
        )
        <= 50
    )
    assert order_similarity("Run the unit tests first", "Run the unit tests first, please") > 80
    assert order_similarity("", "") == order_similarity("…", "…") == 100
    assert order_similarity("word", "") == 0
    assert order_similarity("ﬁle", "file") == 100


@given(st.text(max_size=30), st.text(max_size=30))
def test_order_similarity_is_symmetric_and_bounded(a: str, b: str) -> None:
    assert 0 <= order_similarity(a, b) == order_similarity(b, a) <= 100
    assert order_similarity(a, a) == 100


@given(st.text("ab ,", max_size=30), st.text("ab ,", max_size=30))
def test_order_similarity_is_the_smaller_of_letters_and_words(a: str, b: str) -> None:
    one, other = " ".join(a.split()), " ".join(b.split())
    words = re.findall(r"\w+", one), re.findall(r"\w+", other)
    both = [fuzz.ratio(one, other), *([fuzz.ratio(*words)] if any(words) else [])]
    assert order_similarity(a, b) == min(both)
