"""The editor for a stored text: what is saved is what was shown."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar, overload

from textual.events import Paste
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea
from textual.widgets.text_area import (
    DocumentBase,
    DocumentNavigator,
    EditResult,
    Location,
    Selection,
    WrappedDocument,
)

from workbench.config.drafts import digest
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import room_for
from workbench.core.text import clean_for_store, printable
from workbench.tui.actions import EDITOR, OTHER
from workbench.tui.app import area
from workbench.tui.app.actions import Action, bindings
from workbench.tui.app.host import Drafting
from workbench.tui.app.waiting import change
from workbench.tui.widgets.content import MUTED, keyed
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount, number, since

R = TypeVar("R")

IN_DANGER = 1.0
"""Seconds that typed text is in danger at most."""


def shown(line: str) -> str:
    """Return a line as it is drawn: inert, and of the same number of characters (tabs stay)."""
    return (
        line
        if line.isascii() and line.isprintable()
        else "\t".join(map(printable, line.split("\t")))
    )


class InertDocument(DocumentBase):
    """A document that gives inert lines to whoever draws or wraps them, and its true text to
    `text`.

    Only line feeds part lines (CR LF where the whole text uses it), so nothing else changes by
    editing.
    """

    start = (0, 0)

    def __init__(self, text: str) -> None:
        self.take_newline(text)
        self._stored = text.split(self.newline)

    def take_newline(self, text: str) -> None:
        """Part lines from now on as a text does."""
        windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
        self._part: Literal["\r\n", "\n"] = "\r\n" if windows else "\n"

    @property
    def newline(self) -> Literal["\r\n", "\n"]:
        return self._part

    @property
    def text(self) -> str:
        return self._part.join(self._stored)

    @property
    def lines(self) -> list[str]:
        return [shown(line) for line in self._stored]

    @property
    def line_count(self) -> int:
        return len(self._stored)

    @property
    def end(self) -> Location:
        return len(self._stored) - 1, len(self._stored[-1])

    def get_line(self, index: int) -> str:
        return self[index]

    def get_text_range(self, start: Location, end: Location) -> str:
        (top, left), (bottom, right) = sorted((start, end))
        found = self._stored[top : bottom + 1]
        if bottom < len(self._stored):
            found[-1] = found[-1][:right]
        found[0] = found[0][left:]
        return self._part.join(found)

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace what lies between two places; parts lines as the document does, so that an undo
        is exact.
        """
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range((top, left), (bottom, right))
        new = (text if self._part == "\n" else text.replace("\r\n", "\n")).split("\n")
        before, after = (
            self._stored[row] if row < len(self._stored) else "" for row in (top, bottom)
        )
        column = len(new[-1]) + (left if len(new) == 1 else 0)
        new[0] = before[:left] + new[0]
        new[-1] += after[right:]
        self._stored[top : bottom + 1] = new
        return EditResult((top + len(new) - 1, column), replaced)

    def get_size(self, indent_width: int) -> Size:
        """Return the size of the text as it is drawn."""
        widths = [len(line.expandtabs(indent_width)) for line in self.lines]
        return Size(max(widths, default=0), len(widths))

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        found = self._stored[line_index]
        return shown(found) if isinstance(found, str) else [shown(line) for line in found]


