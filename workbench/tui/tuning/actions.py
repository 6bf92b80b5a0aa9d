"""The tables of actions of Tune's dialogs."""

from workbench.tui.app.actions import MOVE, Action

_FIND, _DECIDE, _CHANGE, _APP = "Find", "Decide", "Change", "App"

COMPARE = (
    Action("compare.left", "c", "another left", "Put another ranking on the left", _FIND),
    Action("compare.right", "C", "another right", "Put another ranking on the right", _FIND),
    Action("compare.swap", "x", "swap", "Let the two change sides", _FIND),
    Action("compare.close", "escape", "close", "Close the comparison", _APP, True, "cancel"),
)

LIBRARY = (
    Action("library.use", "enter", "use", "Put the sliders where these settings are", _CHANGE),
    Action("library.compare", "c", "compare", "Both rankings, with the one under ◆", _FIND),
    Action("library.mark", "t,space", "mark", "Compare everything with this one (◆)", _FIND),
    Action("library.save", "s", "save", "Save these settings as a profile", _CHANGE),
    Action("library.name", "e", "name", "Call this snapshot something else", _CHANGE),
    Action("library.drop", "d", "drop", "Let this snapshot go, after y", _CHANGE),
    Action("library.copy", "y", "copy", "Copy the settings as a profile's file", _CHANGE),
    Action("library.read-on", "J", "read on", "Scroll what is said about it", MOVE, False),
    Action("library.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("library.close", "escape", "close", "Close the list", _APP, True, "cancel"),
)

DUPLICATES = (
    Action("duplicates.less", "left", "lower", "Lower the threshold", _CHANGE, True, "less"),
    Action("duplicates.more", "right", "higher", "Raise the threshold", _CHANGE, True, "more"),
    Action("duplicates.reset", "backspace", "reset", "Back to the threshold that holds", _CHANGE),
    Action("duplicates.save", "s", "save", "Flag duplicates from here on", _CHANGE, True, "save('flag')"),
    Action("duplicates.review", "S", "save for review", "List pairs for review from here on", _CHANGE, True,
           "save('review')"),
    Action("duplicates.close", "escape", "close", "Close the preview", _APP, True, "cancel"),
)  # fmt: skip

QUERIES_OUT = (
    Action("queries-out.write", "ctrl+s", "write", "Write the file as shown", _CHANGE),
    Action("queries-out.format", "ctrl+n", "next format", "JSON lines, qrels, a run, judgments", _CHANGE),
    Action("queries-out.profile", "ctrl+l", "profile", "Whose ranking the run has", _CHANGE),
    Action("queries-out.close", "escape", "close", "Close without writing", _APP, True, "cancel"),
)

QUERIES_IN = (
    Action("queries-in.read", "ctrl+s", "import", "Take in what is listed as new", _CHANGE),
    Action("queries-in.close", "escape", "close", "Close without importing", _APP, True, "cancel"),
)

DIALOGS = (COMPARE, LIBRARY, DUPLICATES, QUERIES_OUT, QUERIES_IN)
