"""Everything that can be written: the formats that are read as well, and the plain ones for other programs."""

from functools import cache

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Outlet
from workbench.core.files.formats import ALIASES, FORMATS, Formats
from workbench.formats.plain import block, data, prose
from workbench.formats.plain.reading import NAME as RECORDS

_PLAIN = (
    Outlet("json", "JSON", "either", data.write_json, ".json", reader=RECORDS),
    Outlet("yaml", "YAML", "either", data.write_yaml, ".yaml", reader=RECORDS),
    Outlet("csv", "CSV table", "either", data.write_csv, ".csv", reader=RECORDS),
    Outlet("markdown", "Markdown", "either", prose.write_markdown, ".md", reader=RECORDS),
    Outlet("prompt", "prompt text", "either", prose.write_prompt, ".txt"),
    Outlet("block", "managed block in a Markdown file", "either", block.write_block, ".md", inside=True),
    Outlet("prompt-counts", "prompt text with counts", "either", prose.write_prompt_with_counts, ".txt"),
)


@cache
def outlets_of(formats: Formats) -> tuple[Outlet, ...]:
    """Return everything that can be written, what is read too first."""
    read_too = (
        Outlet(f.name, f.title, f.holds, f.write, f.suffix, reads=True, reader=f.name)
        for f in formats
        if f.write is not None
    )
    return (*read_too, *_PLAIN)


OUTLETS = outlets_of(FORMATS)
"""What the workbench's own formats can be written as."""


def outlet(name: str, formats: Formats = FORMATS) -> Outlet:
    """Return the outlet called `name`. Raises `UnreadableFile` when there is none."""
    known = {kind.name: kind for kind in outlets_of(formats)}
    found = known.get(name) or known.get(ALIASES.get(name, name))
    if found is None:
        raise UnreadableFile(f"There is no format “{name}” to write.", f"Known ones: {', '.join(names(formats))}.")
    return found


def names(formats: Formats = FORMATS) -> tuple[str, ...]:
    """Return the names a person may give."""
    others = (kind.name for kind in outlets_of(formats) if kind.name not in ("ace", "lifecycle"))
    return ("ace", "jsonl", *others, "lifecycle")
