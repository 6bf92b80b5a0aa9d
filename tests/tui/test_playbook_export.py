"""The export dialog: what is shown is what is written."""

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.tui.playbook_host import BOOK, TEXT, Hand, opened
from tests.tui.support import answered
from workbench.core.files.format import Format
from workbench.formats import ace
from workbench.formats.exports import OUTLETS
from workbench.services.open import Workbench
from workbench.tui.files import exports
from workbench.tui.files.exports import ExportDialog
from workbench.tui.files.preview import Pane
from workbench.tui.widgets.dialog import Choose, Confirm, SafeInput

KINDS = [kind for kind in OUTLETS if kind.holds in ("playbook", "either")]


async def exporting(hand: Hand) -> ExportDialog:
    await hand.press("X")
    return await hand.dialog(ExportDialog)


def state(dialog: ExportDialog) -> str:
    """What the dialog says will happen, or why it cannot."""
    return str(dialog.state.content)


async def go_to(hand: Hand, dialog: ExportDialog, path: Path | str) -> None:
    dialog.query_one(SafeInput).value = str(path)
    await hand.pilot.pause()
    await hand.made()


def shown(dialog: ExportDialog, pane: str) -> str:
    """The text of a pane, its wrapped pieces joined again, without remarks on its end."""
    lines = [
        piece
        for piece in dialog.query_one(f"#{pane}", Pane).rows
        if not piece.text.startswith("(no line end")
    ]
    return "".join(f"\n{p.text}" if p.number else p.text for p in lines).strip("\n")


async def test_what_fits_the_budget_can_be_written_alone(bench: Workbench, tmp_path: Path) -> None:
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        await go_to(hand, dialog, tmp_path / "cut.txt")
        await hand.press("ctrl+g")
        assert "there is no budget" in state(dialog)
        bench.playbooks.set_budget(BOOK, 60)
        await hand.press("ctrl+g")
        assert "Everything fits: the budget keeps 2 of 4." in state(dialog)
        await hand.press("ctrl+g")
        assert "The budget keeps 2 of 4 (60 tokens). Out: 1 untried, 1 net harmful." in state(
            dialog
        )
        await hand.press("ctrl+s")
        await hand.back()
    written = (tmp_path / "cut.txt").read_text()
    assert [line[:10] for line in written.splitlines() if line.startswith("[")] == [
        "[hr-00001]",
        "[api-00004",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "Give the file"),
        (".", "is a folder"),
        ("none/x.txt", "does not exist"),
        ("locked.txt", "read-only"),
        ("~nobody-here/x", "home folder"),
    ],
)
async def test_what_is_wrong_is_said_in_the_dialog(
    bench: Workbench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "locked.txt").write_text("mine")
    (tmp_path / "locked.txt").chmod(0o444)
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        await go_to(hand, dialog, name)
        assert words in state(dialog)
        assert shown(dialog, "export-whole") == TEXT.rstrip("\n")
        await hand.press("ctrl+s")
        assert hand.app.screen is dialog
        await hand.press("escape")
        await hand.back()
    assert (tmp_path / "locked.txt").read_text() == "mine"


async def test_a_file_changed_meanwhile_is_shown_again_before_it_is_replaced(
    bench: Workbench,
    source: Path,
) -> None:
    bench.playbooks.edit(BOOK, "hr-00002", "Retry once.")
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        theirs = TEXT.replace("Retry everything twice.", "Never retry.")
        source.write_text(theirs)
        await hand.press("ctrl+s")
        assert hand.app.screen is dialog
        assert "changed by another program" in state(dialog)
        assert "1 on both sides differently" in state(dialog)
        assert "> [hr-00002] helpful=1 harmful=3 :: Never retry." in shown(dialog, "export-changes")
        await hand.press("ctrl+s")
        assert hand.app.screen is dialog
        assert source.read_text() == theirs
        await hand.press("ctrl+r")
        await hand.dialog(Confirm)
        await answered(hand.pilot)
        await hand.back()
    assert source.read_text() == ace.write_playbook(bench.playbooks.open(BOOK))


