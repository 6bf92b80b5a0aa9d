"""`watch`: what became of the files that a store was read from or written to."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

ENTRY = '{"id": "a", "timestamp": "2026-03-01T10:00:00Z", "type": "error", "context": "text"}\n'


@pytest.fixture
def notes(cli: Cli) -> Path:
    cli.ok("init")
    (cli.cwd / "bank").mkdir()
    for name in ("one", "two"):
        (cli.cwd / "bank" / f"{name}.md").write_text(f"Note {name}.\n")
    cli.write("log.jsonl", ENTRY)
    cli.ok("import", "bank", "log.jsonl")
    return cli.cwd / "bank"


def test_nothing_changed(cli: Cli, notes: Path) -> None:
    del notes
    said = cli("watch")
    assert (said.code, said.out, said.err) == (
        0,
        "",
        "No file changed.\n",
    )
    assert cli.json("watch") == []


def test_what_changed_is_gone_or_new(cli: Cli, notes: Path) -> None:
    (notes / "one.md").write_text("Another note.\n")
    (notes / "two.md").unlink()
    (notes / "three.md").write_text("Third.\n")
    cli.write("log.jsonl", ENTRY + ENTRY.replace('"a"', '"b"'))
    said = cli("watch")
    assert said.code == 1
    assert [line.split() for line in said.out.splitlines()] == [
        ["changed", "bank/one.md", "notes"], ["gone", "bank/two.md", "notes"], ["changed", "log.jsonl", "lifecycle"],
    ]  # fmt: skip
    below = cli.told("watch", "bank")
    assert [(Path(row["path"]).name, row["what"]) for row in below] == [
        ("one.md", "changed"), ("three.md", "new"), ("two.md", "gone"),
    ]  # fmt: skip
    assert cli("watch", "log.jsonl").out.split() == ["changed", "log.jsonl", "lifecycle"]
    cli("import", "bank", "--theirs")
    assert cli("watch", "bank").out.split() == ["gone", "bank/two.md", "notes"]


def test_a_link_or_a_pipe_in_its_place_is_a_change(cli: Cli, notes: Path) -> None:
    (notes / "one.md").unlink()
    (notes / "one.md").symlink_to("/etc/passwd")
    assert cli("watch", "bank").out.split() == ["changed", "bank/one.md", "notes"]


def test_places_that_are_not_there(cli: Cli, notes: Path) -> None:
    del notes
    cli.refused("watch", "nowhere")
    assert cli("watch", "--follow", "--json").code == 2


@pytest.mark.slow
def test_one_that_follows_says_each_change_once(cli: Cli, notes: Path) -> None:
    command = [sys.executable, "-m", "workbench", "--store", str(cli.store), "watch", "--follow"]
    process = subprocess.Popen(
        command, cwd=cli.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline() == "No file changed.\n"
        (notes / "one.md").write_text("Another note.\n")
        assert process.stdout.readline().split() == ["changed", "bank/one.md", "notes"]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "")
    finally:
        process.kill()
        process.communicate()
