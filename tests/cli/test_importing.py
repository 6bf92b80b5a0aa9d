"""`workbench import` and `convert`: what is taken in is counted, shown and reported, whatever the format;
what cannot be read is named with its place, and nothing is written.
"""

import json
import random
import re
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.formats.counting import BY_HAND, COUNTERS
from tests.formats.others import ROWS, TEXTS, claude_mem_database
from tests.formats.samples import BARE, COUNTS, GENAGENTS, NODES
from workbench.cli.progress import interruptible
from workbench.core.files.formats import detect

BOOK = (
    "## RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n"
    "[r-00002] helpful=0 harmful=2 :: Then act.\n\n## OTHERS\n"
)


def entry(name: str, context: str, **more: object) -> str:
    return json.dumps(
        {
            "id": name,
            "timestamp": "2026-03-01T10:00:00Z",
            "type": "error",
            "context": context,
            **more,
        }
    )


def two_entries(cli: Cli) -> str:
    return cli.write(
        "two.jsonl", entry("a", "first", status="signal") + "\n" + entry("b", "second") + "\n"
    )


def stats(cli: Cli) -> dict[str, int]:
    loaded: dict[str, int] = cli.told("stats")
    return loaded


def test_value_mappings_are_listed(cli: Cli) -> None:
    node = {"node_id": 1, "node_type": "observation", "content": "step", "importance": 50, "created": 1,
            "last_retrieved": 1, "pointer_id": None}  # fmt: skip
    name = cli.write("nodes.json", json.dumps([node, {**node, "node_id": 2}]))
    out = cli.ok("import", name, "--epoch", "2026-01-01T00:00", "--step", "2")
    assert "importance: mapped linearly from 0–100 to 0–10 (2 records)" in out
    listed = [(m["created_at"], m["importance_score"]) for m in cli.json("list")]
    assert listed == [("2026-01-01T00:00:00Z", 5.0)] * 2


def test_one_readable_file_among_others_is_enough(cli: Cli) -> None:
    cli.ok("init")
    result = cli("import", "missing.jsonl", two_entries(cli))
    assert result.code == 0
    assert result.err.count("\n") == 1
    assert "File not found" in result.err
    assert stats(cli)["memories"] == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "File not found: {path}."),
        ("notes.md", b"# Just words\n\nand more words\n", "{path} has no known format."),
        (
            "latin.jsonl",
            b'{"context": "caf' + b"\xe9" * 9 + b'"}',
            "{path} is not UTF-8 text: byte 0xe9 at offset 16, and more.",
        ),
        ("empty.jsonl", b"\n", "{path} is empty."),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence_and_exit_code_2(
    cli: Cli, name: str, content: bytes | None, message: str
) -> None:
    path = cli.cwd / name
    if content is not None:
        path.write_bytes(content)
    err = cli.refused("import", name)
    assert err.startswith("workbench: " + message.format(path=name))
    assert err.count("\n") == 1
    assert not cli.store.exists()


def test_the_field_of_the_text_can_be_named(cli: Cli) -> None:
    lines = '{"skill":"web","fix":"Name a CSS selector.","ts":"2026-03-01T10:00:00Z"}\n'
    name = cli.write("fixes.jsonl", lines + lines.replace("Name", "Never guess"))
    err = cli("import", name).err
    assert "It looks like JSON lines with “fix”, “skill”, “ts”" in err
    assert "--text NAME says which field it is" in err
    cli.refused("import", name, "--text", "fix", "--format", "ace")
    assert "“skill”" in cli("import", name, "--text", "lesson").err
    assert "  new: 2 memories" in cli.ok("import", name, "--text", "fix")
    cli.ok("vote", cli.json("list")[0]["id"], "helpful")
    cli.ok("export", "--format", "json-lines", "--out", name)
    assert (cli.cwd / name).read_text().count("helpful") == 1


def test_every_file_is_taken_back_by_one_undo(cli: Cli) -> None:
    cli.ok("import", two_entries(cli), cli.write("rules.txt", BOOK))
    assert cli.ok("undo") == "Undone: import rules.txt.\n"
    assert cli.ok("undo") == "Undone: import two.jsonl.\n"
    assert stats(cli)["memories"] == 0
    assert stats(cli)["bullets"] == 0
    assert stats(cli)["books"] == 0


def test_hostile_names_and_text_are_printed_inert(cli: Cli) -> None:
    name = cli.write(
        "\x1b[31mred.jsonl", '{"id": "a", "context": "\\u001b[2J", "type": "error"}\n{"\x1b[1m\n'
    )
    result = cli("import", name)
    assert result.code == 0
    assert "\x1b" not in result.out + result.err
    assert "\x1b" not in cli.ok("list") + cli.ok("show", "a") + cli.ok("history", "a")


