"""The tables of actions and what derives from them."""

import re
from collections import Counter

import pytest

from workbench.tui.app.actions import (
    GLOBAL,
    Action,
    all_keys,
    display_key,
    footer_entries,
    help_groups,
    key_in_line,
    key_names,
    palette_entries,
    remapped,
)
from workbench.tui.app.areas import AREAS, check_keymap


def test_ids_are_unique() -> None:
    assert [i for i, n in Counter(a.id for a in AREAS.every_action()).items() if n > 1] == []


def test_every_action_has_label_tooltip_and_group() -> None:
    assert [a.id for a in AREAS.every_action() if not (a.label and a.tooltip and a.group)] == []


@pytest.mark.parametrize("title", list(AREAS.scopes()))
def test_no_two_actions_of_one_area_hold_one_key(title: str) -> None:
    lists = [
        a
        for a in AREAS.scopes()[title]
        if not a.id.startswith(("slider.", "link.", "evidence.", "text."))
    ]
    held = Counter(key for a in lists for key in key_names(a.keys))
    assert [key for key, n in held.items() if n > 1] == []


@pytest.mark.parametrize(("title", "actions"), AREAS.scopes().items())
def test_every_dialog_has_its_help_and_every_list_a_key_that_finds(
    title: str, actions: tuple[Action, ...]
) -> None:
    held = {key for action in actions for key in key_names(action.keys)}
    assert {"question_mark", "f1"} <= held
    manual = {action.id for action in actions if "f1" in key_names(action.keys)}
    assert manual in ({"app.manual"}, {"dialog.manual"}) or title == "the manual"
    assert "slash" in held or not any(action.id.startswith("list.") for action in actions)


def test_the_defaults_are_a_clean_keymap() -> None:
    keymap = check_keymap({a.id: a.keys for a in AREAS.every_action()})
    assert keymap.problems == ()
    assert len(keymap.keys) == len(AREAS.every_action())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "name", "shown"),
    [
        ("+", "plus", "+"), ("?", "question_mark", "?"), ("G", "G", "G"), ("escape", "escape", "esc"),
        ("shift+left", "shift+left", "shift+←"), ("ctrl+d", "ctrl+d", "ctrl+d"),
    ],
)  # fmt: skip
def test_keys_have_textual_names_and_readable_forms(written: str, name: str, shown: str) -> None:
    assert key_names(written) == (name,)
    assert display_key(name) == shown


def test_the_reason_of_a_rejection_stands_beside_it_in_the_footer() -> None:
    shown = [action.id for action in footer_entries(AREAS.get("review").actions)]
    assert shown.index("review.reason") == shown.index("review.reject") + 1


def test_a_digit_in_a_line_of_keys_cannot_be_taken_for_a_count() -> None:
    assert [key_in_line(key) for key in ("0", "plus", "f1")] == ["[0]", "+", "f1"]


def test_footer_help_and_palette_come_from_the_same_table() -> None:
    stream = AREAS.scope("stream")
    assert [a.shown_key for a in footer_entries(AREAS.get("stream").actions)][:3] == ["/", "+", "-"]
    rows = [row for group in help_groups(stream) for row in group.rows]
    assert len(rows) == len(stream)
    assert ("d", "Archive it; can be undone") in rows
    titles = {entry.id: entry.title for entry in palette_entries(stream)}
    assert titles["stream.pin"] == "Pin"
    assert "list.up" not in titles


def test_remapping_changes_keys_only() -> None:
    changed = remapped(GLOBAL, {"app.undo": "ctrl+z"})
    undo = next(a for a in changed if a.id == "app.undo")
    assert all_keys(undo) == "ctrl+z"
    assert [a.id for a in changed] == [a.id for a in GLOBAL]


CAPITALS = {
    "D": ("duplicates", "deprecate"),
    "S": ("split",),
    "J": ("read on",),
    "K": ("read back",),
}


def test_a_capital_means_one_thing_wherever_it_holds() -> None:
    others = {
        (key, action.id)
        for action in AREAS.every_action()
        for key in key_names(action.keys)
        if not any(word in action.label for word in CAPITALS.get(key, ("",)))
    }
    assert others == set()


KEPT = re.compile(
    r"ctrl\+shift\+.+|alt\+(enter|f4|space|shift\+.+|up|down|left|right)|ctrl\+alt\+.+|f11"
    r"|ctrl\+(comma|tab|plus|minus|equals_sign|0|v)"
)
"""What Windows Terminal does with a key itself, as it comes."""


def test_no_action_needs_a_key_that_the_terminal_keeps() -> None:
    out_of_reach = [
        action.id
        for action in AREAS.every_action()
        if all(KEPT.fullmatch(key) for key in key_names(action.keys))
    ]
    assert out_of_reach == []
