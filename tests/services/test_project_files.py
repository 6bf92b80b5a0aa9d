"""Which files a store has to do with, looking them over, and how a typed path is understood."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Clock, Open, bring, write
from workbench.core.promotion import Placement
from workbench.core.record import Conflict, UnreadableFile, WorkbenchError
from workbench.services.files.lint import (
    MOST,
    Checks,
    check_all,
    known_files,
    look_over,
    make,
    preview,
    take_back,
)
from workbench.services.files.paths import Offered, as_named, completed, completions, listing
from workbench.services.files.replaced import Replaced
from workbench.services.open import Workbench

BOOK = "## RULES\n[rule-00001] helpful=2 harmful=0 :: Ask first.\n\n## OTHERS\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    here = tmp_path / "project"
    (here / ".claude" / "memory").mkdir(parents=True)
    return here


def reasons(bench: Workbench, root: Path, *added: Path) -> dict[str, str]:
    return {str(k.path.relative_to(root)): k.why for k in known_files(bench.library, added)}


def test_a_store_knows_its_files_and_why(project: Path, open_bench: Open) -> None:
    for name in (
        "CLAUDE.md",
        "AGENTS.md",
        "MEMORY.md",
        "LEARNINGS.md",
        ".claude/memory/topic.md",
        "README.md",
    ):
        (project / name).write_text("# A\n")
    (project / "playbook-old.txt").write_text(BOOK)
    (project / "rules.txt").write_text(BOOK)
    (project / "log.jsonl").write_text(
        '{"id": "a", "timestamp": "2026-01-01T00:00:00Z", "type": "error", "context": "c"}\n'
    )
    bench = open_bench(folder=project / ".workbench")
    for name in ("rules.txt", "log.jsonl"):
        bring(bench, project / name)
    write(
        bench,
        Placement("p1", "a", "entry", "AGENTS.md", "- x", NOON),
        Placement("p2", "a", "bullet", "book/b-1", "x", NOON),
        Placement("p3", "a", "file", "gone.md", "x", NOON),
        by="setup",
    )
    assert reasons(bench, project) == {
        ".claude/memory/topic.md": "in the project",
        "AGENTS.md": "memories were promoted to it",
        "CLAUDE.md": "in the project",
        "LEARNINGS.md": "in the project",
        "MEMORY.md": "in the project",
        "gone.md": "memories were promoted to it",
        "log.jsonl": "imported or exported before",
        "playbook-old.txt": "in the project",
        "rules.txt": "the playbook rules came from it",
    }


def test_a_store_of_no_project_looks_into_no_folder(tmp_path: Path, bench: Workbench) -> None:
    (tmp_path / "CLAUDE.md").write_text("# A\n")
    assert known_files(bench.library) == ()
    assert reasons(bench, tmp_path, tmp_path / "CLAUDE.md", tmp_path / "no.md") == {
        "CLAUDE.md": "added here", "no.md": "added here",
    }  # fmt: skip


def test_very_many_files_of_one_kind_are_cut_off(project: Path, open_bench: Open) -> None:
    for number in range(MOST + 5):
        (project / ".claude" / "memory" / f"t{number:04d}.md").write_text("# A\n")
    assert len(known_files(open_bench(folder=project / ".workbench").library)) == MOST


def test_only_changed_files_are_looked_over_again(
    project: Path, open_bench: Open, clock: Clock
) -> None:
    (project / "playbook.txt").write_text(BOOK)
    (project / "AGENTS.md").write_bytes(b"\xff\xfe\x00")
    bench = open_bench(folder=project / ".workbench")
    first = check_all(bench.library, clock(), Checks())
    book, agents = first.files[project / "playbook.txt"], first.files[project / "AGENTS.md"]
    assert (book.findings, book.problem) == ((), "")
    assert "is not UTF-8 text" in agents.problem
    assert check_all(bench.library, clock(), first).files[project / "playbook.txt"] is book
    (project / "playbook.txt").write_text(BOOK.replace("## RULES", "### RULES"))
    again = check_all(bench.library, clock(), first).files[project / "playbook.txt"]
    assert [finding.rule for finding in again.findings] == ["deep-heading"]
    assert check_all(bench.library, clock(), first, cancelled=lambda: True).files == {}


def test_an_index_is_read_again_because_of_the_files_around_it(
    project: Path, open_bench: Open, clock: Clock
) -> None:
    (project / "MEMORY.md").write_text("# Memory\n\n- [One](one.md) — first\n")
    (project / "one.md").write_text("# One\n")
    bench = open_bench(folder=project / ".workbench")
    first = check_all(bench.library, clock(), Checks())
    assert first.files[project / "MEMORY.md"].findings == ()
    (project / "one.md").unlink()
    (project / "NOTES.md").write_text("# no topic\n")
    second = check_all(bench.library, clock(), first)
    assert [finding.rule for finding in second.files[project / "MEMORY.md"].findings] == [
        "broken-link"
    ]


def test_a_fix_is_taken_back_whole_or_not_at_all(tmp_path: Path, clock: Clock) -> None:
    path, older = tmp_path / "MEMORY.md", tmp_path / "older-memories.md"
    text = "".join(f"- line {n}\n" for n in range(250))
    path.write_text(text)
    (finding,) = look_over(path, clock()).findings
    assert finding.fix is not None
    changes = preview(path, [finding.fix])
    make(changes, Replaced(tmp_path / "replaced"))
    assert older.exists()
    after = older.read_text()
    older.write_text(after + "more\n")
    with pytest.raises(Conflict, match="changed by another program"):
        take_back(changes)
    assert path.read_text() != text
    older.write_text(after)
    take_back(changes)
    assert (path.read_text(), older.exists()) == (text, False)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("a.txt", "/base/a.txt"), ("/x/y", "/x/y"), ("'/x/a b'", "/x/a b"), ('"/x/y" ', "/x/y"), ("/x/a\\ b", "/x/a b"),
        ("file:///x/a%20b", "/x/a b"), ("~/y", "/home/ann/y"), ("'~/y'", "/home/ann/y"),
    ],
)  # fmt: skip
def test_typed_and_pasted_paths(monkeypatch: pytest.MonkeyPatch, typed: str, meant: str) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert as_named(typed, Path("/base")) == Path(meant)


def test_a_file_that_is_really_called_so_comes_first(tmp_path: Path) -> None:
    (tmp_path / "'odd'").write_text("x")
    assert as_named("'odd'", tmp_path) == tmp_path / "'odd'"
    for wrong in ("", "  ", "''", "~nobody-of-that-name/x"):
        with pytest.raises(WorkbenchError):
            as_named(wrong, tmp_path)


def test_a_folder_lists_what_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(BOOK)
    (tmp_path / "notes.txt").write_text("just words\n")
    (tmp_path / ".hidden.txt").write_text(BOOK)
    (tmp_path / "inner").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    found = listing(tmp_path)
    assert [(one.path.name, one.folder, one.title) for one in found.offered] == [
        ("book.txt", False, "ACE playbook"), ("inner", True, ""),
    ]  # fmt: skip
    assert (found.offered[0].confidence, found.offered[0].size, found.others) == (
        0.97,
        len(BOOK),
        2,
    )
    assert listing(tmp_path, cancelled=lambda: True).offered == ()
    with pytest.raises(UnreadableFile, match="cannot be opened"):
        listing(tmp_path / "none")


def test_names_go_on_as_far_as_they_agree(tmp_path: Path) -> None:
    for name in ("book-one.txt", "book-two.txt", ".bookrc"):
        (tmp_path / name).write_text("x")
    offered = completions(tmp_path / "bo")
    assert [one.path.name for one in offered] == ["book-one.txt", "book-two.txt"]
    assert completed(tmp_path / "bo", offered) == tmp_path / "book-"
    assert completed(tmp_path / "bo", offered[:1]) == tmp_path / "book-one.txt"
    assert completed(tmp_path / "bo", ()) == tmp_path / "bo"
    assert [one.path.name for one in completions(tmp_path / ".b")] == [".bookrc"]
    assert completions(tmp_path / "none" / "x") == ()
    assert replace(offered[0], folder=True) == Offered(tmp_path / "book-one.txt", True)
