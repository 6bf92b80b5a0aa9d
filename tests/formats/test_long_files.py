"""Long files that are one thing over and over: each has an id of its own (what reading costs is a benchmark)."""

import json
from dataclasses import replace

import pytest

from tests.calls import steps_of
from tests.formats.samples import context
from workbench.core.files.format import Parsed
from workbench.core.files.formats import format_named
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle.values import texts
from workbench.formats.mcp import mcp_memory
from workbench.formats.shared.records import alike
from workbench.formats.shared.yamltree import DamagedYaml, compose

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


def test_a_list_of_many_texts_is_read_and_compared_as_one() -> None:
    many = [f"line {n}" for n in range(1000)]
    assert steps_of(lambda: texts(many)) < 10
    assert steps_of(lambda: alike(many, list(many))) < 10
    assert texts([*many, 1]) == ((*many, "1"), "items that are no text converted or left out")
    assert alike(many, list(many))
    assert not alike(many, [*many, "more"])
    assert not alike([*many, 1], [*many, True])
    assert not alike(many, [*many[:-1], 1])


def test_the_lines_of_a_memory_are_parted_once_to_write_it_as_an_entity() -> None:
    made = Memory("m1", "line\n" * 1000, context().now, context().now, summary="one")
    parsed = Parsed("jsonl", memories=(made,))
    assert steps_of(lambda: mcp_memory.write(parsed)) < 7_000
    doc = json.loads(mcp_memory.write(replace(parsed, memories=(replace(made, content="a\n  b\n\n  c\nd\n"),))))
    assert doc["observations"] == ["a\nb\nc", "d"]


def test_brackets_that_nest_too_deeply_are_given_up_where_they_do() -> None:
    def read() -> None:
        with pytest.raises(DamagedYaml, match="nested more than 100 levels deep") as caught:
            compose("a:\n  " + "[1, " * 5_000)
        assert caught.value.line == 2

    assert steps_of(read) < 100_000
    assert compose(f"# {'[' * 500}\na: '{'[' * 500}'\n") is not None
    assert compose("[" * 100 + "]" * 100) is not None
