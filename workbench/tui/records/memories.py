"""What a key does to one memory, wherever it is listed."""

from workbench.tui.app.area import AreaScreen
from workbench.tui.records.acts import ChangingHands
from workbench.tui.stream.changes import Changes, Picked


class MemoryHands(ChangingHands):
    """Changes one memory as the Stream does."""

    def __init__(self, area: AreaScreen, key: str) -> None:
        memory = area.bench.stream.get(key)
        self._changes = Changes(area, Picked(lambda: memory, lambda: [memory.id], lambda: None))
        super().__init__(area, memory.id, self._changes, memory.content)

    async def forget(self) -> None:
        """Forget it; an archived one is restored instead."""
        await self._changes.forget()

    def promote(self) -> None:
        """Promote it: written where agents read it, after a look at the text."""
        self._changes.promote()
