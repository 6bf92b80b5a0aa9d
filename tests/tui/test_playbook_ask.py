"""`I`, then Claude: what would be told and sent, the reply as cards, and replies that cannot be
read.
"""

import json
import threading
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.busy_store import go_on, stopped_holder
from tests.reflect.server import MessagesServer, Reply
from tests.tui.playbook_host import TWINS, Hand, opened
from workbench.core.stream.memory import Memory
from workbench.formats import ace
from workbench.services.open import Workbench
from workbench.tui.playbook.curation import AskDialog, CardsDialog, SourcePrompt
from workbench.tui.reflection import ResultDialog, RunDialog, SentDialog
from workbench.tui.widgets.dialog import Confirm, Prompt, SafeInput
from workbench.tui.widgets.editor import InertTextArea, TextEditor

CURATION = json.dumps({
    "reasoning": "One is too strict.",
    "operations": [
        {"type": "UPDATE", "bullet_id": "r-00003",
         "content": "Always run the database migrations before any end-to-end tests start.", "reason": "Narrower."},
        {"type": "SING"},
    ],
})  # fmt: skip


@pytest.fixture
def lessons(twins: Workbench) -> list[Memory]:
    """Two confirmed memories, one with a secret in it."""
    texts = (
        "Migrations matter for end-to-end tests only.",
        "The key AKIAIOSFODNN7EXAMPLE opens the registry.",
    )
    now = twins.context.now()
    with twins.library.transaction("human", "remember") as tx:
        made = [Memory(tx.new_memory_id(now), text, now, now, status="confirmed") for text in texts]
        for memory in made:
            tx.put(memory)
    return made


def told(screen: AskDialog | CardsDialog, id: str) -> str:
    return str(screen.query_one(id, Static).render())


async def asking(hand: Hand) -> AskDialog:
    """Press the keys that lead to the dialog, and wait until it says what would be told."""
    await hand.press("I")
    await hand.dialog(SourcePrompt)
    await hand.press("ctrl+l")
    dialog = await hand.dialog(AskDialog)
    await hand.until(lambda: dialog.plan is not None)
    await hand.pilot.pause()
    return dialog


async def test_without_a_key_a_sentence_names_the_variable(twins: Workbench) -> None:
    async with opened(twins) as hand:
        await hand.press("I")
        prompt = await hand.dialog(SourcePrompt)
        assert "ANTHROPIC_API_KEY" in hand.text
        assert "Or ask Claude" not in hand.text
        await hand.press("ctrl+l")
        assert hand.app.screen is prompt
        await hand.press("escape")
        await hand.back()


@pytest.mark.slow
@pytest.mark.usefixtures("claude", "lessons")
async def test_what_would_be_told_and_sent_is_shown_first(
    twins: Workbench, claude: MessagesServer
) -> None:
    async with opened(twins) as hand:
        dialog = await asking(hand)
        plan = told(dialog, ".dialog--state")
        assert "the latest 2 that were confirmed" in plan
        assert "6 bullets" in plan
        assert "0 of 1" in plan
        await hand.press("v")
        shown = (await hand.dialog(SentDialog)).pane.plain
        assert "Migrations matter" in shown
        assert "AKIAIOSFODNN7EXAMPLE" not in shown
        await hand.press("escape escape")
        await hand.back()
        assert claude.requests == []


@pytest.mark.slow
@pytest.mark.usefixtures("claude", "lessons")
async def test_the_reply_becomes_cards_and_is_at_hand_until_it_is_dealt_with(
    twins: Workbench, script: list[Reply]
) -> None:
    script.append(Reply(CURATION))
    async with opened(twins) as hand:
        dialog = await asking(hand)
        await hand.press("enter")
        cards = await hand.dialog(CardsDialog)
        assert "1 undecided · 1 not possible" in told(cards, ".dialog--state")
        await hand.press("escape")
        await hand.until(lambda: hand.app.screen is dialog)
        assert "enter shows the cards again" in told(dialog, "#ask-reply")
        await hand.press("enter")
        await hand.dialog(CardsDialog)
        await hand.press("a ctrl+s")
        await hand.back()
        assert "end-to-end" in twins.playbooks.bullet("twins", "r-00003").content
        assert any("Applied 1" in said for said in hand.said)
        await hand.press("u")
        await hand.until(lambda: ace.write_playbook(twins.playbooks.open("twins")) == TWINS)
        dialog = await asking(hand)
        assert "Nothing new to send." in told(dialog, ".dialog--state")
        await hand.press("c")
        await hand.until(lambda: "the latest 2" in told(dialog, ".dialog--state"))


