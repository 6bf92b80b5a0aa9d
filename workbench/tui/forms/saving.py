"""Saving a form: what cannot be is refused beside its field, what would be masked is shown, copies are asked about."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.core.files.locks import StoreBusy
from workbench.core.playbook.book import Bullet, Section
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.services.forms.document import TEXT, Field, UnfitValue, Values
from workbench.services.forms.memories import IMPORTANCE, MEMORY_TYPE, TAGS, TYPE
from workbench.services.forms.proposals import SECTION
from workbench.services.open import Workbench
from workbench.services.promotion.copies import Correction
from workbench.services.safety.masking import masked_name
from workbench.services.stream.fields import FieldEdit
from workbench.tui.app.saving import KEEP, Preview
from workbench.tui.promotion.copies import CopyAsking

# What a form is of: a memory, several, a new one, a proposal in Review, a bullet.


NEW_MEMORY = {TYPE: "general", MEMORY_TYPE: "episodic", IMPORTANCE: "by its type and words"}
"""What stands for an empty field of a new memory."""

ONLY = "only the fields you touch are set"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a form is of: its name, its fields but the text, and what stands in all of them (`None`: several differ).

    `read` returns what is stored now, `check` what values ask for (it raises `UnfitValue`). `write(values, expected)`
    saves the values that were changed, unless something else than `expected` is stored by now (`Conflict`). `kept`
    returns the records that were written; `corrected`, where there is one, what a correction changes.
    """

    name: str
    title: str
    fields: tuple[Field, ...]
    values: Mapping[str, str | None]
    read: Callable[[], Values]
    check: Callable[[Values], FieldEdit]
    write: Callable[[Values, Values], object]
    kept: Callable[[], Iterable[str]]
    corrected: Callable[[Values], Sequence[Correction]] | None = None
    empty: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_one(self) -> bool:
        """Whether it has a text: several records have none together."""
        return TEXT in self.values


def of_memory(bench: Workbench, id: str) -> Subject:
    """Return a memory as what a form is of."""
    forms = bench.memory_forms
    return Subject(
        id, f"Edit {masked_name(id, bench.safety.masked)}", forms.fields([id]), forms.values(id),
        read=lambda: forms.values(id),
        check=lambda values: forms.edit(values, [id]),
        write=lambda values, expected: forms.save(id, values, expected),
        kept=lambda: [id],
        corrected=lambda values: [forms.corrected(id, values)],
    )  # fmt: skip


def of_memories(bench: Workbench, ids: Sequence[str], done: Callable[[int], object]) -> Subject:
    """Return several memories; `done` is told how many differ once they are saved."""
    forms = bench.memory_forms
    shared = forms.shared(ids)
    return Subject(
        f"{len(ids)} memories", f"Edit {len(ids)} memories: {ONLY}", forms.fields(ids), shared,
        read=dict,
        check=lambda values: forms.edit(values, ids),
        write=lambda values, _: done(forms.save_all(ids, values)),
        kept=lambda: ids,
        empty={name: "(they differ)" for name, value in shared.items() if value is None},
    )  # fmt: skip


def of_new_memory(bench: Workbench, done: Callable[[str], object]) -> Subject:
    """Return a memory that is to be written; `done` is told its id once it is stored."""
    forms, made = bench.memory_forms, list[str]()

    def write(values: Values, _: Values) -> None:
        made[:] = [forms.add(values).id]
        done(made[0])

    fields = forms.fields()
    return Subject(
        "the new memory", "New memory", fields, {TEXT: "", **{field.name: "" for field in fields}},
        read=dict,
        check=lambda values: forms.edit({name: line for name, line in values.items() if line.strip()}),
        write=write,
        kept=lambda: made,
        empty=NEW_MEMORY,
    )  # fmt: skip


def of_proposal(bench: Workbench, proposal: Proposal) -> Subject:
    """Return a proposal in Review; raises for one that has no text to edit."""
    forms = bench.proposal_forms
    subject = forms.subject(proposal)
    name = masked_name(subject.id, bench.safety.masked)
    return Subject(
        subject.id, f"Edit {name}", forms.fields(proposal), forms.values(proposal),
        read=lambda: forms.values(proposal),
        check=lambda values: forms.edit(proposal, values),
        write=lambda values, expected: forms.save(proposal, values, expected),
        kept=lambda: [id for id in (subject.id,) if bench.library.memories.find(id) is not None],
    )  # fmt: skip


def of_bullet(bench: Workbench, bullet: Bullet) -> Subject:
    forms, book, id = bench.bullet_forms, bullet.book, bullet.id
    return Subject(
        f"{book}/{id}", f"Edit {id}", forms.fields(book), forms.values(book, id),
        read=lambda: forms.values(book, id),
        check=lambda values: forms.edit(book, values),
        write=lambda values, expected: forms.save(book, id, values, expected),
        kept=lambda: [f"{book}/{id}"],
        corrected=lambda values: [forms.corrected(book, id, values)],
    )  # fmt: skip


def of_bullets(bench: Workbench, book: str, ids: Sequence[str]) -> Subject:
    """Return several bullets of a playbook."""
    forms = bench.bullet_forms
    shared = forms.shared(book, ids)
    return Subject(
        f"{len(ids)} bullets", f"Edit {len(ids)} bullets: {ONLY}", forms.fields(book), shared,
        read=dict,
        check=lambda values: forms.edit(book, values),
        write=lambda values, _: forms.save_all(book, ids, values),
        kept=lambda: [f"{book}/{id}" for id in ids],
        empty={name: "(they differ)" for name, value in shared.items() if value is None},
    )  # fmt: skip


def of_new_bullet(bench: Workbench, book: str, section: Section, done: Callable[[str], object]) -> Subject:
    """Return a bullet that is to be written, in a section unless another one is named; `done` is told its id."""
    forms, made = bench.bullet_forms, list[str]()
    named = forms.section_name(book, section)

    def write(values: Values, _: Values) -> None:
        made[:] = [forms.add(book, {SECTION: section.id, **values})]
        done(made[0])

    return Subject(
        "the new bullet", f"New bullet in {named}", forms.fields(book), {TEXT: "", SECTION: named},
        read=dict,
        check=lambda values: forms.edit(book, values),
        write=write,
        kept=lambda: [f"{book}/{made[0]}"],
    )  # fmt: skip


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
