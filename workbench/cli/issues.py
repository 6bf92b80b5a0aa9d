"""What readers could not take, as lines for a person: of many of one kind the first, and how many more."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import counted

if TYPE_CHECKING:
    from workbench.core.files.format import Issue

ALIKE = 20
"""Places with the same problem that are printed one by one."""

_QUOTED = re.compile("“[^”]*”")


def issue_lines(name: object, issues: "Sequence[Issue]") -> list[str]:
    """Return `name:line: reason` for each issue, and one line for what is left of those of one kind.

    Reasons are of one kind when they differ only in what they quote.
    """
    seen: dict[str, list[Issue]] = {}
    lines: list[str] = []
    for issue in issues:
        same = seen.setdefault(_QUOTED.sub("“…”", issue.reason), [])
        same.append(issue)
        if len(same) <= ALIKE:
            lines.append(f"{name}:{issue.line}: {issue.reason}")
    for kind, same in seen.items():
        if len(same) > ALIKE:
            more = counted(len(same) - ALIKE, "more place")
            lines.append(f"{name}: … and {more} up to line {same[-1].line:,}: {kind}")
    return lines
