import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.helpers import append, clock, failing, lines, open_journal, put
from workbench.core.record import StoreProblem
from workbench.store import files
from workbench.store.journal import segments
from workbench.store.journal.codec import seal
from workbench.store.journal.segments import Position


@settings(max_examples=40)
@given(
    st.lists(st.binary(max_size=90_000).map(lambda b: b.replace(b"\n", b" ")), max_size=6),
    st.booleans(),
)
def test_lines_backward_are_the_lines_forward(parts: list[bytes], ended: bool) -> None:
    import io

    data = b"\n".join(parts) + (b"\n" if ended and parts else b"")
    expected = data.split(b"\n")
    if data.endswith(b"\n") or not data:
        expected.pop()
    assert list(segments.lines_back(io.BytesIO(data))) == expected[::-1]


def test_reading_back_reads_no_more_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes((b"x" * 99 + b"\n") * 100_000)
    with path.open("rb", buffering=0) as handle:
        walk = segments.lines_back(handle)
        next(walk)
        assert handle.tell() > 9_900_000


def test_a_segment_is_followed_from_any_place(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(seal({"rev": 1}) + seal({"rev": 2}) + b'{"rev":3')
    first, second = segments.read_from(path, Position())
    assert (first.value, second.value) == ({"rev": 1}, {"rev": 2})
    assert [line.value for line in segments.read_from(path, first.after)] == [{"rev": 2}]
    assert list(segments.read_from(path, second.after)) == []
    assert list(segments.read_from(tmp_path / "none", Position())) == []


def test_a_line_that_grows_while_it_is_read_is_left_for_later() -> None:
    one, two = seal({"rev": 1}), seal({"rev": 2})

    class Growing(io.BytesIO):
        """A file whose writer adds the rest of a line right after its beginning was read."""

        parts = iter((one, two[:9], two[9:]))

        def readline(self, size: int | None = -1, /) -> bytes:
            return next(self.parts, b"")

    found = list(segments.read_lines(Growing(), "journal.jsonl", Position()))
    assert [(line.value or {}).get("rev") for line in found] == [1]
    assert found[-1].after == Position(len(one), 1)


def test_damage_names_file_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "j"
    good = seal({"rev": 1})
    path.write_bytes(good + b"rubbish\n" + good)
    damage = [line.damage for line in segments.read_from(path, Position())][1]
    assert str(damage) == f"j:2: byte {len(good)}: it has no checksum at its end"


@pytest.mark.parametrize("content", [b"", b"complete\n"])
def test_a_whole_tail_is_not_cut(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "j"
    assert segments.mend_tail(path) == b""
    path.write_bytes(content)
    assert segments.mend_tail(path) == b""
    assert path.read_bytes() == content


def test_a_torn_tail_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b"complete\n" + b"t" * 200_000)
    assert len(segments.mend_tail(path)) == 200_000
    assert path.read_bytes() == b"complete\n"


def test_a_packed_segment_that_breaks_off_is_damage(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(seal({"rev": n}) for n in range(1, 2000)))
    path = tmp_path / "j.gz"
    path.write_bytes(packed[: len(packed) // 2])
    read = list(segments.read_from(path, Position()))
    assert read[-1].damage is not None
    assert "cannot be unpacked" in read[-1].damage.reason
    with files.open_lines(path) as handle:
        assert sum(1 for _ in segments.lines_back(handle)) >= len(read) - 1


def test_a_journal_of_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(
        seal({"journal": "memory-workbench", "schema": segments.SCHEMA + 1, "rev": 0})
    )
    with pytest.raises(StoreProblem, match="newer workbench"):
        open_journal(tmp_path)
    with pytest.raises(StoreProblem, match="newer workbench"):
        append(tmp_path, "hook", "append", clock, lambda block: None)


@pytest.mark.parametrize(
    "content", [b"\x00\x01 rubbish", b"a\nb\nc\n", seal({"rev": 1, "changes": []})]
)
def test_a_file_that_is_no_journal_is_never_taken_for_an_empty_one(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "journal.jsonl").write_bytes(content)
    with pytest.raises(StoreProblem, match="not a workbench journal"):
        open_journal(tmp_path)
    assert (tmp_path / "journal.jsonl").read_bytes() == content


@pytest.mark.parametrize(
    "content", [b"", b'{"journal":"mem', b'{"journal":"memory-workbench","schema":1,"re']
)
def test_a_beginning_that_a_crash_tore_is_begun_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "journal.jsonl").write_bytes(content)
    assert put(open_journal(tmp_path), 1, {"a": 1}) == 1
    assert open_journal(tmp_path).rev == 1


def test_segments_roll_and_are_read_as_one(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "s", segment_bytes=700)
    reader = open_journal(tmp_path / "s", segment_bytes=700)
    for number in range(1, 31):
        put(journal, number, {"id": f"x{number}", "a": number})
        if number in (1, 2, 17, 30):
            assert reader.refresh() == number - reader_rev(reader, number)
    closed = segments.closed(tmp_path / "s")
    assert len(closed) > 3
    assert closed[0].start == 0
    assert [e.rev for e in journal.entries_back()] == list(range(30, 0, -1))
    assert reader.state.tables == journal.state.tables == open_journal(tmp_path / "s").state.tables
    assert not reader.damage


def reader_rev(reader: object, rev: int) -> int:
    return {1: 0, 2: 1, 17: 2, 30: 17}[rev]


def test_a_roll_that_stops_half_way_is_finished_by_the_next_writer(tmp_path: Path) -> None:
    from workbench.store.journal import segments

    journal = open_journal(tmp_path, segment_bytes=500)
    with failing(segments, "put_in_place", OSError(28, "No space left on device")):
        while not segments.closed(tmp_path):
            put(journal, journal.rev + 1, {"a": 1})
    assert journal.notices
    assert not journal.path.exists()
    assert not journal.is_missing, "nobody took it away"
    assert journal.refresh() == 0
    other = open_journal(tmp_path)
    assert other.rev == journal.rev
    put(other, 99, {"a": 1})
    put(journal, 98, {"a": 1})
    assert open_journal(tmp_path).rev == other.rev + 1
    assert not open_journal(tmp_path).damage


def test_a_roll_that_stops_half_way_is_finished_by_who_began_it(tmp_path: Path) -> None:
    from workbench.store.journal import segments

    journal = open_journal(tmp_path, segment_bytes=500)
    with failing(segments, "put_in_place", OSError(28, "No space left on device")):
        while not segments.closed(tmp_path):
            put(journal, journal.rev + 1, {"a": 1})
    before = journal.rev
    put(journal, 99, {"a": 1})
    assert open_journal(tmp_path).rev == journal.rev == before + 1
    assert not open_journal(tmp_path).damage


def test_on_a_full_disk_no_segment_is_closed(tmp_path: Path) -> None:
    from workbench.store.journal import segments

    journal = open_journal(tmp_path, segment_bytes=1200)
    put(journal, 1, {"a": 1})
    with failing(segments, "fill", OSError(28, "No space left on device")):
        for number in range(2, 12):
            put(journal, number, {"id": f"x{number}", "a": number})
    assert journal.notices
    assert segments.closed(tmp_path) == []
    assert journal.path.exists()
    put(journal, 12, {"a": 1})
    assert segments.closed(tmp_path), "it is closed as soon as there is room"
    assert open_journal(tmp_path).rev == journal.rev == 12


def test_looking_for_a_mark_in_lines_back(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    put(journal, 2, {"a": 1})
    assert [e.rev for e in journal.entries_back(b'"id":"2"')] == [2]
    assert len(lines(tmp_path)) == 3
