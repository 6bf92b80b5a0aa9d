"""What is written here is recognised without help: by its text alone, with many records, one, or
none.
"""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.formats.samples import NOW, context
from workbench.core.document import to_doc
from workbench.core.files.format import Format, JudgedQuery, Parsed
from workbench.core.files.formats import detect, format_named
from workbench.core.stream.memory import Memory
from workbench.formats.exports import OUTLETS, memory_row
from workbench.formats.shared.books import dated, playbook_of

READ_BACK = [kind for kind in OUTLETS if kind.reader]
MEMORIES = tuple(
    Memory(
        f"mem-2026010{at}-0000001",
        text,
        NOW - timedelta(days=at),
        NOW,
        summary="A note",
        section="Notes",
    )
    for at, text in enumerate(
        ("Ask first.\nThen deploy.", "# Not a heading", '{"id": 1, "blocks": []}', "- x: [y]"), 1
    )
)
QUERIES = tuple(JudgedQuery(memory.content, {memory.id: 2}) for memory in MEMORIES)


def exported(kind: Format, number: int) -> str:
    """Return what is written of so many records, as the kind of file holds them."""
    memories = MEMORIES[:number]
    parsed = Parsed(memories=memories)
    if kind.holds == "queries":
        parsed = Parsed(queries=QUERIES[:number])
    elif kind.holds == "playbook":
        parsed = Parsed(playbooks=(dated(playbook_of(memories), NOW),))
    return kind.write(parsed, None)


@pytest.mark.parametrize("number", [0, 1, len(MEMORIES)])
@pytest.mark.parametrize("kind", READ_BACK, ids=lambda kind: kind.name)
def test_an_export_is_recognised_by_its_text(kind: Format, number: int) -> None:
    text = exported(kind, number)
    if not text.strip():
        return  # of nothing there is nothing to recognise
    if number == 0 and kind.name == "external-detail":
        return  # a heading alone is anybody's Markdown
    best = detect("export", text)[0]
    assert best.format == kind.reader
    found = format_named(best.format).read(text, context("export")).records_read
    assert found == number or (kind.name.startswith("external-") and found == 1)  # a section is one


def test_rows_are_recognised_in_a_list_and_alone() -> None:
    rows = [memory_row(memory) for memory in MEMORIES]
    for text, number in ((json.dumps(rows, indent=2), 4), (json.dumps(rows[:1]), 1), ("[]\n", 0),
                         (json.dumps(rows[0], indent=2), 1), (json.dumps(rows[0]), 1)):  # fmt: skip
        best = detect("list.json", text)[0]
        assert best.format == "records"
        parsed = format_named("records").read(text, context("list.json"))
        assert [m.content for m in parsed.memories] == [m.content for m in MEMORIES[:number]]
    whole = replace(context(), file="x")
    assert format_named("records").read(json.dumps(to_doc(MEMORIES[0])), whole).records_read == 1
