"""Importing an instruction file: no records, unless somebody asks for candidates."""

import json

from tests.cli.conftest import Cli

TEXT = (
    "# The shop\n\n## Do not\n\n- Run make deploy without asking\n\n## Commands\n\n- `make test` runs all the tests\n"
)


def test_an_instruction_file_makes_no_memories(cli: Cli) -> None:
    path = cli.write("AGENTS.md", TEXT)
    result = cli("import", path)
    assert result.code == 0
    assert "instruction file (Markdown)" in result.out
    assert "nothing new" in result.out
    assert "2 statements can be understood alone; --as-candidates takes them to be reviewed" in result.out
    assert "AGENTS.md:1: an instruction file is a document" in result.err
    assert cli("list").code == 2


def test_its_statements_are_taken_as_candidates(cli: Cli) -> None:
    path = cli.write("AGENTS.md", TEXT)
    cli.ok("import", path, "--as-candidates")
    found = json.loads(cli.ok("list", "--json"))
    assert {memory["status"] for memory in found} == {"candidate"}
    assert "Warning, under “Do not”: Run make deploy without asking" in {memory["content"] for memory in found}
    assert "make deploy" not in cli("search", "deploy command", "--for-agent").out
    assert "nothing new" in cli.ok("import", path, "--as-candidates")
    cli.ok("undo")
    assert json.loads(cli.ok("list", "--json")) == []
