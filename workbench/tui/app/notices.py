"""What the store has to say about itself, each sentence once."""

from workbench.bench.open import Workbench


class Notices:
    """Remembers what was said; looking again costs nothing while nothing happened."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._said: set[str] = set()
        self._seen: tuple[int, int] = (-1, -1)

    def fresh(self) -> list[str]:
        """Return the sentences that were not returned before. Raises `StoreProblem`."""
        library = self._bench.library
        seen = (len(library.notices), len(library.damage))
        if seen == self._seen and not library.unfinished:
            return []
        self._seen = seen
        new = [text for text in self._bench.care.notices() if text not in self._said]
        self._said.update(new)
        return new
