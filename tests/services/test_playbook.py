"""The playbook: one line of the file per change, nothing when a change is impossible, what is shown
of it and what runs say of it.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Clock, bring, snapshot
from tests.services.experienced import layers_of, material
from workbench.core.playbook.budget import fit
from workbench.core.playbook.filter import parse_book_filter
from workbench.core.record import Conflict, UnreadableFile, WorkbenchError
from workbench.formats import ace
from workbench.services.files.exporting import Choice
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import MAIN

BOOK = "book"
TEXT = """## HARD RULES
[hr-00001] helpful=2 harmful=0 :: Ask first.
[hr-00002] helpful=0 harmful=1 :: Test last.

## PITFALLS
[pit-00003] helpful=0 harmful=0 :: Mind the gap.
"""


@pytest.fixture
def book(bench: Workbench, tmp_path: Path) -> Workbench:
    bring(bench, tmp_path / "book.txt", TEXT)
    return bench


def text(bench: Workbench) -> str:
    return ace.write_playbook(bench.playbooks.open(BOOK))


def ids(bench: Workbench) -> list[str]:
    return [b.id for b in bench.playbooks.open(BOOK).bullets]


Act = Callable[[Workbench], object]
CHANGES: dict[str, tuple[Act, list[str]]] = {
    "vote": (lambda b: b.playbooks.vote(BOOK, ["hr-00001"], "helpful"),
             ["-[hr-00001] helpful=2 harmful=0 :: Ask first.",
              "+[hr-00001] helpful=3 harmful=0 :: Ask first."]),
    "edit": (lambda b: b.playbooks.edit(BOOK, "hr-00002", "  Test first. \n"),
             ["-[hr-00002] helpful=0 harmful=1 :: Test last.",
              "+[hr-00002] helpful=0 harmful=1 :: Test first."]),
    "add": (lambda b: b.playbooks.add(BOOK, "hard_rules", "A new rule."),
            ["+[hr-00004] helpful=0 harmful=0 :: A new rule."]),
    "delete": (lambda b: b.playbooks.delete(BOOK, ["hr-00001"]),
               ["-[hr-00001] helpful=2 harmful=0 :: Ask first."]),
    "section": (lambda b: b.playbooks.add_section(BOOK, "COMMANDS"), ["+## COMMANDS"]),
    "deprecate": (lambda b: b.playbooks.deprecate(BOOK, ["pit-00003"], "old"),
                  ["-[pit-00003] helpful=0 harmful=0 :: Mind the gap."]),
    "pin": (lambda b: b.playbooks.pin(BOOK, ["hr-00001"]), []),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_in_its_line_alone_and_taken_back(book: Workbench, name: str) -> None:
    act, lines = CHANGES[name]
    assert text(book) == TEXT
    act(book)
    before, after = TEXT.splitlines(), text(book).splitlines()
    changed = [f"-{x}" for x in before if x not in after]
    assert changed + [f"+{x}" for x in after if x not in before] == lines
    book.history.undo()
    assert text(book) == TEXT


def test_bullets_move_between_sections_and_within_their_own(book: Workbench) -> None:
    book.playbooks.move(BOOK, ["hr-00001"], "pitfalls")
    assert ids(book) == ["hr-00002", "pit-00003", "hr-00001"]
    book.history.undo()
    assert book.playbooks.shift(BOOK, "hr-00001", 1)
    assert ids(book) == ["hr-00002", "hr-00001", "pit-00003"]
    assert not book.playbooks.shift(BOOK, "hr-00001", 1)
    assert not book.playbooks.shift(BOOK, "pit-00003", -1)


def test_a_second_equal_vote_takes_the_first_back(book: Workbench) -> None:
    book.playbooks.vote(BOOK, ["hr-00001"], "helpful")
    assert book.playbooks.live_vote(BOOK, "hr-00001") == "helpful"
    book.playbooks.vote(BOOK, ["hr-00001"], "helpful")
    assert text(book) == TEXT


IMPOSSIBLE: tuple[Act, ...] = (
    lambda b: b.playbooks.edit(BOOK, "none", "text"),
    lambda b: b.playbooks.edit(BOOK, "hr-00001", "  "),
    lambda b: b.playbooks.delete(BOOK, ["hr-00001", "none"]),
    lambda b: b.playbooks.move(BOOK, ["hr-00001"], "no-section"),
    lambda b: b.playbooks.add(BOOK, "no-section", "text"),
    lambda b: b.playbooks.add_section(BOOK, "hard rules"),
    lambda b: b.playbooks.add_section(MAIN, " # "),
    lambda b: b.playbooks.vote(BOOK, ["hr-00001", "none"], "helpful"),
    lambda b: b.playbooks.deprecate(BOOK, ["hr-00001"], "", "hr-00001"),
    lambda b: b.playbooks.deprecate(BOOK, ["hr-00001"], "", "nothing"),
    lambda b: b.playbooks.open("none"),
)


def test_what_is_impossible_changes_nothing(book: Workbench) -> None:
    before, rev = snapshot(book), book.library.journal.rev
    for act in IMPOSSIBLE:
        with pytest.raises(WorkbenchError):
            act(book)
    with pytest.raises(Conflict):
        book.playbooks.edit(BOOK, "hr-00002", "New", expected="What it was before.")
    with pytest.raises(WorkbenchError, match="no bullet none"):
        book.playbooks.bullet(BOOK, "none")
    assert snapshot(book) == before
    assert book.library.journal.rev == rev


def test_a_first_section_begins_a_playbook_and_one_undo_takes_both_back(book: Workbench) -> None:
    assert book.playbooks.add_section(MAIN, "Hard rules") == "hard_rules"
    assert [line.book.id for line in book.playbooks.books()] == [BOOK, MAIN]
    book.history.undo()
    assert [line.book.id for line in book.playbooks.books()] == [BOOK]
    assert f"{MAIN}/hard_rules" not in book.library.sections


def test_a_rule_is_deprecated_with_a_reason_and_restored(book: Workbench) -> None:
    book.playbooks.deprecate(BOOK, ["hr-00001", "hr-00002"], "out of date", "pit-00003")
    gone = book.playbooks.bullet(BOOK, "hr-00001")
    assert gone.state == "deprecated"
    assert gone.metadata["deprecated_because"] == "out of date"
    assert gone.metadata["replaced_by"] == "pit-00003"
    book.playbooks.restore(BOOK, ["hr-00001", "hr-00002"])
    assert text(book) == TEXT


def test_a_harmful_rule_becomes_a_warning(book: Workbench) -> None:
    (name,) = book.playbooks.avoid(BOOK, ["hr-00002"])
    warning = book.playbooks.bullet(BOOK, name)
    assert warning.content == "AVOID: Test last."
    assert warning.section == "common_mistakes_to_avoid"
    assert name.startswith("err-")
    assert "[hr-00002]" not in text(book)
    assert book.playbooks.bullet(BOOK, "hr-00002").metadata["replaced_by"] == name
    (second,) = book.playbooks.avoid(BOOK, ["pit-00003"], "Do not jump.", "HARD RULES")
    assert book.playbooks.bullet(BOOK, second).section == "hard_rules"
    book.history.undo()
    book.history.undo()
    assert text(book) == TEXT


def test_one_budget_has_one_answer_for_the_list_exports_and_agents(book: Workbench) -> None:
    """The oldest stand first in the file; the budget keeps what votes prove, and of the others the
    newest.
    """
    book.playbooks.edit(
        BOOK, "hr-00001", "Never write to production, whoever asks for it and however urgent it is."
    )
    book.playbooks.delete(BOOK, ["hr-00002", "pit-00003"])
    for n in range(3, 30):
        book.playbooks.add(BOOK, "hard_rules", f"An untried rule of some length, number {n}.")
    book.playbooks.set_budget(BOOK, 300)
    view = book.playbooks.view(BOOK)
    assert view.cut is not None
    kept = list(view.cut.inside)
    assert kept == list(fit(view.playbook, 300).inside)
    assert kept == ["hr-00001", *ids(book)[-len(kept) + 1 :]]
    whole = book.exporter.render("prompt", Choice(BOOK))
    assert len(whole.parsed.playbooks[0].bullets) == 28
    assert f"Everything fits: the budget keeps {len(kept)} of 28." in whole.remarks
    part = book.exporter.render("prompt", Choice(BOOK, within_budget=True))
    assert [b.id for b in part.parsed.playbooks[0].bullets] == kept
    said = f"The budget keeps {len(kept)} of 28 (300 tokens). Out: {28 - len(kept)} untried."
    assert said in part.remarks
    given = material(book, "").cut(budgets={"pinned": 0, "playbook": 300})
    layer = layers_of(given)["playbook"]
    told = [item.id.removeprefix(f"{BOOK}/") for item in layer.items]
    assert told == ["hr-00001", *ids(book)[: -len(told) : -1]]
    assert layer.tokens <= 300


def test_a_budget_cuts_the_file_and_goes_again(book: Workbench) -> None:
    assert book.playbooks.view(BOOK).cut is None
    book.playbooks.set_budget(BOOK, 24)
    over = book.playbooks.view(BOOK).over
    assert over == {"hr-00002", "pit-00003"}
    book.playbooks.fit(BOOK, sorted(over), 24)
    assert book.playbooks.view(BOOK).cut is None
    reason = book.playbooks.bullet(BOOK, "hr-00002").metadata["deprecated_because"]
    assert reason == "beyond the budget of 24 tokens"
    book.history.undo()
    book.playbooks.set_budget(BOOK, 0)
    assert book.playbooks.view(BOOK).cut is None


def test_a_filter_lists_only_sections_with_a_match(book: Workbench) -> None:
    def listed(wanted: str) -> list[tuple[str, list[str]]]:
        found = book.playbooks.view(BOOK).listed(parse_book_filter(wanted))
        return [(section.title, [b.id for b in bullets]) for section, bullets in found]

    assert listed("is:unused") == [("PITFALLS", ["pit-00003"])]
    book.playbooks.add_section(BOOK, "EMPTY")
    assert listed("")[-1] == ("EMPTY", [])


def test_pinning_several_pins_all_and_only_then_unpins(book: Workbench) -> None:
    assert book.playbooks.pin(BOOK, ["hr-00001"])
    assert book.playbooks.pin(BOOK, ["hr-00001", "hr-00002"])
    assert not book.playbooks.pin(BOOK, ["hr-00001", "hr-00002"])
    assert book.history.undo() == "unpin 2 bullets"


def test_who_changed_a_bullet_last(book: Workbench, clock: Clock) -> None:
    first = book.playbooks.changes.of(BOOK, "hr-00001")
    assert first is not None
    assert first.at == NOON
    assert first.actor == "import:book.txt"
    clock.advance(hours=1)
    book.playbooks.edit(BOOK, "hr-00001", "changed")
    later = book.playbooks.changes.of(BOOK, "hr-00001")
    assert later is not None
    assert later.at == clock()
    assert later.actor == "human"
    assert later.label == "edit hr-00001"
    assert book.playbooks.changes.of(BOOK, "hr-00002") == first
    assert book.playbooks.changes.of(BOOK, "hr-00099") is None


# What runs say of it


USED = """## RULES
[r-00001] helpful=6 harmful=0 :: Look before you leap.
[r-00002] helpful=0 harmful=5 :: Leap.
[r-00003] helpful=1 harmful=0 :: Wait.
"""


def log(*runs: tuple[str, bool]) -> str:
    return "".join(
        json.dumps({"bullet_ids_used": [f"r-0000{c}" for c in ids], "is_correct": right}) + "\n"
        for ids, right in runs
    )


LOG = log(*[("1", False)] * 8, *[("2", True)] * 8, *[("23", True)] * 2)


@pytest.fixture
def used(bench: Workbench, tmp_path: Path) -> Workbench:
    """A playbook, and another one with a bullet of the same name."""
    bring(bench, tmp_path / "book.txt", USED)
    bring(bench, tmp_path / "other.txt", "## RULES\n[r-00001] Something else.\n")
    return bench


def test_a_log_counts_once_for_the_book_that_knows_its_bullets(
    used: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "bullet_usage_log.jsonl"
    assert used.playbooks.view(BOOK).disputed == frozenset()
    assert bring(used, path, LOG).counts["runs"] == 18
    found = used.playbooks.view(BOOK).usage
    assert found["r-00001"].used.correct == 0
    assert found["r-00001"].used.runs == 8
    assert found["r-00002"].unused.correct == 0
    assert found["r-00002"].unused.runs == 8
    assert used.playbooks.view(BOOK).disputed == {"r-00001", "r-00002"}
    assert used.playbooks.view("other").usage == {}
    again = bring(used, path, LOG)
    assert again.counts["runs"] == 0
    assert again.present == 18
    assert bring(used, path, LOG + log(("3", False))).counts["runs"] == 19
    assert used.playbooks.view(BOOK).usage["r-00003"].used.runs == 3
    assert len(used.library.tallies) == 1
    used.history.undo()
    assert used.playbooks.view(BOOK).usage["r-00003"].used.runs == 2
    used.history.undo()
    assert used.playbooks.view(BOOK).usage == {}


def test_a_run_with_both_halves_of_a_merge_counts_once(used: Workbench, tmp_path: Path) -> None:
    bring(used, tmp_path / "log.jsonl", LOG)
    used.bullet_duplicates.merge(BOOK, ["r-00002", "r-00003"], "Leap, then wait.", "r-00002")
    told = used.playbooks.view(BOOK).usage["r-00002"].used
    assert told.correct == 10
    assert told.runs == 10
    with pytest.raises(UnreadableFile, match="mentions no bullet"):
        bring(used, tmp_path / "no.jsonl", '{"bullet_ids_used": ["zzz-1"], "is_correct": true}\n')
