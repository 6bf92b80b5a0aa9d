"""Exporting: the preview is what is written, in one step, never over somebody else's change."""

from pathlib import Path

import pytest

from tests.services.conftest import snapshot
from workbench.config.paths import shipped
from workbench.core.files.format import Parsed
from workbench.core.record import Conflict, UnknownRecord, WorkbenchError
from workbench.formats import lifecycle
from workbench.services.open import Workbench, open_workbench


def test_a_playbook_is_written_with_the_bytes_it_was_read_from(
    demo: Workbench, tmp_path: Path
) -> None:
    text, _ = demo.exporter.ace(demo.exporter.the_book(None))
    preview = demo.exporter.preview(tmp_path / "out.txt", text)
    assert (preview.present, preview.changed) == (None, True)
    demo.exporter.write(preview)
    assert (tmp_path / "out.txt").read_bytes() == shipped("fixtures/demo/playbook.txt").read_bytes()
    assert not demo.exporter.preview(tmp_path / "out.txt", text).changed
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_preview_shows_what_differs(demo: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    demo.exporter.write(demo.exporter.preview(path, "one\ntwo\n"))
    preview = demo.exporter.preview(path, "one\nzwei\n")
    assert [line for line in preview.diff() if line in ("-two", "+zwei")] == ["-two", "+zwei"]


def test_a_file_that_changed_since_the_preview_is_not_replaced(
    demo: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "out.txt"
    preview = demo.exporter.preview(path, "mine\n")
    path.write_text("theirs\n")
    with pytest.raises(Conflict):
        demo.exporter.write(preview)
    assert path.read_text() == "theirs\n"


def test_mode_and_link_of_a_replaced_file_stay(demo: Workbench, tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old\n")
    real.chmod(0o600)
    link.symlink_to(real)
    demo.exporter.write(demo.exporter.preview(link, "new\n"), force=True)
    assert (real.read_text(), real.stat().st_mode & 0o777, link.is_symlink()) == (
        "new\n",
        0o600,
        True,
    )


def test_what_cannot_be_replaced_is_refused_at_the_preview(demo: Workbench, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "binary", tmp_path / "no" / "file"):
        with pytest.raises(WorkbenchError):
            demo.exporter.preview(path, "text")


def test_the_bare_dialect_says_what_it_leaves_out(demo: Workbench) -> None:
    demo.playbooks.vote("playbook", ["shr-00001"], "helpful")
    text, remarks = demo.exporter.ace("playbook", "bare")
    assert "helpful=" not in text
    assert len(remarks) == 1
    assert demo.exporter.ace("playbook")[1] == ()


def test_which_playbook_is_meant(bench: Workbench) -> None:
    with pytest.raises(UnknownRecord, match="no playbooks"):
        bench.exporter.the_book(None)
    bench.playbooks.add_section("one", "A")
    assert bench.exporter.the_book(None) == "one"
    bench.playbooks.add_section("two", "A")
    assert bench.exporter.the_book("two") == "two"
    with pytest.raises(UnknownRecord, match="2 playbooks"):
        bench.exporter.the_book(None)
    with pytest.raises(UnknownRecord, match="no playbook three"):
        bench.exporter.the_book("three")


def entries_of(bench: Workbench) -> str:
    return lifecycle.write(Parsed(lifecycle.NAME, memories=tuple(bench.library.memories.all())))


@pytest.mark.slow
def test_exported_memories_can_be_imported_again(demo: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    demo.exporter.write(demo.exporter.preview(path, entries_of(demo)))
    other = open_workbench(tmp_path / "other", profiles=tmp_path, clock=demo.context.clock)
    other.importer.carry_out(other.importer.plan(path))
    assert entries_of(other) == entries_of(demo)
    assert set(snapshot(other)["memories"]) == set(snapshot(demo)["memories"])
    other.close()
