"""Relevance in a conversation: the columns equal the plain rules, and each part does what it says."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.cases import Candidate, RuleCase
from tests.oracle.conversation import actors_of
from tests.oracle.ranking import rank_case
from tests.retrieval.samples import known_rows, memory
from workbench.core.stream.memory import Memory, Source, is_served
from workbench.core.tuning.profile import CONVERSATION, LexicalRule, Profile
from workbench.core.tuning.scoring import Scored
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.fulltext.thesaurus import Matches, Near
from workbench.retrieval.ranking import relevance
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker

NOW = datetime(2027, 1, 1, tzinfo=UTC)
NEAR: dict[str, Near] = {"recip": (("cuisin", 0.8), ("cook", 0.6)), "fail": (("broken", 0.5),)}
WORDS = [
    "recipe",
    "recipes",
    "cuisine",
    "cooks",
    "fails",
    "broken",
    "the",
    "Joanna",
    "a11y",
    "what?",
    "no.",
]
PLAIN = Profile("talk", 0.0, 0.0, 1.0, mode="off", blend=0.5, lexical="absolute", **CONVERSATION)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
queries = st.sampled_from([
    "a recipe that fails", "what did Joanna cook in May", "accessibility of the recipe", '"recipe fails"',
    "Nate and the cuisine on 2 March", "my recipe for cooks", "nothing of it", "",
])  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn) -> list[Memory]:
    """Draw up to 12 memories of two sessions and of none, some long, said by people, by roles and
    by nobody.
    """
    numbers = draw(st.lists(st.integers(0, 90), min_size=1, max_size=12, unique=True))
    return [
        memory(
            number, draw(texts) + " word" * draw(st.sampled_from([0, 0, 40])),
            created_at=datetime(2026, draw(st.sampled_from([2, 3, 5])), 1 + number % 3, number % 24, tzinfo=UTC),
            session_id=draw(st.sampled_from(["", "a", "a", "b"])),
            status=draw(st.sampled_from(["signal", "signal", "signal", "archived"])),
            source=Source(speaker=draw(st.sampled_from([None, "Joanna", "Nate", "user", "assistant"]))),
        )
        for number in numbers
    ]  # fmt: skip


@st.composite
def settings_of(draw: st.DrawFn) -> Profile:
    """Draw how much each part counts, some of them off."""
    talk: dict[str, Any] = {
        key: draw(st.sampled_from([0.0, value, 1.0])) for key, value in CONVERSATION.items()
    }
    lexical: LexicalRule = draw(st.sampled_from(["absolute", "absolute", "bm25"]))
    return replace(PLAIN, lexical=lexical, **talk, contiguity=draw(st.sampled_from([0.0, 0.5])))


def ranker_of(memories: list[Memory]) -> Ranker:
    def embed(asked: object) -> Vectors:
        raise AssertionError(asked)

    index = LexicalIndex.build([m.content for m in memories])
    near = lambda stem: NEAR.get(stem, ())  # noqa: E731 - as short as it is
    return Ranker(
        Pool.build(memories), np.zeros((len(memories), 2), np.float32), index, embed, related=near
    )


def asked_of(ranker: Ranker, query: str, dense: list[float]) -> QueryScores:
    lexical = ranker.lexical.scores(query)
    return QueryScores(
        query, np.array(dense, np.float32), lexical, lambda text: _matches(ranker, text)
    )


def _matches(ranker: Ranker, text: str) -> Matches:
    return ranker.lexical.matches(text, lambda stem: NEAR.get(stem, ()), ranker.pool.actors)


def by_rule(ranker: Ranker, scores: QueryScores, profile: Profile) -> list[Scored]:
    matches, pool = scores.matches, ranker.pool
    candidates = [
        Candidate(
            m,
            float(scores.dense[i]),
            float(scores.lexical[i]),
            matches.counts(i),
            float(matches.lengths[i]),
            known=scores.knows(i),
        )
        for i, m in enumerate(pool.memories)
        if is_served(m, NOW)
    ]
    actors = actors_of(list(pool.memories))
    return rank_case(
        RuleCase(candidates, profile, NOW, scores.query, weights=matches.weights, actors=actors)
    )


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_columns_equal_the_plain_rules(data: st.DataObject) -> None:
    memories = data.draw(conversations())
    ranker = ranker_of(memories)
    dense = data.draw(
        st.lists(st.sampled_from([0.0, 0.2, 0.7]), min_size=len(memories), max_size=len(memories))
    )
    for _ in range(3):
        # One ranker, so that a column kept for other settings would be found out.
        scores, profile = asked_of(ranker, data.draw(queries), dense), data.draw(settings_of())
        scores = replace(scores, known=data.draw(st.none() | known_rows(len(memories))))
        # A rare term is lent in another way than a frequent one; the rule is the same.
        with patch.object(relevance, "SPARSE", data.draw(st.sampled_from([0, 99]))):
            fast = ranker.rank(scores, profile, NOW, len(memories))
        plain = {one.memory.id: one for one in by_rule(ranker, scores, profile)}
        assert set(fast.ids) == set(plain)
        for one in fast.top:
            assert one.raw["relevance"] == pytest.approx(
                plain[one.memory.id].raw["relevance"], abs=1e-9
            )


def raw(
    memories: list[Memory], query: str, profile: Profile, dense: list[float] | None = None
) -> list[float]:
    """Return the raw relevance of each memory, in their order."""
    ranker = ranker_of(memories)
    ranking = ranker.rank(asked_of(ranker, query, dense or [0.0] * len(memories)), profile, NOW, 50)
    return [found.raw["relevance"] if (found := ranking.scored(m.id)) else -1.0 for m in memories]


def only(**talk: Any) -> Profile:
    rest: dict[str, Any] = {**dict.fromkeys(CONVERSATION, 0.0), "length": 1.0}
    return replace(PLAIN, blend=0.0, **(rest | talk))


def test_a_related_word_counts_less_than_the_word_itself_and_more_than_none() -> None:
    talk = [memory(1, "a recipe"), memory(2, "the cuisine"), memory(3, "nothing")]
    itself, near, none = raw(talk, "recipe", only(related_words=0.4))
    assert itself > near > none == 0.0
    assert raw(talk, "recipe", only())[1] == 0.0
    # Capitalised within the query it is a name.
    assert raw(talk, "a Recipe", only(related_words=0.4))[1] == 0.0


def test_a_long_word_finds_its_abbreviation_by_letters() -> None:
    assert raw([memory(1, "the a11y test")], "accessibility", only(related_words=0.4))[0] > 0


@pytest.mark.parametrize("query", ["\u0640", "recipe \u0640\u0640"])
def test_a_word_of_layout_characters_alone_is_no_word(query: str) -> None:
    assert raw([memory(1, "nothing")], query, only(related_words=0.4)) == [0.0]


def test_words_of_those_before_count_and_of_those_after_half() -> None:
    talk = [memory(n, "recipe" if n == 3 else "nothing", session_id="s") for n in range(1, 7)]
    one, two, itself, four, five, six = raw(talk, "recipe", only(neighbour_words=0.2))
    assert itself > max(four, five) >= min(four, five) > max(one, two) >= min(one, two) > six == 0.0
    archived = replace(talk[2], status="archived")
    assert max(raw([*talk[:2], archived, *talk[3:]], "recipe", only(neighbour_words=0.2))) == 0.0


def test_a_long_text_lends_less_of_its_words_and_length() -> None:
    def beside(text: str, itself: str, length: float) -> float:
        talk = [memory(1, text, session_id="s"), memory(2, itself, session_id="s")]
        return raw(talk, "recipe", only(neighbour_words=0.2, length=length))[1]

    lent = [beside("recipe" + " flour" * more, "nothing", 0.0) for more in (0, 24, 49, 99)]
    assert lent[0] == lent[1] > lent[2] > lent[3] > 0
    # What stands beside a text makes it no longer than 25 words do.
    short, brief, long = (beside("flour " * count, "recipe", 1.0) for count in (5, 25, 2_500))
    assert short > brief == long


def test_the_pool_does_not_move_how_words_count() -> None:
    few, many = (
        [memory(1, "recipe")],
        [memory(n, "recipe" + " word" * (n - 1)) for n in range(1, 9)],
    )
    assert raw(few, "recipe", only())[0] == raw(many, "recipe", only())[0]


def test_an_answer_inherits_from_its_question() -> None:
    who = {"session_id": "s"}
    talk = [
        memory(1, "what recipe?", source=Source(speaker="Joanna"), **who), memory(2, "hm", **who),
        memory(3, "the one of last week", source=Source(speaker="Nate"), **who),
        *(memory(n, "nothing") for n in range(4, 20)),
    ]  # fmt: skip
    _, _, answer, *others = raw(talk, "recipe", only(carry=1.0))
    assert answer > max(others) == 0.0


def test_a_long_answer_inherits_less_from_its_question() -> None:
    def gained(length: int) -> float:
        talk = [
            memory(1, "what recipe?", session_id="s", source=Source(speaker="user")),
            memory(2, "flour " * length, session_id="s", source=Source(speaker="assistant")),
            *(memory(n, "nothing") for n in range(4, 20)),
        ]  # fmt: skip
        return raw(talk, "recipe", only(carry=1.0))[1]

    assert (
        gained(25) == gained(1) == pytest.approx(2 * gained(50)) == pytest.approx(10 * gained(250))
    )


def test_what_an_assistant_said_counts_less_where_the_query_is_about_who_asks() -> None:
    said = ["user", "assistant", "user", "assistant", "Nate", None]
    talk = [memory(n, "a recipe", source=Source(speaker=who)) for n, who in enumerate(said)]
    full, *others = raw(talk, "my recipe", only(role=0.1))
    assert others == pytest.approx([full * times for times in (0.9, 1, 0.9, 1, 1)])
    assert len(set(raw(talk, "the recipe", only(role=0.1)))) == 1
    assert len(set(raw(talk[3:], "my recipe", only(role=0.1)))) == 1


def test_asking_another_actor_and_another_month_take_something_away() -> None:
    may, joanna, nate = (
        datetime(2026, 5, 3, tzinfo=UTC),
        Source(speaker="Joanna"),
        Source(speaker="Nate"),
    )
    talk = [
        memory(1, "recipe", source=joanna, created_at=may), memory(2, "recipe", source=joanna),
        memory(3, "recipe", source=nate), memory(4, "recipe?", source=nate), memory(5, "recipe"),
    ]  # fmt: skip
    found = raw(talk, "recipe of Joanna in May", only(questions=0.3, other_actor=0.2, month=0.25))
    assert found == pytest.approx(
        [found[0] * times for times in (1, 0.75, 0.8 * 0.75, 0.7 * 0.8 * 0.75, 0.75)]
    )


def test_asking_takes_nothing_where_the_query_looks_for_what_was_asked() -> None:
    talk = [memory(1, "recipe for bread"), memory(2, "recipe for bread?")]
    told, asked = raw(talk, "recipe", only(questions=0.3))
    assert asked == pytest.approx(0.7 * told)
    told, asked = raw(talk, "Nate asks about the recipe", only(questions=0.3))
    assert asked == pytest.approx(told)


def test_an_index_without_texts_finds_nothing() -> None:
    matches = LexicalIndex.build([]).matches("a recipe", lambda stem: NEAR.get(stem, ()))
    assert [(term.term, len(term.rows)) for term in matches.terms] == [("recip", 0)]
