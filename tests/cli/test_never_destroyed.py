"""Exporting never destroys what it cannot write back: what the store does not hold goes only with
--force.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_exporting_formats import BOOK, opened
from workbench.core.files.replacing import replace_bytes
from workbench.core.record import Conflict
from workbench.services.files.replaced import MOST, Replaced

ANN = '{"type":"entity","name":"Ann","entityType":"person","observations":["a b"]}\n'
OWNED = '{"playbook": "Ours", "owner": "Ann", "bullets": [{"id": "r-1", "section": "s", "content": "Ask."}]}\n'
ERRORS = "# Errors\n\n### 2026-02-03 — Deploy failed without AUTH_SECRET\n- Set AUTH_SECRET in CI before deploying.\n"
THEIRS = "[r-00003] helpful=0 harmful=0 :: A colleague's.\n"
WITH_THEIRS = BOOK.replace("\n\n## OTHERS", f"\n{THEIRS}\n## OTHERS")


def lines(path: Path) -> set[str]:
    return set(path.read_bytes().decode().split("\n"))


@pytest.fixture
def errors(demo: Cli) -> Path:
    """A file that only its name makes one of learnings: the reader finds nothing in it."""
    (demo.cwd / ".learnings").mkdir()
    demo.write(".learnings/ERRORS.md", ERRORS)
    return demo.cwd / ".learnings" / "ERRORS.md"


@pytest.mark.slow
def test_a_file_that_was_never_read_here_is_not_replaced(demo: Cli, errors: Path) -> None:
    err = demo.refused("export", "--format", "learnings", "--out", ".learnings/ERRORS.md")
    assert err.splitlines()[-1] == (
        f"workbench: {errors} exists, and was never read or written here; no line would be lost. "
        "Nothing was written. --force replaces the file."
    )
    assert errors.read_text() == ERRORS


@pytest.mark.slow
def test_a_file_in_which_the_reader_finds_nothing_keeps_its_lines_after_an_import(
    demo: Cli, errors: Path
) -> None:
    assert demo("import", ".learnings/ERRORS.md").code == 0
    demo("export", "--format", "learnings", "--out", ".learnings/ERRORS.md")
    assert set(ERRORS.split("\n")) <= lines(errors)


def test_a_colleagues_line_stays_when_the_caches_are_deleted(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli.write("book.txt", WITH_THEIRS)
    shutil.rmtree(cli.store / "cache")
    said = cli("export", "--format", "ace", "--out", "book.txt")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "changed by others" in said.err
    assert "1 line would be lost" in said.err
    assert (cli.cwd / "book.txt").read_text() == WITH_THEIRS


@pytest.fixture
def home() -> Path:
    """The person's own folder of the test."""
    return Path(os.environ["HOME"])


def copies(home: Path) -> list[Path]:
    folder = home / "state" / "memory-workbench" / "replaced"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_what_force_replaces_is_kept_for_its_owner_alone(demo: Cli, home: Path) -> None:
    path = demo.cwd / demo.write("notes.txt", "hello\n")
    said = demo("export", "--format", "ace", "--out", "notes.txt", "--force")
    (copy,) = copies(home)
    assert (said.code, f"The previous {path} is kept as {copy}." in said.out) == (0, True)
    assert (copy.read_text(), copy.stat().st_mode & 0o777) == ("hello\n", 0o600)
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in demo.cwd.iterdir()] == ["notes.txt"]


def test_only_the_last_fifty_are_kept(tmp_path: Path) -> None:
    replaced = Replaced(tmp_path / "replaced")
    for number in range(MOST + 5):
        os.utime(replaced.keep(tmp_path / "x", str(number).encode()), (number, number))
    assert sorted(int(copy.read_bytes()) for copy in replaced.copies()) == list(range(5, MOST + 5))


def test_without_room_for_a_copy_nothing_is_replaced(demo: Cli, home: Path) -> None:
    path = demo.cwd / demo.write("notes.txt", "hello\n")
    (home / "state").mkdir(exist_ok=True)
    (home / "state" / "memory-workbench").mkdir(exist_ok=True)
    (home / "state" / "memory-workbench" / "replaced").write_text("in the way")
    said = demo("export", "--format", "ace", "--out", "notes.txt", "--force")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert path.read_text() == "hello\n"


