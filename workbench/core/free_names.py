"""Names of which none is given twice."""

from collections.abc import Iterable


class FreeNames:
    """Gives names: one that is taken goes on with the next free number, from 2.

    However often one name is asked for, a number is tried once only.
    """

    def __init__(self, taken: Iterable[str] = (), *, joined: str = "-") -> None:
        self._taken = set(taken)
        self._joined = joined
        self._next: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """Return `wanted`, or what it is called when that is taken; from now on it is."""
        name, number = wanted, self._next.get(wanted, 2)
        while name in self._taken:
            name, number = f"{wanted}{self._joined}{number}", number + 1
        self._next[wanted] = number
        self._taken.add(name)
        return name
