"""JSON with places: any value can be changed, added or taken out of any layout, and nothing else moves."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.record import UnreadableFile
from workbench.formats.shared.jsonrecords import (
    GONE,
    Entry,
    Lines,
    Style,
    dumps,
    edited_object,
    member,
    replacement,
    rewrite,
    scan,
    scan_file,
    style_of,
)
from workbench.formats.shared.jsonstream import unwrap
from workbench.formats.shared.jsontext import JsonReader

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
layouts = st.sampled_from([None, 1, 2, 4, "\t"])


@pytest.mark.slow
@given(st.dictionaries(words, values, max_size=5), st.dictionaries(words, values, max_size=3), st.data(), layouts)
@settings(max_examples=100, deadline=None)
def test_changes_say_what_they_should(
    doc: dict[str, Any], new: dict[str, Any], data: st.DataObject, indent: int | str | None
) -> None:
    text = json.dumps(doc, indent=indent, ensure_ascii=data.draw(st.booleans()))
    gone = data.draw(st.sets(st.sampled_from(sorted(doc)), max_size=3)) if doc else set()
    changed = {**dict.fromkeys(gone, GONE), **new}
    entry = Entry(0, 0, 0, len(text))
    again = edited_object(text, entry, changed, style_of(text))
    assert json.loads(again) == {**{k: v for k, v in doc.items() if k not in gone or k in new}, **new}
    kept = scan(text, 0, JsonReader())
    for found in kept.entries:
        if found.key not in changed:
            assert text[found.start : found.end] in again
    assert edited_object(text, entry, {}, style_of(text)) == text


@pytest.mark.parametrize(
    ("text", "values", "added", "expected"),
    [
        ("[1, 2, 3]", {0: None}, [], "[2, 3]"),
        ("[1, 2, 3]", {2: None}, ["4"], "[1, 2, 4]"),
        ("[]", {}, ["1", "2"], "[1, 2]"),
        ("[1]", {}, ["2"], "[1, 2]"),
        ("[1]", {0: None}, [], "[]"),
        ('{\n\t"a": [\n\t\t1\n\t]\n}', {0: "7"}, ['"b": 8'], '{\n\t"a": 7,\n\t"b": 8\n}'),
        ('{"a" : 1 , "b" : 2 }', {1: None}, [], '{"a" : 1 }'),
    ],
)
def test_layouts(text: str, values: dict[int, str | None], added: list[str], expected: str) -> None:
    assert rewrite(text, scan(text, 0, JsonReader()), values, added, style_of('["a", 1]')) in (
        expected,
        expected.replace("[1, 2]", "[1,2]"),
    )


def test_an_empty_object_of_an_indented_file_opens_up() -> None:
    text = '{\n  "a": {},\n  "b": 1\n}'
    node = scan(text, 0, JsonReader(), frozenset({"a"}))
    inner = node.entries[0].inner
    assert inner is not None
    style = style_of(text)
    body = rewrite(text, inner, {}, [member("x", [1], style, "    ")], style)
    assert rewrite(text, node, {0: body}, (), style) == ('{\n  "a": {\n    "x": [\n      1\n    ]\n  },\n  "b": 1\n}')


def test_damage_ends_the_tree_and_the_rest_stays() -> None:
    text = '{"a": {"x": 1, "y": {"z": [1, 2}, "w": 3}, "b": 4}'
    node = scan(text, 0, JsonReader(), frozenset({"a"}))
    inner = node.entries[0].inner
    assert inner is not None
    assert [entry.key for entry in inner.entries] == ["x"]
    assert node.damage == inner.damage
    assert Lines(text).at(node.damage_at) == 1
    changed = rewrite(text, inner, {0: "9"}, (), style_of(text))
    assert rewrite(text, node, {0: changed}, (), style_of(text)) == text.replace('"x": 1', '"x": 9')


@pytest.mark.parametrize("text", ["", "7", '"a"', "{", "[}", '{"a"', "{1: 2}", '{"a": }'])
def test_nothing_before_the_damage_cannot_be_read(text: str) -> None:
    with pytest.raises(UnreadableFile, match=r"f cannot be read: .* \(line 1\)"):
        scan_file(text, "f")


def test_text_after_the_value_is_damage() -> None:
    node = scan_file('{"a": 1}\n\nmore', "f")
    assert (node.damage, Lines('{"a": 1}\n\nmore').at(node.damage_at)) == (
        "more text after the end of the JSON value",
        3,
    )


def test_styles() -> None:
    assert style_of('{"a":1,"b":2}') == Style("", "\n", ":", ",", False)
    assert style_of('{\r\n\t"a": "\\u00e9"\r\n}') == Style("\t", "\r\n", ": ", ", ", True)
    assert dumps({"a": ["é", {}]}, Style("  ", "\r\n", ": ", ", ", True), "  ") == (
        '{\r\n    "a": [\r\n      "\\u00e9",\r\n      {}\r\n    ]\r\n  }'
    )
    assert replacement(["é\n"], Style(), "[1, 2]") == '["é\\n"]'
    assert dumps("\ud800", Style()) == '"\\ud800"'


@given(
    st.text(st.sampled_from('ab"\\/\n é😀{}'), max_size=20),
    st.text(st.sampled_from('ab"\\ é😀'), max_size=20),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_json_in_a_string(before: str, now: str, ascii_only: bool) -> None:
    outer = " " + json.dumps(before, ensure_ascii=ascii_only).replace("/", "\\/") + "\n"
    whole = unwrap(outer, "f")
    assert (whole.text, whole.nested) == (before, True)
    assert whole.wrapped(before) == outer
    changed = whole.wrapped(now)
    assert json.loads(changed) == now
    assert changed.endswith("\n")


def test_a_small_change_in_a_string_is_a_small_change_outside() -> None:
    outer = '"{\\"a\\": \\"\\u00e9\\/x\\", \\"b\\": 1}"'
    assert unwrap(outer, "f").wrapped('{"a": "é/x", "b": 2}') == outer.replace("1}", "2}")
    assert not unwrap("{}", "f").nested
    with pytest.raises(UnreadableFile):
        unwrap('"never closed', "f")
