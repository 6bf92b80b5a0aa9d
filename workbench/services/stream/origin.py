"""Which texts came in by import: read from the journal, the only witness that nobody can have edited since."""

from collections.abc import Collection

from workbench.core.record import ABSENT
from workbench.services.safety.secret_filter import IMPORT, strings
from workbench.store.entry import DocChange
from workbench.store.history import needle_of
from workbench.store.library import Library
from workbench.store.records import key_of

Place = tuple[str, str]


def imported_texts(library: Library, places: Collection[Place]) -> dict[Place, frozenset[str]]:
    """Return every text that the records at `places` had when an import made them; others are left out.

    One pass back over the journal, whatever the number of places. Purged texts are not there any more.
    """
    wanted = set(places)
    found: dict[Place, frozenset[str]] = {}
    # For one record only the lines that name it are read; for many, all.
    only = needle_of(next(iter(wanted))[1]) if len(wanted) == 1 else None
    for entry in library.changes_back(only) if wanted else ():
        if not entry.group.startswith(IMPORT) or entry.kind not in ("edit", "redo"):
            continue
        for change in entry.changes:
            place = _made(change)
            if place in wanted:
                texts = (text for _, after in change.fields.values() if after is not ABSENT for text in strings(after))
                found[place] = found.get(place, frozenset()).union(texts)
        if len(found) == len(wanted):
            break
    return found


def _made(change: DocChange) -> Place | None:
    """Return the record that a change made, or `None` when it made none or was purged."""
    if change.op != "insert" or change.redacted:
        return None
    doc = {name: after for name, (_, after) in change.fields.items() if after is not ABSENT}
    key = key_of(change.table, doc)
    return None if key is None else (change.table, key)
