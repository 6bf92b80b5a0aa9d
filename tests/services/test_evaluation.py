"""Judging, measuring, comparing and tuning on a real store."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import fmean

import pytest

from tests.benchmarks import english
from workbench.config.paths import shipped
from workbench.core.files.format import JudgedQuery
from workbench.core.record import (
    InvalidQuery,
    InvalidRecord,
    UnknownRecord,
    UnreadableFile,
    WorkStopped,
)
from workbench.core.stream.memory import is_served
from workbench.core.tuning.autotune import Search
from workbench.core.tuning.measure import NDCG10, STANDARD, Measure
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.agents.serving import give
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.evaluation import Evaluator
from workbench.services.tuning.profiles import ProfileProvenance, Profiles
from workbench.services.tuning.queries import (
    JudgedSet,
    Judging,
    digest_of,
    from_file,
    from_store,
    judged_queries,
)

DEPLOY = "how do we deploy"


@pytest.fixture
def evaluator(demo: Workbench) -> Evaluator:
    return Evaluator(demo.context, demo.retriever, demo.tuning.profiles)


@pytest.fixture
def empty(tmp_path: Path) -> Workbench:
    return open_workbench(tmp_path / "none", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)


def write_set(folder: Path, *queries: dict[str, object]) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(query) + "\n" for query in queries))
    return path


def some_ids(demo: Workbench, count: int) -> list[str]:
    return [m.id for m in demo.library.memories.all() if m.status == "confirmed"][:count]


# Judging


def test_the_first_grade_saves_the_query_and_undo_takes_both_back(demo: Workbench) -> None:
    judging, id = Judging(demo.context), some_ids(demo, 1)[0]
    queries = len(demo.library.queries)
    made = judging.judge(DEPLOY, None, id, 3)
    assert (made.grade, made.actor, made.at, made.memory) == (3, "human", demo.context.now(), id)
    assert judging.grades(DEPLOY) == {id: 3}
    saved = judging.find(DEPLOY)
    assert saved is not None
    assert (saved.text, saved.now) == (DEPLOY, None)
    assert demo.history.undo() == f"judge {id} as 3"
    assert (judging.find(DEPLOY), judging.grades(DEPLOY), len(demo.library.queries)) == (
        None,
        {},
        queries,
    )
    demo.history.redo()
    assert judging.grades(DEPLOY) == {id: 3}


def test_a_second_grade_replaces_the_first(demo: Workbench) -> None:
    judging, (one, other) = Judging(demo.context), some_ids(demo, 2)
    judging.judge(DEPLOY, None, one, 3)
    judging.judge(DEPLOY, None, other, 1, actor="agent:critic")
    rev = demo.library.journal.state.rev
    assert judging.judge(DEPLOY, None, one, 3).grade == 3
    assert demo.library.journal.state.rev == rev
    judging.judge(DEPLOY, None, one, 0)
    assert judging.grades(DEPLOY) == {one: 0, other: 1}
    demo.history.undo()
    assert judging.grades(DEPLOY) == {one: 3, other: 1}


def test_the_moment_belongs_to_the_query(demo: Workbench) -> None:
    judging, id = Judging(demo.context), some_ids(demo, 1)[0]
    judging.judge(DEPLOY, None, id, 1)
    judging.judge(DEPLOY, ANCHOR, id, 2)
    assert (judging.grades(DEPLOY), judging.grades(DEPLOY, ANCHOR)) == ({id: 1}, {id: 2})
    saved = judging.save_query("new one", ANCHOR, ("tag",))
    assert saved == judging.save_query("new one", ANCHOR, ("other",))
    assert (saved.now, saved.tags) == (ANCHOR, ("tag",))


def test_friendly_refusals_when_judging(demo: Workbench) -> None:
    judging, id = Judging(demo.context), some_ids(demo, 1)[0]
    for grade in (-1, 4, 1.5, True):
        with pytest.raises(InvalidRecord, match="no grade"):
            judging.judge(DEPLOY, None, id, grade)  # type: ignore[arg-type]
    with pytest.raises(UnknownRecord, match="mem-nowhere"):
        judging.judge(DEPLOY, None, "mem-nowhere", 1)
    with pytest.raises(InvalidQuery, match="empty"):
        judging.judge("  \n", None, id, 1)
    assert judging.find(DEPLOY) is None


# Query sets


def test_a_file_and_the_store_hold_the_same_set(demo: Workbench) -> None:
    stored = from_store(demo.context)
    path = shipped("fixtures/demo") / "queries.jsonl"
    read = from_file(demo.context, path)
    assert read.queries == stored.queries
    assert read.digest == stored.digest
    assert digest_of(stored.queries) == digest_of(reversed(stored.queries))
    nothing = [
        q for q in demo.tuning.queries() if not any(demo.judging.grades(q.text, q.now).values())
    ]
    assert (read.unknown, read.empty, len(read.remarks)) == ((), len(nothing), 1)
    assert read.judgments == len(demo.library.judgments) - sum(
        len(demo.judging.grades(query.text, query.now)) for query in nothing
    )


def test_unknown_ids_are_ignored_and_counted(demo: Workbench, tmp_path: Path) -> None:
    id = some_ids(demo, 1)[0]
    path = write_set(
        tmp_path,
        {"query": "a", "relevant": {id: 2, "gone-1": 3, "gone-2": 1}},
        {"query": "b", "relevant": {"gone-1": 3}},
        {"query": "c", "relevant": {id: 0}},
        {"query": 3},
    )
    found = from_file(demo.context, path)
    assert [dict(q.relevant) for q in found.queries] == [{id: 2}]
    assert (found.unknown, found.empty, len(found.issues)) == (("gone-1", "gone-2"), 2, 1)
    assert found.remarks[1] == "2 graded ids are not in this store and ignored: gone-1, gone-2."
    assert found.remarks[2] == "2 queries have no relevant memory in this store and are left out."


def test_a_merged_memory_counts_as_what_it_became(demo: Workbench, tmp_path: Path) -> None:
    memory = demo.library.memories.get(some_ids(demo, 1)[0])
    with demo.library.transaction("human", "merge") as tx:
        tx.put(replace(memory, aliases=("mem-old",)))
    found = from_file(
        demo.context, write_set(tmp_path, {"query": "a", "relevant": {"mem-old": 3, memory.id: 1}})
    )
    assert dict(found.queries[0].relevant) == {memory.id: 3}
    assert found.unknown == ()


def test_friendly_refusals_of_query_sets(demo: Workbench, empty: Workbench, tmp_path: Path) -> None:
    path = write_set(tmp_path, {"query": "a", "relevant": {"gone": 3}})
    with pytest.raises(InvalidQuery, match="None of its graded memories"):
        from_file(demo.context, path)
    with pytest.raises(InvalidQuery, match="no memories"):
        from_file(empty.context, path)
    with pytest.raises(InvalidQuery, match="judged yet"):
        from_store(empty.context)
    with pytest.raises(UnreadableFile, match="no queries"):
        from_file(demo.context, shipped("fixtures/demo") / "memories.jsonl")
    assert list(judged_queries(empty.context)) == []


# Evaluation


@pytest.mark.slow
def test_metrics_are_those_of_the_rankings(demo: Workbench, evaluator: Evaluator) -> None:
    judged = from_store(demo.context)
    seen: list[int] = []
    found = evaluator.evaluate(judged, BUILT_IN, progress=lambda done, total: seen.append(done))
    assert [r.profile.name for r in found.results] == [p.name for p in BUILT_IN]
    assert seen == list(range(1, len(judged.queries) + 1))
    for result in found.results:
        for query, got in zip(judged.queries, result.queries, strict=True):
            ranking = demo.tuning.rank(query.text, result.profile, query.now, 10)
            assert (got.ids, got.query) == (ranking.ids, query.text)
            assert got.values["ndcg@10"] == NDCG10.of(ranking.ids, query.relevant)
            assert got.unjudged == sum(id not in query.relevant for id in ranking.ids)
            assert list(got.scores) == sorted(got.scores, reverse=True)
        assert result.mean["mrr@10"] == fmean(q.values["mrr@10"] for q in result.queries)
    assert list(found.results[0].mean) == ["ndcg@10", "recall@10", "recall@5", "mrr@10", "p@10"]
    default = found.results[0].mean["ndcg@10"]
    assert default > max(r.mean["ndcg@10"] for r in found.results) - 0.01


@pytest.mark.slow
def test_the_english_queries_of_the_demo_find_what_answers_them(tmp_path: Path) -> None:
    assert min(english.demo(tmp_path)) > 76


@pytest.mark.slow
def test_the_demos_queries_in_other_languages_find_what_answers_them_and_nothing_else(
    demo: Workbench,
) -> None:
    agent = replace(demo.context, actor="agent:claude")
    asked = [query for query in from_store(demo.context).queries if english.OTHERS in query.tags]
    assert len(asked) > 8
    for query in asked:
        given = give(agent, demo.tuning, query.text, 10, WORKBENCH, demo.safety).ranking.ids
        assert {id for id, grade in query.relevant.items() if grade} <= set(given), query.text
    lines = (shipped("fixtures/demo") / "queries.jsonl").read_text("utf-8").splitlines()
    empty = [row for row in map(json.loads, lines) if {english.OTHERS, "none"} <= set(row["tags"])]
    assert empty
    for row in empty:
        assert give(agent, demo.tuning, row["query"], 10, WORKBENCH, demo.safety).floor.empty, row[
            "query"
        ]


@pytest.mark.slow
def test_verdicts_compare_with_one_profile(demo: Workbench, evaluator: Evaluator) -> None:
    judged = from_store(demo.context)
    found = evaluator.evaluate(judged, BUILT_IN[:3], base="engram")
    assert [(v.base.profile.name, v.new.profile.name) for v in found.verdicts] == [
        ("engram", "workbench"),
        ("engram", "generative-agents"),
    ]
    assert found.verdicts[0].verdict.family == 2
    assert found.verdicts[0].verdict.queries == len(judged.queries)
    assert found.verdicts[0].verdict.delta > 0
    alone = evaluator.evaluate(judged, [replace(WORKBENCH, k=3)])
    assert alone.verdicts == ()
    assert "p@3" in alone.results[0].mean


def test_friendly_refusals_when_measuring(demo: Workbench, evaluator: Evaluator) -> None:
    judged = from_store(demo.context)
    with pytest.raises(InvalidQuery, match="at least one profile"):
        evaluator.evaluate(judged, [])
    with pytest.raises(InvalidQuery, match="only once"):
        evaluator.evaluate(judged, [WORKBENCH, WORKBENCH])
    with pytest.raises(InvalidQuery, match="not among those"):
        evaluator.evaluate(judged, [WORKBENCH], base="engram")
    with pytest.raises(InvalidRecord, match="not a number"):
        evaluator.evaluate(judged, [replace(WORKBENCH, relevance=float("nan"))])
    with pytest.raises(WorkStopped):
        evaluator.evaluate(judged, BUILT_IN, cancelled=lambda: True)
    with pytest.raises(WorkStopped):
        evaluator.score(judged, cancelled=lambda: True)
    with pytest.raises(WorkStopped):
        evaluator.score(judged).tune(WORKBENCH, cancelled=lambda: True)


def test_odd_queries_are_measured(demo: Workbench, evaluator: Evaluator) -> None:
    id = some_ids(demo, 1)[0]
    before_everything = datetime.fromisoformat("2001-01-01T00:00:00+00:00")
    queries = (
        JudgedQuery("the of and", {id: 1}),
        JudgedQuery("…", {id: 1}),
        JudgedQuery("deploy", {id: 1}, (), before_everything),
    )
    found = evaluator.evaluate(JudgedSet("odd", queries, "x"), [replace(WORKBENCH, k=10_000)])
    served = sum(is_served(m, ANCHOR) for m in demo.library.memories.all())
    assert [len(q.ids) for q in found.results[0].queries] == [served, served, 0]
    assert found.results[0].queries[2].values["ndcg@10"] == 0


@pytest.mark.slow
def test_profiles_are_measured_at_each_ones_k(demo: Workbench, evaluator: Evaluator) -> None:
    judged = from_store(demo.context)
    few, many = (
        replace(WORKBENCH, name="few", k=3),
        replace(WORKBENCH, name="many", k=20, relevance=0.2),
    )
    found = evaluator.evaluate(judged, [few, many, WORKBENCH])
    ranker, now = demo.retriever.ranker(), demo.context.now()
    names = [m.name for m in STANDARD]
    names += [f"{kind}@{k}" for k in (3, 20) for kind in ("ndcg", "mrr", "recall", "p")]
    for result in found.results:
        assert list(result.mean) == names
        for query, got in zip(judged.queries, result.queries, strict=True):
            ids = ranker.rank(
                ranker.relevance(query.text), result.profile, query.now or now, 50
            ).ids
            assert got.values["ndcg@3"] == Measure("ndcg", 3).of(ids, query.relevant)
            assert got.values["recall@20"] == Measure("recall", 20).of(ids, query.relevant)
            assert got.ids == ids[: result.profile.k]
            assert got.unjudged == sum(id not in query.relevant for id in got.ids)
    assert {one.verdict.metric for one in found.verdicts} == {"nDCG@3"}


# Tuning


@pytest.mark.slow
def test_a_proposal_is_saved_with_its_birth_certificate(
    demo: Workbench, evaluator: Evaluator, tmp_path: Path
) -> None:
    judged = from_store(demo.context)
    start = next(p for p in BUILT_IN if p.name == "engram")
    proposal = evaluator.score(judged).tune(start, Search(folds=4))
    assert proposal.after > proposal.before
    path = evaluator.save(proposal, judged, "tuned")
    profiles = Profiles(tmp_path / "profiles")
    loaded, birth = profiles.get("tuned"), profiles.birth("tuned")
    assert loaded == replace(proposal.profile, name="tuned", about=loaded.about)
    assert birth is not None
    assert (birth.parent, birth.query_set, birth.at) == (
        "engram",
        judged.digest,
        demo.context.now(),
    )
    assert (birth.queries, birth.judgments) == (len(judged.queries), judged.judgments)
    assert (birth.delta, birth.low) == pytest.approx(
        (proposal.verdict.delta, proposal.verdict.low), abs=1e-4
    )
    assert birth.verdict == proposal.verdict.outcome
    assert "[birth]" in path.read_text()
    with pytest.raises(InvalidRecord, match="already"):
        evaluator.save(proposal, judged, "tuned")
    with pytest.raises(InvalidRecord, match="built-in"):
        evaluator.save(proposal, judged, "engram")


def test_profiles_without_a_certificate_and_with_a_broken_one(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    path = profiles.save(replace(WORKBENCH, name="mine"), ANCHOR, "workbench")
    assert profiles.birth("mine") is None
    assert profiles.birth("engram") is None
    good = ProfileProvenance(ANCHOR, "p", "h", 1, 2, "ndcg@10", 0.1, 0.0, 0.2, "better")
    for field, value in (
        ("delta", '"much"'),
        ("queries", "1.5"),
        ("at", '"soon"'),
        ("parent", "3"),
        ("more", "1"),
    ):
        values = {name: json.dumps(v) for name, v in good.lines} | {field: value}
        table = "\n".join(f"{name} = {v}" for name, v in values.items())
        path.write_text(f"relevance = 1.0\n[birth]\n{table}\n")
        with pytest.raises(InvalidRecord, match="birth certificate"):
            profiles.birth("mine")
        # A broken certificate does not make the profile unusable.
        assert profiles.get("mine").relevance == 1.0
    path.write_text("birth = 3\n")
    with pytest.raises(InvalidRecord, match="birth certificate"):
        profiles.birth("mine")
