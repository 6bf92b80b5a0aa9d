"""Long files that are one thing over and over: each has an id of its own (what reading costs is a
benchmark).
"""

import json
import signal
from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.formats.samples import context, sure
from workbench.core.files.format import Parsed
from workbench.core.files.formats import format_named
from workbench.core.files.lint import heading_of
from workbench.core.stream.memory import Memory
from workbench.formats import claude_memory
from workbench.formats import mcp as mcp_memory
from workbench.formats.patch import alike
from workbench.formats.shared.markdown import statements
from workbench.formats.shared.values import slug, texts
from workbench.formats.yaml_patch import DamagedYaml, compose

LENGTH = 60_000
T = TypeVar("T")


@pytest.mark.slow
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


def test_lists_of_texts_are_compared_as_lists() -> None:
    many = [f"line {n}" for n in range(1000)]
    assert texts([*many, 1]) == ((*many, "1"), "items that are no text converted or left out")
    assert alike(many, list(many))
    assert not alike(many, [*many, "more"])
    assert not alike([*many, 1], [*many, True])
    assert not alike(many, [*many[:-1], 1])


def test_the_lines_of_a_memory_become_the_observations_of_an_entity() -> None:
    made = Memory("m1", "a\n  b\n\n  c\nd\n", context().now, context().now, summary="one")
    doc = json.loads(mcp_memory.write(Parsed("jsonl", memories=(made,))))
    assert doc["observations"] == ["a\nb\nc", "d"]


def test_a_long_name_is_cut() -> None:
    assert slug("- " * 1000 + "a") == "a"
    assert len(slug("\ufdfa" * 100_000)) <= 60


def test_blanks_before_and_behind_a_link_are_passed_once() -> None:
    """A file of blanks would take longer than anybody waits if each of them were a beginning, or an
    end.
    """
    link = "- [Auth](auth.md) - how"
    assert detected(" " * 60_000 + "x") == 0
    assert detected(f"{link}{' ' * 60_000}x") == detected(link) == 0.5
    assert detected(f"{link}{' ' * 60_000}\n{link}") == 0.5


def test_a_heading_of_blanks_is_read_once() -> None:
    blanks = " " * 100_000
    found = ended(
        lambda: [
            (s.section, s.text) for s in statements(f"# a{blanks}x # #\n- one\n#{blanks}\n- two\n")
        ]
    )
    assert found == [(f"a{blanks}x #", "one"), ("", "two")]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("# a", "a"), ("   ###### a b \t", "a b"), ("#", ""), ("##  ", ""), ("# a ##", "a"), ("# a##", "a##"),
        ("# ##", "##"), ("# a # ##", "a #"), ("#a", None), ("####### a", None), ("    # a", None), ("a # b", None),
    ],
)  # fmt: skip
def test_a_heading_is_read_without_the_signs_that_close_it(line: str, text: str | None) -> None:
    assert (heading_of(line) or (0, None))[1] == text


def detected(text: str) -> float:
    """Return what the format of MEMORY.md says of a text."""
    return sure(ended(lambda: claude_memory.detect(text, "notes.md")))


def ended(do: Callable[[], T]) -> T:
    """Return what something returns, given five seconds of computing: a hundred times what it
    takes.
    """

    def stop(_: int, __: object) -> None:
        raise AssertionError("it takes no end")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 5)
    try:
        return do()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def test_brackets_that_nest_too_deeply_are_given_up_where_they_do() -> None:
    with pytest.raises(DamagedYaml, match="nested more than 100 levels deep") as caught:
        ended(lambda: compose("a:\n  " + "[1, " * 5_000))
    assert caught.value.line == 2
    assert compose(f"# {'[' * 500}\na: '{'[' * 500}'\n") is not None
    assert compose("[" * 100 + "]" * 100) is not None
