"""The ids and files that a text names, as links: found when somebody looks for them, opened over the text."""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from textual.content import Content
from textual.screen import Screen

from workbench.core.named import implementation
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_name
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import started
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.lists.reading_pane import Page, ReadingPane

# What the usual keys do to the record of the row under the cursor, whichever list the row is in.


Place = tuple[str, str]
"""Where a record is: its table and its key there."""

Here = Callable[[str], Place | None]
"""Returns where the record is that an act ("edit") is for, or `None` where the row under the cursor has none."""

ACTIONS = {
    "memories": "workbench.tui.records.actions:MemoryActions",
    "bullets": "workbench.tui.records.actions:BulletActions",
}
"""What carries the acts out, by the table of the record; a method is named after the act that it does."""

OPENS = "workbench.tui.records.record:open_over"
"""What opens a record or a document over the present place; its text has links, too."""

VOTES, READING = ("helpful", "harmful"), ("copy", "history")
"""The acts that are none while a slider has the keys, and those that change nothing and so hold there, too."""

TO_THE_ROWS = "That key acts on a list row: press tab to go there."

NO_RECORD = "That key acts on a memory or a bullet; this row is neither."


def only_record(places: Iterable[Place]) -> Place | None:
    """Return the memory or bullet that is the only one among the places of a change, or `None`."""
    found = {place for place in places if place[0] in ACTIONS}
    return found.pop() if len(found) == 1 else None


class Acts:
    """Brings the keys `e E + - p P d y h` to the record of the row under the cursor of a list.

    A screen, a dialog or a list of its own keeps one as its `acts`; actions of its table that run `act('edit')` and
    the like come here (`on_row` are those that all dialogs share). Where `here` finds no record
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
        if place is None or place[0] not in ACTIONS:
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
            done = getattr(implementation(ACTIONS[place[0]])(area, lambda: [place[1]]), what)()
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


FILE = "documents"
"""Where what a file's name names is, in place of a table."""

_NAME = re.compile(r"[\w~.][\w./:@+~-]*\w|\w")
_FILE = re.compile(r"\.(md|mdc|markdown|txt|json|jsonl|ya?ml|toml)$", re.IGNORECASE)
_LINK, _HERE = "underline", "reverse underline"


@dataclass(frozen=True, slots=True)
class Link:
    """Where a text names a record or a file, and which."""

    start: int
    end: int
    place: Place


def links_in(text: str, bench: Workbench, own: Place | None = None) -> list[Link]:
    """Return the records and files that a text names, without the one it is about (`own`)."""
    return [
        Link(match.start(), match.end(), place)
        for match in _NAME.finditer(text)
        if (place := _named(match.group(), bench)) is not None and place != own
    ]


def _named(name: str, bench: Workbench) -> Place | None:
    """Return what a word names; a word without a digit is a word, whatever some record is called."""
    if _FILE.search(name):
        return (FILE, name)
    if not any(letter.isdigit() for letter in name):
        return None
    if bench.library.memories.find(name) is not None:
        return ("memories", name)
    if name in bench.library.bullets:
        return ("bullets", name)
    keys = (f"{line.book.id}/{name}" for line in bench.playbooks.books())
    found = next((key for key in keys if key in bench.library.bullets), None)
    return None if found is None else ("bullets", found)


class Links:
    """The links of one pane: tab goes from one to the next, enter opens one over the present place.

    `own` is the record that the pane shows, `path` how one came there, as the title of what is opened says.
    With `endless` the first follows the last, where the key means nothing else around the text.
    """

    def __init__(
        self,
        page: Page,
        bench: Workbench,
        own: Callable[[], Place | None],
        path: Callable[[], tuple[str, ...]],
        *,
        endless: bool = False,
    ) -> None:
        self._page, self._bench = page, bench
        self._own, self._path = own, path
        self._endless = endless
        self._plain = Content("")
        self._found: list[Link] = []
        self._at = -1

    def go(self, step: int) -> bool:
        """Go to the next link, or the one before; False where there is none any more."""
        self._look()
        count = len(self._found)
        at = self._at + step if self._at >= 0 or step > 0 else count - 1
        if self._endless and count:
            at %= count
        if not 0 <= at < count:
            self._leave()
            return False
        self._at = at
        self.draw()
        self._page.reveal(self._found[at].end)
        return True

    def step(self, step: int) -> bool:
        """Go to the next link or the one before, but not beyond the last or the first; False there."""
        self._look()
        return 0 <= self._at + step < len(self._found) and self.go(step)

    @property
    def is_on_one(self) -> bool:
        """Whether the cursor is on a link; where it was on none, the text is not looked through."""
        return self._at >= 0 and self.current is not None

    @property
    def current(self) -> Place | None:
        """What the link under the cursor names."""
        self._look()
        return self._found[self._at].place if self._at >= 0 else None

    def follow(self) -> bool:
        """Open what the link under the cursor names; False where the cursor is on none."""
        self._look()
        if self._at < 0:
            return False
        screen = self._page.screen
        implementation(OPENS)(screen, area_below(screen), self._found[self._at].place, self._path())
        return True

    def _look(self) -> None:
        """Find the links, unless they are those of the text that is shown."""
        text = self._page.text
        if text.plain != self._plain.plain:
            here = self._found[self._at].place if self._at >= 0 else None
            self._plain, self._found = text, links_in(text.plain, self._bench, self._own())
            self._at = next((n for n, link in enumerate(self._found) if link.place == here), -1)

    def _leave(self) -> None:
        if self._at >= 0:
            self._at = -1
            self.draw()

    def draw(self) -> None:
        """Draw the links in the page, where others may have been drawn before."""
        text = self._plain
        for place, link in enumerate(self._found):
            text = text.stylize(_HERE if place == self._at else _LINK, link.start, link.end)
        self._page.draw_anew(text)


def links_of(area: AreaScreen, page: Page, own: Callable[[], Place | None], endless: bool = False) -> Links:
    """Return the links of a pane of an area: what is opened names the area, then the record they were found in."""
    mask = area.bench.safety.masked

    def path() -> tuple[str, ...]:
        place = own()
        return (area.area.title, *([] if place is None else [masked_name(place[1], mask)]))

    return Links(page, area.bench, own, path, endless=endless)


def linked_pane(id: str, bench: Workbench, path: Callable[[], tuple[str, ...]]) -> ReadingPane:
    """Return a pane for a text that is no record's own, with links to what it names."""
    pane = ReadingPane(id=id)
    pane.links = Links(pane, bench, lambda: None, path)
    return pane
