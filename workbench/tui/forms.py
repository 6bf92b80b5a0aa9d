"""The form of a record, its text and every other field as a line: only what was changed is saved,
nothing is lost.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from textual import events, on
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import QueryType
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.config.drafts import digest
from workbench.core.files.locks import StoreBusy
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.stream.memory import room_for
from workbench.core.text import head, one_line, printable
from workbench.services import forms as of
from workbench.services.forms import TEXT, BadDocument, Field, Form, UnfitValue, Values
from workbench.services.promotion.copies import Correction
from workbench.tui.actions import FORM
from workbench.tui.app import area as external
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Drafting, Host
from workbench.tui.app.saving import KEEP, Preview
from workbench.tui.promotion import CopyAsking
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    body,
    fitted,
    joined,
    key_of,
    keyed,
    muted,
    word_diff,
)
from workbench.tui.widgets.dialog import SafeInput
from workbench.tui.widgets.editor import InertTextArea, Writing
from workbench.tui.widgets.figures import since
from workbench.tui.widgets.reading_pane import ReadingPane

DOCUMENT = "document"
"""What the draft of a form calls a document that cannot be read yet."""

AGAIN = "{form.external} opens it again."

TITLE_CELLS = 200
"""Cells of a title that are shown."""

_BESIDE = 16
"""Words and spaces that are shown beside what differs from what somebody else stored: the
difference is in sight.
"""

SHORT = 40
"""Rows of a screen below which the form takes all of it."""


# Saving: what cannot be is refused beside its field, what would be masked is shown, copies are
# asked about.


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form is not saved, and which field that is about; an empty sentence when something is
    asked first.

    With `unfit` the sentence says what the field cannot hold, and `line` where that stands in a
    document.
    """

    sentence: str
    field: str = ""
    unfit: bool = False
    line: int = 0


class FormSaving:
    """Saves what was typed into a form: returns why it could not, or `None`; raises `StoreBusy`.

    What was changed meanwhile by somebody else is told the first time (see `theirs`), and replaced
    by the next. What would be masked in a field is shown once; the word that keeps it stands in a
    last line of the text, or last in a line.
    """

    def __init__(self, app: Host, form: Form) -> None:
        self.form, self._bench = form, app.bench
        self._base = {name: value or "" for name, value in form.values.items()}
        words = (*(field.name for field in form.fields if field.words), TEXT)
        self._previews = {
            name: Preview(app.bench, self._base[name], line=name != TEXT)
            for name in words
            if name in self._base
        }
        self.copies = CopyAsking(app, self._corrected)
        self.theirs: dict[str, str] = {}
        """What somebody else wrote meanwhile into fields that were changed here, once saving met
        it.
        """
        self.now: dict[str, str] = {}
        """All that is stored, once saving met that somebody else wrote."""

    def __call__(self, typed: Values) -> Refusal | None:
        """Save the values that were typed, or return why not."""
        if (refused := self.unfit(typed)) is not None:
            return refused
        for name in typed:
            if name in self._previews and (first := self._previews[name](typed[name])) is not None:
                return Refusal(first, name)
        meant = self._meant(typed)
        kept = {
            name: value
            for name, value in meant.items()
            if name in self._previews and self._previews[name].kept
        }
        try:
            if kept:
                told = f"edit {self.form.name}"
                with self._bench.safety.keeping(
                    told, self.form.edit(kept).typed, lambda: self.form.kept
                ):
                    self._write(meant)
            elif self.copies.asks(shown := self.shown(meant)):  # the copies say what is stored
                return Refusal("")
            else:
                self.copies.save(shown, lambda: self._write(shown))
        except StoreBusy:
            raise
        except Conflict as conflict:
            return self._met(conflict, meant)
        except UnfitValue as unfit:
            return Refusal(unfit.message, unfit.field, unfit=True)
        except WorkbenchError as error:
            return Refusal(str(error))
        return None

    def unfit(self, typed: Values) -> Refusal | None:
        """Return which value cannot be, and why; `None` for none."""
        try:
            self.form.edit(self._meant(typed))
            if (
                of.TAGS in typed
                and (tags := self._previews.get(of.TAGS))
                and tags.stored != tags.text
            ):
                raise UnfitValue(
                    of.TAGS, f"A secret, and a mask is no tag: “{KEEP}” as a last word keeps it"
                )
        except UnfitValue as unfit:
            return Refusal(unfit.message, unfit.field, unfit=True)
        except WorkbenchError as error:
            return Refusal(str(error))
        return None

    def shown(self, typed: Values) -> dict[str, str]:
        """Return typed values as they are stored: with markers for the secrets that are not kept."""
        return {
            name: self._bench.gate.preview(value, self._base[name])
            if name in self._previews
            else value
            for name, value in typed.items()
        }

    def _meant(self, typed: Values) -> dict[str, str]:
        """Return what is meant by what was typed: without the word that keeps a secret."""
        previews = self._previews
        return {
            name: previews[name].read(value) if name in previews else value
            for name, value in typed.items()
        }

    def _corrected(self, values: Values) -> list[Correction]:
        pair = self.form.corrected(values)
        return [] if pair is None else [pair]

    def _write(self, meant: Values) -> None:
        self.form.write(meant, {name: self._base[name] for name in meant})

    def _met(self, conflict: Conflict, meant: Values) -> Refusal:
        """Note what somebody else wrote into the fields that were changed here, and tell of it."""
        now = {name: value or "" for name, value in self.form.read().items()}
        theirs = {
            name: now[name] for name in meant if name in now and now[name] != self._base[name]
        }
        if not theirs:
            return Refusal(str(conflict))
        self._base.update(now)
        self.now, self.theirs = now, self.theirs | theirs
        what = "" if list(theirs) == [TEXT] else f" ({', '.join(theirs)})"
        again = f"{key_of('editor.save')} again replaces that."
        return Refusal(f"{self.form.name} was changed by someone else meanwhile{what}. {again}")


