"""Records back into somebody's notes: only the lines change that say something else."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.formats.samples import NOW, context
from workbench.core.stream.memory import Memory
from workbench.formats.notes import entries_of, read_note
from workbench.formats.update_file import (
    LONGEST,
    Stored,
    Unplaced,
    differing,
    has_front,
    merge_lines,
    weave,
    with_facts,
)

HERE = replace(context(), path="/home/ann/shop/vault/x.md")
NOTE = "---\ntitle: Coffee # ours\ntags:\n  - a\n  - 'b'\nkey: [1,  2]\n---\n\n# Coffee\n\nGrind.  \nBrew.\n\n\nServe."
DAY = "# 2026-05-01\n\n## Morning\n- fixed CI\n\n## Evening\nslept\n\n## Evening\nagain\n"
ITEMS = "- one\n-   two\n    more\n\n    last\n\nA paragraph\nof two lines.\n"


def woven(
    text: str, name: str, change: dict[str, Memory], gone: frozenset[str] = frozenset()
) -> str:
    """Put changed records into a note."""
    return weave(text, HERE, name, Stored(change, gone))


def edited(text: str, name: str, at: int = 0, **fields: object) -> str:
    """Change fields of one record of a note."""
    memory = read_note(text, HERE, name).memories[at]
    return woven(text, name, {memory.id: replace(memory, **fields)})  # type: ignore[arg-type]


def test_one_line_of_a_text_changes_one_line() -> None:
    content = read_note(NOTE, HERE, "n.md").memories[0].content
    assert edited(NOTE, "n.md", content=content.replace("Brew.", "Steep.")) == NOTE.replace(
        "Brew.", "Steep."
    )
    crlf = NOTE.replace("\n", "\r\n")
    assert edited(crlf, "n.md", content=content.replace("Brew.", "Steep.\nWait.")) == crlf.replace(
        "Brew.", "Steep.\r\nWait."
    )


def test_front_matter_changes_by_its_lines() -> None:
    assert edited(NOTE, "n.md", helpful_votes=2) == NOTE.replace("2]\n", "2]\nhelpful: 2\n")
    assert edited(NOTE, "n.md", summary="Tea: black") == NOTE.replace(
        "Coffee # ours", '"Tea: black" # ours', 1
    )
    assert edited(NOTE, "n.md", tags=("b", "c")) == NOTE.replace(
        "  - a\n  - 'b'\n", "  - 'b'\n  - c\n"
    )
    assert edited(NOTE, "n.md", category="guide") == NOTE.replace("2]\n", '2]\ntype: "guide"\n')
    inline = "---\ntags: [a, b]\n---\nText\n"
    assert edited(inline, "n.md", tags=("a", "c")) == "---\ntags: [a, c]\n---\nText\n"
    assert (
        edited("---\ntags: a, b\n---\nText\n", "n.md", tags=("a", "c"))
        == '---\ntags: "a, c"\n---\nText\n'
    )
    again = read_note(
        edited(NOTE, "n.md", helpful_votes=2, harmful_votes=1), HERE, "n.md"
    ).memories[0]
    assert (again.helpful_count, again.harmful_count, "helpful" in again.metadata) == (2, 1, False)


def test_front_matter_is_made_where_it_is_asked_for() -> None:
    for text in ("# A\n\nText\n", "\ufeff# A\r\n\r\nText\r\n", "A"):
        (memory,) = read_note(text, HERE, "n.md").memories
        after = replace(memory, helpful_votes=2, tags=("x: y", "z"), summary="B")
        made = weave(text, HERE, "n.md", Stored({memory.id: after}, makes_front=True))
        assert made.endswith(text.lstrip("\ufeff"))
        assert made.startswith("\ufeff---\r\n" if "\r" in text else "---\n")
        (again,) = read_note(made, HERE, "n.md").memories
        assert (again.content, again.helpful_count, again.tags, again.summary) == (
            memory.content,
            2,
            after.tags,
            "B",
        )
        assert weave(made, HERE, "n.md", Stored({again.id: again}, makes_front=True)) == made
    for text in ("---\n- a\n---\nText\n", "---\na: [\n---\nText\n"):
        (memory,) = read_note(text, HERE, "n.md").memories
        assert (
            weave(
                text,
                HERE,
                "n.md",
                Stored({memory.id: replace(memory, summary="B")}, makes_front=True),
            )
            == text
        )


def test_what_a_note_has_no_place_for_stays_out() -> None:
    assert (
        edited("# A\n\nText\n", "n.md", helpful_votes=1, tags=("x",), summary="B")
        == "# A\n\nText\n"
    )
    assert not has_front("---\n- a\n---\nText\n")
    assert not has_front("---\na: [\n---\nText\n")
    for text in ("Text\n", "---\n- a\n---\n", "---\na: [\n---\n"):
        with pytest.raises(Unplaced):
            with_facts(text, {"a": 1})


def test_entries_of_a_day() -> None:
    assert edited(DAY, "2026-05-01.md", content="Early\n\n- fixed CI\n- wrote docs") == DAY.replace(
        "## Morning\n- fixed CI\n", "## Early\n- fixed CI\n- wrote docs\n"
    )
    first, second = (
        m for m in read_note(DAY, HERE, "2026-05-01.md").memories if m.summary == "Evening"
    )
    assert first.id != second.id
    gone = woven(DAY, "2026-05-01.md", {}, frozenset({first.id}))
    assert gone == DAY.replace("## Evening\nslept\n\n", "")
    assert edited(DAY, "2026-05-01.md", 1, content="Evening") == DAY.replace(
        "Evening\nslept\n", "Evening\n"
    )
    assert edited("## A\n", "2026-05-01.md", content="A\n\nsaid") == "## A\n\nsaid\n"


def test_items_of_a_day() -> None:
    assert edited(ITEMS, "2026-05-01.md", 1, content="2\nmore\nof it\n\nlast") == ITEMS.replace(
        "-   two\n    more\n", "-   2\n    more\n    of it\n"
    )
    assert edited(ITEMS, "2026-05-01.md", 2, content="A paragraph\nof 2 lines.") == ITEMS.replace(
        "two lines", "2 lines"
    )
    one, _, last = read_note(ITEMS, HERE, "2026-05-01.md").memories
    assert woven(ITEMS, "2026-05-01.md", {}, frozenset({one.id})) == ITEMS.removeprefix("- one\n")
    assert woven(ITEMS, "2026-05-01.md", {}, frozenset({last.id})) == ITEMS[: ITEMS.index("A para")]


def test_lines_that_are_not_those_that_were_read_are_left() -> None:
    with pytest.raises(Unplaced):
        merge_lines("a\nb", "a\nc", "x", "\n")
    with pytest.raises(Unplaced):
        merge_lines("a", "a\nc", "x", "\n")
    long = "\n".join(f"line {n}  " for n in range(LONGEST))
    old = "\n".join(f"line {n}" for n in range(LONGEST))
    new = old.replace("line 7\n", "seven\n").replace(f"line {LONGEST - 2}\n", "")
    changed = merge_lines(long, old, new, "\n").split("\n")
    assert [line.rstrip() for line in changed] == new.split("\n")
    assert (changed[6], changed[-1]) == ("line 6  ", f"line {LONGEST - 1}  ")


pieces = st.sampled_from(
    ["---\n", "title: x\n", "tags: [a, b]\n", "tags:\n", "  - c\n", "# H\n", "## S\n", "- item\n", "  more\n", "1. x\n",
     "```\n", "text\n", "  text  \n", "\n", "\r\n", "\ufeff", "\x00", "helpful: 3\n", "a\u2028b\n", "é\r\n"]
)  # fmt: skip
texts = st.lists(pieces, max_size=15).map("".join)
words = st.text(st.sampled_from("ab \n-#é`"), min_size=1, max_size=20)


@pytest.mark.slow
@given(texts, st.sampled_from(["n.md", "2026-01-02.md"]), words, st.integers(0, 5))
@settings(max_examples=300, deadline=None)
def test_any_note_keeps_what_did_not_change(text: str, name: str, new: str, at: int) -> None:
    memories = read_note(text, HERE, name, NOW).memories
    assert woven(text, name, {m.id: m for m in memories}) == text
    assume(len(memories) > at and new.strip())
    try:
        after = edited(text, name, at, content=new.strip())
    except Unplaced:
        return
    # What says the same twice is one record, and both change.
    said = list[str]()
    for _, read in entries_of(text, HERE, name, NOW):
        with suppress(ValueError):
            said.append(read()[0].content)
    before, lines = (
        Counter(line for line in side.split("\n") if line.strip()) for side in (text, after)
    )
    lost = before - lines
    assert lost.total() <= (memories[at].content.count("\n") + 1) * said.count(memories[at].content)


def test_in_what_records_differ() -> None:
    memory = read_note(NOTE, HERE, "n.md").memories[0]
    assert differing(memory, memory) == ()
    other = replace(memory, content="x", summary="y", category="z", tags=(), helpful_votes=1)
    assert differing(memory, other) == ("text", "title", "type", "tags", "votes")
