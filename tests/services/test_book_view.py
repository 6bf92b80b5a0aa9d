"""The playbook as it is shown, and what a person does with its bullets."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.core.playbook.budget import fit
from workbench.core.playbook.filter import parse_book_filter
from workbench.core.record import InvalidRecord
from workbench.services.agents.context import gathered
from workbench.services.files.exporting import Choice
from workbench.services.open import Workbench, open_workbench
from workbench.services.playbook.playbook import MAIN

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
TEXT = "## RULES\n[r-00001] helpful=3 harmful=0 :: one\n[r-00002] helpful=0 harmful=0 :: two\n## OTHERS\n"
BOOK = "book"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bench(tmp_path: Path, clock: Clock) -> Iterator[Workbench]:
    path = tmp_path / "book.txt"
    path.write_text(TEXT)
    bench = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", clock=clock)
    bench.importer.carry_out(bench.importer.plan(path))
    yield bench
    bench.close()


def ids(bench: Workbench) -> list[str]:
    return [b.id for b in bench.playbooks.open(BOOK).bullets]


def test_one_budget_has_one_answer_for_the_list_exports_and_agents(bench: Workbench) -> None:
    """The oldest stand first in the file; the budget keeps what votes prove, and of the others the
    newest.
    """
    for n in range(3, 30):
        bench.playbooks.add(
            BOOK, "rules", f"An untried rule of some length, the one with number {n}."
        )
    bench.playbooks.edit(
        BOOK, "r-00001", "Never write to production, whoever asks for it and however urgent it is."
    )
    bench.playbooks.edit(
        BOOK,
        "r-00002",
        "An untried rule, the oldest one, and so long that it does not fit in a gap.",
    )
    bench.playbooks.set_budget(BOOK, 300)
    view = bench.playbooks.view(BOOK)
    assert view.cut is not None
    kept = list(view.cut.inside)
    assert kept == list(fit(view.playbook, 300).inside)
    newest = [f"rule-{n:05d}" for n in range(31 - len(kept), 30)]
    assert kept == ["r-00001", *newest]
    whole = bench.exporter.render("prompt", Choice(BOOK))
    assert len(whole.parsed.playbooks[0].bullets) == 29
    assert f"Everything is in it: the budget keeps {len(kept)} of 29." in whole.remarks
    part = bench.exporter.render("prompt", Choice(BOOK, within_budget=True))
    assert [b.id for b in part.parsed.playbooks[0].bullets] == kept
    assert (
        f"The budget keeps {len(kept)} of 29 (300 tokens). Out: {29 - len(kept)} untried."
        in part.remarks
    )
    given = gathered(bench.context, bench.tuning, bench.playbooks, "").cut(
        budgets={"pinned": 0, "playbook": 300}
    )
    (layer,) = (layer for layer in given.layers if layer.kind.id == "playbook")
    ids = [item.id.removeprefix(f"{BOOK}/") for item in layer.items]
    assert ids == ["r-00001", *(f"rule-{n:05d}" for n in range(29, 30 - len(ids), -1))]
    assert layer.tokens <= 300


def test_a_filter_lists_only_sections_with_a_match(bench: Workbench) -> None:
    view = bench.playbooks.view(BOOK)
    everything = [
        (s.title, [b.id for b in found]) for s, found in view.listed(parse_book_filter(""))
    ]
    assert everything == [("RULES", ["r-00001", "r-00002"]), ("OTHERS", [])]
    some = [
        (s.title, [b.id for b in found]) for s, found in view.listed(parse_book_filter("is:unused"))
    ]
    assert some == [("RULES", ["r-00002"])]


def test_pinning_several_pins_all_and_only_then_unpins(bench: Workbench) -> None:
    assert bench.playbooks.pin(BOOK, ["r-00001"])
    assert bench.playbooks.pin(BOOK, ["r-00001", "r-00002"])
    assert not bench.playbooks.pin(BOOK, ["r-00001", "r-00002"])
    assert bench.history.undo() == "unpin 2 bullets"
    assert all(b.pinned for b in bench.playbooks.open(BOOK).bullets)


def test_a_first_section_begins_a_playbook_and_one_undo_takes_both_back(bench: Workbench) -> None:
    assert bench.playbooks.add_section(MAIN, "Hard rules") == "hard_rules"
    assert MAIN in bench.library.books
    with pytest.raises(InvalidRecord):
        bench.playbooks.add_section(MAIN, "hard rules")
    bench.history.undo()
    assert MAIN not in bench.library.books
    assert f"{MAIN}/hard_rules" not in bench.library.sections


def test_a_section_without_a_name_makes_nothing(bench: Workbench) -> None:
    with pytest.raises(InvalidRecord):
        bench.playbooks.add_section(MAIN, " # ")
    assert MAIN not in bench.library.books


def test_who_changed_a_bullet_last(bench: Workbench, clock: Clock) -> None:
    first = bench.playbooks.last_change(BOOK, "r-00001")
    assert first is not None
    assert (first.at, first.actor) == (START, "import:book.txt")
    clock.now += timedelta(hours=1)
    bench.playbooks.edit(BOOK, "r-00001", "changed")
    later = bench.playbooks.last_change(BOOK, "r-00001")
    assert later is not None
    assert (later.at, later.actor, later.label) == (clock.now, "human", "edit r-00001")
    assert bench.playbooks.last_change(BOOK, "r-00002") == first
    assert bench.playbooks.last_change(BOOK, "r-00099") is None
