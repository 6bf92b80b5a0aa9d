"""The parts of Health in their order: a new part is one module with a `SECTION`, and one line here."""

from workbench.tui import (
    files_section,
    health_duplicates,
    health_history,
    health_reflection,
    health_store,
    health_upkeep,
)
from workbench.tui.health_model import Section

SECTIONS: tuple[Section, ...] = (
    health_reflection.SECTION,
    health_upkeep.SECTION,
    health_duplicates.SECTION,
    health_store.SECTION,
    files_section.SECTION,
    health_history.SECTION,
)
