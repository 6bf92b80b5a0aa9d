"""Queries as files: written and read back, and a run measured."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from workbench.core.record import InvalidQuery, UnreadableFile, WorkStopped, parse_time
from workbench.core.tuning.profile import WORKBENCH
from workbench.formats.queries import read_run
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.queries import (
    RUN_DEPTH,
    from_file,
    from_store,
    graded,
    judgments,
    qrels,
    queries_jsonl,
    run,
    score_run,
)


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_what_is_exported_is_there_already_when_it_is_read_back(
    demo: Workbench, tmp_path: Path
) -> None:
    for name, text in (("q.jsonl", queries_jsonl(demo.context)), ("q.qrels", qrels(demo.context))):
        assert demo.importer.plan(put(tmp_path, name, text)).records == ()


def test_judgments_say_who_gave_which_grade_and_when(demo: Workbench) -> None:
    query = demo.tuning.queries()[0]
    memory = next(iter(demo.library.memories.all())).id
    given = demo.judging.judge(query.text, query.now, memory, 3, actor="person:ö\u202e")
    rows = [json.loads(line) for line in judgments(demo.context).splitlines()]
    assert len(rows) == len(demo.library.judgments)
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    (mine,) = [row for row in rows if (row["topic"], row["memory"]) == (query.id, memory)]
    assert (mine["text"], mine["grade"], mine["by"], parse_time(mine["at"])) == (
        query.text,
        3,
        given.actor,
        given.at,
    )


@pytest.mark.slow
def test_a_run_has_the_ranking_of_every_query_at_its_moment(demo: Workbench) -> None:
    demo.judging.save_query("not judged")
    seen: list[tuple[int, int]] = []
    made = read_run(run(demo.context, demo.tuning, WORKBENCH, progress=lambda *at: seen.append(at)))
    assert made.tag == "workbench"
    assert seen[-1] == (len(demo.library.queries),) * 2
    for query in demo.tuning.queries():
        ranking = demo.tuning.rank(query.text, WORKBENCH, query.now, RUN_DEPTH)
        assert made.rankings[query.id] == ranking.ids
    deep = read_run(run(demo.context, demo.tuning, replace(WORKBENCH, k=150)))
    assert {len(ids) for ids in deep.rankings.values()} == {150}
    with pytest.raises(WorkStopped):
        run(demo.context, demo.tuning, WORKBENCH, cancelled=lambda: True)


@pytest.mark.slow
def test_a_run_of_a_profile_is_as_good_as_the_profile(demo: Workbench, tmp_path: Path) -> None:
    path = put(tmp_path, "a.run", run(demo.context, demo.tuning, WORKBENCH))
    found = score_run(demo.context, path)
    judged = from_store(demo.context)
    means = demo.evaluator.evaluate(judged, [WORKBENCH]).results[0].mean
    assert dict(found.mean) == pytest.approx(means)
    assert (found.tag, found.queries, found.missing, found.unknown) == (
        "workbench",
        len(judged.queries),
        0,
        0,
    )
    assert f"{len(judged.queries)} judged queries" in found.sentence


@pytest.mark.slow
def test_what_a_run_leaves_out_counts_nothing_and_what_is_unknown_is_counted(
    demo: Workbench, tmp_path: Path
) -> None:
    whole = run(demo.context, demo.tuning, WORKBENCH).splitlines(keepends=True)
    first = whole[0].split()[0]
    part = (
        "".join(line for line in whole if line.startswith(first))
        + "elsewhere Q0 x 1 0.5 workbench\n"
    )
    found = score_run(demo.context, put(tmp_path, "part.run", part))
    queries = len(from_store(demo.context).queries)
    assert (found.queries, found.missing, found.unknown) == (queries, queries - 1, 1)
    grades = next(grades for query, grades in graded(demo.context) if query.id == first)
    ids = [line.split()[2] for line in part.splitlines()][:10]
    hits = sum(grades.get(id, 0) > 0 for id in ids)
    assert found.mean["p@10"] == pytest.approx(fmean([hits / 10, *[0.0] * (queries - 1)]))
    with pytest.raises(InvalidQuery, match="ranks no judged query"):
        score_run(demo.context, put(tmp_path, "other.run", "elsewhere Q0 x 1 0.5 t\n"))
    with pytest.raises(UnreadableFile, match="expected six columns"):
        score_run(demo.context, put(tmp_path, "no.run", "a b c\n"))


def test_a_store_without_queries_or_grades_says_so(tmp_path: Path) -> None:
    empty = open_workbench(tmp_path / "none", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)
    with pytest.raises(InvalidQuery, match="No query of this store is saved yet"):
        queries_jsonl(empty.context)
    with pytest.raises(InvalidQuery, match="No query of this store is saved yet"):
        run(empty.context, empty.tuning, WORKBENCH)
    with pytest.raises(InvalidQuery, match="No query of this store is judged yet"):
        qrels(empty.context)


@pytest.mark.slow
def test_topics_stay_and_an_unchanged_file_comes_out_as_it_was(
    demo: Workbench, tmp_path: Path
) -> None:
    one, two, three = (memory.id for memory in list(demo.library.memories.all())[:3])
    text = f"301\tQ0\t{one}\t4\r\n302 0 {two} 1\r\n301 Q0 {three}  -1\r\n302 0 {one} 2"
    path = put(tmp_path, "real.txt", text)
    path.write_bytes(text.encode())
    demo.importer.carry_out(demo.importer.plan(path))
    assert qrels(demo.context, text).startswith(text + "\r\n")
    mine = [query for query in demo.library.queries.all() if query.topic]
    assert [(query.topic, query.text) for query in mine] == [("301", "301"), ("302", "302")]
    assert not demo.importer.plan(path).records
    ranking = put(
        tmp_path,
        "a.run",
        f"301 Q0 {one} 1 0.9 sys\n302 Q0 {one} 1 0.8 sys\n999 Q0 {one} 1 0.7 sys\n",
    )
    found = score_run(demo.context, ranking)
    assert (found.tag, found.unknown) == ("sys", 1)
    topics = set(read_run(run(demo.context, demo.tuning, WORKBENCH)).rankings)
    assert {"301", "302"} < topics
    assert from_file(demo.context, path).judgments == 4
    assert {"301", "302"} < {
        json.loads(line)["topic"] for line in judgments(demo.context).splitlines()
    }


def test_a_store_of_one_qrels_file_writes_that_file(tmp_path: Path) -> None:
    made = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)
    text = "q1 0 a 9\n\nq2 0 b 0\nq1 0 c 1\n"
    path = put(tmp_path, "x.qrels", text)
    made.importer.carry_out(made.importer.plan(path))
    assert qrels(made.context) == text
    names = {query.text: query for query in made.library.queries.all()}
    assert names["q1"].name == "q1"
    made.close()
