"""The form of a record: what is saved is what was shown, and only what was changed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import QueryType
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.config.drafts import digest
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import room_for
from workbench.core.text import head, one_line
from workbench.services.forms.document import (
    TEXT,
    BadDocument,
    UnfitValue,
    Values,
    document_of,
    line_of,
    read_document,
    text_line_of,
)
from workbench.services.forms.memories import TITLE
from workbench.tui.app import area as external
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Drafting, Keeping
from workbench.tui.app.waiting import change
from workbench.tui.forms.actions import FORM
from workbench.tui.forms.lines import FieldLine, lines_for
from workbench.tui.forms.saving import FormSaving, Refusal
from workbench.tui.promotion.copies import CopyAsking
from workbench.tui.widgets.content import MUTED, body, keyed, word_diff
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number, since
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.texts.inert_text import InertTextArea

DOCUMENT = "document"
"""What the draft of a form calls a document that cannot be read yet."""

AGAIN = "{form.external} opens it again."

HELD = "Too long to be edited here: {form.external} opens all of it in your editor"

TITLE_CELLS = 200
"""Cells of a title that are shown."""

_BESIDE = 16
"""Words and spaces that are shown beside what differs from what somebody else stored: the difference is in sight."""

SHORT = 40
"""Rows of a screen below which the form takes all of it."""


class RecordForm(Dialog[Values | None]):
    """Edit a record, its text and all its fields; the result is what was saved, or None when it was left.

    Only what was changed is saved. `typed` is what was written already, elsewhere; `document` one that could not be
    read. `draft` keeps what is typed, and brings it back after the app was stopped; it ends with saving and with
    leaving. Leaving with unsaved changes takes esc twice. What somebody else stored meanwhile stands beside it, with
    the words that differ.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(FORM)
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
        & .form--state { height: auto; max-height: 4; }
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
        subject = saving.subject
        super().__init__(subject.title, [action for action in FORM if action.show])
        self._saving = saving
        self._lines = lines_for(subject.fields, dict(subject.values), dict(subject.empty))
        self._stored = subject.values.get(TEXT) or ""
        self._limit = room_for(self._stored)
        self._draft = draft
        self._document = document
        self._problem = problem
        self._typed: Values = typed or {}
        self._restored_at = ""
        self._stale = False
        if typed is None and not document:
            self._restore()
        self._start = self._typed.get(TEXT, self._stored)
        self._written = self._start
        self._keeping = Keeping(self, draft, self._keep)
        self._unkept = ""
        self._warned = self._without = False
        self._said = 0

    def _restore(self) -> None:
        """Take up what was typed before the app was stopped."""
        found = None if self._draft is None else self._draft.find()
        if found is None or self._draft is None:
            return
        values = self._saving.subject.values
        typed = {name: value for name, (value, _) in found.fields.items() if name in values}
        if found.text != self._stored:
            typed[TEXT] = found.text
        self._document, _ = found.fields.get(DOCUMENT, ("", ""))
        bases = {TEXT: found.base, **{name: base for name, (_, base) in found.fields.items()}}
        self._stale = any(bases[name] != digest(values[name] or "") for name in typed)
        self._typed = typed
        if typed or self._document:
            self._restored_at = since(found.at, self._draft.clock())

    def contents(self) -> Iterable[Widget]:
        """Return the text, the other fields, and the line of its state."""
        if self._saving.subject.is_one:
            yield Horizontal(InertTextArea(self._start), classes="form--texts")
        state = Static(Content(""), classes="form--state")
        yield Vertical(VerticalScroll(*self._lines, can_focus=False, classes="form--fields"), state, id="form-below")

    def on_mount(self) -> None:
        """Put the cursor behind the text, and say where a restored one comes from."""
        self.set_class(not self._saving.subject.is_one, "-several")
        for line in self._lines:
            if line.field.name in self._typed:
                line.put(self._typed[line.field.name])
        if self._area is None:
            self._lines[0].focus_input()
        else:
            self._area.focus()
            self._area.move_cursor(self._area.document.end)
        self._show_title()
        self._say_first()
        if self._touched():
            self._keeping.soon()

    def _say_first(self) -> None:
        """Say what is to be known of what stands there at the beginning."""
        if self._problem is not None:
            self.call_after_refresh(self._refuse, self._problem)
        elif self._restored_at:
            changed = " What is stored was changed since." if self._stale else ""
            keys = keyed("{editor.other}: what is stored, and back; esc twice lets go of this.")
            said = f"Restored: you typed this {self._restored_at} and did not save it.{changed} {keys}"
            self._say(said, "$text-warning")
        else:
            self._show_state()

    def on_resize(self, event: events.Resize) -> None:
        """Give the text half of the height at least, and the fields a line each as far as that goes."""
        rows = event.size.height
        self.set_class(rows < SHORT, "-short")
        wanted = len(self._lines) + (1 if rows < SHORT else 3)
        inside = rows if rows < SHORT else rows * 9 // 10 - 4
        most = rows - 6 if self._area is None else inside - 2 - (rows + 1) // 2
        self.query_one("#form-below").styles.height = max(3, min(wanted, most))

    def on_unmount(self) -> None:
        """Keep what is typed when the app ends in mid-edit."""
        self._keeping.at_the_end()

    @property
    def _area(self) -> InertTextArea | None:
        return next(iter(self.query(InertTextArea)), None)

    @property
    def unsaved(self) -> bool:
        """Whether anything differs from what was given."""
        return bool(self._touched()) or bool(self._document)

    def _touched(self) -> dict[str, str]:
        """Return what was changed."""
        area = self._area
        text = {TEXT: area.text} if area is not None and area.text != self._stored else {}
        return {**text, **{line.field.name: line.value for line in self._lines if line.touched}}

    def _values(self) -> dict[str, str]:
        area = self._area
        text = {} if area is None else {TEXT: area.text}
        return {**text, **{line.field.name: line.value for line in self._lines}}

    # While it is written

    def on_text_area_changed(self) -> None:
        """Count what is left, and keep what is typed in a moment."""
        if self._area is not None and self._area.text != self._stored:
            self._written = self._area.text
        self._show_title()
        self._changed()

    @on(FieldLine.Changed)
    def _line_changed(self) -> None:
        self._changed()

    def _changed(self) -> None:
        self._warned = False
        self._show_state()
        self._keeping.soon()
        self._show_theirs()

    def _show_title(self) -> None:
        """Show the title that is made of the text, where it has none of its own."""
        line = next((line for line in self._lines if line.field.name == TITLE), None)
        if line is not None and self._area is not None and not line.value:
            line.suggest(one_line(head(self._area.text.lstrip(), TITLE_CELLS).partition("\n")[0], TITLE_CELLS))

    def _keep(self) -> None:
        """Keep what is typed as a draft, and say so when that stops working."""
        draft, before = self._draft, self._unkept
        if draft is None:
            return
        touched, values = self._touched(), self._saving.subject.values
        text = self._written if self._written != self._stored else touched.pop(TEXT, self._stored)
        touched.pop(TEXT, None)
        fields = {name: (value, digest(values[name] or "")) for name, value in touched.items()}
        if self._document:
            fields[DOCUMENT] = (self._document, "")
        if text == self._stored and not fields:
            draft.drop()
        else:
            found = draft.find() if self._stale else None
            base = digest(self._stored) if found is None else found.base
            old = {} if found is None else found.fields
            fields = {name: (value, old.get(name, ("", base))[1]) for name, (value, base) in fields.items()}
            self._unkept = draft.keep(text, base, fields)
        if self._unkept != before and self.is_mounted:
            self._show_state()

    # Saving and leaving

    def _end(self, saved: Values | None) -> None:
        """Close with a result; the draft has done its duty."""
        self._keeping.let_go()
        self.dismiss(saved)

    def action_save(self) -> None:
        """Save it, or say why it cannot be saved; while others write to the store, it stays and waits."""
        change(self, self._save, lambda error: self._say(f"✗ {error}", "$text-error"))

    def _save(self) -> None:
        touched = self._touched()
        problem = self._unready()
        if problem:
            self._say(f"✗ {problem}", "$text-error")
            return
        refusal = self._saving(touched)
        if refusal is None:
            self._end(touched)
        elif refusal.sentence:
            self._refuse(refusal)

    def _unready(self) -> str:
        """Return why what stands there is not to be saved yet, or nothing."""
        text = None if self._area is None else self._area.text
        over = 0 if text is None else len(text) - self._limit
        if text is not None and not text.strip():
            return "The text is empty. Esc leaves it as it was."
        if over > 0:
            return f"The text is {number(over)} characters too long."
        if self._document and not self._without:
            self._without = True
            return keyed(
                "The document cannot be read yet: {form.external} opens it, {editor.save} again saves without it."
            )
        if self._stale and self._touched():
            self._stale = False
            return keyed(
                "What is stored was changed since you typed this: {editor.other} shows it, "
                "{editor.save} again replaces it."
            )
        return ""

    def _refuse(self, refusal: Refusal) -> None:
        """Say why it is not saved, beside the field where that has one, and put the cursor there."""
        line = next((line for line in self._lines if line.field.name == refusal.field), None)
        if line is not None:
            line.focus_input()
        if line is not None and refusal.unfit:
            line.complain(refusal.sentence)
            where = f"Line {refusal.line}: " if refusal.line else ""
            self._say(f"✗ {where}{refusal.sentence}. Nothing was saved yet, and nothing is lost.", "$text-error")
        else:
            self._say(f"✗ {refusal.sentence}", "$text-error")
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
        """Show what somebody else stored meanwhile, field by field, with what is added and taken away here."""
        theirs, mine = self._saving.theirs, self._values()
        if not theirs or self._area is None:
            return
        if not self.query(ReadingPane):
            self.query_one(".form--texts").mount(ReadingPane(id="form-theirs"))
        parts = [Content.styled("Stored now, and {+yours+} against [-theirs-]", MUTED)]
        parts += [] if self.has_class("-narrow") else [Content("")]
        for name, value in theirs.items():
            parts += [] if list(theirs) == [TEXT] else [body(name, "bold")]
            parts.append(word_diff(value, mine[name], _BESIDE))
        self.query_one(ReadingPane).show(Content("\n").join(parts), keep_place=True)

    def action_cancel(self) -> None:
        """Leave; with unsaved changes, or a restored draft out of sight, only the second time."""
        if (self.unsaved or self._restored_at) and not self._warned:
            self._warned = True
            self._say(keyed("Unsaved: esc again discards, {editor.save} saves."), "bold $text-warning")
        else:
            self._end(None)

    # From field to field

    def focus_next(self, selector: str | type[QueryType] = "*") -> Widget | None:
        """Put the cursor into the next field at once."""
        return _entered(super().focus_next(selector))

    def focus_previous(self, selector: str | type[QueryType] = "*") -> Widget | None:
        """Put the cursor into the field before at once."""
        return _entered(super().focus_previous(selector))

    def action_part(self) -> None:
        """To the next field."""
        self.focus_next()

    def action_up(self) -> None:
        """To the field above."""
        self.focus_previous()

    def action_down(self) -> None:
        """To the field below."""
        if not self._lines[-1].has_focus_within:
            self.focus_next()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_down()

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
        fields, values = self._saving.subject.fields, self._values()
        document = self._document or document_of(values, fields)
        try:
            saved = external.edit(self.app, document)
            if saved is not None:
                self._document, self._without = saved, False
                self._take(read_document(saved, values, fields))
        except BadDocument as bad:
            self._refuse(Refusal(f"{bad} {keyed(AGAIN)}"))
            self._keeping.soon()
        except WorkbenchError as error:
            self._say(f"✗ {error}", "$text-error")

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
            self._saving.subject.check(self._touched())
        except UnfitValue as unfit:
            where = line_of(document, unfit.field)
            self._refuse(Refusal(unfit.message, unfit.field, unfit=True, line=where))

    # What is said

    def on_inert_text_area_stripped(self, event: InertTextArea.Stripped) -> None:
        """Say what a paste lost."""
        some = "1 control character was" if event.count == 1 else f"{event.count} control characters were"
        self._say(f"{some} left out of the paste.", "$text-warning")

    def _show_state(self) -> None:
        text = None if self._area is None else self._area.text
        held = self._area is not None and self._area.is_held
        left = self._limit - len(text or "")
        words = f"{number(left)} characters left" if left >= 0 else f"✗ {number(-left)} characters too long"
        touched = list(self._touched())
        parts = [f"● changed: {', '.join(touched)}"] if touched else []
        parts += [f"no draft is kept ({self._unkept})"] if self._unkept else []
        if held:
            parts.append(keyed(HELD))
        if text is not None and not (held and left >= 0):
            parts.append(words)
        elif text is None and not touched:
            parts.append("Nothing is set yet.")
        self._say(" · ".join(parts), MUTED if left >= 0 else "$text-error")

    def _say(self, sentence: str, style: str) -> None:
        state = self.query_one(".form--state", Static)
        # Only what needs another number of lines moves anything.
        longest = max(len(sentence), self._said)
        self._said = len(sentence)
        state.update(body(sentence, style), layout=longest >= state.size.width)


