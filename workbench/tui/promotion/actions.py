"""The actions of promoting: the keys of its dialog."""

from workbench.tui.app.actions import APP, CHANGE, MOVE, Action, Table
from workbench.tui.widgets.actions import MOVES

PROMOTE = Table(
    "promoting",
    (
        Action("promote.write", "enter", "promote", "Write what is shown", CHANGE),
        Action(
            "promote.fields", "tab", "fields and text", "To the fields, the text, and back", MOVE, True, "next_part"
        ),
        Action("promote.leave", "escape", "close", "Close without doing anything", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.promotion.dialog",
)

DIALOGS = (PROMOTE,)
