"""The tables of actions of the Stream and its dialogs."""

from workbench.tui.app.actions import CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import CANCEL, LINKS, LIST, MARKS, READ_ON, on_row

STREAM = Table(
    "Stream",
    (
        Action("stream.search", "slash", "search", "Filter or search the memories", FIND),
        Action(
            "stream.helpful",
            "plus",
            "helpful",
            "Vote helpful; again takes the vote back",
            DECIDE,
            run="do('changes.helpful')",
        ),
        Action(
            "stream.harmful",
            "minus",
            "harmful",
            "Vote harmful; again takes the vote back",
            DECIDE,
            run="do('changes.harmful')",
        ),
        Action("stream.edit", "e", "edit", "Edit it with all its fields", CHANGE, run="do('changes.edit')"),
        Action("stream.external", "E", "edit in $EDITOR", "Edit all of it as one document in $EDITOR", CHANGE, False),
        Action("stream.new", "o", "new", "Write a new memory", CHANGE, False),
        Action("stream.pin", "p", "pin", "Pin or unpin; pinned does not decay", CHANGE, run="do('changes.pin')"),
        Action(
            "stream.confirm",
            "a",
            "confirm",
            "Confirm a signal: you approve of it",
            DECIDE,
            False,
            run="do('changes.confirm')",
        ),
        Action(
            "stream.forget", "d", "archive", "Archive it; asks once for several", CHANGE, run="do('changes.forget')"
        ),
        Action("stream.views", "f", "views", "Saved views; the first row saves this one", FIND),
        Action("stream.sort", "s", "sort", "Sort by time, importance, votes, score …", FIND),
        Action("stream.dates", "W", "dates in full", "Dates in full, or how long ago", FIND, False),
        Action("stream.next", "n", "next match", "To the next match", FIND, False),
        Action("stream.previous", "N", "previous match", "To the previous match", FIND, False),
        Action(
            "stream.near",
            "right_square_bracket",
            "by meaning",
            "To the semantic matches; again back",
            FIND,
            False,
        ),
        Action("stream.newest", "full_stop", "to the new", "To the newest memory that arrived", FIND, False),
        Action("stream.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False, run="do('changes.copy')"),
        Action("stream.history", "h", "history", "Show every change of this memory", FIND, run="do('changes.history')"),
        Action("stream.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action("stream.allow", "exclamation_mark", "allow", "Allow export of a flagged text, or hold", DECIDE, False),
        Action(
            "stream.promote",
            "P",
            "promote",
            "Promote it to a file, previewed first",
            DECIDE,
            False,
            run="do('changes.promote')",
        ),
        Action("stream.replace", "r", "replace everywhere", "Find and replace", CHANGE, False),
    ),
    (*LIST, *MARKS, *LINKS, READ_ON),
)

HISTORY = Table(
    "the history",
    (
        Action("history.undo", "u", "take back", "Take back this change, after y", DECIDE),
        Action("history.find", "slash", "find", "Show only changes with certain words", FIND),
        Action("history.store-then", "t", "store then", "The whole store as of that change", FIND),
        Action("history.go-to", "at", "go to", "To the change at a time or revision", FIND),
        Action("history.unfold", "z", "show secrets", "Show the secrets that are masked", FIND),
        CANCEL,
    ),
    (*LIST, *on_row()),
    place="workbench.tui.stream.history_dialog",
)

REPLACE = Table(
    "replacing everywhere",
    (
        Action("replace.take", "a", "take", "Replace this match; to the next one", DECIDE),
        Action("replace.leave", "x", "leave", "Skip this match; to the next one", DECIDE),
        Action("replace.all", "A", "take all", "Replace all matches not skipped", DECIDE),
        Action("replace.write", "ctrl+s", "replace", "Apply the replacements, as one action", CHANGE),
        Action("replace.word", "w", "whole words", "Only whole words; again parts too", FIND, False),
        Action("replace.case", "i", "any case", "In any case; again as it is written", FIND, False),
        Action("replace.names", "t", "names too", "In tags and section titles too; again not", FIND, False),
        Action("replace.part", "tab", "next part", "To the next line, or the places", MOVE, False, "next_part"),
        CANCEL,
    ),
    (*LIST, *on_row()),
    place="workbench.tui.stream.replacing",
)

DIALOGS = (HISTORY, REPLACE)
