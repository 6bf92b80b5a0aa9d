"""When a memory came into this store and from which file, where what it tells of was earlier or elsewhere."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from workbench.core.record import iso, parse_time
from workbench.core.stream.memory import APPROVED, FILE_KEY, Memory

ARRIVED = "arrived"
"""Metadata key of when a memory came into the store, as ISO 8601; left out where that was when it was made."""

IMPORT = "import"
"""Key in `FILE_KEY` of an import: its time (`at`), the file (`path`), and a trusted status that only the file states
(`as`)."""


def imported(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return what is known of the import that brought a memory; empty when none did."""
    file = metadata.get(FILE_KEY)
    found = file.get(IMPORT) if isinstance(file, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def brought(memory: Memory, path: str, now: datetime, *, before: Memory | None = None) -> Memory:
    """Return a memory as an import stores it, in place of the one `before`."""
    status = memory.status
    part = {"at": iso(now)} if before is None else {**imported(before.metadata)}
    part["path"] = path
    if status in APPROVED and (before is None or before.status != status):
        part["as"] = status
    file = memory.metadata.get(FILE_KEY)
    metadata = {**memory.metadata, FILE_KEY: {**(file if isinstance(file, Mapping) else {}), IMPORT: part}}
    return replace(memory, metadata=metadata)


def unmarked(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata of a memory without what is known of its import."""
    file = metadata.get(FILE_KEY)
    if not isinstance(file, Mapping) or IMPORT not in file:
        return metadata
    kept = {key: value for key, value in file.items() if key != IMPORT}
    rest = {key: value for key, value in metadata.items() if key != FILE_KEY}
    return {**rest, FILE_KEY: kept} if kept else rest


def stood_by(memory: Memory) -> Memory:
    """Return a memory whose status is by now a person's own word, whatever a file said first."""
    part = imported(memory.metadata)
    if "as" not in part:
        return memory
    kept = {key: value for key, value in part.items() if key != "as"}
    file = memory.metadata[FILE_KEY]
    assert isinstance(file, Mapping)
    return replace(memory, metadata={**memory.metadata, FILE_KEY: {**file, IMPORT: kept}})


def arrived(memory: Memory) -> datetime:
    """Return from when on a memory waits for a person: when it came here, else when it was made."""
    said = memory.metadata.get(ARRIVED) or imported(memory.metadata).get("at")
    try:
        at = parse_time(said) if isinstance(said, str) else memory.created_at
    except ValueError:
        return memory.created_at
    return max(at, memory.created_at)
