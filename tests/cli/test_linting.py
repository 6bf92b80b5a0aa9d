"""`workbench lint`: findings with places, fixes shown before they are made."""

import json

from tests.cli.conftest import Cli

BAD = "Title\n### RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n[r-00001] helpful=0 harmful=1 :: ask first.\n"


def test_findings_and_exit_codes(cli: Cli) -> None:
    cli.write("bad.txt", BAD)
    cli.write("good.txt", "## RULES\n[rule-00001] helpful=1 harmful=0 :: Ask first.\n\n## OTHERS\n")
    said = cli.bare("lint", "bad.txt", "good.txt")
    assert said.code == 1
    path = cli.cwd / "bad.txt"
    assert f"{path}:4: the id “r-00001” is used on line 3 already (duplicate-id)" in said.out
    assert f"{cli.cwd / 'good.txt'}: nothing found." in said.out
    assert cli.bare("lint", "good.txt").code == 0
    missing = cli.bare("lint", "missing.txt")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    rules = {f["rule"] for f in json.loads(cli.bare("lint", "bad.txt", "--json").out)[0]["findings"]}
    assert rules == {"text-above", "deep-heading", "duplicate-id", "duplicate-text", "wrong-slug", "no-others"}
    assert path.read_text() == BAD


def test_a_dry_run_shows_and_a_fix_writes(cli: Cli) -> None:
    cli.write("bad.txt", BAD)
    dry = cli.bare("lint", "bad.txt", "--fix", "deep-heading", "--dry-run")
    assert "-### RULES" in dry.out
    assert "+## RULES" in dry.out
    assert (cli.cwd / "bad.txt").read_text() == BAD
    assert cli.bare("lint", "bad.txt", "--fix", "deep-heading").code == 0
    assert (cli.cwd / "bad.txt").read_text() == BAD.replace("###", "##")
    assert cli.bare("lint", "bad.txt", "--fix", "all").code == 0
    assert cli.bare("lint", "bad.txt").code == 0
    assert (cli.cwd / "bad.txt").read_text() == (
        "## RULES\n[rule-00001] helpful=1 harmful=1 :: Ask first.\n\n"
        "## OTHERS\n[misc-00003] helpful=0 harmful=0 :: Title\n"
    )


def test_an_index_and_its_folder(cli: Cli) -> None:
    (cli.cwd / "memory").mkdir()
    (cli.cwd / "memory" / "auth.md").write_text("# Auth\n")
    lines = "".join(f"- entry {n}\n" for n in range(205))
    (cli.cwd / "memory" / "MEMORY.md").write_text(lines)
    said = cli.bare("lint", "memory/MEMORY.md")
    assert said.code == 1
    assert ":201: 5 lines are below the first 200 lines" in said.out
    assert "no line names the topic file “auth.md”" in said.out
    assert cli.bare("lint", "memory/MEMORY.md", "--fix", "all").code == 0
    assert "- entry 204" in (cli.cwd / "memory" / "older-memories.md").read_text()
    assert cli.bare("lint", "memory/MEMORY.md").code == 0


def test_files_of_records(cli: Cli) -> None:
    entry = {"timestamp": "2026-01-01T00:00:00Z", "type": "gotcha", "status": "signal"}
    docs = [
        {"id": "a", "context": "One thing.", "related": ["gone"], **entry},
        {"id": "b", "context": "one  thing.", **entry},
        {"id": "b", "context": "Again.", **entry},
    ]
    cli.write("m.jsonl", "".join(json.dumps(doc) + "\n" for doc in docs))
    rules = [f["rule"] for f in json.loads(cli.bare("lint", "m.jsonl", "--json").out)[0]["findings"]]
    assert rules == ["unreadable", "duplicate-text", "dangling-reference"]
