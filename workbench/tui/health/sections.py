"""The parts of Health in their order: a new part is one module with a `SECTION`, and one line here."""

from collections.abc import Sequence
from typing import cast

from textual.content import Content

from workbench.config import loading, paths
from workbench.core.text import printable
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_text
from workbench.tui.agents import consolidation
from workbench.tui.app.keymap import check_keymap
from workbench.tui.app.themes import load_themes, unknown_theme
from workbench.tui.duplicates import memories
from workbench.tui.files import section
from workbench.tui.health import captures, history, reflection, still_true, store, trends, upkeep
from workbench.tui.health.reflection import Facts, Row, Section, Watch, figures
from workbench.tui.widgets.content import MUTED, body

# Health: what is wrong with the person's settings, keys and themes, as the files are now; mostly nothing.


ID = "settings"
BAD, ERROR = "✗", "$text-error"


def gather(bench: Workbench, _watch: Watch) -> tuple[str, ...]:
    """Read the settings, the themes and the key map once more."""
    del bench
    folder = paths.config_dir()
    loaded = loading.load(folder / loading.FILE_NAME)
    themes = load_themes((paths.shipped("themes"), folder / "themes"))
    missing = unknown_theme(loaded.settings.theme, themes.themes) if "theme" in loaded.given else ()
    return (*loaded.problems, *themes.problems, *check_keymap(loaded.settings.keys).problems, *missing)


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for each thing that is wrong."""
    faults = cast("tuple[str, ...]", facts.found[ID].value)
    return [figures(ID, f"fault-{n}", BAD, _shown(fault), item=fault, style=ERROR) for n, fault in enumerate(faults)]


def detail(row: Row, facts: Facts) -> Content:
    """Return what is wrong in full, where the file is, and what to do."""
    file = printable(str(paths.config_dir() / loading.FILE_NAME))
    lines = [body(_shown(str(row.item)), ERROR)] if row.item else [Content.styled("What your settings say", "bold")]
    lines += [Content(""), body(file, MUTED), body("A theme is a file in the folder themes beside it.", MUTED)]
    then = f"{facts.keys['health.check']} looks again; what you mend holds from the next start."
    return Content("\n").join([*lines, Content(""), body(then)])


def _shown(fault: str) -> str:
    return masked_text(printable(fault))


SECTION = Section(ID, "Settings", gather, rows, detail, when="once", quiet=True)


SECTIONS: tuple[Section, ...] = (
    SECTION,
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
