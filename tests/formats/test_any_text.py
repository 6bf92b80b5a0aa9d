"""Any text comes back from every format that is written: line ends, separators of other systems,
marks of Markdown.
"""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.formats.samples import NOW, context
from workbench.core.files.format import Format, Parsed
from workbench.core.files.formats import format_named
from workbench.core.files.lint import BLANKS
from workbench.core.stream.memory import Memory
from workbench.formats.exports import OUTLETS
from workbench.formats.shared.books import dated, playbook_of

KINDS = [kind for kind in OUTLETS if kind.reader and kind.holds != "queries"]
MARKDOWN = frozenset({"learnings", "external-overview", "external-detail"})
"""Files of other tools whose line ends belong to the file, as does the white space around a text."""

LETTERS = "ab0# -`*\\\n\r\t\x0b\x0c\x1c\x85\u2028\u2029\xa0&amp;#13;<!>|'\"[]:~+=@,{}"
TEXTS = st.one_of(
    st.text(st.sampled_from(LETTERS), max_size=20),
    st.lists(
        st.sampled_from(
            [
                "a",
                "\r\n",
                "\r",
                "\n",
                "&#13;",
                "&amp;#13;",
                "\\# b",
                "# b",
                "---",
                "\x85",
                "\u2028",
                "  ",
            ]
        )
    ).map("".join),
).filter(lambda text: bool(text.strip()))


def back(kind: Format, text: str) -> str:
    """Return a text after it was written to a file of its own and read again."""
    memory = Memory(
        "LRN-1", text, NOW, NOW, summary="s", category="c", section="S", observation_type="error"
    )
    parsed = Parsed(memories=(memory,))
    if kind.holds == "playbook":
        parsed = Parsed(playbooks=(dated(playbook_of([memory]), NOW),))
    again = format_named(kind.reader).read(kind.write(parsed, None), context("notes.md"))
    found = [m.content for m in again.memories] + [
        b.content for book in again.playbooks for b in book.bullets
    ]
    assert len(found) == 1
    return found[0]


def said_lines(text: str) -> list[str]:
    """Return the lines that say something; how they end tells nothing."""
    return [line.rstrip("\r") for line in text.split("\n") if line.strip()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name not in MARKDOWN | {"ace"}], ids=lambda k: k.name
)
@given(text=TEXTS)
@example(text="0\r\n")
@example(text="a\x85b\u2028c\rd\n\ne")
def test_any_text_comes_back_from_what_holds_any(kind: Format, text: str) -> None:
    found = back(kind, text)
    if kind.name == "cass":  # a block of YAML ends with a line feed that nobody wrote
        assert found == text.rstrip("\n")
    elif kind.name == "mcp-memory":  # observations are lines, none of them is blank
        assert said_lines(found) == said_lines(text)
    else:
        assert found == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name in MARKDOWN], ids=lambda k: k.name
)
@given(text=TEXTS)
@example(text="a\r\r\nb")
@example(text="\\# a")
@example(text="a\n---")
@example(text="a\u2028")
def test_a_text_within_markdown_loses_nothing_but_line_ends(kind: Format, text: str) -> None:
    assume(text.strip(BLANKS).strip())
    assume(
        kind.name == "learnings" or not re.search("[`~<]", text)
    )  # fences are closed, comments are shown
    assert back(kind, text) == re.sub(r"\r+\n", "\n", text.strip(BLANKS))


@given(text=TEXTS)
def test_a_line_of_a_playbook_says_the_same_the_second_time(text: str) -> None:
    (ace,) = (kind for kind in KINDS if kind.name == "ace")
    once = back(ace, text)
    assert back(ace, once) == once
