"""From one file format to another, without a store."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath

from workbench.core.files.format import Format, Holds, Issue, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.formats import opening
from workbench.formats.exports import asked_by_name, export_format
from workbench.formats.shared.books import dated, memories_of, playbook_of

NOTHING = "Nothing was written."


@dataclass(frozen=True, slots=True)
class Converted:
    """The text in the new format, what was read, how many records went in and come out, and
    remarks.

    `written` is `None` when the new format is not read, so that its records cannot be counted.
    """

    text: str
    export_format: Format
    parsed: Parsed
    written: int | None
    remarks: tuple[str, ...] = ()

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What could not be taken; what a reader leaves in its file does not get into one of
        another format.
        """
        if self.export_format.name == self.parsed.format:
            return self.parsed.issues
        return tuple(
            replace(i, fate="left out") if i.fate == "kept" else i for i in self.parsed.issues
        )


def convert(
    source: Path,
    target: PurePath,
    now: datetime,
    *,
    read_as: str | None,
    write_as: str | None,
) -> Converted:
    """Read a file and return its records in another format.

    Raises `UnreadableFile` for a file that cannot be read, or `WorkbenchError` for formats that do
    not go together.
    """
    context = ReadContext(now=now, file=str(source))
    parsed = opening.read_file(source, format=read_as, context=context)
    _require_records(parsed, source)
    kind = export_format(write_as) if write_as else _asked_by_name(target, parsed)
    ready, remarks = _crossed(parsed, kind, source.stem, now)
    if kind.needs_times and kind.name != parsed.format:
        ready = replace(ready, playbooks=tuple(dated(book, now) for book in ready.playbooks))
    stays = kind.name == parsed.format and kind.reads
    text = kind.write(ready, opening.read_text(source) if stays else None)
    if kind.dialects is not None and not stays:
        remarks += kind.dialects.remarks(ready.playbooks[0], None)
    return Converted(
        text, kind, parsed, _count(kind, text, replace(context, file=target.name)), tuple(remarks)
    )


def _require_records(parsed: Parsed, source: Path) -> None:
    """Raise `UnreadableFile` when a file holds nothing of its format."""
    if parsed.records_read:
        return
    first = next(iter(parsed.issues), None)
    places = f"{len(parsed.issues):,} places are" if len(parsed.issues) > 1 else "1 place is"
    why = f" {places} none; the first is line {first.line}: {first.what}." if first else ""
    title = format_named(parsed.format).title
    raise UnreadableFile(f"{source} has no records of the format {title}.{why}", NOTHING)


def _asked_by_name(target: PurePath, parsed: Parsed) -> Format:
    holds: Holds = "playbook" if parsed.playbooks else "memories" if parsed.memories else "queries"
    found = asked_by_name(target.suffix.lower(), holds)
    if found is None:
        raise WorkbenchError(
            f"The format is not clear from the name {target.name}.",
            f"{NOTHING} Give it with --to.",
        )
    return found


def _crossed(parsed: Parsed, kind: Format, name: str, now: datetime) -> tuple[Parsed, list[str]]:
    """Return the records as the kind that a format holds."""
    if kind.holds == "queries":
        if not parsed.queries:
            raise WorkbenchError(f"No judgments to write as {kind.title}.", NOTHING)
        return parsed, []
    if not parsed.memories and not parsed.playbooks:
        raise WorkbenchError(f"A query set cannot be written as {kind.title}.", NOTHING)
    if kind.holds == "playbook" and not parsed.playbooks:
        book = playbook_of(parsed.memories, name)
        return replace(parsed, playbooks=(book,), memories=()), [
            "Memories became bullets; a playbook has no types, tags, times or importance."
        ]
    if kind.holds == "memories" and not parsed.memories:
        made = tuple(
            memory
            for book in parsed.playbooks
            for memory in memories_of(book, now, retired=kind.loses_nothing)
        )
        return replace(parsed, memories=made, playbooks=()), [
            "Bullets became confirmed procedural memories."
        ]
    return parsed, []


def _count(kind: Format, text: str, context: ReadContext) -> int | None:
    if not kind.reader:
        return None
    try:
        return format_named(kind.reader).read(text, context).records_read
    except UnreadableFile:
        return 0
