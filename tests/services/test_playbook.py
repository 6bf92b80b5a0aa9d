"""The playbook: one line of the file per change, and nothing when a change is impossible."""

from pathlib import Path

import pytest

from tests.services.conftest import snapshot
from workbench.core.record import Conflict, UnknownRecord, WorkbenchError
from workbench.services.open import Workbench

TEXT = """## HARD RULES
[hr-00001] helpful=2 harmful=0 :: Ask first.
[hr-00002] helpful=0 harmful=1 :: Test last.

## PITFALLS
[pit-00003] helpful=0 harmful=0 :: Mind the gap.
"""


@pytest.fixture
def book(bench: Workbench, tmp_path: Path) -> Workbench:
    path = tmp_path / "book.txt"
    path.write_text(TEXT)
    bench.importer.carry_out(bench.importer.plan(path))
    return bench


def text(bench: Workbench) -> str:
    return bench.exporter.ace("book")[0]


def changed(bench: Workbench) -> list[str]:
    """Return the lines in which the file now differs."""
    before, after = TEXT.splitlines(), text(bench).splitlines()
    return [f"-{x}" for x in before if x not in after] + [f"+{x}" for x in after if x not in before]


def sections(bench: Workbench) -> list[str]:
    return [s.id for s in bench.playbooks.open("book").sections]


def test_an_untouched_playbook_is_its_file(book: Workbench) -> None:
    assert text(book) == TEXT
    (line,) = book.playbooks.books()
    assert (line.book.id, line.bullets) == ("book", 3)


def test_a_vote_changes_one_line(book: Workbench) -> None:
    book.playbooks.vote("book", ["hr-00001"], "helpful")
    assert changed(book) == [
        "-[hr-00001] helpful=2 harmful=0 :: Ask first.",
        "+[hr-00001] helpful=3 harmful=0 :: Ask first.",
    ]
    assert book.playbooks.live_vote("book", "hr-00001") == "helpful"
    book.playbooks.vote("book", ["hr-00001"], "helpful")
    assert text(book) == TEXT


def test_an_edit_changes_one_line(book: Workbench) -> None:
    book.playbooks.edit("book", "hr-00002", "  Test first. \n")
    assert changed(book) == [
        "-[hr-00002] helpful=0 harmful=1 :: Test last.",
        "+[hr-00002] helpful=0 harmful=1 :: Test first.",
    ]


def test_an_edit_of_a_text_that_changed_meanwhile_is_a_conflict(book: Workbench) -> None:
    before = snapshot(book)
    with pytest.raises(Conflict):
        book.playbooks.edit("book", "hr-00002", "New", expected="What it was before.")
    assert snapshot(book) == before


def test_a_new_bullet_is_numbered_on_over_the_whole_file(book: Workbench) -> None:
    id = book.playbooks.add("book", sections(book)[0], "A new rule.")
    assert id == "hr-00004"
    assert changed(book) == ["+[hr-00004] helpful=0 harmful=0 :: A new rule."]
    assert text(book).splitlines()[3] == "[hr-00004] helpful=0 harmful=0 :: A new rule."


def test_deleting_and_moving_leave_the_other_lines_alone(book: Workbench) -> None:
    book.playbooks.delete("book", ["hr-00001"])
    assert changed(book) == ["-[hr-00001] helpful=2 harmful=0 :: Ask first."]
    book.history.undo()
    book.playbooks.move("book", ["hr-00001"], sections(book)[1])
    assert changed(book) == []
    assert [b.id for b in book.playbooks.open("book").bullets] == [
        "hr-00002",
        "pit-00003",
        "hr-00001",
    ]


def test_bullets_are_shifted_within_their_section(book: Workbench) -> None:
    assert book.playbooks.shift("book", "hr-00001", 1)
    assert [b.id for b in book.playbooks.open("book").bullets] == [
        "hr-00002",
        "hr-00001",
        "pit-00003",
    ]
    assert not book.playbooks.shift("book", "hr-00001", 1)
    assert not book.playbooks.shift("book", "pit-00003", -1)


def test_a_section_can_be_added_also_to_a_store_without_a_playbook(book: Workbench) -> None:
    book.playbooks.add_section("book", "COMMANDS")
    assert changed(book) == ["+## COMMANDS"]
    book.playbooks.add_section("main", "FIRST")
    assert [line.book.id for line in book.playbooks.books()] == ["book", "main"]
    book.playbooks.add("main", book.playbooks.open("main").sections[0].id, "One.")
    assert "FIRST" in book.exporter.ace("main")[0]


def test_what_is_impossible_changes_nothing(book: Workbench) -> None:
    before, rev = snapshot(book), book.library.journal.rev
    for act in (
        lambda: book.playbooks.edit("book", "none", "text"),
        lambda: book.playbooks.edit("book", "hr-00001", "  "),
        lambda: book.playbooks.delete("book", ["hr-00001", "none"]),
        lambda: book.playbooks.move("book", ["hr-00001"], "no-section"),
        lambda: book.playbooks.add("book", "no-section", "text"),
        lambda: book.playbooks.vote("book", ["hr-00001", "none"], "helpful"),
        lambda: book.playbooks.open("none"),
    ):
        with pytest.raises(WorkbenchError):
            act()
    assert (snapshot(book), book.library.journal.rev) == (before, rev)


def test_an_unknown_bullet_is_named(book: Workbench) -> None:
    with pytest.raises(UnknownRecord, match="no bullet none"):
        book.playbooks.bullet("book", "none")
