"""Duplicates in a playbook: found, merged, kept, and worded anew, through the real app."""

import pytest
from textual.widgets import Static

from tests.reflect.samples import reflector
from tests.reflect.server import messages_server, reply_of
from tests.tui.playbook_host import TWINS, finding, go_to, opened
from workbench.formats import ace
from workbench.services.open import Workbench
from workbench.services.reflection.wording import BookWording
from workbench.tui.duplicates import BulletDuplicatesDialog
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.dialog import Confirm
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.line_list import LineView
from workbench.tui.widgets.reading_pane import ReadingPane


def ids(bench: Workbench, book: str = "twins") -> list[str]:
    return [b.id for b in bench.playbooks.open(book).bullets]


def texts(bench: Workbench, book: str = "twins") -> str:
    return ace.write_playbook(bench.playbooks.open(book))


def told(dialog: BulletDuplicatesDialog) -> str:
    return str(dialog.query_one(".dialog--state", Static).render())


@pytest.mark.slow
async def test_equal_texts_come_at_once_and_near_ones_with_the_model(twins: Workbench) -> None:
    async with opened(twins) as hand:
        await hand.press("equals_sign")
        dialog = await hand.dialog(BulletDuplicatesDialog)
        kinds = [group.kind for group in dialog.query_one(LineView).rows]
        assert kinds[:2] == ["exact", "case"]
        await hand.until(lambda: dialog.found is not None)
        dialog.query_one(Slider).value = 0.8
        await hand.pilot.pause()
        assert any(group.kind == "near" for group in dialog.query_one(LineView).rows)
        before = len(dialog.query_one(LineView).rows)
        await hand.press(*["right"] * 20)
        assert len(dialog.query_one(LineView).rows) < before
        await hand.press("backspace")
        assert dialog.query_one(Slider).value == dialog.found.limits.flag if dialog.found else False


async def test_a_group_is_merged_with_the_text_that_is_chosen_and_undone(twins: Workbench) -> None:
    async with opened(twins) as hand:
        dialog = await finding(hand)
        await go_to(hand, dialog, lambda group: group == {"o-00005", "o-00006"})
        assert "helpful 1 + 0 = 1" in dialog.query_one(ReadingPane).plain
        await hand.press("space m")
        kept = twins.playbooks.bullet("twins", "o-00005")
        assert (kept.content[:3], kept.helpful_count, kept.aliases) == ("Ask", 1, ("o-00006",))
        assert "Merged 2 into o-00005" in told(dialog)
        await hand.press("u")
        await hand.until(lambda: texts(twins) == TWINS)
        await hand.press("escape")
        await hand.back()


async def test_all_equal_texts_are_merged_in_one_step_that_is_seen_first(twins: Workbench) -> None:
    async with opened(twins) as hand:
        await finding(hand)
        await hand.press("A")
        await hand.dialog(Confirm)
        assert "r-00002 ← r-00001   +7 −1" in hand.text
        await hand.press("y")
        await hand.until(
            lambda: ids(twins) == ["r-00002", "r-00003", "r-00004", "o-00005", "o-00006"],
        )


async def test_keeping_all_takes_the_group_away_until_a_text_changes(twins: Workbench) -> None:
    async with opened(twins) as hand:
        dialog = await finding(hand)
        await go_to(hand, dialog, lambda group: group == {"o-00005", "o-00006"})
        await hand.press("x")
        await hand.until(
            lambda: not any("o-00005" in g.ids for g in dialog.query_one(LineView).rows)
        )
        assert texts(twins) == TWINS
        assert len(twins.library.kept_pairs) == 1


async def test_merging_what_says_something_else_asks_first(twins: Workbench) -> None:
    async with opened(twins) as hand:
        dialog = await finding(hand)
        dialog.query_one(Slider).value = 0.8
        await hand.pilot.pause()
        await go_to(hand, dialog, lambda group: "r-00004" in group)
        assert dialog.group is not None
        assert dialog.group.conflicts
        await hand.press("m")
        await hand.dialog(Confirm)
        await hand.press("n")
        await hand.until(lambda: hand.app.screen is dialog)
        assert texts(twins) == TWINS
        await hand.press("m")
        await hand.dialog(Confirm)
        await hand.press("y")
        await hand.until(lambda: len(ids(twins)) < 6)
        await hand.press("escape")
        await hand.back()
        assert any("Merged 2 into r-0000" in said and "” stays, “" in said for said in hand.said)


@pytest.mark.slow
async def test_a_text_of_ones_own(twins: Workbench) -> None:
    async with opened(twins) as hand:
        await finding(hand)
        await hand.press("e")
        await hand.dialog(TextEditor)
        await hand.write(" Mine")
        await hand.press("ctrl+s")
        await hand.until(lambda: "r-00001" not in ids(twins))
        assert twins.playbooks.bullet("twins", "r-00002").content.endswith("start. Mine")


async def test_claude_proposes_a_text_and_a_person_takes_it(twins: Workbench) -> None:
    with messages_server([reply_of("merged.txt")]) as server:
        twins.wording = BookWording(twins.context, connect=lambda _budget: reflector(server.url))
        async with opened(twins) as hand:
            dialog = await finding(hand)
            await hand.press("c")
            await hand.until(lambda: "Claude used" in told(dialog))
            assert texts(twins) == TWINS
            proposed = dialog.proposed
            assert proposed
            await hand.press("m")
            await hand.until(lambda: twins.playbooks.bullet("twins", "r-00002").content == proposed)
