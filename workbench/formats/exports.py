"""Everything that can be written: the formats that are read as well, and the plain ones for other
programs.
"""

from dataclasses import replace

from workbench.core.files.format import Format, Holds, WriteText
from workbench.core.files.formats import ALIASES, known_formats
from workbench.core.record import UnreadableFile
from workbench.formats import plain
from workbench.formats.plain_read import NAME as RECORDS


def _data(name: str, title: str, write: WriteText, *endings: str) -> Format:
    return Format(
        name, title, write=write, holds="either", suffix=endings[0], endings=endings,
        read_as=RECORDS, carries_status=True,
    )  # fmt: skip


def _prompt(
    name: str, title: str, write: WriteText, suffix: str = ".txt", *, inside: bool = False
) -> Format:
    return Format(
        name, title, write=write, holds="either", suffix=suffix, inside=inside, is_prompt=True
    )


OUTLETS = (
    *(format for format in known_formats() if format.writes),
    _data("json", "JSON", plain.write_json, ".json"),
    _data("yaml", "YAML", plain.write_yaml, ".yaml", ".yml"),
    _data("csv", "CSV table", plain.write_csv, ".csv"),
    replace(_data("markdown", "Markdown", plain.write_markdown, ".md"), carries_status=False),
    _prompt("prompt", "prompt text", plain.write_prompt),
    _prompt("block", "managed block in a Markdown file", plain.write_block, ".md", inside=True),
    _prompt("prompt-counts", "prompt text with counts", plain.write_prompt_with_counts),
)
"""Everything that can be written, what is read too first."""

_BY_NAME = {kind.name: kind for kind in OUTLETS}


def export_format(name: str) -> Format:
    """Return the outlet called `name`. Raises `UnreadableFile` when there is none."""
    found = _BY_NAME.get(name) or _BY_NAME.get(ALIASES.get(name, name))
    if found is None:
        raise UnreadableFile(
            f"Unknown export format “{name}”.", f"Known ones: {', '.join(names())}."
        )
    return found


def asked_by_name(ending: str, holds: Holds) -> Format | None:
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
