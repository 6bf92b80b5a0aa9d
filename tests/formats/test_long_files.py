"""Long files that are one thing over and over: each has an id of its own (what reading costs is a benchmark)."""

import pytest

from tests.formats.samples import context
from workbench.core.files.formats import format_named

LENGTH = 60_000


@pytest.mark.parametrize(
    ("name", "head", "unit"),
    [
        ("external-overview", "", "<!-- META\n"),
        ("external-detail", "", "<!-- META\n"),
        ("external-overview", "", "## a\nb\n"),
        ("learnings", "", "## [LRN-1] a\n"),
        ("learnings", "", "## 2026-01-01 — a\n"),
        ("learnings", "## [LRN-1] a\n**Source**: x\n", "  y\n"),
        ("claude-memory", "", "<!-- META\n"),
        ("claude-memory", "*" * 30_000 + "x\n", "y\n"),
    ],
    ids=lambda text: text[:12].strip(),
)
def test_the_same_again_and_again_has_ids_of_its_own(name: str, head: str, unit: str) -> None:
    read = format_named(name).read
    assert read is not None
    parsed = read(head + unit * (LENGTH // len(unit)), context())
    assert parsed.memories or parsed.issues
    ids = [memory.id for memory in parsed.memories]
    assert len(ids) == len(set(ids))


def test_a_line_of_a_meta_comment_may_be_blanks() -> None:
    read = format_named("external-detail").read
    assert read is not None
    facts = "<!-- META\nkeywords: a, b \t\r\nowner: x" + " " * 30_000 + "y\n-->\n\n## One\nbody\n"
    memory = read(facts, context()).memories[0]
    assert memory.tags == ("a", "b")
    assert memory.metadata["owner"] == "x" + " " * 30_000 + "y"
