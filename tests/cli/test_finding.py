"""`review --found`: what waits without being stored is listed, shown and decided like the rest."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli
from tests.core.samples import memory
from workbench.core.review.proposal import Proposal
from workbench.services.open import open_workbench
from workbench.services.review.kinds import mark_of
from workbench.services.safety.provenance import provenances
from workbench.store.library import Library

OLD = NOW.replace(month=1)
KEY = "AKIAZ7QWERTYUI5PLMNB"
FILED = '{"id": "f", "timestamp": "2026-03-19T10:00:00Z", "type": "error", "context": "%s"}\n'


@pytest.fixture
def filled(cli: Cli) -> Cli:
    cli.ok("init")
    cli.write("log.jsonl", FILED % "The build needs NODE_ENV.")
    cli.ok("import", "log.jsonl")
    library = Library(cli.store)
    with library.transaction("human", "prepare") as tx:
        tx.put(memory("noise", "A line that nobody touched.", created_at=OLD, last_accessed_at=OLD))
        for id in ("one", "two"):
            tx.put(
                memory(id, "Deploys need AUTH_SECRET in CI.", created_at=NOW, last_accessed_at=NOW)
            )
    library.close()
    return cli


def found(cli: Cli, *options: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("review", "list", "--found", *options)
    return rows


def kinds(cli: Cli) -> list[str]:
    return sorted(row["kind"] for row in found(cli))


def status(cli: Cli, id: str) -> str:
    return str(cli.json("show", id)["status"])


def test_near_copies_and_prunes_are_listed_only_when_asked_for(filled: Cli) -> None:
    assert kinds(filled) == ["merge", "prune"]
    assert all(row["stored"] is False for row in found(filled))
    assert filled.told("review", "list") == []
    assert [row["kind"] for row in found(filled, "--kind", "prune")] == ["prune"]
    assert filled.json("status")["pending"] == 0


@pytest.mark.slow
def test_one_is_shown_accepted_and_taken_back(filled: Cli) -> None:
    (prune,) = found(filled, "--kind", "prune")
    assert "Should this be archived?" in filled.ok("review", "show", prune["id"], "--quick")
    filled.ok("review", "approve", prune["id"])
    assert (status(filled, "noise"), kinds(filled)) == ("archived", ["merge"])
    filled.ok("undo")
    assert (status(filled, "noise"), kinds(filled)) == ("signal", ["merge", "prune"])


def test_one_that_is_rejected_is_not_found_again_and_one_put_off_waits_stored(filled: Cli) -> None:
    merge, prune = (row["id"] for row in sorted(found(filled), key=lambda row: str(row["kind"])))
    filled.ok("review", "reject", merge)
    filled.ok("review", "later", prune)
    assert [(row["id"], row["stored"]) for row in found(filled)] == [(prune, True)]


def test_all_of_a_kind_are_decided_after_a_yes(filled: Cli) -> None:
    assert filled("review", "approve", "--kind", "prune").code == 2
    assert (
        "Nothing was decided yet" in filled("review", "approve", "--kind", "prune", "--found").err
    )
    filled.ok("review", "approve", "--kind", "prune", "--found", "--yes")
    assert status(filled, "noise") == "archived"


@pytest.mark.slow
@pytest.mark.parametrize("reason", [(), ("--reason", f"it is newer {KEY}")])
def test_a_file_that_changed_is_taken_over_as_an_import(
    filled: Cli, reason: tuple[str, ...]
) -> None:
    filled.write("log.jsonl", FILED % "The build needs NODE_ENV=production.")
    (row,) = found(filled, "--kind", "file")
    assert row["title"] == "log.jsonl"
    assert row["reasons"] == ["1 record differs"]
    assert [line[0] for line in row["operation"]["lines"]] == ["-", "+"]
    filled.ok("review", "approve", row["id"], *reason)
    assert "NODE_ENV=production" in filled.ok("show", "f")
    assert KEY not in filled.ok("history")
    assert (filled("watch").code, found(filled, "--kind", "file")) == (0, [])
    bench = open_workbench(filled.store, profiles=filled.cwd)
    (known,) = provenances(bench.context, [bench.library.memories.get("f")]).values()
    bench.close()
    assert (known.kind, known.approved) == ("import", False), (
        "a yes takes the file over, it stands by none of its texts"
    )
    filled.ok("undo")
    assert "NODE_ENV=production" not in filled.ok("show", "f")
    assert [one["id"] for one in found(filled, "--kind", "file")] == [row["id"]]


def test_what_changed_once_more_is_not_taken_over(filled: Cli) -> None:
    path = Path(filled.cwd, "log.jsonl")
    path.write_text(FILED % "One.")
    (row,) = found(filled, "--kind", "file")
    filled.ok("review", "later", row["id"])
    path.write_text(FILED % "Another.")
    refused = filled("review", "approve", row["id"])
    assert (refused.code, "changed again" in refused.err) == (2, True)
    assert "The build needs" in filled.ok("show", "f")


def test_a_file_that_is_gone_is_watched_no_longer(filled: Cli) -> None:
    Path(filled.cwd, "log.jsonl").unlink()
    (row,) = found(filled, "--kind", "file")
    assert row["title"] == "log.jsonl was deleted"
    filled.ok("review", "approve", row["id"])
    assert filled("watch").code == 0
    assert status(filled, "f") == "signal"


def test_the_notes_of_a_folder_are_one_question(cli: Cli) -> None:
    cli.ok("init")
    (cli.cwd / "bank" / "deep").mkdir(parents=True)
    for name in ("one", "deep/two"):
        (cli.cwd / "bank" / f"{name}.md").write_text(f"Note {name}.\n")
    cli.ok("import", "bank")
    for name in ("one", "deep/two"):
        (cli.cwd / "bank" / f"{name}.md").write_text(f"Another note {name}.\n")
    (row,) = found(cli, "--kind", "file")
    assert (row["title"], row["reasons"]) == ("bank: 2 files changed", ["2 records differ"])
    cli.ok("review", "approve", row["id"])
    assert (cli("watch").code, cli.ok("list", "--json").count("Another note")) == (0, 2)


def test_files_are_taken_over_apart_from_other_decisions(filled: Cli) -> None:
    filled.write("log.jsonl", FILED % "Another.")
    ids = [row["id"] for row in found(filled) if row["kind"] in ("file", "prune")]
    refused = filled("review", "approve", *ids)
    assert (refused.code, "separately from other proposals" in refused.err) == (2, True)


def test_a_name_that_nothing_has_says_so(filled: Cli) -> None:
    assert filled("review", "approve", "prune-nobody-1").code == 2
    assert filled("review", "show", "file-nothing").code == 2


def test_the_folder_of_a_note_is_the_one_it_was_read_with_whatever_an_import_says(cli: Cli) -> None:
    cli.ok("init")
    notes, other = cli.cwd / "a" / "notes", cli.cwd / "other"
    notes.mkdir(parents=True)
    other.mkdir()
    (notes / "x.md").write_text("One.\n")
    (other / "secret-diary.md").write_text("Nobody's business.\n")
    cli.ok("import", "a/notes")
    for n, named in enumerate(("a/notes/x.md", Path(notes, "x.md").relative_to("/").as_posix())):
        at, source = "2026-03-19T10:00:00Z", {"hook": None, "turn": None, "file": named}
        line: dict[str, object] = {"id": f"mem-20260319-000000{n}", "content": f"Line {n}."}
        line |= {"created_at": at, "last_accessed_at": at, "source": source}
        cli.write(f"hostile{n}.jsonl", json.dumps(line) + "\n")
        cli.ok("import", f"hostile{n}.jsonl")
    assert {row["source"]["file"] for row in cli.json("list")} > {"a/notes/x.md"}
    (notes / "x.md").write_text("Two.\n")
    (notes / "y.md").write_text("Lies beside it.\n")
    (row,) = found(cli, "--kind", "file")
    assert (row["operation"]["path"], row["reasons"]) == (str(notes), ["1 record differs"])
    assert "diary" not in json.dumps(row)
    cli.ok("review", "approve", row["id"])
    kept = cli.ok("list", "--json")
    assert ("Two." in kept, "Nobody's" in kept, "Lies beside" in kept) == (True, False, False)


def test_only_the_folders_on_the_way_to_what_changed_are_looked_into(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("init")
    for folder in ("bank/deep", "bank/wide/far"):
        (cli.cwd / folder).mkdir(parents=True)
        (cli.cwd / folder / "one.md").write_text(f"In {folder}.\n")
    cli.ok("import", "bank")
    (cli.cwd / "bank" / "deep" / "one.md").write_text("Another.\n")
    looked, scan = list[str](), os.scandir

    def scandir(path: Path) -> Any:
        looked.append(Path(path).name)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(cli, "--kind", "file")[0]["reasons"] == ["1 record differs"]
    assert ("deep" in looked, "wide" in looked) == (True, False)


def test_a_note_that_is_gone_or_empty_is_of_its_folder_still(cli: Cli) -> None:
    cli.ok("init")
    (cli.cwd / "bank" / "deep").mkdir(parents=True)
    for name in ("one", "deep/two"):
        (cli.cwd / "bank" / f"{name}.md").write_text(f"Note {name}.\n")
    cli.ok("import", "bank")
    (cli.cwd / "bank" / "one.md").write_text("")
    (cli.cwd / "bank" / "deep" / "two.md").unlink()
    (row,) = found(cli, "--kind", "file")
    assert (Path(row["operation"]["path"]).name, len(row["operation"]["files"])) == ("bank", 2)


def test_a_store_that_is_not_trusted_names_no_file_of_this_machine(
    filled: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    filled.write("log.jsonl", FILED % "Another.")
    (row,) = found(filled, "--kind", "file")
    copies = [replace(filled, store=tmp_path / name) for name in ("elsewhere", "put-off")]
    shutil.copytree(filled.store, copies[0].store)
    filled.ok("review", "later", row["id"])
    shutil.copytree(filled.store, copies[1].store)
    monkeypatch.delenv("WORKBENCH_TRUST")
    rows = json.loads(copies[0]("review", "list", "--found", "--json").out)
    assert {one["kind"] for one in rows} == {"merge", "prune", "trust"}
    elsewhere = copies[1]
    refused = elsewhere("review", "approve", row["id"])
    assert (refused.code != 0, "The build needs" in elsewhere("show", "f").out) == (True, True)
    assert "not trusted" in refused.err


def test_a_proposal_that_names_what_the_store_was_not_read_from_is_refused(filled: Cli) -> None:
    (filled.cwd / "other").mkdir()
    filled.write("other/diary.md", "Nobody's business.\n")
    filled.write("log.jsonl", FILED % "Another.")
    (row,) = found(filled, "--kind", "file")
    for n, (path, files) in enumerate(
        (
            ("", [filled.cwd / "log.jsonl"]),
            ("other", [filled.cwd / "other/diary.md"]),
            ("other/diary.md", []),
        )
    ):
        operation = {"path": str(filled.cwd / path), "files": [str(file) for file in files], "gone": [],
                     "mark": mark_of(files), "lines": []}  # fmt: skip
        library = Library(filled.store)
        with library.transaction("human", "prepare") as tx:
            tx.put(
                Proposal(f"file-{n}", "file", "workbench", row["title"], NOW, operation=operation)
            )
        library.close()
        filled("review", "approve", f"file-{n}")
        kept = filled.ok("list", "--json")
        assert ("business" in kept, "Another." in kept) == (False, False), path
