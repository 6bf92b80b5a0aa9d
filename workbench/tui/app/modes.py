"""The areas as Textual modes; all but the first are imported when first opened, so that the app starts fast."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from textual.screen import Screen

SCREENS: Mapping[str, str] = {
    "stream": "StreamScreen",
    "review": "ReviewScreen",
    "playbook": "PlaybookScreen",
    "tune": "TuneScreen",
    "health": "HealthScreen",
}
"""The class of every area's screen."""

ROOMS: Mapping[str, str] = {"tune": "tuning"}
"""The package of an area's screen, where it has another name than the area."""


def openers() -> dict[str, Callable[[], Screen[object]]]:
    """Return what makes each area's screen, for `App.MODES`."""
    return {area: partial(_open, area) for area in SCREENS}


DIALOGS = (
    "widgets.texts.editor", "widgets.choose", "widgets.confirm", "widgets.texts.prompt", "widgets.help",
    "stream.history_dialog", "promotion.dialog", "files.imports.dialog", "reflection.flow",
    "files.exports.dialog", "duplicates.bullets", "playbook.budget", "playbook.agent", "playbook.deprecate",
    "playbook.curation.sources", "playbook.curation.cards", "playbook.curation.ask", "review.merge",
    "review.refine", "review.impact", "review.group", "tuning.judging.judge", "tuning.judging.better",
    "tuning.judging.auto", "tuning.judging.metrics", "tuning.profiles.compare", "tuning.profiles.library",
    "duplicates.threshold", "tuning.judging.queries_out", "tuning.judging.queries_in", "tuning.options",
    "files.dialog", "health.backup", "tuning.profiles.sides",
)  # fmt: skip
"""Modules of dialogs that are imported when one is first opened, or before while nobody waits."""

LIBRARIES = ("textual_plotext", "rapidfuzz.fuzz", "pyperclip")
"""What a key of some area needs first, imported the same way: the largest takes a tenth of a second."""


def import_all() -> None:
    """Import what areas and dialogs need, so that no first visit waits; meant for a thread while nobody waits."""
    for area in SCREENS:
        _module(area)
    for dialog in DIALOGS:
        import_module(f"workbench.tui.{dialog}")
    for library in LIBRARIES:
        import_module(library)


def screen_class(area: str) -> type[Screen[object]]:
    """Return the class of an area's screen; its module is imported then."""
    found: type[Screen[object]] = getattr(_module(area), SCREENS[area])
    return found


def _open(area: str) -> Screen[object]:
    return screen_class(area)()


def _module(area: str) -> object:
    return import_module(f"workbench.tui.{ROOMS.get(area, area)}.screen")