def test_ctrl_c_is_noticed_once_and_then_obeyed() -> None:
    before = signal.getsignal(signal.SIGINT)  # a process in the background ignores it
    with interruptible() as pressed:
        assert not pressed()
        signal.raise_signal(signal.SIGINT)
        assert pressed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == before


def test_a_dry_run_names_every_record_it_would_write(cli: Cli) -> None:
    cli.write("book.txt", "## RULES\n[r-00001] helpful=1 harmful=0 :: Ask \x1b[31mfirst.\n")
    out = cli.ok("import", "book.txt", "--dry-run")
    assert [line for line in out.splitlines() if line.startswith("  + ")] == [
        "  + playbook book",
        "  + section RULES",
        "  + [r-00001] helpful=1 harmful=0 :: Ask \N{SYMBOL FOR ESCAPE}[31mfirst.",
    ]
    cli("import", "book.txt")
    assert "  + " not in cli.ok("import", "book.txt", "--dry-run")


SESSIONS = {
    "claude.jsonl": '{"type":"summary","leafUuid":"u"}\n{"type":"user","sessionId":"s","message":{"role":"user",'
    '"content":"no, use pnpm"}}\n',
    "rollout-1.jsonl": '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}\n'
    '{"timestamp":"2026-01-01T00:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"use pnpm"}}\n',
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_of_an_agent_is_not_taken_for_messages(cli: Cli, name: str) -> None:
    cli.ok("init")
    (cli.cwd / name).write_text(SESSIONS[name])
    err = cli.refused("import", name)
    assert f"{name} is a session; `workbench capture transcript` reads it." in err
    assert cli.json("list") == []


def test_the_same_notes_from_a_second_path_are_named_and_skipped(cli: Cli) -> None:
    cli.ok("init")
    first, second = (f"{name}/memory/MEMORY.md" for name in ("one", "two"))
    for place in (first, second):
        cli.write(place, "- [Ports](ports.md) — which ones\n- Run make before you push\n")
        cli.write(place.replace("MEMORY", "ports"), "The port is 8080.\n")
    assert "new: 2 memories" in cli.ok("import", first)
    out = cli.ok("import", second)
    assert f"2 memories skipped, known from {cli.cwd / first}; --again keeps both\n" in out
    assert "nothing new" in cli.ok("import", "two/memory")
    assert "new: 2 memories" in cli.ok("import", second, "--again")
    assert stats(cli)["memories"] == 4
    assert "2 already present" in cli.ok("import", second)


TEXT = (
    "# The shop\n\n## Do not\n\n- Run make deploy without asking\n\n"
    "## Commands\n\n- `make test` runs all the tests\n"
)


def test_an_instruction_file_makes_no_memories(cli: Cli) -> None:
    path = cli.write("AGENTS.md", TEXT)
    result = cli("import", path)
    assert result.code == 0
    assert "instruction file (Markdown)" in result.out
    assert "nothing new" in result.out
    assert "2 statements make sense without the rest; --as-candidates" in result.out
    assert "AGENTS.md:1: an instruction file is a document" in result.err
    cli.refused("list")


def test_its_statements_are_taken_as_candidates(cli: Cli) -> None:
    path = cli.write("AGENTS.md", TEXT)
    cli.ok("import", path, "--as-candidates")
    found = cli.json("list")
    assert {memory["status"] for memory in found} == {"candidate"}
    assert "Warning, under “Do not”: Run make deploy without asking" in {
        memory["content"] for memory in found
    }
    assert "make deploy" not in cli("search", "deploy command", "--for-agent").out
    assert "nothing new" in cli.ok("import", path, "--as-candidates")
    cli.ok("undo")
    assert cli.json("list") == []


def test_the_imports_of_an_instruction_file_are_followed_and_named(cli: Cli) -> None:
    cli.write("AGENTS.md", TEXT)
    commits = "- Write commit messages in the imperative\n\n@../CLAUDE.md @../AGENTS.md\n"
    cli.write("docs/git.md", commits)
    cli.write("package.json", "{}")
    path = cli.write(
        "CLAUDE.md",
        "@AGENTS.md and @docs/git.md. Not `@docs/code.md`, @scope/package, @app.route or ann@example.md\n"
        "```\n@docs/block.md\n```\n@~/.claude/mine.md\n@gone.md\n",
    )
    result = cli("import", path)
    assert "3 statements make sense without the rest" in result.out
    assert [line for line in result.err.splitlines() if "imports" in line] == [
        "CLAUDE.md:1: it imports “AGENTS.md”: read as a part of it",
        "CLAUDE.md:1: it imports “docs/git.md”: read as a part of it",
        "CLAUDE.md:5: it imports “~/.claude/mine.md”: not read, as it is not there or outside the project",
        "CLAUDE.md:6: it imports “gone.md”: not read, as it is not there or outside the project",
    ]
    assert cli("import", path, "--as-candidates").code == 0
    found = cli.json("list")
    assert {memory["source"]["file"] for memory in found} == {"AGENTS.md", "docs/git.md"}


def test_an_import_that_leaves_the_project_is_not_followed(cli: Cli) -> None:
    (cli.cwd / "project/.git").mkdir(parents=True)
    cli.write("project/AGENTS.md", TEXT)
    cli.write("secret.md", "- Never tell anybody what stands here\n")
    cli.write("project/docs/CLAUDE.md", "@../AGENTS.md\n@../../secret.md\n")
    result = cli("import", "project/docs/CLAUDE.md")
    assert "2 statements make sense without the rest" in result.out
    assert "“../../secret.md”: not read" in result.err


@pytest.mark.parametrize(
    "name", ["docs/gone.md", "~nobody-is-called-so/notes.md", f"{'long' * 80}.md"]
)
def test_lint_finds_an_import_whose_path_means_nothing(cli: Cli, name: str) -> None:
    cli.write("AGENTS.md", TEXT)
    said = cli(
        "lint",
        cli.write("CLAUDE.md", f"@AGENTS.md\nSee @{name} first. `@code.md` @scope/package\n"),
    )
    assert said.code == 1
    assert said.out.count("does not exist") == 1


MORE_TEXTS = {
    "ace counts": ("playbook.txt", COUNTS),
    "ace bare": ("bare.txt", BARE),
    "genagents": ("memory_stream/nodes.json", GENAGENTS),
    "generative-agents": ("associative_memory/nodes.json", NODES),
}


_SHOWN = re.compile(r"^  \+ (?!playbook |section |judgment )", re.MULTILINE)


_SKIPPED = re.compile(r"^  ([\d,]+) records? skipped$", re.MULTILINE)


def account(cli: Cli, path: Path) -> tuple[int, int]:
    """Import a file into the empty store; return how many records were shown and how many reported."""
    dry = cli("import", str(path), "--dry-run")
    assert dry.code == 0, dry.err
    shown = len(_SHOWN.findall(dry.out))
    skipped = _SKIPPED.search(dry.out)
    assert cli("import", str(path)).code == 0
    stats = cli.told("stats")
    patterns = cli.told("pattern", "list")
    assert stats["memories"] + stats["bullets"] + stats["queries"] + len(patterns) == shown
    again = cli("import", str(path))
    assert "nothing new" in again.out
    assert dry.err.count("\n") >= bool(skipped)
    return shown, int(skipped[1].replace(",", "")) if skipped else 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*TEXTS, *MORE_TEXTS}))
