from pathlib import Path

import pytest

from tests.store.helpers import failing, open_journal, put
from workbench.core.record import StoreProblem
from workbench.store import history
from workbench.store.journal import segments
from workbench.store.journal.engine import Journal
from workbench.store.maintenance import backup


def long(folder: Path) -> Journal:
    journal = open_journal(folder, segment_bytes=900)
    for number in range(1, 41):
        put(journal, number % 5 + 1, {"id": f"x{number % 5 + 1}", "a": f"text {number}" * 3})
    return journal


def test_closed_segments_are_packed_and_read_as_before(tmp_path: Path) -> None:
    journal = long(tmp_path)
    reader = open_journal(tmp_path)
    before = list(journal.entries_back())
    packed = backup.compact(journal)
    assert len(packed) == len(segments.closed(tmp_path)) > 3
    assert all(
        p.file.exists() and p.after < p.before and p.file.stat().st_mode & 0o777 == 0o600
        for p in packed
    )
    assert not list(tmp_path.glob("journal-*.jsonl"))
    assert list(journal.entries_back()) == before
    assert open_journal(tmp_path).state.tables == journal.state.tables
    assert history.Past(reader).at_revision("t", "x3", 7) == {"id": "x3", "a": "text 7" * 3}
    assert backup.compact(journal) == []
    put(reader, 9, {"id": "x9"})
    assert journal.refresh() == 1
    assert not journal.damage


def test_a_checkpoint_in_a_packed_segment_is_gone_on_from(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, segment_bytes=5000)
    put(journal, 1, {"a": 1})
    journal.save_checkpoint()
    while not segments.closed(tmp_path):
        put(journal, 2, {"a": journal.rev})
    backup.compact(journal)
    other = open_journal(tmp_path)
    assert other.revisions_since_checkpoint == journal.rev - 1
    assert other.state.tables == journal.state.tables


def test_a_full_disk_leaves_every_segment(tmp_path: Path) -> None:
    journal = long(tmp_path)
    before = list(journal.entries_back())
    full = OSError(28, "No space left on device")
    with (
        failing(backup, "write_file", full, after=1),
        pytest.raises(StoreProblem, match="no space left"),
    ):
        backup.compact(journal)
    assert list(journal.entries_back()) == before
    (tmp_path / ".journal-000000000000.jsonl.gz.77.tmp").write_bytes(b"left by a killed process")
    backup.compact(journal)
    assert list(journal.entries_back()) == before
    assert not list(tmp_path.glob(".*tmp"))


def test_a_segment_that_stands_there_twice_is_read_once(tmp_path: Path) -> None:
    journal = long(tmp_path)
    before = list(journal.entries_back())
    plain = segments.closed(tmp_path)[0].path
    data = plain.read_bytes()
    backup.compact(journal)
    plain.write_bytes(data)
    assert list(journal.entries_back()) == before
    assert open_journal(tmp_path).rev == journal.rev
    backup.compact(journal)
    assert not plain.exists()


def test_a_segment_that_is_packed_while_it_is_read(tmp_path: Path) -> None:
    journal = long(tmp_path)
    first = segments.closed(tmp_path)[0]
    backup.compact(journal)
    with segments.open_closed(first) as handle:
        assert handle.readline().startswith(b'{"journal"')
    with segments.open_closed(segments.Segment(0, Path(f"{first.path}.gz"))) as handle:
        assert handle.readline().startswith(b'{"journal"')
