"""Everything that can be written: the formats that are read as well, and the plain ones for other
programs.
"""

from workbench.core.files.format import ExportFormat, Format, Holds, WriteText
from workbench.core.files.formats import ALIASES, known_formats
from workbench.core.record import UnreadableFile
from workbench.formats import plain as block
from workbench.formats import plain as data
from workbench.formats import plain as prose
from workbench.formats.plain_read import NAME as RECORDS


def _data(name: str, title: str, write: WriteText, *endings: str) -> ExportFormat:
    return ExportFormat(
        name,
        title,
        "either",
        write,
        endings[0],
        reader=RECORDS,
        endings=endings,
        carries_status=True,
    )


def _prompt(
    name: str, title: str, write: WriteText, suffix: str, *, inside: bool = False
) -> ExportFormat:
    return ExportFormat(name, title, "either", write, suffix, inside=inside, is_prompt=True)


_PLAIN = (
    _data("json", "JSON", data.write_json, ".json"),
    _data("yaml", "YAML", data.write_yaml, ".yaml", ".yml"),
    _data("csv", "CSV table", data.write_csv, ".csv"),
    ExportFormat(
        "markdown",
        "Markdown",
        "either",
        prose.write_markdown,
        ".md",
        reader=RECORDS,
        endings=(".md",),
    ),
    _prompt("prompt", "prompt text", prose.write_prompt, ".txt"),
    _prompt("block", "managed block in a Markdown file", block.write_block, ".md", inside=True),
    _prompt("prompt-counts", "prompt text with counts", prose.write_prompt_with_counts, ".txt"),
)


def _of(one: Format, write: WriteText) -> ExportFormat:
    return ExportFormat(
        one.name, one.title, one.holds, write, one.suffix, reads=True, reader=one.name, endings=one.endings,
        loses_nothing=one.loses_nothing, carries_status=one.carries_status, needs_times=one.needs_times,
        dialects=one.dialects, by_topic=one.by_topic,
    )  # fmt: skip


OUTLETS = (
    *(_of(format, format.write) for format in known_formats() if format.write is not None),
    *_PLAIN,
)
"""Everything that can be written, what is read too first."""

_BY_NAME = {kind.name: kind for kind in OUTLETS}


def export_format(name: str) -> ExportFormat:
    """Return the outlet called `name`. Raises `UnreadableFile` when there is none."""
    found = _BY_NAME.get(name) or _BY_NAME.get(ALIASES.get(name, name))
    if found is None:
        raise UnreadableFile(
            f"Unknown export format “{name}”.", f"Known ones: {', '.join(names())}."
        )
    return found


def asked_by_name(ending: str, holds: Holds) -> ExportFormat | None:
    """Return what the ending of a file's name asks for, `None` for nothing: rather what is made for
    such records.
    """
    asked = [kind for kind in OUTLETS if ending in kind.endings]
    return min(
        asked, key=lambda kind: (holds, "either", kind.holds).index(kind.holds), default=None
    )


def names() -> tuple[str, ...]:
    others = (kind.name for kind in OUTLETS if kind.name not in ("ace", "lifecycle"))
    return ("ace", "jsonl", *others, "lifecycle")
