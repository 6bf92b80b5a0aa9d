"""Between the look at a folder and the write in it nobody puts another one in its place."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.core.files import replacing
from workbench.core.files.replacing import held, remove_file, replace_bytes
from workbench.core.record import Conflict

pytestmark = pytest.mark.skipif(
    not hasattr(os, "O_PATH"), reason="a folder cannot be held on this system"
)


class Swap:
    """A folder of notes, and another one that a link puts in the place of the one above it."""

    def __init__(self, tmp_path: Path) -> None:
        self.note = tmp_path / "vault" / "notes" / "a.md"
        self.moved = tmp_path / "gone" / "notes" / "a.md"
        self.victim = tmp_path / "elsewhere" / "notes" / "a.md"
        for path in (self.note, self.victim):
            path.parent.mkdir(parents=True)
            path.write_bytes(b"before")

    def now(self) -> None:
        """Put the other folder there."""
        vault, gone = self.note.parents[1], self.moved.parents[1]
        if not gone.exists():
            vault.rename(gone)
            vault.symlink_to(self.victim.parents[1])

    def first(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that does it before anything else."""

        def swapped(*args: Any, **more: Any) -> Any:
            self.now()
            return call(*args, **more)

        return swapped


@pytest.fixture
def swap(tmp_path: Path) -> Swap:
    return Swap(tmp_path.resolve())


@pytest.mark.parametrize("through_links", [False, True])
@pytest.mark.parametrize("step", ["draft_beside", "_mode_of_new_files", "_holds"])
def test_what_is_written_reaches_the_folder_that_was_looked_at(
    step: str, through_links: bool, swap: Swap, monkeypatch: pytest.MonkeyPatch
) -> None:
    if step == "_mode_of_new_files":
        swap.note.unlink()
    monkeypatch.setattr(replacing, step, swap.first(getattr(replacing, step)))
    before = None if step == "_mode_of_new_files" else b"before"
    replace_bytes(swap.note, b"after", before, through_links=through_links)
    assert swap.moved.read_bytes() == b"after"
    assert [path.name for path in swap.victim.parent.iterdir()] == ["a.md"]
    assert swap.victim.read_bytes() == b"before"


@pytest.mark.parametrize("step", ["_holds", "held"])
def test_what_is_removed_is_what_was_looked_at(
    step: str, swap: Swap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, step, swap.first(getattr(replacing, step)))
    if step == "held":
        with pytest.raises(Conflict, match="changed by another program"):
            remove_file(swap.note, b"before", through_links=False)
    else:
        remove_file(swap.note, b"before", through_links=False)
        assert not swap.moved.exists()
    assert swap.victim.read_bytes() == b"before"


def test_a_link_that_came_before_the_folder_is_held_is_a_conflict(
    swap: Swap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "held", swap.first(held))
    with pytest.raises(Conflict, match="Nothing was written"):
        replace_bytes(swap.note, b"after", b"before", through_links=False)
    assert swap.moved.read_bytes() == swap.victim.read_bytes() == b"before"


def test_no_folder_stays_held(swap: Swap) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with held(swap.note.parent) as folder:
        assert (folder / "a.md").read_bytes() == b"before"
    with pytest.raises(NotADirectoryError), held(swap.note):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before
