"""Opening files: every way a file cannot be read is one sentence, and detection picks the right
reader.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.formats.samples import GENAGENTS, context
from workbench.core.files.format import Format
from workbench.core.files.formats import detect, format_named, known_formats
from workbench.core.record import UnreadableFile
from workbench.formats.exports import OUTLETS
from workbench.formats.opening import read_file, read_text

ENTRY = '{"id": "a", "timestamp": "2026-02-11T10:23:00Z", "type": "gotcha", "context": "c"}\n'


@pytest.mark.parametrize("text", [ENTRY, "{broken\n" + ENTRY, "\ufeff" + ENTRY])
def test_a_file_is_read_whole_with_its_digest(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8", newline="")
    parsed = read_file(path, context=context(str(path)))
    assert (parsed.format, parsed.records_read) == ("lifecycle", 1)
    assert parsed.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_text(path) == text
    assert [found.format for found in detect(path, text)] == ["lifecycle"]
    assert all(issue.file == str(path) for issue in parsed.issues)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \r\n\n", "is empty"),
        (b"\xef\xbb\xbf\n", "is empty"),
        (b"abc\xffdef" + b"\xff" * 9, "byte 0xff at offset 3"),
        (b"\x89PNG\r\n\x1a\n\0\0", "it is a PNG image"),
        (b"words\xff\0", "it is a binary file"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"hello there\n", "no known format"),
        (b"# Notes\n\n## Ideas\n- one\n", "no known format"),
        (b'{"type":"entity"}\n', "no known format"),
        (b"SQLite format 3\0" + bytes(range(256)), "no known format"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile, match=words) as caught:
        read_file(path, context=context())
    assert caught.value.hint


def test_names_that_are_no_files(tmp_path: Path) -> None:
    for name, said in (
        (tmp_path / "missing", r"/missing\."), (tmp_path, "is a folder"), ("a\0b", "not found"),
        (tmp_path / ("x" * 5000), "cannot be opened"), ("/dev/null", "not a regular file"),
    ):  # fmt: skip
        with pytest.raises(UnreadableFile, match=said):
            read_file(name, context=context())


def test_a_file_that_would_fill_the_memory_is_refused_unread(tmp_path: Path) -> None:
    """Its bytes are a hole: to read them would take three GiB."""
    with (tmp_path / "notes.jsonl").open("wb") as file:
        file.truncate(3 << 30)
    for format in (None, "ace"):
        with pytest.raises(
            UnreadableFile, match=r"has 3,221,225,472 bytes, more than the 1,073,741,824"
        ):
            read_file(tmp_path / "notes.jsonl", format=format, context=context())


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    parsed = read_file(path, format="ace", context=context())
    assert parsed.playbooks[0].bullets == ()
    assert [issue.records for issue in parsed.issues] == [0]
    with pytest.raises(UnreadableFile, match="“word”"):
        read_file(path, format="word", context=context())


def test_the_agent_is_told_from_the_whole_path(tmp_path: Path) -> None:
    folder = tmp_path / "Ann" / "memory_stream"
    folder.mkdir(parents=True)
    (folder / "nodes.json").write_text(GENAGENTS)
    ids = {m.id for m in read_file(folder / "nodes.json", context=context("nodes.json")).memories}
    assert ids == {"ga-ann-0", "ga-ann-2", "ga-ann-3"}
    named = read_file(folder / "nodes.json", context=replace(context(), agent="Bo B."))
    assert named.memories[0].id == "ga-bo-b-0"


def test_formats_have_distinct_names_and_say_what_they_write() -> None:
    names = [known.name for known in known_formats()]
    assert len(set(names)) == len(names)
    streams_and_databases = {
        "genagents",
        "generative-agents",
        "beads",
        "mem0",
        "claude-mem",
        "claude-mem-db",
    }
    assert not streams_and_databases & {known.name for known in known_formats() if known.writes}
    assert format_named("ace").title


@pytest.mark.parametrize("export_format", [known for known in OUTLETS if known.reader])
def test_a_format_is_read_under_the_name_it_is_written_by(export_format: Format) -> None:
    assert format_named(export_format.name).name == export_format.reader
