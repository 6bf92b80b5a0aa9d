"""Stylesheets that are parsed once in a run: every app of the tests would parse the same ones
again.
"""

from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def parse_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every stylesheet the rules that one with the same text and the same variables was parsed
    into.
    """
    parse = Stylesheet._parse_rules

    def parsed(
        self: Stylesheet, css: str, read_from: Any, *rest: Any, **named: Any
    ) -> list[RuleSet]:
        key = (css, read_from, rest, *sorted(named.items()), *sorted(self._variables.items()))
        if key not in _parsed:
            _parsed[key] = parse(self, css, read_from, *rest, **named)
        return _parsed[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed)
