"""Duplicates of a playbook: found, merged with votes summed once, kept apart, taken apart again."""

from pathlib import Path

import pytest

from tests.services.conftest import Open
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.services.open import Workbench

TEXT = """## RULES
[r-00001] helpful=2 harmful=0 :: Always run the database migrations before the integration tests start.
[r-00002] helpful=5 harmful=1 :: Always run the database migrations before the integration tests start.
[r-00003] helpful=0 harmful=0 :: ALWAYS run the database migrations before the integration tests start.
[r-00004] helpful=1 harmful=0 :: Always run the database migrations before any integration tests start.
[r-00005] helpful=1 harmful=0 :: Never run the database migrations before the integration tests start.

## OTHERS
[o-00006] helpful=0 harmful=0 :: Ask the person who owns the file before deleting it.
"""


@pytest.fixture
def book(open_bench: Open, tmp_path: Path) -> Workbench:
    """A playbook with an exact, a folded, a near duplicate and an opposite."""
    path = tmp_path / "book.txt"
    path.write_text(TEXT)
    bench = open_bench()
    bench.importer.carry_out(bench.importer.plan(path))
    return bench


def counts(bench: Workbench) -> dict[str, tuple[int, int]]:
    return {b.id: (b.helpful_count, b.harmful_count) for b in bench.playbooks.open("book").bullets}


def texts(bench: Workbench) -> str:
    return bench.exporter.ace("book")[0]


def test_equal_texts_need_no_model(book: Workbench) -> None:
    exact, case = book.bullet_duplicates.same("book")
    assert (exact.kind, [b.id for b in exact.members]) == ("exact", ["r-00002", "r-00001"])
    assert (case.kind, {b.id for b in case.members}) == ("case", {"r-00002", "r-00003"})
    assert not book.retriever.ready


def test_an_opposite_is_never_offered_as_a_duplicate(book: Workbench) -> None:
    groups = book.bullet_duplicates.groups("book", 0.6)
    ordinary = [g for g in groups if g.ordinary]
    assert not any("r-00005" in g.ids for g in ordinary), "always and never are no duplicates"
    opposed = [g for g in groups if g.kind == "opposed"]
    assert {frozenset(g.ids) for g in opposed} == {
        frozenset(("r-00002", "r-00005")),
        frozenset(("r-00004", "r-00005")),
    }
    assert all("contradiction" in g.conflicts for g in opposed)
    assert any("“always”" in told for told in opposed[0].pairs[0].verdict.reasons_against)
    assert not any("o-00006" in g.ids for g in groups)


def test_equals_become_one_in_one_step_and_come_back(book: Workbench) -> None:
    before = texts(book)
    groups = [g for g in book.bullet_duplicates.same("book") if g.kind == "exact"]
    assert book.bullet_duplicates.merge_same("book", groups) == 1
    kept = book.playbooks.bullet("book", "r-00002")
    assert (kept.helpful_count, kept.harmful_count, kept.aliases) == (7, 1, ("r-00001",))
    assert book.bullet_duplicates.merge_same("book", []) == 0
    book.history.undo()
    assert texts(book) == before


def test_what_was_merged_can_be_parted(book: Workbench) -> None:
    was = counts(book)
    book.bullet_duplicates.merge("book", ["r-00001", "r-00004"], "A new wording.", "r-00004")
    book.playbooks.vote("book", ["r-00004"], "helpful")
    assert counts(book)["r-00004"] == (4, 0)
    assert book.bullet_duplicates.part("book", "r-00004") == ("r-00004", "r-00001")
    assert counts(book) == {**was, "r-00004": (2, 0)}
    parted = book.playbooks.bullet("book", "r-00001")
    assert parted.content.startswith("Always run the database migrations before the")
    kept = book.playbooks.bullet("book", "r-00004")
    assert (kept.content, kept.aliases) == ("A new wording.", ())
    with pytest.raises(InvalidRecord, match="not made by a merge"):
        book.bullet_duplicates.part("book", "r-00004")


def test_a_merge_of_a_merge_is_parted_step_by_step(book: Workbench) -> None:
    was = counts(book)
    book.bullet_duplicates.merge("book", ["r-00001", "r-00002"], "One.", "r-00001")
    book.bullet_duplicates.merge("book", ["r-00001", "r-00003"], "Two.", "r-00001")
    book.bullet_duplicates.part("book", "r-00001")
    assert counts(book) == {**{k: v for k, v in was.items() if k != "r-00002"}, "r-00001": (7, 1)}
    book.bullet_duplicates.part("book", "r-00001")
    assert counts(book) == was


def test_keep_both_is_remembered_until_a_text_changes(book: Workbench) -> None:
    def pairs() -> set[frozenset[str]]:
        return {
            frozenset(b.id for b in g.members) for g in book.bullet_duplicates.groups("book", 0.8)
        }

    for _ in range(10):  # who is kept may resemble somebody else
        for group in book.bullet_duplicates.groups("book", 0.8):
            book.bullet_duplicates.keep_both(group)
    assert pairs() == set()
    kept = book.library.kept_pairs.all()
    assert all(0.8 <= decision.similarity <= 1 for decision in kept)
    assert book.bullet_duplicates.likeness("book").kept == len(kept)
    near = next(decision for decision in kept if decision.similarity < 0.999)
    book.playbooks.vote("book", [near.left], "helpful")
    book.playbooks.pin("book", [near.right])
    book.playbooks.move("book", [near.left], "OTHERS")
    assert pairs() == set(), "only a text that changes asks again"
    book.playbooks.edit(
        "book", near.left, book.playbooks.bullet("book", near.left).content + " Please."
    )
    assert any(near.left in group for group in pairs())


def test_a_text_that_changed_meanwhile_is_not_merged(book: Workbench) -> None:
    groups = book.bullet_duplicates.same("book")
    book.playbooks.edit("book", "r-00001", "Something else.")
    with pytest.raises(WorkbenchError, match="changed meanwhile"):
        book.bullet_duplicates.merge_same("book", groups)


def test_deprecated_bullets_take_no_part(book: Workbench) -> None:
    book.playbooks.deprecate("book", ["r-00001"], "old", "r-00002")
    assert [g.kind for g in book.bullet_duplicates.same("book")] == ["case"]


def test_one_text_in_two_sections_is_left_to_a_person(open_bench: Open, tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(
        "## BILLING\n[bil-00001] helpful=1 harmful=0 :: Restart the workers after every deploy.\n"
        "## SEARCH\n[sea-00002] helpful=1 harmful=0 :: Restart the workers after every deploy.\n"
    )
    bench = open_bench()
    bench.importer.carry_out(bench.importer.plan(path))
    assert bench.bullet_duplicates.same("book") == ()
    (group,) = bench.bullet_duplicates.groups("book", 0.6)
    assert (group.kind, group.ordinary, "sections differ" in group.conflicts) == (
        "apart",
        False,
        True,
    )
