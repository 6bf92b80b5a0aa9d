"""A record or a document open over another place: its text with links, and the usual keys on it."""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from textual import work
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from workbench.core.playbook.book import Bullet
from workbench.core.record import WorkbenchError
from workbench.services.safety.masking import masked_name
from workbench.tui.agents.documents import rows_of, text_of
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import asking
from workbench.tui.playbook.changes import BulletChanges
from workbench.tui.playbook.pane import bullet_text
from workbench.tui.records.links import FILE, Acts, ChangingHands, Links, Place
from workbench.tui.safety import FlaggedMemories
from workbench.tui.stream.changes import Changes, Picked
from workbench.tui.stream.memory_view import detail, surroundings
from workbench.tui.widgets.actions import LINKS, OPENED, SHOWN_ON_ROW, on_row
from workbench.tui.widgets.content import MUTED, keyed
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.lists.reading_pane import ReadingPane

# What a key does to one bullet, wherever it is listed.


NOT_PROMOTED = "Bullets are served with their playbook: X in the Playbook exports it to a file."


class OneBullet:
    """The bullet that a change is for, where there are no marks."""

    def __init__(self, area: AreaScreen, bullet: Bullet) -> None:
        self._area = area
        self._bullet = bullet

    @property
    def book(self) -> str:
        """The id of its playbook."""
        return self._bullet.book

    def ids(self) -> list[str]:
        return [self._bullet.id]

    def one(self) -> Bullet:
        return self._bullet

    def done(self, sentence: str, _ids: Sequence[str] = ()) -> None:
        self._area.workbench_app.say(sentence)


class BulletHands(ChangingHands):
    """Changes one bullet as the Playbook does; `key` is `BOOK/ID`."""

    def __init__(self, area: AreaScreen, key: str) -> None:
        book, _, id = key.rpartition("/")
        bullet = area.bench.playbooks.bullet(book, id)
        self._changes = BulletChanges(area, OneBullet(area, bullet))
        super().__init__(area, key, self._changes, bullet.content)

    async def forget(self) -> None:
        await self._changes.delete()

    def promote(self) -> None:
        """Say how bullets reach agents."""
        self._area.workbench_app.say(NOT_PROMOTED)


# What a key does to one memory, wherever it is listed.


class MemoryHands(ChangingHands):
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


READING = Content.styled("Reading …", MUTED)
ROOM = 90
"""Cells of a path that a title shows at most; of a longer one its end."""


class Shows(Protocol):
    """Makes the text of what is open, as wide as there is room; raises `WorkbenchError` where it is gone."""

    def __call__(self, width: int) -> Content:
        """Return the text."""


class OpenedRecord(Dialog[None]):
    """One memory, bullet or document in full, over the place where somebody came upon it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*OPENED, *on_row()))
    DEFAULT_CSS = """
    OpenedRecord {
        & > .dialog { width: 110; height: 90%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { max-height: 2; margin: 0; }
        & .dialog--keys { margin: 0; }
        & ReadingPane { height: 1fr; padding: 0; }
    }
    """

    def __init__(self, area: AreaScreen, place: Place, path: tuple[str, ...]) -> None:
        self._path = (*path, masked_name(place[1], area.bench.safety.masked))
        shown = LINKS[:1] + LINKS[2:] + (() if place[0] == FILE else SHOWN_ON_ROW)
        super().__init__(path_told(self._path), (*shown, OPENED[-1]))
        self._area, self._place = area, place
        self._flagged = FlaggedMemories(area)
        self._pane = ReadingPane(id="opened")
        self.acts = Acts(lambda: self, lambda _what: self._place, then=self._show, missing=keyed(NO_RECORD))
        self._pane.links = Links(self._pane, area.bench, lambda: place, lambda: self._path, endless=True)

    def contents(self) -> tuple[Widget, ...]:
        return (self._pane,)

    def on_mount(self) -> None:
        """Show it, once there is room."""
        self._pane.focus()
        self.call_after_refresh(self._show)

    def action_read_on(self) -> None:
        self._pane.action_page_down()

    def on_resize(self) -> None:
        """Show it for the width there is."""
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        """Show the record as it is now; a document is read away from the keyboard."""
        if not self.is_attached:
            return
        if self._place[0] == FILE:
            self._read()
            return
        width = self._pane.scrollable_content_region.width or 60
        try:
            text = self._memory(width) if self._place[0] == "memories" else self._bullet(width)
        except WorkbenchError as error:
            text = Content.styled(str(error), MUTED)
        if text.plain != self._pane.plain:
            self._pane.show(text, keep_place=True)

    def _memory(self, width: int) -> Content:
        bench = self._area.bench
        memory = bench.stream.get(self._place[1])
        return detail(memory, surroundings(bench, memory, self._flagged.flags_of(memory), width))

    def _bullet(self, width: int) -> Content:
        return bullet_text(self._area.bench, self._place[1], width)

    @work(exclusive=True)
    async def _read(self) -> None:
        self._pane.show(READING)
        self._pane.show(await asyncio.to_thread(document_text, self._area, self._place[1]))

    def action_unfold(self) -> None:
        """Show a text that is folded as unsafe."""
        memory = self._area.bench.library.memories.find(self._place[1])
        if memory is not None and self._flagged.unfold(memory):
            self._show()

    @asking
    async def action_undo(self) -> None:
        """Take back this person's latest change."""

        def told(undone: str) -> None:
            self._area.workbench_app.say(undone)
            self._show()

        await self._area.workbench_app.take_back(told)


NO_RECORD = "That key acts on a memory or a bullet. {agents.documents} in Agents edits a document."
NOT_KEPT = (
    "{} is no document that agents keep here. {agents.documents} in Agents lists those, and {documents.follow} there "
    "follows another folder."
)


def open_over(screen: Screen[Any], area: AreaScreen, place: Place, path: tuple[str, ...]) -> None:
    """Open a record or a document over the present place."""
    screen.app.push_screen(OpenedRecord(area, place, path))


def path_told(path: tuple[str, ...]) -> str:
    """Return how one came to a place, as a title; of a long way its end."""
    kept = list(path)
    while len(kept) > 2 and sum(len(name) + 3 for name in kept) > ROOM:
        kept.pop(0)
    return " › ".join(kept if len(kept) == len(path) else ["…", *kept])


def document_text(area: AreaScreen, name: str) -> Content:
    """Return the text of the document that is called so, or say that none is; on any thread."""
    rows, _ = rows_of(area.bench)
    ending = f"/{name.removeprefix('~').lstrip('/')}"
    found = [row for row in rows if row.document is not None and row.section is None]
    named = next((row for row in found if f"{row.folder}/{row.path}".endswith(ending)), None)
    if named is None:
        return Content.styled(keyed(NOT_KEPT).replace("{}", area.bench.safety.masked(name)), MUTED)
    return text_of(named, area.bench)