def test_every_record_is_shown_or_reported(cli: Cli, name: str) -> None:
    file, text = {**TEXTS, **MORE_TEXTS}[name]
    path = cli.cwd / cli.write(file, text)
    format = name.partition(" ")[0]
    assert detect(path, text)[0].format == format
    held = BY_HAND[format] if format in BY_HAND else COUNTERS[format](text)
    assert held >= 2
    shown, reported = account(cli, path)
    assert shown + reported == held


def test_every_row_of_a_database_is_shown_or_reported(cli: Cli) -> None:
    shown, reported = account(cli, claude_mem_database(cli.cwd / "claude-mem.db"))
    assert shown + reported == len(ROWS) + 2  # and two prompts


@pytest.mark.slow
def test_a_broken_database_is_read_or_refused_with_a_reason(cli: Cli) -> None:
    dice = random.Random("a database")
    data = claude_mem_database(cli.cwd / "whole.db").read_bytes()
    for _ in range(20):
        at, hole = dice.randrange(len(data)), dice.choice((0, 1, 100))
        spoilt = data[:at] + dice.randbytes(dice.choice((1, 100, 4096))) + data[at + hole :]
        (cli.cwd / "spoilt.db").write_bytes(spoilt)
        said = cli("import", "spoilt.db", "--format", "claude-mem-db", "--dry-run")
        assert said.code in (0, 2)
        assert "Traceback" not in said.err
        assert all(line.isprintable() for line in said.err.splitlines())


