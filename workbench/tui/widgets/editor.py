"""The editor for a stored text: what is saved is what was shown."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, cast, overload

from textual._wrap import compute_wrap_offsets
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.events import Paste
from textual.expand_tabs import get_tab_widths
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea
from textual.widgets.text_area import Document, DocumentNavigator, EditResult, Location, WrappedDocument

from workbench.config.drafts import digest
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import room_for
from workbench.core.text import clean_for_store, printable
from workbench.tui.actions import EDITOR, ELSEWHERE, OTHER
from workbench.tui.app import area
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Drafting, Keeping
from workbench.tui.app.waiting import change, survives
from workbench.tui.widgets.content import MUTED, body, keyed
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number, since

LONG, LONG_LINE = 50_000, 20_000
"""Characters of a text, and of a line of one, from which on it is not edited here: parting it into rows at each key
takes longer than a key may."""

HELD_HEAD = 2_000
"""Characters that are shown of a text that is not edited here."""


def is_long(text: str) -> bool:
    """Tell whether a text is too long to be edited in a text area."""
    return len(text) > LONG or (len(text) > LONG_LINE and max(map(len, text.split("\n"))) > LONG_LINE)


def shown(line: str) -> str:
    """Return a line as it is drawn: inert, and of the same number of characters (tabs stay)."""
    return line if line.isascii() and line.isprintable() else "\t".join(map(printable, line.split("\t")))


class InertDocument(Document):
    """A document that gives inert lines to whoever draws or wraps them, and its true text to `text`.

    Only line feeds part lines (CR LF where the whole text uses it), so nothing else changes by editing.
    """

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._newline = "\r\n" if "\n" not in text.replace("\r\n", "") and "\r\n" in text else "\n"
        self._lines = text.split(self._newline)
        self._shown: LRUCache[str, str] = LRUCache(1024)
        self.edits = 0
        """How often it was changed."""

    @property
    def own_lines(self) -> Sequence[str]:
        return self._lines

    @property
    def lines(self) -> list[str]:
        return [self._inert(line) for line in self._lines]

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace what lies between two places; parts lines as the document does, so that an undo is exact."""
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range((top, left), (bottom, right))
        new = (text if self._newline == "\n" else text.replace("\r\n", "\n")).split("\n")
        before, after = (self._lines[row] if row < len(self._lines) else "" for row in (top, bottom))
        column = len(new[-1]) + (left if len(new) == 1 else 0)
        new[0] = before[:left] + new[0]
        new[-1] += after[right:]
        self.edits += 1
        self._lines[top : bottom + 1] = new
        return EditResult((top + len(new) - 1, column), replaced)

    def get_size(self, tab_width: int) -> Size:
        """Return the size of the text as it is drawn."""
        widths = [len(line.expandtabs(tab_width)) for line in self.lines]
        return Size(max(widths, default=0), len(widths))

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        found = self._lines[line_index]
        return self._inert(found) if isinstance(found, str) else [self._inert(line) for line in found]

    def _inert(self, line: str) -> str:
        known = self._shown.get(line)
        if known is None:
            known = self._shown[line] = shown(line)
        return known