async def test_changes_of_both_sides_are_written_together(bench: Workbench, source: Path) -> None:
    bench.playbooks.edit(BOOK, "hr-00002", "Retry once.")
    source.write_text(TEXT.replace("the Fly header", "the proxy header"))
    both = TEXT.replace("the Fly header", "the proxy header").replace(
        "Retry everything twice.", "Retry once."
    )
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        assert "1 place changed there, 1 here, 0 on both sides" in state(dialog)
        await hand.press("ctrl+t")
        assert shown(dialog, "export-whole") == both.rstrip("\n")
        await hand.press("ctrl+s")
        await hand.back()
    assert source.read_text() == both


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
async def test_every_format_shows_and_writes_the_same_bytes(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Format
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(bench, (80, 24)) as hand:
        dialog = await exporting(hand)
        await hand.press("ctrl+o")
        await hand.dialog(Choose)
        await hand.press(*["down"] * KINDS.index(kind), "enter")
        await hand.until(lambda: hand.app.screen is dialog)
        await hand.pilot.pause()
        seen = shown(dialog, "export-whole")
        assert "Never write to production without asking." in seen
        if kind.name != "ace":
            target = tmp_path / dialog.query_one(SafeInput).value
            await hand.press("ctrl+s")
            await hand.back()
            assert target.read_bytes().decode().rstrip("\n").replace("\r", "␍") == seen


async def test_it_opens_again_on_the_file_that_was_written_in_its_format(
    bench: Workbench, tmp_path: Path
) -> None:
    kind = next(kind for kind in KINDS if kind.name == "skillbook")
    async with opened(bench) as hand:
        await exporting(hand)
        await hand.press("ctrl+o")
        await hand.dialog(Choose)
        await hand.press(*["down"] * KINDS.index(kind), "enter")
        dialog = await hand.dialog(ExportDialog)
        await go_to(hand, dialog, tmp_path / "mine.json")
        await hand.press("ctrl+s")
        await hand.back()
        dialog = await exporting(hand)
        assert dialog.query_one(SafeInput).value == str(tmp_path / "mine.json")
        assert kind.title in hand.text
        assert "Nothing to write" in state(dialog)


async def test_a_part_of_the_playbook(bench: Workbench) -> None:
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        dialog.query_one("#export-section", SafeInput).value = "hard"
        dialog.query_one("#export-least", SafeInput).value = "1"
        await hand.pilot.pause()
        assert "[hr-00003]" not in shown(dialog, "export-whole")
        assert "[api-00004]" not in shown(dialog, "export-whole")
        assert "[hr-00002]" in shown(dialog, "export-whole")
        dialog.query_one("#export-least", SafeInput).value = "x"
        await hand.pilot.pause()
        assert "“x” is not a number" in state(dialog)
        dialog.query_one("#export-section", SafeInput).value = "nowhere"
        dialog.query_one("#export-least", SafeInput).value = ""
        await hand.pilot.pause()
        assert "“nowhere”" in state(dialog)
        await hand.press("ctrl+s")
        assert hand.app.screen is dialog


@pytest.mark.parametrize(("then", "written"), [("", True), ("x", False)])
async def test_what_is_written_at_once_waits_until_it_is_shown(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str, written: bool
) -> None:
    seen, may_look = exports.look, threading.Event()
    may_look.set()

    def late(*asked: Any) -> Any:
        may_look.wait(60)
        return seen(*asked)

    monkeypatch.setattr(exports, "look", late)
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        may_look.clear()
        dialog.query_one(SafeInput).value = str(tmp_path / "new.txt")
        await hand.pilot.pause()
        await dialog.action_write()
        if then:  # who types on means another file
            dialog.query_one(SafeInput).value = str(tmp_path / "new.txtx")
            await hand.pilot.pause()
        may_look.set()
        if written:
            await hand.back()
        else:
            await hand.until(lambda: "new.txtx" in hand.text and "A new file" in state(dialog))
            assert hand.app.screen is dialog
    assert (tmp_path / "new.txt").exists() == written
    assert not (tmp_path / "new.txtx").exists()
