"""Hooks in the settings of an agent: what is put in comes out again, and what is theirs stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.hooks import commands, installed, removed

HANDLERS = {
    event: {"type": "command", "command": "/x/workbench capture claude-code"}
    for event in ("SessionStart", "Stop")
}


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


_HANDLERS = st.lists(
    st.fixed_dictionaries({"command": st.text(max_size=9)}), min_size=1, max_size=2
)


_GROUPS = st.lists(st.fixed_dictionaries({"hooks": _HANDLERS}), min_size=1, max_size=2)


_DOCS = st.dictionaries(
    st.text(max_size=6).filter(lambda key: key != "hooks"), _VALUE, max_size=3
).flatmap(
    lambda doc: st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), _GROUPS, max_size=2).map(
        lambda hooks: {**doc, "hooks": hooks} if hooks else doc
    )
)


@pytest.mark.slow
@given(_DOCS, st.sampled_from([None, 1, 2, "\t"]))
def test_what_is_put_in_comes_out_again(doc: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(doc, indent=indent)
    with_ours = installed(text, "f", HANDLERS)
    after = json.loads(with_ours)
    assert {key: value for key, value in after.items() if key != "hooks"} == {
        k: v for k, v in doc.items() if k != "hooks"
    }
    assert {
        event for event, command in commands(with_ours, "f") if command.startswith("/x/workbench")
    } == set(HANDLERS)
    assert removed(with_ours, "f", lambda command: command.startswith("/x/workbench")) == text


def test_a_comment_behind_a_hook_stays_where_it_is_when_ours_are_removed() -> None:
    foreign = '{"hooks": [ {"type": "command", "command": "theirs.sh"} ]}'
    before = f'{{\n  "hooks": {{\n    "Stop": [ {foreign} ] // theirs\n  }}\n}}\n'
    ours = {
        event: {"type": "command", "command": "ours"}
        for event in ("Stop", "SessionStart", "SessionEnd")
    }
    after = installed(before, "settings.json", ours)
    assert [command for _, command in commands(after, "settings.json")] == [
        "theirs.sh",
        "ours",
        "ours",
        "ours",
    ]
    assert removed(after, "settings.json", lambda command: command == "ours") == before


def test_comments_stay_where_hooks_go() -> None:
    before = """{ // settings
  "hooks": {
    "Stop": [
      // ours
      {"hooks": [{"command": "ours"}]}, // no longer
      {"hooks": [{"command": "theirs"}, /* and */ {"command": "ours"}]} // theirs
    ],
    "End": [{"hooks": [{"command": "ours"}]}] // the end
  },
  "z": 1
}
"""
    after = removed(before, "settings.json", lambda command: command == "ours")
    assert commands(after, "settings.json") == [("Stop", "theirs")]
    for comment in (
        "// settings",
        "// ours",
        "// no longer",
        "/* and */",
        "// theirs",
        "// the end",
    ):
        assert comment in after
    assert removed(after, "settings.json", lambda command: command == "ours") == after