class WrappedOnce(WrappedDocument):
    """A wrapped document that is not wrapped again at the same width, and wraps lines that are the same once.

    Textual wraps the whole of it at each resize, and adds its height up for each row that it draws.
    """

    document: InertDocument

    def __init__(self, document: InertDocument, tab_width: int) -> None:
        self._wrapped_at: tuple[int, int, int] | None = None
        super().__init__(document, tab_width=tab_width)

    @property
    def height(self) -> int:
        """The rows that it takes."""
        return len(self._offset_to_line_info)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Wrap all lines at a width in cells, 0 for not at all, unless that was done."""
        self._width, self._tab_width = width, tab_width or self._tab_width
        wrapped_at = (width, self._tab_width, self.document.edits)
        if wrapped_at == self._wrapped_at:
            return
        self._wrapped_at, known = wrapped_at, dict[str, tuple[list[int], list[int]]]()
        self._wrap_offsets, self._tab_width_cache = [], []
        self._offset_to_line_info, self._line_index_to_offsets = [], []
        for index, line in enumerate(self.document.own_lines):
            if line not in known:
                known[line] = self._wrapped(shown(line))
            tabs, offsets = known[line]
            self._tab_width_cache.append(tabs)
            self._wrap_offsets.append(offsets)
            first = len(self._offset_to_line_info)
            self._line_index_to_offsets.append([*range(first, first + len(offsets) + 1)] if offsets else [first])
            self._offset_to_line_info.append((index, 0))
            self._offset_to_line_info += [(index, part) for part in range(1, len(offsets) + 1)] if offsets else ()

    def _wrapped(self, line: str) -> tuple[list[int], list[int]]:
        """Return the widths of a line's tabs, and where it is parted."""
        tabs = get_tab_widths(line, self._tab_width)
        width = self._width
        offsets = compute_wrap_offsets(line, width, self._tab_width, precomputed_tab_sections=tabs) if width else []
        return [width for _, width in tabs], offsets

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Wrap what was edited."""
        super().wrap_range(start, old_end, new_end)
        self._wrapped_at = (self._width, self._tab_width, self.document.edits)


@survives
class InertTextArea(TextArea):
    """Textual's `TextArea` for stored text: inert on the screen, unchanged underneath.

    A text that `is_long` is held: its beginning is shown, keys do nothing to it, and `text` is all of it.
    """

    class Stripped(Message):
        """A paste held `count` control characters, which were left out."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, text: str, *, id: str | None = None) -> None:
        super().__init__("", soft_wrap=True, show_line_numbers=False, compact=True, highlight_cursor_line=False, id=id)
        self.cursor_blink = False
        self._held: str | None = None
        self._before_paste: str | None = None
        self._take(text)

    @property
    def text(self) -> str:
        return self.document.text if self._held is None else self._held

    @text.setter
    def text(self, text: str) -> None:
        self.load_text(text)

    @property
    def is_held(self) -> bool:
        """Whether the text is too long to be edited here."""
        return self._held is not None

    def load_text(self, text: str) -> None:
        """Show another text from its end, with no edits to undo."""
        self.history.clear()
        self.move_cursor((0, 0))
        self._take(text)
        self._rewrap_and_refresh_virtual_size()
        self.move_cursor(self.document.end)
        self.post_message(self.Changed(self).set_sender(self))

    def _take(self, text: str) -> None:
        self._before_paste = None
        self._held = text if is_long(text) else None
        self.read_only = self.is_held
        self.document = InertDocument(_beginning(text) if self.is_held else text)
        self.wrapped_document = WrappedOnce(self.document, self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)

    @property
    def selected_text(self) -> str:
        """What is selected; of a held text all of it, once all that is shown of it is."""
        start, end = sorted(self.selection)
        if self._held is None:
            return self.get_text_range(start, end)
        if (start, end) == ((0, 0), self.document.end):
            return self._held
        return self._held[self._index(start) : min(self._index(end), HELD_HEAD)]

    def _index(self, location: Location) -> int:
        return cast(InertDocument, self.document).get_index_from_location(location)

    async def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        self._put(event.text)

    def action_paste(self) -> None:
        """Paste what was copied in the app."""
        self._put(self.app.clipboard)

    def _put(self, pasted: str) -> None:
        """Put a text in place of the selection, without control characters; say how many those were."""
        if self.is_held:
            return
        text = clean_for_store(pasted.replace("\r\n", "\n").replace("\r", "\n"))
        kept = "".join(c for c in text if c in "\n\t" or not _is_control(c))
        start, end = map(self._index, sorted(self.selection))
        before = self.document.text
        ends = kept.replace("\n", self.document.newline)
        if len(ends) > LONG_LINE and is_long(after := before[:start] + ends + before[end:]):
            self.load_text(after)
            self._before_paste = before
        elif result := self._replace_via_keyboard(kept, *self.selection):
            self.move_cursor(result.end_location)
        if len(kept) < len(text):
            self.post_message(self.Stripped(len(text) - len(kept)))

    def undo(self) -> None:
        """Undo the last edits; what a paste made too long to be edited is as it was before."""
        if self._before_paste is not None:
            self.load_text(self._before_paste)
        else:
            super().undo()

    def _recompute_cursor_offset(self) -> None:
        """Find where the cursor is, unless an undo took its line away: it is moved once that is done."""
        if self.cursor_location[0] < self.document.line_count:
            super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]


def _beginning(text: str) -> str:
    """Return what is shown of a text that is not edited here."""
    return f"{text[:HELD_HEAD]}\n… {number(len(text) - HELD_HEAD)} more characters"


def _is_control(char: str) -> bool:
    return ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0


Said = tuple[str, str]
"""A sentence and its style."""

HELD = "Too long to be edited here: {editor.external} opens it in your editor"


