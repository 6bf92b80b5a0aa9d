"""Exporting a playbook: where it goes, what is said before, what is written."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.config.paths import shipped
from workbench.core.record import Conflict, WorkbenchError
from workbench.services.files.exporting import DEFAULT_NAME
from workbench.services.open import Workbench, open_workbench

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BARE = "## RULES\n[shr-00001] Look before you leap.\n\n[shr-00002] Write small steps.\n## EMPTY\n"
BOOK = "trained"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    bench = open_workbench(
        tmp_path / "store",
        profiles=tmp_path / "profiles",
        replaced=tmp_path / "replaced",
        clock=lambda: NOW,
    )
    yield bench
    bench.close()


@pytest.fixture
def source(tmp_path: Path, bench: Workbench) -> Path:
    path = tmp_path / "trained.txt"
    path.write_bytes(BARE.encode())
    bench.importer.carry_out(bench.importer.plan(path))
    return path


def changes(bench: Workbench, path: Path) -> list[str]:
    return [
        line
        for line in bench.exporter.preview(path, bench.exporter.ace(BOOK)[0]).diff()
        if line[0] in "+-"
    ][2:]


def test_it_goes_back_where_it_came_from(bench: Workbench, source: Path) -> None:
    assert bench.exporter.target(BOOK) == source
    source.unlink()
    assert bench.exporter.target(BOOK) == Path(DEFAULT_NAME)


def test_a_playbook_of_another_tool_goes_back_in_its_format(bench: Workbench, source: Path) -> None:
    other = source.with_name("rules.yaml")
    other.write_text(
        "bullets:\n  - id: b-1\n    category: testing\n    content: Run it.\n    maturity: candidate\n"
    )
    bench.importer.carry_out(bench.importer.plan(other))
    assert (bench.exporter.format_of(BOOK), bench.exporter.format_of("rules")) == ("ace", "cass")
    assert bench.exporter.target("rules", "cass") == other
    other.unlink()
    assert bench.exporter.format_of("rules") == "ace"


def test_the_shipped_demo_is_never_the_target(bench: Workbench) -> None:
    bench.importer.carry_out(bench.importer.plan(shipped("fixtures/demo") / "playbook.txt"))
    assert bench.exporter.target("playbook") == Path(DEFAULT_NAME)


def test_a_vote_in_the_bare_dialect_changes_nothing_and_is_remarked_upon(
    bench: Workbench, source: Path
) -> None:
    bench.playbooks.vote(BOOK, ["shr-00002"], "helpful")
    text, remarks = bench.exporter.ace(BOOK)
    assert text.encode() == source.read_bytes()
    assert len(remarks) == 1
    assert "1 bullet" in remarks[0]
    counted, none = bench.exporter.ace(BOOK, "counts")
    assert "[shr-00002] helpful=1 harmful=0 :: Write small steps." in counted
    assert none == ()


def test_an_edit_changes_one_line(bench: Workbench, source: Path) -> None:
    bench.playbooks.edit(BOOK, "shr-00001", "Look twice.")
    assert changes(bench, source) == [
        "-[shr-00001] Look before you leap.",
        "+[shr-00001] Look twice.",
    ]


def test_line_breaks_and_deprecated_bullets_are_remarked_upon(
    bench: Workbench, source: Path
) -> None:
    bench.playbooks.edit(BOOK, "shr-00001", "one\ntwo")
    text, remarks = bench.exporter.ace(BOOK)
    assert "one\\ntwo" in text
    assert remarks == ("Line breaks in 1 bullet are written as \\n.",)
    with bench.library.transaction("human", "deprecate") as tx:
        tx.put(replace(bench.playbooks.bullet(BOOK, "shr-00001"), state="deprecated"))
    text, remarks = bench.exporter.ace(BOOK)
    assert "shr-00001" not in text
    assert remarks == ("1 bullet marked deprecated is left out.",)


def test_writing_replaces_the_file_and_keeps_its_mode(bench: Workbench, source: Path) -> None:
    source.chmod(0o640)
    bench.playbooks.edit(BOOK, "shr-00001", "Look twice.")
    text, _ = bench.exporter.ace(BOOK)
    bench.exporter.write(bench.exporter.preview(source, text))
    assert source.read_bytes() == text.encode()
    assert source.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in source.parent.iterdir()) == ["store", "trained.txt"]


def test_a_link_stays_a_link(bench: Workbench, source: Path) -> None:
    link = source.with_name("link.txt")
    link.symlink_to(source)
    bench.exporter.write(bench.exporter.preview(link, "## NEW\n"))
    assert link.is_symlink()
    assert source.read_text() == "## NEW\n"


def test_a_file_changed_meanwhile_is_not_overwritten(bench: Workbench, source: Path) -> None:
    preview = bench.exporter.preview(source, "mine\n")
    source.write_text("theirs\n")
    with pytest.raises(Conflict):
        bench.exporter.write(preview)
    assert source.read_text() == "theirs\n"


def test_what_cannot_be_written_is_said_before(bench: Workbench, source: Path) -> None:
    folder = source.parent
    (folder / "bytes").write_bytes(b"\xff\xfe")
    (folder / "locked").mkdir()
    (folder / "locked").chmod(0o555)
    protected = folder / "protected.txt"
    protected.write_text("x")
    protected.chmod(0o444)
    closed = folder / "closed.txt"
    closed.write_text("x")
    closed.chmod(0)
    os.mkfifo(folder / "pipe")
    cases = {
        folder: "is a folder",
        folder / "none" / "x.txt": "does not exist",
        source / "x.txt": "is a file, not a folder",
        folder / "bytes": "not a text file",
        folder / "locked" / "x.txt": "is read-only",
        protected: "is read-only",
        closed: "cannot be read: its permissions forbid it",
        folder / "pipe": "not an ordinary file",
        folder / ("n" * 300): "cannot be read",
    }
    for path, words in cases.items():
        with pytest.raises(WorkbenchError, match=words):
            bench.exporter.preview(path, "text")


def test_a_folder_that_goes_away_meanwhile_is_an_error_a_person_may_see(
    bench: Workbench, tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    preview = bench.exporter.preview(folder / "x.txt", "text")
    folder.rmdir()
    with pytest.raises(WorkbenchError, match="does not exist"):
        bench.exporter.write(preview)
