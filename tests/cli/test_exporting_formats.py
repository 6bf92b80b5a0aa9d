"""`workbench export` in other tools' formats: one change is one line, and nobody else's change is lost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.conftest import NOW, Cli
from tests.formats.others import TEXTS
from tests.formats.samples import context
from workbench.bench.workbench import Workbench, open_workbench
from workbench.formats.outlets import outlet
from workbench.formats.registry import format_named

BOOK = (
    "## RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n[r-00002] helpful=0 harmful=2 :: Then act.\n\n## OTHERS\n"
)
WRITING = sorted(name for name in TEXTS if format_named(name).writes)


@contextmanager
def opened(cli: Cli) -> Iterator[Workbench]:
    """Open the test's store beside the command line."""
    bench = open_workbench(cli.store, profiles=cli.cwd / "profiles", clock=lambda: NOW)
    yield bench
    bench.close()


@pytest.mark.parametrize("name", WRITING)
def test_an_imported_file_comes_out_with_the_same_bytes(name: str, cli: Cli) -> None:
    path, text = TEXTS[name]
    file = cli.write(path.rpartition("/")[2], text)
    assert cli("import", file, "--format", name).code == 0
    said = cli("export", "--format", name, "--out", file)
    assert (said.code, said.out) == (0, f"{cli.cwd / file} is the same already.\n"), said.err
    assert (cli.cwd / file).read_bytes() == text.encode()


@pytest.mark.parametrize("name", [n for n in WRITING if outlet(n).holds == "memories"])
def test_a_forgotten_memory_goes_from_its_file_and_nothing_else_does(name: str, cli: Cli) -> None:
    path, text = TEXTS[name]
    file = cli.write(path.rpartition("/")[2], text)
    cli("import", file, "--format", name)
    with opened(cli) as bench:
        first = next(m for m in bench.library.memories.all() if m.status != "archived")
        bench.stream.forget([first.id])
    cli("export", "--format", name, "--out", file)
    left = (cli.cwd / file).read_text()
    again = format_named(name).read(left, context(path))
    before = format_named(name).read(text, context(path))
    assert [m.content for m in again.memories] == [m.content for m in before.memories if m.content != first.content]


