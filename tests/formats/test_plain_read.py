"""What the plain formats write is read back: the same records, and nothing made up."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.formats.samples import NOW, context
from workbench.core.files.format import Parsed
from workbench.core.files.formats import detect
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.record import parse_time
from workbench.core.stream.memory import Memory, Source
from workbench.formats import exports
from workbench.formats import plain_read as reading
from workbench.formats.ace import read_playbook
from workbench.formats.exports import book_rows, memory_row

AT = datetime(2026, 1, 2, tzinfo=UTC)
MEMORIES = (
    Memory("m1", "=A formula\nof two lines", AT, NOW, summary="short", memory_type="semantic", status="candidate",
           observation_type="error", importance_score=7.5, helpful_votes=2, harmful_imported=1, pinned=True,
           tags=("two words", "b"), section="S", confidence=3, citations=("m2",)),
    Memory("m2", "Plain “text”, with commas", AT, AT, status="archived", archived_reason="rejected", user_id="eve",
           related=("m1",), category="c", source=Source("hook", 3, "f.py"), aliases=("old", "[x"), access_count=4,
           is_synthetic=True, last_feedback_at=NOW, review_after=NOW, metadata={"note": {"deep": [1, None, 0.5]}}),
)  # fmt: skip
WRITERS = {"json": exports.write_json, "yaml": exports.write_yaml, "csv": exports.write_csv}
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=60
).filter(str.strip)


@pytest.mark.parametrize("name", WRITERS)
def test_memories_come_back(name: str) -> None:
    text = WRITERS[name](Parsed("json", memories=MEMORIES), None)
    assert detect("file", text)[0].format == reading.NAME
    again = reading.read(text, context("file"))
    assert [memory_row(m) for m in again.memories] == [memory_row(m) for m in MEMORIES]
    assert not again.issues


@pytest.mark.parametrize("name", WRITERS)
def test_bullets_come_back(name: str) -> None:
    book = read_playbook(
        "## A\n[a-00001] helpful=1 harmful=0 :: One.\n## B\n[b-00002] helpful=0 harmful=2 :: -Two.\n"
    )
    text = WRITERS[name](Parsed("json", playbooks=(book,)), None)
    assert detect("file", text)[0].format == reading.NAME
    (again,) = reading.read(text, context("file")).playbooks
    assert book_rows(again) == book_rows(book)


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=3), TEXTS, st.integers(0, 3))
def test_any_text_comes_back_exactly(texts: list[str], note: str, count: int) -> None:
    memories = tuple(
        Memory(
            f"m{n}-->", text, AT, AT, tags=(note,), metadata={"k": note}, harmful_imported=count * n
        )
        for n, text in enumerate(texts)
    )
    sections = (Section("s", "s", "A & B"), Section("t", "t", "Empty", order=1.0))
    bullets = tuple(
        Bullet(f"b{n}--", "s", text, order=float(n), helpful_imported=count, neutral_count=n, created_at=AT,
               metadata={"k": note}, pinned=bool(n))
        for n, text in enumerate(texts)
    )  # fmt: skip
    book = Playbook(Book(), sections, bullets)
    for name, write in {**WRITERS, "markdown": exports.write_markdown}.items():
        again = reading.read(write(Parsed(memories=memories), None), context("file"))
        assert [(m.id, m.content, m.harmful_count) for m in again.memories] == [
            (m.id, m.content, m.harmful_count) for m in memories
        ]
        (read,) = reading.read(write(Parsed(playbooks=(book,)), None), context("file")).playbooks
        told = [(b.id, b.content, b.helpful_count, b.pinned) for b in read.bullets]
        assert told == [(b.id, b.content, b.helpful_count, b.pinned) for b in bullets]
        if name != "markdown":
            assert [memory_row(m) for m in again.memories] == [memory_row(m) for m in memories]
            assert book_rows(read) == book_rows(book)
        if name in ("json", "yaml"):
            assert [section.title for section in read.sections] == ["A & B", "Empty"]


def test_yaml_that_another_program_wrote_over() -> None:
    out = io.StringIO()
    YAML().dump(YAML().load(exports.write_yaml(Parsed(memories=MEMORIES), None)), out)
    text = out.getvalue().replace("content: ", "content:  ", 1)
    assert detect("file", text)[0].format == reading.NAME
    again = reading.read(text, context("file"))
    assert [memory_row(m) for m in again.memories] == [memory_row(m) for m in MEMORIES]
    cut = reading.read(text + "  - id: [\n", context("file"))
    assert (len(cut.memories), len(cut.issues), cut.records_in) == (2, 1, 3)


def test_markdown_keeps_sections_and_kinds_and_says_what_it_does_not_read() -> None:
    text = exports.write_markdown(
        Parsed(memories=(replace(MEMORIES[0], content="one\n\n- two\n"), MEMORIES[1])), None
    )
    assert detect("file", text)[0].format == reading.NAME
    parsed = reading.read(text + "- no id\nprose\n", context("file"))
    found = {
        m.id: (m.observation_type, m.content, m.helpful_count, m.pinned) for m in parsed.memories
    }
    assert found == {
        "m1": ("error", "one\n\n- two\n", 2, True),
        "m2": ("general", MEMORIES[1].content, 0, False),
    }
    assert [issue.reason for issue in parsed.issues] == [
        "an item without an id: not read", "text that belongs to no item: not read",
    ]  # fmt: skip


def test_tables_of_spreadsheets_and_broken_ones() -> None:
    parsed = reading.read(
        'id;content;helpful\r\na;"x;\r\ny";2\r\nb;z;1;more;still\r\nc;"open', context("t.csv")
    )
    assert [(m.id, m.content, m.helpful_count) for m in parsed.memories] == [
        ("a", "x;\r\ny", 2),
        ("b", "z", 1),
    ]
    assert [(i.line, i.records) for i in parsed.issues] == [(4, 0), (5, 1)]
    other = reading.read("content\tid\nx\ta\n", context("t.csv"))
    assert [(m.id, m.content) for m in other.memories] == [("a", "x")]
    huge = "x" * 150_000
    (memory,) = reading.read(
        f'"id","content","note"\n"a","b","{huge}"\n', context("t.csv")
    ).memories
    assert memory.metadata == {"note": huge}


def test_json_lines_and_lists_with_keys_of_others() -> None:
    docs = [{"id": "a", "content": "one", "mine": {"x": 1}}, {"id": "b", "content": "two"}, {"id": "b", "content": "3"},
            {"id": "c"}, 5]  # fmt: skip
    for text in (json.dumps(docs), "".join(json.dumps(doc) + "\n" for doc in docs)):
        assert detect("file", text)[0].format == reading.NAME
        parsed = reading.read(text, context("file"))
        assert [(m.id, m.content) for m in parsed.memories] == [("a", "one"), ("b", "two")]
        assert parsed.memories[0].metadata == {"mine": {"x": 1}}
        assert (len(parsed.issues), parsed.records_in) == (3, 5)
        assert {note.field for note in parsed.mappings} >= {"timestamp", "importance_score"}


def test_a_table_of_ones_own() -> None:
    out = io.StringIO()
    csv.writer(out).writerows(
        [["id", "content", "status", "color"], ["a", "one", "odd", "red"], ["b", "", "", ""]]
    )
    parsed = reading.read(out.getvalue(), context("t.csv"))
    (memory,) = parsed.memories
    assert (memory.status, memory.metadata) == ("candidate", {"color": "red"})
    assert [issue.line for issue in parsed.issues] == [3]
    assert memory.created_at == NOW


@pytest.mark.parametrize(
    ("said", "time", "kind"),
    [
        ({"type": "gotcha", "timestamp": "2026-03-01T10:00:00Z"}, "2026-03-01T10:00:00Z", "gotcha"),
        ({"kind": "decision", "ts": 1_772_359_200}, "2026-03-01T10:00:00Z", "decision"),
        (
            {"kind": "whatever", "date": "soon", "time": "2026-03-01T10:00:00Z"},
            "2026-03-01T10:00:00Z",
            "general",
        ),
        ({"type": "error", "observation_type": "insight", "at": 5}, None, "insight"),
        (
            {"created_at": "2026-03-01T10:00:00Z", "timestamp": "2020-01-01T00:00:00Z"},
            "2026-03-01T10:00:00Z",
            "general",
        ),
    ],
)
def test_what_others_call_the_time_and_the_kind_is_read_and_kept(
    said: dict[str, object], time: str | None, kind: str
) -> None:
    parsed = reading.read(
        json.dumps({"id": "n1", "content": "Brew at 80 degrees.", **said}), context()
    )
    (memory,) = parsed.memories
    assert memory.created_at == (context().now if time is None else parse_time(time))
    assert memory.observation_type == kind
    ours = {"observation_type", "created_at"}
    assert {name: value for name, value in memory.metadata.items() if name in said} == {
        name: value for name, value in said.items() if name not in ours
    }
    told = [note.how for note in parsed.mappings if note.field == "timestamp"]
    assert any("the entry has none" in how for how in told) == (time is None)


def test_an_observation_type_that_is_none_of_ours_is_kept_beside_and_reads_as_general() -> None:
    doc = {"id": "n1", "content": "Brew at 80 degrees.", "observation_type": "weather"}
    (memory,) = reading.read(json.dumps(doc), context()).memories
    assert (memory.observation_type, memory.metadata) == ("general", {"type": "weather"})
