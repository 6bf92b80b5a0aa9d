"""The parts of Health in their order: a new part is one module with a `SECTION`, and one line here."""

from workbench.tui.agents import consolidation
from workbench.tui.duplicates import memories
from workbench.tui.files import section
from workbench.tui.health import captures, history, reflection, settings, still_true, store, trends, upkeep
from workbench.tui.health.model import Section

SECTIONS: tuple[Section, ...] = (
    settings.SECTION,
    reflection.SECTION,
    upkeep.SECTION,
    memories.SECTION,
    store.SECTION,
    section.SECTION,
    history.SECTION,
    captures.SECTION,
    trends.SECTION,
    still_true.SECTION,
    consolidation.SECTION,
)
