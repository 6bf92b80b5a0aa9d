"""The actions of promoting: the keys of its dialog."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, MOVE, Action, Table
from workbench.tui.widgets.actions import MOVES

PROMOTE = Table(
    "promoting",
    (
        Action("promote.write", "enter", "promote", "Write what is shown", CHANGE),
        Action(
            "promote.fields",
            "tab",
            "fields and text",
            "To the fields, the text and back",
            MOVE,
            True,
            "app.focus_next",
        ),
        Action("promote.leave", "escape", "close", "Close without doing anything", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.promotion.dialog",
)

COPIES = Table(
    "the copies of a correction",
    (
        Action(
            "copies.update",
            "y",
            "update them too",
            "Save it with the copies, as one action",
            DECIDE,
            True,
            "answer(True)",
        ),
        Action("copies.leave", "n", "only this", "Save it; the copies stay as they are", DECIDE, True, "answer(False)"),
        Action("copies.back", "escape", "go on editing", "Back to the text; nothing is saved", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.promotion.copies",
)

DIALOGS = (PROMOTE, COPIES)
