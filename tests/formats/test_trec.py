"""TREC files: judgments and rankings, also with names that hold blanks."""

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.samples import context, sure
from workbench.core.files.format import JudgedQuery, Parsed
from workbench.core.files.formats import detect, format_named, known_formats
from workbench.core.record import UnreadableFile
from workbench.formats import queries
from workbench.formats.queries import (
    QRELS_FORMAT,
    RUN_FORMAT,
    Run,
    RunLine,
    detect_qrels,
    detect_run,
    ranked,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)

QRELS = "301 0 FBIS3-1 1\n301 0 FBIS3-2 0\n\n302\t0\tFT-9  2\r\n"
RUN = "301 Q0 a 1 9.5 mine\n301 Q0 b 2 9.25 mine\n302 Q0 a 1 1e-3 mine\n"


def test_judgments_become_one_query_per_topic() -> None:
    parsed = read_qrels(QRELS, context())
    assert parsed.queries == (
        JudgedQuery("301", {"FBIS3-1": 1, "FBIS3-2": 0}, topic="301"), JudgedQuery("302", {"FT-9": 2}, topic="302"),
    )  # fmt: skip
    assert not parsed.issues
    assert write_qrels(parsed) == "301 0 FBIS3-1 1\n301 0 FBIS3-2 0\n302 0 FT-9 2\n"


def test_only_lines_that_changed_are_new() -> None:
    text = "a  0 x 1\nnot a judgment\na 0 y 9\r\na 0 x 2\n"
    parsed = read_qrels(text, context())
    assert write_qrels(parsed, text) == text
    changed = replace(
        parsed, queries=(JudgedQuery("a", {"x": 2, "y": 0}), JudgedQuery("b", {"z": 1}))
    )
    assert write_qrels(changed, text) == "a  0 x 1\nnot a judgment\na 0 y 0\r\na 0 x 2\nb 0 z 1\n"
    assert write_qrels(replace(parsed, queries=()), text) == "not a judgment\n"


def test_grades_of_another_scale_come_back_also_through_a_query_set() -> None:
    text = "a 0 x 5\na 0 y -2\nb 0 z 3\n"
    parsed = read_qrels(text, context())
    assert [dict(q.relevant) for q in parsed.queries] == [{"x": 3, "y": 0}, {"z": 3}]
    assert write_qrels(parsed) == text
    again = queries.read(queries.write(parsed), context())
    assert write_qrels(again) == text
    (first, second) = parsed.queries
    changed = replace(parsed, queries=(replace(first, relevant={"x": 2, "y": 0}), second))
    assert write_qrels(changed) == write_qrels(changed, text) == "a 0 x 2\na 0 y -2\nb 0 z 3\n"
    named = JudgedQuery("what is tea?", {"x": 1}, topic="301")
    assert (
        write_qrels(queries.read(queries.write(Parsed(queries=(named,))), context()))
        == "301 0 x 1\n"
    )


def test_what_cannot_be_read_is_reported() -> None:
    parsed = read_qrels("1 0 a 9\n1 0 b -1\n1 0 c\n1 0 d high\n1 0 a 2\n", context("q"))
    assert [(q.text, dict(q.relevant)) for q in parsed.queries] == [("1", {"a": 2, "b": 0})]
    assert [(i.line, i.records) for i in parsed.issues] == [(3, 1), (4, 1), (5, 0)]
    assert [n.count for n in parsed.mappings] == [2]


def test_a_run_is_read_and_written() -> None:
    run = read_run(RUN)
    assert run == Run(
        "mine",
        (RunLine("301", "a", 1, 9.5), RunLine("301", "b", 2, 9.25), RunLine("302", "a", 1, 0.001)),
    )
    assert read_run(write_run(run)) == run
    assert run.rankings == {"301": ("a", "b"), "302": ("a",)}


@pytest.mark.parametrize(
    "line", ["1 Q0 a 1 0.5", "1 Q0 a first 0.5 x", "1 Q0 a 1 high x", "1 Q0 a 1 nan x"]
)
def test_a_broken_run_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(UnreadableFile, match=r"run\.txt:2: expected six columns"):
        read_run(RUN.splitlines()[0] + "\n" + line + "\n", "run.txt")


def test_scores_of_a_written_run_fall_so_that_the_order_is_kept() -> None:
    run = ranked("t", {"q": [("c", 0.5), ("a", 0.5), ("b", 0.5)]})
    assert read_run(write_run(run)).rankings == {"q": ("c", "a", "b")}
    assert [line.score for line in run.lines] == pytest.approx([0.5] * 3)
    assert len({line.score for line in run.lines}) == 3


def test_both_are_recognised() -> None:
    assert sure(detect_qrels(QRELS, "x")) > 0.8
    assert sure(detect_run(RUN, "x")) > 0.8
    for text in ("", "{}", "one two three four", "## A\n[a-1] x\n", "1 2 3\n"):
        assert detect_qrels(text, "x") is detect_run(text, "x") is None
    assert [d.format for d in detect("f", QRELS)] == [QRELS_FORMAT.name]
    assert [d.format for d in detect("f", RUN)] == [RUN_FORMAT.name]
    assert {QRELS_FORMAT.name, RUN_FORMAT.name} <= {known.name for known in known_formats()}


def test_a_run_is_nothing_to_import() -> None:
    with pytest.raises(UnreadableFile, match="rankings"):
        format_named("trec-run").read(RUN, context("r.txt"))


@given(st.text(st.sampled_from("1 0Qa\t\n\r\v%2\u2028\x00.-"), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed = read_qrels(text, context())
    assert parsed.records_in == parsed.records_read + sum(issue.records for issue in parsed.issues)
    write_qrels(parsed).encode()
    assert write_qrels(parsed, text) == text
    with contextlib.suppress(UnreadableFile):
        assert read_run(write_run(read_run(text))).rankings == read_run(text).rankings


def test_a_number_too_long_is_no_grade() -> None:
    assert read_qrels(f"1 0 a {'9' * 5000}\n", context()).queries == ()


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.mark.slow
@given(
    st.dictionaries(
        names, st.dictionaries(names, st.integers(0, 3), min_size=1, max_size=4), max_size=4
    )
)
@settings(max_examples=80, deadline=None)
def test_any_name_survives(grades: dict[str, dict[str, int]]) -> None:
    text = write_qrels(
        Parsed(queries=tuple(JudgedQuery(topic, of) for topic, of in grades.items()))
    )
    assert all(len(line.split()) == 4 for line in text.split("\n") if line)
    assert {q.text: dict(q.relevant) for q in read_qrels(text, context()).queries} == grades
    assert read_qrels(
        write_qrels(Parsed(queries=read_qrels(text, context()).queries)), context()
    ).queries == tuple(JudgedQuery(topic, of, topic=topic) for topic, of in grades.items())


def test_a_name_may_begin_with_a_byte_order_mark() -> None:
    text = write_qrels(
        Parsed(queries=(JudgedQuery("\ufeffa", {"b": 1}), JudgedQuery("c", {"\ufeff": 2})))
    )
    assert [(q.text, dict(q.relevant)) for q in read_qrels(text, context()).queries] == [
        ("\ufeffa", {"b": 1}),
        ("c", {"\ufeff": 2}),
    ]
