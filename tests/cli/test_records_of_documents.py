"""Records that were once made of an instruction file wait in Review, a question for each file."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

TEXT = """# Project

## Commands
- Run make deploy without asking.
- Use pnpm and never npm here.
- The staging host is reset every night.

### Do not
- Run make deploy without asking for it twice.
"""


@pytest.fixture
def taken(cli: Cli) -> Cli:
    """A store into which an instruction file was read as if it were memories."""
    cli.ok("init")
    cli.write("CLAUDE.md", TEXT)
    cli.write("MEMORY.md", "# Index\n\n- The build needs NODE_ENV in every shell.\n")
    cli.ok("import", "CLAUDE.md", "--format", "claude-memory")
    cli.ok("import", "MEMORY.md")
    return cli


def waiting(cli: Cli) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("review", "list", "--found", "--kind", "instructions")
    return rows


def records(cli: Cli) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("list")
    return rows


def test_one_question_archives_them_and_one_undo_brings_them_back(taken: Cli) -> None:
    before = records(taken)
    (row,) = waiting(taken)
    assert (row["title"], len(row["evidence"])) == ("4 records from CLAUDE.md, 4 never voted", 4)
    shown = taken.ok("review", "show", row["id"], "--quick")
    assert all(
        text in shown for text in ("staging host is reset", "never npm", "Archive these records")
    )
    taken.ok("review", "approve", row["id"])
    assert [one["content"] for one in records(taken)] == [
        "The build needs NODE_ENV in every shell."
    ]
    gone = taken.json("show", row["evidence"][0])
    assert (gone["status"], gone["archived_reason"]) == ("archived", "superseded")
    assert waiting(taken) == []
    taken.ok("undo")
    assert records(taken) == before


def test_what_somebody_stands_by_stays(taken: Cli) -> None:
    by_text = {one["content"]: one["id"] for one in records(taken)}
    taken.ok("pin", by_text["Use pnpm and never npm here."])
    taken.ok("vote", by_text["Run make deploy without asking."], "harmful")
    taken.ok("vote", by_text["The staging host is reset every night."], "helpful")
    (row,) = waiting(taken)
    assert row["title"] == "2 records from CLAUDE.md, 1 never voted"
    assert row["reasons"][1] == "2 stay: pinned, promoted or voted helpful"
    taken.ok("review", "approve", row["id"])
    assert len(records(taken)) == 3


def test_a_no_is_remembered_until_the_file_is_read_that_way_again(taken: Cli) -> None:
    (row,) = waiting(taken)
    taken.ok("review", "reject", row["id"])
    assert waiting(taken) == []
    taken.write("CLAUDE.md", f"{TEXT}- Ask before a migration is run by hand.\n")
    taken.ok("import", "CLAUDE.md", "--format", "claude-memory")
    assert [one["title"] for one in waiting(taken)] == ["5 records from CLAUDE.md, 5 never voted"]


def test_statements_that_a_person_marked_are_no_such_records(cli: Cli) -> None:
    cli.ok("init")
    Path(cli.cwd, "AGENTS.md").write_text(TEXT)
    cli.ok("import", "AGENTS.md", "--as-candidates")
    cli.ok("review", "approve", *(one["id"] for one in cli.json("review", "list")))
    assert waiting(cli) == []
