"""`.learnings` files: three dialects side by side, and what each change does to them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import LEARNINGS
from tests.formats.samples import NOW, context, sure
from workbench.core.files.formats import format_named
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.learnings import detect, read, write

PARSED = read(LEARNINGS, context("LEARNINGS.md"))
DATED, NAMED, ERROR = (memory.id for memory in PARSED.memories)


def extra(memory: Memory) -> dict[str, object]:
    """Return the metadata that a person sees."""
    return {key: value for key, value in memory.metadata.items() if key != FILE_KEY}


def test_three_dialects() -> None:
    dated, named, error = PARSED.memories
    assert (dated.id, dated.summary) == ("lrn-2026-02-22-tool-name", "Tool name")
    assert dated.content == "The tool is `queryData`,\nnot `query_data`."
    assert (dated.category, dated.observation_type, dated.status) == (
        "correction",
        "correction",
        "confirmed",
    )
    assert (dated.created_at, dated.tags) == (datetime(2026, 2, 22, tzinfo=UTC), ("docs",))
    assert extra(dated) == {"Area": "docs", "Resolution": "Changed the page."}
    assert (named.id, named.summary) == ("LRN-20260412-002", "discovery missed variants")
    assert (named.observation_type, named.status, named.importance_score) == (
        "discovery",
        "candidate",
        3.0,
    )
    assert (error.id, error.summary, error.category) == ("ERR-20261003-001", "", "deploy")
    assert (error.observation_type, error.status, error.archived_reason) == (
        "failure",
        "archived",
        "rejected",
    )
    assert (error.created_at, error.importance_score) == (
        datetime(2026, 10, 3, 10, tzinfo=UTC),
        9.0,
    )
    assert extra(error)["Error"] == "```\n## not a heading\nexit 1\n```"
    assert [(issue.line, issue.records) for issue in PARSED.issues] == [(46, 0)]
    assert PARSED.records_in == 3


@pytest.mark.parametrize(
    ("name", "values", "added"),
    [
        (DATED, {"content": "One\ntwo"}, ["+- **Context**: One", "+  two"]),
        (
            DATED,
            {"status": "candidate"},
            ["+- **Category**: correction | **Area**: docs | **Status**: pending"],
        ),
        (
            DATED,
            {"category": "insight"},
            ["+- **Category**: insight | **Area**: docs | **Status**: resolved"],
        ),
        (DATED, {"summary": "Name\nof it"}, ["+## 2026-02-22 — Name of it"]),
        (NAMED, {"content": "New"}, ["+New"]),
        (NAMED, {"importance_score": 6.9}, ["+- **Priority**: high"]),
        (ERROR, {"status": "promoted"}, ["+**Status**: promoted"]),
        (ERROR, {"category": "build"}, ["+## [ERR-20261003-001] build"]),
        (ERROR, {"content": "# a\n## b"}, ["+\\# a", "+\\## b"]),
    ],
)
def test_a_change_touches_its_value_only(
    name: str, values: dict[str, object], added: list[str]
) -> None:
    text = after(PARSED, LEARNINGS, name, **values)
    assert [line for line in changed_lines(LEARNINGS, text) if line[0] == "+"] == added
    again = next(m for m in read(text, context()).memories if m.id == name or "summary" in values)
    for field, value in values.items():
        if field not in ("summary", "importance_score"):
            assert getattr(again, field) == value


def test_a_part_kept_in_the_metadata_can_be_changed() -> None:
    error = PARSED.memories[2]
    text = after(
        PARSED, LEARNINGS, ERROR, metadata={**error.metadata, "Tags": "ci, cd", "Error": "exit 2"}
    )
    assert changed_lines(LEARNINGS, text) == [
        "-```", "-## not a heading", "-exit 1", "-```", "+exit 2", "-- Tags: ci", "+- Tags: ci, cd"
    ]  # fmt: skip


def test_a_status_that_the_entry_does_not_have_is_added() -> None:
    for text, line in (
        ("## 2026-01-02 — T\n- **Context**: x\n", "+- **Status**: promoted"),
        ("## [LRN-1-A] c\n\n**Logged**: 2026-01-02\n\n### Summary\nx\n", "+**Status**: promoted"),
        ("## [LRN-1-A] c\n\n### Summary\nx\n", "+**Status**: promoted"),
    ):
        parsed = read(text, context())
        assert line in changed_lines(
            text, after(parsed, text, parsed.memories[0].id, status="promoted")
        )


def test_removing_and_adding() -> None:
    less = without(PARSED, LEARNINGS, NAMED)
    assert (
        LEARNINGS.replace(LEARNINGS[LEARNINGS.index("## [LRN") : LEARNINGS.index("## [ERR")], "")
        == less
    )
    new = Memory(
        "m-1",
        "Always ask.",
        NOW,
        NOW,
        category="best_practice",
        importance_score=8.2,
        status="confirmed",
    )
    text = grown(PARSED, LEARNINGS, new, replace(new, id="FEAT-20261121-001"))
    assert text.startswith(LEARNINGS)
    found = read(text, context()).memories[3:]
    assert [(m.content, m.category, m.observation_type, m.status) for m in found] == [
        ("Always ask.", "best_practice", "convention", "confirmed")
    ] * 2
    assert (found[0].importance_score, found[0].created_at) == (9.0, NOW)
    assert found[1].id == "FEAT-20261121-001"
    ruled = "# L\n\n---\n\n## [LRN-1-A] c\n\n### Summary\nx\n\n---\n"
    assert grown(read(ruled, context()), ruled, new).endswith(
        "\n\n### Summary\nAlways ask.\n\n---\n"
    )


def test_where_the_content_stands() -> None:
    text = (
        "## [FEAT-20260102-001] export_csv\n\n### Requested Capability\nExport to CSV\n\n"
        "## [LRN-20260102-001] Only a title here\n**Priority**: urgent\n**Status**: open\n\n"
        "## 2026-03-04: Loose\n\nJust a paragraph\nof text.\n\n---\n"
        "## [LRN-20260102-001] Only a title here\n\n### Details\nDetailed\n\n## [LRN-2-B]\n"
    )
    parsed = read(text, context("L.md"))
    wish, title, loose, twice = parsed.memories
    assert (wish.content, wish.category) == ("Export to CSV", "export_csv")
    assert (title.content, title.summary, title.status) == ("Only a title here", "", "candidate")
    assert (loose.content, loose.summary) == ("Just a paragraph\nof text.", "Loose")
    assert (twice.id, twice.content) == ("LRN-20260102-001-2", "Detailed")
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(16, 0), (21, 1)]
    assert write(parsed, text) == text
    changed = after(parsed, text, title.id, content="Another title")
    assert "+## [LRN-20260102-001] Another title" in changed_lines(text, changed)


def test_an_empty_file_has_no_entries() -> None:
    text = "# Learnings\n\nNothing yet.\n"
    parsed = read(text, context("LEARNINGS.md"))
    assert (parsed.memories, parsed.records_in) == ((), 0)
    assert sure(detect(text, "x/LEARNINGS.md")) == 0.5
    assert sure(detect(text, "x/.learnings/LEARNINGS.md")) == 0.8
    new = Memory("m", "x", NOW, NOW)
    assert grown(parsed, text, new).startswith(text)


ITEMS = """# Learnings

