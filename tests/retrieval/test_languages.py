"""Full text in many languages: words of every script, stems, parts, phrases, and English as it was."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.retrieval.arrays import Scores
from workbench.retrieval.fulltext.lexical import LexicalCache, LexicalIndex
from workbench.retrieval.fulltext.terms import Lexicon

TEXTS = [
    "Die Tokenerneuerung ist in der Datenbank nicht aktiv, die Rechnungen sind alt",
    "Der Krieg war lang und die Häuser waren kalt",
    "The war is over and the deployed cache is cold",
    "进程watchdog单层重启,不要再套一层。",
    "キャッシュを消す前に確認する。",
    "ล้างแคชก่อนออกรุ่นใหม่",
    "서버를 재시작한 뒤에 끌을 둔다",
    "Очистить кэш до выпуска, ёлка стоит",
    "שָׁלוֹם לכולם",
    "خادم مُحَمَّد لا يعمل",
    "कैश हटाओ और हिन्दी में लिखो",
    "La clé du café est dans le tiroir",
    "İstanbul ofisi STRASSE",
]
FOUND = [
    ("Token", 0), ("Rechnung", 0), ("Datenbanken", 0), ("Haus", 1), ("hauser", 1), ("Krieges", 1), ("war", 2),
    ("deploys", 2), ("watchdog", 3), ("重启", 3), ("层", 3), ("不要再套", 3), ("キャッシュ", 4), ("消", 4), ("แคช", 5),
    ("서버가", 6), ("서버", 6), ("끌", 6), ("재시작", 6), ("выпуск", 7), ("елка", 7), ("Ёлки", 7), ("שלום", 8),
    ("محمد", 9),
    ("हिन्दी", 10), ("हटाओ", 10), ("cafe", 11), ("cafés", 11), ("cle", 11), ("istanbul", 12), ("Straße", 12),
    ("ｗａｔｃｈｄｏｇ", 3), ("ser\u00advers watch\u200bdog", 3),
]  # fmt: skip


def best(index: LexicalIndex, query: str) -> int | None:
    scores = index.scores(query)
    return int(scores.argmax()) if scores.max() > 0 else None


def same(one: Scores, other: Scores) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=0)


@pytest.fixture(scope="module")
def index() -> LexicalIndex:
    return LexicalIndex.build(TEXTS)


@pytest.mark.parametrize(
    "title",
    ["Plus size", "IO wait", "AI agents", "DES encryption", "state machine", "fast path", "MIT license", "word export",
     "Los Angeles office", "Die casting", "war room", "del key", "var declarations", "bin dir", "van rental",
     "15 min token in memory, 30 day cookie"],
)  # fmt: skip
def test_an_english_title_is_found_by_each_word_that_is_a_function_word_elsewhere(
    title: str,
) -> None:
    index = LexicalIndex.build(
        ["the other one is here", "Das ist und bleibt der Plan für die Woche", title]
    )
    assert {best(index, word) for word in title.split() if word != "in"} == {2}


@pytest.mark.parametrize(("query", "row"), [("رمز", 0), ("ليل", 1), ("שרת", 2), ("הספר", 3)])
def test_short_nouns_are_found_with_and_without_their_article(query: str, row: int | None) -> None:
    texts = ["تم تحديث الرمز", "يعمل في الليل", "השרת החדש", "ספר ישן", "something else"]
    assert best(LexicalIndex.build(texts), query) == row


@pytest.mark.parametrize(("query", "row"), FOUND)
def test_a_word_is_found_in_the_forms_of_its_language(
    index: LexicalIndex, query: str, row: int
) -> None:
    assert best(index, query) == row
    assert row in {int(at) for term in index.matches(query).terms for at in term.rows.tolist()}


def test_the_index_on_disk_answers_as_the_one_in_memory(
    index: LexicalIndex, tmp_path: Path
) -> None:
    LexicalCache(tmp_path).index(TEXTS)
    stored = LexicalCache(tmp_path).index(TEXTS)
    for query in (
        *(query for query, _ in FOUND),
        '"war lang"',
        '"不要再套"',
        "die war cache",
        "קשת",
    ):
        same(stored.scores(query), index.scores(query))
        assert stored.matches(query).weights == index.matches(query).weights


def test_a_word_as_it_is_written_counts_more_than_another_form() -> None:
    index = LexicalIndex.build(
        ["die Rechnung ist da", "die Rechnungen sind da", "die Rechnungsnummer ist da", "nichts"]
    )
    exact, inflected, compound, nothing = index.scores("Rechnung").tolist()
    assert exact > inflected > compound > nothing == 0


@pytest.mark.parametrize(
    ("phrase", "rows"),
    [
        ('"war lang"', {1}), ('"der Krieg war"', {1}), ('"war is over"', {2}), ('"lang war"', set()),
        ('"要再套"', {3}), ('"套再要"', set()), ("「を消す前」", {4}), ('"ก่อนออก"', {5}), ('"서버를 재시작한"', {6}),
        ('"кэш до"', {7}), ('"में लिखो"', {10}), ("«est dans le»", {11}),
    ],
)  # fmt: skip
def test_a_phrase_is_found_as_it_stands(index: LexicalIndex, phrase: str, rows: set[int]) -> None:
    assert set(np.flatnonzero(index.scores(phrase)).tolist()) == rows


def test_a_stop_word_of_one_language_is_a_word_where_another_one_says_something_with_it() -> None:
    german = ["Der Krieg war lang", "Die Katze ist da und die Sonne scheint"]
    assert LexicalIndex.build(german).scores("war die").max() == 0
    both = LexicalIndex.build([*german, "They talk about the war and how stars die"])
    assert np.flatnonzero(both.scores("war die")).tolist() == [2]


ENGLISH = st.lists(
    st.sampled_from(["deploy", "deployed", "tests", "the", "is", "never", "pnpm", "Café", "API_KEY", "die", "war"]),
    max_size=8,
).map(" ".join)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(ENGLISH, min_size=1, max_size=8), ENGLISH)
def test_other_scripts_beside_it_change_nothing_in_what_english_words_stand_for(
    texts: list[str], query: str
) -> None:
    """A store of English gives the stems that it gave; a memory in another script takes part by its
    number alone.
    """
    alone = LexicalIndex.build(texts).matches(query)
    beside = LexicalIndex.build([*texts, "进程重启"]).matches(query)
    assert [(term.term, term.rows.tolist(), term.own.tolist()) for term in alone.terms] == [
        (term.term, term.rows.tolist(), term.own.tolist()) for term in beside.terms
    ]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_changed_index_scores_like_a_fresh_one(data: st.DataObject) -> None:
    some = st.sampled_from([*TEXTS, ""])
    documents = data.draw(st.lists(some, min_size=1, max_size=6))
    index = LexicalIndex.build(documents)
    for _ in range(2):
        rows = data.draw(st.dictionaries(st.integers(0, len(documents) - 1), some))
        index = index.with_replaced(rows)
        for row, text in rows.items():
            documents[row] = text
    fresh = LexicalIndex.build(documents)
    for query in ("Token die war", "서버가 层", '"war lang" cafe', "елка Häuser"):
        same(index.scores(query), fresh.scores(query))


def test_a_lexicon_is_read_as_it_was_written() -> None:
    words = {
        "häuser": ["de"],
        "haus": ["de", "nl"],
        "ёлка": ["ru"],
        "重启": ["zh"],
        "서버를": ["ko"],
        "a" * 200: ["sv"],
    }
    lexicon = Lexicon.of(words)
    assert set(lexicon.stemmed("de:haus")) == {"häuser", "haus"}
    assert set(lexicon.like("елка")) == {"ёлка"}
    assert list(lexicon.holding("启")) == ["重启"]
    assert list(Lexicon.joined([lexicon, Lexicon(lexicon.rows())]).rows()) == list(lexicon.rows())


@pytest.mark.parametrize(
    "some",
    ["\ud800", "\u0378", "\u202e", "中", "ก็", "가", "a\u0301", "ä", "ß", "я", "ש", "क्", "İ"],
    ids=ascii,
)
def test_a_text_of_one_letter_is_indexed_and_asked_for(some: str, tmp_path: Path) -> None:
    text = "die " + some * (65_536 // len(some))
    for index in (
        LexicalIndex.build([text, "other"]),
        LexicalCache(tmp_path).index([text, "other"]),
    ):
        for query in (text, text[4:5_000], f'"{text}"', some):
            assert index.scores(query).shape == (2,)
            index.matches(query)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("userName", {0, 1, 2}), ("user_name", {0, 1, 2}), ("user name", {0, 1, 2}), ("name", {0, 1, 2}),
        ("parseHTTPBody", {3}), ("http", {3}), ("API12", {4}), ("api", {4}), ("v1.2.3", {5}), ("utils/log.py", {6}),
    ],
)  # fmt: skip
def test_a_name_is_found_whole_and_by_its_words(query: str, rows: set[int]) -> None:
    index = LexicalIndex.build(
        ["set userName here", "set user_name here", "the user name", "parseHTTPBody fails", "API12 is gone",
         "since v1.2.3 only", "see src/utils/log.py"]
    )  # fmt: skip
    assert set(np.flatnonzero(index.scores(query)).tolist()) == rows


def test_one_memory_in_another_language_leaves_english_queries_as_they_were(tmp_path: Path) -> None:
    english = [f"the token of the service number {n} is refreshed" for n in range(12)]
    german = "Der Text sagt als Beispiel the token of the day und sonst nichts"
    query = "why did the token of the service refresh"
    alone = LexicalCache(tmp_path / "alone").index(english).matches(query)
    for index in (
        LexicalCache(tmp_path / "both").index([*english, german]),
        LexicalIndex.build([*english, german]),
    ):
        assert index.languages == {"en", "de"}
        assert [term.term for term in index.matches(query).terms] == [
            term.term for term in alone.terms
        ]
