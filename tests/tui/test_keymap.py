"""A person's own keys."""

import re
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from workbench.tui.app.actions import bindings
from workbench.tui.app.keymap import check_keymap
from workbench.tui.review.actions import REVIEW
from workbench.tui.widgets.keys import key_of, keyed, undo, use_keymap


def test_a_free_key_is_taken_and_normalised() -> None:
    keymap = check_keymap({"stream.pin": "*, ctrl+t", "stream.forget": "D"})
    assert keymap.keys == {"stream.pin": "asterisk,ctrl+t", "stream.forget": "D"}
    assert keymap.problems == ()


def test_an_unknown_id_is_named_with_the_nearest() -> None:
    keymap = check_keymap({"stream.pim": "P", "stream.pin": "w"})
    assert keymap.keys == {"stream.pin": "w"}
    assert keymap.problems == ("There is no action “stream.pim”, so its key was ignored. Did you mean “stream.pin”?",)


def test_an_id_like_nothing_gets_no_guess() -> None:
    assert check_keymap({"zzz": "P"}).problems == ("There is no action “zzz”, so its key was ignored.",)


@pytest.mark.parametrize("keys", ["", "a,,b", ",", 7, None, ["a"]])
def test_what_is_no_list_of_keys_is_refused(keys: object) -> None:
    keymap = check_keymap({"stream.pin": keys})
    assert keymap.keys == {}
    assert "so it keeps p." in keymap.problems[0]


@pytest.mark.parametrize("key", ["ctrl+shft+x", "pagdown", "hello", "hyperr+a"])
def test_what_is_no_key_is_refused(key: str) -> None:
    keymap = check_keymap({"stream.pin": key})
    assert keymap.keys == {}
    assert keymap.problems[0].startswith(f"“{key}”, wanted for “stream.pin”, is not a key")


@pytest.mark.parametrize(
    "key",
    ["f5", "ctrl+shift+left", "alt+x", "comma", "é", "insert", "ctrl+@", "left_curly_bracket"],
)
def test_what_is_a_key_is_taken(key: str) -> None:
    assert check_keymap({"stream.pin": key}).problems == ()


@pytest.mark.parametrize(
    ("name", "key"), [("stream.pin", "e"), ("stream.pin", "j"), ("stream.pin", "u"), ("list.down", "e")]
)
def test_a_key_that_is_held_already_is_refused_by_a_sentence(name: str, key: str) -> None:
    keymap = check_keymap({name: key})
    assert keymap.keys == {}
    assert len(keymap.problems) == 1
    assert f"{key} would be both" in keymap.problems[0]
    assert f"so “{name}” keeps" in keymap.problems[0]


def test_two_actions_may_swap_their_keys() -> None:
    wanted = {"review.approve": "x", "review.reject": "a"}
    assert check_keymap(wanted).keys == wanted


def test_half_a_swap_takes_the_other_half_down() -> None:
    keymap = check_keymap({"review.approve": "x", "review.reject": "nonsense"})
    assert keymap.keys == {}
    assert len(keymap.problems) == 2


def test_areas_may_use_one_key_for_different_things() -> None:
    assert check_keymap({"stream.pin": "w", "playbook.pin": "w"}).problems == ()


class Keyed(App[None]):
    BINDINGS = bindings(REVIEW)
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static()

    def action_approve(self) -> None:
        self.done.append("approve")

    def action_reject(self) -> None:
        self.done.append("reject")


async def test_textual_takes_the_checked_keymap() -> None:
    app = Keyed()
    async with app.run_test() as pilot:
        app.set_keymap(check_keymap({"review.approve": "x,w", "review.reject": "a"}).keys)
        await pilot.press("x", "a", "w")
        assert app.done == ["approve", "reject", "approve"]


def test_bindings_are_what_textual_expects() -> None:
    found: list[BindingType] = bindings(REVIEW)
    assert len(found) == len(REVIEW)


def test_a_sentence_names_a_key_as_the_person_has_it() -> None:
    use_keymap({"app.undo": "ctrl+t,u"})
    try:
        assert undo() == "ctrl+t"
        assert keyed("{app.undo} takes {it} back, {stream.pin} pins it.") == "ctrl+t takes {it} back, p pins it."
    finally:
        use_keymap({})
    assert key_of("app.undo") == "u"


def test_no_sentence_says_which_key_takes_back() -> None:
    folder = Path(__file__).parents[2] / "workbench" / "tui"
    hard = re.compile(r"\bu (?:takes|brings)\b")
    found = [
        f"{path.name}: {line.strip()}"
        for path in folder.rglob("*.py")
        for line in path.read_text().splitlines()
        if hard.search(line) and "`u`" not in line and not line.lstrip().startswith('"""')
    ]
    assert found == []
