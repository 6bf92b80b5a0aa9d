"""Claude Code memory: the index with its topic files, statements, and the lines that are not
loaded.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.formats.others import CLAUDE_MD, MEMORY_MD, TOPIC_MD
from tests.formats.samples import context
from workbench.core.files.format import Parsed
from workbench.core.files.memory_md import front_matter
from workbench.formats import claude_memory
from workbench.formats.opening import read_file
from workbench.formats.shared.markdown import statements


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a project's memory folder with one of the two topic files."""
    home = tmp_path / "-home-ann-shop" / "memory"
    (home / "notes").mkdir(parents=True)
    (home / "MEMORY.md").write_text(MEMORY_MD, encoding="utf-8")
    (home / "notes" / "no_mocks.md").write_text(TOPIC_MD, encoding="utf-8")
    return home


def read(path: Path) -> Parsed:
    """Read a file under its own name."""
    return read_file(path, context=context(path.name))


def test_index_lines_and_statements(folder: Path) -> None:
    parsed = read(folder / "MEMORY.md")
    role, mocks, pnpm, ask, fridays = parsed.memories
    assert (role.id, role.content) == ("cc-home-ann-shop-user-role", "Ann is a data scientist")
    assert mocks.content.startswith("Integration tests use the real database.\n\n**Why:**")
    assert (mocks.summary, mocks.observation_type, mocks.category) == (
        "never mock the database",
        "correction",
        "feedback",
    )
    assert mocks.created_at == datetime(2026, 2, 3, tzinfo=UTC)
    assert (mocks.metadata["topic"], mocks.metadata["title"]) == ("notes/no_mocks.md", "No mocks")
    assert (pnpm.content, pnpm.section, pnpm.memory_type) == (
        "Use pnpm, not npm.\nIt is faster.",
        "Habits",
        "procedural",
    )
    assert (ask.content, fridays.content) == ("Ask first.", "Deploys happen on Fridays.")
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(3, 0)]
    assert parsed.records_in == 5


def test_the_same_memories_when_read_again_or_alone(folder: Path) -> None:
    first = read(folder / "MEMORY.md")
    assert [m.id for m in read(folder / "MEMORY.md").memories] == [m.id for m in first.memories]
    (folder / "user_role.md").write_text(TOPIC_MD.replace("feedback", "user"))
    (alone,) = read(folder / "user_role.md").memories
    assert (alone.id, alone.summary, alone.category) == (
        first.memories[0].id,
        "never mock the database",
        "user",
    )


def test_topic_files_outside_the_folder_are_not_read(folder: Path) -> None:
    (folder.parent / "secret.md").write_text("secret")
    (folder / "big.md").write_text("x" * 4_000_001)
    (folder / "long.md").write_text("x" * 65_537)
    (folder / "link.md").symlink_to(folder.parent / "secret.md")
    (folder / "empty.md").write_text("---\nname: e\n---\n\n")
    lines = "".join(
        f"- [T]({name}) — hook {name}\n"
        for name in ("../secret.md", "/etc/x.md", "big.md", "link.md", "empty.md")
    )
    (folder / "MEMORY.md").write_text(
        lines + "- [T](long.md)\n- [T](long.md)\n- [No hook](none.md)\n"
    )
    parsed = read(folder / "MEMORY.md")
    assert [m.content for m in parsed.memories][:5] == [
        "hook ../secret.md", "hook /etc/x.md", "hook big.md", "hook link.md", "hook empty.md"
    ]  # fmt: skip
    assert parsed.memories[5].content == "No hook"
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1), (7, 1), (8, 0)
    ]  # fmt: skip
    assert parsed.records_in == 8


def test_lines_below_the_cut_are_marked() -> None:
    text = "".join(f"- fact {n}\n" + ("\n" if n == 150 else "") for n in range(1, 206))
    parsed = claude_memory.read(text, context("MEMORY.md"))
    assert [(i.line, i.records) for i in parsed.issues] == [(n, 0) for n in range(201, 207)]
    assert "below line 200" in parsed.issues[0].reason
    assert parsed.records_in == len(parsed.memories) == 205
    exact = "- " + "é" * 12_499 + "\n"
    wide = exact + "- next\n\n- last\n"
    reasons = [(i.line, i.reason) for i in claude_memory.read(wide, context("MEMORY.md")).issues]
    assert [line for line, reason in reasons if "below byte 25,000" in reason] == [2, 4]
    assert len(exact.encode()) == 25_001
    assert not claude_memory.read(text, replace(context("CLAUDE.md"), path="/x/CLAUDE.md")).issues


