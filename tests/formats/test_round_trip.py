"""What holds for every format that is written: unchanged means the same bytes, one change one
place.
"""

import json
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from tests.formats.diffing import after, changed_lines, without, written
from tests.formats.others import TEXTS
from tests.formats.samples import NOW, context
from workbench.core.document import from_doc, to_doc
from workbench.core.files.format import Parsed
from workbench.core.files.formats import format_named
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory

R = TypeVar("R", Memory, Bullet)
WRITING = sorted(name for name in TEXTS if format_named(name).writes)
ENDS = [(newline, start) for newline in ("\n", "\r\n") for start in ("", "\ufeff")]


def contents(parsed: Parsed) -> list[tuple[str, str]]:
    """Return id and content of every record."""
    bullets = [(b.id, b.content) for book in parsed.playbooks for b in book.bullets]
    return [(m.id, m.content) for m in parsed.memories] + bullets


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize(("newline", "start"), ENDS)
@pytest.mark.parametrize("final", [True, False])
def test_unchanged_means_the_same_bytes(name: str, newline: str, start: str, final: bool) -> None:
    path, text = TEXTS[name]
    exact = (start + text.rstrip("\n") + ("\n" if final else "")).replace("\n", newline)
    parsed = format_named(name).read(exact, context(path))
    assert parsed.records_read >= 2
    assert written(parsed, exact) == exact
    later = format_named(name).read(exact, replace(context(path), now=NOW + timedelta(days=400)))
    assert written(later, exact) == exact


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize(("newline", "start"), ENDS)
def test_one_changed_text_is_one_changed_place(name: str, newline: str, start: str) -> None:
    path, text = TEXTS[name]
    exact = start + text.replace("\n", newline)
    parsed = format_named(name).read(exact, context(path))
    for record, content in contents(parsed):
        if "\n" in content or record.startswith("mcp-relation"):
            continue
        changed = after(parsed, exact, record, content="Something “else”: {1} # 'now'")
        removed, added = changed_lines(exact, changed)
        assert (removed[0], added[0]) == ("-", "+")
        assert changed.count(newline) == exact.count(newline)
        assert changed.startswith(start)
        again = format_named(name).read(changed, context(path))
        assert sorted(c for _, c in contents(again)) == sorted(
            "Something “else”: {1} # 'now'" if r == record else c for r, c in contents(parsed)
        )


@pytest.mark.parametrize("name", WRITING)
def test_a_record_that_is_gone_leaves_the_others_alone(name: str) -> None:
    path, text = TEXTS[name]
    parsed = format_named(name).read(text, context(path))
    for record, _ in contents(parsed):
        less = without(parsed, text, record)
        assert all(
            line.startswith("-")
            for line in changed_lines(text, less)
            if '"' not in line and "]" not in line
        )
        rest = contents(format_named(name).read(less, context(path)))
        assert [c for _, c in rest] == [c for r, c in contents(parsed) if r != record]


@pytest.mark.parametrize("name", WRITING)
def test_without_the_old_file_the_records_are_the_same(name: str) -> None:
    path, text = TEXTS[name]
    parsed = format_named(name).read(text, context(path))
    fresh = written(parsed, None)
    again = format_named(name).read(fresh, context(path))
    assert sorted(contents(again)) == sorted(contents(parsed))
    assert written(again, None) == written(again, fresh) == fresh


@pytest.mark.parametrize("name", WRITING)
def test_the_way_through_a_store_loses_nothing(name: str) -> None:
    path, text = TEXTS[name]
    parsed = format_named(name).read(text, context(path))

    def stored(record: R) -> R:
        return from_doc(type(record), json.loads(json.dumps(to_doc(record))))

    books = tuple(replace(p, bullets=tuple(map(stored, p.bullets))) for p in parsed.playbooks)
    back = replace(parsed, memories=tuple(map(stored, parsed.memories)), playbooks=books)
    assert written(back, text) == text
    assert written(back, None) == written(parsed, None)


@pytest.mark.parametrize("name", WRITING)
def test_memories_from_elsewhere_can_be_written(name: str) -> None:
    if name in ("skillbook", "cass"):
        return
    path, text = TEXTS[name]
    new = Memory(
        "mem-20260101-0000001",
        "Line one\n# line two\n\n- end",
        NOW,
        NOW,
        summary="A note",
        section="Notes",
    )
    parsed = Parsed(name, memories=(new,))
    assert [c for _, c in contents(format_named(name).read(written(parsed, None), context(path)))]
    own = format_named(name).read(text, context(path))
    both = written(replace(own, memories=(*own.memories, new)), text)
    found = contents(format_named(name).read(both, context(path)))
    assert [c for _, c in found][: len(own.memories)] == [m.content for m in own.memories]
    assert len(found) == len(own.memories) + 1
    assert found[-1][1].replace("\n\n", "\n") == "Line one\n# line two\n- end"


def test_a_file_of_another_format_is_not_taken_for_the_record() -> None:
    learned = format_named("learnings").read(TEXTS["learnings"][1], context("LEARNINGS.md"))
    for name in WRITING:
        if name in ("skillbook", "cass"):
            continue
        moved = replace(learned, format=name)
        again = format_named(name).read(written(moved, None), context(TEXTS[name][0]))
        assert again.records_read >= len(learned.memories)
    lifecycle = format_named("lifecycle")
    again = lifecycle.read(lifecycle.write(learned, None), context("x.jsonl"))
    assert [(m.id, m.content) for m in again.memories] == [
        (m.id, m.content) for m in learned.memories
    ]
