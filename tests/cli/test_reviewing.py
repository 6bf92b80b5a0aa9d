"""`workbench review`, `upkeep` and `dedup`: what waits and what is found is listed, shown and decided from
the command line; promotion into files, files that changed, and records of instruction files.
"""

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.shared import memory, stored
from tests.safety.samples import keys
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.services.review.kinds import mark_of
from workbench.services.safety.provenance import provenances

BEGIN, END = "<!-- memory-workbench:begin -->", "<!-- memory-workbench:end -->"


@pytest.fixture
def queue(cli: Cli) -> Cli:
    """A project's store with three candidates, a confirmed memory, and a question about it."""
    cli.store = cli.cwd / ".workbench"

    def candidate(id: str, content: str, cites: str, **fields: Any) -> Memory:
        return memory(id, content, status="candidate", citations=(cites,), **fields)

    stored(
        cli,
        memory("o1", "npm broke the lock file twice."),
        candidate("c1", "Use pnpm.\nNever npm.", "o1", importance_score=8),
        candidate("c2", "The cache is cleared after the commit.", "nowhere"),
        candidate("c3", "\x1b[31mred", "o1", importance_score=2),
        memory("k1", "Deploys need a second person.", status="confirmed"),
        Proposal("skill-k1", "skill", "upkeep", "Deploys", NOW, evidence=("k1",), importance=1),
        by="setup",
    )
    return cli


def status(cli: Cli, id: str) -> str:
    doc = cli.json("show", id)
    return str(doc["status"])


def test_the_queue_is_listed_in_its_order_with_flags(queue: Cli) -> None:
    lines = queue.ok("review", "list").splitlines()
    assert [line.split()[0] for line in lines] == ["c2", "c3", "c1", "skill-k1"]
    assert "! no evidence" in lines[0]
    assert "\x1b" not in "".join(lines)
    assert queue.ok("review").splitlines() == lines
    for filter, first in ((("pnpm",), "c1"), (("--kind", "skill"), "skill-k1"), (("-pnpm",), "c2")):
        assert queue.ok("review", "list", *filter).split()[0] == first
    assert queue("review", "list", "-n", "1", "--json").err == "1 of 4; --limit 0 lists all.\n"
    assert queue("review", "list", "zzz").err == "No proposal matches; 4 proposals in all.\n"


def test_showing_prints_the_evidence_in_full(queue: Cli) -> None:
    out = queue.ok("review", "show", "c1", "--quick")
    assert "Use pnpm.\nNever npm.\n" in out
    assert "cites o1\n  npm broke the lock file twice.\n" in out
    assert "cites nowhere · not in this store" in queue.ok("review", "show", "c2", "--quick")
    doc = queue.json("review", "show", "c3", "--quick")
    assert doc["memory"]["content"] == "\x1b[31mred"
    assert doc["evidence"]["cited"][0]["id"] == "o1"


def test_showing_looks_for_what_is_alike(queue: Cli) -> None:
    doc = queue.json("review", "show", "c1")
    assert doc["evidence"]["searched"]
    assert "o1" not in [near["id"] for near in doc["evidence"]["near"]]
    assert "k1" in [near["id"] for near in doc["evidence"]["near"]]
    assert "alike\n  " in queue.ok("review", "show", "c1")


def test_decisions_are_one_action_each(queue: Cli) -> None:
    assert queue.ok("review", "approve", "c1", "c1", "c2").startswith("Approved 2 proposals.")
    assert status(queue, "c1") == "confirmed"
    assert status(queue, "c2") == "confirmed"
    queue.ok("undo")
    assert status(queue, "c1") == "candidate"
    assert status(queue, "c2") == "candidate"
    assert queue.json("review", "reject", "c1", "--reason", "not\ntrue")["ids"] == ["c1"]
    assert queue.json("show", "c1")["metadata"]["rejected_because"] == "not true"
    queue.ok("review", "later", "c2", "--reason", "ask Ana")
    assert "put off c2: ask Ana" in queue.ok("history", "-n", "1")


def test_a_filter_decides_only_after_a_yes(queue: Cli) -> None:
    before = files_of(queue.store)
    listed = queue("review", "reject", "--kind", "reflection")
    assert listed.code == 2
    assert len(listed.out.splitlines()) == 3
    assert "Nothing was decided yet: this concerns 3 proposals. Add --yes" in listed.err
    queue.refused("review", "approve", "c1", "--filter", "pnpm")
    assert "No proposal matches" in queue("review", "later", "--filter", "zzz", "--yes").err
    assert files_of(queue.store) == before
    queue.ok("review", "approve", "--filter", "cache", "--kind", "reflection", "--yes")
    assert status(queue, "c2") == "confirmed"
    assert status(queue, "c1") == "candidate"
    assert queue.ok("review", "reject", "--kind", "reflection", "--yes").startswith(
        "Rejected 2 proposals."
    )


