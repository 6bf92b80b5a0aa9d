"""Saving a form: what cannot be is refused beside its field, what would be masked is shown, copies are asked about."""

from dataclasses import dataclass

from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.files.locks import StoreBusy
from workbench.services.forms.memory_lines import TAGS
from workbench.services.forms.values import TEXT, UnfitValue, Values
from workbench.services.open import Workbench
from workbench.tui.app.saving import KEEP, Preview
from workbench.tui.forms.subjects import Subject
from workbench.tui.promotion.copies import CopyAsking


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form is not saved, and which field that is about; an empty sentence when something is asked first.

    With `unfit` the sentence says what the field cannot hold, and `line` where that stands in a document.
    """

    sentence: str
    field: str = ""
    unfit: bool = False
    line: int = 0


class FormSaving:
    """Saves what was typed into a form: returns why it could not, or `None`.

    A store that others are writing to is not its matter: `StoreBusy` goes to who asked (see `tui.waiting`). What was
    changed meanwhile by somebody else is told the first time (see `theirs`), and replaced by the next. What would be
    masked in a field is shown once; the word that keeps it stands in a last line of the text, or last in a line.
    """

    def __init__(
        self, bench: Workbench, subject: Subject, copies: CopyAsking | None = None, again: str = "ctrl+s"
    ) -> None:
        self._bench, self._copies, self._again = bench, copies, again
        self.subject = subject
        self._base = {name: value or "" for name, value in subject.values.items()}
        words = (*(field.name for field in subject.fields if field.words), TEXT)
        self._previews = {
            name: Preview(bench, self._base[name], again, line=name != TEXT) for name in words if name in self._base
        }
        self.theirs: dict[str, str] = {}
        """What somebody else wrote meanwhile into fields that were changed here, once saving met it."""
        self.now: dict[str, str] = {}
        """All that is stored, once saving met that somebody else wrote."""

    def __call__(self, typed: Values) -> Refusal | None:
        """Save the values that were typed, or return why not."""
        if (refused := self.unfit(typed)) is not None:
            return refused
        for name in typed:
            if name in self._previews and (first := self._previews[name](typed[name])) is not None:
                return Refusal(first, name)
        return self._stored(self._meant(typed))

    def unfit(self, typed: Values) -> Refusal | None:
        """Return which value cannot be, and why; `None` for none."""
        try:
            self.subject.check(self._meant(typed))
            if TAGS in typed and TAGS in self._previews and self._previews[TAGS].stored != self._previews[TAGS].text:
                raise UnfitValue(TAGS, f"A secret, and a mask is no tag: “{KEEP}” as a last word keeps it")
        except UnfitValue as unfit:
            return Refusal(unfit.message, unfit.field, unfit=True)
        except WorkbenchError as error:
            return Refusal(str(error))
        return None

    def _meant(self, typed: Values) -> dict[str, str]:
        """Return what is meant by what was typed: without the word that keeps a secret."""
        previews = self._previews
        return {name: previews[name].read(value) if name in previews else value for name, value in typed.items()}

    def at_once(self, typed: Values) -> Refusal | None:
        """Save as a call does; that others are writing to the store is a sentence, too."""
        try:
            return self(typed)
        except StoreBusy as busy:
            return Refusal(str(busy))

    def shown(self, typed: Values) -> dict[str, str]:
        """Return typed values as they are stored: with markers for the secrets that are not kept."""
        return {
            name: self._bench.gate.preview(value, self._base[name]) if name in self._previews else value
            for name, value in typed.items()
        }

    def _stored(self, meant: dict[str, str]) -> Refusal | None:
        kept = {name: value for name, value in meant.items() if name in self._previews and self._previews[name].kept}
        copies = None if kept else self._copies
        if copies is not None:
            meant = self.shown(meant)  # the copies say what is stored
        try:
            if copies is not None and copies.asks(meant):
                return Refusal("")
            if copies is not None:
                copies.save(meant, lambda: self._write(meant))
            else:
                typed = self.subject.check(kept).typed
                with self._bench.safety.keeping(f"edit {self.subject.name}", typed, self.subject.kept):
                    self._write(meant)
        except StoreBusy:
            raise
        except Conflict as conflict:
            return self._met(conflict, meant)
        except UnfitValue as unfit:
            return Refusal(unfit.message, unfit.field, unfit=True)
        except WorkbenchError as error:
            return Refusal(str(error))
        return None

    def _write(self, meant: Values) -> None:
        self.subject.write(meant, {name: self._base[name] for name in meant})

    def _met(self, conflict: Conflict, meant: Values) -> Refusal:
        """Note what somebody else wrote into the fields that were changed here, and tell of it."""
        now = dict(self.subject.read())
        theirs = {name: now[name] for name in meant if name in now and now[name] != self._base[name]}
        if not theirs:
            return Refusal(str(conflict))
        self._base.update(now)
        self.now = now
        self.theirs = {**self.theirs, **theirs}
        what = "" if list(theirs) == [TEXT] else f" ({', '.join(theirs)})"
        again = f"{self._again} again replaces that."
        return Refusal(f"{self.subject.name} was changed by someone else meanwhile{what}. {again}")
