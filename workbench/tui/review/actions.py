"""The tables of actions of Review's dialogs."""

from workbench.tui.app.actions import MOVE, Action

_FIND, _DECIDE, _CHANGE, _APP = "Find", "Decide", "Change", "App"

MERGE = (
    Action("merge.yes", "y,enter", "merge", "Merge into the memory under the cursor", _DECIDE),
    Action("merge.text", "t", "other text", "The memory's own text, or the candidate's", _CHANGE),
    Action("merge.edit", "e", "edit", "Write the text that is left", _CHANGE),
    Action("merge.search", "slash", "find another", "Find any memory by its words", _FIND),
    Action("merge.read-on", "J", "read on", "Scroll the texts", MOVE),
    Action("merge.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("merge.no", "escape,n", "leave both", "Close without merging", _APP),
)
"""While the search has the focus, its letters are letters; enter goes to what it found."""

GROUP = (
    Action("group.yes", "y", "decide", "Decide all, once the end was in sight", _DECIDE),
    Action("group.on", "space", "read on", "Scroll a page down", MOVE),
    Action("group.no", "escape,n", "leave them", "Close without deciding", _APP),
)

REFINE = (
    Action("refine.take", "enter", "take it", "The candidate says what this round says", _DECIDE),
    Action("refine.write", "e", "write", "Write the next round, from this one", _CHANGE),
    Action("refine.ask", "c", "Claude", "Let Claude write the next rounds", _CHANGE),
    Action("refine.preview", "v", "what is sent", "Show what would leave this machine", _FIND),
    Action("refine.leave", "escape", "leave", "Close; new rounds take esc twice", _APP),
)

IMPACT = (Action("impact.close", "escape,i,q", "close", "Close the preview", _APP),)
