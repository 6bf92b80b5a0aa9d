"""The tables of actions of the dialogs around files: findings, the whole file, importing."""

from workbench.tui.app.actions import MOVE, Action

_FIND, _DECIDE, _CHANGE, _APP = "Find", "Decide", "Change", "App"

FINDINGS = (
    Action("findings.fix", "f", "fix", "Change the file as shown", _CHANGE),
    Action("findings.fix-rule", "F", "all alike", "Show the fixes of all with this rule", _CHANGE),
    Action("findings.yes", "y", "make them", "Change the file as shown", _CHANGE, False),
    Action("findings.undo", "u", "take back", "Take back the fix made last here", _APP),
    Action("findings.whole", "v", "whole file", "The whole file, and what of it is loaded", _FIND),
    Action("findings.external", "E", "$EDITOR", "Edit the file in $EDITOR", _CHANGE),
    Action("findings.read-on", "J", "read on", "Scroll what changes", MOVE, False),
    Action("findings.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("findings.close", "escape,q", "close", "Leave the rule, or close", _APP),
)

WHOLE = (
    Action("whole.cut", "c", "to the cut", "To the first line that is not loaded", _FIND),
    Action("whole.close", "escape,v,q", "close", "Close the file", _APP, True, "cancel"),
)

IMPORT = (
    Action("import.take", "ctrl+s", "import", "Write what is listed into the store", _CHANGE),
    Action("import.format", "ctrl+t", "format", "Read the file as another format", _CHANGE),
    Action("import.steps", "ctrl+n", "steps", "When the first step was, and how long", _CHANGE, False),
    Action("import.theirs", "ctrl+r", "theirs", "Take the file's version of what differs", _DECIDE),
    Action("import.as-new", "ctrl+g", "as new", "Count memories towards a reflection", _DECIDE, False),
    Action("import.undo", "ctrl+z", "undo", "Take the last import back", _APP, False),
    Action("import.complete", "tab", "complete", "Complete the name, or back to it", _FIND),
    Action("import.down", "down", "down", "From the name to the list", MOVE, False),
    Action("import.leave", "escape", "close", "Stop what is under way, or close", _APP),
)

LISTS = {"the findings in a file": FINDINGS, "a whole file": WHOLE}
"""The dialogs in which the keys that move in a list hold too, by title."""

TABLES = {"importing": IMPORT}
"""The others."""
