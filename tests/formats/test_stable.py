"""What a writer wrote is written again with the same bytes, whatever the records are."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.samples import context
from workbench.core.files.format import Format, Parsed
from workbench.core.files.formats import format_named
from workbench.core.stream.memory import Memory
from workbench.formats.exports import OUTLETS
from workbench.formats.shared.books import playbook_of

AT = datetime(2026, 1, 2, tzinfo=UTC)
WRITERS = {
    kind.name: kind for kind in OUTLETS if kind.reads and kind.holds in ("memories", "playbook")
}
PATHS = {
    "external-overview": "overview.md",
    "external-detail": "detail/notes.md",
    "learnings": "LEARNINGS.md",
}

_LINES = st.sampled_from([
    "plain", "# one", "## Current Task", "### deep", "```", "```python", "~~~", "<!-- META:", "-->", "<!-- note -->",
    "- item", "---", "[x-00001] helpful=1 harmful=0 :: y", "**Status**: done", "", "  indented", "äß中", "a\tb",
    "\\# x", "key: value", "{\"a\": 1}", "## [LRN-20260101-001] x",
])  # fmt: skip
CONTENT = (
    st.lists(_LINES, min_size=1, max_size=6).map("\n".join).filter(lambda text: bool(text.strip()))
)
TITLE = st.sampled_from(
    ["", "Current Task", "Notes", "notes", "A  b", "x\ny", "# hash", "!!!", "Key Decisions"]
)
IDS = st.text(string.ascii_lowercase, min_size=3, max_size=6)


@st.composite
def memories(draw: st.DrawFn) -> tuple[Memory, ...]:
    ids = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    return tuple(
        Memory(
            id,
            draw(CONTENT).strip(),
            AT,
            AT,
            section=draw(TITLE),
            summary=draw(TITLE),
            status="confirmed",
        )
        for id in ids
    )


def parsed_for(kind: Format, given: tuple[Memory, ...]) -> Parsed:
    """Return the records as the kind that a format holds."""
    if kind.holds == "memories":
        return Parsed(kind.name, memories=given)
    return Parsed(kind.name, playbooks=(playbook_of(given),))


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
@given(found=memories())
@settings(max_examples=20, deadline=None)
def test_the_second_export_is_the_first(name: str, found: tuple[Memory, ...]) -> None:
    kind = WRITERS[name]
    parsed = parsed_for(kind, found)
    once = kind.write(parsed, None)
    if name not in ("ace", "lifecycle"):  # these are written anew each time
        assert kind.write(parsed, once) == once
    again = format_named(name).read(once, context(PATHS.get(name, "file")))
    assert kind.write(again, once) == once


@pytest.mark.parametrize("name", ["external-overview", "external-detail"])
@given(found=memories(), fewer=st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_what_goes_leaves_nothing_behind(name: str, found: tuple[Memory, ...], fewer: int) -> None:
    kind = WRITERS[name]
    once = kind.write(parsed_for(kind, found), None)
    left = kind.write(parsed_for(kind, found[fewer:]), once)
    assert kind.write(parsed_for(kind, found[fewer:]), left) == left
    assert left.count("\n## ") <= kind.write(parsed_for(kind, found), None).count("\n## ")
