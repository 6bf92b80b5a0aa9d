"""TOML that would take the parser no end."""

import tomllib

import pytest

from workbench.core.toml_text import PARTS, parse_toml

SENTENCES = 'a = """\n' + "Read it. Ask a.b first. " * 500 + '"""'


@pytest.mark.parametrize("text", ["a = 1", "[a.b.c]\nd.e = 'f.g'", '"a.b" . c = [1, 2]', SENTENCES])
def test_what_is_sound_is_read_as_ever(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("part", ["a", '"x y"', "'.'", "a-b_1"])
@pytest.mark.parametrize("frame", ["{} = 1", "[{}]", "[[ {} ]]", "a = {{ {} = 1 }}"])
def test_a_key_of_very_many_parts_is_refused(part: str, frame: str) -> None:
    with pytest.raises(ValueError, match="parts"):
        parse_toml(frame.format(" . ".join([part] * (PARTS + 1))))


def test_what_is_nested_very_deeply_is_refused() -> None:
    with pytest.raises(ValueError, match="nested"):
        parse_toml("a = " + "[" * 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a.", "a", '"', "'", "a b.", '"a".', ". ", "-", "a." * 150 + " "])
def test_looking_for_such_a_key_takes_one_pass(unit: str) -> None:
    with pytest.raises(ValueError, match=r"parts|nvalid|ound|line"):
        parse_toml("=" + unit * (1_000_000 // len(unit)))
