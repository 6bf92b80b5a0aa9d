"""External memory: the overview's headings and the detail files, read and written by section."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import DETAIL, OVERVIEW
from tests.formats.samples import NOW, context
from workbench.core.agents.document import HEADINGS
from workbench.core.files.formats import format_named
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.external import DETAIL_FORMAT, OVERVIEW_FORMAT

NOW_DOING = OVERVIEW_FORMAT.read(
    OVERVIEW, replace(context("overview.md"), path="/s/abc 1/working-memory/overview.md")
)
NOTES = DETAIL_FORMAT.read(DETAIL, context("detail/auth-design.md"))


def test_an_overview() -> None:
    task, decisions, operations = NOW_DOING.memories
    assert (task.id, task.section, task.content) == (
        "ext-abc-1-overview-current-task",
        "Current Task",
        "Add the import.",
    )
    assert (decisions.content, decisions.observation_type) == ("- JSON first", "decision")
    assert (operations.memory_type, operations.status, operations.created_at) == (
        "working",
        "signal",
        NOW,
    )
    assert NOW_DOING.records_in == 3
    assert not NOW_DOING.issues


@pytest.mark.parametrize("dash", ["- ", "", "  - "])
def test_a_detail_file_with_both_spellings_of_meta(dash: str) -> None:
    text = DETAIL.replace("- created", f"{dash}created").replace("- keywords", f"{dash}keywords")
    intro, decision, rationale = DETAIL_FORMAT.read(text, context("detail/auth-design.md")).memories
    assert (intro.content, intro.section, intro.summary) == (
        "An introduction.",
        "",
        "Authentication",
    )
    assert (decision.id, decision.content) == ("ext-auth-design-decision", "Use JWT with refresh.")
    assert (rationale.content, rationale.tags) == ("- stateless", ("authentication", "jwt"))
    assert rationale.created_at == datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
    assert {k: v for k, v in rationale.metadata.items() if k != FILE_KEY} == {"owner": "ann"}


def test_a_detail_file_without_meta() -> None:
    text = (
        "Top\n\n# Topic\n\nabove\n\n## A\nx\n### B\ny\n```\n## no\n```\n## A\nz\n## Empty\n## Long\n"
        + "x" * 65_537
    )
    parsed = DETAIL_FORMAT.read(text, context("detail/t.md"))
    assert [(m.section, m.content) for m in parsed.memories] == [
        ("", "Top"), ("", "above"), ("A", "x\n### B\ny\n```\n## no\n```"), ("A", "z"),
    ]  # fmt: skip
    assert len({m.id for m in parsed.memories}) == 4
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(17, 1)]
    assert without(parsed, text, "ext-t-a").endswith("## A\nz\n## Empty\n## Long\n" + "x" * 65_537)
    loose = DETAIL_FORMAT.read("<!-- META:\nkeywords: a, 'b',\n-->\nx", context("t.md"))
    assert loose.memories[0].tags == ("a", "b")
    broken = DETAIL_FORMAT.read('<!-- META:\nkeywords: ["a", b]\n-->\nx', context("t.md"))
    assert broken.memories[0].tags == ("a", "b")


def test_changes() -> None:
    task, decisions, _ = (m.id for m in NOW_DOING.memories)
    assert changed_lines(OVERVIEW, after(NOW_DOING, OVERVIEW, task, content="Add\n## it")) == [
        "-Add the import.", "+Add", "+\\## it",
    ]  # fmt: skip
    assert changed_lines(OVERVIEW, without(NOW_DOING, OVERVIEW, decisions)) == ["-- JSON first"]
    assert changed_lines(DETAIL, without(NOTES, DETAIL, "ext-auth-design-decision")) == [
        "-## Decision", "-", "-Use JWT with refresh.", "-",
    ]  # fmt: skip


def test_new_memories_fill_their_heading_or_follow_at_the_end() -> None:
    known, pending, other = (
        Memory(title, f"about {title}", NOW, NOW, section=title)
        for title in ("Known Context", "Pending Issues", "Mood")
    )
    text = grown(NOW_DOING, OVERVIEW, known, pending, other)
    assert changed_lines(OVERVIEW, text) == [
        "+about Known Context", "+about Pending Issues", "+## Mood", "+", "+about Mood", "+",
    ]  # fmt: skip
    assert len(OVERVIEW_FORMAT.read(text, context("overview.md")).memories) == 6
    fresh = OVERVIEW_FORMAT.write
    assert fresh is not None
    assert fresh(replace(NOW_DOING, memories=(pending,)), None).startswith(
        "# Working Memory\n\n## Current Task\n\n## Key"
    )
    assert [
        h for h in HEADINGS if f"## {h}\n" not in fresh(replace(NOW_DOING, memories=()), None)
    ] == []


pieces = st.sampled_from(
    ["# T\n", "## A\n", "## B\n", "## A\n", "### C\n", "text\n", "- x\n", "\n", "\r\n", "<!-- c -->\n", "<!-- open\n",
     "```\n", "<!--\nMETA:\n- created: 2024-01-15\n-->\n", "##\n", "\ufeff", "\\## e\n", "\0"]
)  # fmt: skip


@pytest.mark.slow
@given(
    st.lists(pieces, max_size=16).map("".join),
    st.text(st.sampled_from("a#-\n "), min_size=1, max_size=10),
)
@settings(max_examples=100, deadline=None)
@pytest.mark.parametrize("name", ["external-overview", "external-detail"])
def test_any_file_is_written_back_and_a_change_keeps_the_others(
    name: str, text: str, content: str
) -> None:
    chosen = format_named(name)
    parsed = chosen.read(text, context("x.md"))
    assert chosen.write(parsed, text) == text
    if parsed.memories and content.strip() and "```" not in text and "<!--" not in text:
        first, *rest = parsed.memories
        again = chosen.read(after(parsed, text, first.id, content=content), context("x.md"))
        assert [m.content for m in again.memories] == [content.strip(), *(m.content for m in rest)]
