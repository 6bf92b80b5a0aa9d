"""What stands in the place of a note when it is read again, or between the plan and the writing, is
left alone.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.services.conftest import bring, write
from workbench.core.record import WorkbenchError
from workbench.services.open import Workbench

NOTE = "# Tea\n\nBrew at 80.\n"


@pytest.fixture
def notes(bench: Workbench, tmp_path: Path) -> Path:
    folder = tmp_path / "notes" / "drinks"
    folder.mkdir(parents=True)
    (folder / "tea.md").write_text(NOTE)
    (folder / "milk.md").write_text("# Milk\n\nCold.\n")
    bring(bench, folder.parent)
    return folder.parent


def edit(bench: Workbench, part: str, content: str) -> None:
    """Change the text of the memory that holds a text."""
    found = next(memory for memory in bench.library.memories.all() if part in memory.content)
    write(bench, replace(found, content=content))


def to_pipe(note: Path, elsewhere: Path) -> None:
    """Put a pipe in the place of a note."""
    del elsewhere
    note.unlink()
    os.mkfifo(note)


def to_link(note: Path, elsewhere: Path) -> None:
    """Put a link in the place of a note, to a file outside with the same bytes."""
    (elsewhere / note.name).write_bytes(note.read_bytes())
    note.unlink()
    note.symlink_to(elsewhere / note.name)


def to_loop(note: Path, elsewhere: Path) -> None:
    """Put a link to itself in the place of a note."""
    del elsewhere
    note.unlink()
    note.symlink_to(note)


def to_linked_folder(note: Path, elsewhere: Path) -> None:
    """Put a link in the place of a note's folder, to one outside with the same files."""
    note.parent.rename(elsewhere / "away")
    note.parent.symlink_to(elsewhere / "away")


CHANGES = (to_pipe, to_link, to_loop, to_linked_folder)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_what_took_the_place_of_a_note_is_neither_followed_nor_waited_for(
    bench: Workbench,
    notes: Path,
    tmp_path: Path,
    change: Callable[[Path, Path], None],
    is_forgotten: bool,
) -> None:
    edit(bench, "Brew", "# Tea\n\nBrew at 75.")
    plan = bench.folder_exporter.plan(notes)
    (one,) = plan.edits
    if is_forgotten:
        plan = replace(plan, edits=(replace(one, after=None),))
    (tmp_path / "elsewhere").mkdir()
    change(one.path, tmp_path / "elsewhere")
    done = bench.folder_exporter.write(plan)
    assert (done.edits, [(left.name, left.why) for left in done.left]) == (
        (),
        [("drinks/tea.md", "changed")],
    )
    assert os.path.lexists(one.path)
    assert [path.read_text() for path in (tmp_path / "elsewhere").rglob("tea.md")] in ([], [NOTE])


def test_a_pipe_in_the_place_of_a_note_has_no_difference(bench: Workbench, notes: Path) -> None:
    to_pipe(notes / "drinks/tea.md", notes)
    with pytest.raises(WorkbenchError, match="not an ordinary file"):
        bench.difference(notes / "drinks/tea.md")


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_record_that_changed_between_the_plan_and_the_writing_keeps_the_change(
    bench: Workbench, tmp_path: Path, is_gone: bool
) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "2026-01-05.md").write_text(
        "# Monday\n\n- The cache is warm\n- Redis drops the jobs\n"
    )
    bring(bench, folder)
    edit(bench, "cache", "The cache is hot")
    plan = bench.folder_exporter.plan(folder)
    (noted,) = plan.noted
    now = replace(bench.library.memories.get(noted.id), content="The cache is gone", pinned=True)
    with bench.library.transaction("human", "edit") as tx:
        (tx.delete if is_gone else tx.put)(now)
    assert bench.folder_exporter.write(plan).edits == plan.edits
    assert bench.library.memories.find(noted.id) == (
        None if is_gone else replace(now, aliases=noted.aliases)
    )
