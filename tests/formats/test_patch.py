"""JSON with places: any value can be changed, added or taken out of any layout, and nothing else
moves.
"""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.files.format import Layout
from workbench.core.record import UnreadableFile
from workbench.formats.patch import Lines, dumps, layout_of, patch, scan, scan_file
from workbench.formats.shared.jsonstream import unwrap
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.yaml_patch import Unfitting, patch_yaml, tree

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
layouts = st.sampled_from([None, 1, 2, 4, "\t"])


@pytest.mark.slow
@given(st.dictionaries(words, values, max_size=5), st.data(), layouts)
@settings(max_examples=100, deadline=None)
def test_a_text_says_its_new_value(
    doc: dict[str, Any], data: st.DataObject, indent: int | str | None
) -> None:
    text = json.dumps(doc, indent=indent, ensure_ascii=data.draw(st.booleans()))
    gone = data.draw(st.sets(st.sampled_from(sorted(doc)), max_size=3)) if doc else set()
    changed = data.draw(st.dictionaries(words, values, max_size=3))
    again = patch(
        text, {**{key: value for key, value in doc.items() if key not in gone}, **changed}
    )
    assert json.loads(again) == {
        **{key: value for key, value in doc.items() if key not in gone},
        **changed,
    }
    for found in scan(text, 0, JsonReader()).entries:
        if found.key not in gone | changed.keys():
            assert text[found.start : found.end] in again
    assert patch(text, doc) == text


@pytest.mark.slow
@given(st.lists(values, max_size=5), st.lists(values, max_size=5), layouts)
@settings(max_examples=100, deadline=None)
def test_a_list_says_its_new_elements(
    old: list[Any], new: list[Any], indent: int | str | None
) -> None:
    text = json.dumps({"a": old}, indent=indent)
    assert json.loads(patch(text, {"a": new})) == {"a": new}
    assert patch(text, {"a": old}) == text


plain_words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
plain_values = (
    st.integers(-99, 99) | st.booleans() | plain_words | st.lists(plain_words, max_size=3)
)
records = st.lists(st.dictionaries(plain_words, plain_values, min_size=1, max_size=3), max_size=4)
yaml_docs = st.fixed_dictionaries({"list": records, "b": plain_values, "c": plain_values})


@pytest.mark.slow
@given(yaml_docs, yaml_docs)
@settings(max_examples=40, deadline=None)
def test_yaml_says_its_new_value_and_every_other_line_stays(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    text = patch_yaml("list: []\nb: 1 # first\nc: 2 # second\n", one)
    assert tree(text).value == one
    assert patch_yaml(text, one) == text
    try:
        again = patch_yaml(text, {**one, "list": other["list"]})
    except Unfitting:
        return
    assert tree(again).value["list"] == other["list"]
    assert again.endswith(text[text.index("\nb: ") :])


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("[1, 2, 3]", [2, 3], "[2, 3]"),
        ("[1, 2, 3]", [1, 2, 4], "[1, 2, 4]"),
        ("[1, 2, 3]", [3], "[3]"),
        ("[]", [1, 2], "[1,2]"),
        ("[1]", [], "[]"),
        ('{\n\t"a": [\n\t\t1\n\t]\n}', {"a": 7, "b": 8}, '{\n\t"a": 7,\n\t"b": 8\n}'),
        ('{"a" : 1 , "b" : 2 }', {"a": 1}, '{"a" : 1 }'),
        ('{\n  "a": {},\n  "b": 1\n}', {"a": {"x": [1]}, "b": 1},
         '{\n  "a": {\n    "x": [\n      1\n    ]\n  },\n  "b": 1\n}'),
        ('[{"id": "a", "n":1}, {"id": "b", "n":2}]', [{"id": "b", "n": 3}], '[{"id": "b", "n":3}]'),
        ('[{"id": "a"}]', [{"id": "b"}, {"id": "a"}], '[{"id": "b"},{"id": "a"}]'),
        ('{"a": [1, {"b": "x\\u00e9y", "c": 1.50}]}', {"a": [1, {"b": "xéy", "c": 1.5, "d": 2}]},
         '{"a": [1, {"b": "x\\u00e9y", "c": 1.50, "d": 2}]}'),
    ],
)  # fmt: skip
def test_layouts(text: str, value: object, expected: str) -> None:
    assert patch(text, value).replace(", ", ",") == expected.replace(", ", ",")


def test_damage_ends_the_tree_and_the_rest_stays() -> None:
    text = '{"a": {"x": 1, "y": {"z": [1, 2}, "w": 3}, "b": 4}'
    node = scan(text, 0, JsonReader(), frozenset({"a"}))
    inner = node.entries[0].inner
    assert inner is not None
    assert [entry.key for entry in inner.entries] == ["x"]
    assert node.damage == inner.damage
    assert Lines(text).at(node.damage_at) == 1
    assert patch(text, {"a": {"x": 9}}, node) == text.replace('"x": 1', '"x": 9')
    assert patch(text, {"a": {}}, node) == text.replace('"x": 1', "")


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
    assert layout_of('{"a":1,"b":2}') == Layout("", "\n", ":", ",", final_newline=False)
    says_more = '{"a":"x, y \\": z","b":1}'
    assert layout_of(says_more) == Layout("", "\n", ":", ",", final_newline=False)
    assert layout_of('{\r\n\t"a": "\\u00e9"\r\n}') == Layout(
        "\t", "\r\n", ": ", ", ", True, final_newline=False
    )
    assert dumps({"a": ["é", {}]}, Layout("  ", "\r\n", ": ", ", ", True), "  ") == (
        '{\r\n    "a": [\r\n      "\\u00e9",\r\n      {}\r\n    ]\r\n  }'
    )
    assert dumps("\ud800", Layout()) == '"\\ud800"'


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
    outer = '"{\\"a\\": \\"\\u00e9/x\\", \\"b\\": 1}"'
    assert unwrap(outer, "f").wrapped('{"a": "é/x", "b": 2}') == outer.replace("1}", "2}")
    assert not unwrap("{}", "f").nested
    with pytest.raises(UnreadableFile):
        unwrap('"never closed', "f")
