"""Small synthetic stores whose true weights are known: what tuning and pairwise questions are
measured on.

Texts are composed from the demo's sentences, vectors are the bundled model's. Every topic (a
category of the demo) has its own typical importance and age, so importance and recency say
something about relevance, as in real stores. A simulated person grades by the true setting and
slips in 8 % of the cases.
"""

import json
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from workbench.config import paths
from workbench.core.stream.memory import Memory
from workbench.core.tuning.measure import NDCG10
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.evaluation.pairs import JudgedScores, with_half_life
from workbench.evaluation.pooling import judging_pool
from workbench.evaluation.tuner import tune
from workbench.retrieval.embedding.embedder import Embedder
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.tuning.pairwise import GRADES, Preferences, begin

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
SIZE = 600
SLIP = 0.08
POOLED, ANSWERS, UNSEEN = 12, 24, 24


@dataclass(frozen=True, eq=False)
class World:
    """A store, the person's true setting, the queries to learn from and others to be measured on."""

    ranker: Ranker
    truth: Profile
    known: tuple[QueryScores, ...]
    unseen: tuple[QueryScores, ...]
    random: Random

    def ndcg(self, profile: Profile) -> float:
        """Return the mean nDCG@10 over the unseen queries, by the person's true grades (the oracle
        has 1).
        """
        values = [
            NDCG10.of(self.ranker.rank(q, profile, NOW, 10).ids, self.grades(q))
            for q in self.unseen
        ]
        return sum(values) / len(values)

    def grades(self, query: QueryScores) -> dict[str, int]:
        """Return the true grades: by place in the true order."""
        ids = self.ranker.rank(query, self.truth, NOW, len(GRADES)).ids
        return dict(zip(ids, GRADES, strict=False))

    def judged(self, query: QueryScores) -> JudgedScores:
        """Let the person grade the judging pool of a query, with slips to any other grade."""
        true = self.grades(query)
        found = {}
        for id in judging_pool(self.ranker, query, WORKBENCH, NOW):
            grade = true.get(id, 0)
            slipped = self.random.random() < SLIP
            found[id] = (
                self.random.choice([g for g in range(4) if g != grade]) if slipped else grade
            )
        return JudgedScores(query, found, NOW)

    def tuned(self) -> Profile:
        """Auto-tune on the pooled queries."""
        return tune(self.ranker, [self.judged(query) for query in self.known], WORKBENCH).profile

    def asked(self, answers: int = ANSWERS) -> Preferences:
        """Answer pairwise questions about the pooled queries."""
        state = begin(self.ranker, [(query, NOW) for query in self.known], WORKBENCH)
        orders = [self.ranker.rank(query, self.truth, NOW) for query in self.known]
        for _ in range(answers):
            pair = state.question
            if pair is None:
                break
            a, b = (orders[pair.query].place_of(id) or 0 for id in (pair.a, pair.b))
            state = state.answered("a" if (a < b) != (self.random.random() < SLIP) else "b")
        return state


def make_world(seed: int, embedder: Embedder) -> World:
    """Make the world with this number; the same number gives the same world."""
    random = Random(seed)
    memories, texts = _memories(random)
    vectors = embedder.embed(texts)
    ranker = Ranker(Pool.build(memories), vectors, LexicalIndex.build(texts), embedder.embed)
    asked = [ranker.relevance(_query(random)) for _ in range(POOLED + UNSEEN)]
    return World(ranker, _truth(random), tuple(asked[:POOLED]), tuple(asked[POOLED:]), random)


def _memories(random: Random) -> tuple[list[Memory], list[str]]:
    topics = defaultdict(list)
    for doc in _demo():
        topics[doc["category"]].append(doc)
    traits = {name: (random.uniform(2, 8), random.uniform(3, 60)) for name in sorted(topics)}
    memories, texts = [], []
    for number in range(SIZE):
        name = random.choice(sorted(topics))
        one, other = random.choice(topics[name]), random.choice(topics[name])
        text = f"{one['summary']}. {random.choice(other['context'].split('. '))}"
        importance, age = traits[name]
        at = NOW - timedelta(days=random.expovariate(1 / age))
        score = min(10.0, max(0.0, round(random.gauss(importance, 1.5))))
        session = f"{name}-{random.randrange(SIZE // 8)}"
        memories.append(
            Memory(
                f"w-{number:04d}", text, at, at, session_id=session, importance_score=float(score)
            )
        )
        texts.append(text)
    return memories, texts


def _query(random: Random) -> str:
    words = random.choice(_demo())["summary"].split()
    start = random.randrange(max(1, len(words) - 4))
    return " ".join(words[start : start + 5])


def _truth(random: Random) -> Profile:
    """Draw weights anywhere on the simplex and a half-life anywhere from a day to four months: off
    the grid.
    """
    parts = [random.expovariate(1) for _ in range(3)]
    recency, importance, relevance = (part / sum(parts) for part in parts)
    ageing = with_half_life(WORKBENCH, math.exp(random.uniform(0, math.log(120))))
    return replace(
        ageing, name="truth", recency=recency, importance=importance, relevance=relevance
    )


def _demo() -> list[dict[str, str]]:
    path = paths.shipped("fixtures/demo") / "memories.jsonl"
    docs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [doc for doc in docs if doc.get("summary") and doc.get("context")]
