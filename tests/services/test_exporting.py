"""Exporting: where it goes, what is said before, and that the preview is what is written, never over
somebody else's change.
"""

import os
from pathlib import Path

import pytest

from tests.services.conftest import bring
from workbench.config.paths import shipped
from workbench.core.playbook.book import Dialect
from workbench.core.record import Conflict, UnknownRecord, WorkbenchError
from workbench.formats import ace
from workbench.services.files.exporting import DEFAULT_NAME
from workbench.services.open import Workbench

BARE = "## RULES\n[shr-00001] Look before you leap.\n\n[shr-00002] Write small steps.\n## EMPTY\n"
BOOK = "trained"


@pytest.fixture
def source(tmp_path: Path, bench: Workbench) -> Path:
    path = tmp_path / "trained.txt"
    bring(bench, path, BARE)
    return path


def test_it_goes_back_where_it_came_from(bench: Workbench, source: Path) -> None:
    assert bench.exporter.target(BOOK) == source
    source.unlink()
    assert bench.exporter.target(BOOK) == Path(DEFAULT_NAME)
    bring(bench, shipped("fixtures/demo") / "playbook.txt")
    assert bench.exporter.target("playbook") == Path(DEFAULT_NAME)


def test_a_playbook_of_another_tool_goes_back_in_its_format(bench: Workbench, source: Path) -> None:
    other = source.with_name("rules.yaml")
    bring(
        bench,
        other,
        "bullets:\n  - id: b-1\n    category: testing\n    content: Run it.\n    maturity: candidate\n",
    )
    assert (bench.exporter.format_of(BOOK), bench.exporter.format_of("rules")) == ("ace", "cass")
    assert bench.exporter.target("rules", "cass") == other
    other.unlink()
    assert bench.exporter.format_of("rules") == "ace"


def test_which_playbook_is_meant(bench: Workbench) -> None:
    with pytest.raises(UnknownRecord, match="no playbooks"):
        bench.exporter.the_book(None)
    bench.playbooks.add_section("one", "A")
    assert bench.exporter.the_book(None) == "one"
    bench.playbooks.add_section("two", "A")
    assert bench.exporter.the_book("two") == "two"
    for name, said in ((None, "2 playbooks"), ("three", "playbook three")):
        with pytest.raises(UnknownRecord, match=said):
            bench.exporter.the_book(name)


def as_ace(bench: Workbench, dialect: Dialect | None = None) -> tuple[str, tuple[str, ...]]:
    playbook = bench.playbooks.open(BOOK)
    return ace.write_playbook(playbook, dialect=dialect), tuple(ace.remarks(playbook, dialect))


def test_what_a_dialect_cannot_say_is_remarked_upon(bench: Workbench, source: Path) -> None:
    bench.playbooks.vote(BOOK, ["shr-00002"], "helpful")
    text, remarks = as_ace(bench)
    assert text.encode() == source.read_bytes()
    assert ["1 bullet" in remark for remark in remarks] == [True]
    counted, none = as_ace(bench, "counts")
    assert "[shr-00002] helpful=1 harmful=0 :: Write small steps." in counted
    assert none == ()
    bench.history.undo()
    bench.playbooks.edit(BOOK, "shr-00001", "one\ntwo")
    text, remarks = as_ace(bench)
    assert "one\\ntwo" in text
    assert remarks == ("Line breaks in 1 bullet are written as \\n.",)
    bench.playbooks.deprecate(BOOK, ["shr-00001"], "old")
    text, remarks = as_ace(bench)
    assert "shr-00001" not in text
    assert remarks == ("1 bullet marked deprecated is left out.",)


def test_writing_replaces_the_file_keeps_its_mode_and_a_link_a_link(
    bench: Workbench, source: Path
) -> None:
    source.chmod(0o640)
    link = source.with_name("link.txt")
    link.symlink_to(source)
    bench.playbooks.edit(BOOK, "shr-00001", "Look twice.")
    preview = bench.exporter.preview(link, ace.write_playbook(bench.playbooks.open(BOOK)))
    assert [str(line) for line in preview.lines() if str(line)[0] in "+-"] == [
        "-[shr-00001] Look before you leap.", "+[shr-00001] Look twice.",
    ]  # fmt: skip
    bench.exporter.write(preview)
    assert link.is_symlink()
    assert source.read_text() == BARE.replace("before you leap", "twice")
    assert source.stat().st_mode & 0o777 == 0o640
    assert not bench.exporter.preview(source, source.read_text()).changed
    assert {p.name for p in source.parent.iterdir()} == {"store", "trained.txt", "link.txt"}


def test_what_changed_or_went_between_the_preview_and_the_writing_is_not_overwritten(
    bench: Workbench, source: Path
) -> None:
    preview = bench.exporter.preview(source, "mine\n")
    source.write_text("theirs\n")
    with pytest.raises(Conflict):
        bench.exporter.write(preview)
    assert source.read_text() == "theirs\n"
    folder = source.with_name("there")
    folder.mkdir()
    preview = bench.exporter.preview(folder / "x.txt", "text")
    folder.rmdir()
    with pytest.raises(WorkbenchError, match="does not exist"):
        bench.exporter.write(preview)


def test_what_cannot_be_written_is_said_before(bench: Workbench, source: Path) -> None:
    folder = source.parent
    (folder / "bytes").write_bytes(b"\xff\xfe")
    (folder / "locked").mkdir()
    (folder / "locked").chmod(0o555)
    protected, closed = folder / "protected.txt", folder / "closed.txt"
    for path, mode in ((protected, 0o444), (closed, 0)):
        path.write_text("x")
        path.chmod(mode)
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
