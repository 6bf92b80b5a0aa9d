"""The help of every command shows how it is called, and what it shows is taken by the parser."""

import re
import shlex
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator

import pytest

from workbench.cli.main import build_parser

WIDE = "200"
"""Columns in which no example is broken."""


def parsers(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """Yield the parser of every command, those below a command too."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                yield below
                yield from parsers(below)


def examples(parser: ArgumentParser) -> list[str]:
    """Return the calls of a command that its help shows: lines of their own, of which a shell would
    take a part.
    """
    own = re.compile(rf"^  ({re.escape(parser.prog)}(?: [^>\n]*[^>\s])?)(?: > \S+)?$", re.MULTILINE)
    return own.findall(parser.format_help())


def test_every_command_shows_a_call_of_it_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", WIDE)
    whole = build_parser()
    shown = {one.prog: examples(one) for one in parsers(whole)}
    assert len(shown) > 90
    assert [prog for prog, calls in shown.items() if not calls] == []
    for prog, calls in shown.items():
        for call in calls:
            taken = whole.parse_args(shlex.split(call)[1:])
            assert taken.prog.startswith(prog), call
