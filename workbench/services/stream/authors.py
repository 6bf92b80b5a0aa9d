"""Who stored the texts of memories, as the clause `actor:` asks: what the journal says, kept as long as it holds."""

import threading

from workbench.core.agents.provenance import Provenance
from workbench.core.stream.filter import Clause, Filter, Predicate, fits
from workbench.services.context import Context

_ALSO = {"person": ("human", "me"), "reflection": ("reflector",)}
"""What else a kind of source may be called."""


class Authors:
    """Tells memories by who stored them. The first question reads the journal back; any thread may ask."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._names: tuple[int, dict[str, tuple[str, ...]]] | None = None

    def tests(self, chosen: Filter) -> list[Predicate]:
        """Return the tests of a filter's clauses about actors.

        As long as the store was not read, nothing passes them: who stored a memory is not known then.
        """
        return [self._test(clause) for clause in chosen.actors]

    def _test(self, clause: Clause) -> Predicate:
        return lambda memory: self._context.library.is_read and fits(clause, self._known().get(memory.id, ()))

    def _known(self) -> dict[str, tuple[str, ...]]:
        library = self._context.library
        with self._lock:
            if self._names is None or self._names[0] != library.revision:
                from workbench.services.safety.provenance import provenances  # few filters ask for it

                rev, memories = library.revision, library.memories.all()
                self._names = rev, {id: _names(one) for id, one in provenances(self._context, memories).items()}
            return self._names[1]


def _names(source: Provenance) -> tuple[str, ...]:
    """Return what a source can be asked for by: its kind, its name, and both, in folded case."""
    name = source.name.casefold()
    return (source.kind, *_ALSO.get(source.kind, ()), *((name, f"{source.kind}:{name}") if name else ()))
