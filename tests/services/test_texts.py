"""Edited texts keep the ends that nobody touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.conftest import memory, put
from workbench.services.open import Workbench
from workbench.services.safety.texts import kept_edges


@given(st.text("ab \n"), st.text("ab \n"))
def test_only_empty_lines_that_were_added_at_the_ends_go(text: str, before: str) -> None:
    kept = kept_edges(text, before)
    assert kept.strip("\n") == text.strip("\n")
    assert kept in text
    if text.strip("\n"):
        assert kept_edges(text, text) == text


@pytest.mark.parametrize(
    ("text", "before", "kept"),
    [
        ("\nA!", "\nA", "\nA!"),
        ("\n\nA\n", "\nA", "\nA"),
        ("A", "\nA\n", "A"),
        ("\nA\n\n", "A", "A"),
    ],
)
def test_examples(text: str, before: str, kept: str) -> None:
    assert kept_edges(text, before) == kept


def test_an_unchanged_memory_is_not_trimmed_and_a_changed_one_keeps_its_first_line_end(
    bench: Workbench,
) -> None:
    put(bench, memory("m1", "\nA line.\n"))
    assert not bench.stream.edit("m1", "\nA line.\n")
    assert bench.stream.edit("m1", "\nA line, changed.\n\n\n")
    assert bench.stream.get("m1").content == "\nA line, changed.\n"
