"""The managed block: found, filled, emptied and taken out without a change anywhere else."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.formats.managed_block import BrokenBlock, find, item, lead_of, render, same, written

BEGIN, END = "<!-- memory-workbench:begin -->", "<!-- memory-workbench:end -->"

LINES = st.sampled_from(
    ["# Title", "- an item", "", "   ", "text", "* other", "> quoted", f"`{BEGIN}` in a sentence", "```x``` inline",
     "```", "~~~~", "    indented", "<!-- note -->", "ünïcode ✓", "---", "\u2028odd\x0b"]
)  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Markdown with any line ends, with or without a last one and a byte order mark."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(draw(st.lists(LINES, max_size=8)))
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", newline]))


ENTRIES = st.lists(
    st.one_of(
        st.text(min_size=1, max_size=60).filter(lambda t: bool(t.strip())),
        st.lists(
            st.sampled_from([BEGIN, END, "```", "~~~ x", "- a", "# b", "", "c", "<!--", "  d"]),
            min_size=1,
        ).map("\n".join),
    ).filter(lambda t: bool(t.strip())),
    min_size=1,
    max_size=4,
)


def whole(text: str) -> bool:
    """Whether a block can stand at the end of a text: no fence is open there."""
    try:
        return bool(written(text, ["- x"], lead_of(text)))
    except BrokenBlock:
        return False


@pytest.mark.slow
@settings(max_examples=150)
@given(texts().filter(whole), ENTRIES)
def test_what_goes_in_is_found_and_comes_out_again_to_the_byte(
    text: str, entries: list[str]
) -> None:
    items = [item(entry) for entry in entries]
    lead = lead_of(text)
    inside = written(text, items, lead)
    assert inside.startswith(text)
    block = find(inside)
    assert block is not None
    assert "\n".join(block.entries) == "\n".join(items)
    assert inside[block.end :] in ("", "\n", "\r\n")
    assert written(inside, [], lead) == text


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# Rules\n\n- be kind\n", "## Learned"),
        ("# Rules\n\n## Deploy\n\n### Friday\n\nnever\n", "## Learned"),
        ("# Build\n\nmake\n\n# Deploy\n\nfly\n", "# Learned"),
        ("Rules\n=====\n\nbe kind\n", "## Learned"),
        ("Build\n=\n\nmake\n\nDeploy\n=\n\nfly\n", "# Learned"),
        ("---\nname: x\n---\n\n- be kind\n", ""),
        ("```\n# a comment\n```\n", ""),
        ("- be kind\n---\n", ""),
        ("", ""),
    ],
)
def test_a_new_block_stands_under_no_heading_of_the_file(text: str, heading: str) -> None:
    inside = written(text, ["- x"], lead_of(text))
    first = f"{heading}\n\n" if heading else ""
    assert inside == f"{text}{chr(10) * lead_of(text)}{BEGIN}\n{first}- x\n{END}\n"
    block = find(inside)
    assert block is not None
    assert block.entries == ("- x",)
    more = written(inside, [*block.items, "- y"])
    assert more == inside.replace("- x\n", "- x\n- y\n")
    assert (
        written(inside, [item for item in block.items if item not in block.entries], lead_of(text))
        == text
    )


def test_a_heading_that_somebody_wrote_into_the_block_stays_when_its_last_entry_goes() -> None:
    text = f"# Rules\n\n{BEGIN}\n## House rules\n\n- x\n{END}\n"
    assert written(text, ["## House rules\n"]) == text.replace("- x\n", "")


@pytest.mark.slow
@settings(max_examples=100)
@given(texts().filter(whole), texts(), ENTRIES, ENTRIES)
def test_only_the_block_changes_wherever_it_stands(
    above: str, below: str, first: list[str], then: list[str]
) -> None:
    above = above if above.endswith("\n") or not above.removeprefix("\ufeff") else above + "\n"
    below = below.removeprefix("\ufeff")
    text = f"{above}{render([item(e) for e in first])}\n{below}"
    block = find(text)
    assert block is not None
    changed = written(text, [item(e) for e in then])
    after = find(changed)
    assert after is not None
    assert (changed[: after.start], changed[after.end :]) == (
        text[: block.start],
        text[block.end :],
    )
    assert written(text, [], 2) == above + below or not below


@example(f"an entry\n{END}")
@example(BEGIN)
@given(
    st.lists(st.one_of(st.text(max_size=40), st.sampled_from([BEGIN, END, "\n", "  "]))).map(
        "".join
    )
)
def test_an_entry_is_one_item_and_no_marker(text: str) -> None:
    shown = item(text)
    assert BEGIN not in shown
    assert END not in shown
    assert all(line[:2] in ("- ", "  ") or line in ("", "-") for line in shown.split("\n"))
    assert sum(line[:1] == "-" for line in shown.split("\n")) == 1


def test_an_entry_with_code_keeps_its_lines_and_closes_its_fence() -> None:
    assert item("Run it:\n```sh\nmake\n```") == "- Run it:\n  ```sh\n  make\n  ```"
    assert item("```sh\nmake") == "-\n  ```sh\n  make\n  ```"
    assert item("a\r\n\r\nb\r") == "- a\n\n  b"
    assert item(f"a {END}") == "- a &lt;!-- memory-workbench:end -->"


@pytest.mark.parametrize(
    ("text", "lead", "expected"),
    [
        ("", 0, f"{BEGIN}\n- x\n{END}\n"),
        ("\ufeff", 0, f"\ufeff{BEGIN}\n- x\n{END}\n"),
        ("a\n", 1, f"a\n\n{BEGIN}\n- x\n{END}\n"),
        ("a\n\n", 0, f"a\n\n{BEGIN}\n- x\n{END}\n"),
        ("a", 2, f"a\n\n{BEGIN}\n- x\n{END}"),
        ("a\r\nb", 2, f"a\r\nb\r\n\r\n{BEGIN}\r\n- x\r\n{END}"),
    ],
)
def test_a_new_block_stands_at_the_end_below_a_blank_line(
    text: str, lead: int, expected: str
) -> None:
    assert lead_of(text) == lead
    assert written(text, ["- x"], lead) == expected
    assert written(expected, [], lead) == text


def test_text_that_was_put_below_the_block_stays_apart_when_it_goes() -> None:
    text = f"a\n\n{BEGIN}\n- x\n{END}\nb\n"
    assert written(text, [], 1) == "a\n\nb\n"
    assert written("a" + f"\n\n{BEGIN}\n- x\n{END}\nb", [], 2) == "a\n\nb"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BEGIN}\n", "begin on line 1."),
        (f"a\n{END}\n", "end on line 2."),
        (f"{END}\n{BEGIN}\n", "end on line 1, begin on line 2."),
        (
            f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n",
            "begin on line 1, begin on line 2, end on line 3, end on line 4.",
        ),
        (
            f"{BEGIN}\n{END}\n\n{BEGIN}\n{END}\n",
            "begin on line 1, end on line 2, begin on line 4, end on line 5.",
        ),
    ],
)
def test_markers_that_are_no_pair_are_named_with_their_lines(text: str, said: str) -> None:
    with pytest.raises(BrokenBlock, match="not one pair") as caught:
        find(text)
    assert said in caught.value.message
    with pytest.raises(BrokenBlock):
        written(text, ["- x"])


def test_markers_in_code_or_in_a_sentence_are_none() -> None:
    text = f"```\n{BEGIN}\n```\n    {END}\nsee {BEGIN}\n~~~\n{END}\n```\n~~~\n"
    assert find(text) is None
    assert written(written(text, ["- x"], 1), [], 1) == text


def test_a_text_that_ends_inside_code_takes_no_block() -> None:
    with pytest.raises(BrokenBlock, match="fence of line 3 is never closed"):
        written("a\n\n```py\ncode\n", ["- x"])


def test_items_of_others_are_kept_apart() -> None:
    block = find(f"{BEGIN}\nA word before.\n\n- one\n  more\n\n- two\n{END}\n")
    assert block is not None
    assert block.items == ("A word before.\n", "- one\n  more\n", "- two")
    assert same(block.items[1], "- one  \n  more")
    assert not same("- one", "- one\n  more")
