"""The dialogs: confirm, prompt, choose and help."""

from dataclasses import dataclass

import pytest
from textual.content import Content

from tests.tui.support import screen_text
from tests.tui.waiting import until_drawn
from tests.tui.widgets.host import HOSTILE, Host, is_inert, picture
from workbench.tui.app.areas import AREAS
from workbench.tui.manual import HelpScreen, ManualScreen
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Prompt


@dataclass
class Clock:
    """A clock that a test moves."""

    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.mark.slow
@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("escape", False)])
async def test_a_question_takes_yes_and_no(key: str, answer: bool) -> None:
    host, clock = Host(), Clock()
    async with host.run_test(size=(80, 24)) as pilot:
        host.ask(
            Confirm(
                "Forget this memory?",
                detail=Content("It can be undone."),
                clock=clock,
                yes="forget",
            )
        )
        await pilot.pause()
        text = screen_text(host)
        assert "Forget this memory?" in text
        assert "It can be undone." in text
        assert "y forget   n no" in text
        clock.seconds += 0.151
        await pilot.press("d", "enter", "space")
        assert host.results == []
        await pilot.press(key)
        assert host.results == [answer]


@pytest.mark.parametrize(
    ("dialog", "keys"), [("confirm", ["question_mark"]), ("confirm", ["f1"]), ("prompt", ["f1"])]
)
async def test_every_dialog_shows_its_keys_and_where_one_types_by_way_of_the_manual(
    dialog: str, keys: list[str]
) -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.ask(Confirm("Forget?", clock=Clock()) if dialog == "confirm" else Prompt("Name it"))
        await pilot.pause()
        assert "f1 manual" in screen_text(host)
        await pilot.press(*(["question_mark"] if dialog == "prompt" else []), *keys)
        if keys == ["f1"]:
            await until_drawn(pilot, lambda: isinstance(host.screen, ManualScreen))
            await pilot.press("question_mark")
        await until_drawn(pilot, lambda: isinstance(host.screen, HelpScreen))
        text = screen_text(host)
        assert (
            "Close without changing anything" if dialog == "confirm" else "Accept the input"
        ) in text
        await pilot.press("question_mark")
        assert not isinstance(host.screen, HelpScreen)
        assert host.results == []


async def test_a_stray_yes_in_the_first_moment_does_nothing() -> None:
    host, clock = Host(), Clock()
    async with host.run_test() as pilot:
        host.ask(Confirm("Forget?", clock=clock))
        await pilot.pause()
        clock.seconds += 0.149
        await pilot.press("y")
        assert host.results == []
        clock.seconds += 0.002
        await pilot.press("y")
        assert host.results == [True]


async def test_the_keys_shown_are_those_of_the_keymap() -> None:
    host, clock = Host(), Clock()
    async with host.run_test(size=(80, 24)) as pilot:
        host.set_keymap({"confirm.yes": "j"})
        host.ask(Confirm("Forget?", clock=clock))
        await pilot.pause()
        assert "j yes" in screen_text(host)
        clock.seconds += 1
        await pilot.press("y", "j")
        assert host.results == [True]


def needs_name(text: str) -> str | None:
    return None if text else "A profile needs a name."


@pytest.mark.slow
async def test_a_prompt_takes_a_line_and_refuses_with_a_sentence() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.ask(Prompt("Save as", check=needs_name))
        await pilot.press("enter")
        assert "✗ A profile needs a name." in screen_text(host)
        assert host.results == []
        await pilot.press("m", "y", "space")
        assert "needs a name" not in screen_text(host)
        await pilot.press("enter")
        assert host.results == ["my"]


async def test_a_prompt_starts_with_its_value_and_esc_gives_nothing() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.ask(Prompt("Rename [b]", "old [/x] \x1b[2J"))
        await pilot.pause()
        text = picture(host)
        assert any("old [/x] ␛[2J" in line for line in text)
        assert all(map(is_inert, text))
        await pilot.press("escape")
        assert host.results == [None]


CHOICES = [Choice(f"s{n}", f"Section {n}", f"{n} bullets") for n in range(40)] + [
    Choice("x", HOSTILE, "[b]")
]


async def test_choosing_narrows_while_typing() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.ask(Choose("Move to", CHOICES, current="s7"))
        await pilot.pause()
        assert any("▸" in line and "Section 7" in line for line in picture(host))
        await pilot.press(*"SEC 3")
        lines = [line for line in picture(host) if "bullets" in line]
        assert len(lines) == 13
        await pilot.press("down", "down", "up", "enter")
        assert host.results == ["s13"]


async def test_words_narrow_the_help_to_rows_that_hold_them_or_others_for_them() -> None:
    host = Host()
    async with host.run_test(size=(120, 50)) as pilot:
        host.ask(
            HelpScreen(
                "Stream",
                AREAS.scope("stream"),
                more="The filter\n  tag:auth  a tag\n  since:7d  when",
            )
        )
        await pilot.pause()
        await pilot.press("slash", *"delete")
        text = screen_text(host)
        assert "Archive it; can be undone" in text
        assert "Vote helpful" not in text
        await pilot.press("escape")
        assert "Vote helpful" in screen_text(host)
        await pilot.press("slash", *"tag", "enter")
        text = screen_text(host)
        assert "tag:auth" in text
        assert "since:7d" not in text
        await pilot.press("slash", *"xyzzy")
        assert "Nothing found." in screen_text(host)
        await pilot.press("escape", "escape")
        assert host.results == [None]
