"""Which texts are archived or purged in a store, for a hook that does not load it.

This machine keeps the marks of those texts beside the head of the store, with a place in the journal. Where a later
line archives or purges something, or the journal does not go on from there, the store is read and they are kept anew.
"""

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from workbench.core.files.atomic import write_file
from workbench.core.record import StoreProblem
from workbench.store.identity import Identity, beside_head, can_keep, key_in, mark_of
from workbench.store.journal import segments
from workbench.store.journal.codec import mark_of as checksum_of
from workbench.store.journal.segments import NAME, Position, mark_fits

_FAR = 1 << 16
"""Bytes of the journal that are looked through again and again at most."""

_TELLING = (b'"archived"', b'"purge"')
"""What stands in every line that archives or purges something."""


def may_hold(folder: Path, heads: Path | None, text: str) -> bool:
    """Tell whether a text is that of an archived or purged record of a store, or was until lately.

    `heads` is where this machine remembers what it stored. A store that cannot be read holds none, nor does one of
    which nothing can be kept there: it would be read whole each time. Nor does one that is not trusted: a stranger is
    not to say what is stored.
    """
    try:
        active = segments.open_active(folder)
        if active is None:
            return False
        with active[0] as journal:
            key = key_in(heads)
            path = None if heads is None else beside_head(heads, active[1].store, folder, "archived")
            known = b"" if path is None else _known(folder, path, journal, active[1].start)
            if not known and heads is not None and not can_keep(heads):
                return False
            if mark_of(text, key).encode() not in (known or _read_anew(folder, heads, key, path)):
                return False
            about = Identity(heads, folder)
            about.look_through()
            return about.trust.trusted
    except (OSError, StoreProblem):
        return False


def _known(folder: Path, path: Path, journal: BinaryIO, start: int) -> bytes:
    """Return the marks that were kept, nothing where they may not be all."""
    try:
        data = path.read_bytes()
        first, place, mark = data.partition(b"\n")[0].decode().split()
        offset, follows = int(place), int(first) == start
    except (OSError, ValueError):
        return b""
    if not follows or not mark_fits(folder / NAME, Position(offset), mark):
        return b""
    journal.seek(offset)
    later = journal.read()
    if any(telling in later for telling in _TELLING):
        return b""
    if len(later) > _FAR and later.endswith(b"\n"):
        _keep(path, f"{start} {offset + len(later)} {checksum_of(later[:-1])}", data.partition(b"\n")[2])
    return data


def _read_anew(folder: Path, heads: Path | None, key: bytes, path: Path | None) -> bytes:
    """Read the store for the marks, and keep them if they can be kept."""
    from workbench.store.journal.engine import Options, open_journal

    options = Options(checkpoint_every=0, adds=True)
    tables, stamp = open_journal(folder, options=options, heads=heads).cut()
    texts = (str(doc.get("content")) for doc in tables.get("memories", {}).values() if doc.get("status") == "archived")
    purged = (mark for doc in tables.get("purged", {}).values() for mark in doc.get("marks", ()))
    data = "\n".join((*(mark_of(text, key) for text in texts), *purged, "")).encode()
    if path is not None:
        _keep(path, f"{stamp.start} {stamp.offset} {stamp.mark}", data)
    return data


def _keep(path: Path, place: str, marks: bytes) -> None:
    """Keep the marks up to a place; where that fails, they are read again."""
    with suppress(OSError):
        write_file(path, f"{place}\n".encode() + marks)