# A field as one line: its name, an input, and beside it what it takes or why it cannot be taken.


HINTS = {
    of.TITLE: "shown in lists; empty: from the text",
    of.TYPE: "error, decision, gotcha …",
    of.MEMORY_TYPE: "episodic, semantic …",
    of.IMPORTANCE: "0 to 10",
    of.TAGS: "separated by commas",
    of.CATEGORY: "command, convention …",
    of.SECTION: "the section",
    of.RELATED: "ids, separated by commas",
    of.NOTE: "for you; never served to agents",
}
"""What is said beside a field."""

STEPS = "+ci adds one, -ci removes one"
"""What is said beside the tags of several memories."""

_WHOLE = (of.TYPE, of.MEMORY_TYPE, of.IMPORTANCE, of.SECTION)
"""Fields in which what is typed mostly takes the place of all that stands there."""

_NAME = 14
"""Cells of a field's name."""


class FieldLine(Horizontal, can_focus=True):
    """A field of a form. `stored` is what stands in it as the record is now, `None` where several
    records differ.

    It draws itself, and has an input from when the cursor first comes to it: most fields of most
    forms never need one.
    """

    class Changed(Message):
        """Something else stands in the line."""

    DEFAULT_CSS = """
    FieldLine {
        height: 1;
        & SafeInput { width: 1fr; min-width: 12; height: 1; margin-left: 14; background: $background; }
        & .form--beside { width: auto; max-width: 62%; height: 1; padding-left: 1; color: $text-muted; }
        &.-unfit .form--beside { color: $text-error; }
    }
    """

    def __init__(self, field: Field, stored: str | None, empty: str, hint: str) -> None:
        super().__init__()
        self.field, self.stored = field, stored
        self._empty, self._hint = empty, hint
        self._input: SafeInput | None = None
        self._shown = self._last = self._typed = printable(stored or "")
        self._edited = False
        self._problem = ""

    def render(self) -> Content:
        """Return its name, and what stands in it until it has an input."""
        width, mark = self.size.width, "● " if self.touched else "  "
        name = Content.styled(
            f"{mark}{self.field.name}", "bold $text-accent" if self.touched else MUTED
        )
        said = head(self._last, width)
        text = Content(said) if said else Content.styled(printable(self._empty), "$text-disabled")
        return fitted(name, _NAME) + fitted(text, width - _NAME).stylize_before("on $background")

    @property
    def value(self) -> str:
        """What stands in it: exactly what is stored, unless it was changed."""
        return self._last if self.touched else self.stored or ""

    @property
    def touched(self) -> bool:
        """Whether something else is to be stored; what is emptied after typing is, where several
        records differ.
        """
        return self._edited if self.stored is None else self._last != self._shown

    def put(self, value: str) -> None:
        """Put in what was typed elsewhere."""
        self._edited = True
        self._write(printable(value))

    def take_stored(self, stored: str) -> None:
        """Take note of what is stored by now, and show it unless something was typed."""
        kept, self.stored, self._shown = self.touched, stored, printable(stored)
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
        self.show_beside()

    def focus_input(self) -> None:
        """Put the cursor in it, at once: keys that were typed ahead are for its input."""
        if self._input is None:
            self._input = SafeInput(self._last, placeholder=self._empty)
            self._input.select_on_focus = self.field.name in _WHOLE
            if self.field.choices:
                self._input.suggester = SuggestFromList(self.field.choices)
            self.can_focus = False
            self.mount(self._input, Static(classes="form--beside"))
        self.screen.set_focus(self._input)
        self.scroll_visible(animate=False)  # the input has no place yet

    def on_focus(self) -> None:
        """Let its input have the cursor, however it came here."""
        self.focus_input()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def show_beside(self) -> None:
        """Show beside it what is wrong, or what it takes while the cursor is in it; else the line
        is all its own.
        """
        said = (
            f"✗ {self._problem}" if self._problem else self._hint if self.has_focus_within else ""
        )
        for beside in self.query(".form--beside").results(Static):
            beside.display = bool(said)
            beside.update(body(said))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Note that it was changed by hand."""
        event.stop()
        if event.value == self._last:
            return  # it was put in, not typed
        self._last = event.value
        self._edited = self._edited or (self.stored is None and bool(event.value))
        if self._problem:
            self.complain("")
        self.refresh()
        self.post_message(self.Changed())

    def _write(self, value: str) -> None:
        """Let something else stand in it, which nobody typed here."""
        self._last = value
        if self._input is not None:
            self._input.value = value
        self.refresh()


class RecordForm(Writing[Values | None]):
    """Edit a record, its text and all its fields; the result is what was saved, or None when it was
    left.

    Only what was changed is saved. `typed` is what was written already, elsewhere; `document` one
    that could not be read. `draft` keeps what is typed, and brings it back after the app was
    stopped; it ends with saving and with leaving. Leaving with unsaved changes takes esc twice.
    What somebody else stored meanwhile stands beside it, with the words that differ.
    """

    BINDINGS = bindings(FORM)
    DEFAULT_CSS = """
    RecordForm {
        & > .dialog { width: 90%; height: 90%; }
        &.-short > .dialog { width: 100%; height: 100%; border: none; }
        &.-short .dialog--title { margin-bottom: 0; }
        &.-short .dialog--keys { margin-top: 0; }
        &.-several > .dialog { height: auto; border: round $border; }
        & .form--texts { height: 1fr; }
        & InertTextArea { width: 1fr; height: 1fr; background: $background; padding: 0 1; }
        & ReadingPane { width: 1fr; height: 1fr; border-left: solid $panel; }
        &.-narrow .form--texts { layout: vertical; }
        & ReadingPane:focus { border-left: solid $accent; }
        &.-narrow ReadingPane { border-left: none; border-top: solid $panel; }
        &.-narrow ReadingPane:focus { border-top: solid $accent; }
        & .form--fields { height: 1fr; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(
        self,
        saving: FormSaving,
        *,
        typed: Values | None = None,
        document: str = "",
        draft: Drafting | None = None,
        problem: Refusal | None = None,
    ) -> None:
        form = saving.form
        super().__init__(form.title, footer_entries(FORM), draft)
        self._saving, self._form = saving, form
        self._lines = [
            FieldLine(
                field, form.values[field.name], form.empty.get(field.name, ""),
                STEPS if field.name == of.TAGS and TEXT not in form.values else HINTS[field.name],
            )
            for field in form.fields
        ]  # fmt: skip
        self._stored = form.values.get(TEXT) or ""
        self.limit = room_for(self._stored)
        self._document, self._problem = document, problem
        self._typed: Values = typed or {}
        self._restored_at = ""
        if typed is None and not document:
            self._restore()
        self._start = self._written = self._typed.get(TEXT, self._stored)
        self.is_restored = bool(self._restored_at)
        self._without = False

    def _restore(self) -> None:
        """Take up what was typed before the app was stopped."""
        found = None if self.draft is None else self.draft.find()
        if found is None or self.draft is None:
            return
        values = self._form.values
        typed = {name: value for name, (value, _) in found.fields.items() if name in values}
        if found.text != self._stored:
            typed[TEXT] = found.text
        self._document, _ = found.fields.get(DOCUMENT, ("", ""))
        bases = {TEXT: found.base, **{name: base for name, (_, base) in found.fields.items()}}
        self.stale = any(bases[name] != digest(values[name] or "") for name in typed)
        self._typed = typed
        if typed or self._document:
            self._restored_at = since(found.at, self.draft.clock())

    def contents(self) -> Iterable[Widget]:
        """Return the text, the other fields, and the line of its state."""
        if TEXT in self._form.values:
            yield Horizontal(InertTextArea(self._start), classes="form--texts")
        yield Vertical(
            VerticalScroll(*self._lines, can_focus=False, classes="form--fields"),
            self.state,
            id="form-below",
        )

    def on_mount(self) -> None:
        """Put the cursor behind the text, and say where a restored one comes from."""
        self.set_class(self._area is None, "-several")
        for line in self._lines:
            if line.field.name in self._typed:
                line.put(self._typed[line.field.name])
        if self._area is None:
            self._lines[0].focus_input()
        else:
            self._area.focus()
            self._area.move_cursor(self._area.document.end)
        self._show_title()
        if self._problem is not None:
            self.call_after_refresh(self._refuse, self._problem)
        elif self._restored_at:
            self.restored_said(self._restored_at, stale=self.stale)
        else:
            self.show_state()
        if self._touched():
            self.keep_soon()

    def on_resize(self, event: events.Resize) -> None:
        """Give the text half of the height at least, and the fields a line each as far as that
        goes.
        """
        rows = event.size.height
        self.set_class(rows < SHORT, "-short")
        wanted = len(self._lines) + (1 if rows < SHORT else 3)
        inside = rows if rows < SHORT else rows * 9 // 10 - 4
        most = rows - 6 if self._area is None else inside - 2 - (rows + 1) // 2
        self.query_one("#form-below").styles.height = max(3, min(wanted, most))

    @property
    def _area(self) -> InertTextArea | None:
        return next(iter(self.query(InertTextArea)), None)

    @property
    def unsaved(self) -> bool:
        """Whether anything differs from what was given."""
        return bool(self._touched() or self._document)

    def _touched(self) -> dict[str, str]:
        """Return what was changed."""
        touched = {line.field.name for line in self._lines if line.touched}
        values = self._values()
        return {
            name: value
            for name, value in values.items()
            if name in touched or (name == TEXT and value != self._stored)
        }

    def _values(self) -> dict[str, str]:
        text = {} if self._area is None else {TEXT: self._area.text}
        return {**text, **{line.field.name: line.value for line in self._lines}}

    # While it is written

    def on_text_area_changed(self) -> None:
        """Count what is left, and keep what is typed in a moment."""
        if self._area is not None and self._area.text != self._stored:
            self._written = self._area.text
        self._show_title()
        self._changed()

    @on(FieldLine.Changed)
    def _changed(self) -> None:
        self.warned = False
        self.show_state()
        self.keep_soon()
        self._show_theirs()

    def _show_title(self) -> None:
        """Show the title that is made of the text, where it has none of its own."""
        line = self._line(of.TITLE)
        if line is not None and self._area is not None and not line.value:
            line.suggest(
                one_line(
                    head(self._area.text.lstrip(), TITLE_CELLS).partition("\n")[0], TITLE_CELLS
                )
            )

    def _line(self, name: str) -> FieldLine | None:
        return next((line for line in self._lines if line.field.name == name), None)

    def keep(self, draft: Drafting) -> str:
        touched, values = self._touched(), self._form.values
        typed = touched.pop(TEXT, self._stored)
        text = self._written if self._written != self._stored else typed
        fields = {name: (value, digest(values[name] or "")) for name, value in touched.items()}
        if self._document:
            fields[DOCUMENT] = (self._document, "")
        if text == self._stored and not fields:
            draft.drop()
            return self.unkept
        found = draft.find() if self.stale else None
        base = digest(self._stored) if found is None else found.base
        old = {} if found is None else found.fields
        fields = {
            name: (value, old.get(name, ("", base))[1]) for name, (value, base) in fields.items()
        }
        return draft.keep(text, base, fields)

    # Saving and leaving

    def save(self) -> None:
        touched = self._touched()
        if problem := self._unready():
            self.complain(problem)
        elif (refusal := self._saving(touched)) is None:
            self.end(touched)
        elif refusal.sentence:
            self._refuse(refusal)

    def _unready(self) -> str:
        """Return why what stands there is not to be saved yet, or nothing."""
        if self._area is not None and (problem := self.unready(self._area.text)):
            return problem
        if self._document and not self._without:
            self._without = True
            return keyed(
                "The document is not readable yet: {form.external} opens it, {editor.save} again saves without it."
            )
        return ""

    def _refuse(self, refusal: Refusal) -> None:
        """Say why it is not saved, beside the field where that has one, and put the cursor there."""
        line, said = self._line(refusal.field), refusal.sentence
        if line is not None:
            line.focus_input()
            if refusal.unfit:
                line.complain(said)
                where = f"Line {refusal.line}: " if refusal.line else ""
                said = f"{where}{said}. Nothing was saved yet; your text is kept."
        self.complain(said)
        self._take_stored(self._saving.now)
        self._show_theirs()

    def _take_stored(self, now: Values) -> None:
        """Take note of what is stored by now; what was not changed here shows it."""
        for line in self._lines:
            if line.field.name in now:
                line.take_stored(now[line.field.name])
        if self._area is not None and TEXT in now and now[TEXT] != self._stored:
            same, self._stored = self._area.text == self._stored, now[TEXT]
            if same:
                self._area.load_text(self._stored)

    def _show_theirs(self) -> None:
        """Show what somebody else stored meanwhile, field by field, with what is added and taken
        away here.
        """
        theirs, mine = self._saving.theirs, self._values()
        if not theirs or self._area is None:
            return
        if not self.query(ReadingPane):
            self.query_one(".form--texts").mount(ReadingPane(id="form-theirs"))
        parts = [muted("Stored now, and {+yours+} against [-theirs-]")]
        parts += [] if self.has_class("-narrow") else [BLANK]
        for name, value in theirs.items():
            parts += [] if list(theirs) == [TEXT] else [body(name, "bold")]
            parts.append(word_diff(value, mine[name], _BESIDE))
        self.query_one(ReadingPane).show(joined(*parts), keep_place=True)

    # From field to field

    def focus_next(self, selector: str | type[QueryType] = "*") -> Widget | None:
        """Put the cursor into the next field at once."""
        return _entered(super().focus_next(selector))

    def focus_previous(self, selector: str | type[QueryType] = "*") -> Widget | None:
        """Put the cursor into the field before at once."""
        return _entered(super().focus_previous(selector))

    @on(Input.Submitted)
    def action_down(self) -> None:
        """To the field below."""
        if not self._lines[-1].has_focus_within:
            self.focus_next()

    def action_other(self) -> None:
        """Put back what is stored in the field with the cursor; again, what was typed."""
        line = next((line for line in self._lines if line.has_focus_within), None)
        if line is not None:
            line.toggle()
        elif self._area is not None:
            stored = self._area.text == self._stored
            self._area.load_text(self._written if stored else self._stored)

    # As one document

    def action_external(self) -> None:
        """Open all of it in the person's editor."""
        fields, values = self._form.fields, self._values()
        document = self._document or of.document_of(values, fields)
        try:
            saved = external.edit(self.app, document)
            if saved is not None:
                self._document, self._without = saved, False
                self._take(of.read_document(saved, values, fields))
        except BadDocument as bad:
            self._refuse(Refusal(f"{bad} {keyed(AGAIN)}"))
            self.keep_soon()
        except WorkbenchError as error:
            self.complain(error)

    def _take(self, changes: Mapping[str, str]) -> None:
        """Put in what a document says."""
        document, self._document = self._document, ""
        for line in self._lines:
            if line.field.name in changes:
                line.put(changes[line.field.name])
        if self._area is not None and TEXT in changes:
            self._area.load_text(changes[TEXT])
        self._changed()
        try:
            self._form.edit(self._touched())
        except UnfitValue as unfit:
            where = of.line_of(document, unfit.field)
            self._refuse(Refusal(unfit.message, unfit.field, unfit=True, line=where))

    def show_state(self) -> None:
        touched = list(self._touched())
        changed = f"● changed: {', '.join(touched)}" if touched else ""
        if self._area is not None:
            self.tell(*self.room_left(self._area.text, changed))
        else:
            self.tell(changed or "Nothing set yet.")


def _entered(found: Widget | None) -> Widget | None:
    if isinstance(found, FieldLine):
        found.focus_input()
    return found


# Opening a form: here, or as one document in the person's own editor.


async def fill_in(
    area: AreaScreen, saving: FormSaving, draft: Drafting | None = None
) -> Values | None:
    """Open a form; return what was saved, or `None` when it was left."""
    return await area.app.push_screen_wait(RecordForm(saving, draft=draft))


async def fill_in_elsewhere(
    area: AreaScreen, saving: FormSaving, draft: Drafting | None = None, line: int = 0
) -> Values | None:
    """Open all of it in the person's own editor; what cannot be saved of it opens as a form, with
    the reason.

    The editor begins at a `line` of the text (from 1; 0 for none) where its way of saying so is
    known. Return what was saved, or `None` for nothing.
    """
    form = saving.form
    values = {name: value or "" for name, value in form.values.items()}
    document = of.document_of(values, form.fields)
    saved = await area.edit_externally(document, line and line + of.text_line_of(document) - 1)
    if saved is None:
        return None
    try:
        typed = of.read_document(saved, values, form.fields)
    except BadDocument as bad:
        refused = Refusal(f"{bad} {keyed(AGAIN)}")
        return await area.app.push_screen_wait(
            RecordForm(saving, document=saved, draft=draft, problem=refused)
        )
    if not typed:
        return None
    problem = saving.unfit(typed)
    with area.workbench_app.reporting():
        if problem is None and not await saving.copies.settled(saving.shown(typed)):
            problem = Refusal("It is not saved yet.")
        if problem is None:
            try:
                problem = saving(typed)
            except StoreBusy as busy:
                problem = Refusal(str(busy))
    if problem is None:
        return typed
    problem = replace(problem, line=of.line_of(saved, problem.field)) if problem.unfit else problem
    return await area.app.push_screen_wait(
        RecordForm(saving, typed=typed, draft=draft, problem=problem)
    )
