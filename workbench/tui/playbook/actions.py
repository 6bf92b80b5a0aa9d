"""The tables of actions of the Playbook's dialogs."""

from workbench.tui.app.actions import MOVE, Action

_FIND, _DECIDE, _CHANGE, _APP = "Find", "Decide", "Change", "App"

DUPLICATES = (
    Action("twins.merge", "m", "merge", "Make one of them, with the text shown", _DECIDE),
    Action("twins.keep", "x", "keep all", "Keep all, until one of the texts changes", _DECIDE),
    Action("twins.all", "A", "all equal", "Merge all groups of equal texts at once", _DECIDE),
    Action("twins.next", "space", "other text", "Keep the next one's text and id", _CHANGE),
    Action("twins.edit", "e", "edit", "Write the merged text, then merge", _CHANGE),
    Action("twins.less", "left", "lower", "Lower the threshold", _CHANGE, True, "less"),
    Action("twins.more", "right", "higher", "Raise the threshold", _CHANGE, True, "more"),
    Action("twins.ask", "c", "Claude", "Let Claude write one text for all", _CHANGE),
    Action("twins.fine-less", "shift+left", "lower, fine", "Lower it a little", _CHANGE, False),
    Action("twins.fine-more", "shift+right", "higher, fine", "Raise it a little", _CHANGE, False),
    Action("twins.reset", "backspace", "usual", "Back to the threshold that holds", _CHANGE, False),
    Action("twins.preview", "V", "what is sent", "Show what would leave this machine", _FIND, False),
    Action("twins.undo", "u", "undo", "Take back the latest change", _APP),
    Action("twins.read-on", "J", "read on", "Scroll the texts", MOVE, False),
    Action("twins.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("twins.close", "escape,q", "close", "Stop Claude, or close", _APP),
)

BUDGET = (
    Action("budget.type", "enter", "type", "Type the number of tokens", _CHANGE),
    Action("budget.less", "left", "less", "Lower the budget", _CHANGE),
    Action("budget.more", "right", "more", "Raise the budget", _CHANGE),
    Action("budget.fine-less", "shift+left", "less, fine", "Lower it a little", _CHANGE, False),
    Action("budget.fine-more", "shift+right", "more, fine", "Raise it a little", _CHANGE, False),
    Action("budget.order", "o", "by value / order", "By value per token, or in file order", _FIND),
    Action("budget.save", "s", "set budget", "Set this budget; the list shows the cut", _CHANGE),
    Action("budget.apply", "D", "deprecate the rest", "Deprecate what does not fit, after y", _DECIDE),
    Action("budget.drop", "n", "no budget", "Take the budget away", _CHANGE),
    Action("budget.close", "escape,q", "close", "Close without a change", _APP, True, "cancel"),
)

AGENT_VIEW = (
    Action("prompt-view.counts", "c", "counts", "With the counts of the marks, or without", _FIND),
    Action("prompt-view.cut", "b", "whole / budget", "Whole, or what the budget leaves", _FIND),
    Action("prompt-view.copy", "y", "copy", "Copy the text to the clipboard", _CHANGE),
    Action("prompt-view.close", "escape,q", "close", "Close the preview", _APP, True, "cancel"),
)

DEPRECATE = (
    Action("deprecate.do", "ctrl+s", "deprecate", "Deprecate with reason and replacement", _CHANGE),
    Action("deprecate.up", "up,ctrl+p", "up", "One bullet up", MOVE, False),
    Action("deprecate.down", "down,ctrl+n", "down", "One bullet down", MOVE, False),
    Action("deprecate.close", "escape", "leave it", "Close without a change", _APP, True, "cancel"),
)

CARDS = (
    Action("cards.accept", "a", "accept", "Accept it, and go to the next", _DECIDE),
    Action("cards.skip", "x", "skip", "Leave it out, and go to the next", _DECIDE),
    Action("cards.edit", "e", "edit", "Edit its text; saving accepts it", _DECIDE),
    Action("cards.all", "A", "accept all", "Accept all that is open and possible", _DECIDE),
    Action("cards.clear", "space", "undecided", "Take the decision back", _DECIDE, False),
    Action("cards.apply", "ctrl+s", "apply", "Do what is accepted, as one action", _CHANGE),
    Action("cards.later", "L", "rest to Review", "Apply; what is open goes to Review", _CHANGE),
    Action("cards.read-on", "J", "read on", "Scroll the card", MOVE, False),
    Action("cards.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("cards.close", "escape,q", "close", "Close; decisions take esc twice", _APP),
)

SOURCE = (Action("source.ask", "ctrl+l", "ask Claude", "Let Claude suggest, as the Curator", _CHANGE),)
"""Where suggestions come from; the keys of an input hold as well."""

ASK = (
    Action("ask.start", "enter", "ask", "Ask Claude as it says", _DECIDE),
    Action("ask.preview", "v", "what is sent", "Show exactly what would leave the machine", _FIND),
    Action("ask.lessons", "c", "which memories", "New ones, latest, or marked in the Stream", _CHANGE),
    Action("ask.run", "r", "a run", "Learn from a run of an agent, in a file", _CHANGE),
    Action("ask.unread", "o", "unread replies", "Replies of before that nobody could read", _FIND, False),
    Action("ask.leave", "escape,q", "close", "Close without asking", _APP),
)

LISTS = {
    "duplicates in a playbook": DUPLICATES,
    "the budget": BUDGET,
    "what the agent sees": AGENT_VIEW,
    "suggestions": CARDS,
}
"""The dialogs in which the keys that move in a list hold too, by title."""

TABLES = {"deprecating": DEPRECATE, "where suggestions come from": SOURCE, "asking the Curator": ASK}
"""The others, by title."""
