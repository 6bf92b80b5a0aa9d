"""A person's own keys."""

import ast
import re
from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.sources import PACKAGE, trees
from workbench.tui.actions import REVIEW
from workbench.tui.app.actions import bindings
from workbench.tui.app.areas import AREAS, check_keymap
from workbench.tui.widgets.content import key_of, keyed, undo, use_keymap


def test_a_free_key_is_taken_and_normalised() -> None:
    keymap = check_keymap({"stream.pin": "*, ctrl+t", "stream.forget": "D"})
    assert keymap.keys == {"stream.pin": "asterisk,ctrl+t", "stream.forget": "D"}
    assert keymap.problems == ()


def test_an_unknown_id_is_named_with_the_nearest() -> None:
    keymap = check_keymap({"stream.pim": "P", "stream.pin": "w"})
    assert keymap.keys == {"stream.pin": "w"}
    assert keymap.problems == (
        "There is no action “stream.pim”, so its key was ignored. Did you mean “stream.pin”?",
    )


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
    ("name", "key"),
    [("stream.pin", "e"), ("stream.pin", "j"), ("stream.pin", "u"), ("list.down", "e")],
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

    def action_decide(self, verb: str) -> None:
        self.done.append(verb)


async def test_textual_takes_the_checked_keymap() -> None:
    app = Keyed()
    async with app.run_test() as pilot:
        app.set_keymap(check_keymap({"review.approve": "x,ctrl+t", "review.reject": "a"}).keys)
        await pilot.press("x", "a", "ctrl+t")
        assert app.done == ["approve", "reject", "approve"]


def test_a_sentence_names_a_key_as_the_person_has_it() -> None:
    use_keymap({"app.undo": "ctrl+t,u"})
    try:
        assert undo() == "ctrl+t"
        assert (
            keyed("{app.undo} takes {it} back, {stream.pin} pins it.")
            == "ctrl+t takes {it} back, p pins it."
        )
    finally:
        use_keymap({})
    assert key_of("app.undo") == "u"


NAMED = re.compile(
    r"""(?:^\s*|[.;:,·(]\ |\b(?:and|or|then|before|[Pp]ress|with)\ )   # where a key may stand in a sentence
    (?:[b-zB-HJ-Z/?;]|[aA](?=\ (?:accepts|approves|answers|takes|tries|applies|adds))|ctrl\+[a-z])
    (?=\ (?:[a-z]+[^s\W]s|again)\b|$)""",
    re.VERBOSE,
)
"""A key named by its own name: what a letter does, a letter to press. (An article, or I, is none.)"""


def _sentences(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of what a module says in two words or more, docstrings left out."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text, lineno=line) if (
                id(node) not in prose and len(text.split()) > 1
            ):
                yield line, text


@pytest.mark.slow
def test_every_sentence_names_its_keys_as_the_person_has_them() -> None:
    """By the ids of their actions, through `keyed` and `key_of`: a keymap may have put others in
    their place.
    """
    found = [
        f"{path.relative_to(PACKAGE)}:{line} {text}"
        for path, tree in trees().items()
        if path.is_relative_to(PACKAGE / "tui")
        for line, text in _sentences(tree)
        if NAMED.search(text)
    ]
    assert found == []


IDS = re.compile(r"\{([a-z][a-z-]*\.[a-z][a-z-]*)\}")


@pytest.mark.slow
def test_every_action_that_a_sentence_names_is_there() -> None:
    known = {action.id for action in AREAS.every_action()}
    said = [(path, text) for path, tree in trees().items() for _, text in _sentences(tree)]
    named = {
        id
        for path, text in said
        if path.is_relative_to(PACKAGE / "tui")
        for id in IDS.findall(text)
    }
    assert named
    assert named <= known
