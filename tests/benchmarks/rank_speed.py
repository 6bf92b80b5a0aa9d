"""How long a slider step, a new query and auto-tune take, as a person waits for them."""

import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
from numpy.typing import NDArray

from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import CONVERSATION, WORKBENCH, HalfLives, Profile, with_value
from workbench.evaluation.pairs import JudgedScores
from workbench.evaluation.tuner import tune
from workbench.retrieval.arrays import Scores
from workbench.retrieval.embedding.embedder import BUNDLED_FOLDER, Embedder
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
TOP = 50
_WORDS = 30_000


def slider_steps(rows: int, runs: int) -> dict[str, float]:
    """Return medians in ms: a step of a weight, of the half-life and of the blend, and the bare
    numpy pass.
    """
    random = np.random.default_rng(1)
    ranker = _bare_ranker(_pool(rows, random))
    scores = _scores(rows, random)
    base = replace(WORKBENCH, k=TOP)
    factors = ranker.rank(scores, base, NOW, TOP).factors
    columns = [factors[name].norm for name in ("recency", "importance", "relevance")]
    times: dict[str, list[float]] = {"step": [], "bare": [], "half_life": [], "blend": []}

    def ranked(profile: Profile) -> tuple[str, ...]:
        return ranker.rank(scores, profile, NOW, TOP).ids

    # In turn, so that whatever else the machine does falls on all of them alike.
    for run in range(runs):
        share = 0.05 + 0.9 * run / runs
        weighted = replace(base, relevance=share, recency=1 - share)
        times["step"].append(_ms(partial(ranked, weighted)))
        times["bare"].append(_ms(partial(_bare_pass, columns, (1 - share, 0.05, share))))
        aged = replace(base, half_lives=HalfLives(1.0, 5.0 + run))
        times["half_life"].append(_ms(partial(ranked, aged)))
        times["blend"].append(_ms(partial(ranked, replace(base, blend=share))))
    medians = {name: statistics.median(each) for name, each in times.items()}
    shown = {f"{name}_ms": round(ms, 3) for name, ms in medians.items()}
    return {**shown, "ratio": round(medians["step"] / medians["bare"], 2)}


def asked(rows: int, runs: int) -> Iterator[list[float]]:
    """Yield, again and again, the ms of so many new queries each, of the default profile."""
    random = np.random.default_rng(2)
    ranker, texts = _worded(rows, random)
    profile = replace(WORKBENCH, k=TOP)
    while True:
        queries = [" ".join(texts[i].split()[:6]) for i in random.integers(0, rows, runs).tolist()]
        yield [_ms(partial(_answered, ranker, query, profile)) for query in queries]


def _worded(rows: int, random: np.random.Generator) -> tuple[Ranker, list[str]]:
    """Return a ranker over texts of real words, and the texts."""
    embedder = Embedder()
    vocabulary = _real_words(random)
    # Words by Zipf's law, as in real text, so that some words are in very many memories.
    chosen = np.minimum(random.zipf(1.3, (rows, 25)), len(vocabulary)) - 1
    texts = [" ".join(vocabulary[w] for w in row) for row in chosen.tolist()]
    near = embedder.thesaurus().near
    index = LexicalIndex.build(texts)
    return Ranker(
        _pool(rows, random), embedder.embed(texts), index, embedder.embed, related=near
    ), texts


def new_query(rows: int, runs: int) -> dict[str, object]:
    """Return figures in ms from a query's text to its ranking (embed, cosine, full text, combine,
    top 50).

    They are those of the default profile, and of a step of each part's slider.
    """
    random = np.random.default_rng(2)
    ranker, texts = _worded(rows, random)
    asked = [" ".join(texts[i].split()[:6]) for i in random.integers(0, rows, runs + 1).tolist()]
    default = replace(WORKBENCH, k=TOP)
    times: dict[str, list[float]] = {name: [] for name in (default.name, *dict(CONVERSATION))}
    for number, query in enumerate(asked):
        times[default.name].append(_ms(partial(_answered, ranker, query, default)))
        scores = ranker.relevance(query)
        for key, value in CONVERSATION:
            moved = with_value(default, key, (value or 0.0) * (1 + number / len(asked)))
            ranker.rank(scores, default, NOW, TOP)
            times[key].append(_ms(partial(_ids, ranker, scores, moved)))
    return {name: _spread(each[1:]) for name, each in times.items()}


def _answered(ranker: Ranker, query: str, profile: Profile) -> tuple[str, ...]:
    return _ids(ranker, ranker.relevance(query), profile)


def _ids(ranker: Ranker, scores: QueryScores, profile: Profile) -> tuple[str, ...]:
    return ranker.rank(scores, profile, NOW, TOP).ids


def _spread(times: list[float]) -> dict[str, float]:
    return {
        "median_ms": round(statistics.median(times), 2),
        "p95_ms": round(float(np.quantile(times, 0.95)), 2),
    }


def _real_words(random: np.random.Generator) -> list[str]:
    """Return words that the bundled model knows, in any order: those have related ones."""
    known = json.loads((BUNDLED_FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    words = sorted(word for word in known if word.isascii() and word.isalpha() and len(word) > 2)
    return [words[i] for i in random.permutation(len(words))[:_WORDS].tolist()]


def auto_tune(rows: int, queries: int) -> dict[str, object]:
    """Return the seconds of one auto-tune, by the profile it starts from."""
    random = np.random.default_rng(3)
    ranker = _bare_ranker(_pool(rows, random))
    judged = []
    for _ in range(queries):
        scores = _scores(rows, random)
        near = np.argsort(-(scores.dense + scores.lexical))[:40]
        grades = {
            f"m-{row:07d}": int(random.integers(0, 4))
            for row in random.choice(near, 20, replace=False).tolist()
        }
        judged.append(JudgedScores(scores, grades, NOW))
    seconds = _ms(lambda: tune(ranker, judged, WORKBENCH)) / 1000
    return {"seconds": round(seconds, 2), "bar": 4.0, "queries": queries, "rows": rows}


def _pool(rows: int, random: np.random.Generator) -> Pool:
    ages, importance = random.exponential(60, rows).tolist(), random.integers(0, 11, rows).tolist()
    return Pool.build(
        [
            Memory(
                f"m-{i:07d}", "text", at := NOW - timedelta(days=ages[i]), at,
                session_id=f"s-{i // 40}", importance_score=float(importance[i]),
            )
            for i in range(rows)
        ]
    )  # fmt: skip


def _bare_ranker(pool: Pool) -> Ranker:
    """Return a ranker that is only given scores, never a query."""
    nothing = np.zeros((len(pool), 0), np.float32)
    return Ranker(
        pool, nothing, LexicalIndex.build([]), lambda texts: np.zeros((len(texts), 0), np.float32)
    )


def _scores(rows: int, random: np.random.Generator) -> QueryScores:
    dense: Scores = random.beta(2, 6, rows).astype(np.float32)
    return QueryScores("query", dense, random.beta(1, 20, rows).astype(np.float32))


def _bare_pass(
    columns: list[NDArray[np.float64]], weights: tuple[float, float, float]
) -> NDArray[np.intp]:
    recency, importance, relevance = columns
    totals = weights[0] * recency + weights[1] * importance + weights[2] * relevance
    top = np.argpartition(totals, len(totals) - TOP)[-TOP:]
    return top[np.argsort(-totals[top])]


def _ms(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000
