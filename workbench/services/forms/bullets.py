"""Saving what stands in the form of a bullet, of several, or of a new one."""

from collections.abc import Callable, Sequence

from workbench.core.playbook import operations
from workbench.core.playbook.book import Bullet, Section
from workbench.services.context import Context
from workbench.services.forms.document import TEXT, Field, Values, require_unchanged
from workbench.services.forms.proposals import SECTION, line_fields_of, line_values_of, name_of, section_in
from workbench.services.playbook.playbook import Playbooks
from workbench.services.stream.fields import FieldEdit


class BulletForms:
    """The bullets of playbooks as the fields of a form; see `MemoryForms` for `values` and `expected`."""

    def __init__(self, context: Context, playbooks: Callable[[], Playbooks]) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks

    def fields(self, book: str) -> tuple[Field, ...]:
        """Return the fields of a playbook's bullets but their text."""
        return line_fields_of(self._playbooks().open(book))

    def values(self, book: str, id: str) -> dict[str, str]:
        """Return what the form of a bullet holds now; raises `UnknownRecord`."""
        bullet = self._playbooks().bullet(book, id)
        return line_values_of(bullet, self._playbooks().open(book))

    def section_name(self, book: str, section: Section) -> str:
        """Return what a section is called in the field of that name."""
        return name_of(section, self._playbooks().open(book))

    def shared(self, book: str, ids: Sequence[str]) -> dict[str, str | None]:
        """Return what stands in the fields of several bullets but their texts; `None` where they differ."""
        every = {self.values(book, id)[SECTION] for id in ids}
        return {SECTION: every.pop() if len(every) == 1 else None}

    def edit(self, book: str, values: Values) -> FieldEdit:
        return FieldEdit(content=values.get(TEXT), section=section_in(values, self._playbooks().open(book)))

    def corrected(self, book: str, id: str, values: Values) -> tuple[Bullet, Bullet]:
        bullet = self._playbooks().bullet(book, id)
        return self._playbooks().edited(book, id, values.get(TEXT, bullet.content))

    def save(self, book: str, id: str, values: Values, expected: Values) -> None:
        """Give a bullet another text, or another section, at whose end it stands then."""
        with self._library.transaction(self._context.actor, f"edit {id}"):
            require_unchanged(id, self.values(book, id), expected)
            self.change(book, id, self.edit(book, values))

    def change(self, book: str, id: str, edit: FieldEdit) -> None:
        """Carry out an edit of a bullet's text and section."""
        ops: list[operations.Operation] = []
        if edit.content is not None:
            ops.append(operations.Update(id, self._playbooks().edited(book, id, edit.content)[1].content))
        if edit.section is not None:
            ops.append(operations.Move(id, edit.section, None))
        self._playbooks().apply_all(book, ops, f"edit {id}")

    def save_all(self, book: str, ids: Sequence[str], values: Values) -> int:
        """Move several bullets to the end of one section; return how many those are."""
        edit = self.edit(book, values)
        if edit.section is not None:
            self._playbooks().move(book, ids, edit.section)
        return len(ids)

    def add(self, book: str, values: Values) -> str:
        """Add a bullet that a person wrote at the end of a section; return its id."""
        edit = self.edit(book, values)
        return self._playbooks().add(book, edit.section or "", edit.content or "")
