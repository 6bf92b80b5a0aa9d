"""The actions of widgets that areas and dialogs share, and of the dialogs that every area may open."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MARK, MOVE, Action, Table

LIST = (
    Action("list.up", "up,k", "up", "One row up", MOVE, False),
    Action("list.down", "down,j", "down", "One row down", MOVE, False),
    Action("list.half-up", "ctrl+u", "half page up", "Half a page up", MOVE, False),
    Action("list.half-down", "ctrl+d", "half page down", "Half a page down", MOVE, False),
    Action("list.page-up", "pageup", "page up", "One page up", MOVE, False),
    Action("list.page-down", "pagedown", "page down", "One page down", MOVE, False),
    Action("list.first", "g,home", "first", "To the first row", MOVE, False),
    Action("list.last", "G,end", "last", "To the last row", MOVE, False),
    Action("list.open", "enter", "open", "Open the row under the cursor", MOVE),
)

MOVES = LIST[:-1]
"""The keys of a list in which nothing can be opened."""

MARKS = (
    Action("mark.one", "t", "mark", "Mark or unmark this row", MARK, False, "mark_one"),
    Action("mark.range", "v", "range", "Mark a range: start it, move, end it", MARK, False, "mark_range"),
    Action("mark.all", "T", "mark all", "Mark every row that is listed, or none", MARK, False, "mark_all"),
)

SLIDER = (
    Action("slider.above", "up,k", "up", "To the slider above", MOVE, False),
    Action("slider.below", "down,j", "down", "To the slider below", MOVE, False),
    Action("slider.less", "left", "less", "Move the slider down one step", MOVE, False),
    Action("slider.more", "right", "more", "Move the slider up one step", MOVE, False),
    Action("slider.fine-less", "shift+left", "less, fine", "Move the slider down one fine step", MOVE, False),
    Action("slider.fine-more", "shift+right", "more, fine", "Move the slider up one fine step", MOVE, False),
    Action("slider.reset", "backspace", "reset", "Put the slider back to its default", CHANGE),
    Action("slider.type", "enter", "type a value", "Type a value; enter takes it", CHANGE, False),
)

CANCEL = Action("dialog.cancel", "escape", "close", "Close without doing anything", APP)

HELP = Table(
    "the help",
    (
        Action("help.find", "slash", "find", "Show only what holds some words", FIND),
        Action("help.close", "escape,question_mark,q", "close", "Close the help", APP),
    ),
    place="workbench.tui.widgets.help",
)

CONFIRM = Table(
    "a question",
    (
        Action("confirm.yes", "y", "yes", "Do it", DECIDE),
        Action("confirm.no", "n,escape", "no", "Leave everything as it is", DECIDE),
    ),
    place="workbench.tui.widgets.confirm",
)

EDITOR = Table(
    "the editor",
    (
        Action("editor.save", "ctrl+s", "save", "Take the text as it stands", CHANGE),
        Action("editor.other", "ctrl+r", "stored text", "What is stored, or the restored draft", CHANGE, False),
        CANCEL,
    ),
    place="workbench.tui.widgets.texts.editor",
)

PROMPT = Table(
    "an input",
    (Action("prompt.take", "enter", "ok", "Take what is written", CHANGE), CANCEL),
    place="workbench.tui.widgets.texts.prompt",
)

CHOOSE = Table(
    "a choice",
    (
        Action("choose.up", "up,ctrl+p", "up", "One choice up", MOVE, False),
        Action("choose.down", "down,ctrl+n", "down", "One choice down", MOVE, False),
        Action("choose.take", "enter", "choose", "Take the choice under the cursor", DECIDE),
        CANCEL,
    ),
    place="workbench.tui.widgets.choose",
)

WELCOME = Table(
    "the first card",
    (
        Action("welcome.demo", "1", "demo", "Try a throw-away copy of the demo store", DECIDE, False),
        Action("welcome.project", "2", "here", "Make a store for this folder", DECIDE, False),
        Action("welcome.import", "3", "import", "Take a file into your global store", DECIDE, False, "take_file"),
        Action("welcome.agent", "4", "agent", "Let an agent be captured and served", DECIDE, False),
        Action("welcome.empty", "5", "empty", "Open your global store, empty as it is", DECIDE, False),
        Action("welcome.leave", "escape,q", "leave", "Leave; nothing is written", APP),
    ),
    LIST,
    place="workbench.tui.opening.welcome",
)

DIALOGS = (HELP, CONFIRM, EDITOR, PROMPT, CHOOSE, WELCOME)
