"""`import FOLDER`: one record a file, links as relations, unchanged files passed over, theirs,
undo.
"""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

FILES = {
    "coffee.md": "---\ntitle: Coffee\npermalink: notes/coffee\n---\nSee [[Tea Notes]] and [the plan](sub/plan.md).\n",
    "tea.md": "---\ntitle: Tea Notes\n---\nGreen, [[notes/coffee|back]], [[nowhere]].\n",
    "sub/plan.md": "# Plan\n\nAsk first.\n",
    "memory/MEMORY.md": "- [A](a.md) — about a\n",
    "memory/a.md": "---\nname: A\ndescription: about a\ntype: project\n---\nBody of A\n",
    "memory/2026-05-01.md": "## Morning\nfixed CI\n\n## Evening\nslept\n",
    "CLAUDE.md": "# Rules\n\n- Do not push\n",
    "empty.md": "",
    "page.bin": "\0\1",
}


@pytest.fixture
def vault(cli: Cli) -> Path:
    cli.ok("init")
    for name, text in FILES.items():
        (cli.cwd / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (cli.cwd / "vault" / name).write_text(text)
    return cli.cwd / "vault"


def taken(cli: Cli, *args: str) -> str:
    """Import, and return what was printed; what could not be read is said beside that."""
    said = cli("import", *args)
    assert said.code == 0
    return said.out


def memories(cli: Cli) -> dict[str, dict[str, object]]:
    rows = cli.json("list")
    return {row["summary"]: row for row in rows}


def test_a_folder_is_read_note_by_note(cli: Cli, vault: Path) -> None:
    said = cli("import", "vault")
    assert said.out.startswith("vault: a folder of 8 files\n  new: 6 memories\n")
    assert said.err.startswith("vault/CLAUDE.md:1: an instruction file is a document")
    found = memories(cli)
    assert {"Coffee", "Tea Notes", "Plan", "about a", "Morning", "Evening"} == set(found)
    coffee, tea, plan = found["Coffee"]["id"], found["Tea Notes"]["id"], found["Plan"]["id"]
    assert found["Coffee"]["related"] == [tea, plan]
    assert found["Tea Notes"]["related"] == [coffee]


@pytest.mark.slow
def test_what_is_unchanged_is_passed_over_and_theirs_takes_the_rest(cli: Cli, vault: Path) -> None:
    taken(cli, "vault")
    assert taken(cli, "vault").startswith(
        "vault: a folder of 8 files, 8 as they were\n  nothing new\n"
    )
    (vault / "tea.md").write_text(FILES["tea.md"].replace("Green", "Black"))
    (vault / "new.md").write_text("Something new.\n")
    said = taken(cli, "vault")
    assert "a folder of 9 files, 7 as they were" in said
    assert "new: 1 memory · 1 kept" in said
    # What differs is told again until somebody decides.
    assert "1 kept" in taken(cli, "vault")
    dry = taken(cli, "vault", "--theirs", "--dry-run")
    assert "1 record would be replaced" in dry
    taken(cli, "vault", "--theirs")
    assert str(memories(cli)["Tea Notes"]["content"]).startswith("Black")
    assert "9 as they were\n  nothing new\n" in taken(cli, "vault")
    cli.ok("undo")
    assert str(memories(cli)["Tea Notes"]["content"]).startswith("Green")


def test_undo_takes_a_folder_back_and_it_can_come_again(cli: Cli, vault: Path) -> None:
    taken(cli, "vault")
    cli.ok("undo")
    assert memories(cli) == {}
    assert "new: 6 memories" in taken(cli, "vault")


def test_links_out_of_a_folder_are_never_followed(cli: Cli, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside\n")
    (vault / "link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(vault / "pipe.md")
    said = cli("import", "vault")
    assert "passed over, links: 1 (link.md)" in said.out
    assert "passed over, no ordinary files: 1 (pipe.md)" in said.out
    assert "new: 6 memories" in said.out


def test_folders_that_cannot_be_read(cli: Cli, vault: Path) -> None:
    del vault
    (cli.cwd / "nothing").mkdir()
    assert taken(cli, "nothing") == "nothing: a folder of 0 files\n  it holds no records\n"
    cli.refused("import", "no-such-folder/")


def test_json_of_a_folder(cli: Cli, vault: Path) -> None:
    (answer,) = json.loads(taken(cli, "vault", "--json"))
    assert answer["format"] == "notes"
    assert answer["new"]["memories"] == 6
    del vault


def test_xml_is_a_note_in_a_folder_called_memories_only(cli: Cli) -> None:
    cli.ok("init")
    for name in ("app/pom.xml", "app/memories/shop.xml", "app/memories/ann.txt"):
        (cli.cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (cli.cwd / name).write_text(f"<note>About {name}.</note>\n")
    assert "new: 2 memories" in cli.ok("import", "app")
    assert cli("watch", "app").code == 0
    shop = next(row for row in cli.json("list") if "shop.xml" in row["content"])
    cli.ok("edit", shop["id"], "--content", "<note>About the shop.</note>")
    cli.ok("export", "--format", "notes", "--out", "app")
    assert (cli.cwd / "app/memories/shop.xml").read_text() == "<note>About the shop.</note>\n"
    assert "pom.xml" in cli.ok("documents", "app")


def test_a_memory_bank_with_an_overview_is_read_file_by_file(cli: Cli) -> None:
    cli.ok("init")
    (cli.cwd / "memory-bank").mkdir()
    for name in ("overview", "productContext", "progress", "techContext"):
        (cli.cwd / f"memory-bank/{name}.md").write_text(f"# {name}\n\nWhat is known of {name}.\n")
    assert "new: 4 memories" in taken(cli, "memory-bank")


def test_what_is_passed_over_in_a_folder_is_named_in_groups(cli: Cli) -> None:
    cli.ok("init")
    for name in (
        *(f"{n}.json" for n in range(5)),
        "memory.jsonl",
        ".obsidian/app.json",
        "note.md",
        "LICENSE",
    ):
        (cli.cwd / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (cli.cwd / "vault" / name).write_text("{}\n")
    said = taken(cli, "vault", "--dry-run")
    assert "  passed over, hidden: 1 (.obsidian)\n" in said
    assert "  passed over, .json files: 5 (0.json, 1.json, 2.json, …)\n" in said
    assert "  passed over, .jsonl files: 1 (memory.jsonl)\n" in said
    assert "  passed over, other files: 1 (LICENSE)\n" in said
    (cli.cwd / "vault/two\nlines.bin").write_text("x")
    assert "  passed over, .bin files: 1 (two⏎lines.bin)\n" in taken(cli, "vault", "--dry-run")
    assert "(0.json, 1.json, 2.json, 3.json, 4.json)" in taken(
        cli, "vault", "--dry-run", "--verbose"
    )
    (answer,) = json.loads(taken(cli, "vault", "--json"))
    assert answer["passed_over"][".jsonl files"] == ["memory.jsonl"]


def test_what_is_no_part_of_a_session_is_named(cli: Cli) -> None:
    cli.ok("init")
    (cli.cwd / "session/detail").mkdir(parents=True)
    for name in ("overview.md", "detail/auth.md", "README.md"):
        (cli.cwd / "session" / name).write_text("# Said\n\nSomething.\n")
    assert "passed over, no part of the session: 1 (README.md)" in taken(cli, "session")


def test_only_what_is_no_episode_is_passed_over_of_a_folder_of_episodes(cli: Cli) -> None:
    cli.ok("init")
    (cli.cwd / "agent").mkdir()
    episode = {"id": "ep-1", "task": {"original_input": "fix it"}, "outcome": {"status": "SUCCESS"}}
    (cli.cwd / "agent/one.json").write_text(json.dumps(episode))
    (cli.cwd / "agent/memory.jsonl").write_text("{}\n")
    said = taken(cli, "agent", "--dry-run")
    assert "passed over, .jsonl files: 1 (memory.jsonl)" in said
    assert ".json files" not in said


def test_imported_notes_are_in_no_context_that_they_have_nothing_to_do_with(
    cli: Cli, vault: Path
) -> None:
    taken(cli, "vault")
    del vault
    assert {row["status"] for row in memories(cli).values()} == {"signal"}
    said = cli.told("context", "the plan: ask first")
    assert not [
        layer for layer in said["layers"] if layer["layer"] in ("pinned", "known") and layer["ids"]
    ]
