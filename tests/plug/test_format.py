"""A kind of file that nobody else knows: it is recognised, listed, imported, taken over again, exported and converted.

The toy format is one memory a line, under a first line that names it.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.tui.support import NOW, app_over, screen_text
from tests.tui.waiting import until
from workbench.bench.files.checks import Checks, check_all
from workbench.bench.files.convert import convert
from workbench.bench.files.exports.choice import Choice
from workbench.bench.files.imports.paths import listing
from workbench.bench.files.lint import look_over
from workbench.bench.open import Workbench, open_workbench
from workbench.bench.tuning.run_scores import is_run
from workbench.cli.main import run
from workbench.core.errors import UnreadableFile, WorkbenchError
from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.formats import FORMATS, Formats
from workbench.core.stream.memory import Memory
from workbench.tui.files.imports.rows import choices

FIRST = "#jotter"
MADE = datetime(2026, 3, 1, tzinfo=UTC)


def _detect(head: str, path: str) -> Detection:
    del path
    return Detection("jotter", 1.0 if head.startswith(FIRST) else 0.0, "begins with #jotter")


def _read(text: str, context: ReadContext) -> Parsed:
    memories = []
    for line in text.splitlines()[1:]:
        id, _, content = line.partition(" ")
        memories.append(Memory(id, content, MADE, MADE, status="confirmed"))
    return Parsed("jotter", tuple(memories), records_in=len(memories))


def _write(parsed: Parsed, original: str | None) -> str:
    del original
    return "\n".join([FIRST, *(f"{m.id} {m.content}" for m in parsed.memories)]) + "\n"


JOTTER = Format("jotter", "jotter notes", _detect, _read, _write, suffix=".jot", endings=(".jot",))

KNOWN = Formats((*FORMATS.entries[:3], "tests.plug.test_format:JOTTER", *FORMATS.entries[3:]))

TEXT = f"{FIRST}\nj-1 The build needs the lock file.\nj-2 Ask before a deploy on Friday.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jot"
    path.write_text(TEXT, "utf-8")
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", clock=lambda: NOW, formats=KNOWN)


def test_it_is_recognised_imported_and_written_back(bench: Workbench, notes: Path) -> None:
    plan = bench.importer.plan(notes)
    assert (plan.parsed.format, plan.counts["memories"]) == ("jotter", 2)
    bench.importer.carry_out(plan)
    assert {m.id for m in bench.library.memories.all()} == {"j-1", "j-2"}
    assert [one.title for one in listing(notes.parent, formats=KNOWN).offered if not one.folder] == ["jotter notes"]
    rendered = bench.exporter.render("jotter", Choice(), notes)
    assert rendered.text == TEXT
    preview = bench.exporter.preview(notes, rendered.text, kind=rendered.outlet)
    assert preview.obstacle is None
    # What somebody else writes is known as of this format, and taken over.
    notes.write_text(TEXT.replace("Friday", "Friday evening"), "utf-8")
    theirs = bench.importer.plan(notes, theirs=True)
    assert [new.content for _, new in theirs.replaced if isinstance(new, Memory)] == [
        "Ask before a deploy on Friday evening."
    ]
    changed = bench.exporter.preview(notes, TEXT, kind=rendered.outlet)
    assert changed.obstacle is not None
    assert (changed.obstacle.format, changed.obstacle.title) == ("jotter", "jotter notes")


def test_it_is_converted_both_ways(notes: Path) -> None:
    there = convert(notes, notes.with_suffix(".jsonl"), NOW, read_as=None, write_as=None, formats=KNOWN)
    lines = notes.with_suffix(".jsonl")
    lines.write_text(there.text, "utf-8")
    back = convert(lines, notes, NOW, read_as=None, write_as="jotter", formats=KNOWN)
    assert (back.text, back.outlet.title) == (TEXT, "jotter notes")
    asked = convert(lines, notes, NOW, read_as=None, write_as=None, formats=KNOWN)
    assert (asked.text, asked.outlet.name) == (TEXT, "jotter")
    with pytest.raises(WorkbenchError, match="does not say which format"):
        convert(lines, notes, NOW, read_as=None, write_as=None)
    with pytest.raises(UnreadableFile, match="no format “jotter” to write"):
        convert(lines, notes, NOW, read_as=None, write_as="jotter")


def test_the_command_line_knows_and_names_it(notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str, code: int = 0) -> str:
        options = ["--store", str(tmp_path / "store"), *arguments]
        assert run(options, open_app=_no_app, cwd=tmp_path, clock=lambda: NOW, formats=KNOWN) == code
        out, err = capsys.readouterr()
        return out + err

    assert "jotter notes, 100% sure (begins with #jotter)" in said("import", str(notes))
    assert "read as jotter notes" in said("import", str(notes), "--format", "jotter", "--dry-run")
    looked = said("lint", str(notes), "--json")
    assert ('"format": "jotter"' in looked, '"findings": []' in looked) == (True, True)
    assert "j-1 The build needs" in said("export", "--format", "jotter", "--memories")
    assert re.search(r"Known formats: .*jotter", said("import", str(notes), "--format", "nothing", code=2))
    assert re.search(r"Known ones: .*jotter", said("export", "--format", "nothing", code=2))


def test_its_files_are_looked_over(bench: Workbench, notes: Path) -> None:
    linted = look_over(notes, NOW, formats=KNOWN)
    assert (linted.format, linted.title, linted.findings) == ("jotter", "jotter notes", ())
    plan = bench.importer.plan(notes)
    bench.importer.carry_out(plan)
    (checked,) = check_all(bench.library, NOW, Checks(), formats=bench.context.formats).files.values()
    assert checked.linted == linted
    assert not is_run(notes, KNOWN)


@pytest.mark.slow
async def test_the_app_offers_it(bench: Workbench, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes.parent)
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("F")
        await until(pilot, lambda: "jotter notes" in screen_text(app))
        await pilot.press(*"notes", "tab")
        await until(pilot, lambda: "jotter notes, 100% sure: begins with #jotter" in screen_text(app))
        assert "The build needs the lock file." in screen_text(app)
    assert [name for name, title, _ in choices(notes, KNOWN) if title == "jotter notes"] == ["jotter"]
    assert "jotter" not in {name for name, _, _ in choices(notes, FORMATS)}


def _no_app(store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
    raise AssertionError(store, origin, demo)
