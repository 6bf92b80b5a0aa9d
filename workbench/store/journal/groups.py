"""Groups of transactions: numbering their parts, and which ones never came to their end."""

from collections import OrderedDict
from collections.abc import Mapping

from workbench.store.entry import Transaction

_KNOWN = 256


class Groups:
    """What is known of the latest groups. `unfinished` maps a group to its label."""

    def __init__(self, unfinished: Mapping[str, str]) -> None:
        self.unfinished = dict(unfinished)
        self._parts: OrderedDict[str, int] = OrderedDict()

    def part(self, entry: Transaction) -> int:
        """Return the number of a new part: the one it has, or the next one when that is taken."""
        known = self._parts.get(entry.group, 0) if entry.group and entry.kind == "edit" else 0
        return max(entry.part, known + 1)

    def apply(self, entry: Transaction) -> None:
        """Take a committed transaction into account."""
        if not entry.group:
            return
        if entry.kind == "edit":
            self._parts[entry.group] = max(entry.part, self._parts.pop(entry.group, 0))
            while len(self._parts) > _KNOWN:
                self._parts.popitem(last=False)
        if entry.kind == "edit" and entry.more:
            self.unfinished[entry.group] = entry.label
        else:
            self.unfinished.pop(entry.group, None)
