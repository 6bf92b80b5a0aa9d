"""`workbench convert`: records in, records out, and what was lost is said."""

import json

from tests.cli.conftest import Cli
from tests.formats.samples import GENAGENTS

BOOK = (
    "## RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n"
    "[r-00002] helpful=0 harmful=2 :: Then act.\n\n## OTHERS\n"
)


def test_a_playbook_becomes_a_skillbook_and_comes_back(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    said = cli.bare("convert", "book.txt", "skills.json")
    assert (said.code, said.err) == (0, "")
    assert said.out == "skills.json: 2 records as skillbook (JSON).\n"
    skills = json.loads((cli.cwd / "skills.json").read_text())["skills"]
    assert {name: skill["content"] for name, skill in skills.items()} == {
        "r-00001": "Ask first.",
        "r-00002": "Then act.",
    }
    assert cli.bare("convert", "skills.json", "-", "--to", "ace").out == BOOK


def test_the_name_decides_unless_told_otherwise(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    for name, start in (
        ("o.yaml", "schema_version"), ("o.csv", "id,section,content"), ("o.md", "# book"), ("o.jsonl", '{"id"'),
    ):  # fmt: skip
        assert cli.bare("convert", "book.txt", name).code == 0
        assert (cli.cwd / name).read_text().startswith(start), name
    refused = cli.bare("convert", "book.txt", "what.ever")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--to" in refused.err


def test_what_is_lost_is_said(cli: Cli) -> None:
    cli.write("nodes.json", GENAGENTS)
    said = cli.bare("convert", "nodes.json", "book.txt")
    assert said.code == 0
    assert "Memories became bullets" in said.err


def test_a_file_that_is_there_is_not_replaced_unasked(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli.write("o.csv", "precious")
    assert cli.bare("convert", "book.txt", "o.csv").code == 2
    assert (cli.cwd / "o.csv").read_text() == "precious"
    assert cli.bare("convert", "book.txt", "o.csv", "--force").code == 0
    assert (cli.cwd / "o.csv").read_text() != "precious"


def test_no_store_is_made(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli.bare("convert", "book.txt", "o.csv")
    cli("convert", "book.txt", "p.csv")
    assert not cli.store.exists()
    assert sorted(p.name for p in cli.cwd.iterdir()) == ["book.txt", "o.csv", "p.csv"]


def test_a_file_read_as_the_wrong_format_gives_nothing(cli: Cli) -> None:
    cli.write("m.jsonl", "".join(f'{{"id": "m{n}", "context": "text {n}"}}\n' for n in range(419)))
    said = cli.bare("convert", "--from", "ace", "m.jsonl", "x.json")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "419 places are none; the first is line 1" in said.err
    assert "kept in the file" not in said.err
    assert not (cli.cwd / "x.json").exists()


def test_places_that_differ_in_a_number_are_summed_up_too(cli: Cli) -> None:
    cli.ok("init")
    lines = [f'{{"id": "a{n}", "context": "{"x" * n}' for n in range(100)]
    cli.write(
        "notes.jsonl",
        "\n".join(['{"id": "b", "context": "whole", "status": "signal"}', *lines]) + "\n",
    )
    for command in ("import", "lint"):
        said = cli(command, "notes.jsonl")
        printed = (said.err if said.err else said.out).splitlines()
        assert "notes.jsonl:2: not JSON: Unterminated string starting at column " in printed[0]
        assert "notes.jsonl: … and 80 more places up to line 101: not JSON: " in "\n".join(
            printed[20:]
        )
        assert len(printed) <= 22


def test_many_equal_remarks_are_summed_up(cli: Cli) -> None:
    cli.ok("init")
    cli.write("book.txt", "## A\n" + "loose\n" * 100 + BOOK)
    for args in (("convert", "book.txt", "o.csv"), ("import", "book.txt")):
        said = cli(*args)
        assert said.code == 0
        lines = said.err.splitlines()
        assert len(lines) == 21
        assert "book.txt: … and 80 more places up to line 101: " in lines[-1]
        assert ("kept in the file" in said.err) == (args[0] == "import")
