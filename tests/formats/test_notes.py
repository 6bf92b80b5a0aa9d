"""Notes of folders: front matter kept, tags and links read, a day's file by its entries."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.samples import NOW, context, sure
from workbench.core.stream.memory import FILE_KEY
from workbench.formats.notes import detect, links_in, read, read_note

HERE = replace(context(), path="/home/ann/shop/memory-bank/x.md")
NOTE = """---
title: "Coffee brewing"
type: note
tags: [brewing, "pour over"]
permalink: notes/coffee
created: 2026-01-02
---
# Coffee

Grind fresh; see [[Tea Notes|tea]] and [the plan](sub/plan.md#first).
"""


def test_front_matter_is_kept_and_the_rest_is_the_content() -> None:
    (one,) = read_note(NOTE, HERE, "coffee.md").memories
    assert one.content.startswith("# Coffee\n\nGrind fresh;")
    assert (one.summary, one.category, one.tags) == (
        "Coffee brewing",
        "note",
        ("brewing", "pour over"),
    )
    assert (one.created_at, one.status) == (datetime(2026, 1, 2, tzinfo=UTC), "signal")
    assert one.metadata["permalink"] == "notes/coffee"
    assert one.metadata[FILE_KEY] == {"format": "notes", "name": "coffee.md"}
    assert one.id.startswith("note-memory-bank-coffee-")
    assert list(links_in(one.content)) == ["Tea Notes", "sub/plan.md"]
    crlf = read_note("\ufeff" + NOTE.replace("\n", "\r\n"), HERE, "coffee.md").memories
    assert (crlf[0].content, crlf[0].tags, crlf[0].id) == (one.content, one.tags, one.id)


def test_a_plain_file_is_called_after_its_heading_or_its_name() -> None:
    later = datetime(2026, 2, 3, tzinfo=UTC)
    (one,) = read_note("# What we sell\n\nTea.\n", HERE, "a/product_context.md", later).memories
    (two,) = read_note("Only text.\n", HERE, "a/tech-stack.txt", later).memories
    assert (one.summary, one.created_at, two.summary) == ("What we sell", later, "tech stack")
    assert "changed" not in one.metadata
    assert one.id != two.id
    listed = read_note("---\ntags:\n  - x\n  - '#y'\n---\nText\n", HERE, "n.md").memories[0]
    assert listed.tags == ("x", "y")


def test_the_file_of_a_day_is_read_entry_by_entry() -> None:
    text = "# 2026-05-01\n\n## Morning\n- fixed CI\n\n```\n## no heading\n```\n\n## Evening\n"
    morning, evening = read_note(text, HERE, "memory/2026-05-01.md").memories
    assert morning.content == "Morning\n\n- fixed CI\n\n```\n## no heading\n```"
    assert (evening.content, evening.memory_type) == ("Evening", "episodic")
    assert morning.created_at == datetime(2026, 5, 1, tzinfo=UTC)
    items = read_note("- one thing\n- another\n\nA paragraph.\n", HERE, "2026-05-02-notes.md")
    assert [one.content for one in items.memories] == ["one thing", "another", "A paragraph."]
    assert items.memories[0].created_at.day == 2


def test_which_files_are_known_alone() -> None:
    assert sure(detect(NOTE, "anything.md")) == 0.6
    for path in (
        "/p/memory-bank/activeContext.md",
        "/p/.serena/memories/style.md",
        "/h/.claude/agent-memory/a/x.md",
    ):
        assert sure(detect("# Any\n", path)) == 0.5
    for path in ("/p/memory/2026-02-10.md", "memory/rules/permanent.md", "/m/memories/list.txt"):
        assert sure(detect("# Any\n", path)) == 0.4
    assert sure(detect("# Any\n", "/p/docs/x.md")) == 0.0
    assert read(NOTE, context("coffee.md")).records_in == 1


def test_a_note_that_says_nothing_is_named() -> None:
    parsed = read_note("---\ntitle: x\n---\n\n", HERE, "x.md")
    assert [(i.line, i.records) for i in parsed.issues] == [(1, 1)]


pieces = st.sampled_from(
    ["---\n", "title: x\n", "tags: [a, b\n", "tags:\n", "  - c\n", "# H\n", "## S\n", "- item\n", "```\n", "text\n",
     "\n", "\r\n", "[[a]]", "[[", "](b.md)", "\ufeff", "\x00", "changed: 1\n"]
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(pieces, max_size=15).map("".join), st.sampled_from(["n.md", "2026-01-02.md"]))
@settings(max_examples=150, deadline=None)
def test_any_note_is_read_or_named(text: str, name: str) -> None:
    parsed = read_note(text, HERE, name, NOW)
    assert parsed.records_in == len(parsed.memories) + sum(issue.records for issue in parsed.issues)
    assert len({one.id for one in parsed.memories}) == len(parsed.memories)
    for one in parsed.memories:
        list(links_in(one.content))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["[[" * 20_000, "](" + "a" * 50_000, "---\n" + "tags:\n" * 5_000, "[[a|" * 10_000]
)
def test_hostile_notes_are_no_work(text: str) -> None:
    parsed = read_note(text, HERE, "n.md", NOW)
    for one in parsed.memories:
        assert not list(links_in(one.content))
