"""Everything that can be written: the formats that are read as well, and the plain ones for other programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.core.errors import UnreadableFile
from workbench.formats.model import WriteText
from workbench.formats.plain import block, data, prose
from workbench.formats.plain.reading import NAME as RECORDS
from workbench.formats.registry import ALIASES, FORMATS

Holds = Literal["playbook", "memories", "either", "queries"]


@dataclass(frozen=True, slots=True)
class Outlet:
    """One kind of file to write: its name, what it can hold, and the usual ending of its name.

    `reads` tells that a file that is there already can be changed in place; `inside` that it is written into a file
    of somebody else, of which everything but our part stays. `reader` is the format that reads it back, if any.
    """

    name: str
    title: str
    holds: Holds
    write: WriteText
    suffix: str = ".txt"
    reads: bool = False
    inside: bool = False
    reader: str = ""


_HOLDS: Mapping[str, tuple[Holds, str]] = {
    "lifecycle": ("memories", ".jsonl"),
    "ace": ("playbook", ".txt"),
    "queries": ("queries", ".jsonl"),
    "skillbook": ("playbook", ".json"),
    "cass": ("playbook", ".yaml"),
    "semantic-patterns": ("memories", ".json"),
    "learnings": ("memories", ".md"),
    "mcp-memory": ("memories", ".jsonl"),
    "letta": ("memories", ".af"),
    "external-overview": ("memories", ".md"),
    "external-detail": ("memories", ".md"),
    "external-messages": ("memories", ".jsonl"),
    "trec-qrels": ("queries", ".qrels"),
}

_PLAIN = (
    Outlet("json", "JSON", "either", data.write_json, ".json", reader=RECORDS),
    Outlet("yaml", "YAML", "either", data.write_yaml, ".yaml", reader=RECORDS),
    Outlet("csv", "CSV table", "either", data.write_csv, ".csv", reader=RECORDS),
    Outlet("markdown", "Markdown", "either", prose.write_markdown, ".md", reader=RECORDS),
    Outlet("prompt", "prompt text", "either", prose.write_prompt, ".txt"),
    Outlet("block", "managed block in a Markdown file", "either", block.write_block, ".md", inside=True),
    Outlet("prompt-counts", "prompt text with counts", "either", prose.write_prompt_with_counts, ".txt"),
)

OUTLETS: tuple[Outlet, ...] = (
    *(
        Outlet(f.name, f.title, *_HOLDS[f.name][:1], f.write, _HOLDS[f.name][1], reads=True, reader=f.name)
        for f in FORMATS
        if f.write is not None
    ),
    *_PLAIN,
)
"""All of them, those that are read too first."""


def outlet(name: str) -> Outlet:
    """Return the outlet called `name`. Raises `UnreadableFile` when there is none."""
    own = {known.name for known in OUTLETS}
    wanted = name if name in own else ALIASES.get(name, name)
    for known in OUTLETS:
        if known.name == wanted:
            return known
    raise UnreadableFile(f"There is no format “{name}” to write.", f"Known ones: {', '.join(names())}.")


def names() -> tuple[str, ...]:
    """Return the names a person may give."""
    return ("ace", "jsonl", *(o.name for o in OUTLETS if o.name not in ("ace", "lifecycle")), "lifecycle")
