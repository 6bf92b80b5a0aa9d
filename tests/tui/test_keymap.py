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
from workbench.tui.app.areas import AREAS, Keymap, check_keymap
from workbench.tui.widgets.content import key_of, keyed, undo, use_keymap


@pytest.mark.parametrize(
    "wanted",
    [
        {"stream.forget": "D"},
        {"review.approve": "x", "review.reject": "a"},  # a swap
        {"stream.pin": "w", "playbook.pin": "w"},  # of two areas
        {"stream.pin": "f5,ctrl+shift+left,alt+x,comma,é,insert,ctrl+@,left_curly_bracket"},
    ],
)
def test_what_is_a_free_key_is_taken(wanted: dict[str, str]) -> None:
    assert check_keymap(wanted) == Keymap(wanted)


def test_a_key_is_normalised() -> None:
    assert check_keymap({"stream.pin": "*, ctrl+t"}).keys == {"stream.pin": "asterisk,ctrl+t"}


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("stream.pim", "P", "“stream.pim”, so its key was ignored. Did you mean “stream.pin”?"),
        *(("stream.pin", keys, "so it keeps p.") for keys in ("", "a,,b", ",", 7, None, ["a"])),
        *(
            ("stream.pin", key, f"“{key}”, wanted for “stream.pin”, is not a key")
            for key in ("ctrl+shft+x", "pagdown", "hello", "hyperr+a")
        ),
        *(("stream.pin", key, f"{key} would be both") for key in "eju"),
        ("stream.pin", "e", "so “stream.pin” keeps"),
        ("list.down", "e", "so “list.down” keeps"),
    ],
)
def test_what_cannot_be_is_refused_by_a_sentence(name: str, keys: object, said: str) -> None:
    keymap = check_keymap({name: keys, "stream.forget": "D"})
    assert keymap.keys == {"stream.forget": "D"}
    (problem,) = keymap.problems
    assert said in problem


def test_half_a_swap_takes_the_other_half_down() -> None:
    keymap = check_keymap({"review.approve": "x", "review.reject": "nonsense"})
    assert keymap.keys == {}
    assert len(keymap.problems) == 2


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
