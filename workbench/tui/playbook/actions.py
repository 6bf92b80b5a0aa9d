"""The tables of actions of the Playbook and its dialogs."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import LINKS, LIST, MARKS, MOVES, PROMPT, READ_ON, on_row

PLAYBOOK = Table(
    "Playbook",
    (
        Action(
            "playbook.helpful",
            "plus",
            "helpful",
            "Vote helpful; again takes the vote back",
            DECIDE,
            run="do('changes.helpful')",
        ),
        Action(
            "playbook.harmful",
            "minus",
            "harmful",
            "Vote harmful; again takes the vote back",
            DECIDE,
            run="do('changes.harmful')",
        ),
        Action("playbook.edit", "e", "edit", "Edit this bullet here", CHANGE, run="do('changes.edit')"),
        Action(
            "playbook.external",
            "E",
            "edit in $EDITOR",
            "Edit this bullet in $EDITOR",
            CHANGE,
            False,
            run="do('changes.external')",
        ),
        Action("playbook.add", "o", "add", "Add a bullet to this section", CHANGE),
        Action("playbook.duplicates", "equals_sign", "duplicates", "Bullets that say the same: merge, keep", FIND),
        Action("playbook.budget", "B", "budget", "Token budget: what it keeps", FIND),
        Action("playbook.export", "X", "export", "Write the playbook to a file, seen before", CHANGE),
        Action("playbook.search", "slash", "filter", "Filter by words, is: and section:", FIND),
        Action("playbook.deprecate", "D", "deprecate", "Deprecate, with a reason; again restores", CHANGE),
        Action(
            "playbook.delete",
            "d",
            "delete",
            "Delete it; several after y; can be undone",
            CHANGE,
            run="do('changes.forget')",
        ),
        Action("playbook.move", "M", "move", "Move to the end of another section", CHANGE),
        Action("playbook.section", "O", "add section", "Add a section, or begin a playbook", CHANGE, False),
        Action("playbook.lower", "J", "reorder down", "Move the bullet one place down", CHANGE, False),
        Action("playbook.higher", "K", "reorder up", "Move the bullet one place up", CHANGE, False),
        Action("playbook.pin", "p", "pin", "Pin or unpin this bullet", CHANGE, run="do('changes.pin')"),
        Action("playbook.avoid", "W", "warn of it", "Turn a harmful rule into a warning", CHANGE, False),
        Action("playbook.split", "S", "split", "Take the latest merge of it apart", CHANGE, False),
        Action("playbook.agent-view", "V", "agent's view", "The text that an agent is served; copy it", FIND, False),
        Action("playbook.suggestions", "I", "suggestions", "Card by card: a file, pasted, or Claude's", CHANGE, False),
        Action("playbook.books", "b", "playbooks", "Choose another playbook of this store", FIND),
        Action("playbook.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False, run="do('changes.copy')"),
        Action(
            "playbook.history", "h", "history", "Show every change of this bullet", FIND, run="do('changes.history')"
        ),
    ),
    (*LIST, *MARKS, *LINKS, READ_ON),
)

DUPLICATES = Table(
    "duplicates in a playbook",
    (
        Action("twins.merge", "m", "merge", "Make one of them, with the text shown", DECIDE),
        Action("twins.keep", "x", "keep all", "Keep all, until one of the texts changes", DECIDE),
        Action("twins.all", "A", "all equal", "Merge all groups of equal texts at once", DECIDE),
        Action("twins.next", "space", "other text", "Keep the next one's text and id", CHANGE),
        Action("twins.edit", "e", "edit", "Write the merged text, then merge", CHANGE),
        Action("twins.less", "left", "lower", "Lower the threshold", CHANGE, True, "slide('less')"),
        Action("twins.more", "right", "higher", "Raise the threshold", CHANGE, True, "slide('more')"),
        Action("twins.ask", "c", "Claude", "Let Claude write one text for all", CHANGE),
        Action(
            "twins.fine-less", "shift+left", "lower, fine", "Lower it a little", CHANGE, False, "slide('fine_less')"
        ),
        Action(
            "twins.fine-more", "shift+right", "higher, fine", "Raise it a little", CHANGE, False, "slide('fine_more')"
        ),
        Action("twins.reset", "backspace", "usual", "Back to the threshold in use", CHANGE, False, "slide('reset')"),
        Action("twins.preview", "V", "what is sent", "Show what would leave this machine", FIND, False),
        Action("twins.undo", "u", "undo", "Take back the latest change", APP),
        Action("twins.read-on", "J", "read on", "Scroll the texts", MOVE, False),
        Action("twins.read-back", "K", "read back", "Scroll back", MOVE, False),
        Action("twins.close", "escape,q", "close", "Close the duplicates", APP),
    ),
    (*MOVES, *on_row("e")),
    place="workbench.tui.duplicates.dialog",
)

BUDGET = Table(
    "the budget",
    (
        Action("budget.type", "enter", "type", "Type the number of tokens", CHANGE, run="do('slider.action_type')"),
        Action("budget.less", "left", "less", "Lower the budget", CHANGE, run="do('slider.action_less')"),
        Action("budget.more", "right", "more", "Raise the budget", CHANGE, run="do('slider.action_more')"),
        Action(
            "budget.fine-less",
            "shift+left",
            "less, fine",
            "Lower it a little",
            CHANGE,
            False,
            run="do('slider.action_fine_less')",
        ),
        Action(
            "budget.fine-more",
            "shift+right",
            "more, fine",
            "Raise it a little",
            CHANGE,
            False,
            run="do('slider.action_fine_more')",
        ),
        Action("budget.save", "s", "set budget", "Set it; the list marks what is out", CHANGE),
        Action("budget.apply", "D", "deprecate the rest", "Deprecate what does not fit, after y", DECIDE),
        Action("budget.drop", "n", "no budget", "Take the budget away", CHANGE),
        Action("budget.close", "escape,q", "close", "Close without a change", APP, True, "cancel"),
    ),
    (*MOVES, *on_row()),
    place="workbench.tui.playbook.budget",
)

AGENT_VIEW = Table(
    "what the agent sees",
    (
        Action("prompt-view.counts", "c", "counts", "With the counts of the marks, or without", FIND),
        Action("prompt-view.cut", "b", "whole / budget", "Whole, or what the budget keeps", FIND),
        Action("prompt-view.copy", "y", "copy", "Copy the text to the clipboard", CHANGE),
        Action("prompt-view.close", "escape,q", "close", "Close the preview", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.playbook.budget",
)

CARDS = Table(
    "suggestions",
    (
        Action("cards.accept", "a", "accept", "Accept it, and go to the next", DECIDE),
        Action("cards.skip", "x", "skip", "Leave it out, and go to the next", DECIDE),
        Action("cards.edit", "e", "edit", "Edit its text; saving accepts it", DECIDE),
        Action("cards.all", "A", "accept all", "Accept all that is open and possible", DECIDE),
        Action("cards.clear", "space", "undecided", "Take the decision back", DECIDE, False),
        Action("cards.apply", "ctrl+s", "apply", "Do what is accepted, as one action", CHANGE),
        Action("cards.later", "L", "rest to Review", "Apply; what is open goes to Review", CHANGE),
        Action("cards.read-on", "J", "read on", "Scroll the card", MOVE, False),
        Action("cards.read-back", "K", "read back", "Scroll back", MOVE, False),
        Action("cards.close", "escape,q", "close", "Close; decisions take esc twice", APP),
    ),
    (*MOVES, *on_row("e")),
    place="workbench.tui.playbook.curation",
)

SOURCE = Table(
    "where suggestions come from",
    (Action("source.ask", "ctrl+l", "ask Claude", "Let Claude suggest, as the Curator", CHANGE),),
    PROMPT.own,
    place="workbench.tui.playbook.curation",
)
"""Where suggestions come from; the keys of an input hold as well."""

ASK = Table(
    "asking the Curator",
    (
        Action("ask.start", "enter", "ask", "Ask Claude as it says", DECIDE),
        Action("ask.preview", "v", "what is sent", "Show exactly what would leave the machine", FIND),
        Action("ask.lessons", "c", "which memories", "New ones, latest, or marked in the Stream", CHANGE),
        Action("ask.run", "r", "a run", "Learn from a run of an agent, in a file", CHANGE),
        Action("ask.unread", "o", "unread replies", "Earlier replies that could not be read", FIND, False),
        Action("ask.leave", "escape,q", "close", "Close without asking", APP, True, "cancel"),
    ),
    place="workbench.tui.playbook.curation",
)

DIALOGS = (DUPLICATES, BUDGET, AGENT_VIEW, CARDS, SOURCE, ASK)
