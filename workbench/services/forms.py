"""Forms of records: every field as a line, all of it as one document, and what was changed saved as
one action.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple, cast

from workbench.core.playbook import operations
from workbench.core.playbook.book import Bullet, Playbook, Section
from workbench.core.record import Conflict, InvalidRecord, WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory, MemoryType
from workbench.core.text import named, one_line
from workbench.services.playbook.playbook import shown_title
from workbench.services.safety.masking import masked_name
from workbench.services.safety.texts import kept_summary
from workbench.services.stream.fields import FieldEdit
from workbench.services.stream.observation import Observation

if TYPE_CHECKING:
    from workbench.services.open import Workbench

TEXT, TITLE, TYPE, MEMORY_TYPE, IMPORTANCE, TAGS = (
    "text",
    "title",
    "type",
    "memory type",
    "importance",
    "tags",
)
CATEGORY, SECTION, RELATED, NOTE = "category", "section", "related", "note"
"""The fields by their names; the text alone may have many lines."""

HIGHEST = 10
"""The most that importance can be."""

SHOWN = 16
"""Cells of a refused value that a sentence repeats."""

_WORDS = {TEXT: "content", TITLE: "summary", CATEGORY: "category", SECTION: "section", NOTE: "note"}
"""The fields that take any words, by what an edit calls them."""

_ONLY = "only the fields you touch are set"
_DIFFER = "(they differ)"

Values = Mapping[str, str]
"""What stands in the fields of a form, by their names."""


class Field(NamedTuple):
    """A field of a form: its name, and the values that it takes, where those are few; `words` may
    hold a secret.
    """

    name: str
    choices: tuple[str, ...] = ()
    words: bool = True


class UnfitValue(InvalidRecord):
    """What stands in the field `field` cannot be its value; the message says why, in half a line."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, "")
        self.field = field


class Form:
    """The form of a record, of several together, or of a new one (no `ids`).

    `values` is what stands in its fields, `None` where several records differ, and `empty` what an
    empty field stands for. Saved are the values that were changed, and no others; `changed` is how
    many records that was.
    """

    changed = 0

    def __init__(
        self,
        bench: "Workbench",
        title: str,
        ids: Sequence[str],
        fields: tuple[Field, ...],
        empty: Values | None = None,
    ) -> None:
        self.bench, self.title, self.ids, self.fields = bench, title, tuple(ids), fields
        self.values: Mapping[str, str | None] = self.read()
        self.empty = empty or {
            name: _DIFFER for name, value in self.values.items() if value is None
        }

    @property
    def name(self) -> str:
        """What the record is called in a sentence, or in the history."""
        return self.title if len(self.ids) != 1 else self.ids[0]

    @property
    def kept(self) -> tuple[str, ...]:
        """The records in which a secret may stay that was typed."""
        return self.ids

    def read(self) -> dict[str, str | None]:
        """Return what is stored now; raises `UnknownRecord`."""
        every = [self._values(id) for id in self.ids]
        if len(every) == 1:
            return {**every[0]}
        if not every:
            return dict.fromkeys((TEXT, *(field.name for field in self.fields)), "")
        names = [name for name in every[0] if name != TEXT]
        return {
            name: every[0][name] if len({one[name] for one in every}) == 1 else None
            for name in names
        }

    def edit(self, values: Values) -> FieldEdit:
        """Return values as an edit; raises `UnfitValue` for the first that cannot be."""
        raise NotImplementedError

    def write(self, values: Values, expected: Values) -> None:
        """Save values, unless something else than `expected` is stored by now (`Conflict`): all of
        them or none.
        """
        raise NotImplementedError

    def corrected(self, values: Values) -> tuple[Memory, Memory] | tuple[Bullet, Bullet] | None:
        """Return a record as it is and as saving would leave it, where copies of it may go along."""
        del values
        return None

    def _values(self, id: str) -> dict[str, str]:
        raise NotImplementedError

    def _require_unchanged(self, expected: Values) -> None:
        now = self.read()
        if any(now.get(name) != value for name, value in expected.items()):
            raise Conflict(
                f"{self.ids[0]} was changed by someone else meanwhile.", "Nothing was written."
            )


