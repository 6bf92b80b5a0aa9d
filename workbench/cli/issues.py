"""What readers could not take, as lines for a person: of many of one kind the first, and how many more."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import counted

if TYPE_CHECKING:
    from workbench.core.files.format import Issue

ALIKE = 20
"""Places with the same problem that are printed one by one."""

_OWN = re.compile("“[^”]*”|[0-9](?:[0-9,.]*[0-9])?")


def issue_lines(name: object, issues: "Sequence[Issue]") -> list[str]:
    """Return `name:line: reason` for each issue, and one line for what is left of those of one kind."""
    return place_lines(name, [(issue.line, issue.reason, ()) for issue in issues])


def place_lines(name: object, places: Sequence[tuple[int, str, Sequence[str]]]) -> list[str]:
    """Return `name:line: reason` for each place, with what is said below it, and one line for what is left of a kind.

    Reasons are of one kind when they differ only in what they quote and in numbers.
    """
    seen: dict[str, list[int]] = {}
    lines: list[str] = []
    for line, reason, below in places:
        same = seen.setdefault(_OWN.sub(_blank, reason), [])
        same.append(line)
        if len(same) <= ALIKE:
            lines += [f"{name}:{line}: {reason}", *below]
    for kind, same in seen.items():
        if len(same) > ALIKE:
            more = counted(len(same) - ALIKE, "more place")
            lines.append(f"{name}: … and {more} up to line {max(same):,}: {kind}")
    return lines


def _blank(found: re.Match[str]) -> str:
    return "“…”" if found[0].startswith("“") else "…"