@pytest.mark.usefixtures("claude", "lessons")
async def test_esc_stops_and_what_came_in_is_edited_until_it_can_be_read(
    twins: Workbench, script: list[Reply]
) -> None:
    hold = threading.Event()
    script.append(Reply(CURATION, hold=hold))
    async with opened(twins) as hand:
        dialog = await asking(hand)
        await hand.press("enter")
        await hand.dialog(RunDialog)
        await hand.shows('"reasoning')
        await hand.press("escape")
        await hand.until(lambda: hand.app.screen is dialog)
        hold.set()
        await hand.until(lambda: "1 earlier reply is unreadable" in told(dialog, ".dialog--state"))
        await hand.press("o")
        await hand.dialog(ResultDialog)
        await hand.press("e")
        editor = await hand.dialog(TextEditor)
        await hand.press("ctrl+s")
        assert hand.app.screen is editor, "what came in is half a reply"
        editor.query_one(InertTextArea).text = CURATION
        await hand.press("ctrl+s")
        await hand.dialog(CardsDialog)
        assert twins.curation.waiting("twins") == ()
        await hand.press("a ctrl+s")
        await hand.back()


ANALYSIS = json.dumps({"key_insight": "Stop at an empty page.",
                       "bullet_tags": [{"id": "r-00003", "tag": "harmful"}]})  # fmt: skip
LEARNED = json.dumps({"operations": [{"type": "DELETE", "bullet_id": "r-00003"}]})


async def test_a_run_is_learned_from_as_the_command_line_does(
    twins: Workbench, claude: MessagesServer, script: list[Reply], tmp_path: Path
) -> None:
    script += [Reply(ANALYSIS), Reply(LEARNED)]
    run = tmp_path / "run.json"
    run.write_text(json.dumps({"question": "Count the pages", "reasoning": "key AKIAIOSFODNN7EXAMPLE", "answer": "7",
                               "bullets": ["r-00003", "r-99999"]}))  # fmt: skip
    async with opened(twins) as hand:
        dialog = await asking(hand)
        await hand.press("r")
        prompt = await hand.dialog(Prompt)
        prompt.query_one(SafeInput).value = str(run)
        await hand.press("enter")
        await hand.until(lambda: "Count the pages" in told(dialog, ".dialog--state"))
        assert "1 bullet; not in the playbook: r-99999" in told(dialog, ".dialog--state")
        await hand.press("v")
        shown = (await hand.dialog(SentDialog)).pane.plain
        assert "Count the pages" in shown
        assert "AKIAIOSFODNN7EXAMPLE" not in shown
        await hand.press("escape enter")
        await hand.dialog(CardsDialog)
        await hand.press("a ctrl+s")
        await hand.until(
            lambda: isinstance(hand.app.screen, CardsDialog) and "curator" in hand.text
        )
        await hand.press("a ctrl+s")
        await hand.back()
        assert "r-00003" not in ace.write_playbook(twins.playbooks.open("twins"))
    assert len(claude.requests) == 2


async def test_with_nothing_confirmed_it_says_what_to_do(
    twins: Workbench, claude: MessagesServer
) -> None:
    async with opened(twins) as hand:
        dialog = await asking(hand)
        assert "Approve candidates in Review" in told(dialog, ".dialog--state")
        await hand.press("enter")
        assert hand.app.screen is dialog
        assert claude.requests == []


@pytest.mark.usefixtures("claude", "lessons")
async def test_a_reply_waits_for_a_stopped_process_and_esc_does_not_give_it_up(
    twins: Workbench, script: list[Reply]
) -> None:
    script.append(Reply(CURATION))
    async with opened(twins) as hand:
        await asking(hand)
        with stopped_holder(twins.library.folder) as holder:
            await hand.press("enter")
            await hand.dialog(RunDialog)
            await hand.until(lambda: f"PID {holder.pid}" in hand.text and "paid" in hand.text)
            await hand.press("escape")
            assert hand.said == []
            await hand.press("ctrl+q")
            await hand.dialog(Confirm)
            assert f"Claude's reply waits for PID {holder.pid}" in hand.text
            await hand.press("n")
            await hand.dialog(RunDialog)
            go_on(holder)
            await hand.dialog(CardsDialog)
        assert twins.curation.runs.spent() == 160
