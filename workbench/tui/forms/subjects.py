"""What a form is of: a memory, several, a new one, a proposal in Review, a bullet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.core.playbook.book import Bullet, Section
from workbench.core.review.proposal import Proposal
from workbench.services.forms.bullet_lines import SECTION
from workbench.services.forms.memory_lines import IMPORTANCE, MEMORY_TYPE, TYPE
from workbench.services.forms.values import TEXT, Field, Values
from workbench.services.open import Workbench
from workbench.services.promotion.copies import Correction
from workbench.services.safety.masking import masked_name
from workbench.services.stream.fields import FieldEdit

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
    """Return a bullet."""
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
