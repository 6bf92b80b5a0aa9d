"""Query sets: reading, writing, and what a change touches."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.samples import context
from workbench.core.files.format import JudgedQuery, Layout, Parsed
from workbench.formats.queries import read, write

TEXT = """{"query": "When?", "relevant": {"a": 1, "b": 3}, "tags": ["t"], "now": "2023-10-22T10:02:00+00:00"}
{"relevant": ["c"], "query": "Who?", "more": 1}

{"query": "When?", "relevant": {"c": 1}, "now": null}
"""


def test_lines_become_queries() -> None:
    parsed = read(TEXT, context())
    first, second, third = parsed.queries
    now = datetime(2023, 10, 22, 10, 2, tzinfo=UTC)
    assert first == JudgedQuery("When?", {"a": 1, "b": 3}, ("t",), now)
    assert (second.relevant, second.tags, second.now) == ({"c": 1}, (), None)
    assert third.text == first.text
    assert parsed.records_in == 3
    assert [str(n) for n in parsed.mappings] == [
        "relevant: a list of ids read as grade 1 each (1 record)"
    ]


def test_unchanged_lines_are_written_as_they_were() -> None:
    parsed = read(TEXT, context())
    assert write(parsed) == TEXT.replace("\n\n", "\n")
    assert write(parsed, TEXT) == TEXT
    first, *rest = parsed.queries
    after = write(replace(parsed, queries=(replace(first, relevant={"a": 2}), *rest)), TEXT)
    line = '{"query": "When?", "relevant": {"a": 2}, "tags": ["t"], "now": "2023-10-22T10:02:00Z"}'
    assert after.split("\n") == [line, *TEXT.split("\n")[1:]]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"relevant": {}}', '{"query": " "}', '{"query": 3}', '{"query": "q", "relevant": 3}',
     '{"query": "q", "relevant": {"a": "high"}}', '{"query": "q", "relevant": {"a": 1.5}}',
     '{"query": "q", "now": "soon"}', '{"query": "q", "tags": 3}', '{"query": "first"}'],
)  # fmt: skip
def test_broken_lines_are_reported(line: str) -> None:
    text = '{"query": "first"}\n' + line + "\n"
    parsed = read(text, context("q.jsonl"))
    assert len(parsed.queries) == 1
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(2, 1)]
    assert write(parsed, text) == text


def test_grades_are_moved_into_the_scale() -> None:
    parsed = read('{"query": "q", "relevant": {"a": 9, "b": -1, "c": 2.0}}', context())
    assert parsed.queries[0].relevant == {"a": 3, "b": 0, "c": 2}
    assert [note.count for note in parsed.mappings] == [1]


letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
queries = st.builds(
    JudgedQuery,
    letters.map(lambda text: f"q{text}"),
    st.dictionaries(letters, st.integers(0, 3), max_size=3),
    st.lists(letters, max_size=2).map(tuple),
    st.none() | st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
)
layouts = st.builds(
    Layout, newline=st.sampled_from(["\n", "\r\n"]), colon=st.sampled_from([": ", ":"]),
    comma=st.sampled_from([", ", ","]), ascii_only=st.booleans(), final_newline=st.booleans(),
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(queries, max_size=4, unique_by=lambda query: (query.text, query.now)), layouts)
@settings(max_examples=60, deadline=None)
def test_what_was_written_is_read_back(written: list[JudgedQuery], layout: Layout) -> None:
    text = write(Parsed(queries=tuple(written), layout=layout))
    parsed = read(text, context())
    assert parsed.queries == tuple(written)
    assert not parsed.issues
    assert not parsed.mappings
    assert write(parsed) == text
    bare = tuple(replace(query, raw=None) for query in parsed.queries)
    again = write(replace(parsed, queries=bare))
    assert read(again, context()).queries == tuple(written)