def test_merging_keeps_the_memory_and_a_dry_run_shows_the_difference(queue: Cli) -> None:
    before = files_of(queue.store)
    shown = queue.ok("review", "merge", "c2", "k1", "--dry-run")
    assert "[-Deploys" in shown
    assert "k1 would stay confirmed and keep its own text" in shown
    assert files_of(queue.store) == before
    queue.ok("review", "merge", "c2", "k1")
    assert queue.json("show", "k1")["content"].startswith("Deploys")
    queue.ok("review", "merge", "c1", "o1", "--text", "candidate")
    assert queue.json("show", "o1")["content"] == "Use pnpm.\nNever npm."


def test_a_dry_run_shows_the_difference_and_writes_nothing(queue: Cli) -> None:
    queue.write("CLAUDE.md", "# Mine\n")
    before = files_of(queue.cwd)
    result = queue("review", "promote", "c1", "--to", "CLAUDE.md", "--dry-run")
    assert result.code == 0
    assert f"+{BEGIN}\n+## Learned\n+\n+- Use pnpm.\n+  Never npm.\n+{END}\n" in result.out
    assert "c1 would be promoted to CLAUDE.md. Nothing was written." in result.out
    assert "c1 is approved by this." in result.err
    assert files_of(queue.cwd) == before
    doc = queue.json("review", "promote", "c1", "--to", "CLAUDE.md", "--dry-run")
    assert doc["to"] == ["CLAUDE.md"]
    assert doc["approves"] == ["c1"]
    assert doc["text"] == "- Use pnpm.\n  Never npm."


def test_an_entry_under_a_chosen_section_with_the_size_of_the_file(queue: Cli) -> None:
    text = "# Rules\n\n## Build\n\nmake\n\n## Test\n\npytest\n"
    path = queue.cwd / queue.write("CLAUDE.md", text)
    promote = ("review", "promote", "c1", "--to", "CLAUDE.md", "--section")
    (size,) = queue.json(*promote, "build", "--dry-run")["sizes"]
    assert size["file"] == "CLAUDE.md"
    assert size["bytes"] == 129
    assert size["limit_bytes"] == 40_000
    queue.ok(*promote, "Rules > Build")
    block = f"make\n\n{BEGIN}\n- Use pnpm.\n  Never npm.\n{END}\n"
    assert path.read_text() == text.replace("make\n", block)
    queue.ok("undo")
    assert path.read_text() == text
    assert "There are: Rules (line 1), Rules › Build" in queue.refused(*promote, "Ship")
    queue.refused("review", "promote", "c1", "--to", "skill", "--section", "x")


def test_every_kind_of_target(queue: Cli) -> None:
    queue("import", queue.write("p.txt", "## RULES\n[r-00001] helpful=1 harmful=0 :: Look.\n"))
    promote = ("review", "promote")
    assert "[rule-00002] helpful=0" in queue.ok(*promote, "c1", "--to", "playbook:rules")
    queue.ok(*promote, "c2", "--to", "memory", "--title", "Cache", "--about", "When to clear it")
    index = (queue.cwd / ".claude/memory/MEMORY.md").read_text()
    assert "- [Cache](cache.md) — When to clear it" in index
    queue.ok(*promote, "skill-k1", "--to", "skill", "--name", "deploy")
    assert (queue.cwd / ".claude/skills/deploy/SKILL.md").exists()
    assert [status(queue, id) for id in ("c1", "c2", "k1")] == ["promoted"] * 3


def test_a_path_counts_from_the_working_directory_and_usual_names_from_the_project(
    queue: Cli,
) -> None:
    project, below = queue.cwd, queue.cwd / "docs"
    below.mkdir()
    queue.cwd = below
    queue.ok("review", "promote", "c1", "--to", "notes.md")
    queue.ok("review", "promote", "c2", "--to", "AGENTS.md")
    assert sorted(str(p.relative_to(project)) for p in project.rglob("*.md")) == [
        "AGENTS.md",
        "docs/notes.md",
    ]


def test_outside_the_project_only_when_agreed_to(queue: Cli, tmp_path: Path) -> None:
    args = ("review", "promote", "k1", "--to", "../far.md")
    err = queue.refused(*args)
    assert "lies outside the project. Nothing was written; --outside allows that." in err
    assert not (tmp_path / "far.md").exists()
    queue.ok(*args, "--outside")
    assert "second person" in (tmp_path / "far.md").read_text()


