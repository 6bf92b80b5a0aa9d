"""Exporting: the preview is what is written, in one step, never over somebody else's change."""

from pathlib import Path

import pytest

from tests.services.conftest import snapshot
from workbench.config.paths import shipped
from workbench.core.files.format import Parsed
from workbench.core.record import UnknownRecord
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
