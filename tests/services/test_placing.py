"""A promotion that is broken off, by an error or by the end of the process, leaves store and files
in step.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import RULE, half_done
from tests.services.conftest import Open, memory, put
from workbench.core.files.replacing import replace_bytes
from workbench.core.record import Conflict, StoreProblem
from workbench.services.open import Workbench
from workbench.services.promotion import placements
from workbench.services.promotion import placements as placement_files
from workbench.services.promotion.placements import HalfDone
from workbench.services.promotion.promotion import Target
from workbench.store.journal.segments import Tail

OWN = "# Mine\n"
ROOT = Path(__file__).parent.parent.parent

KILLED = """
import os, sys
from pathlib import Path
from workbench.services.promotion import placements as placing
from workbench.services.promotion.promotion import Target
from workbench.services.open import open_workbench
from workbench.store.journal.segments import Tail

stage, verb, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
write, append = placing.carry_out, Tail.append

def writing(edits):
    edits = tuple(edits)
    if stage == "before the files":
        os._exit(9)
    write(edits[:1] if stage == "between the files" else edits)
    if stage in ("between the files", "before the line"):
        os._exit(9)

def appending(self, *args):
    append(self, *args)
    os._exit(9)

bench = open_workbench(folder, profiles=folder / "none")
target = Target("memory", slug="one")
if verb == "promote":
    act = lambda: bench.promotion.carry_out(bench.promotion.plan(["m1"], target))
else:
    act = bench.history.undo if verb == "undo" else bench.history.redo
placing.carry_out = writing
if stage == "after the line":
    Tail.append = appending
act()
"""

STAGES = ["before the files", "between the files", "before the line", "after the line"]


@pytest.fixture
def bench(project: Path, open_bench: Open) -> Workbench:
    (project / "MEMORY.md").write_text(OWN)
    bench = open_bench(folder=project / ".workbench")
    put(bench, memory("m1", "Use pnpm.", status="confirmed"))
    return bench


def state(project: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in project.glob("*.md")}


def notes(project: Path) -> list[Path]:
    return list((project / ".workbench").glob("placing-*.json"))


def finish(bench: Workbench) -> HalfDone:
    """Settle the one change that was broken off, as a person does who was shown it."""
    (shown,) = bench.care.half_done()
    bench.care.finish(shown)
    assert bench.care.half_done() == ()
    return shown


def promote(bench: Workbench) -> None:
    bench.promotion.carry_out(bench.promotion.plan(["m1"], Target("memory", slug="one")))


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("verb", ["promote", "undo", pytest.param("redo", marks=pytest.mark.slow)])
def test_a_killed_process_leaves_nothing_half_done(
    stage: str, verb: str, bench: Workbench, project: Path, open_bench: Open
) -> None:
    before = state(project)
    promote(bench)
    after = state(project)
    if verb != "undo":
        bench.history.undo()
    start, end = (after, before) if verb == "undo" else (before, after)
    assert state(project) == start
    bench.close()
    folder = project / ".workbench"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, stage, verb, str(folder)], check=False, cwd=ROOT
    )
    assert ended.returncode == 9
    assert notes(project)
    left = state(project)
    again = open_bench(folder=folder)
    assert state(project) == left, "opening a store changes no file"
    assert any("was interrupted" in notice for notice in map(str, again.library.journal.notices))
    shown = finish(again)
    done = stage == "after the line"
    assert state(project) == (end if done else start)
    assert again.stream.get("m1").status == (
        "promoted" if (verb == "undo") != done else "confirmed"
    )
    assert notes(project) == []
    assert bool(shown.edits) == (stage in ("between the files", "before the line"))
    if done:
        (again.history.redo if verb == "undo" else again.history.undo)()
        assert state(project) == start


@pytest.mark.slow
def test_what_was_edited_after_a_kill_is_kept(
    bench: Workbench, project: Path, open_bench: Open
) -> None:
    bench.close()
    folder = project / ".workbench"
    subprocess.run(
        [sys.executable, "-c", KILLED, "before the line", "promote", str(folder)],
        check=False,
        cwd=ROOT,
    )
    index = project / "MEMORY.md"
    index.write_text(f"{index.read_text()}more\n")
    (project / "one.md").write_text("my words")
    finish(open_bench(folder=folder))
    assert index.read_text() == f"{OWN}\nmore\n"
    assert (project / "one.md").read_text() == "my words"


def test_a_second_file_that_cannot_be_written_takes_the_first_one_back(
    bench: Workbench, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = replace_bytes

    def failing(path: Path, data: bytes, before: bytes | None, **more: bool) -> None:
        if path.name == "MEMORY.md" and b"begin" in data:
            raise StoreProblem(
                "MEMORY.md cannot be written: no space left on device.", "The file is unchanged."
            )
        write(path, data, before, **more)

    monkeypatch.setattr(placement_files, "replace_bytes", failing)
    rev = bench.library.journal.rev
    with pytest.raises(StoreProblem, match="no space left"):
        promote(bench)
    assert state(project) == {"MEMORY.md": OWN}
    assert bench.library.journal.rev == rev
    assert notes(project) == []


@pytest.mark.parametrize("verb", ["promote", "undo"])
def test_a_journal_that_cannot_be_written_takes_the_files_back(
    verb: str, bench: Workbench, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if verb == "undo":
        promote(bench)
    before = state(project)

    def failing(self: Tail, *args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Tail, "append", failing)
    with pytest.raises(StoreProblem, match="no space left"):
        promote(bench) if verb == "promote" else bench.history.undo()
    assert state(project) == before
    assert notes(project) == []
    monkeypatch.undo()
    promote(bench) if verb == "promote" else bench.history.undo()
    assert state(project) != before


def test_an_open_store_never_writes_outside_its_project_on_its_own(
    bench: Workbench, project: Path, tmp_path: Path, open_bench: Open
) -> None:
    far = tmp_path / "far.md"
    plan = bench.promotion.plan(["m1"], Target("block", str(far)))
    bench.promotion.carry_out(plan, outside=True)
    text = far.read_text()
    committed = list(bench.library.placements.all())
    bench.close()
    far.unlink()
    guard = placements.Placing(bench.library)
    guard._leave(bench.library.surroundings.new_note(), {}, {p.id: p for p in committed})
    shown = finish(open_bench(folder=project / ".workbench"))
    assert shown.outside == (str(far),)
    assert shown.edits == ()
    assert not far.exists()
    assert notes(project) == []
    assert text


def test_a_note_that_cannot_be_read_is_said_and_goes(
    project: Path, bench: Workbench, open_bench: Open
) -> None:
    bench.close()
    (project / ".workbench/placing-1.json").write_text("{")
    again = open_bench(folder=project / ".workbench")
    assert notes(project)
    assert not finish(again).readable
    assert notes(project) == []


def test_what_is_no_longer_as_it_was_shown_is_not_done(project: Path, bench: Workbench) -> None:
    half_done(bench.library.folder, "one")
    bench.library.journal.refresh()
    (shown,) = bench.care.half_done()
    half_done(bench.library.folder, "two")
    with pytest.raises(Conflict, match="changed since the preview"):
        bench.care.finish(shown)
    assert not (project / RULE).exists()
    assert notes(project)


@pytest.mark.parametrize(
    "note", ["[" * 100_000, "[[], [[]]]", "[[], {}]", "[[], null]", "[[], [{}]]", "[1]", "null"]
)
def test_whatever_a_note_holds_is_read(note: str, bench: Workbench, project: Path) -> None:
    (project / ".workbench/placing-1.json").write_text(note)
    (shown,) = bench.care.half_done()
    assert not shown.readable or shown.edits == ()
