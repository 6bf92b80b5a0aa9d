"""JSON lines of anybody: the field of the text, ids that stay when the text changes, and one line a
change.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import LESSONS
from tests.formats.samples import NOW, context
from workbench.core.files.formats import detect
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.json_lines import read, write
from workbench.formats.nearest import nearest

PARSED = read(LESSONS, context("lessons.jsonl"))
THIN, PORTS, LOCKS = PARSED.memories
TRINITY = """{"skill": "browser", "error_msg": "no such selector", "fix_applied": "Name CSS selectors, never numbers."}
{"skill": "browser", "error_msg": "it stopped", "fix_applied": "Read the text of the page instead of a picture."}
"""


def test_what_a_line_says() -> None:
    assert (THIN.content, THIN.summary, THIN.category) == (
        "They ask, services decide.",
        "Thin controllers",
        "PATTERN",
    )
    assert (THIN.observation_type, THIN.created_at) == (
        "pattern",
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert (PORTS.observation_type, PORTS.tags, PORTS.helpful_count) == ("gotcha", ("dev",), 2)
    assert LOCKS.content == "Lock files are committed."
    assert {key: value for key, value in LOCKS.metadata.items() if key != FILE_KEY} == {"n": 7}


def test_one_change_is_one_line_and_the_line_is_known_again() -> None:
    for memory in PARSED.memories:
        text = after(PARSED, LESSONS, memory.id, content="Otherwise now.")
        assert len(changed_lines(LESSONS, text)) == 2
        again = read(text, context("lessons.jsonl"))
        assert [m.id for m in again.memories] == [m.id for m in PARSED.memories]
        assert "Otherwise now." in [m.content for m in again.memories if m.id == memory.id]
    voted = after(PARSED, LESSONS, THIN.id, helpful_imported=1)
    assert (
        changed_lines(LESSONS, voted)[1] == "+" + LESSONS.partition("\n")[0][:-1] + ',"helpful":1}'
    )
    assert changed_lines(LESSONS, after(PARSED, LESSONS, PORTS.id, helpful_imported=3))[1].endswith(
        '"helpful":3}'
    )


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1, "text": "Old."}',
        '{"id": 1, "uuid": 2, "text": "Old."}',
        '{"_id": 3, "text": "Old."}',
    ],
)
def test_a_numbered_line_is_known_again_after_its_text_changed(line: str) -> None:
    text = line + '\n{"id": 2, "text": "Another."}\n'
    parsed = read(text, context("x.jsonl"))
    changed = after(parsed, text, parsed.memories[0].id, content="New.")
    assert (
        json.loads(changed.partition("\n")[0]).items()
        > (json.loads(line) | {"text": "New."}).items()
    )
    again = read(changed, context("x.jsonl")).memories
    assert [(m.id, m.content) for m in again] == [
        (parsed.memories[0].id, "New."),
        (parsed.memories[1].id, "Another."),
    ]


def test_an_id_that_comes_twice_stays_what_it_is() -> None:
    text = '{"id": "a", "text": "One."}\n{"id": "a", "text": "Two."}\n'
    parsed = read(text, context("x.jsonl"))
    changed = after(parsed, text, parsed.memories[1].id, content="Three.")
    assert changed == text.replace("Two.", "Three.")


def test_removing_and_adding() -> None:
    assert without(PARSED, LESSONS, PORTS.id).split("\n") == [
        *LESSONS.split("\n")[:1],
        *LESSONS.split("\n")[2:],
    ]
    new = Memory("mem-1", "Ask first.", NOW, NOW)
    line = '{"id":"mem-1","message":"Ask first.","created_at":"2026-11-21T12:00:00Z"}'
    assert grown(PARSED, LESSONS, new) == LESSONS + line + "\n"
    assert read(LESSONS + line, context()).memories[-1].id == "mem-1"


def test_the_text_is_named_or_the_longest_field() -> None:
    assert detect("trinity.jsonl", TRINITY) == ()
    assert "--text NAME" in str(nearest(TRINITY))
    named = read(TRINITY, replace(context(), text_name="error_msg"))
    assert [m.content for m in named.memories] == ["no such selector", "it stopped"]
    longest = read(TRINITY, context())
    assert [m.content[:6] for m in longest.memories] == ["Name C", "Read t"]
    assert next(str(note) for note in longest.mappings).startswith(
        "content: taken from “fix_applied”"
    )
    for parsed in (named, longest):
        assert write(parsed, TRINITY) == TRINITY
        voted = after(parsed, TRINITY, parsed.memories[0].id, helpful_imported=1)
        assert (
            changed_lines(TRINITY, voted)[1]
            == "+" + TRINITY.partition("\n")[0][:-1] + ', "helpful": 1}'
        )
    with pytest.raises(UnreadableFile, match="under “nothing”") as error:
        read(TRINITY, replace(context(), text_name="nothing"))
    assert "“fix_applied”, “error_msg”, “skill”" in error.value.hint


def test_numbers_of_two_files_are_not_the_same_record() -> None:
    one, other = (
        f'{{"id":1,"text":"{said}","timestamp":{at}}}\n'
        for said, at in (("a", 1700000001), ("b", 1700000002))
    )
    assert read(one, context()).memories[0].id != read(other, context()).memories[0].id
    assert read('{"id":"L-1","text":"a"}\n', context()).memories[0].id == "L-1"
    twice = read('{"text":"a"}\n{"text":"a"}\n', context()).memories
    assert [m.id for m in twice] == [twice[0].id, twice[0].id + "-2"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"level":"info","message":"started"}\n{"level":"info","message":"stopped"}\n', "app.jsonl"),
        ('{"type":"summary","summary":"x","leafUuid":"u"}\n{"type":"user","message":{}}\n', "s.jsonl"),
        ('{"name":"package","description":"a program"}\n', "package.json"),
        ('{"n":1}\n{"text":"x"}\n{"n":2}\n', "x.jsonl"), ('{"content":["x"]}\n', "x.jsonl"),
    ],
)  # fmt: skip
def test_what_is_not_taken_without_being_asked(text: str, path: str) -> None:
    assert "json-lines" not in [found.format for found in detect(path, text)]


@pytest.mark.slow
@given(st.lists(st.dictionaries(
    st.sampled_from(["id", "text", "title", "ts", "helpful", "tags", "type", "note"]),
    st.one_of(st.none(), st.integers(0, 3), st.text("ab 1:", max_size=4), st.lists(st.text("a"), max_size=2)),
), max_size=5), st.text("ab ", min_size=1))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_any_lines_are_written_back_and_a_change_keeps_the_others(
    docs: list[dict[str, object]], content: str
) -> None:
    text = "".join(json.dumps(doc) + "\n" for doc in docs)
    try:
        parsed = read(text, context("x.jsonl"))
    except UnreadableFile:
        return
    assert write(parsed, text) == text
    if parsed.memories and content.strip():
        changed = after(parsed, text, parsed.memories[0].id, content=content, helpful_imported=9)
        assert len(changed_lines(text, changed)) == 2
        again = read(changed, context("x.jsonl"))
        assert again.records_in == parsed.records_in
