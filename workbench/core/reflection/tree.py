"""How deep a reflection stands: it may cite reflections, and those others again (source 003, reflection trees)."""

from collections.abc import Callable, Iterable

from workbench.core.stream.memory import Memory

Find = Callable[[str], Memory | None]
"""Returns the memory that an id means, if any."""


def depth_of(memory: Memory, find: Find) -> int:
    """Return 0 for an observation, 1 for a reflection on observations, 2 for one on such reflections, and so on.

    What cannot be found counts as nothing, and so does a citation that leads back to where it came from.
    """
    return _depths(memory, find)[memory.id]


def depth_citing(citations: Iterable[str], find: Find) -> int:
    """Return the depth of a reflection that cites these: one more than the deepest of them."""
    cited = [memory for id in dict.fromkeys(citations) if (memory := find(id)) is not None]
    return 1 + max((depth_of(memory, find) for memory in cited), default=0)


def _depths(memory: Memory, find: Find) -> dict[str, int]:
    """Walk the tree without recursion, so that no chain of reflections is too long."""
    known: dict[str, int] = {}
    above: set[str] = set()
    waiting = [memory]
    while waiting:
        at = waiting[-1]
        if at.id in known:
            waiting.pop()
            continue
        if not at.is_synthetic:
            known[at.id] = 0
            continue
        cited = [found for id in dict.fromkeys(at.citations) if (found := find(id)) is not None]
        open_ones = [found for found in cited if found.id not in known and found.id not in above]
        if at.id not in above and [one for one in open_ones if one.id != at.id]:
            above.add(at.id)
            waiting += [one for one in open_ones if one.id != at.id]
            continue
        known[at.id] = 1 + max((known.get(found.id, 0) for found in cited if found.id != at.id), default=0)
        above.discard(at.id)
    return known
