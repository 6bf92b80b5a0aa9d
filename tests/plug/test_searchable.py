"""Something that is no memory, among memories: found by full text and vectors, and ranked like a fresh memory."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.retrieval.samples import T0, memory, near, profiles, query_scores
from workbench.core.stream.memory import Memory
from workbench.core.stream.searchable import Searchable
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.embedding.embedder import Embedder
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker
from workbench.retrieval.text import searched_text


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a handbook; it has nothing of a memory but what can be searched."""

    id: str
    content: str
    created_at: datetime
    session_id: str = ""


PAGES = [
    Page("page-1", "The coffee machine is descaled on the first of the month.", T0),
    Page("page-2", "Releases are tagged before the wheel is built.", T0, "handbook"),
]
MEMORIES = [memory(1, "Deploys on Friday broke the build twice."), memory(2, "Use pnpm in the web folder.")]
ITEMS: list[Searchable] = [MEMORIES[0], *PAGES, MEMORIES[1]]


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    embedder, texts = Embedder(), [searched_text(item) for item in ITEMS]
    return Ranker(Pool.build(ITEMS), embedder.embed(texts), LexicalIndex.build(texts), embedder.embed)


def test_full_text_finds_it(ranker: Ranker) -> None:
    index = ranker.lexical
    assert isinstance(index, LexicalIndex)
    assert int(np.argmax(index.scores("wheel built"))) == 2
    assert int(np.argmax(index.scores("descaling coffee"))) == 1


@pytest.mark.parametrize(
    ("query", "found"), [("when is the coffee machine cleaned", "page-1"), ("tag a release", "page-2")]
)
def test_a_ranking_hands_it_back_and_explains_it(ranker: Ranker, query: str, found: str) -> None:
    ranking = ranker.rank(ranker.relevance(query), WORKBENCH, T0 + timedelta(hours=3))
    best = ranking.best(4)
    assert {scored.memory.id for scored in best} == {item.id for item in ITEMS}
    assert best[0].memory.id == found
    handed: object = best[0].memory
    assert any(handed is page for page in PAGES)
    assert ranking.place_of(found) == 1
    scored = ranking.scored(found)
    assert scored is not None
    assert scored.total == pytest.approx(sum(scored.weighted.values()))


def test_a_pool_follows_its_changes(ranker: Ranker) -> None:
    later = replace(PAGES[0], content="The coffee machine is gone.", created_at=T0 + timedelta(days=1))
    changed = ranker.pool.with_replaced([later]).with_added([Page("page-3", "New here.", T0, "handbook")])
    assert (changed.memory("page-1").content, changed.memory("page-3").content) == (later.content, "New here.")
    assert changed.session[2] == changed.session[4] >= 0
    assert changed.matching('"machine"', T0).tolist() == [False, True, False, False, False]


@st.composite
def pages(draw: st.DrawFn) -> list[Page]:
    numbers = draw(st.lists(st.integers(0, 99), min_size=1, max_size=9, unique=True))
    sessions = st.sampled_from(["", "a", "b"])
    return [Page(f"page-{number}", f"text {number}", draw(near()), draw(sessions)) for number in numbers]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data(), pages(), profiles(), near())
def test_it_ranks_to_the_last_bit_like_a_memory_that_says_no_more(
    data: st.DataObject, found: list[Page], profile: Profile, now: datetime
) -> None:
    memories = [Memory(p.id, p.content, p.created_at, p.created_at, session_id=p.session_id) for p in found]
    scores, rows = data.draw(query_scores(len(found))), np.zeros((len(found), 1), np.float32)
    totals = []
    for items in (found, memories):
        pool = Pool.build(items)
        one = Ranker(pool, rows, LexicalIndex.build([searched_text(item) for item in items]), lambda texts: rows)
        totals.append([(s.memory.id, s.total) for s in one.rank(scores, profile, now, k=9).best(9)])
    assert totals[0] == totals[1]
