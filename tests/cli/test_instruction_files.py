"""Importing an instruction file: no records, unless somebody asks for candidates."""

import pytest

from tests.cli.conftest import Cli

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
    assert (
        "2 statements make sense without the rest; --as-candidates"
        in result.out
    )
    assert "AGENTS.md:1: an instruction file is a document" in result.err
    assert cli("list").code == 2


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
    (cli.cwd / "docs").mkdir()
    (cli.cwd / "docs/git.md").write_text(
        "- Write commit messages in the imperative\n\n@../CLAUDE.md @../AGENTS.md\n"
    )
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
    (cli.cwd / "project/docs").mkdir()
    (cli.cwd / "project/AGENTS.md").write_text(TEXT)
    cli.write("secret.md", "- Never tell anybody what stands here\n")
    (cli.cwd / "project/docs/CLAUDE.md").write_text("@../AGENTS.md\n@../../secret.md\n")
    result = cli("import", "project/docs/CLAUDE.md")
    assert "2 statements make sense without the rest" in result.out
    assert "“../../secret.md”: not read" in result.err


def test_lint_finds_an_import_of_a_file_that_is_not_there(cli: Cli) -> None:
    cli.write("AGENTS.md", TEXT)
    path = cli.write("CLAUDE.md", "@AGENTS.md\n@docs/gone.md `@code.md` @scope/package\n")
    said = cli("lint", path)
    assert said.code == 1
    assert "CLAUDE.md:2: the imported file “docs/gone.md” does not exist" in said.out
    assert said.out.count("does not exist") == 1


@pytest.mark.parametrize("name", ["~nobody-is-called-so/notes.md", f"{'long' * 80}.md"])
def test_lint_finds_an_import_whose_path_means_nothing(cli: Cli, name: str) -> None:
    said = cli("lint", cli.write("CLAUDE.md", f"See @{name} first.\n"))
    assert (said.code, said.out.count("does not exist")) == (1, 1)
