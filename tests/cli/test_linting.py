"""`workbench lint`: findings with places, fixes shown before they are made."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.safety.fresh import fresh
from tests.safety.samples import keys

BAD = "Title\n### RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n[r-00001] helpful=0 harmful=1 :: Ask first.\n"


def test_findings_and_exit_codes(cli: Cli) -> None:
    names = (cli.write("bad.txt", BAD), cli.write("good.txt", GOOD))
    said = cli.bare("lint", *names)
    assert said.code == 1
    assert "bad.txt:4: the id “r-00001” is already used on line 3 (duplicate-id)" in said.out
    assert "good.txt: nothing found." in said.out
    assert cli.bare("lint", "good.txt").code == 0
    (found,) = json.loads(cli.bare("lint", "bad.txt", "--json").out)
    assert {one["rule"] for one in found["findings"]} == {
        "text-above", "deep-heading", "duplicate-id", "duplicate-text", "wrong-slug", "no-others",
    }  # fmt: skip
    assert (cli.cwd / "bad.txt").read_text() == BAD


def test_files_are_called_as_they_were_named(cli: Cli) -> None:
    cli.write("sub/bad.txt", BAD)
    whole = str(cli.cwd)
    for args in (("sub/bad.txt",), ("sub/missing.txt",), ("sub",), ("sub/../sub/bad.txt",)):
        said = cli.bare("lint", *args)
        assert whole not in said.out + said.err
        assert args[0] in said.out + said.err
    assert f"{whole}/sub/bad.txt:4: " in cli.bare("lint", f"{whole}/sub/bad.txt").out


def test_the_cut_of_memory_md_is_printed(cli: Cli) -> None:
    lines = [f"- [Topic {n}](t{n}.md) — about \x1b[31m{n}" for n in range(1, 204)]
    cut = ("lint", "--cut", cli.write("MEMORY.md", "\n".join(lines) + "\n"))
    said = cli.bare(*cut)
    assert said.code == 1
    assert said.err == ""
    assert "\x1b" not in said.out
    below = said.out.splitlines()
    assert [line.partition(":")[0] for line in below[:-1]] == ["201", "202", "203"]
    assert "3 lines below line 200 are not loaded." in below[-1]
    (document,) = json.loads(cli.bare(*cut, "--json").out)
    assert [line["line"] for line in document["not_loaded"]] == [201, 202, 203]
    assert document["lines"] == 203
    assert document["limit"] == "line 200"
    cli.write("MEMORY.md", lines[0])
    assert "all of it is loaded" in cli.bare(*cut).out
    other = cli.bare("lint", "--cut", cli.write("notes.md", "- a\n"))
    assert other.code == 2
    assert "is not named MEMORY.md" in other.err


MANY = (
    "Title\n### RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n- [r-00001] helpful=0 harmful=1 :: Ask first.\n"
    "[r-00002] helpful=z harmful=2 :: Then act.\n\n## MORE\n[more-00003] helpful=0 harmful=0 :: Then act.\n"
    "[more-00004] helpful=0 harmful=0 :: Long\n  one\n[more-00005] helpful=0 harmful=0 :: Long\n  two\n"
)


def test_a_dry_run_shows_exactly_what_is_written(cli: Cli) -> None:
    fix = ("lint", cli.write("bad.txt", MANY), "--fix", "all")
    dry = cli.bare(*fix, "--dry-run")
    assert (cli.cwd / "bad.txt").read_text() == MANY
    made = cli.bare(*fix)
    assert dry.code == 0
    assert made.code == 0
    assert dry.out.replace("would be ", "") == made.out
    assert " things found fixed by " in made.out
    assert ":: Long\n  one\n" in (cli.cwd / "bad.txt").read_text()
    assert cli.bare("lint", "bad.txt").code == 0


def test_what_cannot_be_fixed_is_a_problem(cli: Cli) -> None:
    cli.write("bad.txt", BAD)
    (cli.cwd / "bad.txt").chmod(0o444)
    said = cli.bare("lint", "bad.txt", "--fix", "all")
    assert said.code == 2
    assert said.out == ""
    assert "read-only" in said.err
    assert (cli.cwd / "bad.txt").read_text() == BAD
    unknown = cli.bare("lint", "bad.txt", "--fix", "typo")
    assert unknown.code == 2
    assert "duplicate-id" in unknown.err
    alone = cli.bare("lint", "bad.txt", "--dry-run")
    assert alone.code == 2
    assert "--fix" in alone.err


def test_what_a_fix_takes_out_is_shown_first_and_only_what_is_equal_in_everything_goes(
    cli: Cli,
) -> None:
    entry = {
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "gotcha",
        "status": "signal",
        "context": "One thing.",
    }
    docs = [{"id": "a", **entry}, {"id": "b", **entry, "tags": ["x"]}, {"id": "c", **entry}]
    text = "".join(json.dumps(doc) + "\n" for doc in docs)
    fix = ("lint", cli.write("m.jsonl", text), "--fix", "duplicate-text")
    gone = [line for line in cli.bare(*fix, "--dry-run").out.splitlines() if line.startswith("-{")]
    assert gone == ["-" + json.dumps(docs[2])]
    assert (cli.cwd / "m.jsonl").read_text() == text
    cli.bare(*fix)
    assert (cli.cwd / "m.jsonl").read_text() == text.replace(json.dumps(docs[2]) + "\n", "")
    (left,) = json.loads(cli.bare("lint", "m.jsonl", "--json").out)[0]["findings"]
    assert left["rule"] == "duplicate-text"
    assert left["fix"] is None


def test_fixes_as_json_are_one_value_with_what_changed_and_what_is_left(cli: Cli) -> None:
    names = (cli.write("bad.txt", BAD), cli.write("good.txt", GOOD))
    fix = ("--fix", "deep-heading", "--dry-run", "--json")
    dry, good = json.loads(cli.bare("lint", *names, *fix).out)
    assert [dry[name] for name in ("written", "fixes", "found", "left", "copies")] == [
        False, 1, 1, 0, [],
    ]  # fmt: skip
    assert {"-### RULES", "+## RULES"} <= set(dry["changes"][0]["lines"])
    assert good["fixes"] == 0
    assert good["changes"] == []
    assert (cli.cwd / "bad.txt").read_text() == BAD
    (fixed,) = json.loads(cli.bare("lint", "bad.txt", "--fix", "all", "--json").out)
    assert fixed["written"] is True
    assert fixed["left"] == 0
    (copy,) = fixed["copies"]
    assert Path(copy).read_text() == BAD


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["plain", "json"])
def test_a_secret_in_a_file_is_masked_in_what_is_shown_of_it(
    cli: Cli, more: tuple[str, ...]
) -> None:
    _, key = keys()["github"]
    block = fresh("lint")["openssh key"]
    parts = [f"see {key} there\n" * 2, "### Deep\n", *json.loads(block.text)["k"].split("\\n"), ""]
    cli.write("bad.txt", BAD + "\n".join(parts))
    cli.write("MEMORY.md", "- fine\n" * 201 + f"- holds {key}\n" + f"- [x]({key}.md) gone\n")
    rows = (b"[str-00001] helpful=1 harmful=0 :: caf\xe9 " + key.encode(), b"[str-00001] b")
    (cli.cwd / "odd.txt").write_bytes(b"## STRATEGIES\n" + b"\n".join(rows) + b"\n")
    commands = [("MEMORY.md", "--cut")]
    for name in ("bad.txt", "MEMORY.md", "odd.txt"):
        commands += [(name,), (name, "--fix", "all")]  # type: ignore[list-item]
    for command in commands:
        said = cli.bare("lint", *command, *more)
        assert key[:12] not in said.out + said.err, command
        assert block.secret[:12] not in said.out + said.err, command
    assert block.secret in (cli.cwd / "bad.txt").read_text()
    assert b"caf\xe9 " in (cli.cwd / "odd.txt").read_bytes()


GOOD = "## RULES\n[rule-00001] helpful=1 harmful=0 :: Ask first.\n\n## OTHERS\n"


def test_files_of_records(cli: Cli) -> None:
    entry = {"timestamp": "2026-01-01T00:00:00Z", "type": "gotcha", "status": "signal"}
    docs: list[dict[str, object]] = [
        {"id": "a", "context": "One thing.", "related": ["gone"], **entry},
        {"id": "b", "context": "one  thing.", **entry},
        {"id": "b", "context": "Again.", **entry},
    ]
    lint = ("lint", cli.write("m.jsonl", "".join(json.dumps(doc) + "\n" for doc in docs)))
    (found,) = json.loads(cli.bare(*lint, "--json").out)
    rules = [finding["rule"] for finding in found["findings"]]
    assert rules == ["unreadable", "duplicate-text", "dangling-reference"]
    cli.bare(*lint, "--fix", "dangling-reference")
    first, *rest = (cli.cwd / "m.jsonl").read_text().splitlines()
    assert json.loads(first) == {**docs[0], "related": []}
    assert rest == [json.dumps(doc) for doc in docs[1:]]
