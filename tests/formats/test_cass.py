"""cass playbooks: what a bullet becomes, and what each change does to the YAML."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.formats.diffing import after, changed_lines, grown, without
from tests.formats.others import CASS
from tests.formats.samples import context
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidRecord, UnreadableFile
from workbench.formats.cass import read, write

PARSED = read(CASS, context("x/playbook.yaml"))
(BOOK,) = PARSED.playbooks


def test_bullets() -> None:
    first, second, third = BOOK.bullets
    assert [s.title for s in BOOK.sections] == ["testing", "style"]
    assert (first.id, first.section, first.helpful_count, first.pinned) == (
        "b-1",
        "testing",
        2,
        False,
    )
    assert (first.metadata["tags"], first.metadata["scope"]) == (["tests", "workflow"], "global")
    assert (second.content, second.pinned, second.created_at) == (
        "Keep functions short.\nName things.",
        True,
        None,
    )
    assert (third.section, third.state) == ("testing", "deprecated")
    assert not PARSED.issues
    assert not PARSED.mappings


@pytest.mark.parametrize(
    ("name", "values", "lines"),
    [
        ("b-1", {"helpful_votes": 1}, ["-    helpfulCount: 2", "+    helpfulCount: 3"]),
        ("b-2", {"helpful_votes": 1}, ["-    helpfulCount: 1   # votes", "+    helpfulCount: 2   # votes"]),
        ("b-2", {"section": "testing"}, ["-    category: style", "+    category: testing"]),
        ("b-2", {"content": "Keep\n\nit: short."},
         ["-      Keep functions short.", "-      Name things.", "+      Keep", "+", "+      it: short."]),
        ("b-2", {"content": " indented"},
         ["-    content: |", "-      Keep functions short.", "-      Name things.", '+    content: " indented"']),
        ("b-2", {"harmful_votes": 2}, ["+    harmfulCount: 2"]),
        ("b-3", {"content": "a \"b\" \u2028 \x85"},
         ['-  - {id: b-3, category: testing, content: "No sleeps", deprecated: true, helpfulCount: 0}',
          r'+  - {id: b-3, category: testing, content: "a \"b\" \u2028 \u0085", deprecated: true, helpfulCount: 0}']),
        ("b-3", {"pinned": True},
         ['-  - {id: b-3, category: testing, content: "No sleeps", deprecated: true, helpfulCount: 0}',
          '+  - {id: b-3, category: testing, content: "No sleeps", deprecated: true, helpfulCount: 0, pinned: true}']),
    ],
)  # fmt: skip
def test_a_change_touches_its_value_only(
    name: str, values: dict[str, object], lines: list[str]
) -> None:
    assert changed_lines(CASS, after(PARSED, CASS, name, **values)) == lines
    windows = CASS.replace("\n", "\r\n")
    assert after(read(windows, context()), windows, name, **values) == after(
        PARSED, CASS, name, **values
    ).replace("\n", "\r\n")


def test_deprecating_says_so_as_the_tool_does() -> None:
    text = after(PARSED, CASS, "b-1", state="deprecated")
    assert changed_lines(CASS, text) == [
        '-    state: "active"', '-    maturity: "established"', '+    state: "retired"', '+    maturity: "deprecated"',
        "+    deprecated: true",
    ]  # fmt: skip


def test_removing_takes_the_lines_of_the_item() -> None:
    assert changed_lines(CASS, without(PARSED, CASS, "b-2")) == [
        "-  - id: 'b-2'", "-    category: style", "-    content: |", "-      Keep functions short.",
        "-      Name things.", "-    helpfulCount: 1   # votes", "-    maturity: candidate", "-    pinned: true",
    ]  # fmt: skip
    assert without(PARSED, CASS, "b-3") == CASS[: CASS.index("  - {id: b-3")]
    assert without(PARSED, CASS, "b-1", "b-2", "b-3").endswith("bullets: []\n")
    tail = "bullets:\n- {id: a, content: x}\n- {id: b, content: y}\n- {id: c, content: z}"
    assert (
        without(read(tail, context()), tail, "c")
        == "bullets:\n- {id: a, content: x}\n- {id: b, content: y}"
    )
    assert (
        without(read(tail, context()), tail, "b", "c").rstrip() == "bullets:\n- {id: a, content: x}"
    )


def test_adding_to_every_kind_of_list() -> None:
    new = Bullet("b-9", "testing", "yes", order=9)
    text = grown(PARSED, CASS, new)
    added = [line for line in changed_lines(CASS, text) if line.startswith("+")]
    assert added[:4] == [
        '+  - id: "b-9"',
        '+    scope: "global"',
        '+    category: "testing"',
        '+    content: "yes"',
    ]
    assert len(added) == len(changed_lines(CASS, text))
    for empty in ("bullets: []\nz: 1\n", "bullets:\nz: 1\n", "bullets: [{id: a, content: b, category: testing}]\n",
                  "bullets:\n- id: a\n  content: b\n  category: testing"):  # fmt: skip
        again = read(grown(read(empty, context()), empty, new), context())
        assert again.playbooks[0].bullets[-1].content == "yes"
        assert again.records_in == empty.count("id:") + 1


def test_flow_lists_lose_and_gain_items() -> None:
    text = "bullets: [{id: a, content: b}, {id: c, content: d}] # x\n"
    assert without(read(text, context()), text, "a") == "bullets: [{id: c, content: d}] # x\n"


def test_a_value_behind_an_alias_is_changed_where_it_is_used() -> None:
    text = (
        "x: &cat testing\nbullets:\n  - {id: a, category: *cat, content: b}\n"
        "  - id: d\n    content: e\n    category: *cat\n"
    )
    parsed = read(text, context())
    assert [s.title for s in parsed.playbooks[0].sections] == ["testing"]
    changed = after(parsed, text, "d", section="other")
    assert changed_lines(text, changed) == ["-    category: *cat", '+    category: "other"']


def test_a_change_that_cannot_be_fitted_in_is_refused() -> None:
    text = "bullets:\n  - id: a\n    content: &c b\n  - id: d\n    content: *c\n"
    with pytest.raises(InvalidRecord, match="cannot be fitted"):
        after(read(text, context()), text, "a", content="new")


def test_values_of_other_kinds() -> None:
    text = (
        "bullets:\n  - {id: 7, content: 'x', helpfulCount: many, createdAt: 2025-01-01T00:00:00Z, n: 0x1F, f: .inf}\n"
        "  - {content: x2, extra: ~, yes: no}\n  - {id: 7, content: y}\n  - text\n  - {id: z}\n  - {content: 5}\n"
    )
    parsed = read(text, context("p.yaml"))
    first, second = parsed.playbooks[0].bullets
    assert (first.id, first.helpful_count, first.metadata["n"], first.metadata["f"]) == (
        "7",
        0,
        "0x1F",
        ".inf",
    )
    assert first.created_at is not None
    assert second.id.startswith("b-x2-")
    assert (second.metadata["extra"], second.metadata["yes"]) == (None, "no")
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (4, 1),
        (5, 1),
        (6, 1),
        (7, 1),
    ]
    assert write(parsed, text) == text


def test_a_damaged_file_gives_the_bullets_above_the_damage() -> None:
    text = CASS.replace("    maturity: candidate\n", "    maturity: [candidate\n")
    parsed = read(text, context("p.yaml"))
    assert [b.id for b in parsed.playbooks[0].bullets] == ["b-1"]
    assert parsed.issues[0].records == 1
    assert write(parsed, text) == text
    changed = after(parsed, text, "b-1", content="New")
    assert changed == text.replace("Run the tests before a commit", "New")


def test_deprecated_patterns_are_counted() -> None:
    text = CASS.replace(
        "deprecatedPatterns: []", "deprecatedPatterns:\n  - pattern: x\n  - pattern: y"
    )
    parsed = read(text, context())
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(7, 2)]
    assert parsed.records_in == 5


@pytest.mark.parametrize(
    "text",
    ["", "bullets", "bullets: 3", "a: b", "bullets: [", "- a\n- b", "bullets:\n\t- x", "{" * 5000, "%YAML 9\n---\na: b",
     "a: &a [*a, *a]\n", "bullets: \x00", '"\\x"', "? [a]\n: b", "!!python/object:os.system {}"],
)  # fmt: skip
def test_what_is_no_playbook_cannot_be_read(text: str) -> None:
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read(text, context())


@pytest.mark.slow
def test_aliases_that_grow_without_end_are_skipped() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    text = (
        bomb
        + "bullets:\n  - {id: a, content: b, x: *a8}\n  - &l {id: c, content: d, x: *l}\n  - {id: e, content: f}\n"
    )
    parsed = read(text, context())
    assert [b.id for b in parsed.playbooks[0].bullets] == ["e"]
    assert [issue.records for issue in parsed.issues] == [1, 1]


words = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\x85"), max_size=30
)


@pytest.mark.slow
@example("ends with a line end\n", "b-1")
@given(words.filter(lambda text: text.strip()), st.sampled_from(["b-1", "b-2", "b-3"]))
@settings(max_examples=30, deadline=None)
def test_any_text_is_read_back(content: str, name: str) -> None:
    again = read(after(PARSED, CASS, name, content=content), context())
    assert next(b.content for b in again.playbooks[0].bullets if b.id == name) == content.rstrip(
        "\n"
    )
