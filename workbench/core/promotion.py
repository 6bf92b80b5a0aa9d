"""Where a promoted memory was put: what of it stands in which file or playbook."""

from datetime import datetime
from typing import Literal

from workbench.core.document import Record

PlacementKind = Literal["entry", "file", "bullet"]
"""`entry`: an item of a managed block; `file`: a whole file; `bullet`: a bullet of a playbook in
the store.
"""


class Placement(Record, frozen=True):
    """One text that promoting `memory` wrote.

    `path` is relative to the project, with `/`; absolute when `outside` of it; BOOK/BULLET for a
    bullet. `text` is the entry as rendered, the whole file, or the bullet's content. The rest is
    for taking it back exactly: `created` tells that there was no such file before, `lead` how many
    line ends were put before the block, and `folders` how many folders were made for the file.
    `section` is the heading that the block was put under, and `head` what a new file begins with
    above it: front matter that its tool asks for.
    """

    id: str
    memory: str
    kind: PlacementKind
    path: str
    text: str
    created_at: datetime
    outside: bool = False
    created: bool = False
    lead: int = 0
    folders: int = 0
    section: str = ""
    head: str = ""
    version: int = 1


def placement_id(memory: str, kind: PlacementKind, path: str) -> str:
    """Name a placement: the memory, what was written, and where."""
    return f"{memory}:{kind}:{path}"


def in_order(placements: list[Placement]) -> list[Placement]:
    """Sort placements as they stand in a block: the oldest first, ties by id."""
    return sorted(placements, key=lambda p: (p.created_at, p.id))
