"""The table of actions of the form of a record."""

from workbench.tui.app.actions import CHANGE, MOVE, Action, Table
from workbench.tui.widgets.actions import CANCEL, OTHER, SAVE

FORM = Table(
    "the form",
    (
        SAVE,
        Action("form.part", "tab", "next field", "To the next field; shift+tab back", MOVE),
        Action("form.external", "ctrl+o", "$EDITOR", "All of it as one document in $EDITOR", CHANGE),
        OTHER,
        Action("form.up", "up", "field above", "To the field above", MOVE, False),
        Action("form.down", "down", "field below", "To the field below", MOVE, False),
        CANCEL,
    ),
    place="workbench.tui.forms.form",
)

DIALOGS = (FORM,)
