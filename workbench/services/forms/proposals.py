"""Saving what stands in the form of a proposal; it waits on."""

from collections.abc import Callable, Iterable

from workbench.core.playbook import operations
from workbench.core.playbook.book import Bullet, Playbook, Section
from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.context import Context
from workbench.services.forms.document import SHOWN, TEXT, Field, UnfitValue, Values, require_unchanged
from workbench.services.forms.memories import edit_of, fields_of, values_of
from workbench.services.playbook.playbook import shown_title
from workbench.services.review.review import Review
from workbench.services.stream.fields import FieldEdit

# The fields of a bullet as the lines of a form, and lines as what becomes of it.


SECTION = "section"


def line_fields_of(playbook: Playbook) -> tuple[Field, ...]:
    """Return the fields of a bullet but its text."""
    return (Field(SECTION, tuple(name_of(section, playbook) for section in _titled(playbook)), words=False),)


def line_values_of(bullet: Bullet, playbook: Playbook) -> dict[str, str]:
    """Return what the form of a bullet holds."""
    section = next((section for section in playbook.sections if section.id == bullet.section), None)
    return {TEXT: bullet.content, SECTION: "" if section is None else name_of(section, playbook)}


def name_of(section: Section, playbook: Playbook) -> str:
    """Return what a section is called in a form: its title, or its id where that says more."""
    title = " ".join(shown_title(section).split()).strip("#").strip()
    same = [other for other in playbook.sections if other.key == section.key]
    return title if title and len(same) == 1 else section.id


def section_in(values: Values, playbook: Playbook) -> str | None:
    """Return the id of the section that values ask for, `None` where they ask for none; raises `UnfitValue`."""
    if SECTION not in values:
        return None
    said = " ".join(values[SECTION].split())
    named = (section for section in playbook.sections if name_of(section, playbook).casefold() == said.casefold())
    found = next(named, None)
    if found is not None:
        return found.id
    try:
        return operations.find_section(playbook, said).id
    except WorkbenchError:
        titles = ", ".join(name_of(section, playbook) for section in _titled(playbook))
        raise UnfitValue(SECTION, f"There is no section “{one_line(said, SHOWN)}”: {one_line(titles, 60)}") from None


def _titled(playbook: Playbook) -> Iterable[Section]:
    return (section for section in playbook.sections if section.title.strip())


class ProposalForms:
    """Proposals as forms of the memory that accepting them writes; see `MemoryForms` for `values` and `expected`.

    Everything raises `WorkbenchError` for a proposal that has no text to edit, or that waits no more.
    """

    def __init__(self, context: Context, review: Callable[[], Review]) -> None:
        self._context = context
        self._library = context.library
        self._review = review

    def subject(self, proposal: Proposal) -> Memory:
        return self._review().subject(proposal)

    def fields(self, proposal: Proposal) -> tuple[Field, ...]:
        """Return the fields of the memory but its text."""
        return fields_of((self.subject(proposal),))

    def values(self, proposal: Proposal) -> dict[str, str]:
        """Return what the form holds now."""
        return values_of(self.subject(proposal))

    def edit(self, proposal: Proposal, values: Values) -> FieldEdit:
        """Return values as an edit of the memory."""
        return edit_of(values, (self.subject(proposal),), self._library.memories)

    def save(self, proposal: Proposal, values: Values, expected: Values) -> None:
        with self._library.transaction(self._context.actor, f"edit {proposal.id}"):
            require_unchanged(proposal.id, self.values(proposal), expected)
            self._review().edit(proposal.id, self.edit(proposal, values))