def _entered(found: Widget | None) -> Widget | None:
    if isinstance(found, FieldLine):
        found.focus_input()
    return found


# Opening a form: here, or as one document in the person's own editor.


async def fill_in(area: AreaScreen, saving: FormSaving, draft: Drafting | None = None) -> Values | None:
    """Open a form; return what was saved, or `None` when it was left."""
    return await area.app.push_screen_wait(RecordForm(saving, draft=draft))


async def fill_in_elsewhere(
    area: AreaScreen,
    saving: FormSaving,
    draft: Drafting | None = None,
    copies: CopyAsking | None = None,
    line: int = 0,
) -> Values | None:
    """Open all of it in the person's own editor; what cannot be saved of it opens as a form, with the reason.

    The editor begins at a `line` of the text (from 1; 0 for none) where its way of saying so is known.
    Return what was saved, or `None` for nothing.
    """
    subject = saving.subject
    values = {name: value or "" for name, value in subject.values.items()}
    document = document_of(values, subject.fields)
    saved = await area.edit_externally(document, line and line + text_line_of(document) - 1)
    if saved is None:
        return None
    try:
        typed = read_document(saved, values, subject.fields)
    except BadDocument as bad:
        refused = Refusal(f"{bad} {keyed(AGAIN)}")
        return await area.app.push_screen_wait(RecordForm(saving, document=saved, draft=draft, problem=refused))
    if not typed:
        return None
    problem = saving.unfit(typed)
    with area.workbench_app.reporting():
        if problem is None and copies is not None and not await copies.settled(saving.shown(typed)):
            problem = Refusal("It is not saved yet.")
        problem = problem or saving.at_once(typed)
    if problem is None:
        return typed
    problem = replace(problem, line=line_of(saved, problem.field)) if problem.unfit else problem
    return await area.app.push_screen_wait(RecordForm(saving, typed=typed, draft=draft, problem=problem))
