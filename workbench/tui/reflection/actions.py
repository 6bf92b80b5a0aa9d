"""The tables of actions of the dialogs around reflecting."""

from workbench.tui.app.actions import MOVE, Action

_FIND, _DECIDE, _CHANGE, _APP = "Find", "Decide", "Change", "App"

REFLECT = (
    Action("reflect.start", "enter", "start", "Reflect as it says", _DECIDE),
    Action("reflect.look-for", "f,slash", "focus", "Say what to look for", _CHANGE),
    Action("reflect.reflector", "c", "reflector", "Claude, or on this machine", _CHANGE),
    Action("reflect.preview", "v", "what is sent", "Show exactly what would leave the machine", _FIND),
    Action("reflect.unread", "o", "unread replies", "Replies of before that nobody could read", _FIND, False),
    Action("reflect.leave", "escape", "close", "Close without reflecting", _APP),
)
"""While the focus is written, letters are letters; enter or esc ends it."""

RUNNING = (Action("reflecting.stop", "escape", "stop", "Stop; what was found is kept", _APP),)

REFLECTED = (
    Action("reflected.review", "enter,2", "to Review", "Go to Review and decide", _DECIDE),
    Action("reflected.again", "r", "ask again", "Ask again for what could not be read", _CHANGE),
    Action("reflected.edit", "e", "edit the reply", "Edit the reply into candidates", _CHANGE),
    Action("reflected.let-go", "x", "let go", "Let go of the reply; undo brings it back", _CHANGE),
    Action("reflected.down", "down,j", "read on", "Scroll down", MOVE, False),
    Action("reflected.up", "up,k", "read back", "Scroll up", MOVE, False),
    Action("reflected.leave", "escape", "close", "Close", _APP),
)

SENT = (
    Action("sent.down", "down,j", "down", "Scroll down", MOVE, False),
    Action("sent.up", "up,k", "up", "Scroll up", MOVE, False),
    Action("sent.on", "pagedown,space,ctrl+d", "read on", "A page down", MOVE),
    Action("sent.back", "pageup,ctrl+u", "read back", "A page up", MOVE),
    Action("sent.first", "g,home", "first", "To the beginning", MOVE, False),
    Action("sent.last", "G,end", "last", "To the end", MOVE, False),
    Action("sent.close", "escape,v,q", "close", "Close the preview", _APP),
)

TABLES = {
    "reflecting": REFLECT,
    "a reflection in the making": RUNNING,
    "what a reflection found": REFLECTED,
    "what is sent": SENT,
}
"""The tables by what is open."""
