"""MEMORY.md: the cut, links to nothing, topic files nobody names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.files.lint import LintFinding
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, cut_at, measure
from workbench.formats.lint import OLDER, lint_memory_index

FILES = {"auth.md": "# Auth\n", "deploy-notes.md": "no heading\n"}
INDEX = "# Memory\n\n- [Auth](auth.md) — how logins work\n- [Deploy](deploy-notes.md) — the steps\n"


def found(text: str, files: dict[str, str] = FILES) -> list[LintFinding]:
    return lint_memory_index(text, "MEMORY.md", files.get, files)


def test_a_clean_index() -> None:
    assert found(INDEX) == []


def test_a_link_to_nothing_is_removed() -> None:
    (one,) = found(INDEX, {"auth.md": ""})
    assert (one.rule, one.line) == ("broken-link", 4)
    assert one.fix
    assert one.fix.applied(INDEX) == INDEX.rpartition("- [Deploy]")[0]


def test_a_topic_file_nobody_names_gets_a_line() -> None:
    text = INDEX.rpartition("- [Deploy]")[0].rstrip("\n")
    (one,) = found(text)
    assert one.rule == "unindexed"
    assert one.fix
    assert one.fix.applied(text) == f"{text}\n- [deploy notes](deploy-notes.md)\n"
    assert found(one.fix.applied(text)) == []


@pytest.mark.slow
@given(st.integers(195, 230), st.integers(1, 400), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_below_the_cut_moves_to_a_topic_file(
    count: int, width: int, newline: str, final: bool
) -> None:
    lines = [f"- entry {n} " + "ä" * (width // 2) for n in range(count)]
    text = newline.join(lines) + (newline if final else "")
    whole = count <= MAX_LINES and len(text.rstrip("\r\n").encode()) <= MAX_BYTES
    assert (cut_at(text) is None) == whole
    over = [f for f in found(text, {}) if f.rule == "over-cap"]
    assert bool(over) != whole
    for one in over:
        assert one.fix
        after, ((name, older),) = one.fix.applied(text), one.fix.beside
        assert name == OLDER
        assert cut_at(after) is None
        assert all(line in after or line in older for line in lines)
        assert found(after, {OLDER: older}) == []


def test_older_memories_are_added_to() -> None:
    text = "".join(f"- entry {n}\n" for n in range(210))
    (one,) = lint_memory_index(text, "MEMORY.md", {OLDER: "# Older memories\n\nkept"}.get, [])
    assert one.fix
    assert one.fix.beside[0][1].startswith("# Older memories\n\nkept\n- entry 199\n")


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_line_is_measured_with_its_end(start: str, newline: str) -> None:
    text = start + newline.join(f"line {n} ü" for n in range(1, 203)) + newline
    cut = measure(text)
    size = 0
    for line, exact in zip(cut.lines, text.removeprefix(start).split(newline), strict=False):
        size += len((exact + newline).encode())
        assert (line.text, line.bytes) == (exact, size + len(start.encode()))
        assert line.loaded == (line.number <= 200)
    assert (cut.bytes, cut.limit) == (len(text.encode()), "line 200")
    assert [line.number for line in cut.below] == [201, 202]


def test_a_line_that_is_cut_within_is_not_loaded_whole() -> None:
    cut = measure("a" * 24_998 + "\nbcd\n\n")
    assert (cut.limit, [line.text for line in cut.below]) == ("byte 25,000", ["bcd"])
    assert measure("a\n" * 200).below == ()
    assert (measure("").bytes, measure("").below) == (0, ())