class MemoryForm(Form):
    """The form of memories."""

    def __init__(self, bench: "Workbench", *ids: str) -> None:
        self._table = bench.library.memories
        named = (
            f"{len(ids)} memories: {_ONLY}"
            if len(ids) > 1
            else masked_name("".join(ids), bench.safety.masked)
        )
        usual = {TYPE: "general", MEMORY_TYPE: "episodic", IMPORTANCE: "by its type and words"}
        fields = memory_fields(map(self._table.get, ids))
        super().__init__(
            bench, f"Edit {named}" if ids else "New memory", ids, fields, None if ids else usual
        )

    def edit(self, values: Values) -> FieldEdit:
        given = (
            values if self.ids else {name: line for name, line in values.items() if line.strip()}
        )
        return memory_edit(self.bench, given, [self._table.get(id) for id in self.ids])

    def corrected(self, values: Values) -> tuple[Memory, Memory] | None:
        if len(self.ids) != 1:
            return None
        memory = self._table.get(self.ids[0])
        return memory, self.bench.fields.edited(memory, self.edit(values))

    def write(self, values: Values, expected: Values) -> None:
        if not self.ids:
            self.ids = (self._added(values),)
            return
        whose = named(self.ids, "memories")
        what = "" if list(values) == [TEXT] else f"{', '.join(values)} of "
        with self.bench.context.transaction(f"edit {what}{whose}"):
            if len(self.ids) == 1:
                self._require_unchanged(expected)
            self.changed = len(self.bench.fields.edit(self.ids, self.edit(values)))

    def _added(self, values: Values) -> str:
        """Store a new memory; raises `InvalidRecord` when another one says it already."""
        bench = self.bench
        edit = self.edit(values)
        first = Observation(
            edit.content or "", tags=edit.tags or (), rated_by=bench.context.settings.importance
        )
        seen = first._replace(
            observation_type=edit.observation_type or first.observation_type,
            memory_type=edit.memory_type or first.memory_type,
        )
        with bench.context.transaction("write a memory") as tx:
            # What says the same in other words is looked for by the model, and nobody waits here
            # until that is loaded.
            done = (
                bench.ingest.add(seen)
                if bench.retriever.ready
                else bench.ingest.append(seen, lambda _: None)
            )
            id = done.memory.id
            if done.outcome in ("skipped", "absorbed"):
                raise InvalidRecord(
                    f"{id} already says this.", "Nothing was written; edit that one."
                )
            if done.outcome == "forgotten":
                message = f"This was {done.memory.archived_reason} ({id})."
                raise InvalidRecord(
                    message, f"Nothing was written; `workbench unforget {id}` restores it."
                )
            if done.outcome == "purged":
                hint = "Nothing was written; `workbench ingest --again` stores it anyway."
                raise InvalidRecord(f"{id} was purged with this text.", hint)
            bench.fields.edit((id,), edit._replace(content=None, tags=None))
            tx.relabel(f"write {id}")
        return id

    def _values(self, id: str) -> dict[str, str]:
        return memory_values(self._table.get(id))


class ProposalForm(Form):
    """The form of the memory that accepting a proposal writes; raises for one that has no text to
    edit.
    """

    def __init__(self, bench: "Workbench", proposal: Proposal) -> None:
        self._proposal = proposal
        memory = bench.review.subject(proposal)
        title = f"Edit {masked_name(memory.id, bench.safety.masked)}"
        super().__init__(bench, title, [memory.id], memory_fields([memory]))

    @property
    def kept(self) -> tuple[str, ...]:
        return self.ids if self.bench.library.memories.find(self.ids[0]) is not None else ()

    def edit(self, values: Values) -> FieldEdit:
        return memory_edit(self.bench, values, [self.bench.review.subject(self._proposal)])

    def write(self, values: Values, expected: Values) -> None:
        with self.bench.context.transaction(f"edit {self._proposal.id}"):
            self._require_unchanged(expected)
            self.bench.review.edit(self._proposal.id, self.edit(values))

    def _values(self, id: str) -> dict[str, str]:
        del id
        return memory_values(self.bench.review.subject(self._proposal))


