"""`workbench lint`: findings with places, fixes shown before they are made."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.safety.fresh import fresh
from tests.safety.samples import keys
from workbench.core.files.lint import RULES

BAD = "Title\n### RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n[r-00001] helpful=0 harmful=1 :: Ask first.\n"


def test_findings_and_exit_codes(cli: Cli) -> None:
    cli.write("bad.txt", BAD)
    cli.write("good.txt", "## RULES\n[rule-00001] helpful=1 harmful=0 :: Ask first.\n\n## OTHERS\n")
    said = cli.bare("lint", "bad.txt", "good.txt")
    assert said.code == 1
    assert "bad.txt:4: the id “r-00001” is used on line 3 already (duplicate-id)" in said.out
    assert "good.txt: nothing found." in said.out
    assert cli.bare("lint", "good.txt").code == 0
    missing = cli.bare("lint", "missing.txt")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    rules = {
        f["rule"] for f in json.loads(cli.bare("lint", "bad.txt", "--json").out)[0]["findings"]
    }
    assert rules == {
        "text-above",
        "deep-heading",
        "duplicate-id",
        "duplicate-text",
        "wrong-slug",
        "no-others",
    }
    assert (cli.cwd / "bad.txt").read_text() == BAD


def test_files_are_called_as_they_were_named(cli: Cli) -> None:
    (cli.cwd / "sub").mkdir()
    cli.write("sub/bad.txt", BAD)
    whole = str(cli.cwd)
    for args in (("sub/bad.txt",), ("sub/bad.txt", "--fix", "all", "--dry-run"), ("sub/missing.txt",),
                 ("sub",), ("--cut", "sub/bad.txt"), ("sub/../sub/bad.txt",)):  # fmt: skip
        said = cli.bare("lint", *args)
        assert whole not in said.out + said.err
        assert args[-1 if len(args) < 3 else 0] in said.out + said.err
    assert f"{whole}/sub/bad.txt:4: " in cli.bare("lint", f"{whole}/sub/bad.txt").out
    (cli.cwd / "sub" / "MEMORY.md").write_text("- [A](a.md)\n")
    (cli.cwd / "sub" / "b.md").write_text("# B\n")
    assert (
        "--- sub/MEMORY.md\n" in cli.bare("lint", "sub/MEMORY.md", "--fix", "all", "--dry-run").out
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
    docs: list[dict[str, object]] = [
        {"id": "a", "context": "One thing.", "related": ["gone"], **entry},
        {"id": "b", "context": "one  thing.", **entry},
        {"id": "b", "context": "Again.", **entry},
        {"id": "c", "context": "One thing.", **entry},
    ]
    cli.write("m.jsonl", "".join(json.dumps(doc) + "\n" for doc in docs))
    rules = [
        f["rule"] for f in json.loads(cli.bare("lint", "m.jsonl", "--json").out)[0]["findings"]
    ]
    assert rules == ["unreadable", "duplicate-text", "duplicate-text", "dangling-reference"]
    dangling = cli.bare("lint", "m.jsonl", "--fix", "dangling-reference").out
    assert "1 of 1 thing found put right" in dangling
    first, *rest = (cli.cwd / "m.jsonl").read_text().splitlines()
    assert json.loads(first) == {**docs[0], "related": []}
    assert rest == [json.dumps(doc) for doc in docs[1:]]
    cli.bare("lint", "m.jsonl", "--fix", "all")
    assert [json.loads(line)["context"] for line in (cli.cwd / "m.jsonl").read_text().splitlines()] == [
        "One thing.", "one  thing.", "Again.",
    ]  # fmt: skip


def test_the_cut_of_memory_md_is_printed(cli: Cli) -> None:
    lines = [f"- [Topic {n}](t{n}.md) — about \x1b[31m{n}" for n in range(1, 204)]
    cli.write("MEMORY.md", "\n".join(lines) + "\n")
    said = cli.bare("lint", "--cut", "MEMORY.md")
    assert (said.code, said.err) == (1, "")
    below = said.out.splitlines()
    assert [line.partition(":")[0] for line in below[:-1]] == ["201", "202", "203"]
    assert "\x1b" not in said.out
    size = (cli.cwd / "MEMORY.md").stat().st_size
    assert (
        below[-1] == f"MEMORY.md: 203 lines, {size:,} bytes; 3 lines below line 200 are not loaded."
    )
    document = json.loads(cli.bare("lint", "--cut", "--json", "MEMORY.md").out)[0]
    assert (document["lines"], document["bytes"], document["limit"]) == (203, size, "line 200")
    assert [line["line"] for line in document["not_loaded"]] == [201, 202, 203]
    assert document["not_loaded"][-1]["bytes"] == size
    cli.write("MEMORY.md", lines[0])
    assert (
        "all of it is loaded (up to 200 lines and 25,000 bytes)."
        in cli.bare("lint", "--cut", "MEMORY.md").out
    )
    other = cli.bare("lint", "--cut", cli.write("notes.md", "- a\n"))
    assert (other.code, other.out) == (2, "")
    assert "is not named MEMORY.md. Other files are loaded whole." in other.err


def test_agents_md_is_looked_over_as_what_it_is(cli: Cli) -> None:
    cli.write("AGENTS.md", "# Rules\n\n- Run the tests.\n- Run the tests.\n")
    said = cli.bare("lint", "AGENTS.md")
    assert (said.code, said.err) == (1, "")
    assert "AGENTS.md:4: " in said.out


MANY = (
    "Title\n### RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n- [r-00001] helpful=0 harmful=1 :: Ask first.\n"
    "[r-00002] helpful=z harmful=2 :: Then act.\n\n## MORE\n[more-00003] helpful=0 harmful=0 :: Then act.\n"
    "[more-00004] helpful=0 harmful=0 :: Long\n  one\n[more-00005] helpful=0 harmful=0 :: Long\n  two\n"
)


def test_a_dry_run_shows_exactly_what_is_written(cli: Cli) -> None:
    cli.write("bad.txt", MANY)
    found = len(json.loads(cli.bare("lint", "bad.txt", "--json").out)[0]["findings"])
    dry = cli.bare("lint", "bad.txt", "--fix", "all", "--dry-run")
    assert (cli.cwd / "bad.txt").read_text() == MANY
    made = cli.bare("lint", "bad.txt", "--fix", "all")
    assert (dry.code, made.code) == (0, 0)
    assert dry.out.splitlines()[:-1] == made.out.splitlines()[:-1]
    assert " things found put right by " in made.out
    assert dry.out.replace("would be ", "") == made.out
    assert found > 5
    text = (cli.cwd / "bad.txt").read_text()
    assert "harmful=2 :: Then act." in text
    assert ":: Long\n  one\n" in text
    assert ":: Long\n  two\n" in text
    assert cli.bare("lint", "bad.txt").code == 0


def test_counts_that_are_no_numbers_are_found(cli: Cli) -> None:
    cli.write(
        "bad.txt",
        "## SUB\n[sub-00002] helpful=z :: b\n[sub-00003] helpful = 3, harmful=x :: c\n\n## OTHERS\n",
    )
    (found, other) = json.loads(cli.bare("lint", "bad.txt", "--json").out)[0]["findings"]
    assert (found["rule"], found["line"], other["line"]) == ("bad-counts", 2, 3)
    assert "cannot be read" in found["message"]
    assert cli.bare("lint", "bad.txt", "--fix", "bad-counts").code == 0
    text = (cli.cwd / "bad.txt").read_text()
    assert "[sub-00002] helpful=0 harmful=0 :: b\n[sub-00003] helpful=3 harmful=0 :: c\n" in text


def test_what_cannot_be_fixed_is_a_problem(cli: Cli) -> None:
    cli.write("bad.txt", BAD)
    (cli.cwd / "bad.txt").chmod(0o444)
    said = cli.bare("lint", "bad.txt", "--fix", "all")
    assert (said.code, said.out) == (2, "")
    assert "read-only" in said.err
    assert (cli.cwd / "bad.txt").read_text() == BAD
    unknown = cli.bare("lint", "bad.txt", "--fix", "typo")
    assert unknown.code == 2
    assert "duplicate-id" in unknown.err
    alone = cli.bare("lint", "bad.txt", "--dry-run")
    assert (alone.code, "--fix" in alone.err) == (2, True)


def test_the_help_names_every_rule(cli: Cli) -> None:
    said = cli.bare("lint", "--help").out
    assert all(rule in said for rule in RULES)


def test_two_entities_with_the_same_observations_both_stay(cli: Cli) -> None:
    entity = '{"type":"entity","name":"%s","entityType":"person","observations":["Speaks Welsh"]}\n'
    text = entity % "Ann Lee" + entity % "Bob Ray"
    cli.write("memory.jsonl", text)
    assert json.loads(cli.bare("lint", "memory.jsonl", "--json").out)[0]["findings"] == []
    assert "nothing to put right" in cli.bare("lint", "memory.jsonl", "--fix", "duplicate-text").out
    assert (cli.cwd / "memory.jsonl").read_text() == text


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
    cli.write("m.jsonl", text)
    dry = cli.bare("lint", "m.jsonl", "--fix", "duplicate-text", "--dry-run")
    assert [line for line in dry.out.splitlines() if line.startswith("-{")] == [
        "-" + json.dumps(docs[2])
    ]
    assert (cli.cwd / "m.jsonl").read_text() == text
    cli.bare("lint", "m.jsonl", "--fix", "duplicate-text")
    assert (cli.cwd / "m.jsonl").read_text() == text.replace(json.dumps(docs[2]) + "\n", "")
    (left,) = json.loads(cli.bare("lint", "m.jsonl", "--json").out)[0]["findings"]
    assert (left["rule"], left["fix"]) == ("duplicate-text", None)
    assert "not the same in everything" in left["message"]


def test_fixes_as_json_are_one_value_with_what_changed_and_what_is_left(cli: Cli) -> None:
    cli.write("bad.txt", BAD)
    cli.write("good.txt", "## RULES\n[rule-00001] helpful=1 harmful=0 :: Ask first.\n\n## OTHERS\n")
    dry, good = json.loads(
        cli.bare("lint", "bad.txt", "good.txt", "--fix", "deep-heading", "--dry-run", "--json").out
    )
    assert dry == {
        "file": str(cli.cwd / "bad.txt"),
        "format": "ace",
        "written": False,
        "fixes": 1,
        "found": 1,
        "left": 0,
        "changes": [
            {"file": str(cli.cwd / "bad.txt"), "new": False, "lines": dry["changes"][0]["lines"]}
        ],
        "copies": [],
    }
    assert {"-### RULES", "+## RULES"} <= set(dry["changes"][0]["lines"])
    assert (good["fixes"], good["changes"], good["written"]) == (0, [], False)
    assert (cli.cwd / "bad.txt").read_text() == BAD
    done = cli.bare("lint", "bad.txt", "--fix", "all", "--json")
    (fixed,) = json.loads(done.out)
    assert (done.code, done.err, fixed["written"], fixed["left"]) == (0, "", True, 0)
    (copy,) = fixed["copies"]
    assert Path(copy).read_text() == BAD
    assert json.loads(cli.bare("lint", "bad.txt", "--json").out)[0]["findings"] == []


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["plain", "json"])
def test_a_secret_in_a_file_is_masked_in_what_is_shown_of_it(
    cli: Cli, more: tuple[str, ...]
) -> None:
    _, key = keys()["github"]
    block = fresh("lint")["openssh key"]
    lines = (
        f"see {key} there\n" * 2
        + "### Deep\n"
        + "\n".join(json.loads(block.text)["k"].split("\\n"))
        + "\n"
    )
    cli.write("bad.txt", BAD + lines)
    cli.write("MEMORY.md", "- fine\n" * 201 + f"- holds {key}\n" + f"- [x]({key}.md) gone\n")
    for command in (
        ("lint", "bad.txt"), ("lint", "bad.txt", "--fix", "all", "--dry-run"), ("lint", "bad.txt", "--fix", "all"),
        ("lint", "MEMORY.md"), ("lint", "MEMORY.md", "--cut"), ("lint", "MEMORY.md", "--fix", "all"),
    ):  # fmt: skip
        said = cli.bare(*command, *more)
        assert key[:12] not in said.out + said.err, command
        assert block.secret[:12] not in said.out + said.err, command
    assert key in (cli.cwd / "bad.txt").read_text()
    assert block.secret in (cli.cwd / "bad.txt").read_text()


@pytest.mark.parametrize("odd", [b"\xe9", b"\0"], ids=["no UTF-8", "NUL"])
def test_a_fix_of_a_file_with_odd_bytes_shows_no_secret(cli: Cli, odd: bytes) -> None:
    key = keys()["github"][1]
    rows = (b"[str-00001] helpful=1 harmful=0 :: caf" + odd + b" " + key.encode(), b"[str-00001] b")
    (cli.cwd / "odd.txt").write_bytes(b"## STRATEGIES\n" + b"\n".join(rows) + b"\n")
    dry = cli.bare("lint", "odd.txt", "--fix", "all", "--dry-run")
    assert "caf" in dry.out
    assert key not in dry.out + dry.err
    cli.bare("lint", "odd.txt", "--fix", "all")
    assert odd in (cli.cwd / "odd.txt").read_bytes()
