"""Editing, pinning and forgetting from a shell: by a person at once, by an agent as a question."""

import pytest

from tests.cli.conftest import Cli
from workbench.core.stream.memory import Memory
from workbench.store.library import Library

KEY = "AKIAZ7QWERTYUI5PLMNB"
ONE, TWO = "mem-20260206-0000009", "mem-20260206-0000008"


def stored(cli: Cli, id: str = ONE) -> Memory:
    return Library(cli.store).memories.get(id)


def test_an_edit_changes_the_text_and_is_undone(demo: Cli) -> None:
    before = stored(demo).content
    assert f"Edited {ONE}." in demo("edit", ONE, "The access token lives 20 minutes.").out
    assert stored(demo).content == "The access token lives 20 minutes."
    assert demo.told("edit", ONE, "The access token lives 20 minutes.")["changed"] is False
    demo("undo")
    assert stored(demo).content == before


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("edit", "nope", "text"), "nope"), (("edit", ONE, " "), "empty"), (("edit", ONE, "x" * 10_001), "too long"),
        (("forget", "shr-00001"), "is a bullet"), (("forget", ONE, "nope"), "nope"),
        (("unforget", ONE), "cannot be restored"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_and_nothing_is_changed(
    args: tuple[str, ...], sentence: str, demo: Cli
) -> None:
    rev = Library(demo.store).revision
    result = demo(*args)
    assert result.code == 2
    assert sentence in result.err
    assert Library(demo.store).revision == rev


def test_a_secret_is_masked_unless_a_person_keeps_it(demo: Cli) -> None:
    demo("edit", ONE, f"deploy with {KEY}")
    assert KEY not in stored(demo).content
    demo("edit", TWO, f"deploy with {KEY} tonight", "--keep")
    assert KEY in stored(demo, TWO).content


def test_pins_are_set_and_let_go(demo: Cli) -> None:
    demo("pin", ONE, TWO)
    assert stored(demo).pinned
    assert demo.told("pin", ONE, "--off") == {"ids": [ONE], "pinned": False}
    assert (stored(demo).pinned, stored(demo, TWO).pinned) == (False, True)


def test_what_is_forgotten_comes_back(demo: Cli) -> None:
    demo("forget", ONE, TWO)
    assert [stored(demo, id).archived_reason for id in (ONE, TWO)] == ["forgotten"] * 2
    demo("unforget", ONE)
    assert [stored(demo, id).status for id in (ONE, TWO)] == ["signal", "archived"]
    demo("unforget", TWO)
    demo("undo")
    assert stored(demo, TWO).archived_reason == "forgotten"


@pytest.mark.slow
def test_an_agent_asks_a_person(demo: Cli) -> None:
    before = stored(demo)
    assert (
        "A person is asked"
        in demo("edit", ONE, "The token lives an hour.", "--actor", "claude").out
    )
    assert demo.told("forget", ONE, "--actor", "claude", "--reason", "old")["proposed"] == [ONE]
    assert stored(demo) == before
    waiting = demo("review", "list").out
    assert "replace" in waiting
    assert "forget" in waiting
    for args in (("pin", ONE), ("unforget", ONE)):
        assert "for a person" in demo(*args, "--actor", "claude").err


def test_inside_an_agent_nothing_is_changed_at_once(
    demo: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    before = stored(demo)
    demo("edit", ONE, "The token lives an hour.")
    demo("forget", ONE)
    assert stored(demo) == before


@pytest.mark.slow
def test_what_cannot_be_accepted_any_more_can_be_turned_down(demo: Cli) -> None:
    proposed = demo.told("edit", ONE, "The token lives an hour.", "--actor", "claude")["proposed"]
    assert "The token lives an hour." in demo("review", "show", proposed).out
    demo("forget", ONE)
    assert demo("review", "approve", proposed).code == 2
    assert demo("review", "reject", proposed).code == 0
    assert proposed not in demo("review", "list").out
