"""A field of a form as one line: its name, an input, and beside it what it takes or why it cannot be taken."""

from collections.abc import Iterable

from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from workbench.core.text import head, printable
from workbench.services.forms import memories as of
from workbench.services.forms.document import TEXT, Field
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.content import MUTED, body, fitted, keyed
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.texts.safe_input import ROOM, SafeInput

HINTS = {
    of.TITLE: "what lists show; empty: from the text",
    of.TYPE: "error, decision, gotcha …",
    of.MEMORY_TYPE: "episodic, semantic …",
    of.IMPORTANCE: "0 to 10",
    of.TAGS: "with commas between",
    of.CATEGORY: "command, convention …",
    of.SECTION: "where it belongs",
    of.RELATED: "ids, with commas between",
    of.NOTE: "for people; no agent reads it",
}
"""What is said beside a field."""

STEPS = "+ci adds one, -ci takes one away"
"""What is said beside the tags of several memories."""

_WHOLE = (of.TYPE, of.MEMORY_TYPE, of.IMPORTANCE, of.SECTION)
"""Fields in which what is typed mostly takes the place of all that stands there."""

HELD = "{form.external} opens them in your editor"
"""What is said of the characters of a field that is too long to be edited in a line."""

_NAME = 14
"""Cells of a field's name."""


@survives
class FieldLine(Horizontal, can_focus=True):
    """A field of a form. `stored` is what stands in it as the record is now, `None` where several records differ.

    It draws itself, and has an input from when the cursor first comes to it: most fields of most forms never need one.
    A text that is too long for an input is held as it is; only a document changes it.
    """

    class Changed(Message):
        """Something else stands in the line."""

    DEFAULT_CSS = """
    FieldLine {
        height: 1;
        & SafeInput { width: 1fr; min-width: 12; height: 1; margin-left: 14; background: $background; }
        & .form--beside { width: auto; max-width: 62%; height: 1; padding-left: 1; color: $text-muted; }
        &.-unfit .form--beside { color: $text-error; }
        &.-held .form--beside {
            width: 1fr; max-width: 100%; margin-left: 14; padding-left: 0; background: $background;
        }
    }
    """

    def __init__(self, field: Field, stored: str | None, empty: str = "", hint: str | None = None) -> None:
        self._hint = HINTS.get(field.name, "") if hint is None else hint
        self._beside: Static | None = None
        self._input: SafeInput | None = None
        super().__init__()
        self.field = field
        self.stored = stored
        self._empty = empty
        self._shown = self._last = _inert(stored or "")
        self._edited = self._here = False
        self._problem = ""
        self._typed = self._shown

    def render(self) -> Content:
        """Return its name, and what stands in it until it has an input."""
        width, touched = self.size.width, self.touched
        mark = "● " if touched else "  "
        name = Content.styled(f"{mark}{self.field.name}", "bold $text-accent" if touched else MUTED)
        said = printable(head(self._last, width))
        text = Content(said) if said else Content.styled(printable(self._empty), "$text-disabled")
        return fitted(name, _NAME) + fitted(text, width - _NAME).stylize_before("on $background")

    @property
    def value(self) -> str:
        """What stands in it: exactly what is stored, unless it was changed."""
        return self._last if self.touched else self.stored or ""

    @property
    def touched(self) -> bool:
        """Whether something else is to be stored; what is emptied after typing is, where several records differ."""
        return self._edited if self.stored is None else self._last != self._shown

    def put(self, value: str) -> None:
        """Put in what was typed elsewhere."""
        self._edited = True
        self._write(printable(value))

    def take_stored(self, stored: str) -> None:
        """Take note of what is stored by now, and show it unless something was typed."""
        kept, self.stored, self._shown = self.touched, stored, _inert(stored)
        self._write(self._last if kept else self._shown)

    def toggle(self) -> None:
        """Put back what is stored; again, what was typed."""
        if self.touched:
            self._typed, self._edited = self._last, False
            self._write(self._shown)
        else:
            self._edited = self._typed != self._shown
            self._write(self._typed)
        self.post_message(self.Changed())

    def suggest(self, placeholder: str) -> None:
        """Show what an empty line stands for."""
        self._empty = placeholder
        if self._input is not None:
            self._input.placeholder = printable(placeholder)
        self.refresh()

    def complain(self, sentence: str) -> None:
        """Say what it cannot hold, or nothing."""
        self._problem = sentence
        self.set_class(bool(sentence), "-unfit")
        self._show_beside()

    def focus_input(self) -> None:
        """Put the cursor in it, at once: keys that were typed ahead are for its input."""
        if self._is_held:
            self.screen.set_focus(self)
            self.on_descendant_focus()
            return
        if self._input is None:
            self._input = SafeInput(self._last, placeholder=self._empty)
            self._input.select_on_focus = self.field.name in _WHOLE
            if self.field.choices:
                self._input.suggester = SuggestFromList(self.field.choices)
            self.can_focus = False
            self.mount(self._input, before=self._beside)
        self.screen.set_focus(self._input)
        self.scroll_visible(animate=False)  # the input has no place yet

    @property
    def _is_held(self) -> bool:
        return len(self._last) > ROOM and self._input is None

    def on_focus(self) -> None:
        """Let its input have the cursor, however it came here."""
        self.focus_input()

    def on_blur(self) -> None:
        """Leave the line to what stands in it."""
        self.on_descendant_blur()

    def on_descendant_focus(self) -> None:
        """Say what it takes while the cursor is in it."""
        self._here = True
        self._show_beside()

    def on_descendant_blur(self) -> None:
        """Leave the line to what stands in it."""
        self._here = False
        self._show_beside()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Note that it was changed by hand."""
        event.stop()
        if event.value == self._last:
            return  # it was put in, not typed
        self._last = event.value
        if self.stored is None and event.value:
            self._edited = True
        if self._problem:
            self.complain("")
        self.refresh()
        self.post_message(self.Changed())

    def _show_beside(self) -> None:
        """Show beside it what is wrong, or what it takes while the cursor is in it; else the line is all its own."""
        hint = f"{number(len(self._last))} characters: {keyed(HELD)}" if self._is_held else self._hint
        said = body(f"✗ {self._problem}") if self._problem else body(hint if self._here else "")
        if self._beside is None:
            self._beside = Static(said, classes="form--beside")
            self.mount(self._beside)
        self.set_class(self._is_held, "-held")
        self._beside.display = bool(said.plain)
        self._beside.update(said)

    def _write(self, value: str) -> None:
        """Let something else stand in it, which nobody typed here; the cursor stays in the line."""
        self._last = value
        if self._input is not None and len(value) > ROOM:
            self._give_up_input(self._input)
        elif self._input is not None:
            self._input.value = value
        elif self.has_focus:
            self.focus_input()
        if self._here:
            self._show_beside()
        self.refresh()

    def _give_up_input(self, field: SafeInput) -> None:
        had_focus = field.has_focus
        self._input, self.can_focus = None, True
        if had_focus:
            self.screen.set_focus(self)
        field.remove()


def _inert(text: str) -> str:
    """Return a text as it stands in its line; one that is too long for an input stays as it is."""
    return text if len(text) > ROOM else printable(text)


def lines_for(fields: Iterable[Field], stored: dict[str, str | None], empty: dict[str, str]) -> list[FieldLine]:
    """Return the lines of a form; tags that differ can be added to."""
    several = TEXT not in stored
    return [
        FieldLine(
            field, stored[field.name], empty.get(field.name, ""), STEPS if several and field.name == of.TAGS else None
        )
        for field in fields
    ]
