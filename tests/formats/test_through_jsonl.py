"""From a file to entries and back: nothing that a record said is lost on the way, whatever its
format.
"""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.formats.diffing import written
from tests.formats.others import LEARNINGS, TEXTS
from tests.formats.samples import BARE, COUNTS, NOW, context
from workbench.core.files.format import Parsed
from workbench.core.files.formats import format_named, known_formats
from workbench.core.playbook.book import Playbook
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats import exports, learnings, lifecycle
from workbench.formats import plain_read as reading
from workbench.formats.shared.books import dated, memories_of, playbook_of

FILES = {**TEXTS, "ace": ("book.txt", COUNTS)}
WRITING = sorted(known.name for known in known_formats() if known.writes and known.name in FILES)


def through(parsed: Parsed) -> Parsed:
    """Return the records after they were entries of a file of JSON lines."""
    memories = parsed.memories or tuple(
        m for book in parsed.playbooks for m in memories_of(book, NOW, retired=True)
    )
    again = lifecycle.read(lifecycle.write(Parsed(memories=memories)), context("x.jsonl"))
    assert not again.issues
    if not parsed.playbooks:
        return replace(parsed, memories=again.memories)
    book = playbook_of(again.memories, parsed.playbooks[0].book.name)
    return replace(parsed, playbooks=(replace(book, book=parsed.playbooks[0].book),))


def test_every_format_that_is_read_and_written_is_tried() -> None:
    elsewhere = {"lifecycle", "queries", "trec-qrels"}
    assert {known.name for known in known_formats() if known.writes} == {*WRITING, *elsewhere}


@pytest.mark.parametrize("name", WRITING)
def test_a_file_comes_back_from_entries_as_it_was(name: str) -> None:
    path, text = FILES[name]
    parsed = format_named(name).read(text, context(path))
    assert written(through(parsed), None) == written(parsed, None)


def test_a_bare_playbook_keeps_its_bullets() -> None:
    parsed = format_named("ace").read(BARE, context("book.txt"))
    (before,), (after,) = parsed.playbooks, through(parsed).playbooks
    assert said(after) == said(before)


def said(book: Playbook) -> list[tuple[object, ...]]:
    """Return what the bullets of a playbook say, in order."""
    titles = {section.id: section.title for section in book.sections}
    return [
        (
            b.id,
            titles[b.section],
            b.content,
            b.helpful_count,
            b.harmful_count,
            b.neutral_count,
            b.state,
            b.pinned,
        )
        for b in book.bullets
    ]


@pytest.mark.parametrize("write", [exports.write_json, exports.write_yaml, exports.write_csv])
def test_plain_records_come_back_from_entries_as_they_were(write: object) -> None:
    assert callable(write)
    learned = format_named("learnings").read(LEARNINGS, context("LEARNINGS.md"))
    text = write(replace(learned, playbooks=()), None)
    again = reading.read(text, context("x"))
    assert write(through(again), None) == write(again, None)


NAMES = ("Details", "Suggested Action", "Resolution", "Area", "See Also", "Source", "Odd One")
TEXT = st.text(st.sampled_from("abc .#-*\n\t[]:|`é"), min_size=1, max_size=30).filter(
    lambda t: bool(t.strip())
)


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from(NAMES), TEXT),
    TEXT,
    st.sampled_from(["pending", "resolved", "wont_fix"]),
)
@example(
    {"Details": "- a\n- b", "Suggested Action": "# do\n", "Resolution": "Done.", "Area": "tests"},
    "x",
    "resolved",
)
def test_whatever_a_block_held_is_there_after_entries(
    parts: dict[str, str], body: str, status: str
) -> None:
    area = " ".join(parts.get("Area", "").split())
    sections = "".join(f"\n### {name}\n{text}\n" for name, text in parts.items() if name != "Area")
    head = f"## [LRN-20260401-001] best_practice\n\n**Status**: {status}\n" + (
        f"**Area**: {area}\n" if area else ""
    )
    block = f"{head}\n### Summary\nSay {body}\n{sections}\n---\n"
    parsed = learnings.read(block, context("LEARNINGS.md"))
    again = through(parsed)
    assert [without_form(m) for m in again.memories] == [without_form(m) for m in parsed.memories]
    text = learnings.write(again)
    assert learnings.write(parsed) == text
    back = learnings.read(text, context("LEARNINGS.md"))
    assert [without_form(m) for m in back.memories] == [without_form(m) for m in parsed.memories]


def without_form(memory: Memory) -> Memory:
    """Return a memory without how its file wrote it."""
    return replace(
        memory, metadata={key: value for key, value in memory.metadata.items() if key != FILE_KEY}
    )


def test_an_entry_without_its_block_is_written_with_its_parts() -> None:
    notes = {
        "Details": "one\n\n# two", "Suggested Action": "Do it.", "Area": "docs", "Resolution": "Done.",
        "Related Files": "a.py", "absorbed": [], "masked": "x", "Status": "odd",
    }  # fmt: skip
    memory = Memory(
        "LRN-20260401-001", "The text", NOW, NOW, category="best_practice", metadata=notes
    )
    (again,) = learnings.read(
        learnings.write(Parsed(memories=(memory,))), context("LEARNINGS.md")
    ).memories
    told = without_form(again)
    assert told.metadata == {k: v for k, v in notes.items() if k[0].isupper() and k != "Status"} | {
        "Logged": "2026-11-21T12:00:00Z"
    }
    assert (told.content, told.tags, told.id) == ("The text", ("docs",), memory.id)


def test_a_book_keeps_what_a_memory_has_no_field_for() -> None:
    path, text = TEXTS["skillbook"]
    (book,) = format_named("skillbook").read(text, context(path)).playbooks
    (back,) = through(Parsed("skillbook", playbooks=(book,))).playbooks
    assert said(back) == said(book)
    assert {b.id for b in back.bullets if b.state == "deprecated"} == {"close-00002"}
    assert "close-00002" not in {m.id for m in memories_of(book, NOW)}
    assert dated(back, NOW).bullets
