"""All formats, in the order of asking.

A new format is one module with a `FORMAT`, and its line here. A line only names the format: what
nobody reads or writes is not loaded.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.record import UnreadableFile
from workbench.core.runtime import implementation

if TYPE_CHECKING:
    from workbench.core.files.format import Detection, Format

_ENTRIES = (
    "workbench.formats.lifecycle:FORMAT",
    "workbench.formats.ace:FORMAT",
    "workbench.formats.queries:FORMAT",
    "workbench.formats.streams:LIST_FORMAT",
    "workbench.formats.streams:OBJECT_FORMAT",
    "workbench.formats.skillbook:FORMAT",
    "workbench.formats.cass:FORMAT",
    "workbench.formats.patterns:FORMAT",
    "workbench.formats.learnings:FORMAT",
    "workbench.formats.beads:FORMAT",
    "workbench.formats.mcp:FORMAT",
    "workbench.formats.mem0:FORMAT",
    "workbench.formats.letta:FORMAT",
    "workbench.formats.claude_memory:FORMAT",
    "workbench.formats.instructions:FORMAT",
    "workbench.formats.notes:FORMAT",
    "workbench.formats.claude_mem:FORMAT",
    "workbench.formats.claude_mem:DATABASE_FORMAT",
    "workbench.formats.external:OVERVIEW_FORMAT",
    "workbench.formats.external:DETAIL_FORMAT",
    "workbench.formats.external:FORMAT",
    "workbench.formats.queries:QRELS_FORMAT",
    "workbench.formats.queries:RUN_FORMAT",
    "workbench.formats.ace_replies:USAGE_LOG_FORMAT",
    "workbench.formats.ace_replies:REPLIES_FORMAT",
    "workbench.formats.ace_replies:OPERATIONS_FORMAT",
    "workbench.formats.plain_read:FORMAT",
    "workbench.formats.json_lines:FORMAT",
)


@cache
def known_formats() -> "tuple[Format, ...]":
    """Return all formats, in the order of asking."""
    from workbench.core.files.replacing import tolerant

    return tuple(tolerant(implementation(entry)) for entry in _ENTRIES)


ALIASES: Mapping[str, str] = {
    "jsonl": "lifecycle",
    **dict.fromkeys(("json", "yaml", "csv", "markdown"), "records"),
}
"""What the formats to write are called where they are read under another name."""

HEAD = 65_536
"""How many characters of a file are looked at to tell its format."""

SURE = 0.3
"""Below this confidence a file is of no known format."""


def format_named(name: str) -> "Format":
    """Return the format called `name`, or read under that name. Raises `UnreadableFile` when there
    is none.
    """
    for known in known_formats():
        if known.name == ALIASES.get(name, name):
            return known
    raise UnreadableFile(f"Unknown format “{name}”.", f"Known formats: {format_names()}.")


def detect(path: str | Path, text: str) -> "tuple[Detection, ...]":
    """Return the formats `text` may have, the likeliest first; empty when it is none of them."""
    from workbench.core.files.format import Detection

    head = text.removeprefix("\ufeff")[:HEAD]
    asked = ((known.name, known.detect(head, str(path))) for known in known_formats())
    found = [Detection(name, *sure) for name, sure in asked if sure and sure[0] >= SURE]
    return tuple(sorted(found, key=lambda one: -one.confidence))


def format_names() -> str:
    """Return the names of all of them, as part of a sentence."""
    return ", ".join(known.name for known in known_formats())
