"""The tables of actions of the dialogs around files: findings, the whole file, importing, exporting."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import CANCEL, LIST, MOVES

FINDINGS = Table(
    "the findings in a file",
    (
        Action("findings.fix", "f", "fix", "Change the file as shown", CHANGE),
        Action("findings.fix-rule", "F", "all alike", "Show the fixes of all with this rule", CHANGE),
        Action("findings.yes", "y", "make them", "Change the file as shown", CHANGE, False),
        Action("findings.undo", "u", "take back", "Take back the fix made last here", APP),
        Action("findings.whole", "v", "whole file", "The whole file, and what of it is loaded", FIND),
        Action("findings.external", "E", "$EDITOR", "Edit the file in $EDITOR", CHANGE),
        Action("findings.read-on", "J", "read on", "Scroll what changes", MOVE, False),
        Action("findings.read-back", "K", "read back", "Scroll back", MOVE, False),
        Action("findings.close", "escape,q", "close", "Leave the rule, or close", APP),
    ),
    MOVES,
    place="workbench.tui.files.findings",
)

WHOLE = Table(
    "a whole file",
    (
        Action("whole.cut", "c", "to the cut", "To the first line that is not loaded", FIND),
        Action("whole.close", "escape,v,q", "close", "Close the file", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.files.findings",
)

IMPORT = Table(
    "importing",
    (
        Action("import.take", "ctrl+s", "import", "Write what is listed into the store", CHANGE),
        Action("import.format", "ctrl+t", "format", "Read the file as another format", CHANGE),
        Action("import.steps", "ctrl+n", "steps", "When the first step was, and how long", CHANGE, False),
        Action("import.theirs", "ctrl+r", "theirs", "Take the file's version of what differs", DECIDE),
        Action("import.as-new", "ctrl+g", "as new", "Count memories towards a reflection", DECIDE, False),
        Action("import.statements", "ctrl+o", "statements", "Statements of instructions, closed issues", DECIDE, False),
        Action("import.mark", "space", "mark", "Mark it: with marks only those are taken", DECIDE, False),
        Action("import.undo", "ctrl+z", "undo", "Take the last import back", APP, False),
        Action("import.documents", "ctrl+l", "documents", "Follow this folder as one of documents", FIND, False),
        Action("import.sessions", "ctrl+y", "sessions", "What sessions of agents here teach", FIND, False),
        Action("import.complete", "tab", "complete", "Complete the name, or back to it", FIND),
        Action("import.down", "down", "down", "From the name to the list", MOVE, False),
        Action("import.leave", "escape", "close", "Stop what is under way, or close", APP),
    ),
    place="workbench.tui.files.imports",
)

EXPORT = Table(
    "the export",
    (
        Action("export.write", "ctrl+s", "write", "Write the file as shown", CHANGE),
        Action("export.format", "ctrl+o", "format", "Choose another format", CHANGE),
        Action("export.dialect", "ctrl+n", "next variant", "As it is, with counts, or bare", CHANGE),
        Action("export.copy", "ctrl+y", "copy", "Copy the text to the clipboard", CHANGE),
        Action("export.replace", "ctrl+r", "take mine", "Replace what the file holds, after y", DECIDE, False),
        Action("export.allow", "ctrl+l", "allow flagged", "Let flagged text out, and say why", DECIDE, False),
        Action("export.view", "ctrl+t", "changes / whole", "Show what changes, or the whole file", FIND),
        Action("export.budget", "ctrl+g", "within budget", "Only what the budget keeps, or everything", CHANGE),
        Action("export.unfold", "o", "show secrets", "Show the masked secrets, from the text", FIND, False),
        CANCEL,
    ),
    LIST,
    place="workbench.tui.files.exports",
)

DIALOGS = (FINDINGS, WHOLE, IMPORT, EXPORT)
