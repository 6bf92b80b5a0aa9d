"""Lines of a large file."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.retrieval.fulltext.large_file import Lines, Place, lines_with, needles

PIECES = (
    "jwt",
    "JWT token",
    "caf\u00e9",
    "CAF\u00c9",
    "{",
    '"',
    "\r",
    "\x00",
    "\xff",
    "x" * 40,
    "\n",
    "\n\n",
    "K",
    "\u212a",
)


def by_lines(data: bytes, wanted: tuple[bytes, ...]) -> list[Place]:
    """Return the answer as anyone would read it."""
    found, start = [], 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if any(one in line.lower() for one in wanted):
            found.append(Place(number, start))
        start += len(line) + 1
    return found


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(PIECES), max_size=60),
    st.sampled_from(("jwt", "jwt token", "caf\u00e9", "k", '"')),
)
def test_it_is_what_reading_every_line_gives(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], query: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    data = "".join(pieces).encode("utf-8")
    path.write_bytes(data)
    wanted = needles(query)
    expected = by_lines(data, wanted)
    assert lines_with(path, wanted, 10_000) == Lines(len(expected), tuple(expected))


def test_the_last_ones_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(f"line {number}\n" for number in range(1, 51)))
    found = lines_with(path, needles("LINE"), 2)
    assert found == Lines(50, (Place(49, found.last[0].start), Place(50, found.last[1].start)))
    assert path.read_bytes()[found.last[0].start :].startswith(b"line 49")


def test_json_writes_a_text_in_several_ways_and_all_are_looked_for(tmp_path: Path) -> None:
    text = 'a "caf\u00e9" / bar'
    rows = [json.dumps({"content": text}), json.dumps({"content": text}, ensure_ascii=False)]
    rows.append(rows[0].replace("/", "\\/"))
    rows.append(json.dumps({"content": text.upper()}))
    path = tmp_path / "messages.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert [place.number for place in lines_with(path, needles(text), 10).last] == [1, 2, 3, 4]


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lines_with(tmp_path / "gone", needles("two"), 10)