def test_scan_and_purge_cover_the_copies(cli: Cli, home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    text = "Remember the harbour master's number."
    cli.write("book.txt", BOOK + f"[o-00007] helpful=0 harmful=0 :: {text}\n")
    cli("import", "book.txt")
    cli.write("one.txt", f"before {text} after\n")
    cli.write("two.txt", f"token = {secret}\n")
    assert cli("scan").code == 0
    for name in ("one.txt", "two.txt"):
        assert cli("export", "--format", "ace", "--out", name, "--force").code == 0
    found = cli("scan")
    assert (found.code, secret in found.out) == (1, False)
    assert str(home / "state" / "memory-workbench" / "replaced") in found.out
    said = cli("purge", "o-00007", "--yes-erase", "o-00007")
    assert said.code == 0, said.err
    assert "1 copy of replaced files" in said.out
    assert [copy.read_text() for copy in copies(home)] == [f"token = {secret}\n"]


def test_an_import_that_was_taken_back_makes_its_file_unknown_again(cli: Cli) -> None:
    path = cli.cwd / cli.write(
        "m.jsonl", '{"type":"entity","name":"Ann","entityType":"person","observations":["a b"]}\n'
    )
    before = path.read_text()
    cli("import", "m.jsonl")
    cli("export", "--format", "mcp-memory", "--out", "m.jsonl")
    assert cli("undo").out.startswith("Undone: import m.jsonl")
    assert cli("export", "--format", "mcp-memory", "--out", "m.jsonl").code == 2
    assert path.read_text() == before
    assert cli("redo").code == 0
    assert cli("export", "--format", "mcp-memory", "--out", "m.jsonl").code == 0


def test_an_export_is_neither_undone_nor_in_the_way(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli("vote", "r-00001", "helpful")
    assert cli("export", "--format", "ace", "--out", "book.txt").code == 0
    listed = cli.ok("history")
    assert "write book.txt" not in listed
    assert "write book.txt" in cli.ok("history", "--reads")
    assert "import" not in cli.ok("undo")
    assert "import book.txt" in cli.ok("undo")
    with opened(cli) as bench:
        assert bench.library.files.all() == []


def test_the_file_of_a_playbook_that_nobody_knows_any_more_is_not_replaced(cli: Cli) -> None:
    path = cli.cwd / cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    shutil.rmtree(cli.store / "cache", ignore_errors=True)
    with opened(cli) as bench, bench.library.transaction("test", "forget") as tx:
        for state in bench.library.files.all():
            tx.delete(state)
    cli("vote", "r-00001", "helpful")
    said = cli("export", "--format", "ace", "--out", "book.txt")
    assert (said.code, "was never read or written here" in said.err) == (2, True)
    assert path.read_text() == BOOK


def test_another_format_over_an_imported_file_is_refused(cli: Cli) -> None:
    path = cli.cwd / cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    for format in ("prompt", "json", "markdown"):
        said = cli("export", "--format", format, "--out", "book.txt")
        assert (said.code, "is a file of another kind (ACE playbook)" in said.err) == (2, True), (
            said.err
        )
    assert path.read_text() == BOOK


def test_what_a_format_cannot_carry_is_not_replaced(cli: Cli) -> None:
    path = cli.cwd / cli.write("book.json", OWNED)
    assert cli("import", "book.json").code == 0
    said = cli("export", "--format", "json", "--book", "book", "--out", "book.json")
    assert (said.code, "contains more than this format can write back" in said.err) == (2, True), (
        said.err
    )
    assert path.read_text() == OWNED


def test_lines_that_are_no_entry_stay_in_json_lines(cli: Cli) -> None:
    text = 'not an entry\n{"id":"a", "timestamp":"2026-01-02T03:04:05Z","context":"One.","mood":1}\n\n[1]\n'
    path = cli.cwd / cli.write("m.jsonl", text)
    cli("import", "m.jsonl", "--format", "jsonl")
    assert cli("export", "--format", "jsonl", "--out", "m.jsonl").code == 0
    assert path.read_text() == text


def test_a_store_that_cannot_be_written_still_exports(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    journal = cli.store / "journal.jsonl"
    with opened(cli) as bench:
        preview = bench.exporter.preview(cli.cwd / "new.txt", "## A\n")
        journal.rename(cli.store / "gone")
        journal.mkdir()
        done = bench.exporter.write(preview)
        journal.rmdir()
        (cli.store / "gone").rename(journal)
    assert (cli.cwd / "new.txt").read_text() == "## A\n"
    assert "cannot be" in done.problem


def test_a_converted_file_replaces_none_that_came_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    path.write_text("theirs")
    with pytest.raises(Conflict):
        replace_bytes(path, b"ours", None)
    with pytest.raises(Conflict):
        replace_bytes(path, b"ours", b"what was there")
    assert path.read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["new.txt"]
