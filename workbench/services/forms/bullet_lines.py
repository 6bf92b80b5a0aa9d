"""The fields of a bullet as the lines of a form, and lines as what becomes of it."""

from collections.abc import Iterable

from workbench.core.errors import WorkbenchError
from workbench.core.playbook import delta
from workbench.core.playbook.book import Bullet, Playbook, Section
from workbench.core.text import one_line
from workbench.services.forms.values import SHOWN, TEXT, Field, UnfitValue, Values
from workbench.services.playbook.playbook import shown_title

SECTION = "section"


def fields_of(playbook: Playbook) -> tuple[Field, ...]:
    """Return the fields of a bullet but its text."""
    return (Field(SECTION, tuple(name_of(section, playbook) for section in _titled(playbook)), words=False),)


def values_of(bullet: Bullet, playbook: Playbook) -> dict[str, str]:
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
        return delta.find_section(playbook, said).id
    except WorkbenchError:
        titles = ", ".join(name_of(section, playbook) for section in _titled(playbook))
        raise UnfitValue(SECTION, f"There is no section “{one_line(said, SHOWN)}”: {one_line(titles, 60)}") from None


def _titled(playbook: Playbook) -> Iterable[Section]:
    return (section for section in playbook.sections if section.title.strip())
