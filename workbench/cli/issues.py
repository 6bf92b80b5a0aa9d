"""What readers could not take, as lines for a person: of many of one kind the first, and how many
more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.files.format import Issue

ALIKE = 20
"""Places with the same problem that are printed one by one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line, what is said about it and below that, and the kind it is of with others."""

    line: int
    said: str
    kind: str
    below: tuple[str, ...] = ()


def issue_lines(name: object, issues: "Sequence[Issue]") -> list[str]:
    """Return `name:line: reason` for each issue, and one line for what is left of those of one
    kind.
    """
    return place_lines(name, (Place(issue.line, issue.reason, issue.kind) for issue in issues))


def place_lines(name: object, places: Iterable[Place]) -> list[str]:
    """Return `name:line: said` for each place, with what is said below it, and one line for what is
    left of a kind.
    """
    seen: dict[str, list[int]] = {}
    lines: list[str] = []
    for place in places:
        same = seen.setdefault(place.kind, [])
        same.append(place.line)
        if len(same) <= ALIKE:
            lines += [f"{name}:{place.line}: {place.said}", *place.below]
    for kind, same in seen.items():
        if len(same) > ALIKE:
            more = counted(len(same) - ALIKE, "more place")
            lines.append(f"{name}: … and {more} up to line {max(same):,}: {kind}")
    return lines
