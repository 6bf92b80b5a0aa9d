"""The undo key: at once for what was done in sight, after a question for what was done elsewhere."""

import time
from collections.abc import Callable

from workbench.core.record import WorkbenchError
from workbench.services.context import Touched
from workbench.services.health.history import Upcoming
from workbench.tui.app.areas import AREAS
from workbench.tui.app.host import Host
from workbench.tui.widgets.figures import since


class Undoing:
    """Knows in which area each change of this window was made, and whether a run of undos was agreed to."""

    def __init__(self, app: Host) -> None:
        self._app = app
        self._made: dict[int, str] = {}
        self._agreed = ""

    def note(self, touched: Touched, area: str) -> None:
        """Take notice of a transaction of whoever acts here, made while an area was open; an edit ends a run."""
        if touched.kind != "access":
            self._made[touched.rev] = area
        if touched.kind == "edit":
            self.end_run()

    def end_run(self) -> None:
        """Ask again before the next change is taken back that was made out of sight."""
        self._agreed = ""

    async def undo(self, area: str, told: Callable[[str], None] | None = None) -> None:
        """Take back the latest change; one that was made out of sight only after a yes, which holds for a run.

        The run is over when something is changed, or another area is opened. `told` is told what was taken back
        instead of the app.
        """
        await self._undo(area, lambda rev: self._made.get(rev) == area, told or self._app.say)

    async def undo_within(self, since: int, told: Callable[[str], None]) -> None:
        """Take back the latest change from a dialog: what was made before revision `since`, when that opened, as above.

        What is behind a dialog is out of sight there, and so is what another window does meanwhile.
        """
        await self._undo(f"since {since}", lambda rev: rev > since and rev in self._made, told)

    async def _undo(self, place: str, is_here: Callable[[int], bool], told: Callable[[str], None]) -> None:
        app = self._app
        with app.reporting():
            found = app.bench.history.upcoming()
            if found is None or self._agreed == place or is_here(found.rev):
                app.change(lambda: self._take_back(told))
            elif await self._agree(found):
                self._agreed = place
                app.change(lambda: self._take_back(told, found))

    def _take_back(self, told: Callable[[str], None], asked: Upcoming | None = None) -> None:
        history = self._app.bench.history
        if asked is not None and (now := history.upcoming()) != asked:
            what = "nothing" if now is None else f"“{now.label}”"
            raise WorkbenchError(f"Meanwhile the latest change is {what}.", "Nothing was taken back; press it again.")
        undone = history.undo()
        self._app.clear_notifications()  # that this key takes it back is no longer so
        told(f"Undone: {undone}")

    async def _agree(self, found: Upcoming) -> bool:
        from workbench.tui.widgets.content import body
        from workbench.tui.widgets.dialog import Confirm

        app = self._app
        masked = app.bench.safety.masked
        made = self._made.get(found.rev)
        at = since(found.at, app.bench.context.now())
        place = "in another window, or before this one was opened" if made is None else f"in {AREAS.get(made).title}"
        told = body(f"It was done {place}, {at}. While you go on undoing here, you are not asked again.")
        question = f"Take back “{masked(found.label)}”?"
        confirm = Confirm(question, clock=time.monotonic, detail=told, yes="take back")
        answer: bool | None = await app.push_screen_wait(confirm)
        return bool(answer)
