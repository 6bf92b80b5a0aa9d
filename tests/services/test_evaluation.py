"""Measuring, comparing and tuning by judged queries, on a real store."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import fmean

import pytest

from tests.benchmarks import english
from workbench.core.files.format import JudgedQuery
from workbench.core.record import InvalidQuery, InvalidRecord, WorkStopped
from workbench.core.stream.memory import is_served
from workbench.core.tuning.autotune import Search
from workbench.core.tuning.measure import NDCG10, STANDARD, Measure
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.evaluation import Measuring
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.queries import JudgedSet, from_store

ENGRAM = next(p for p in BUILT_IN if p.name == "engram")


@pytest.fixture
def judged(demo: Workbench) -> JudgedSet:
    return from_store(demo.context)


@pytest.fixture
def measuring(demo: Workbench) -> Measuring:
    return Measuring(demo.context, demo.evaluator)


@pytest.mark.slow
def test_metrics_are_those_of_the_rankings_at_each_ones_k(
    demo: Workbench, judged: JudgedSet
) -> None:
    few = replace(WORKBENCH, name="few", k=3)
    many = replace(WORKBENCH, name="many", k=20, relevance=0.2)
    seen: list[int] = []
    found = demo.evaluator.evaluate(
        judged, [few, many, WORKBENCH], progress=lambda done, total: seen.append(done)
    )
    assert seen == list(range(1, len(judged.queries) + 1))
    names = [m.name for m in STANDARD]
    names += [f"{kind}@{k}" for k in (3, 20) for kind in ("ndcg", "mrr", "recall", "p")]
    for result in found.results:
        assert list(result.mean) == names
        assert result.mean["mrr@10"] == fmean(q.values["mrr@10"] for q in result.queries)
        for query, got in zip(judged.queries, result.queries, strict=True):
            ids = demo.tuning.rank(query.text, result.profile, query.now, 50).ids
            assert got.values["ndcg@3"] == Measure("ndcg", 3).of(ids, query.relevant)
            assert got.values["recall@20"] == Measure("recall", 20).of(ids, query.relevant)
            assert got.ids == ids[: result.profile.k]
            assert got.query == query.text
            assert got.unjudged == sum(id not in query.relevant for id in got.ids)
            assert list(got.scores) == sorted(got.scores, reverse=True)
    assert {one.verdict.metric for one in found.verdicts} == {"nDCG@3"}


@pytest.mark.slow
def test_the_english_queries_of_the_demo_find_what_answers_them(tmp_path: Path) -> None:
    assert min(english.demo(tmp_path)) > 76


@pytest.mark.slow
def test_verdicts_compare_with_one_profile(demo: Workbench, judged: JudgedSet) -> None:
    found = demo.evaluator.evaluate(judged, BUILT_IN, base="engram")
    others = [p.name for p in BUILT_IN if p.name != "engram"]
    assert [(v.base.profile.name, v.new.profile.name) for v in found.verdicts] == [
        ("engram", name) for name in others
    ]
    first = found.verdicts[0].verdict
    assert first.family == len(others)
    assert first.queries == len(judged.queries)
    assert first.delta > 0
    means = {r.profile.name: r.mean["ndcg@10"] for r in found.results}
    assert means["workbench"] > max(means.values()) - 0.01
    assert demo.evaluator.evaluate(judged, [WORKBENCH]).verdicts == ()


def test_friendly_refusals_when_measuring(demo: Workbench, judged: JudgedSet) -> None:
    evaluate, rev = demo.evaluator.evaluate, demo.library.revision
    with pytest.raises(InvalidQuery, match="at least one profile"):
        evaluate(judged, [])
    with pytest.raises(InvalidQuery, match="only once"):
        evaluate(judged, [WORKBENCH, WORKBENCH])
    with pytest.raises(InvalidQuery, match="not among those"):
        evaluate(judged, [WORKBENCH], base="engram")
    with pytest.raises(InvalidRecord, match="not a number"):
        evaluate(judged, [replace(WORKBENCH, relevance=float("nan"))])
    with pytest.raises(WorkStopped):
        evaluate(judged, BUILT_IN, cancelled=lambda: True)
    with pytest.raises(WorkStopped):
        demo.evaluator.score(judged, cancelled=lambda: True)
    with pytest.raises(WorkStopped):
        demo.evaluator.score(judged).tune(WORKBENCH, cancelled=lambda: True)
    assert demo.library.revision == rev


def test_odd_queries_are_measured(demo: Workbench, judged: JudgedSet) -> None:
    relevant = judged.queries[0].relevant
    before_everything = datetime.fromisoformat("2001-01-01T00:00:00+00:00")
    queries = (
        JudgedQuery("the of and", relevant),
        JudgedQuery("…", relevant),
        JudgedQuery("deploy", relevant, (), before_everything),
    )
    odd, deep = JudgedSet("odd", queries, "x"), replace(WORKBENCH, k=10_000)
    (found,) = demo.evaluator.evaluate(odd, [deep]).results
    served = sum(is_served(m, ANCHOR) for m in demo.library.memories.all())
    assert [len(q.ids) for q in found.queries] == [served, served, 0]
    assert found.queries[2].values["ndcg@10"] == 0


@pytest.mark.slow
def test_a_proposal_is_saved_with_its_birth_certificate(
    demo: Workbench, judged: JudgedSet, tmp_path: Path
) -> None:
    proposal = demo.evaluator.score(judged).tune(ENGRAM, Search(folds=4))
    assert proposal.after > proposal.before
    demo.evaluator.save(proposal, judged, "tuned")
    profiles = Profiles(tmp_path / "profiles")
    loaded, birth = profiles.get("tuned"), profiles.birth("tuned")
    assert loaded == replace(proposal.profile, name="tuned", about=loaded.about)
    assert birth is not None
    assert birth.parent == "engram"
    assert birth.query_set == judged.digest
    assert birth.at == demo.context.now()
    assert birth.queries == len(judged.queries)
    assert birth.judgments == judged.judgments
    assert (birth.delta, birth.low) == pytest.approx(
        (proposal.verdict.delta, proposal.verdict.low), abs=1e-4
    )
    assert birth.verdict == proposal.verdict.outcome
    with pytest.raises(InvalidRecord, match="already"):
        demo.evaluator.save(proposal, judged, "tuned")


# Settings measured while they are moved


@pytest.mark.slow
def test_a_verdict_says_what_an_evaluation_says(
    demo: Workbench, judged: JudgedSet, measuring: Measuring
) -> None:
    evaluated = demo.evaluator.evaluate(judged, [WORKBENCH, ENGRAM])
    scored = measuring.current()
    found = scored.against(WORKBENCH, ENGRAM)
    assert found.verdict == evaluated.verdicts[0].verdict
    assert found.means == tuple(result.mean[NDCG10.name] for result in evaluated.results)
    assert not found.same
    same = scored.against(WORKBENCH, replace(WORKBENCH, name="mine", about="x"))
    assert same.same is True
    assert same.verdict.wins == 0
    assert same.verdict.losses == 0
    for k in (3, 10, 3):
        found = scored.against(WORKBENCH, replace(ENGRAM, k=k))
        expected = [scored.measure(p, (Measure("ndcg", k),)) for p in (WORKBENCH, ENGRAM)]
        assert found.means == tuple(result.mean[f"ndcg@{k}"] for result in expected)
        assert found.verdict.metric == f"nDCG@{k}"
    with pytest.raises(WorkStopped):
        scored.against(WORKBENCH, ENGRAM, lambda: True)
    with pytest.raises(InvalidRecord):
        scored.against(WORKBENCH, replace(WORKBENCH, recency=0.0, importance=0.0, relevance=0.0))
    assert measuring.birth(WORKBENCH, WORKBENCH) is None
    birth = measuring.birth(WORKBENCH, ENGRAM)
    assert birth is not None
    assert birth.parent == WORKBENCH.name
    assert birth.delta == evaluated.verdicts[0].verdict.delta


def test_a_new_judgment_is_measured_too(demo: Workbench, measuring: Measuring) -> None:
    before = measuring.current()
    measuring.store_changed(["votes"])
    assert measuring.current() is before
    demo.judging.judge("something else", None, demo.library.memories.all()[0].id, 2)
    measuring.store_changed(["judgments"])
    old, new = ({q.scores.query for q in one.queries} for one in (before, measuring.current()))
    assert new == {*old, "something else"}


def test_without_judgments_there_is_nothing_to_measure_by(tmp_path: Path) -> None:
    empty = open_workbench(tmp_path / "empty", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)
    measuring = Measuring(empty.context, empty.evaluator)
    assert not measuring.judged
    with pytest.raises(InvalidQuery):
        measuring.current()
    assert measuring.birth(WORKBENCH, ENGRAM) is None
    empty.close()
