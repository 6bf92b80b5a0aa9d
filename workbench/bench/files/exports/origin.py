"""The text of the file that records came from: a copy under another name keeps what stands beside them in it."""

from collections.abc import Iterator
from pathlib import Path

from workbench.bench.context import Context
from workbench.bench.files.states import FileStates
from workbench.core.errors import UnreadableFile
from workbench.formats import registry
from workbench.formats.model import Parsed, ReadContext
from workbench.formats.outlets import Outlet
from workbench.formats.shared.records import file_part


def origin_of(context: Context, states: FileStates, kind: Outlet, parsed: Parsed) -> str | None:
    """Return the text that the store and the one file had in common from which all records of this kind came.

    `None` when they came from several files or from one of another format, or when the text was not kept.
    """
    if parsed.playbooks:
        source = parsed.playbooks[0].book.source
        return states.base_as(kind, Path(source)) if source else None
    wanted = {memory.id for memory in parsed.memories if file_part(memory, kind.name) is not None}
    found = list(_holding(context, states, kind, wanted)) if wanted else []
    return found[0] if len(found) == 1 else None


def _holding(context: Context, states: FileStates, kind: Outlet, wanted: set[str]) -> Iterator[str]:
    """Yield the kept texts of a format that hold all of some memories."""
    for path in states.paths():
        text = states.base_as(kind, path)
        if text is None:
            continue
        try:
            held = registry.format_named(kind.name, context.formats).read(
                text, ReadContext(now=context.now(), file=str(path), path=str(path))
            )
        except UnreadableFile:
            continue
        if wanted <= {memory.id for memory in held.memories}:
            yield text
