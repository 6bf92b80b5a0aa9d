"""`workbench export`: exact bytes, previews, atomic writes."""

import json

import pytest

from tests.cli.conftest import Cli, files_of
from workbench.config.paths import shipped

CRLF_BOOK = (
    "\ufeff## Rules\r\n\r\n[r-00001] helpful=1 harmful=0 :: Ask\x0bfirst.\r\nfree text\r\n"
    "[r-00002] helpful=0 harmful=0 :: Two"
)


def test_a_file_gets_the_same_bytes_and_is_left_alone_when_nothing_changes(demo: Cli) -> None:
    out = demo.ok("export", "--format", "ace", "--out", "book.txt")
    path = demo.cwd / "book.txt"
    assert out == f"{path} is new: 58 lines.\n"
    assert path.read_bytes() == shipped("fixtures/demo/playbook.txt").read_bytes()
    before = path.stat()
    assert (
        demo.ok("export", "--format", "ace", "--out", "book.txt")
        == f"{path} is already up to date.\n"
    )
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_what_changes_in_a_file_is_shown(demo: Cli) -> None:
    demo.ok("export", "--format", "ace", "--out", "book.txt")
    demo.ok("vote", "shr-00001", "helpful")
    out = demo.ok("export", "--format", "ace", "--out", "book.txt")
    changed = [line for line in out.splitlines() if line.startswith(("+", "-"))]
    assert [line[:35] for line in changed] == [
        "-[shr-00001] helpful=9 harmful=0 ::",
        "+[shr-00001] helpful=10 harmful=0 :",
    ]
    assert out.splitlines()[-1] == f"{demo.cwd / 'book.txt'} was replaced: 1 line added, 1 removed."


@pytest.mark.slow
def test_memories_come_out_as_they_went_in(demo: Cli) -> None:
    out = demo.ok("export", "--format", "jsonl")
    written = [json.loads(line) for line in out.splitlines()]
    read = [
        json.loads(line)
        for line in shipped("fixtures/demo/memories.jsonl").read_text("utf-8").splitlines()
    ]
    assert [{**new, **old} for new, old in zip(written, read, strict=True)] == written


def test_a_filter_chooses_memories_in_stored_order(demo: Cli) -> None:
    lines = demo.ok("export", "--format", "jsonl", "--filter", "type:error").splitlines()
    records = [json.loads(line) for line in lines]
    assert {r["type"] for r in records} == {"error"}
    assert [r["id"] for r in records] == sorted(r["id"] for r in records)
    listed = demo.json("list", "type:error", "-n", "1000")
    assert {r["id"] for r in records} == {m["id"] for m in listed}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--format", "jsonl", "--book", "x"),
            "--book does not go with --format jsonl. Nothing was written.",
        ),
        (
            ("--format", "ace", "--filter", "x"),
            "--filter does not go with --format ace. Nothing was written.",
        ),
        (("--format", "ace", "--book", "x"), "There is no playbook x. Known ones: playbook."),
        (("--format", "jsonl", "--filter", "since:never"), None),
        (("--format", "jsonl", "--out", "."), "{cwd} is a folder. Name a file in it"),
        (
            ("--format", "jsonl", "--out", "no/such/file"),
            "The folder {cwd}/no/such does not exist.",
        ),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(
    demo: Cli, args: tuple[str, ...], message: str | None
) -> None:
    before = files_of(demo.cwd)
    err = demo.refused("export", *args)
    assert err.count("\n") == 1
    assert message is None or err.startswith("workbench: " + message.format(cwd=demo.cwd))
    assert files_of(demo.cwd) == before


def test_two_playbooks_have_to_be_told_apart(demo: Cli) -> None:
    demo.ok("import", demo.write("second.txt", "## A\n[a-00001] helpful=0 harmful=0 :: One.\n"))
    result = demo("export", "--format", "ace")
    assert (result.code, result.err) == (
        2,
        "workbench: The store has 2 playbooks. Name one with --book: playbook, second.\n",
    )
    assert (
        demo.ok("export", "--format", "ace", "--book", "second")
        == "## A\n[a-00001] helpful=0 harmful=0 :: One.\n"
    )


@pytest.mark.slow
def test_exporting_does_not_touch_the_store(demo: Cli) -> None:
    before = files_of(demo.store)
    demo.ok("export", "--format", "ace")
    demo.ok("export", "--format", "jsonl")
    assert files_of(demo.store) == before
