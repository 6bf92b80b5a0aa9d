"""The tables of actions of Health and its dialog."""

from workbench.tui.app.actions import MOVE, Action

_FIND, _DECIDE, _CHANGE, _APP = "Find", "Decide", "Change", "App"

HEALTH = (
    Action("health.apply", "a", "apply", "Put into Review what this part proposes", _DECIDE),
    Action("health.compare", "D", "duplicates", "Compare every memory with every other", _FIND),
    Action("health.prune", "p", "prune all", "Accept every prune, after a look at all", _DECIDE),
    Action("health.merge", "m", "merge", "Merge this group; undo parts it again", _DECIDE),
    Action("health.refuse", "x", "keep both", "Keep both apart, or turn an edit down", _DECIDE),
    Action("health.next-section", "tab", "next part", "To the next part of this screen", MOVE),
    Action("health.last-section", "shift+tab", "last part", "Back to the part before", MOVE, False),
    Action("health.check", "r", "check again", "Look at everything again", _FIND),
    Action("health.compact", "c", "compact", "Pack the closed files of the journal", _CHANGE, False),
    Action("health.backup", "b", "back up", "Write the whole store into one file", _CHANGE, False),
    Action("health.take-back", "t", "take back", "Take back the change under the cursor", _DECIDE, False),
    Action("health.add-file", "A", "add a file", "Look over a file that you name", _FIND, False),
    Action("health.unfold", "o", "open", "Show a text that is folded as unsafe", _FIND, False),
    Action("health.read-on", "J", "read on", "Scroll the text beside the list", MOVE, False),
    Action("health.read-back", "K", "read back", "Scroll back", MOVE, False),
)

BACKUP = (
    Action("backup.write", "ctrl+s", "write", "Write the backup to the file named here", _CHANGE),
    Action("backup.leave", "escape", "close", "Stop what is being written, or close", _APP),
)

PROPOSED = (
    Action("proposed.yes", "y", "do it", "Do what the title asks", _DECIDE),
    Action("proposed.read-on", "J", "read on", "Scroll the text", MOVE, False),
    Action("proposed.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("proposed.no", "escape,n", "close", "Close and leave everything as it is", _APP),
)
"""A list of what is proposed, to be looked through before it is accepted as a whole."""
