"""The tables of actions of Health and its dialogs."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import LINKS, LIST, on_row

HEALTH = Table(
    "Health",
    (
        Action("health.apply", "a", "apply", "Put into Review what this part proposes", DECIDE, run="verb('apply')"),
        Action(
            "health.compare",
            "D",
            "duplicates",
            "Compare every memory with every other",
            FIND,
            run="verb('compare', 'duplicates')",
        ),
        Action(
            "health.still-true",
            "S",
            "still true?",
            "Check what memories name in the code",
            FIND,
            run="verb('still_true', 'still-true')",
        ),
        Action(
            "health.prune",
            "p",
            "prune all",
            "Archive all suggested, after a preview",
            DECIDE,
            run="verb('prune', 'upkeep')",
        ),
        Action("health.merge", "m", "merge", "Merge this group; undo separates it", DECIDE, run="verb('merge')"),
        Action(
            "health.refuse", "x", "keep both", "Keep both apart, or turn an edit down", DECIDE, run="verb('refuse')"
        ),
        Action("health.next-section", "tab", "next part", "To the next part of this screen", MOVE),
        Action("health.last-section", "shift+tab", "last part", "Back to the part before", MOVE, False),
        Action("health.find", "slash", "find", "Find a row of the list by its words", FIND, False, "find_row"),
        Action("health.check", "r", "check again", "Look at everything again", FIND),
        Action(
            "health.compact",
            "c",
            "compact",
            "Pack the closed files of the journal",
            CHANGE,
            False,
            run="verb('compact', 'store')",
        ),
        Action(
            "health.backup",
            "b",
            "back up",
            "Write the whole store into one file",
            CHANGE,
            False,
            run="verb('backup', 'store')",
        ),
        Action(
            "health.take-back",
            "t",
            "take back",
            "Take back the change under the cursor",
            DECIDE,
            False,
            run="verb('take_back')",
        ),
        Action(
            "health.add-file",
            "A",
            "add a file",
            "Look over a file that you name",
            FIND,
            False,
            run="verb('add_file', 'files')",
        ),
        Action(
            "health.write-back",
            "w",
            "write back",
            "Write changed notes into their folder",
            CHANGE,
            False,
            run="verb('write_back', 'files')",
        ),
        Action("health.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action("health.read-on", "J", "read on", "Scroll the text beside the list", MOVE, False),
        Action("health.read-back", "K", "read back", "Scroll back", MOVE, False),
    ),
    (*LIST, *LINKS, *on_row("p")),
)

BACKUP = Table(
    "a backup",
    (
        Action("backup.write", "ctrl+s", "write", "Write the backup to the file named here", CHANGE),
        Action("backup.leave", "escape", "close", "Stop what is being written, or close", APP),
    ),
    place="workbench.tui.health.store",
)

PROPOSED = Table(
    "what is proposed",
    (
        Action("proposed.yes", "y", "do it", "Do what the title asks", DECIDE),
        Action("proposed.read-on", "J", "read on", "Scroll the text", MOVE, False),
        Action("proposed.read-back", "K", "read back", "Scroll back", MOVE, False),
        Action("proposed.no", "escape,n", "close", "Close and leave everything as it is", APP),
    ),
    (*LIST, *on_row("y")),
    place="workbench.tui.health.upkeep",
)
"""A list of what is proposed, to be looked through before it is accepted as a whole."""

DIALOGS = (PROPOSED, BACKUP)