def test_one_changed_bullet_is_one_changed_line(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli("vote", "r-00002", "helpful")
    out = cli.ok("export", "--format", "ace", "--out", "book.txt")
    assert [line for line in out.splitlines() if line[:1] in "+-"] == [
        "-[r-00002] helpful=0 harmful=2 :: Then act.",
        "+[r-00002] helpful=1 harmful=2 :: Then act.",
    ]


@pytest.fixture
def changed_meanwhile(cli: Cli) -> Cli:
    """A playbook with a vote here and a new bullet there."""
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli("vote", "r-00001", "helpful")
    cli.write("book.txt", BOOK.replace("\n\n## OTHERS", "\n[r-00003] helpful=0 harmful=0 :: Theirs.\n\n## OTHERS"))
    return cli


def test_a_file_changed_by_somebody_else_is_never_overwritten(changed_meanwhile: Cli) -> None:
    cli, before = changed_meanwhile, (changed_meanwhile.cwd / "book.txt").read_bytes()
    said = cli("export", "--format", "ace", "--out", "book.txt")
    assert said.code == 2
    assert "changed by somebody else" in said.err
    assert "here   +[r-00001] helpful=2" in said.out
    assert "there  >[r-00003] helpful=0 harmful=0 :: Theirs." in said.out
    assert (cli.cwd / "book.txt").read_bytes() == before


def test_both_sides_changes_can_be_written(changed_meanwhile: Cli) -> None:
    cli = changed_meanwhile
    assert cli("export", "--format", "ace", "--out", "book.txt", "--merge").code == 0
    text = (cli.cwd / "book.txt").read_text()
    assert "[r-00001] helpful=2" in text
    assert "[r-00003] helpful=0 harmful=0 :: Theirs." in text
    # Theirs is still not the store's: it is not taken away by the next export either.
    assert cli("export", "--format", "ace", "--out", "book.txt").code == 2
    assert (cli.cwd / "book.txt").read_text() == text
    cli("import", "book.txt")
    assert cli.ok("export", "--format", "ace", "--out", "book.txt").endswith("is the same already.\n")


def test_what_collides_is_not_merged(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli("vote", "r-00001", "helpful")
    theirs = cli.write("book.txt", BOOK.replace("helpful=1", "helpful=7"))
    said = cli("export", "--format", "ace", "--out", "book.txt", "--merge")
    assert said.code == 2
    assert "1 place was changed on both sides" in said.err
    assert "BOTH ! >[r-00001] helpful=7" in said.out
    assert "helpful=7" in (cli.cwd / theirs).read_text()
    assert cli("export", "--format", "ace", "--out", "book.txt", "--force").code == 0


def test_parts_of_a_playbook(cli: Cli) -> None:
    cli.write("book.txt", BOOK + "[o-00009] helpful=4 harmful=0 :: Other.\n")
    cli("import", "book.txt")
    said = cli("export", "--format", "ace", "--section", "rules")
    assert said.out == BOOK.partition("\n\n")[0] + "\n"
    assert said.err == "1 bullet is left out by what was asked for.\n"
    assert cli("export", "--format", "prompt", "--min-helpful", "2").out == "## OTHERS\n- [o-00009] Other.\n"
    refused = cli("export", "--format", "csv", "--section", "nowhere")
    assert (refused.code, refused.out) == (2, "")
    assert "No section is called “nowhere”" in refused.err


def test_memories_or_playbook_in_the_plain_formats(demo: Cli) -> None:
    said = demo("export", "--format", "json")
    assert list(json.loads(said.out)) == ["playbook", "bullets"]
    assert "--filter" in said.err
    found = json.loads(demo.ok("export", "--format", "json", "--filter", "type:error"))["memories"]
    assert found
    assert {memory["observation_type"] for memory in found} == {"error"}


def test_what_does_not_go_together_is_refused(demo: Cli) -> None:
    for args in (
        ("ace", "--filter", "x"), ("jsonl", "--section", "x"), ("queries", "--min-helpful", "1"),
        ("json", "--filter", "x", "--book", "playbook"), ("skillbook", "--dialect", "bare"), ("word",),
    ):  # fmt: skip
        said = demo("export", "--format", *args)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), args


def test_judgments_go_out_as_they_came_in(demo: Cli) -> None:
    text = demo("export", "--format", "queries").out
    assert all({"query", "relevant"} <= set(json.loads(line)) for line in text.splitlines())
    assert demo("export", "--format", "trec-qrels").out.count("\n") > 10


def test_a_managed_block_is_all_that_changes_in_somebody_elses_file(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    theirs = "# Project\r\n\r\nOur own words, no line end at the end"
    cli.write("AGENTS.md", theirs)
    assert cli("export", "--format", "block", "--out", "AGENTS.md").code == 0
    text = (cli.cwd / "AGENTS.md").read_bytes().decode()
    assert text.startswith(theirs)
    assert text.endswith(
        "\r\n\r\n<!-- memory-workbench:begin -->\r\n- [r-00001] Ask first.\r\n- [r-00002] Then act.\r\n"
        "<!-- memory-workbench:end -->"
    )
    changed = text.replace("Our own", "Our new").replace("begin -->", "begin -->\r\n- a colleague's line")
    cli.write("AGENTS.md", changed)
    with opened(cli) as bench:
        bench.playbooks.edit("book", "r-00001", "Ask twice.")
    assert cli("export", "--format", "block", "--out", "AGENTS.md").code == 0
    assert (cli.cwd / "AGENTS.md").read_bytes().decode() == changed.replace("Ask first", "Ask twice")
    said = cli("export", "--format", "block", "--out", "AGENTS.md")
    assert said.out.endswith("is the same already.\n")


def test_a_broken_block_is_left_alone(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    text = "<!-- memory-workbench:begin -->\n<!-- memory-workbench:begin -->\n"
    cli.write("CLAUDE.md", text)
    said = cli("export", "--format", "block", "--out", "CLAUDE.md")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "begin on line 1, begin on line 2" in said.err
    assert (cli.cwd / "CLAUDE.md").read_text() == text


def test_a_plain_file_of_somebody_else_is_not_replaced_unasked(demo: Cli) -> None:
    demo.write("o.csv", "precious")
    assert demo("export", "--format", "csv", "--out", "o.csv").code == 2
    assert (demo.cwd / "o.csv").read_text() == "precious"
    assert demo("export", "--format", "csv", "--out", "new.csv").code == 0
    assert demo("export", "--format", "csv", "--min-helpful", "3", "--out", "new.csv").code == 0
    assert demo("export", "--format", "csv", "--out", "o.csv", "--force").code == 0
