"""Judged queries: graded in the store, read from files, written and read back, and a run measured."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import fmean

import pytest

from tests.services.conftest import NOON, bring, write
from workbench.config.paths import shipped
from workbench.core.record import (
    InvalidQuery,
    InvalidRecord,
    UnknownRecord,
    UnreadableFile,
    WorkStopped,
    parse_time,
)
from workbench.core.tuning.profile import WORKBENCH
from workbench.formats.queries import read_run
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.queries import (
    RUN_DEPTH,
    digest_of,
    from_file,
    from_store,
    graded,
    judgments,
    qrels,
    queries_jsonl,
    run,
    score_run,
)

DEPLOY = "how do we deploy"


@pytest.fixture
def empty(tmp_path: Path) -> Workbench:
    return open_workbench(tmp_path / "none", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def write_set(folder: Path, *queries: dict[str, object]) -> Path:
    return written(folder, "set.jsonl", "".join(json.dumps(query) + "\n" for query in queries))


def some_ids(demo: Workbench, count: int) -> list[str]:
    return [m.id for m in demo.library.memories.all() if m.status == "confirmed"][:count]


# Judging


def test_the_first_grade_saves_the_query_and_undo_takes_both_back(demo: Workbench) -> None:
    judging, id, queries = demo.judging, some_ids(demo, 1)[0], len(demo.library.queries)
    made = judging.judge(DEPLOY, None, id, 3)
    assert made.grade == 3
    assert made.actor == "human"
    assert made.at == demo.context.now()
    assert made.memory == id
    assert judging.grades(DEPLOY) == {id: 3}
    saved = judging.find(DEPLOY)
    assert saved is not None
    assert saved.text == DEPLOY
    assert saved.now is None
    assert demo.history.undo() == f"judge {id} as 3"
    assert judging.find(DEPLOY) is None
    assert judging.grades(DEPLOY) == {}
    assert len(demo.library.queries) == queries
    demo.history.redo()
    assert judging.grades(DEPLOY) == {id: 3}


def test_a_second_grade_replaces_the_first(demo: Workbench) -> None:
    judging, (one, other) = demo.judging, some_ids(demo, 2)
    judging.judge(DEPLOY, None, one, 3)
    judging.judge(DEPLOY, None, other, 1, actor="agent:critic")
    rev = demo.library.revision
    assert judging.judge(DEPLOY, None, one, 3).grade == 3
    assert demo.library.revision == rev
    judging.judge(DEPLOY, None, one, 0)
    assert judging.grades(DEPLOY) == {one: 0, other: 1}
    demo.history.undo()
    assert judging.grades(DEPLOY) == {one: 3, other: 1}


def test_the_moment_belongs_to_the_query(demo: Workbench) -> None:
    judging, id = demo.judging, some_ids(demo, 1)[0]
    judging.judge(DEPLOY, None, id, 1)
    judging.judge(DEPLOY, ANCHOR, id, 2)
    assert judging.grades(DEPLOY) == {id: 1}
    assert judging.grades(DEPLOY, ANCHOR) == {id: 2}
    saved = judging.save_query("new one", ANCHOR, ("tag",))
    assert saved == judging.save_query("new one", ANCHOR, ("other",))
    assert saved.now == ANCHOR
    assert saved.tags == ("tag",)


def test_a_saved_query_is_meant_by_its_words_the_one_for_the_present_first(
    bench: Workbench,
) -> None:
    early, late = NOON - timedelta(days=9), NOON - timedelta(days=2)
    for now in (early, None, late):
        bench.judging.save_query(DEPLOY, now)
    saved = bench.judging.save_query("host\u202e  name ")
    assert [q.now for q in bench.tuning.saved_like(DEPLOY)] == [None, late, early]
    assert bench.tuning.saved_like(" host\u202e name") == (saved,)
    assert bench.tuning.saved_like("Host name") == bench.tuning.saved_like("   ") == ()


def test_friendly_refusals_when_judging(demo: Workbench) -> None:
    judging, id = demo.judging, some_ids(demo, 1)[0]
    for grade in (-1, 4, 1.5, True):
        with pytest.raises(InvalidRecord, match="not a grade"):
            judging.judge(DEPLOY, None, id, grade)  # type: ignore[arg-type]
    with pytest.raises(UnknownRecord, match="mem-nowhere"):
        judging.judge(DEPLOY, None, "mem-nowhere", 1)
    with pytest.raises(InvalidQuery, match="empty"):
        judging.judge("  \n", None, id, 1)
    assert judging.find(DEPLOY) is None


# Sets of queries


def test_a_file_and_the_store_hold_the_same_set(demo: Workbench) -> None:
    stored = from_store(demo.context)
    read = from_file(demo.context, shipped("fixtures/demo") / "queries.jsonl")
    assert read.queries == stored.queries
    assert read.digest == stored.digest
    assert digest_of(stored.queries) == digest_of(reversed(stored.queries))
    first, *rest = stored.queries
    others = (replace(first, relevant={}), replace(first, text="x"), replace(first, now=NOON))
    assert stored.digest not in {digest_of([other, *rest]) for other in others}
    grades = [demo.judging.grades(q.text, q.now) for q in demo.tuning.queries()]
    nothing = [given for given in grades if not any(given.values())]
    assert read.unknown == ()
    assert read.empty == len(nothing)
    assert len(read.remarks) == 1
    assert read.judgments == len(demo.library.judgments) - sum(map(len, nothing))


def test_unknown_ids_are_ignored_and_counted_and_a_merged_memory_is_what_it_became(
    demo: Workbench, tmp_path: Path
) -> None:
    memory = demo.library.memories.get(some_ids(demo, 1)[0])
    write(demo, replace(memory, aliases=("mem-old",)))
    path = write_set(
        tmp_path,
        {"query": "a", "relevant": {memory.id: 1, "mem-old": 2, "gone-1": 3, "gone-2": 1}},
        {"query": "b", "relevant": {"gone-1": 3}},
        {"query": "c", "relevant": {memory.id: 0}},
        {"query": 3},
    )
    found = from_file(demo.context, path)
    assert [dict(q.relevant) for q in found.queries] == [{memory.id: 2}]
    assert found.unknown == ("gone-1", "gone-2")
    assert found.empty == 2
    assert len(found.issues) == 1
    assert found.remarks[1:] == (
        "2 graded ids are not in this store and ignored: gone-1, gone-2.",
        "2 queries have no relevant memory in this store and are left out.",
    )


def test_a_query_set_of_other_memories_is_refused(demo: Workbench, tmp_path: Path) -> None:
    path = write_set(tmp_path, {"query": "a", "relevant": {"gone": 3}})
    with pytest.raises(InvalidQuery, match="None of its graded memories"):
        from_file(demo.context, path)


# Files


def test_what_is_exported_is_there_already_when_it_is_read_back(
    demo: Workbench, tmp_path: Path
) -> None:
    for name, text in (("q.jsonl", queries_jsonl(demo.context)), ("q.qrels", qrels(demo.context))):
        path = written(tmp_path, name, text)
        assert demo.importer.plan(path).records == ()
        assert from_file(demo.context, path).queries == from_store(demo.context).queries


def test_judgments_say_who_gave_which_grade_and_when(demo: Workbench) -> None:
    query, memory = demo.tuning.queries()[0], some_ids(demo, 1)[0]
    given = demo.judging.judge(query.text, query.now, memory, 3, actor="person:ö\u202e")
    rows = [json.loads(line) for line in judgments(demo.context).splitlines()]
    assert len(rows) == len(demo.library.judgments)
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    (mine,) = [row for row in rows if (row["topic"], row["memory"]) == (query.id, memory)]
    assert mine["text"] == query.text
    assert mine["grade"] == 3
    assert mine["by"] == given.actor
    assert parse_time(mine["at"]) == given.at


@pytest.mark.slow
def test_a_run_has_the_ranking_of_every_query_at_its_moment_and_is_as_good_as_its_profile(
    demo: Workbench, tmp_path: Path
) -> None:
    demo.judging.save_query("not judged")
    seen: list[tuple[int, int]] = []
    text = run(demo.context, demo.tuning, WORKBENCH, progress=lambda *at: seen.append(at))
    made = read_run(text)
    assert made.tag == "workbench"
    assert seen[-1] == (len(demo.library.queries),) * 2
    for query in demo.tuning.queries():
        ranking = demo.tuning.rank(query.text, WORKBENCH, query.now, RUN_DEPTH)
        assert made.rankings[query.id] == ranking.ids
    deep = read_run(run(demo.context, demo.tuning, replace(WORKBENCH, k=150)))
    assert {len(ids) for ids in deep.rankings.values()} == {150}
    with pytest.raises(WorkStopped):
        run(demo.context, demo.tuning, WORKBENCH, cancelled=lambda: True)
    found, judged = (
        score_run(demo.context, written(tmp_path, "a.run", text)),
        from_store(demo.context),
    )
    means = demo.evaluator.evaluate(judged, [WORKBENCH]).results[0].mean
    assert dict(found.mean) == pytest.approx(means)
    assert found.tag == "workbench"
    assert found.queries == len(judged.queries)
    assert found.missing == 0
    assert f"{len(judged.queries)} judged queries" in found.sentence


@pytest.mark.slow
def test_what_a_run_leaves_out_counts_nothing_and_what_is_unknown_is_counted(
    demo: Workbench, tmp_path: Path
) -> None:
    whole = run(demo.context, demo.tuning, WORKBENCH).splitlines(keepends=True)
    first = whole[0].split()[0]
    ours = [line for line in whole if line.startswith(first)]
    part = written(tmp_path, "part.run", "".join([*ours, "elsewhere Q0 x 1 0.5 workbench\n"]))
    found, queries = score_run(demo.context, part), len(from_store(demo.context).queries)
    assert found.queries == queries
    assert found.missing == queries - 1
    assert found.unknown == 1
    grades = next(grades for query, grades in graded(demo.context) if query.id == first)
    hits = sum(grades.get(line.split()[2], 0) > 0 for line in ours[:10])
    assert found.mean["p@10"] == pytest.approx(fmean([hits / 10, *[0.0] * (queries - 1)]))
    with pytest.raises(InvalidQuery, match="ranks no judged query"):
        score_run(demo.context, written(tmp_path, "other.run", "elsewhere Q0 x 1 0.5 t\n"))
    with pytest.raises(UnreadableFile, match="expected six columns"):
        score_run(demo.context, written(tmp_path, "no.run", "a b c\n"))


@pytest.mark.slow
def test_topics_stay_and_an_unchanged_file_comes_out_as_it_was(
    demo: Workbench, empty: Workbench, tmp_path: Path
) -> None:
    one, two, three = (memory.id for memory in list(demo.library.memories.all())[:3])
    text = f"301\tQ0\t{one}\t4\r\n302 0 {two} 1\r\n301 Q0 {three}  -1\r\n302 0 {one} 2"
    path = tmp_path / "real.txt"
    path.write_bytes(text.encode())
    bring(demo, path)
    assert qrels(demo.context, text).startswith(text + "\r\n")
    mine = [query for query in demo.library.queries.all() if query.topic]
    assert [(query.topic, query.text) for query in mine] == [("301", "301"), ("302", "302")]
    assert not demo.importer.plan(path).records
    lines = f"301 Q0 {one} 1 0.9 sys\n302 Q0 {one} 1 0.8 sys\n999 Q0 {one} 1 0.7 sys\n"
    found = score_run(demo.context, written(tmp_path, "a.run", lines))
    assert found.tag == "sys"
    assert found.unknown == 1
    topics = {"301", "302"}
    assert topics < set(read_run(run(demo.context, demo.tuning, WORKBENCH)).rankings)
    assert from_file(demo.context, path).judgments == 4
    assert topics < {json.loads(line)["topic"] for line in judgments(demo.context).splitlines()}
    alone = "q1 0 a 9\n\nq2 0 b 0\nq1 0 c 1\n"
    bring(empty, tmp_path / "x.qrels", alone)
    assert qrels(empty.context) == alone
    assert {query.name for query in empty.library.queries.all()} == {"q1", "q2"}
