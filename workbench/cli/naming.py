"""Ids that a person gives a command: what they mean, and the nearest one where they mean nothing."""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from workbench.core.playbook.book import Bullet
from workbench.core.record import UnknownRecord, WorkbenchError
from workbench.core.stream.memory import Memory

if TYPE_CHECKING:
    from workbench.services.open import Workbench

MOST = 5_000
"""Ids that an unknown one is compared with; those that begin or end like it come first."""

UNCHANGED = "Nothing was changed."

R = TypeVar("R", Memory, Bullet)


def records(bench: "Workbench", ids: Sequence[str]) -> list[Memory | Bullet]:
    """Return the memories and bullets that ids mean, each once; raises `UnknownRecord`, which names
    the nearest id.
    """
    from workbench.services.stream.votable import find_votable

    found: list[Memory | Bullet] = []
    for id in dict.fromkeys(ids):
        try:
            record = find_votable(bench.context, id)
        except UnknownRecord as error:
            known = [
                record.id
                for table in (bench.library.memories, bench.library.bullets)
                for record in table.all()
            ]
            near = nearest(id, known)
            raise UnknownRecord(
                error.message, _hint("" if bench.safety.masked(near) != near else near)
            ) from error
        if record not in found:
            found.append(record)
    return found


def memories(bench: "Workbench", ids: Sequence[str]) -> list[Memory]:
    """Return the memories that ids mean, each once; raises `UnknownRecord`, and `WorkbenchError`
    for a bullet's.
    """
    return _only(Memory, "a bullet, not a memory", bench, ids)


def bullets(bench: "Workbench", ids: Sequence[str]) -> list[Bullet]:
    """Return the bullets that ids mean, each once; raises `UnknownRecord`, and `WorkbenchError` for
    a memory's.
    """
    return _only(Bullet, "a memory, not a bullet", bench, ids)


def _only(kind: type[R], other: str, bench: "Workbench", ids: Sequence[str]) -> list[R]:
    found = []
    for record in records(bench, ids):
        if not isinstance(record, kind):
            raise WorkbenchError(f"{record.id} is {other}.", UNCHANGED)
        found.append(record)
    return found


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the known id that is most like a name; empty when none is."""
    likely = [id for id in known if id[:4] == name[:4] or id[-4:] == name[-4:]][:MOST] or known[
        :MOST
    ]
    return next(iter(difflib.get_close_matches(name, likely, n=1)), "")


def _hint(near: str) -> str:
    return (
        f"{UNCHANGED} Did you mean {near}?"
        if near
        else f"{UNCHANGED} `workbench list` shows the memories."
    )
