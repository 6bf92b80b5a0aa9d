"""Commands that read write nothing, whatever a store invites them to finish or repair."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.hostile import ORDER, RULE, half_done, hostile_store, written
from workbench.config.paths import cache_dir, heads_dir

MEMORY = "mem-20260301-0000001"

READING = [
    "status", "status --json", "list", "list pnpm", f"show {MEMORY}", f"show {MEMORY} --at 1", "stats", "stats --json",
    "search pnpm", "search pnpm --explain --json", "history", f"history {MEMORY}", "history --values --reads",
    "scan", "scan --json", "review list", "review show nothing", "queries list", "upkeep --dry-run",
    "dedup --dry-run", "reflect --preview", "reflect --force --dry-run", "curate --preview", "doctor", "doctor --json",
    "export --format json --memories", "export --format ace", "export --format jsonl",
    "import notes.md --dry-run", "lint notes.md", "scan notes.md", "config show", "stores",
    f"review promote {MEMORY} --to CLAUDE.md --dry-run", "eval queries.jsonl", "tune queries.jsonl",
    "convert notes.md - --to json", "undo --help", "context pnpm", "context pnpm --json", "reads", "reads nothing",
    "index", "index --json", "check checks.toml", "bullet list", "completion bash",
    "list --at 1", "search pnpm --at 1", "context pnpm --at 1", "stats --at 1", "queries export -", "documents",
    "recall pnpm", "pattern list", "episode list", "plan list", "working", "views", "watch",
]  # fmt: skip


@pytest.fixture
def project(cli: Cli) -> Cli:
    """The command line in a cloned project that has a hostile store."""
    cache_dir().mkdir(parents=True)
    memory = heads_dir()
    assert memory is not None
    cli.store = hostile_store(cli.cwd)
    (cli.cwd / "CLAUDE.md").write_text("# Mine\n")
    cli.write("notes.md", "# Notes\n\n- Use pnpm.\n- Read the log.\n")
    cli.write("queries.jsonl", json.dumps({"query": "pnpm", "relevant": {MEMORY: 1}}) + "\n")
    cli.write("checks.toml", f'[[expect]]\nquery = "pnpm"\nfinds = ["{MEMORY}"]\n')
    return cli


def test_status_does_not_carry_out_what_a_store_says_was_broken_off(cli: Cli) -> None:
    store = cli.cwd / ".workbench"
    half_done(store)
    result = cli.bare("status")
    assert result.code == 0
    assert not (cli.cwd / RULE).exists()
    assert (store / "placing-1.json").exists()
    assert "workbench doctor" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("command", READING)
def test_a_reading_command_writes_nothing(command: str, project: Cli) -> None:
    def everything() -> dict[str, tuple[object, ...]]:
        return written(project.cwd.parent) | written(Path.home(), without=(cache_dir(),))

    before = everything()
    result = project.bare(*command.split())
    assert result.code in (0, 1, 2), result.err
    assert everything() == before


def test_the_doctor_shows_what_is_half_done_and_a_word_finishes_it(cli: Cli) -> None:
    store = cli.cwd / ".workbench"
    half_done(store)
    found = cli.bare("doctor")
    assert found.code == 1
    assert RULE in found.out
    assert ORDER.strip() in found.out
    assert "workbench doctor --finish" in found.out
    assert json.loads(cli.bare("doctor", "--json").out)["half_done"][0]["files"] == [RULE]
    finished = cli.bare("doctor", "--finish")
    assert finished.code == 0
    assert finished.err == ""
    assert ORDER.strip() in finished.out
    assert (cli.cwd / RULE).read_text() == ORDER
    assert not list(store.glob("placing-*"))
    assert cli.bare("doctor").code == 0
    assert cli.bare("doctor", "--finish").out == "No interrupted change.\n"


def test_a_promotion_that_fails_carries_out_no_note_but_its_own(project: Cli) -> None:
    (project.cwd / "CLAUDE.md").chmod(0o444)
    for pid in range(2, 4):
        shutil.copy(project.store / "placing-1.json", project.store / f"placing-{pid}.json")
    result = project.bare("review", "promote", MEMORY, "--to", "CLAUDE.md")
    assert result.code == 2
    assert not (project.cwd / RULE).exists()
