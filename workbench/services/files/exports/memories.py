"""Which memories an exported file holds: what an agent reads never holds what nobody approved."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import ExportFormat, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.stream.memory import ARCHIVED_FROM, Memory
from workbench.core.text import counted
from workbench.formats.shared.records import file_part
from workbench.services.context import Context
from workbench.services.files.exports.choice import Choice


def chosen_memories(
    context: Context, kind: ExportFormat, choice: Choice, own: str | None, path: Path | None
) -> tuple[list[Memory], tuple[str, ...]]:
    """Return the memories for a file, and remarks on how they were chosen; `own` is what the file at `path` holds now.

    In a format for agents there are only signals and what was confirmed or promoted, and nothing from the future,
    unless `all_status` is given. A record that was read from such a file stays in it whatever its status.
    """
    everything = tuple(context.library.memories.all())
    inside = _ids_in(context, kind, own, path) if own is not None else frozenset[str]()
    found, remarks = _asked_for(kind, choice, everything, inside)
    if choice.min_helpful is not None:
        found = [m for m in found if m.helpful_count >= (choice.min_helpful or 0)]
    if kind.carries_status:
        return found, remarks
    if choice.all_status:
        return found, remarks
    kept = [m for m in found if _may_be_read(context, m) or _is_its_own(kind, m, inside)]
    ids = {memory.id for memory in kept}
    return kept, (*remarks, *_said(context, [m for m in found if m.id not in ids]))


def _asked_for(
    kind: ExportFormat, choice: Choice, everything: Sequence[Memory], inside: frozenset[str]
) -> tuple[list[Memory], tuple[str, ...]]:
    """Return the memories that a filter found; without one those of the file, of such files, or all."""
    if choice.memories is not None:
        ids = {memory.id for memory in choice.memories}
        return [m for m in everything if m.id in ids], ()
    if kind.carries_status or choice.all_status or not kind.reads:
        return list(everything), ()
    living = [m for m in everything if not _was_archived_here(m)]
    if mine := [m for m in living if m.id in inside]:
        return mine, ()
    if from_such := [m for m in living if file_part(m, kind.name) is not None]:
        return from_such, (
            f"{counted(len(from_such), 'memory', 'memories')} that came from such a file; --filter chooses others.",
        )
    return list(everything), ("Everything that an agent may be served; --filter chooses others.",)


def _ids_in(context: Context, kind: ExportFormat, own: str, path: Path | None) -> frozenset[str]:
    if not kind.reads:
        return frozenset()
    place = str(path or "")
    try:
        found = format_named(kind.name).read(own, ReadContext(now=context.now(), file=place, path=place))
    except UnreadableFile:
        return frozenset()
    return frozenset(memory.id for memory in found.memories)


def _may_be_read(context: Context, memory: Memory) -> bool:
    return memory.status in ("signal", "confirmed", "promoted") and memory.created_at <= context.now()


def _is_its_own(kind: ExportFormat, memory: Memory, inside: frozenset[str]) -> bool:
    """Tell a record that came into the store from this file and that nobody archived since."""
    return memory.id in inside and file_part(memory, kind.name) is not None and not _was_archived_here(memory)


def _was_archived_here(memory: Memory) -> bool:
    """Tell a memory that was forgotten, rejected or merged from one that its own file calls done."""
    return memory.status == "archived" and ARCHIVED_FROM in memory.metadata


def _said(context: Context, left_out: Iterable[Memory]) -> tuple[str, ...]:
    why = Counter("future" if m.created_at > context.now() else _why(m) for m in left_out)
    if not why:
        return ()
    parts = ", ".join(f"{count:,} {word}" for word, count in sorted(why.items()))
    memories = counted(why.total(), "memory", "memories")
    return (f"{memories} left out, not approved for agents ({parts}); --all-status takes them along.",)


def _why(memory: Memory) -> str:
    return memory.archived_reason or memory.status
