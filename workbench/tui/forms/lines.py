"""A field of a form as one line: its name, an input, and beside it what it takes or why it cannot be taken."""

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from workbench.bench.forms import memory_lines as of
from workbench.bench.forms.values import TEXT, Field
from workbench.core.text import printable
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.texts.safe_input import SafeInput

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


@survives
class FieldLine(Horizontal):
    """A field of a form. `stored` is what stands in it as the record is now, `None` where several records differ."""

    class Changed(Message):
        """Something else stands in the line."""

    DEFAULT_CSS = """
    FieldLine {
        height: 1;
        & .form--name { width: 14; height: 1; color: $text-muted; }
        & SafeInput { width: 1fr; min-width: 12; height: 1; background: $background; }
        & .form--beside { width: auto; max-width: 62%; height: 1; padding-left: 1; color: $text-muted; }
        &.-touched .form--name { color: $text-accent; text-style: bold; }
        &.-unfit .form--beside { color: $text-error; }
    }
    """

    def __init__(self, field: Field, stored: str | None, empty: str = "", hint: str | None = None) -> None:
        self._input = SafeInput(stored or "", placeholder=empty)
        self._input.select_on_focus = field.name in _WHOLE
        if field.choices:
            self._input.suggester = SuggestFromList(field.choices)
        self._label = Static(classes="form--name")
        self._hint = HINTS.get(field.name, "") if hint is None else hint
        self._beside: Static | None = None
        super().__init__()
        self.field = field
        self.stored = stored
        self._shown = self._last = self._input.value
        self._edited = self._here = False
        self._problem = ""
        self._typed = self._shown

    def compose(self) -> ComposeResult:
        """Build the line."""
        yield self._label
        yield self._input

    def on_mount(self) -> None:
        """Say what it is called."""
        self._show_name()

    @property
    def value(self) -> str:
        """What stands in it: exactly what is stored, unless it was changed."""
        return self._input.value if self.touched else self.stored or ""

    @property
    def touched(self) -> bool:
        """Whether something else is to be stored; what is emptied after typing is, where several records differ."""
        return self._edited if self.stored is None else self._input.value != self._shown

    def put(self, value: str) -> None:
        """Put in what was typed elsewhere."""
        self._edited = True
        self._input.value = value
        self._last = self._input.value
        self._show_name()

    def take_stored(self, stored: str) -> None:
        """Take note of what is stored by now, and show it unless something was typed."""
        kept, self.stored, self._shown = self.touched, stored, printable(stored)
        if not kept:
            self._input.value = self._last = self._shown
        self._show_name()

    def toggle(self) -> None:
        """Put back what is stored; again, what was typed."""
        if self.touched:
            self._typed = self._input.value
            self._input.value, self._edited = self._shown, False
        else:
            self._input.value, self._edited = self._typed, self._typed != self._shown
        self._show_name()

    def suggest(self, placeholder: str) -> None:
        """Show what an empty line stands for."""
        self._input.placeholder = placeholder

    def complain(self, sentence: str) -> None:
        """Say what it cannot hold, or nothing."""
        self._problem = sentence
        self.set_class(bool(sentence), "-unfit")
        self._show_beside()

    def focus_input(self) -> None:
        """Put the cursor in it."""
        self._input.focus()

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
        self._show_name()
        self.post_message(self.Changed())

    def _show_beside(self) -> None:
        """Show beside it what is wrong, or what it takes while the cursor is in it; else the line is all its own."""
        said = body(f"✗ {self._problem}") if self._problem else body(self._hint if self._here else "")
        if self._beside is None:
            self._beside = Static(said, classes="form--beside")
            self.mount(self._beside)
        self._beside.display = bool(said.plain)
        self._beside.update(said)

    def _show_name(self) -> None:
        self.set_class(self.touched, "-touched")
        mark = ("● ", "") if self.touched else ("  ", MUTED)
        self._label.update(Content.assemble(mark, self.field.name))


def lines_for(fields: Iterable[Field], stored: dict[str, str | None], empty: dict[str, str]) -> list[FieldLine]:
    """Return the lines of a form; tags that differ can be added to."""
    several = TEXT not in stored
    return [
        FieldLine(
            field, stored[field.name], empty.get(field.name, ""), STEPS if several and field.name == of.TAGS else None
        )
        for field in fields
    ]
