"""The tables of actions of the dialogs around reflecting."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import MOVES

REFLECT = Table(
    "reflecting",
    (
        Action("reflect.start", "enter", "start", "Reflect as it says", DECIDE),
        Action("reflect.look-for", "f,slash", "focus", "Say what to look for", CHANGE),
        Action("reflect.reflector", "c", "reflector", "Claude, or on this machine", CHANGE),
        Action("reflect.preview", "v", "what is sent", "Show exactly what would leave the machine", FIND),
        Action("reflect.unread", "o", "unread replies", "Earlier replies that could not be read", FIND, False),
        Action("reflect.leave", "escape", "close", "Close without reflecting", APP),
    ),
    place="workbench.tui.reflection.dialog",
)
"""While the focus is written, letters are letters; enter or esc ends it."""

RUNNING = Table(
    "a reflection in the making",
    (Action("reflecting.stop", "escape", "stop", "Stop; what was found is kept", APP),),
    place="workbench.tui.reflection.dialog",
)

REFLECTED = Table(
    "what a reflection found",
    (
        Action("reflected.review", "enter,2", "to Review", "Go to Review and decide", DECIDE),
        Action("reflected.again", "r", "ask again", "Ask again for what could not be read", CHANGE),
        Action("reflected.edit", "e", "edit the reply", "Edit the reply into candidates", CHANGE),
        Action("reflected.let-go", "x", "let go", "Let go of the reply; undo brings it back", CHANGE),
        Action("reflected.leave", "escape", "close", "Close", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.reflection.dialog",
)

SENT = Table(
    "what is sent",
    (
        Action("sent.on", "space", "read on", "Half a page down", MOVE, True, "read_on"),
        Action("sent.close", "escape,v,q", "close", "Close the preview", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.reflection.dialog",
)

DIALOGS = (REFLECT, RUNNING, REFLECTED, SENT)
