"""What the usual keys do to the record of the row under the cursor, whichever list the row is in."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from textual.screen import Screen

from workbench.core.named import implementation
from workbench.core.stream.vote import Verdict
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.asking import started
from workbench.tui.widgets.bars.slider import Slider

Place = tuple[str, str]
"""Where a record is: its table and its key there."""

Here = Callable[[str], Place | None]
"""Returns where the record is that an act ("edit") is for, or `None` where the row under the cursor has none."""

HANDS = {
    "memories": "workbench.tui.records.memories:MemoryHands",
    "bullets": "workbench.tui.records.bullets:BulletHands",
}
"""What carries the acts out, by the table of the record."""

OPENS = "workbench.tui.records.record:open_over"
"""What opens a record or a document over the present place; its text has links, too."""

VOTES, READING = ("helpful", "harmful"), ("copy", "history")
"""The acts that are none while a slider has the keys, and those that change nothing and so hold there, too."""

TO_THE_ROWS = "That key is for a row of the list: tab goes there."

NO_RECORD = "That key is for a memory or a bullet; this row is none."


def only_record(places: Iterable[Place]) -> Place | None:
    """Return the memory or bullet that is the only one among the places of a change, or `None`."""
    found = {place for place in places if place[0] in HANDS}
    return found.pop() if len(found) == 1 else None


class Hands(Protocol):
    """Carries out what a key says on one record; a method is named after the act it does."""

    def __init__(self, area: AreaScreen, key: str) -> None:
        """Take one record in hand. Raises `UnknownRecord` where it is gone."""

    def helpful(self) -> Any:
        """Vote helpful, or take that vote back."""

    def harmful(self) -> Any:
        """Vote harmful, or take that vote back."""

    def pin(self) -> Any:
        """Pin or unpin."""

    def forget(self) -> Any:
        """Let it go."""

    def edit(self) -> Any:
        """Edit it here."""

    def external(self) -> Any:
        """Edit it in the person's own editor."""

    def copy(self) -> Any:
        """Put its text on the clipboard."""

    def history(self) -> Any:
        """Show every change of it."""

    def promote(self) -> Any:
        """Put it where agents read it."""


class RecordChanges(Protocol):
    """Changes what somebody picked, after asking where that is due, and says what was done."""

    def vote(self, verdict: Verdict) -> None:
        """Vote, or take that vote back."""

    def pin(self) -> None:
        """Pin or unpin."""

    async def edit(self) -> None:
        """Edit here."""

    async def edit_externally(self) -> None:
        """Edit in the person's own editor."""


class ChangingHands:
    """What hands of every kind do alike: they leave it to the changes of their kind."""

    def __init__(self, area: AreaScreen, key: str, changes: RecordChanges, text: str) -> None:
        self._area, self._key, self._by, self._text = area, key, changes, text

    def helpful(self) -> None:
        """Vote helpful, or take that vote back."""
        self._by.vote("helpful")

    def harmful(self) -> None:
        """Vote harmful, or take that vote back."""
        self._by.vote("harmful")

    def pin(self) -> None:
        """Pin or unpin."""
        self._by.pin()

    async def edit(self) -> None:
        """Edit it here."""
        await self._by.edit()

    async def external(self) -> None:
        """Edit it in $EDITOR."""
        await self._by.edit_externally()

    def copy(self) -> None:
        """Copy its text."""
        self._area.copy(self._text)

    def history(self) -> None:
        """Show who changed it."""
        self._area.show_history(self._key)


class Acts:
    """Brings the keys `e E + - p P d y h` to the record of the row under the cursor of a list.

    A screen, a dialog or a list of its own keeps one as its `acts`; actions of its table that run `act('edit')` and
    the like come here (`ON_ROW` in `widgets/actions.py` are those that all dialogs share). Where `here` finds no record
    `missing` is said; `then` is called when an act is over, for what does not follow the store by itself.
    """

    def __init__(
        self,
        screen: Callable[[], Screen[Any]],
        here: Here,
        *,
        missing: str = NO_RECORD,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        self._screen = screen
        self._here = here
        self._missing = missing
        self._then = then

    async def __call__(self, what: str) -> None:
        """Do something to the record, so that keys typed ahead reach the dialog it may open."""
        screen, place = self._screen(), self._here(what)
        area = area_below(screen)
        if place is None or place[0] not in HANDS:
            area.workbench_app.say(self._missing)
        else:
            await started(screen, self._do(area, place, what))

    def open(self) -> None:
        """Open the record over the present place; where there is none, nothing happens."""
        screen, place = self._screen(), self._here("open")
        if place is not None:
            implementation(OPENS)(screen, area_below(screen), place, ())

    async def _do(self, area: AreaScreen, place: Place, what: str) -> None:
        with area.workbench_app.reporting():
            hands: Hands = implementation(HANDS[place[0]])(area, place[1])
            done = getattr(hands, what)()
            if inspect.isawaitable(done):
                await done
        self._then()


class ActsBesideSliders(Acts):
    """Those of a place with a slider: while that has the keys a vote is none, and records are only read."""

    async def __call__(self, what: str) -> None:
        """Do something to the record, where the list has the keys or nothing would be changed."""
        screen = self._screen()
        if not isinstance(screen.focused, Slider) or what in READING:
            await super().__call__(what)
        elif what not in VOTES:
            area_below(screen).workbench_app.say(TO_THE_ROWS)


def area_below(screen: Screen[Any]) -> AreaScreen:
    """Return the area that a screen is, or that a dialog is open over."""
    return next(one for one in reversed(screen.app.screen_stack) if isinstance(one, AreaScreen))
