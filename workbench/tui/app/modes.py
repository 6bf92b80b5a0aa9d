"""What is imported while nobody waits, so that the app starts fast and no first visit waits."""

from importlib import import_module

from workbench.tui.app.areas import AREAS, Areas

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


def import_all(areas: Areas = AREAS) -> None:
    """Import what areas and dialogs need, so that no first visit waits; meant for a thread while nobody waits."""
    for area in areas:
        _ = area.screen_class
    for dialog in DIALOGS:
        import_module(f"workbench.tui.{dialog}")
    for library in LIBRARIES:
        import_module(library)