class BulletForm(Form):
    """The form of bullets of a playbook; a new one goes into a section unless another one is named."""

    def __init__(
        self, bench: "Workbench", book: str, *ids: str, section: Section | None = None
    ) -> None:
        self._book, self._section = book, section
        playbook = bench.playbooks.open(book)
        named = f"{len(ids)} bullets: {_ONLY}" if len(ids) > 1 else "".join(ids)
        title = f"New bullet in {section_name(section, playbook)}" if section else f"Edit {named}"
        choices = tuple(
            section_name(one, playbook) for one in playbook.sections if one.title.strip()
        )
        super().__init__(bench, title, ids, (Field(SECTION, choices, words=False),))

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(f"{self._book}/{id}" for id in self.ids)

    def read(self) -> dict[str, str | None]:
        if self._section and not self.ids:
            return {TEXT: "", SECTION: section_name(self._section, self._playbook)}
        return super().read()

    def edit(self, values: Values) -> FieldEdit:
        section = _section_in(values[SECTION], self._playbook) if SECTION in values else None
        return FieldEdit(content=values.get(TEXT), section=section)

    def corrected(self, values: Values) -> tuple[Bullet, Bullet] | None:
        if len(self.ids) != 1 or TEXT not in values:
            return None
        return self.bench.playbooks.edited(self._book, self.ids[0], values[TEXT])

    def write(self, values: Values, expected: Values) -> None:
        edit, playbooks = self.edit(values), self.bench.playbooks
        if len(self.ids) == 1:
            with self.bench.context.transaction(f"edit {self.ids[0]}"):
                self._require_unchanged(expected)
                playbooks.edit(self._book, self.ids[0], edit.content, section=edit.section)
        elif self.ids and edit.section is not None:
            playbooks.move(self._book, self.ids, edit.section)
            self.changed = len(self.ids)
        elif not self.ids:
            section = edit.section or (self._section.id if self._section else "")
            self.ids = (playbooks.add(self._book, section, edit.content or ""),)

    @property
    def _playbook(self) -> Playbook:
        return self.bench.playbooks.open(self._book)

    def _values(self, id: str) -> dict[str, str]:
        playbook, bullet = self._playbook, self.bench.playbooks.bullet(self._book, id)
        section = next(
            (section for section in playbook.sections if section.id == bullet.section), None
        )
        return {TEXT: bullet.content, SECTION: section_name(section, playbook) if section else ""}


def memory_fields(memories: Iterable[Memory] = ()) -> tuple[Field, ...]:
    """Return the fields of a memory but its text; a type that one of `memories` has of its own is
    among the choices.
    """
    types = tuple(
        dict.fromkeys((*OBSERVATION_TYPES, *(memory.observation_type for memory in memories)))
    )
    of_few = {TYPE: types, MEMORY_TYPE: MEMORY_TYPES}
    names = (TITLE, TYPE, MEMORY_TYPE, IMPORTANCE, TAGS, CATEGORY, SECTION, RELATED, NOTE)
    return tuple(
        Field(name, of_few.get(name, ()), name in _WORDS or name == TAGS) for name in names
    )


def memory_values(memory: Memory) -> dict[str, str]:
    """Return what the form of a memory holds; a title that was cut from the text is none of its
    own.
    """
    return {
        TEXT: memory.content,
        TITLE: kept_summary(memory.summary, memory.content),
        TYPE: memory.observation_type,
        MEMORY_TYPE: memory.memory_type,
        IMPORTANCE: f"{memory.importance_score:g}",
        TAGS: ", ".join(memory.tags),
        CATEGORY: memory.category,
        SECTION: memory.section,
        RELATED: ", ".join(memory.related),
        NOTE: memory.note,
    }


def memory_edit(bench: "Workbench", values: Values, before: Sequence[Memory]) -> FieldEdit:
    """Return the edit of the memories `before` that values of their form ask for; raises
    `UnfitValue`.
    """
    edit = FieldEdit(**{_WORDS[name]: value for name, value in values.items() if name in _WORDS})  # type: ignore[arg-type]
    if TYPE in values:
        types = next(field.choices for field in memory_fields(before) if field.name == TYPE)
        edit = edit._replace(observation_type=_one_of(TYPE, values[TYPE], types))
    if MEMORY_TYPE in values:
        kind = _one_of(MEMORY_TYPE, values[MEMORY_TYPE], MEMORY_TYPES)
        edit = edit._replace(memory_type=cast(MemoryType, kind))
    if IMPORTANCE in values:
        edit = edit._replace(importance=_importance(values[IMPORTANCE]))
    if TAGS in values:
        edit = _tagged(edit, values[TAGS], before)
    if RELATED in values:
        edit = edit._replace(related=_related(bench, values[RELATED], before))
    return edit


def _one_of(name: str, line: str, choices: tuple[str, ...]) -> str:
    """Return a value that is one of a few, or the beginning of only one; raises `UnfitValue`, with
    the nearest one.
    """
    found = " ".join(line.split())
    begun = [choice for choice in choices if found and choice.startswith(found)]
    if found in choices or len(begun) == 1:
        return found if found in choices else begun[0]
    near = get_close_matches(found.casefold().replace(" ", "_"), choices, 1, 0.5)
    said = f"“{one_line(found, SHOWN)}” is not a {name}" if found else f"A {name} is required"
    raise UnfitValue(name, f"{said}: {near[0]}?" if near else f"{said}: {', '.join(choices[:3])} …")


def _importance(value: str) -> float:
    try:
        found = float(value.strip().replace(",", "."))
    except ValueError:
        said = (
            f"“{one_line(value.strip(), SHOWN)}” is not a number"
            if value.strip()
            else "An importance is required"
        )
        raise UnfitValue(IMPORTANCE, f"{said}: 0 to {HIGHEST}") from None
    if not 0 <= found <= HIGHEST:
        raise UnfitValue(IMPORTANCE, f"Importance goes from 0 to {HIGHEST}, not to {found:g}")
    return found


