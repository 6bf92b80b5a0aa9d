"""Playbooks of very many sections: a section costs what it costs in a short file."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from workbench.core.files.lint import Line, lines
from workbench.formats import lint
from workbench.formats.ace import read_playbook


class Counting(list[Line]):
    """A list that counts the items which slices copy."""

    copied = 0

    def __getitem__(self, at: Any) -> Any:
        """Return an item or a slice."""
        found = super().__getitem__(at)
        if isinstance(found, list):
            self.copied += len(found)
        return found


def _lines(count: int, title: Callable[[int], str]) -> str:
    return "".join(
        f"## {title(n)}\n[s-{n:05d}] helpful=0 harmful=0 :: text {n}\n" for n in range(count)
    )


def _steps(text: str) -> int:
    """Return how many lines of Python in the module of the reader a text takes."""
    steps = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal steps
        if frame.f_code.co_filename != read_playbook.__code__.co_filename:
            return None
        steps += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        read_playbook(text)
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("title", [lambda n: f"S{n}", lambda _: "Same"], ids=["different", "same"])
def test_a_section_takes_as_many_steps_among_many_as_among_few(title: Callable[[int], str]) -> None:
    few, many = _steps(_lines(20, title)), _steps(_lines(200, title))
    assert many < 12 * few


def test_sections_of_one_title_are_numbered() -> None:
    ids = [section.id for section in read_playbook(_lines(4, lambda _: "Same")).sections]
    assert ids == ["same", "same-2", "same-3", "same-4"]


def test_looking_a_playbook_over_copies_no_more_lines_than_it_has() -> None:
    found = Counting(lines(_lines(50, lambda n: f"S{n}")))
    assert len(list(lint._places(found))) == 50
    assert found.copied <= len(found)