def test_claude_md() -> None:
    parsed = claude_memory.read(CLAUDE_MD, context("CLAUDE.md"))
    assert [(m.section, m.content) for m in parsed.memories] == [
        ("Project", "See @docs/setup.md\n@docs/style.md"),
        ("Commands", "`make test` runs the tests"),
        ("Commands", "`make lint`:\n- ruff\n- mypy"),
        ("Commands", "```sh\nmake all\n```"),
    ]
    assert [i.reason for i in parsed.issues] == [
        "1 statement in the block that this program wrote: not read again"
    ]
    other = claude_memory.read(
        "@AGENTS.md\n\n<!-- a\n\n# note -->\n- x\n- x\n", context("CLAUDE.md")
    )
    assert [m.content for m in other.memories] == ["x"]
    assert [(i.line, i.records) for i in other.issues] == [(1, 0), (3, 0), (7, 1)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\ntext\nmore\n\n- one\n\n  still one\n- two\n",
         [("text", "text\nmore"), ("item", "one\n\nstill one"), ("item", "two")]),
        ("1. a\n2) b\n   - c\n\nd", [("item", "a"), ("item", "b\n- c"), ("text", "d")]),
        ("text\n- item\n---\n***\nend", [("text", "text"), ("item", "item"), ("text", "end")]),
        ("```\n# no heading\n\n- x\n```\nafter\n", [("code", "```\n# no heading\n\n- x\n```\nafter")]),
        ("- a\n  ```\n  code\n  ```\n", [("item", "a\n```\ncode\n```")]),
        ("<!-- one -->\ntext\n<!-- two\n\nthree -->",
         [("comment", "<!-- one -->"), ("text", "text"), ("comment", "<!-- two\n\nthree -->")]),
        ("~~~\nnever closed\n\n# x", [("code", "~~~\nnever closed\n\n# x")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("text", "| a | b |\n|---|---|\n| 1 | 2 |")]),
        ("", []),
    ],
)  # fmt: skip
def test_statements(text: str, found: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.text) for one in statements(text)] == found
    assert [(one.kind, one.text) for one in statements(text.replace("\n", "\r\n"))] == found


def test_front_matter() -> None:
    assert front_matter('---\na: b\nc: "d"\ne:\n  f: g\n---\nx') == (
        {"a": "b", "c": "d", "f": "g"},
        6,
    )
    assert front_matter("---\na: b\n") == ({}, 0)
    assert front_matter("a: b") == ({}, 0)


def test_a_topic_without_a_text() -> None:
    parsed = claude_memory.read("---\nname: a\ndescription: b\ntype: user\n---\n", context("a.md"))
    assert (parsed.memories, parsed.records_in) == ((), 1)


def test_an_index_that_is_a_table() -> None:
    text = (
        "# Memory\n\n| File | About | Kind |\n|------|-------|------|\n"
        "| [Deploys](deploys.md) | how we deploy | project |\n| `style.md` | tabs | |\n"
    )
    files = {"deploys.md": "---\nname: deploys\nmodified: 2026-03-04\n---\nNever on Fridays.\n"}
    there = replace(context("MEMORY.md"), path="/x/MEMORY.md", beside=files.get)
    deploys, style = claude_memory.read(text, there).memories
    assert (deploys.content, deploys.summary) == ("Never on Fridays.", "how we deploy — project")
    assert deploys.created_at.date().isoformat() == "2026-03-04"
    assert (style.content, style.summary) == ("tabs", "tabs")


def test_entries_between_signs() -> None:
    text = "Ann likes short answers.\n§\nThe server is called bath.\n\nIt has two disks.\n§\n\n§\n- one\n- two\n"
    parsed = claude_memory.read(text, context("MEMORY.md"))
    assert [memory.content for memory in parsed.memories] == [
        "Ann likes short answers.",
        "The server is called bath.\n\nIt has two disks.",
        "- one\n- two",
    ]
    assert (parsed.records_in, parsed.issues) == (3, ())
