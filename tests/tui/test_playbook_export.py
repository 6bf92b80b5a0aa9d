"""The export dialog: what is shown is what is written."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.tui.playbook_host import BOOK, TEXT, Hand, bring_in, open_bench, opened
from tests.tui.widgets.host import until
from workbench.bench.workbench import Workbench
from workbench.tui.export_dialog import ExportDialog, Pane
from workbench.tui.playbook_preview import pieces, whole_file
from workbench.tui.widgets.safe_input import SafeInput

BARE = "## RULES\n[r-00001] Look.\n[r-00002] Leap.\n"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workbench]:
    bench = open_bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "rules.txt"


@pytest.fixture
def bench(empty: Workbench, source: Path) -> Workbench:
    bring_in(empty, source, TEXT)
    return empty


async def exporting(hand: Hand) -> ExportDialog:
    await hand.press("X")
    return await hand.dialog(ExportDialog)


def state(dialog: ExportDialog) -> str:
    """What the dialog says will happen, or why it cannot."""
    return str(dialog.query_one("#export-state", Static).render())


async def go_to(hand: Hand, dialog: ExportDialog, path: Path | str) -> None:
    dialog.query_one(SafeInput).value = str(path)
    await hand.pilot.pause()


def shown(dialog: ExportDialog, pane: str) -> str:
    """The text of a pane, its wrapped pieces joined again."""
    return "".join(f"\n{p.text}" if p.number else p.text for p in dialog.query_one(f"#{pane}", Pane).rows).strip("\n")


async def test_unchanged_there_is_nothing_to_write(bench: Workbench, source: Path) -> None:
    before = source.stat()
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        assert str(source) in hand.text
        assert "Nothing to write" in state(dialog)
        assert shown(dialog, "export-whole") == TEXT.rstrip("\n")
        await hand.press("ctrl+s")
        assert hand.app.screen is dialog
    assert source.read_bytes() == TEXT.encode()
    assert source.stat().st_mtime_ns == before.st_mtime_ns


async def test_an_edit_is_one_line_of_the_diff_and_is_written(bench: Workbench, source: Path) -> None:
    bench.playbooks.edit(BOOK, "hr-00002", "Retry once.")
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        assert "1 line in, 1 line out" in state(dialog)
        kinds = [piece.kind for piece in dialog.query_one("#export-changes", Pane).rows]
        assert kinds.count("added") == kinds.count("removed") == 1
        await hand.press("ctrl+s")
        await hand.back()
        assert any("Wrote" in said for said in hand.said)
    assert source.read_bytes() == TEXT.replace("Retry everything twice.", "Retry once.").encode()


async def test_dialects_change_the_preview_and_say_what_is_lost(bench: Workbench) -> None:
    async with opened(bench) as hand:
        dialog = await exporting(hand)
        await hand.press("ctrl+n", "ctrl+n")
        assert "[hr-00001] Never write" in shown(dialog, "export-whole")
        assert "The bare dialect has no counts" in state(dialog)
        await hand.press("ctrl+n")
        assert shown(dialog, "export-whole") == TEXT.rstrip("\n")
        await hand.pilot.click("DialectChoice", offset=(27, 0))
        assert "[hr-00001] Never write" in shown(dialog, "export-whole")


async def test_a_vote_in_a_bare_playbook_is_a_remark(empty: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "bare.txt"
    bring_in(empty, path, BARE)
    async with opened(empty) as hand:
        await hand.press("plus")
        dialog = await exporting(hand)
        assert "Nothing to write" in state(dialog)
        assert "the votes on 1 bullet stay in the store" in state(dialog)
    assert path.read_text() == BARE


async def test_a_new_file(bench: Workbench, tmp_path: Path) -> None:
    target = tmp_path / "new.txt"
    async with opened(bench, (80, 24)) as hand:
        dialog = await exporting(hand)
        await go_to(hand, dialog, target)
        assert "A new file" in state(dialog)
        await hand.press("ctrl+s")
        await hand.back()
        assert target.read_bytes() == TEXT.encode()
        again = await exporting(hand)
        assert again.query_one(SafeInput).value == str(target)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "Name the file"),
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
        source.write_text("## THEIRS\n")
        await hand.press("ctrl+s")
        assert hand.app.screen is dialog
        assert "changed by another program" in state(dialog)
        assert source.read_text() == "## THEIRS\n"
        assert "## THEIRS" in shown(dialog, "export-changes")
        await hand.press("ctrl+s")
        await hand.back()
    assert source.read_text() == bench.exporter.ace(BOOK)[0]


async def test_changes_and_whole_file(bench: Workbench, source: Path) -> None:
    source.write_text("## THEIRS\n")
    async with opened(bench, (80, 24)) as hand:
        dialog = await exporting(hand)
        changes, whole = dialog.query_one("#export-changes"), dialog.query_one("#export-whole")
        assert (changes.display, whole.display) == (True, False)
        await hand.press("ctrl+t")
        assert (changes.display, whole.display) == (False, True)
        await hand.pilot.resize_terminal(160, 40)
        await until(hand.pilot, lambda: bool(changes.display) and bool(whole.display))
        await hand.press("tab", "G")
        assert isinstance(dialog.focused, Pane)


def test_wrapping_loses_no_character() -> None:
    text = "one two three " * 40 + "\n" + "x" * 500 + "\n字字字字字字字字字字 é\u0301 end\n\n last"
    lines = whole_file(text)
    joined: dict[int, str] = {}
    number = 0
    for piece in pieces(lines, 40):
        if piece.kind == "note":
            continue
        number = piece.number or number
        joined[number] = joined.get(number, "") + piece.text
    assert "\n".join(joined.values()) == text
