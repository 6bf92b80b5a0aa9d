"""Files with long records and with bytes that are no UTF-8, from import to export."""

import json

from tests.cli.conftest import Cli

LONG = "The rollout has many steps. " * 900


def entry(name: str, text: str) -> str:
    at = "2026-03-01T10:00:00Z"
    return json.dumps(
        {"id": name, "timestamp": at, "type": "error", "status": "confirmed", "context": text}
    )


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
    refused = cli("edit", "long", LONG + "And one more.")
    assert refused.code == 2
    assert f"(at most {len(LONG):,})" in refused.err


def test_a_context_cuts_a_long_record_to_the_room_there_is(cli: Cli) -> None:
    cli.ok(
        "import",
        cli.write(
            "m.jsonl", f"{entry('long', LONG)}\n{entry('short', 'A short one about the rollout')}\n"
        ),
    )
    cli.ok("pin", "long", "short")
    made = cli.json("context", "prepare the rollout", "--budget", "4000")
    assert made["tokens"] <= 4000
    assert {"long", "short"} == set(made["layers"][0]["ids"])
    assert f"[cut: the beginning of {len(LONG):,} characters]" in made["text"]
    tight = cli.json("context", "prepare the rollout", "--budget", "200")
    assert tight["layers"][0]["left_out"] == {"budget": 1}


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
