"""What a document says of itself: sections with their tokens, front matter in every spelling,
citations.
"""

import pytest

from workbench.core.agents.document import (
    HEADINGS,
    DocumentSection,
    citation,
    overview_template,
    sections,
)
from workbench.core.files.memory_md import facts_of
from workbench.core.tokens import tokens_of

TEXT = "above\n\n# One\ntext\n```\n# code\n```\n## Two\n\nmore\n"


def test_sections_go_from_heading_to_heading() -> None:
    assert [(s.title, s.level, s.line, s.end) for s in sections(TEXT)] == [
        ("", 0, 1, 2),
        ("One", 1, 3, 7),
        ("Two", 2, 8, 10),
    ]
    assert sum(s.tokens for s in sections(TEXT)) >= tokens_of(TEXT)


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_text_has_no_sections(text: str) -> None:
    assert sections(text) == ()


def test_a_text_without_headings_is_one_section() -> None:
    assert sections("a\nb") == (DocumentSection("", 0, 1, 2, tokens_of("a\nb")),)
    assert [s.title for s in sections("#tag\n# \n####### seven\n")] == ["", ""]


@pytest.mark.parametrize(
    "text",
    [
        "---\ncreated: 2024\nkeywords: [a]\n---\n# T\n",
        "# T\n\n<!--\nMETA:\ncreated: 2024\nkeywords: [a]\n-->\n",
        "# T\n\n<!--\nMETA:\n- created: 2024\n- keywords: [a]\n-->\n",
        "---\r\ncreated: 2024\r\nkeywords: [a]\r\n---\r\n",
    ],
)
def test_what_it_says_of_itself_is_read_in_every_spelling(text: str) -> None:
    assert facts_of(text) == {"created": "2024", "keywords": "[a]"}


def test_a_new_overview_has_its_headings_and_a_line_is_cited() -> None:
    assert tuple(s.title for s in sections(overview_template()) if s.level == 2) == HEADINGS
    assert citation("detail/auth-design.md", 10) == "detail/auth-design.md#L10"
