"""Absolute BM25 against its definition, and changed indexes against fresh ones."""

import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.words import stop_words
from workbench.retrieval.arrays import Scores
from workbench.retrieval.fulltext.lexical import K1, OVERLAY, B, LexicalIndex
from workbench.retrieval.fulltext.terms import compounds_in, stems

WORDS = ["deploy", "deployed", "tests", "fail", "cache", "the", "is", "never", "pnpm", "Café"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=8)
queries = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5).map(" ".join)


def by_definition(documents: list[str], query: str) -> list[float]:
    """Absolute BM25, word by word."""

    def terms(text: str) -> list[str]:
        return stems(
            [word for word in re.findall(r"\w+", text.lower()) if word not in stop_words()]
        )

    split = [terms(text) for text in documents]
    filled = [len(words) for words in split if words]
    asked = list(dict.fromkeys(terms(query)))
    scores, most = [0.0] * len(documents), 0.0
    for term in asked:
        n = sum(term in words for words in split)
        idf = math.log(1 + (len(filled) - n + 0.5) / (n + 0.5))
        most += idf * (K1 + 1)
        for i, words in enumerate(split):
            tf = Counter(words)[term]
            if tf:
                norm = 1 - B + B * len(words) / (sum(filled) / len(filled))
                scores[i] += idf * tf * (K1 + 1) / (tf + K1 * norm)
    return [score / most if most else 0.0 for score in scores]


def found(index: LexicalIndex, query: str) -> list[int]:
    scores = index.scores(query)
    return [row for row in np.argsort(-scores, kind="stable").tolist() if scores[row] > 0]


def same(one: Scores, other: Scores) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=0)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(texts, queries)
def test_scores_follow_the_definition(documents: list[str], query: str) -> None:
    scores = LexicalIndex.build(documents).scores(query)
    assert scores.dtype.name == "float32"
    assert scores.tolist() == pytest.approx(by_definition(documents, query), rel=1e-5)
    assert all(0 <= score < 1 for score in scores.tolist())


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_changed_index_scores_like_a_fresh_one(data: st.DataObject) -> None:
    documents = data.draw(texts)
    index = LexicalIndex.build(documents)
    first = list(documents)
    for _ in range(3):
        rows = data.draw(
            st.dictionaries(
                st.integers(0, len(documents) - 1), st.sampled_from([*WORDS, "", "a-b c"])
            )
        )
        index = index.with_replaced(rows)
        for row, text in rows.items():
            documents[row] = text
        more = data.draw(st.lists(st.sampled_from(WORDS), max_size=2))
        index = index.with_added(more)
        documents += more
    fresh = LexicalIndex.build(documents)
    for query in (data.draw(queries), '"the cache" deploy', '"is never" a-b'):
        same(index.scores(query), fresh.scores(query))
    same(LexicalIndex.build(first).scores("deploy"), LexicalIndex.build(first).scores("deploy"))


def test_a_large_change_is_put_together_again() -> None:
    documents = [f"memory number{n}" for n in range(OVERLAY + 500)]
    index = LexicalIndex.build(documents).with_added(["extra number7"])
    changed = {n: f"other number{n} cache" for n in range(OVERLAY + 10)}
    index = index.with_replaced(changed)
    fresh = LexicalIndex.build(
        [changed.get(n, text) for n, text in enumerate(documents)] + ["extra number7"]
    )
    for query in ("number7", "cache", '"other number3"', "memory"):
        same(index.scores(query), fresh.scores(query))
    again = index.with_replaced({3: "memory"})
    assert again.scores("number3").max() == 0
    assert index.scores("number3").max() > 0


def test_an_older_index_keeps_its_answers() -> None:
    old = LexicalIndex.build(["alpha", "beta"])
    new = old.with_replaced({0: "gamma"}).with_added(["alpha"])
    assert (found(old, "alpha"), found(old, "gamma"), found(new, "alpha")) == ([0], [], [2])
    assert (len(old), len(new)) == (2, 3)


