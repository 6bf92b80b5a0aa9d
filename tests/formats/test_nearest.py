"""A file of no known format is told what it comes nearest to, and what is missing."""

import random
from pathlib import Path

import pytest

from tests.formats.broken import broken
from tests.formats.others import TEXTS
from tests.formats.samples import context
from workbench.core.record import UnreadableFile
from workbench.formats.nearest import nearest
from workbench.formats.opening import read_file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"notes": [1], "owner": "ann"}',
            "a JSON object with “notes”, “owner”; mem0 needs “results”",
        ),
        ('{"a": 1}\n{"a": 2}\n', "JSON lines with “a”; learning entries need “context”"),
        (
            '[{"word": "x", "n": 1}]',
            "a JSON list with “word”, “n”; records need “id” and “content”",
        ),
        (
            "name,age\nann,3\nbob,4\n",
            "a table with “name”, “age”; a table needs the columns “id” and “content”",
        ),
        ("rules:\n  - one\nowner: ann\n", "YAML with “rules”, “owner”; cass needs “bullets”"),
        ("# Notes\n\nwords\n\n## Ideas\n", "Markdown; a .learnings file needs headings"),
    ],
)
def test_what_a_file_comes_nearest_to(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(UnreadableFile, match="has no known format") as error:
        read_file(path, context=context())
    assert f"It looks like {said}" in str(error.value.hint)


def test_a_long_word_is_not_repeated() -> None:
    found = nearest('{"' + "AKIA1234567890ABCDEF" + '": 1, "short": 2}')
    assert "AKIA" not in str(found)
    assert "“short”" in str(found)


def test_words_are_like_nothing() -> None:
    assert nearest("hello\n") is None
    assert nearest("") is None


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_any_text_is_told_something_or_nothing(name: str) -> None:
    dice = random.Random(name)
    for _ in range(50):
        found = nearest(broken(TEXTS[name][1], dice))
        assert found is None or str(found).endswith(".")
