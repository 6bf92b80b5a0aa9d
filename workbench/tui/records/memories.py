"""What a key does to one memory, wherever it is listed."""

from workbench.tui.app.area import AreaScreen
from workbench.tui.stream.changes import Changes, Picked


class MemoryHands:
    """Changes one memory as the Stream does."""

    def __init__(self, area: AreaScreen, key: str) -> None:
        self._area = area
        self._memory = area.bench.stream.get(key)
        self._changes = Changes(area, Picked(lambda: self._memory, lambda: [self._memory.id], lambda: None))

    def helpful(self) -> None:
        """Vote helpful, or take that vote back."""
        self._changes.vote("helpful")

    def harmful(self) -> None:
        """Vote harmful, or take that vote back."""
        self._changes.vote("harmful")

    def pin(self) -> None:
        """Pin or unpin."""
        self._changes.pin()

    async def forget(self) -> None:
        """Forget after a yes; an archived one is restored instead."""
        await self._changes.forget()

    async def edit(self) -> None:
        """Edit it here."""
        await self._changes.edit()

    async def external(self) -> None:
        """Edit it in $EDITOR."""
        await self._changes.edit_externally()

    def copy(self) -> None:
        """Copy its text."""
        self._area.copy(self._memory.content)

    def history(self) -> None:
        """Show who changed it."""
        self._area.show_history(self._memory.id)

    def promote(self) -> None:
        """Promote it: written where agents read it, after a look at the text."""
        from workbench.tui.promotion.dialog import open_promote

        open_promote(self._area, self._memory.id)
