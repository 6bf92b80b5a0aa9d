"""The actions of promoting: the keys of its dialog."""

from workbench.tui.app.actions import MOVE, Action

PROMOTE = (
    Action("promote.write", "enter", "promote", "Write what is shown", "Change"),
    Action("promote.fields", "tab", "fields and text", "To the fields, the text, and back", MOVE, True, "next_part"),
    Action("promote.leave", "escape", "close", "Close without doing anything", "App", True, "cancel"),
)