- 2026-01-02: Ask before a deploy
  and wait for the answer.
  - on Fridays, too

- [2026-01-03 release] Tag after the build.
* **2026-01-04 — Caches**: They are keyed by the lock file.

## Git

- **2026-01-05:** Rebase, never merge
- 2026-01-05 10:30 - Rebase, never merge

  (said twice)
- no date here
- 2026-01 is no day
```
- 2026-01-06: code
```

## Nothing here

## [LRN-20260107-001] best_practice

### Details
- 2026-01-07: part of an entry
"""


def test_items_that_begin_with_a_day() -> None:
    parsed = read(ITEMS, context("LEARNINGS.md"))
    ask, tag, caches, rebase, again, entry = parsed.memories
    assert ask.content == "Ask before a deploy\nand wait for the answer.\n- on Fridays, too"
    assert (ask.id, ask.created_at) == ("lrn-2026-01-02-ask-before-a-deploy-and-wait-for-the-answer-on-fridays-too",
                                        datetime(2026, 1, 2, tzinfo=UTC))  # fmt: skip
    assert (tag.content, tag.tags) == ("Tag after the build.", ("release",))
    assert (caches.content, caches.summary) == ("They are keyed by the lock file.", "Caches")
    assert (rebase.content, rebase.section) == ("Rebase, never merge", "Git")
    assert (again.content, again.id) == (
        "Rebase, never merge\n\n(said twice)",
        f"{rebase.id}-said-twice",
    )
    assert entry.content == "- 2026-01-07: part of an entry"
    assert [(issue.line, issue.reason) for issue in parsed.issues] == [
        (22, "a section that is no entry: kept in the file")
    ]
    assert parsed.records_in == 6


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_change_of_an_item_touches_its_lines_only(newline: str) -> None:
    text = ITEMS.replace("\n", newline)
    parsed = read(text, context("LEARNINGS.md"))
    ask, tag, caches, rebase, _again, _ = parsed.memories
    assert write(parsed, text) == text
    assert changed_lines(text, after(parsed, text, tag.id, content="Tag first.\n\n\nThen build.")) == [
        "-- [2026-01-03 release] Tag after the build." + newline[:-1],
        "+- [2026-01-03 release] Tag first." + newline[:-1], "+" + newline[:-1], "+  Then build." + newline[:-1],
    ]  # fmt: skip
    assert changed_lines(text, without(parsed, text, caches.id)) == [
        "-* **2026-01-04 — Caches**: They are keyed by the lock file." + newline[:-1]
    ]
    assert without(parsed, text, ask.id).startswith(
        f"# Learnings{newline}{newline}{newline}- [2026-01-03"
    )
    assert after(parsed, text, rebase.id, status="archived", importance_score=9.0) == text
    alone = read(write(parsed, None), context("LEARNINGS.md"))
    assert [m.content for m in alone.memories] == [m.content for m in parsed.memories]


def test_a_day_that_runs_into_a_word_begins_no_item() -> None:
    text = "- 2026-01-02## [LRN-1-A] c\n## [LRN-1-A] c\n"
    assert [m.id for m in read(text, context()).memories] == ["LRN-1-A"]
    assert read("- 2026-01-02 Z is last\n", context()).memories[0].content == "Z is last"


pieces = st.sampled_from(
    ["## [LRN-1-A] c\n", "## 2026-01-02 — T\n", "### Summary\n", "### Metadata\n", "**Status**: pending\n",
     "- **Context**: ", "- **A**: b | **C**: d\n", "  more\n", "---\n", "```\n", "text\n", "\n", "\r\n", "# H\n",
     "## Other\n", "\ufeff", "- K: v\n", "- 2026-01-02: x\n", "* [2026-01-03 t] y\n", "- **2026-01-04 — T**: z\n",
     "- 2026-01-02"]
)  # fmt: skip


@pytest.mark.slow
@given(
    st.lists(pieces, max_size=20).map("".join),
    st.text(st.sampled_from("a#-`*\n "), min_size=1, max_size=12),
)
@settings(max_examples=100, deadline=None)
def test_any_file_is_written_back_and_a_change_keeps_the_others(text: str, content: str) -> None:
    known = format_named("learnings")
    parsed = known.read(text, context())
    assert known.write(parsed, text) == text
    if parsed.memories and content.strip():
        first, *rest = parsed.memories
        again = known.read(after(parsed, text, first.id, content=content), context())
        assert len({m.id for m in again.memories}) == len(again.memories)
        if "```" not in text and "`" not in content and "---" not in content:
            assert [m.content for m in again.memories[1:]] == [m.content for m in rest]


DEEPER = """# Learnings

