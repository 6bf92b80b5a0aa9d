"""The tables of actions of the dialogs around reflecting."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table

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
        Action("reflected.down", "down,j", "read on", "Scroll down", MOVE, False),
        Action("reflected.up", "up,k", "read back", "Scroll up", MOVE, False),
        Action("reflected.leave", "escape", "close", "Close", APP),
    ),
    place="workbench.tui.reflection.dialog",
)

SENT = Table(
    "what is sent",
    (
        Action("sent.down", "down,j", "down", "Scroll down", MOVE, False),
        Action("sent.up", "up,k", "up", "Scroll up", MOVE, False),
        Action("sent.on", "pagedown,space,ctrl+d", "read on", "A page down", MOVE),
        Action("sent.back", "pageup,ctrl+u", "read back", "A page up", MOVE),
        Action("sent.first", "g,home", "first", "To the beginning", MOVE, False),
        Action("sent.last", "G,end", "last", "To the end", MOVE, False),
        Action("sent.close", "escape,v,q", "close", "Close the preview", APP),
    ),
    place="workbench.tui.reflection.dialog",
)

DIALOGS = (REFLECT, RUNNING, REFLECTED, SENT)
