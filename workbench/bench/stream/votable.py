"""What a person or an agent means by the name of a memory or bullet."""

from workbench.bench.agents.served_names import called as called_by_alias
from workbench.bench.context import Context
from workbench.bench.safety.masking import PREFIX, masked_name
from workbench.core.errors import InvalidRecord, UnknownRecord
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory
from workbench.safety.scanning import mask


def find_votable(context: Context, name: str) -> Memory | Bullet:
    """Return the memory or bullet called `name` (`ID`, `BOOK/ID`, or what is shown for an id that is a secret).

    Raises `UnknownRecord`, or `InvalidRecord` when several playbooks have such a bullet.
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
        raise InvalidRecord(f"{name} is a bullet of several playbooks: {names}.", "Name one of them.")
    if not found:
        raise UnknownRecord(f"There is no memory or bullet {name} in this store.", "Nothing was changed.")
    return found[0]
