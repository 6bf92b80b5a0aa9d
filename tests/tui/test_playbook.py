"""The Playbook by its keys, through the real app over a real store."""

from pathlib import Path

import pytest

from tests.tui.playbook_host import BOOK, TEXT, bring_in, opened
from tests.tui.support import tells
from tests.tui.widgets.host import picture
from workbench.formats import ace
from workbench.services.open import Workbench
from workbench.tui.forms import RecordForm
from workbench.tui.widgets.dialog import Choose, Confirm, Prompt
from workbench.tui.widgets.editor import InertTextArea


def bullet_ids(bench: Workbench) -> list[str]:
    return [b.id for b in bench.playbooks.open(BOOK).bullets]


@pytest.mark.slow
async def test_a_first_section_and_bullet_begin_a_playbook(empty: Workbench) -> None:
    async with opened(empty) as hand:
        await hand.press("O")
        await hand.dialog(Prompt)
        await hand.write("Hard rules")
        await hand.press("enter")
        await hand.back()
        assert hand.here == "hard_rules"
        await hand.press("o")
        await hand.dialog(RecordForm)
        await hand.write("be kind")
        await hand.press("ctrl+s")
        await hand.back()
        assert hand.here == "hr-00001"
        assert "be kind" in hand.text


# Deciding


async def test_what_each_key_does_is_seen_at_once_and_taken_back(
    bench: Workbench, terminal: None
) -> None:
    async with opened(bench) as hand:
        for keys, seen in (
            (("plus",), "+10 −1"),
            (("minus",), "+9 −2"),
            (("minus",), "+9 −1"),
            (("p",), "★ +9 −1"),
            (("g", "plus"), "on a heading"),
            (("j", "left_curly_bracket"), "is the first of its section"),
            (("y",), "Copied"),
        ):
            await hand.press(*keys)
            await hand.until(
                lambda seen=seen: seen in hand.text or tells(hand.app, seen),  # type: ignore[misc]
            )
        assert bench.library.votes.all() == []
        assert hand.app.clipboard == "Never write to production without asking."
        await hand.press("u")
        first, second, third, last = "hr-00001", "hr-00002", "hr-00003", "api-00004"
        for pressed, ids in (
            (("right_curly_bracket",), [second, first, third, last]),
            (("shift+up",), [first, second, third, last]),
            (("u", "u", "d"), [second, third, last]),
            (("u",), [first, second, third, last]),
        ):
            await hand.press(*pressed)
            await hand.until(lambda ids=ids: hand.listed == ids)  # type: ignore[misc]
        await hand.press("T M")
        await hand.dialog(Choose)
        await hand.write("others")
        await hand.press("enter")
        await hand.back()
        assert {b.section for b in bench.playbooks.open(BOOK).bullets} == {"others"}
        assert hand.screen.rows.mark_count == 0
        await hand.press("u")
        assert ace.write_playbook(bench.playbooks.open(BOOK)) == TEXT
        await hand.press("h")
        await hand.shows("History of rules/")


async def test_the_key_bar_says_that_the_filter_took_the_marks(bench: Workbench) -> None:
    async with opened(bench) as hand:
        await hand.press("t t")
        assert "2 marked" in hand.text
        await hand.press("slash")
        await hand.write("Ruth")
        assert hand.screen.rows.mark_count == 0
        assert "marked" not in hand.text
        await hand.press("escape T")
        assert "1 marked" in hand.text
        await hand.press("escape")
        assert "marked" not in hand.text


# Changing


async def test_an_edit_of_a_deleted_bullet_loses_nothing(bench: Workbench) -> None:
    async with opened(bench) as hand:
        await hand.press("e")
        editor = await hand.dialog(RecordForm)
        bench.playbooks.delete(BOOK, ["hr-00001"])
        await hand.write(" mine")
        await hand.press("ctrl+s")
        assert hand.app.screen is editor
        await hand.shows("There is no bullet hr-00001")
        assert editor.query_one(InertTextArea).text.endswith(" mine")


async def test_add_puts_a_bullet_at_the_end_of_the_section_and_goes_there(bench: Workbench) -> None:
    async with opened(bench) as hand:
        await hand.press("o")
        await hand.dialog(RecordForm)
        await hand.write("new one")
        await hand.press("ctrl+s")
        await hand.back()
        assert bullet_ids(bench) == ["hr-00001", "hr-00002", "hr-00003", "hr-00005", "api-00004"]
        assert hand.here == "hr-00005"
        assert "Added the bullet hr-00005." in hand.said


async def test_saying_no_keeps_the_marks(bench: Workbench) -> None:
    async with opened(bench) as hand:
        await hand.press("t t d")
        await hand.dialog(Confirm)
        assert "Delete 2 bullets?" in hand.text
        await hand.press("n")
        await hand.back()
        assert hand.screen.rows.mark_count == 2


@pytest.mark.slow
async def test_another_playbook_is_chosen_with_b(bench: Workbench, tmp_path: Path) -> None:
    other = tmp_path / "second.txt"
    bring_in(bench, other, "## A\n[a-00001] only one\n")
    async with opened(bench) as hand:
        assert "b: 1 more" in hand.text
        await hand.press("b")
        await hand.dialog(Choose)
        await hand.write("second")
        await hand.press("enter")
        await hand.back()
        await hand.until(lambda: hand.listed == ["a-00001"])
        assert "bare" in picture(hand.app)[1]
        assert hand.here == "a-00001"
