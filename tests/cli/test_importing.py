"""`workbench import`: counts, mappings, skipped lines, and what never changes the store."""

import json
import signal

import pytest

from tests.cli.conftest import Cli
from workbench.cli.progress import interruptible

BOOK = "## HARD RULES\n[hr-00001] helpful=2 harmful=0 :: Ask first.\n[hr-00002] helpful=0 harmful=1 :: Test last.\n"


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


def test_a_file_is_recognised_and_counted(cli: Cli) -> None:
    out = cli.ok("import", two_entries(cli))
    assert out.splitlines()[0] == (
        "two.jsonl: learning entries (JSON lines), 90% sure (JSON lines with “context” and other entry keys)"
    )
    assert "  new: 2 memories" in out
    assert stats(cli)["memories"] == 2


def test_value_mappings_are_listed(cli: Cli) -> None:
    nodes = [
        {"node_id": i, "node_type": "observation", "content": f"step {i}", "importance": 50, "created": i,
         "last_retrieved": i, "pointer_id": None}
        for i in (1, 2)
    ]  # fmt: skip
    name = cli.write("nodes.json", json.dumps(nodes))
    out = cli.ok("import", name, "--epoch", "2026-01-01T00:00", "--step", "2")
    assert "importance: mapped linearly from 0–100 to 0–10 (2 records)" in out
    listed = cli.json("list")
    assert sorted(m["created_at"] for m in listed) == [
        "2026-01-01T00:00:00Z",
        "2026-01-01T02:00:00Z",
    ]
    assert {m["importance_score"] for m in listed} == {5.0}


def test_a_broken_line_is_skipped_and_the_rest_imported(cli: Cli) -> None:
    cli.ok("init")
    name = cli.write(
        "part.jsonl",
        entry("a", "first") + '\n{"id": "b", "context": \n' + entry("c", "third") + "\n",
    )
    result = cli("import", name)
    assert result.code == 0
    assert result.err.startswith("part.jsonl:2: ")
    assert len(result.err.splitlines()) == 1
    assert "  new: 2 memories" in result.out
    assert "  1 record skipped" in result.out


def test_one_readable_file_among_others_is_enough(cli: Cli) -> None:
    cli.ok("init")
    result = cli("import", "missing.jsonl", two_entries(cli))
    assert result.code == 0
    assert result.err.count("\n") == 1
    assert "There is no file" in result.err
    assert stats(cli)["memories"] == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "There is no file {path}. Nothing was read; check the name."),
        ("notes.md", b"# Just words\n\nand more words\n", "{path} is of no known format."),
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
    result = cli("import", name)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("workbench: " + message.format(path=name))
    assert result.err.count("\n") == 1
    assert not cli.store.exists()


def test_an_unknown_format_is_said_once(cli: Cli) -> None:
    result = cli("import", two_entries(cli), "missing", "--format", "casette")
    assert result.code == 2
    assert result.err.startswith(
        "workbench: There is no format “casette”. Known formats: lifecycle, ace, queries, "
    )
    assert result.err.count("\n") == 1
    assert not cli.store.exists()


def test_a_format_can_be_forced(cli: Cli) -> None:
    out = cli.ok("import", cli.write("rules.txt", BOOK), "--format", "ace")
    assert out.splitlines() == ["rules.txt: read as ACE playbook, as asked for", "  new: 2 bullets"]


def test_the_field_of_the_text_can_be_named(cli: Cli) -> None:
    lines = '{"skill":"web","fix":"Name a CSS selector.","ts":"2026-03-01T10:00:00Z"}\n'
    name = cli.write("fixes.jsonl", lines + lines.replace("Name", "Never guess"))
    unknown = cli("import", name)
    assert unknown.code == 2
    assert "It looks like JSON lines with “fix”, “skill”, “ts”" in unknown.err
    assert "--text NAME says which field it is" in unknown.err
    assert cli("import", name, "--text", "fix", "--format", "ace").code == 2
    assert "“skill”" in cli("import", name, "--text", "lesson").err
    assert "  new: 2 memories" in cli.ok("import", name, "--text", "fix")
    cli.ok("vote", cli.json("list")[0]["id"], "helpful")
    cli.ok("export", "--format", "json-lines", "--out", name)
    changed = [
        line for line in (cli.cwd / name).read_text().splitlines(keepends=True) if "helpful" in line
    ]
    assert len(changed) == 1


def test_imports_feed_the_gauge_only_as_new(cli: Cli) -> None:
    cli.ok("import", two_entries(cli))
    assert cli.json("stats")["reflection"]["observations"]["value"] == 0
    cli.ok("import", cli.write("more.jsonl", entry("c", "third") + "\n"), "--as-new")
    assert cli.json("stats")["reflection"]["observations"]["value"] == 1


def test_every_file_is_taken_back_by_one_undo(cli: Cli) -> None:
    cli.ok("import", two_entries(cli), cli.write("rules.txt", BOOK))
    assert cli.ok("undo") == "Undone: import rules.txt.\n"
    assert cli.ok("undo") == "Undone: import two.jsonl.\n"
    assert (stats(cli)["memories"], stats(cli)["bullets"], stats(cli)["books"]) == (0, 0, 0)


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
    for place in ("one/memory", "two/memory"):
        (cli.cwd / place).mkdir(parents=True)
        (cli.cwd / place / "MEMORY.md").write_text(
            "- [Ports](ports.md) — which ones\n- Run make before you push\n"
        )
        (cli.cwd / place / "ports.md").write_text("The port is 8080.\n")
    assert "new: 2 memories" in cli.ok("import", "one/memory/MEMORY.md")
    out = cli.ok("import", "two/memory/MEMORY.md")
    first = cli.cwd / "one/memory/MEMORY.md"
    assert f"nothing new\n  2 memories skipped, known from {first}; --again keeps both\n" in out
    assert stats(cli)["memories"] == 2
    assert "nothing new" in cli.ok("import", "two/memory")
    assert "new: 2 memories" in cli.ok("import", "two/memory/MEMORY.md", "--again")
    assert stats(cli)["memories"] == 4
    assert "2 present already" in cli.ok("import", "two/memory/MEMORY.md")


def test_a_single_note_with_front_matter_is_read_as_a_note(cli: Cli) -> None:
    path = cli.write("ports.md", "---\ntitle: Ports\ntags: [net]\n---\nThe port is 8080.\n")
    assert "new: 1 memory" in cli.ok("import", path)
    (note,) = cli.json("list")
    assert (note["summary"], note["content"], note["tags"]) == (
        "Ports",
        "The port is 8080.",
        ["net"],
    )