def test_headings_of_a_file_are_named_without_their_secrets(queue: Cli) -> None:
    _, key = keys()["github"]
    queue.write("CLAUDE.md", f"# Rules\n\n## Keys {key}\n\nthese\n\n## Keys {key}\n\nthose\n")
    for section in ("Nope", f"Keys {key}"):
        err = queue.refused("review", "promote", "c1", "--to", "CLAUDE.md", "--section", section)
        assert key not in err
        assert "Keys [secret: GitHub token]" in err


OLD = NOW.replace(month=1)


FILED = '{"id": "f", "timestamp": "2026-03-19T10:00:00Z", "type": "error", "context": "%s"}\n'


@pytest.fixture
def imported(cli: Cli) -> Cli:
    cli.ok("init")
    cli.write("log.jsonl", FILED % "The build needs NODE_ENV.")
    cli.ok("import", "log.jsonl")
    stored(
        cli,
        memory("noise", "A line that nobody touched.", OLD),
        *(memory(id, "Deploys need AUTH_SECRET in CI.") for id in ("one", "two")),
    )
    return cli


def found(cli: Cli, *options: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("review", "list", "--found", *options)
    return sorted(rows, key=lambda row: str(row["kind"]))


def test_near_copies_and_prunes_are_listed_only_when_asked_for(imported: Cli) -> None:
    rows = found(imported)
    assert [(row["kind"], row["stored"]) for row in rows] == [("merge", False), ("prune", False)]
    assert [row["kind"] for row in found(imported, "--kind", "prune")] == ["prune"]
    assert imported.told("review", "list") == []
    assert imported.json("status")["pending"] == 0


def test_one_is_shown_turned_down_and_put_off(imported: Cli) -> None:
    merge, prune = (row["id"] for row in found(imported))
    assert "Should this be archived?" in imported.ok("review", "show", prune, "--quick")
    imported.ok("review", "reject", merge)
    imported.ok("review", "later", prune)
    assert [(row["id"], row["stored"]) for row in found(imported)] == [(prune, True)]
    imported.ok("review", "approve", prune)
    assert status(imported, "noise") == "archived"
    imported.ok("undo")
    assert status(imported, "noise") == "signal"


@pytest.mark.slow
def test_a_file_that_changed_is_taken_over_as_an_import(imported: Cli) -> None:
    imported.write("log.jsonl", FILED % "The build needs NODE_ENV=production.")
    (row,) = found(imported, "--kind", "file")
    assert row["title"] == "log.jsonl"
    assert row["reasons"] == ["1 record differs"]
    assert [line[0] for line in row["operation"]["lines"]] == ["-", "+"]
    _, key = keys()["github"]
    imported.ok("review", "approve", row["id"], "--reason", f"it is newer {key}")
    assert "NODE_ENV=production" in imported.ok("show", "f")
    assert key not in imported.ok("history")
    assert imported("watch").code == 0
    assert found(imported, "--kind", "file") == []
    bench = open_workbench(imported.store, profiles=imported.cwd)
    (known,) = provenances(bench.context, [bench.library.memories.get("f")]).values()
    bench.close()
    assert known.kind == "import"
    assert known.approved is False, "a yes stands by none of its texts"
    imported.ok("undo")
    assert "NODE_ENV=production" not in imported.ok("show", "f")
    assert [one["id"] for one in found(imported, "--kind", "file")] == [row["id"]]


def test_what_changed_once_more_is_not_taken_over(imported: Cli) -> None:
    imported.write("log.jsonl", FILED % "One.")
    file, _, prune = (row["id"] for row in found(imported))
    assert "separately from other proposals" in imported.refused("review", "approve", file, prune)
    imported.ok("review", "later", file)
    imported.write("log.jsonl", FILED % "Another.")
    assert "changed again" in imported.refused("review", "approve", file)
    assert "The build needs" in imported.ok("show", "f")


def test_a_file_that_is_gone_is_watched_no_longer(imported: Cli) -> None:
    Path(imported.cwd, "log.jsonl").unlink()
    (row,) = found(imported, "--kind", "file")
    assert row["title"] == "log.jsonl was deleted"
    imported.ok("review", "approve", row["id"])
    assert imported("watch").code == 0
    assert status(imported, "f") == "signal"


def test_the_notes_of_a_folder_are_one_question(cli: Cli) -> None:
    cli.ok("init")
    for name in ("one", "deep/two"):
        cli.write(f"bank/{name}.md", f"Note {name}.\n")
    cli.ok("import", "bank")
    for name in ("one", "deep/two"):
        cli.write(f"bank/{name}.md", f"Another note {name}.\n")
    (row,) = found(cli, "--kind", "file")
    assert row["title"] == "bank: 2 files changed"
    assert row["reasons"] == ["2 records differ"]
    cli.ok("review", "approve", row["id"])
    assert cli("watch").code == 0
    assert cli.ok("list", "--json").count("Another note") == 2


def test_the_folder_of_a_note_is_the_one_it_was_read_with_whatever_an_import_says(cli: Cli) -> None:
    cli.ok("init")
    notes = cli.cwd / "a" / "notes"

    cli.write("a/notes/x.md", "One.\n")
    cli.write("other/secret-diary.md", "Nobody's business.\n")
    cli.ok("import", "a/notes")
    for n, named in enumerate(("a/notes/x.md", Path(notes, "x.md").relative_to("/").as_posix())):
        line = {"id": f"mem-20260319-000000{n}", "content": f"Line {n}.", "source": {"file": named}}
        cli.ok("import", cli.write(f"hostile{n}.jsonl", json.dumps(line) + "\n"))
    cli.write("a/notes/x.md", "Two.\n")
    cli.write("a/notes/y.md", "Lies beside it.\n")
    (row,) = found(cli, "--kind", "file")
    assert row["operation"]["path"] == str(notes)
    assert row["reasons"] == ["1 record differs"]
    assert "diary" not in json.dumps(row)
    cli.ok("review", "approve", row["id"])
    kept = cli.ok("list", "--json")
    assert "Two." in kept
    assert "Nobody's" not in kept
    assert "Lies beside" not in kept


def test_a_store_that_is_not_trusted_names_no_file_of_this_machine(
    imported: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    imported.write("log.jsonl", FILED % "Another.")
    (row,) = found(imported, "--kind", "file")
    copies = [replace(imported, store=tmp_path / name) for name in ("elsewhere", "put-off")]
    shutil.copytree(imported.store, copies[0].store)
    imported.ok("review", "later", row["id"])
    shutil.copytree(imported.store, copies[1].store)
    monkeypatch.delenv("WORKBENCH_TRUST")
    rows = json.loads(copies[0]("review", "list", "--found", "--json").out)
    assert {one["kind"] for one in rows} == {"merge", "prune", "trust"}
    elsewhere = copies[1]
    refused = elsewhere("review", "approve", row["id"])
    assert refused.code != 0
    assert "The build needs" in elsewhere("show", "f").out
    assert "not trusted" in refused.err


def test_a_proposal_that_names_what_the_store_was_not_read_from_is_refused(imported: Cli) -> None:
    imported.write("other/diary.md", "Nobody's business.\n")
    imported.write("log.jsonl", FILED % "Another.")
    (row,) = found(imported, "--kind", "file")
    for n, (path, files) in enumerate(
        (
            ("", [imported.cwd / "log.jsonl"]),
            ("other", [imported.cwd / "other/diary.md"]),
            ("other/diary.md", []),
        )
    ):
        operation = {"path": str(imported.cwd / path), "files": [str(file) for file in files], "gone": [],
                     "mark": mark_of(files), "lines": []}  # fmt: skip
        stored(
            imported,
            Proposal(f"file-{n}", "file", "workbench", row["title"], NOW, operation=operation),
        )
        imported("review", "approve", f"file-{n}")
        kept = imported.ok("list", "--json")
        assert "business" not in kept
        assert "Another." not in kept, path


FRIDAY = "Deploys on Friday need a second person"


def made(id: str, content: str, days: float, **fields: Any) -> Memory:
    return memory(id, content, NOW - timedelta(days=days), **fields)


def test_upkeep_says_first_and_proposes_then(cli: Cli) -> None:
    stored(
        cli,
        made("old", "a note nobody read", 20),
        made("seen", "said again", 2, helpful_absorbed=3),
    )
    before = files_of(cli.store)
    dry = cli.json("upkeep", "--dry-run")
    assert files_of(cli.store) == before
    out = cli.ok("upkeep")
    assert "archive as noise: 1\n  old  untouched for 20 days  a note nobody read" in out
    waiting = cli.ids("review", "list")
    assert sorted(p["id"] for p in dry["proposals"]) == sorted(waiting)
    assert "2 proposals from an earlier run" in cli.ok("upkeep")


def test_prunes_of_important_memories_are_approved_by_id_only(cli: Cli) -> None:
    stored(cli, made("old", "a note", 20), made("gold", "worth more", 20, importance_score=9))
    prunes = ("review", "approve", "--kind", "prune", "--found")
    assert "Nothing was decided yet" in cli(*prunes).err
    assert "Skipped: 1 memory of importance 8 or more" in cli(*prunes, "--yes").err
    assert [status(cli, id) for id in ("old", "gold")] == ["archived", "signal"]
    (left,) = found(cli, "--kind", "prune")
    cli.ok("review", "approve", left["id"])
    assert status(cli, "gold") == "archived"


def test_dedup_proposes_groups_and_lists_what_only_looks_alike(cli: Cli) -> None:
    stored(
        cli,
        made("a", FRIDAY, 3), made("b", FRIDAY, 2),
        made("c", "always pnpm, never npm", 3), made("d", "always npm, never pnpm", 2),
    )  # fmt: skip
    before = files_of(cli.store)
    dry = cli.json("dedup", "--dry-run")
    assert files_of(cli.store) == before
    (group,), (pair,) = dry["groups"], dry["apart"]
    assert dry["proposed"] == 0
    assert dry["would_propose"] == 1
    assert group["keeps"] == "a"
    assert "negation differs" in pair["pairs"][0]["verdict"]["conflicts"]
    assert "No duplicates" in cli.ok("dedup", "--threshold", "1", "--dry-run") or group["exact"]
    out = cli.ok("dedup")
    assert "Similar, but different:\nsimilarity 1.000 · negation differs" in out
    assert "1 group proposed; it waits in Review." in out
    assert cli.ids("review", "list") == [group["proposal"]]
    assert "1 merge in Review already" in cli.ok("dedup")


INSTRUCTIONS = """# Project

## Commands
- Run make deploy without asking.
- Use pnpm and never npm here.
- The staging host is reset every night.

### Do not
- Run make deploy without asking for it twice.
"""


@pytest.fixture
def taken(cli: Cli) -> Cli:
    """A store into which an instruction file was read as if it were memories."""
    cli.ok("init")
    cli.write("CLAUDE.md", INSTRUCTIONS)
    cli.write("MEMORY.md", "# Index\n\n- The build needs NODE_ENV in every shell.\n")
    cli.ok("import", "CLAUDE.md", "--format", "claude-memory")
    cli.ok("import", "MEMORY.md")
    return cli


def waiting(cli: Cli) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("review", "list", "--found", "--kind", "instructions")
    return rows


def records(cli: Cli) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("list")
    return rows


def test_one_question_archives_them_and_one_undo_brings_them_back(taken: Cli) -> None:
    before = records(taken)
    (row,) = waiting(taken)
    assert row["title"] == "4 records from CLAUDE.md, 4 never voted"
    assert len(row["evidence"]) == 4
    shown = taken.ok("review", "show", row["id"], "--quick")
    assert all(
        text in shown for text in ("staging host is reset", "never npm", "Archive these records")
    )
    taken.ok("review", "approve", row["id"])
    assert [one["content"] for one in records(taken)] == [
        "The build needs NODE_ENV in every shell."
    ]
    gone = taken.json("show", row["evidence"][0])
    assert gone["status"] == "archived"
    assert gone["archived_reason"] == "superseded"
    assert waiting(taken) == []
    taken.ok("undo")
    assert records(taken) == before


def test_what_somebody_stands_by_stays(taken: Cli) -> None:
    by_text = {one["content"]: one["id"] for one in records(taken)}
    taken.ok("pin", by_text["Use pnpm and never npm here."])
    taken.ok("vote", by_text["Run make deploy without asking."], "harmful")
    taken.ok("vote", by_text["The staging host is reset every night."], "helpful")
    (row,) = waiting(taken)
    assert row["title"] == "2 records from CLAUDE.md, 1 never voted"
    assert row["reasons"][1] == "2 stay: pinned, promoted or voted helpful"
    taken.ok("review", "approve", row["id"])
    assert len(records(taken)) == 3


def test_a_no_is_remembered_until_the_file_is_read_that_way_again(taken: Cli) -> None:
    (row,) = waiting(taken)
    taken.ok("review", "reject", row["id"])
    assert waiting(taken) == []
    taken.write("CLAUDE.md", f"{INSTRUCTIONS}- Ask before a migration is run by hand.\n")
    taken.ok("import", "CLAUDE.md", "--format", "claude-memory")
    assert [one["title"] for one in waiting(taken)] == ["5 records from CLAUDE.md, 5 never voted"]
