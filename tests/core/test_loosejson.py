"""Finding JSON in what a model wrote."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.reflection.llm import UnreadableReply, find_json

VALUE = {"operations": [{"content": "a { b } [c] ``` \n d"}], "reasoning": "ü"}
TEXT = json.dumps(VALUE)


@pytest.mark.parametrize(
    "reply",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```\nThat is all.",
        f"Here it is {{roughly}} [1, 2]:\n\n{TEXT}\n\nTell me (see [3]) {{more}}.",
        f'{{"other": "{"long" * 50}"}}\n{TEXT}',
    ],
)
def test_an_object_is_found_wherever_it_stands(reply: str) -> None:
    assert find_json(reply, "operations") == VALUE


def test_raw_line_breaks_in_strings_are_accepted() -> None:
    assert find_json('{"a": "one\ntwo"}') == {"a": "one\ntwo"}


def test_without_a_wanted_key_the_longest_value_wins() -> None:
    assert find_json('[1] and {"a": {"operations": 1}} and []', "operations") == {
        "a": {"operations": 1}
    }


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("no", "no JSON"),
        ('{"a": [1, 2', "cut off"),
        ("{'a': 1}", "malformed"),
    ],
)
def test_what_is_not_there_is_said(reply: str, why: str) -> None:
    with pytest.raises(UnreadableReply, match=why):
        find_json(reply)


@pytest.mark.slow
def test_long_nonsense_breaks_nothing() -> None:
    for reply in ("{" * 100_000, '{"a":' * 50_000, "[" * 100_000 + "]", "```\n" * 20_000):
        with pytest.raises(UnreadableReply):
            find_json(reply)


@pytest.mark.slow
@given(st.text(alphabet="{}[]\"',:`\\ab1\n "), st.text(alphabet="ab \n.,"))
def test_any_text_gives_a_value_or_says_why_not(noise: str, prose: str) -> None:
    with suppress(UnreadableReply):
        assert isinstance(find_json(noise), dict | list)
    assert find_json(prose + TEXT + prose, "operations") == VALUE
