"""`workbench help`: the list of pages, a page by its name, its title or the beginning of one, and
what is none.
"""

import os
from pathlib import Path

import pexpect
import pytest

from tests.cli.conftest import Cli
from tests.cli.shared import COMMAND
from tests.manual import PAGES

NAMES = sorted(path.stem for path in PAGES.glob("*.md"))


def test_every_page_is_listed_with_what_it_is_about(cli: Cli) -> None:
    rows = [line.split(maxsplit=1) for line in cli.bare("help").out.splitlines()]
    assert sorted(name for name, *_ in rows) == NAMES
    assert [name for name, *about in rows if not about] == []


@pytest.mark.parametrize(
    "topic",
    ["undo-and-history", "undo", "UNDO", "Undo and history", "undo and", "undo-and-history.md"],
)
def test_a_page_is_found_by_its_name_its_title_or_the_beginning_of_one(
    topic: str, cli: Cli
) -> None:
    answer = cli.bare("help", *topic.split())
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Undo and history\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_printed_as_plain_text_with_all_that_it_says(name: str, cli: Cli) -> None:
    out = cli.bare("help", name).out
    for markup in ("<!--", "![", "](", "```", "**"):
        assert markup not in out.replace("``", ""), markup
    text = " ".join(out.split())
    for line in (PAGES / f"{name}.md").read_text("utf-8").splitlines():
        if line.startswith(("# ", "## ", "$ ")):
            assert " ".join(line.lstrip("#").split()) in text


def test_no_prose_is_wider_than_80_cells_where_there_is_no_terminal(cli: Cli) -> None:
    long = [
        line
        for line in cli.bare("help", "review").out.splitlines()
        if len(line) > 80 and not line.startswith("  ")
    ]
    assert long == []


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("s", "stream, store-and-backup"),
        ("glosary", "glossary"),
        ("mcp", "agents"),
        ("xyzzy", "`workbench help`"),
    ],
)
def test_a_topic_that_is_no_page_is_refused_with_what_may_be_meant(
    topic: str, said: str, cli: Cli
) -> None:
    answer = cli.bare("help", topic)
    assert (answer.code, answer.out) == (2, "")
    assert f"“{topic}”" in answer.err
    assert said in answer.err


def test_the_manual_is_read_without_a_store_and_with_settings_that_are_wrong(cli: Cli) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "memory-workbench" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("nonsense = [", "utf-8")
    answer = cli("help", "stream")
    assert (answer.code, answer.err) == (0, "")
    assert not cli.store.exists()
    assert list(cli.cwd.iterdir()) == []


@pytest.mark.slow
def test_a_terminal_gets_the_page_by_its_pager(tmp_path: Path) -> None:
    environment = {**os.environ, "TERM": "xterm-256color", "PAGER": "sed 's/^/page: /'"}
    child = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "help", "stream"],
        cwd=str(tmp_path),
        env=environment,
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert child.before.startswith("page: Stream\r\n")
