"""JSON texts as values that can be stored: what cannot be is found in the value, not escape by
escape.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text import clean_for_store
from workbench.formats.patch import keeps_to_ascii
from workbench.formats.shared.jsontext import JsonReader

TOLD = {"NUL or half a surrogate pair replaced by U+FFFD"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{"a": ["x\u0000"]}', {"a": ["x\ufffd"]}),
        (r'["\uD83D", "\ud83d\ude00"]', ["\ufffd", "\U0001f600"]),
        (r'"\udE00\u0007"', "\ufffd\x07"),
    ],
)
def test_what_cannot_be_stored_is_replaced_and_told(text: str, value: object) -> None:
    reader = JsonReader()
    assert (reader.decode(text), reader.changes) == (value, TOLD)


def test_a_key_that_cannot_be_stored_is_replaced() -> None:
    assert JsonReader().decode(r'{"k\ud800": 1}') == {"k\ufffd": 1}


@given(st.text(st.characters(), max_size=12))
def test_a_text_is_read_as_it_is_stored(text: str) -> None:
    clean = clean_for_store(text)
    assert JsonReader().decode(json.dumps([text, {text: text}])) == [clean, {clean: clean}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (r'"a\u0007b\u001b\u0000"', False), (r'"\u007f"', True), (r'"\u0080"', True), (r'"\u00e9"', True),
        (r'"\u0301"', True), (r'"\u0007\u0301"', True), ('"é"', False), (r'"\n\t"', False), (r'"\u006f"', False),
    ],
)  # fmt: skip
def test_only_an_escape_that_keeps_to_ascii_tells_so(text: str, told: bool) -> None:
    assert keeps_to_ascii(text) is told