class InertTextArea(TextArea):
    """Textual's `TextArea` for stored text: inert on the screen, unchanged underneath."""

    class Stripped(Message):
        """A paste held `count` control characters, which were left out."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, text: str) -> None:
        super().__init__(
            "",
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
        )
        self.cursor_blink = False
        self._inert = self.document = InertDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)

    def load_text(self, text: str) -> None:
        """Show another text from its end, with no edits to undo."""
        self._inert.take_newline(text)
        self.replace(text, self.document.start, self.document.end)
        self.history.clear()
        self.move_cursor(self.document.end)

    def on_paste(self, event: Paste) -> None:
        """Paste what the terminal brings."""
        event.prevent_default()
        event.stop()
        self._put(event.text)

    def action_paste(self) -> None:
        """Paste what was copied in the app."""
        self._put(self.app.clipboard)

    def _put(self, pasted: str) -> None:
        """Put a text in place of the selection, without control characters; say how many those
        were.
        """
        text = clean_for_store(pasted.replace("\r\n", "\n").replace("\r", "\n"))
        kept = "".join(c for c in text if c in "\n\t" or not _is_control(c))
        self.move_cursor(self.replace(kept, *self.selection).end_location)
        if len(kept) < len(text):
            self.post_message(self.Stripped(len(text) - len(kept)))

    def undo(self) -> None:
        """Take the latest edits back."""
        self._leave_lines(self.history.undo_stack)
        super().undo()
        self.scroll_cursor_visible()

    def redo(self) -> None:
        """Do the edits again that were taken back."""
        self._leave_lines(self.history.redo_stack)
        super().redo()
        self.scroll_cursor_visible()

    def _leave_lines(self, edits: Sequence[object]) -> None:
        """Go to the start before edits take lines away: Textual looks for the cursor meanwhile."""
        if edits:
            self.set_reactive(TextArea.selection, Selection.cursor(self.document.start))
            self.refresh()


def _is_control(char: str) -> bool:
    return ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0


Said = tuple[str, str]
"""A sentence and its style."""


class Writing(Dialog[R]):
    """A dialog in which a text is written, with a line that says how it stands.

    What is typed is kept as a draft (`draft`), which comes back after the app was stopped; it ends
    with saving and with leaving. Leaving with unsaved changes, or a restored draft out of sight,
    takes esc twice.
    """

    DEFAULT_CSS = """
    Writing .dialog--state { height: auto; max-height: 4; }
    """
    is_restored = stale = False
    limit: int

    def __init__(self, title: str, offered: Iterable[Action], draft: Drafting | None) -> None:
        super().__init__(title, offered)
        self.draft = draft
        self._due: Timer | None = None
        self.unkept = ""
        self.warned = False

    @property
    def unsaved(self) -> bool:
        """Whether anything differs from what was given."""
        raise NotImplementedError

    def keep(self, draft: Drafting) -> str:
        """Keep what is typed, or drop the draft; return why that failed, or nothing."""
        raise NotImplementedError

    def save(self) -> None:
        """Take what is written, or say why it cannot be taken."""
        raise NotImplementedError

    def show_state(self) -> None:
        """Say how much room is left."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        """Keep what is typed when the app ends in mid-edit."""
        if self._due is not None:
            self._keep()

    def keep_soon(self) -> None:
        """Keep what is typed in a moment, and again while more is typed."""
        if self.draft is not None and self.draft.folder is not None and self._due is None:
            self._due = self.set_timer(IN_DANGER, self._keep)

    def _keep(self) -> None:
        self._due, before = None, self.unkept
        if self.draft is not None:
            self.unkept = self.keep(self.draft)
        if self.unkept != before and self.is_mounted:
            self.show_state()

    def restored_said(self, when: str, *, stale: bool) -> None:
        """Say that a draft was brought back."""
        changed = " What is stored was changed since." if stale else ""
        keys = keyed("{editor.other}: what is stored, and back; esc twice discards it.")
        self.tell(
            f"Restored: you typed this {when} and did not save it.{changed} {keys}",
            "$text-warning",
        )

    def end(self, result: R | None) -> None:
        """Close with a result; the draft has done its duty."""
        if self._due is not None:
            self._due.stop()
            self._due = None
        if self.draft is not None:
            self.draft.drop()
        self.dismiss(result)

    def action_save(self) -> None:
        """Save; while others write to the store, this stays and waits."""
        change(self, self.save, self.complain)

    def action_cancel(self) -> None:
        if (self.unsaved or self.is_restored) and not self.warned:
            self.warned = True
            self.tell(
                keyed("Unsaved: esc again discards, {editor.save} saves."), "bold $text-warning"
            )
        else:
            self.end(None)

    def on_inert_text_area_stripped(self, event: InertTextArea.Stripped) -> None:
        """Say what a paste lost."""
        some = amount(event.count, "control character was", "control characters were")
        self.tell(f"{some} left out of the paste.", "$text-warning")

    def unready(self, text: str) -> str:
        """Return why a text is not to be saved yet, or nothing."""
        if not text.strip():
            return "The text is empty. Esc leaves it as it was."
        if (over := len(text) - self.limit) > 0:
            return f"The text is {number(over)} characters too long."
        if self.stale and self.unsaved:
            self.stale = False
            return keyed(CHANGED_SINCE)
        return ""

    def room_left(self, text: str, *said: str) -> Said:
        """Return how much room a text leaves, behind what is to be said first."""
        left = self.limit - len(text)
        kept = f"no draft is kept ({self.unkept})" if self.unkept else ""
        room = (
            f"✗ {number(-left)} characters too long"
            if left < 0
            else f"{number(left)} characters left"
        )
        told = " · ".join(filter(None, (*said, kept, room)))
        return told, MUTED if left >= 0 else "$text-error"


CHANGED_SINCE = (
    "What is stored was changed since you typed this: {editor.other} shows it, "
    "{editor.save} again replaces it."
)


class TextEditor(Writing[str | None]):
    """Edit a text; the result is the new text, or None when it was left.

    An unchanged text comes back exactly as it was given. `check` may refuse a text with a sentence,
    or with an error that says why; with an empty one something is asked first, and saving is told
    again. `typed` is what was written in its place already, elsewhere. `told` says something of the
    text while it is written, by default how much room is left. A record has a form: see
    `tui.forms`.
    """

    BINDINGS = bindings(EDITOR)
    DEFAULT_CSS = """
    TextEditor {
        & > .dialog { width: 90%; height: 80%; }
        & InertTextArea { height: 1fr; background: $background; padding: 0 1; }
    }
    """

    def __init__(
        self,
        title: str,
        text: str,
        *,
        limit: int | None = None,
        check: Callable[[str], str | None] = lambda _: None,
        typed: str | None = None,
        draft: Drafting | None = None,
        told: Callable[[str], Said] | None = None,
    ) -> None:
        found = draft.find() if draft is not None and typed is None else None
        self._restored = found if found is not None and found.text != text else None
        self._start = (
            typed
            if typed is not None
            else self._restored.text
            if self._restored is not None
            else text
        )
        super().__init__(
            title,
            [a for a in EDITOR if a.show or (a is OTHER and self._restored is not None)],
            draft,
        )
        self._text = text
        self._written = self._start
        self.stale = self._restored is not None and not self._restored.is_of(text)
        self.limit = limit or room_for(text)
        self._check = check
        self._told = told or self._room_left
        self.is_restored = self._restored is not None

    def contents(self) -> Iterable[Widget]:
        """Return the text area and the line of its state."""
        return (InertTextArea(self._start), self.state)

    def on_mount(self) -> None:
        """Put the cursor behind the text, and say where a restored one comes from."""
        self._area.move_cursor(self._area.document.end)
        if self._restored is None or self.draft is None:
            self.show_state()
            if self.unsaved:
                self.keep_soon()
        else:
            self.restored_said(since(self._restored.at, self.draft.clock()), stale=self.stale)

    @property
    def _area(self) -> InertTextArea:
        return self.query_one(InertTextArea)

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the one given."""
        return self._area.text != self._text

    def on_text_area_changed(self, _event: TextArea.Changed) -> None:
        """Count what is left, and keep what is typed in a moment."""
        self.warned = False
        if self.unsaved or self._restored is None:
            self._written = self._area.text
        self.show_state()
        self.keep_soon()

    def keep(self, draft: Drafting) -> str:
        if self._written == self._text:
            draft.drop()
            return self.unkept
        stale = self._restored if self.stale else None
        return draft.keep(self._written, digest(self._text) if stale is None else stale.base)

    def action_other(self) -> None:
        """Show what is stored in place of a restored draft, and the other way round."""
        if self._restored is None:
            return
        self._area.load_text(self._text if self.unsaved else self._written)

    def action_external(self) -> None:
        """Open the text in the person's own editor, and take what was saved there."""
        try:
            saved = area.edit(self.app, self._area.text)
        except WorkbenchError as error:
            self.complain(error)
        else:
            if saved is not None:
                self._area.load_text(saved)

    def save(self) -> None:
        text = self._area.text
        problem = self.unready(text) or self._check(text)
        if problem:
            self.complain(problem)
        elif problem is None:
            self.end(text)

    def show_state(self) -> None:
        self.tell(*self._told(self._area.text))

    def _room_left(self, text: str) -> Said:
        return self.room_left(text, "● changed" if self.unsaved else "")