def test_the_name_decides_unless_told_otherwise(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    for name, start in (
        ("o.yaml", "schema_version"), ("o.csv", "id,section,content"), ("o.md", "# book"), ("o.jsonl", '{"id"'),
    ):  # fmt: skip
        assert cli.bare("convert", "book.txt", name).code == 0
        assert (cli.cwd / name).read_text().startswith(start), name
    assert cli.bare("convert", "o.yaml", "-", "--to", "ace").out == BOOK
    refused = cli.bare("convert", "book.txt", "what.ever")
    assert refused.code == 2
    assert "--to" in refused.err


def test_what_is_lost_is_said(cli: Cli) -> None:
    cli.write("nodes.json", GENAGENTS)
    said = cli.bare("convert", "nodes.json", "book.txt")
    assert said.code == 0
    assert "Memories became bullets" in said.err


def test_a_file_that_is_there_is_not_replaced_unasked(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli.write("o.csv", "precious")
    assert cli.bare("convert", "book.txt", "o.csv").code == 2
    assert (cli.cwd / "o.csv").read_text() == "precious"
    assert cli.bare("convert", "book.txt", "o.csv", "--force").code == 0
    assert (cli.cwd / "o.csv").read_text() != "precious"


def test_a_file_read_as_the_wrong_format_gives_nothing(cli: Cli) -> None:
    cli.write("m.jsonl", "".join(f'{{"id": "m{n}", "context": "text {n}"}}\n' for n in range(419)))
    said = cli.bare("convert", "--from", "ace", "m.jsonl", "x.json")
    assert said.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "419 places are none; the first is line 1" in said.err
    assert "kept in the file" not in said.err
    assert not (cli.cwd / "x.json").exists()


@pytest.mark.parametrize("command", ["convert {0} o.csv", "import {0}", "lint {0}"])
def test_many_equal_remarks_are_summed_up(cli: Cli, command: str) -> None:
    cli.ok("init")
    lines = [f'{{"id": "a{n}", "context": "{"x" * n}' for n in range(100)]
    cli.write(
        "notes.jsonl",
        "\n".join(['{"id": "b", "context": "whole", "status": "signal"}', *lines]) + "\n",
    )
    said = cli(*command.format("notes.jsonl").split())
    printed = (said.err or said.out).splitlines()
    assert "notes.jsonl:2: not JSON: Unterminated string starting at column " in printed[0]
    assert "notes.jsonl: … and 80 more places up to line 101: not JSON: " in "\n".join(printed)
    assert len(printed) <= 22


LONG = "The rollout has many steps. " * 900


def test_a_long_record_comes_in_whole_and_is_marked(cli: Cli) -> None:
    cli.ok(
        "import",
        cli.write(
            "m.jsonl", f"{entry('long', LONG)}\n{entry('short', 'A short one about the rollout')}\n"
        ),
    )
    assert cli.json("show", "long")["content"] == LONG
    assert f"{len(LONG):,} characters: an agent's budget may truncate it" in cli.ok("show", "long")
    listed = cli.ok("list")
    assert f"({len(LONG):,} characters)" in listed
    assert listed.count("characters)") == 1
    assert "characters" not in cli.ok("show", "short")


def test_a_long_record_may_be_edited_but_not_grow(cli: Cli) -> None:
    cli.ok("import", cli.write("m.jsonl", entry("long", LONG) + "\n"))
    cli.ok("edit", "long", LONG.replace("many", "four"))
    err = cli.refused("edit", "long", LONG + "And one more.")
    assert f"(at most {len(LONG):,})" in err


def test_one_byte_that_is_no_utf8_rejects_nothing_and_comes_back(cli: Cli) -> None:
    odd = b"## A\n[a-00001] helpful=1 harmful=0 :: don\x92t cut\n[a-00002] helpful=0 harmful=0 :: other\n"
    path = cli.cwd / "book.txt"
    path.write_bytes(odd)
    result = cli("import", "book.txt")
    assert result.code == 0
    assert "book.txt:2: byte 0x92 is not UTF-8: read as “’”: kept in the file" in result.err
    cli.ok("export", "--format", "ace", "--out", "book.txt")
    assert path.read_bytes() == odd
    cli.ok("vote", "a-00002", "helpful")
    assert "+[a-00002] helpful=1" in cli.ok("export", "--format", "ace", "--out", "book.txt")
    assert path.read_bytes() == odd.replace(
        b"helpful=0 harmful=0 :: other", b"helpful=1 harmful=0 :: other"
    )
