"""A record or a document open over another place: its text with links, and the usual keys on it."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from textual import work
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from workbench.core.document import to_doc
from workbench.core.record import WorkbenchError, parse_time, without
from workbench.core.stream.memory import FILE_KEY
from workbench.core.text import in_words, printable
from workbench.services.safety.masking import masked_name
from workbench.tui.actions import LINKS, OPENED, SHOWN_ON_ROW, on_row
from workbench.tui.agents.documents import rows_of, text_of
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import asking
from workbench.tui.playbook.pane import bullet_text
from workbench.tui.records.actions import FILE, Acts, Links, Place
from workbench.tui.safety import FLAGGED, STYLE, FlaggedMemories
from workbench.tui.stream.memory_view import detail
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body, joined, key_of, keyed, muted
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import absolute
from workbench.tui.widgets.reading_pane import ReadingPane

READING = muted("Reading …")
ROOM = 90
"""Cells of a path that a title shows at most; of a longer one its end."""

NO_RECORD = "That key acts on a memory or a bullet. {agents.documents} in Agents edits a document."
NOT_KEPT = (
    "{} is not a document of this store. {agents.documents} in Agents lists those, and {documents.follow} there "
    "follows another folder."
)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.ASCII)

_NAMES = {
    "importance_score": "importance",
    "observation_type": "type",
    "session_id": "session",
    "is_synthetic": "created by a reflection",
    "created_at": "made",
    "last_accessed_at": "read last",
    "last_feedback_at": "voted on last",
    "access_count": "times read",
    "archived_reason": "archived as",
    "accumulated_importance": "importance since the last reflection",
    "observations_since_last": "memories since the last reflection",
    "last_reflection_at": "last reflection",
}
"""What fields are called where their own name with spaces says too little."""


class OpenedRecord(Dialog[None]):
    """One memory, bullet or document in full, over the place where somebody came upon it.

    With `rev` it is shown as it was right after that revision; its keys act on the record as it is
    now.
    """

    BINDINGS = bindings((*OPENED, *on_row()))
    DEFAULT_CSS = """
    OpenedRecord {
        & > .dialog { width: 110; height: 90%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { max-height: 2; margin: 0; }
        & .dialog--keys { margin: 0; }
        & ReadingPane { height: 1fr; padding: 0; }
    }
    """

    def __init__(
        self, area: AreaScreen, place: Place, path: tuple[str, ...], rev: int | None = None
    ) -> None:
        then = "" if rev is None else f" as it was at revision {rev}"
        self._path = (*path, f"{masked_name(place[1], area.bench.safety.masked)}{then}")
        shown = LINKS[:1] + LINKS[2:] + (() if place[0] == FILE else SHOWN_ON_ROW)
        super().__init__(path_told(self._path), (*shown, OPENED[-1]))
        self._area, self._place, self._rev = area, place, rev
        self._unfolded = False
        self._flagged = FlaggedMemories(area)
        self._pane = ReadingPane(id="opened")
        self.acts = Acts(self, lambda: self._place, then=self._show, missing=keyed(NO_RECORD))
        self._pane.links = Links(
            self._pane, area.bench, lambda: place, lambda: self._path, endless=True
        )

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
        """Show the record as it is now; a document, or the past, is read away from the keyboard."""
        if not self.is_attached:
            return
        if self._place[0] == FILE or self._rev is not None:
            self._read()
            return
        bench, width = self._area.bench, self._pane.scrollable_content_region.width or 60
        try:
            if self._place[0] == "memories":
                memory = bench.stream.get(self._place[1])
                text = detail(bench, memory, self._flagged.flags_of(memory), width)
            else:
                text = bullet_text(bench, self._place[1], width)
        except WorkbenchError as error:
            text = muted(str(error))
        if text.plain != self._pane.plain:
            self._pane.show(text, keep_place=True)

    @work(exclusive=True)
    async def _read(self) -> None:
        self._pane.show(READING)
        read = document_text if self._rev is None else self._text_then
        self._pane.show(await asyncio.to_thread(read, self._area, self._place[1]))

    def _text_then(self, area: AreaScreen, _name: str) -> Content:
        assert self._rev is not None
        try:
            record = area.bench.history.at_revision(self._place, self._rev)
        except WorkbenchError as error:
            return muted(str(error))
        shown = record if self._unfolded else area.bench.safety.shown(record)
        return record_text(shown, opens="" if shown == record else key_of("opened.unfold"))

    def action_unfold(self) -> None:
        """Show a text that is folded as unsafe, or the secrets of a record as it was."""
        memory = self._area.bench.library.memories.find(self._place[1])
        self._unfolded = True
        if self._rev is not None or (memory is not None and self._flagged.unfold(memory)):
            self._show()

    @asking
    async def action_undo(self) -> None:
        """Take back this person's latest change."""

        def told(undone: str) -> None:
            self._area.workbench_app.say(undone)
            self._show()

        await self._area.workbench_app.take_back(told)


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
        return muted(keyed(NOT_KEPT).replace("{}", area.bench.safety.masked(name)))
    return text_of(named, area.bench)


# Every field of a record as it was.


def name_of(field: str) -> str:
    return _NAMES.get(field) or field.replace("_", " ")


def record_text(record: object, *, opens: str = "") -> Content:
    """Return every field of a record, its text first; `opens` is the key that shows the secrets
    masked in it.
    """
    doc = to_doc(record)
    text = doc.pop("content", None)
    lines = [secrets_told(opens)] if opens else []
    lines += [body(text), BLANK] if isinstance(text, str) else []
    lines += [
        assemble([(f"{printable(name_of(name))}: ", MUTED)]) + body(value_text(value))
        for name, value in doc.items()
    ]
    return joined(*lines)


def secrets_told(opens: str) -> Content:
    parts = [
        (f"{FLAGGED} Secrets are masked. ", STYLE),
        (opens, "bold $text-accent"),
        (" shows them.", MUTED),
    ]
    return assemble(parts)


def value_text(value: object) -> str:
    """Return a value in one line of words, without how a file was laid out."""
    if isinstance(value, Mapping):
        value = without(value, FILE_KEY)
    return in_words(value, _time_or_text) or "–"


def _time_or_text(text: str) -> str:
    return absolute(parse_time(text)) if _TIME.fullmatch(text) else text
