"""Beginnings and parts of words, against looking at every text."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.fulltext.lexical_cache import LexicalCache
from workbench.retrieval.fulltext.lexical_search import prefix, substring

TEXTS = [
    "Set AUTH_SECRET before the server starts",
    "oauth tokens live in src/auth/login.py",
    "Authors of the café say “50% off”",
    "память агента",
    "",
    "authentication *and* authorisation",
]
letters = st.text(alphabet='abcÄß "*_-é\n\x00', max_size=8)


@pytest.fixture(params=["memory", "stored"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> LexicalIndex:
    return LexicalIndex.build(TEXTS) if request.param == "memory" else LexicalCache(tmp_path).index(TEXTS)


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ("auth", [5, 2, 1, 0]), ("AUTH", [5, 2, 1, 0]), ("h/lo", [1]), ("50% o", [2]), ("“50", [2]), ("амят", [3]),
        ("of the café", [2]), ("t", [5, 2, 1, 0]), ("*and*", [5]), ("nowhere", []), ("", []), ("n/a", []),
    ],
)  # fmt: skip
def test_parts_of_texts(index: LexicalIndex, part: str, rows: list[int]) -> None:
    assert substring(index, TEXTS.__getitem__, part, 9) == rows
    assert substring(index, TEXTS.__getitem__, part, 1) == rows[:1]


@pytest.mark.parametrize(
    ("word", "rows"),
    [
        ("auth", [5, 2, 1, 0]), ("auth*", [5, 2, 1, 0]), ("secret", [0]), ("oau", [1]), ("uth", []), ("lo", [1]),
        ("агент", [3]), ("caf", [2]), ("*", []), ("", []),
    ],
)  # fmt: skip
def test_beginnings_of_words(index: LexicalIndex, word: str, rows: list[int]) -> None:
    assert prefix(index, TEXTS.__getitem__, word, 9) == rows


@settings(max_examples=60, deadline=None)
@given(st.lists(letters, max_size=6), st.lists(letters, max_size=2), letters)
def test_every_match_and_nothing_else_is_found(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], more: list[str], part: str
) -> None:
    stored = LexicalCache(tmp_path_factory.mktemp("cache")).index(texts).with_added(more).with_replaced({})
    everything, wanted = [*texts, *more], part.replace("\x00", "\ufffd").lower()
    lines = [text.replace("\x00", "\ufffd").lower() for text in everything]
    inside = [row for row, line in enumerate(lines) if wanted and wanted in line]
    assert substring(stored, everything.__getitem__, part, 99) == inside[::-1]
    word = wanted.rstrip("*")
    starts = re.compile(rf"(?:^|[\W_]){re.escape(word)}")
    begun = [row for row, line in enumerate(lines) if word and (starts.search(line) or line.startswith(word))]
    if word[:1].isalnum():
        assert prefix(stored, everything.__getitem__, part, 99) == begun[::-1]


def test_long_texts_are_looked_up_by_some_of_their_letters(tmp_path: Path) -> None:
    long = " ".join(f"word{i}" for i in range(300))
    texts = [long, long[:-1], "word1"]
    index = LexicalCache(tmp_path).index(texts)
    assert substring(index, texts.__getitem__, long, 9) == [0]
    assert substring(index, texts.__getitem__, long[:900], 9) == [1, 0]


def test_a_changed_row_is_searched_by_its_new_text(tmp_path: Path) -> None:
    texts = ["alpha", "beta"]
    index = LexicalCache(tmp_path).index(texts).with_replaced({0: "gamma"})
    now = ["gamma", "beta"]
    assert substring(index, now.__getitem__, "alph", 9) == []
    assert substring(index, now.__getitem__, "amm", 9) == [0]
    assert index.may_contain("alph").tolist() == [0], "a superset: parts in memory are not indexed by letters"
