"""What the plain formats write is read back: the same records, and nothing made up."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from tests.formats.samples import NOW, context
from workbench.core.memory import Memory
from workbench.formats import plain_data, plain_read
from workbench.formats.ace import read_playbook
from workbench.formats.model import Parsed
from workbench.formats.plain_rows import book_rows, memory_row
from workbench.formats.registry import detect

AT = datetime(2026, 1, 2, tzinfo=UTC)
MEMORIES = (
    Memory("m1", "=A formula\nof two lines", AT, NOW, summary="short", memory_type="semantic", status="candidate",
           observation_type="error", importance_score=7.5, helpful_votes=2, harmful_imported=1, pinned=True,
           tags=("a", "b"), section="S", confidence=3, citations=("m2",)),
    Memory("m2", "Plain “text”, with commas", AT, AT, status="archived", archived_reason="rejected"),
)  # fmt: skip
WRITERS = {"json": plain_data.write_json, "csv": plain_data.write_csv}


@pytest.mark.parametrize("name", WRITERS)
def test_memories_come_back(name: str) -> None:
    text = WRITERS[name](Parsed("json", memories=MEMORIES), None)
    assert detect("file", text)[0].format == plain_read.NAME
    again = plain_read.read(text, context("file"))
    assert [memory_row(m) for m in again.memories] == [memory_row(m) for m in MEMORIES]
    assert not again.issues


@pytest.mark.parametrize("name", WRITERS)
def test_bullets_come_back(name: str) -> None:
    book = read_playbook("## A\n[a-00001] helpful=1 harmful=0 :: One.\n## B\n[b-00002] helpful=0 harmful=2 :: -Two.\n")
    text = WRITERS[name](Parsed("json", playbooks=(book,)), None)
    assert detect("file", text)[0].format == plain_read.NAME
    (again,) = plain_read.read(text, context("file")).playbooks
    assert book_rows(again) == book_rows(book)


def test_json_lines_and_lists_with_keys_of_others() -> None:
    docs = [{"id": "a", "content": "one", "mine": {"x": 1}}, {"id": "b", "content": "two"}, {"id": "b", "content": "3"},
            {"id": "c"}, 5]  # fmt: skip
    for text in (json.dumps(docs), "".join(json.dumps(doc) + "\n" for doc in docs)):
        assert detect("file", text)[0].format == plain_read.NAME
        parsed = plain_read.read(text, context("file"))
        assert [(m.id, m.content) for m in parsed.memories] == [("a", "one"), ("b", "two")]
        assert parsed.memories[0].metadata == {"mine": {"x": 1}}
        assert (len(parsed.issues), parsed.records_in) == (3, 5)
        assert {note.field for note in parsed.mappings} >= {"timestamp", "importance_score"}


def test_a_table_of_ones_own() -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["id", "content", "status", "color"], ["a", "one", "odd", "red"], ["b", "", "", ""]])
    parsed = plain_read.read(out.getvalue(), context("t.csv"))
    (memory,) = parsed.memories
    assert (memory.status, memory.metadata) == ("candidate", {"color": "red"})
    assert [issue.line for issue in parsed.issues] == [3]
    assert memory.created_at == NOW
