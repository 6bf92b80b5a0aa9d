"""`workbench import --theirs`: what somebody else changed in a file gets into the store, and
exports go on.
"""

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_exporting_formats import BOOK, opened
from tests.formats.others import TEXTS
from workbench.core.files.formats import format_named
from workbench.formats.exports import export_format

MEMORIES = sorted(
    n for n in TEXTS if format_named(n).writes and export_format(n).holds == "memories"
)
NEW = BOOK.replace("helpful=1", "helpful=7").replace("Then act.", "Then act slowly.").replace(
    "\n\n## OTHERS", "\n[r-00003] helpful=0 harmful=0 :: Theirs.\n\n## OTHERS"
)  # fmt: skip


def exported(cli: Cli, format: str = "ace", file: str = "book.txt") -> str:
    """Export to the file and return the last line of what was said."""
    said = cli("export", "--format", format, "--out", file)
    assert said.code == 0, said.err
    return said.out.splitlines()[-1]


def test_the_whole_loop_of_a_conflict(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli("vote", "r-00001", "helpful")
    cli.write("book.txt", NEW)
    refused = cli("export", "--format", "ace", "--out", "book.txt", "--merge")
    path = cli.cwd / "book.txt"
    assert refused.code == 2
    assert f"`workbench import --theirs {path}`" in refused.err
    assert "Nothing was written." in refused.err
    assert "--theirs" in cli("import", "book.txt").out
    assert cli("export", "--format", "ace", "--out", "book.txt").code == 2
    dry = cli.ok("import", "--theirs", "--dry-run", "book.txt")
    assert (
        "  - [r-00001] helpful=2 harmful=0 :: Ask first.\n  + [r-00001] helpful=7 harmful=0 :: Ask first."
        in dry
    )
    assert "  + [r-00002] helpful=0 harmful=2 :: Then act slowly." in dry
    taken = cli.ok("import", "--theirs", "book.txt")
    assert "2 records replaced by the file's version" in taken
    assert exported(cli).endswith("is already up to date.")
    assert path.read_text() == NEW
    assert "nothing new" in cli.ok("import", "--theirs", "book.txt")
    assert cli("undo").code == 0
    with opened(cli) as bench:
        assert bench.library.bullets.get("book/r-00001").helpful_count == 2
        assert bench.library.bullets.get("book/r-00002").content == "Then act."


def test_after_a_merge_the_store_catches_up(cli: Cli) -> None:
    longer = BOOK + "[o-00009] helpful=4 harmful=0 :: Other.\n"
    cli.write("book.txt", longer)
    cli("import", "book.txt")
    cli("vote", "r-00001", "helpful")
    cli.write("book.txt", longer.replace("Other.", "Another."))
    merged = cli("export", "--format", "ace", "--out", "book.txt", "--merge")
    assert merged.code == 0
    assert "--theirs" in merged.out
    text = (cli.cwd / "book.txt").read_text()
    cli("import", "--theirs", "book.txt")
    assert exported(cli).endswith("is already up to date.")
    assert (cli.cwd / "book.txt").read_text() == text
    with opened(cli) as bench:
        bullet = bench.library.bullets.get("book/r-00001")
        assert (bullet.helpful_imported, bullet.helpful_votes) == (1, 1)


def test_a_heading_that_they_took_out_goes_unless_something_of_ours_is_below_it(cli: Cli) -> None:
    longer = BOOK + "\n## GONE\n[g-00003] helpful=0 harmful=0 :: Going.\n\n## EMPTY\n\n## KEPT\n"
    cli.write("book.txt", longer)
    cli("import", "book.txt")
    with opened(cli) as bench:
        bench.playbooks.add("book", "KEPT", "Ours alone.")
    theirs = longer.partition("\n## GONE")[0]
    cli.write("book.txt", theirs)
    dry = cli.ok("import", "--theirs", "--dry-run", "book.txt")
    assert "  - section GONE" in dry
    assert "  - section EMPTY" in dry
    assert "section KEPT" not in dry
    cli("import", "--theirs", "book.txt")
    assert "replaced" not in cli.ok("import", "--theirs", "book.txt")
    exported(cli)
    text = (cli.cwd / "book.txt").read_text()
    assert text.startswith(theirs)
    assert "GONE" not in text
    assert "Ours alone." in text
    cli("undo")
    with opened(cli) as bench:
        going = bench.library.bullets.get("book/g-00003")
        assert (going.state, bench.library.sections.get(f"book/{going.section}").title) == (
            "active",
            "GONE",
        )


def test_what_they_took_out_goes_and_what_was_only_here_stays(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    with opened(cli) as bench:
        bench.playbooks.add("book", "RULES", "Ours alone.")
    cli.write("book.txt", BOOK.replace("[r-00002] helpful=0 harmful=2 :: Then act.\n", ""))
    assert "  - [r-00002] helpful=0 harmful=2 :: Then act." in cli.ok(
        "import", "--theirs", "--dry-run", "book.txt"
    )
    cli("import", "--theirs", "book.txt")
    exported(cli)
    text = (cli.cwd / "book.txt").read_text()
    assert "Then act." not in text
    assert "Ours alone." in text


@pytest.mark.slow
@pytest.mark.parametrize("name", MEMORIES)
def test_memories_take_what_the_file_says(name: str, cli: Cli) -> None:
    path, text = TEXTS[name]
    file = cli.write(path.rpartition("/")[2], text)
    cli("import", file, "--format", name)
    with opened(cli) as bench:
        first = next(m for m in bench.library.memories.all() if m.status != "archived")
        bench.stream.edit(first.id, "Our own words.")
        bench.stream.vote([first.id], "helpful")
    exported(cli, name, file)
    theirs = (cli.cwd / file).read_text().replace("Our own words.", "Their other words.")
    cli.write(file, theirs)
    with opened(cli) as bench:
        bench.stream.edit(first.id, "Ours again.")
    assert cli("export", "--format", name, "--out", file).code == 2
    assert cli("import", "--theirs", file, "--format", name).code == 0
    assert exported(cli, name, file).endswith("is already up to date.")
    assert (cli.cwd / file).read_text() == theirs
    with opened(cli) as bench:
        now = bench.library.memories.get(first.id)
        assert (now.content, now.status) == ("Their other words.", first.status)


def test_what_somebody_stores_meanwhile_is_not_written_over(cli: Cli) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    cli.write("book.txt", NEW)
    with opened(cli) as bench:
        plan = bench.importer.plan(cli.cwd / "book.txt", theirs=True)
        bench.playbooks.edit("book", "r-00002", "Meanwhile.")
        report = bench.importer.carry_out(plan)
        assert report.overtaken == ("book/r-00002",)
        assert bench.library.bullets.get("book/r-00002").content == "Meanwhile."
        assert bench.library.bullets.get("book/r-00001").helpful_count == 7


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "yaml", "csv", "markdown"])
def test_whatever_is_written_plain_is_read_back_as_the_same(cli: Cli, format: str) -> None:
    cli.write("book.txt", BOOK)
    cli("import", "book.txt")
    name = f"book{export_format(format).suffix}"
    cli.ok("export", "--format", format, "--out", name)
    told, again = (cli.cwd / name).read_bytes().decode(), ("--store", str(cli.cwd / "other"))
    assert "new: 2 bullets" in cli.bare("import", *again, name).out
    assert "nothing new · 2 already present" in cli.bare("import", *again, name).out
    assert cli.bare("export", *again, "--format", format).out == told