## Entries

### LRN-20260103-001: Quote the paths

**Status**: pending
**Area**: shell

Paths with blanks break the script.

#### Suggested Action
Quote them.

### [ERR-20260104-002] deploy

- **Status**: pending

### Summary
It stops halfway.

## LRN-20260105-003 — Read the log first
Before anything else.
"""


def test_headings_one_level_deeper_and_ids_without_brackets() -> None:
    assert sure(detect(DEEPER, "notes.md")) > 0.9
    parsed = read(DEEPER, context("LEARNINGS.md"))
    paths, deploy, log = parsed.memories
    assert (paths.id, paths.summary) == ("LRN-20260103-001", "Quote the paths")
    assert paths.content == "Paths with blanks break the script."
    assert extra(paths)["Suggested Action"] == "Quote them."
    assert (deploy.id, deploy.category, deploy.content) == (
        "ERR-20260104-002",
        "deploy",
        "It stops halfway.",
    )
    assert (log.id, log.summary, log.content) == (
        "LRN-20260105-003",
        "Read the log first",
        "Before anything else.",
    )
    assert write(parsed, DEEPER) == DEEPER
    changed = after(parsed, DEEPER, paths.id, content="Blanks in paths break it.")
    assert len(changed_lines(DEEPER, changed)) == 2
    done = write(
        replace(parsed, memories=(paths, replace(deploy, status="confirmed"), log)), DEEPER
    )
    assert changed_lines(DEEPER, done) == ["-- **Status**: pending", "+- **Status**: resolved"]
    assert "deploy" not in without(parsed, DEEPER, deploy.id)
    again = read(write(parsed), context("LEARNINGS.md"))
    assert [(m.id, m.content) for m in again.memories] == [
        (m.id, m.content) for m in parsed.memories
    ]
