"""The indexes over the patterns of a store, each kept until a pattern changes."""

from workbench.core.agents.patterns.pattern import Pattern, Status
from workbench.retrieval.patterns import PatternIndex
from workbench.store.library import Library, Touched


class PatternIndexes:
    """Makes an index over the patterns that stand in some way, once, and again when one of them changed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[frozenset[Status], PatternIndex] = {}
        self._is_following = False

    def of(self, statuses: frozenset[Status]) -> PatternIndex:
        """Return the index over the patterns that stand so."""
        if not self._is_following:
            self._is_following = True
            self._library.listen(self._forget)
        found = self._known.get(statuses)
        if found is None:
            found = self._known[statuses] = PatternIndex(self._library.table(Pattern).all(), statuses)
        return found

    def _forget(self, touched: Touched) -> None:
        if any(table == "patterns" for table, _ in touched.keys):
            self._known = {}
