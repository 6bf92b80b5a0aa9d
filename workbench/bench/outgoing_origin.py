"""The text of the file that records came from: a copy under another name keeps what stands beside them in it."""

from collections.abc import Iterator
from pathlib import Path

from workbench.bench.context import Context
from workbench.bench.filebase import FileBases
from workbench.core.errors import UnreadableFile
from workbench.formats import registry
from workbench.formats.model import Parsed, ReadContext
from workbench.formats.outlets import Outlet
from workbench.formats.records import file_part


def origin_of(context: Context, kind: Outlet, parsed: Parsed) -> str | None:
    """Return the text that the store and the one file had in common from which all records of this kind came.

    `None` when they came from several files or from one of another format, or when the text was not kept.
    """
    bases = FileBases(context.library.folder)
    if parsed.playbooks:
        source = parsed.playbooks[0].book.source
        text = bases.text(Path(source)) if source else None
        return text if text is not None and _is_of(kind, text) else None
    wanted = {memory.id for memory in parsed.memories if file_part(memory, kind.name) is not None}
    found = list(_holding(context, bases, kind, wanted)) if wanted else []
    return found[0] if len(found) == 1 else None


def _holding(context: Context, bases: FileBases, kind: Outlet, wanted: set[str]) -> Iterator[str]:
    """Yield the kept texts of a format that hold all of some memories."""
    for path in bases.paths():
        text = bases.text(path)
        if text is None or not _is_of(kind, text):
            continue
        try:
            held = registry.format_named(kind.name).read(
                text, ReadContext(now=context.now(), file=str(path), path=str(path))
            )
        except UnreadableFile:
            continue
        if wanted <= {memory.id for memory in held.memories}:
            yield text


def _is_of(kind: Outlet, text: str) -> bool:
    return any(found.format == kind.name for found in registry.detect("", text))
