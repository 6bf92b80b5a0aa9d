"""Names as agents are given them: an id that is no plain name, or that speaks, is served under an
alias.

The alias is made of the id, so it is always the same, and `show` and `vote` take it.
"""

import re
from collections.abc import Callable
from hashlib import blake2b

from workbench.core.safety import Finding
from workbench.core.stream.memory import Memory
from workbench.services.safety.masking import is_made
from workbench.store.library import Library

PREFIX = "alias-"
LONGEST = 100

_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:/@+#\-]*[A-Za-z0-9])?")


def served_name(name: str, look: Callable[[str], tuple[Finding, ...]]) -> str:
    """Return an id or a session as an agent may see it; `look` tells what a text holds."""
    if is_made(name):
        return name
    plain = len(name) <= LONGEST and _PLAIN.fullmatch(name) is not None
    return name if not name or (plain and not look(name)) else alias_of(name)


def alias_of(name: str) -> str:
    """Return what stands for a name that is not shown."""
    return PREFIX + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def called(library: Library, alias: str) -> Memory | None:
    """Return the memory whose alias this is; `None` when it is no alias, or of nothing."""
    if not alias.startswith(PREFIX):
        return None
    return next((memory for memory in library.memories.all() if alias_of(memory.id) == alias), None)
