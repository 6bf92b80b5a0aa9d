"""`workbench index FILE`: an overview that the store writes anew, and never over what somebody else
wrote.
"""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.demo import MEMORIES
from workbench.config import paths


def configure(text: str) -> None:
    config = paths.config_dir() / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)


@pytest.mark.slow
def test_a_file_is_written_anew_as_often_as_the_store_changes(demo: Cli) -> None:
    demo("index", "memory-index.md")
    file = demo.cwd / "memory-index.md"
    assert file.read_text() == demo("index").out
    demo.ok("bullet", "add", "OTHERS", "One more")
    demo.ok("append", "One memory more")
    demo("index", "memory-index.md")
    assert f"{MEMORIES + 1} memories" in file.read_text()
    answer = demo.told("index", "memory-index.md")
    assert answer["bytes"] == len(file.read_bytes())


def test_a_line_that_no_person_stands_by_says_so(cli: Cli) -> None:
    cli.store = cli.cwd / ".workbench"
    cli.bare("init")
    cli.bare("append", "Deploys go through the queue", "--type", "convention")
    cli.bare("append", "Agents may skip the queue", "--type", "convention", "--actor", "claude")
    lines = {
        line[2:8]: line for line in cli.bare("index").out.splitlines() if line.startswith("- ")
    }
    assert lines["Agents"].endswith(", unreviewed)")
    assert "unreviewed" not in lines["Deploy"]


@pytest.mark.slow
@pytest.mark.parametrize("held", ["# My own notes\n", "# Memory index\n\n3 memories: 3 signal\n"])
def test_what_somebody_else_wrote_stays_unless_a_person_says_so(held: str, demo: Cli) -> None:
    demo.write("notes.md", held)
    result = demo("index", "notes.md")
    assert (result.code, "was never read or written here" in result.err) == (2, True)
    assert "--force replaces it" in result.err
    assert (demo.cwd / "notes.md").read_text() == held
    demo("index", "notes.md", "--force")
    with (demo.cwd / "notes.md").open("a") as file:
        file.write("- a line by hand\n")
    result = demo("index", "notes.md")
    assert (result.code, "was changed by others" in result.err) == (2, True)
    assert "- a line by hand" in (demo.cwd / "notes.md").read_text()


@pytest.mark.slow
def test_an_export_of_another_kind_does_not_replace_it_nor_the_other_way_round(demo: Cli) -> None:
    demo("index", "index.md")
    demo("export", "--format", "markdown", "--memories", "--out", "memories.md")
    assert demo("export", "--format", "markdown", "--memories", "--out", "index.md").code == 2
    assert demo("index", "memories.md").code == 2


def test_a_reflection_writes_the_file_that_the_settings_name(cli: Cli) -> None:
    cli.store = cli.cwd / ".workbench"
    cli.bare("init")
    for number in range(4):
        cli.bare(
            "append",
            f"The nightly job failed again because the token had expired, run {number}",
            "--type",
            "error",
        )
    configure('[reflection]\nindex = "docs-index.md"\n')
    assert cli.bare("reflect", "--force").code == 0
    assert (cli.cwd / "docs-index.md").read_text() == cli.bare("index").out
    (cli.cwd / "docs-index.md").write_text("mine\n")
    result = cli.bare("reflect", "--force")
    assert (result.code, "was changed by others" in result.err) == (0, True)
    assert (cli.cwd / "docs-index.md").read_text() == "mine\n"


def test_a_store_without_a_project_says_that_the_file_has_no_place(
    cli: Cli, tmp_path: Path
) -> None:
    for number in range(4):
        cli(
            "append",
            f"The nightly job failed again because the token had expired, run {number}",
            "--type",
            "error",
        )
    configure('[reflection]\nindex = "memory-index.md"\n')
    assert "cannot be placed" in cli("reflect", "--force").err
    configure(f'[reflection]\nindex = "{tmp_path / "index.md"}"\n')
    cli("reflect", "--force")
    assert (tmp_path / "index.md").exists()
    (tmp_path / "index.md").unlink()
    cli("reflect", "--force", "--dry-run")
    assert not (tmp_path / "index.md").exists()


def test_a_store_that_is_not_trusted_writes_none(
    demo: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(demo.cwd / "elsewhere"))
    demo("status")
    result = demo("index", "memory-index.md")
    assert (result.code, "is not trusted" in result.err) == (2, True), result.err
    assert not (demo.cwd / "memory-index.md").exists()