class TextEditor(Dialog[str | None]):
    """Edit a text; the result is the new text, or None when it was left.

    An unchanged text comes back exactly as it was given. Leaving with unsaved changes takes esc twice.
    `check` may refuse a text with a sentence, or with an error that says why; with an empty one something is asked
    first, and saving is told again. `typed` is what was written in its place already, elsewhere. `draft` keeps what is
    typed, and brings it back after the app was stopped; it ends with saving and with leaving. `told` says something of
    the text while it is written, by default how much room is left. A record has a form: see `tui.forms`.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(EDITOR)
    DEFAULT_CSS = """
    TextEditor {
        & > .dialog { width: 90%; height: 80%; }
        & InertTextArea { height: 1fr; background: $background; padding: 0 1; }
        & .editor--state { height: auto; max-height: 4; }
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
        self._start = typed if typed is not None else self._restored.text if self._restored is not None else text
        shown = {OTHER: self._restored is not None, ELSEWHERE: is_long(self._start)}
        super().__init__(title, [action for action in EDITOR if shown.get(action, action.show)])
        self._text = text
        self._written = self._start
        self._stale = self._restored is not None and not self._restored.is_of(text)
        self._limit = limit or room_for(text)
        self._check = check
        self._told = told or self._room_left
        self._draft = draft
        self._keeping = Keeping(self, draft, self._keep)
        self._unkept = ""
        self._warned = False

    def contents(self) -> Iterable[Widget]:
        """Return the text area and the line of its state."""
        return (InertTextArea(self._start), Static(Content(""), classes="editor--state"))

    def on_mount(self) -> None:
        """Put the cursor behind the text, and say where a restored one comes from."""
        self._area.move_cursor(self._area.document.end)
        if self._restored is None or self._draft is None:
            self._show_state()
            if self.unsaved:
                self._keeping.soon()
        else:
            when = since(self._restored.at, self._draft.clock())
            changed = " What is stored was changed since." if self._stale else ""
            keys = keyed("{editor.other}: what is stored, and back; esc twice lets go of this.")
            self._say(f"Restored: you typed this {when} and did not save it.{changed} {keys}", "$text-warning")

    def on_unmount(self) -> None:
        """Keep what is typed when the app ends in mid-edit."""
        self._keeping.at_the_end()

    @property
    def _area(self) -> InertTextArea:
        return self.query_one(InertTextArea)

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the one given."""
        return self._area.text != self._text

    def on_text_area_changed(self, _event: TextArea.Changed) -> None:
        """Count what is left, and keep what is typed in a moment."""
        self._warned = False
        if self.unsaved or self._restored is None:
            self._written = self._area.text
        self._show_state()
        self._keeping.soon()

    def _keep(self) -> None:
        """Keep what is typed as a draft, and say so when that stops working."""
        draft, before = self._draft, self._unkept
        if draft is None:
            return
        if self._written != self._text:
            stale = self._restored if self._stale else None
            self._unkept = draft.keep(self._written, digest(self._text) if stale is None else stale.base)
        else:
            draft.drop()
        if self._unkept != before and self.is_mounted:
            self._show_state()

    def _end(self, text: str | None) -> None:
        """Close with a result; the draft has done its duty."""
        self._keeping.let_go()
        self.dismiss(text)

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
            self._say(f"✗ {error}", "$text-error")
        else:
            if saved is not None:
                self._area.load_text(saved)

    def on_inert_text_area_stripped(self, event: InertTextArea.Stripped) -> None:
        """Say what a paste lost."""
        some = "1 control character was" if event.count == 1 else f"{event.count} control characters were"
        self._say(f"{some} left out of the paste.", "$text-warning")

    def action_save(self) -> None:
        """Take the text, or say why it cannot be taken; while others write to the store, it stays and waits."""
        change(self, self._save, lambda error: self._say(f"✗ {error}", "$text-error"))

    def _save(self) -> None:
        text = self._area.text
        over = len(text) - self._limit
        problem = None
        if not text.strip():
            problem = "The text is empty. Esc leaves it as it was."
        elif over > 0:
            problem = f"The text is {number(over)} characters too long."
        if problem is None and self._stale and self.unsaved:
            self._stale = False
            problem = keyed(
                "What is stored was changed since you typed this: {editor.other} shows it, "
                "{editor.save} again replaces it."
            )
        problem = problem or self._check(text)
        if problem:
            self._say(f"✗ {problem}", "$text-error")
        elif problem is None:
            self._end(text)

    def action_cancel(self) -> None:
        """Leave; with unsaved changes, or a restored draft out of sight, only the second time."""
        if (self.unsaved or self._restored is not None) and not self._warned:
            self._warned = True
            self._say(keyed("Unsaved: esc again discards, {editor.save} saves."), "bold $text-warning")
        else:
            self._end(None)

    def _show_state(self) -> None:
        told, style = self._told(self._area.text)
        held = keyed(HELD) if self._area.is_held else ""
        self._say(" · ".join(filter(None, (held, told))), style)

    def _room_left(self, text: str) -> Said:
        left = self._limit - len(text)
        parts = ["● changed"] if self.unsaved else []
        parts += [f"no draft is kept ({self._unkept})"] if self._unkept else []
        if left < 0:
            parts.append(f"✗ {number(-left)} characters too long")
        elif not self._area.is_held:
            parts.append(f"{number(left)} characters left")
        return " · ".join(parts), MUTED if left >= 0 else "$text-error"

    def _say(self, sentence: str, style: str) -> None:
        self.query_one(".editor--state", Static).update(body(sentence, style))
