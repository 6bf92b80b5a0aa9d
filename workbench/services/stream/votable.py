"""What a person or an agent means by the name of a memory or bullet."""

from workbench.core.agents.actors import stands_by
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidRecord, UnknownRecord
from workbench.core.stream.memory import Memory
from workbench.safety.scanning import mask
from workbench.services.context import Context
from workbench.services.safety.masking import PREFIX, masked_name
from workbench.services.safety.masking import called as called_by_alias

_NAMED, _BEGINNING = 5, 6
"""Ids that are named where a short one stands for several; and characters that the beginning of one
has at least.
"""


def find_votable(context: Context, name: str) -> Memory | Bullet:
    """Return the memory or bullet called `name` (`ID`, `BOOK/ID`, or what is shown for an id that
    is a secret).

    Of a person a part of one id will do: `252` or `mem-252` for `mem-20261121-0000252`, or the
    beginning of another. Raises `UnknownRecord`, or `InvalidRecord` when several are called so.
    """
    library = context.library
    memory = library.memories.find(name)
    if memory is not None:
        return memory
    if name in library.bullets:
        return library.bullets.get(name)
    if (aliased := called_by_alias(library, name)) is not None:
        return aliased
    if name.startswith(PREFIX):
        every: list[Memory | Bullet] = [*library.memories.all(), *library.bullets.all()]
        for record in every:
            if masked_name(record.id, mask) == name:
                return record
    called = [b for b in library.bullets.all() if name in (b.id, *b.aliases)]
    # What carries the name itself comes before what only has it as a name of old.
    found = [b for b in called if b.id == name] or called
    if len(found) > 1:
        names = ", ".join(f"{b.book}/{b.id}" for b in found)
        raise InvalidRecord(
            f"{name} is a bullet of several playbooks: {names}.", "Name one of them."
        )
    return found[0] if found else _shortened(context, name)


def _shortened(context: Context, name: str) -> Memory | Bullet:
    every: list[Memory | Bullet] = [*context.library.memories.all(), *context.library.bullets.all()]
    # Agents could guess at ids that they are not given.
    found = (
        [record for record in every if _is_short(name, record.id)]
        if stands_by(context.actor)
        else []
    )
    if not found:
        raise UnknownRecord(
            f"There is no memory or bullet {name} in this store.", "Nothing was changed."
        )
    if len(found) > 1:
        names = ", ".join(masked_name(record.id, mask) for record in found[:_NAMED])
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        raise InvalidRecord(f"{name} stands for several: {names}{more}.", "Name one of them.")
    return found[0]


def _is_short(name: str, id: str) -> bool:
    """Tell whether a name is the number of an id, with zeros or not and what stands before, or a
    beginning of it.
    """
    head, _, number = name.rpartition("-")
    last = id.rpartition("-")[2]
    if last.isdecimal():
        return number.isdecimal() and number.lstrip("0") == last.lstrip("0") and id.startswith(head)
    return len(name) >= _BEGINNING and id.startswith(name)
