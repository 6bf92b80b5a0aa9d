"""Broken files of every format: an `UnreadableFile` or a result with issues, never another
exception.
"""

import json
import random
from pathlib import Path

import pytest

from tests.formats.broken import SAMPLES, broken
from tests.formats.samples import context
from workbench.core.files.format import Format, Parsed
from workbench.core.files.formats import format_named, known_formats
from workbench.core.files.replacing import bytes_of
from workbench.core.record import UnreadableFile
from workbench.formats.opening import read_file, read_text

BROKEN = [known for known in known_formats() if known.name in SAMPLES]
ROUNDS = 1000


def check(known: Format, parsed: Parsed) -> None:
    """Assert the promises that every result keeps, and that it can be written."""
    assert parsed.records_in == parsed.records_read + sum(issue.records for issue in parsed.issues)
    assert all(issue.line >= 1 and issue.reason for issue in parsed.issues)
    bullets = [bullet.metadata for book in parsed.playbooks for bullet in book.bullets]
    for metadata in (*(memory.metadata for memory in parsed.memories), *bullets):
        json.dumps(dict(metadata)).encode()
    if known.writes:
        known.write(parsed, None).encode()


@pytest.mark.parametrize("known", BROKEN, ids=lambda known: known.name)
@pytest.mark.slow
def test_a_thousand_broken_files(known: Format, tmp_path: Path) -> None:
    dice = random.Random(known.name)
    path, read = tmp_path / "file", 0
    for _ in range(ROUNDS):
        path.write_bytes(broken(SAMPLES[known.name], dice).encode())
        try:
            parsed = read_file(path, format=known.name, context=context())
        except UnreadableFile:
            continue
        read += 1
        check(known, parsed)
        if known.writes:
            original = path.read_bytes().decode()
            assert known.write(parsed, original) == original
    assert read > ROUNDS / 4


@pytest.mark.parametrize("name", SAMPLES)
def test_any_reader_survives_any_other_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(SAMPLES[name])
    for known in known_formats():
        try:
            check(known, read_file(path, format=known.name, context=context()))
        except UnreadableFile:
            continue


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_broken_bytes(name: str, tmp_path: Path) -> None:
    dice, data = random.Random(name), SAMPLES[name].encode()
    path = tmp_path / "file"
    for _ in range(20):
        at = dice.randrange(len(data))
        path.write_bytes(data[:at] + b"\x92" + data[at:])
        known = format_named(name)
        try:
            parsed = read_file(path, format=name, context=context())
        except UnreadableFile:
            continue
        check(known, parsed)
        at_line = data[:at].count(b"\n") + 1
        assert [
            issue.line for issue in parsed.issues if "byte 0x92 is not UTF-8" in issue.reason
        ] == [at_line]
        if known.writes:
            assert bytes_of(known.write(parsed, read_text(path))) == path.read_bytes()