def _tagged(edit: FieldEdit, value: str, before: Sequence[Memory]) -> FieldEdit:
    """Return an edit with tags; of several memories, those that all begin with + or - are added or
    taken away.
    """
    tags = tuple(dict.fromkeys(part for raw in value.split(",") if (part := raw.strip())))
    had = {tag for memory in before for tag in memory.tags}
    for tag in tags:
        if any(map(str.isspace, tag)) and had.isdisjoint((tag, tag[1:])):
            raise UnfitValue(
                TAGS, f"“{one_line(tag, SHOWN)}” has a space: separate tags with commas"
            )
    if len(before) < 2 or not tags or not all(len(tag) > 1 and tag[0] in "+-" for tag in tags):
        return edit._replace(tags=tags)
    added, removed = (tuple(tag[1:] for tag in tags if tag[0] == sign) for sign in "+-")
    return edit._replace(added=added, removed=removed)


def _related(bench: "Workbench", value: str, before: Sequence[Memory]) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(value.replace(",", " ").split()))
    for id in ids:
        if any(memory.id == id for memory in before):
            raise UnfitValue(RELATED, "A memory is not related to itself")
        if id not in bench.library.memories:
            raise UnfitValue(RELATED, f"No memory {one_line(id, 2 * SHOWN)}")
    return ids


def section_name(section: Section, playbook: Playbook) -> str:
    """Return what a section is called in a form: its title, or its id where that says more."""
    title = " ".join(shown_title(section).split()).strip("#").strip()
    same = [other for other in playbook.sections if other.key == section.key]
    return title if title and len(same) == 1 else section.id


def _section_in(value: str, playbook: Playbook) -> str:
    """Return the id of the section that a value names; raises `UnfitValue`."""
    said = " ".join(value.split())
    names = {section_name(section, playbook): section for section in playbook.sections}
    for name, section in names.items():
        if name.casefold() == said.casefold():
            return section.id
    try:
        return operations.find_section(playbook, said).id
    except WorkbenchError:
        titles = one_line(
            ", ".join(name for name, section in names.items() if section.title.strip()), 60
        )
        raise UnfitValue(SECTION, f"No section “{one_line(said, SHOWN)}”: {titles}") from None


# A form as one document: its fields as front matter, below it the text.


RULE = "---"


class BadDocument(InvalidRecord):
    """A document that cannot be read as the form it was made of; the message names the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"Line {line}: {message}", "Nothing was saved; your text is kept.")
        self.line = line


def document_of(values: Values, fields: Iterable[Field]) -> str:
    lines = (f"{field.name}: {_line(values.get(field.name, ''))}".rstrip() for field in fields)
    return "\n".join((RULE, *lines, RULE, values.get(TEXT, "")))


def read_document(document: str, values: Values, fields: Iterable[Field]) -> dict[str, str]:
    """Return what a document says otherwise than `values`, which it was made of; a field that it
    leaves out stays.

    Raises `BadDocument`.
    """
    names = sorted(field.name for field in fields)
    lines = document.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != RULE:
        raise BadDocument(1, f"the fields begin below a line of {RULE}.")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == RULE), None)
    if end is None:
        raise BadDocument(
            len(lines), f"the fields end with a line of {RULE}; below it stands the text."
        )
    found: dict[str, str] = {}
    for at, line in enumerate(lines[1:end], 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, value = line.partition(":")
        name = " ".join(name.split()).casefold()
        if not colon:
            raise BadDocument(
                at, f"“{one_line(line.strip(), 24)}” is not a field; write NAME: VALUE."
            )
        if name not in names:
            raise BadDocument(
                at, f"there is no field “{one_line(name, 24)}”; fields are {', '.join(names)}."
            )
        if name in found:
            raise BadDocument(at, f"{name} appears twice.")
        found[name] = value.strip()
    # What a line cannot show as it is stored is no change.
    changes = {
        name: value for name, value in found.items() if value != _line(values.get(name, "")).strip()
    }
    text = "\n".join(lines[end + 1 :])
    return changes if text == values.get(TEXT, "") else {TEXT: text, **changes}


def line_of(document: str, name: str) -> int:
    """Return the number of the line of a document that holds a field, 1 for none."""
    starts = enumerate(document.split("\n"), 1)
    return next((at for at, line in starts if line.partition(":")[0].strip().casefold() == name), 1)


def text_line_of(document: str) -> int:
    """Return the number of the line of a document, as `document_of` makes it, at which the text
    begins.
    """
    return document.split("\n").index(RULE, 1) + 2


def _line(value: str) -> str:
    return " ".join(value.split())