DOCUMENTS = [
    "Set AUTH_SECRET in the environment before the server starts.",
    "The secret of good authentication is rotation.",
    "Login lives in src/auth/login.py since March.",
    "Python 3.11.7 is the version on CI.",
    "Rate limits: the limit of the API is 60 per minute.",
    "The rate is a limit we set ourselves.",
    "Run `git push --force-with-lease`, never --force.",
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("AUTH_SECRET", 0), ("auth_secret", 0), ("src/auth/login.py", 2), ("login.py", 2), ("auth/login.py", 2),
        ("3.11.7", 3), ("authenticating", 1), ("force-with-lease", 6), ('"limit of the API"', 4), ('"secret"', 1),
        ("“rate is a limit”", 5), ("LIMITS", 4),
    ],
)  # fmt: skip
def test_what_is_found_first(query: str, first: int) -> None:
    assert found(LexicalIndex.build(DOCUMENTS), query)[0] == first


def test_an_identifier_as_written_beats_its_words() -> None:
    index = LexicalIndex.build(["auth secret", "AUTH_SECRET", "nothing here"])
    scores = index.scores("AUTH_SECRET")
    assert scores[1] > 2 * scores[0] > 0


@pytest.mark.slow
def test_a_megabyte_without_a_space_is_split_in_one_pass() -> None:
    texts = {
        "p:" * 500_000 + "://u:" + "p" * 40: 2,
        "a" * 1_000_000 + "!x-y": 1,
        "a/" * 500_000 + "!": 1,
        "-" * 1_000_000 + "x": 0,
    }
    assert [len(compounds_in(text)) for text in texts] == list(texts.values())


def test_a_compound_begins_where_a_word_does_and_a_path_counts_by_its_last_part_too() -> None:
    assert compounds_in("see src/auth/login.py, éa-b and a!b_c c:\\d\\e-f") == [
        "src/auth/login.py", "login.py", "éa-b", "b_c", "c:\\d\\e-f", "e-f"
    ]  # fmt: skip


def test_a_phrase_counts_only_in_order_and_within_one_text() -> None:
    index = LexicalIndex.build(["rate limit", "limit rate", "the rate", "limit", "rate of limit"])
    assert found(index, '"rate limit"') == [0]
    assert found(index, '"rate of limit"') == [4]
    assert found(index, '"limit the rate"') == []
    assert set(found(index, 'rate limit "limit rate"')) == {0, 1, 2, 3, 4}
    assert found(index, '"unbalanced rate') != []


def test_phrases_are_counted() -> None:
    index = LexicalIndex.build(["a b c", "x y x y", "x y"])
    assert len(found(index, '"x y"')) == 2


def test_stop_words_alone_find_nothing_but_phrases_keep_them() -> None:
    index = LexicalIndex.build(["to be or not to be", "to do", "who is on call"])
    assert index.scores("who is to be").max() == 0
    assert found(index, '"to be"') == [0]
    assert found(index, '"is on call"') == [2]


@pytest.mark.parametrize(
    "query", ["", "   ", '""', '"', "…", "\ud800", "NULL\0", "a" * 5000, "col:x OR (NEAR"]
)
def test_odd_queries_are_harmless(query: str) -> None:
    index = LexicalIndex.build([*DOCUMENTS, "", "\ud800 broken", "nul \0 byte"])
    assert index.scores(query).shape == (len(DOCUMENTS) + 3,)


def test_accents_and_scripts() -> None:
    index = LexicalIndex.build(["Café zu", "naïve Bayes", "память агента", "記憶 の 管理"])
    assert [found(index, q) for q in ("cafe", "naive", "память", "記憶")] == [[0], [1], [2], [3]]


def test_an_empty_index() -> None:
    index = LexicalIndex.build([])
    assert index.scores("anything").shape == (0,)
    assert index.with_added(["anything"]).scores("anything")[0] > 0


def test_an_unknown_word_lowers_the_score() -> None:
    index = LexicalIndex.build(DOCUMENTS)
    assert index.scores("rotation zebra")[1] < index.scores("rotation")[1]
