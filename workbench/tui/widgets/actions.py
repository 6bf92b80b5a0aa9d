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

ON_ROW = (
    Action(
        "record.helpful",
        "plus",
        "helpful",
        "Vote helpful; again takes the vote back",
        DECIDE,
        False,
        "act('helpful')",
    ),
    Action(
        "record.harmful",
        "minus",
        "harmful",
        "Vote harmful; again takes the vote back",
        DECIDE,
        False,
        "act('harmful')",
    ),
    Action("record.edit", "e", "edit", "Edit this memory or bullet here", CHANGE, False, "act('edit')"),
    Action("record.external", "E", "edit in $EDITOR", "Edit it in $EDITOR", CHANGE, False, "act('external')"),
    Action("record.pin", "p", "pin", "Pin or unpin it", CHANGE, False, "act('pin')"),
    Action("record.forget", "d", "archive", "Archive it; can be undone", CHANGE, False, "act('forget')"),
    Action("record.promote", "P", "promote", "Promote it to a file, previewed first", DECIDE, False, "act('promote')"),
    Action("record.copy", "y", "copy", "Copy its text to the clipboard", CHANGE, False, "act('copy')"),
    Action("record.history", "h", "history", "Show every change of it", FIND, False, "act('history')"),
)
"""What is done to the memory or bullet of the row under the cursor, in every dialog that lists some.

A dialog takes `on_row` of them, with its `acts` (`tui.records.links`); the areas have their own, which came first.
"""


SHOWN_ON_ROW = (ON_ROW[2], ON_ROW[0], ON_ROW[1], ON_ROW[4], ON_ROW[5])
"""Those that a dialog names in its line of keys, as far as there is room."""


def on_row(taken: str = "") -> tuple[Action, ...]:
    """Return what is done to the record of a row, but for the keys that mean something else there: "p d"."""
    return tuple(action for action in ON_ROW if action.keys not in taken.split())


LINKS = (
    Action("link.next", "tab", "next link", "To the next id or file in the text", MOVE, False, "next_link"),
    Action("link.previous", "shift+tab", "last link", "Back to the link before", MOVE, False, "previous_link"),
    Action("link.open", "enter", "open link", "Open what the link names, over this", MOVE, False, "open_link"),
)
"""The keys of a text that names records and files, while it has the focus."""

READ_ON = Action("text.on", "space", "read on", "One page further down in the text", MOVE, False, "page_down")
"""The key that reads on in a text beside a list, where it means nothing else."""

ON_DIALOG = (
    Action("dialog.find", "slash", "find", "Find a row of the list by its words", FIND, False, "find_row"),
    Action("dialog.help", "question_mark", "help", "Show every key that holds here", APP),
    Action("dialog.manual", "f1", "manual", "Open the manual at the page of this area", APP),
)
"""What holds in every dialog, unless it has the key for something else; where one types, f1 only."""

CANCEL = Action("dialog.cancel", "escape", "close", "Close without doing anything", APP)

HELP = Table(
    "the help",
    (
        Action("help.find", "slash", "find", "Show only what holds some words", FIND),
        Action("help.close", "escape,question_mark,q", "close", "Close the help", APP),
    ),
    place="workbench.tui.widgets.help",
)

MANUAL = Table(
    "the manual",
    (
        Action("manual.find", "slash", "find", "Find words in all pages", FIND),
        Action("manual.contents", "c", "pages", "To the list of pages, or back", FIND),
        Action("manual.follow", "l", "links", "Choose a link of this page and follow it", FIND),
        Action("manual.previous", "backspace", "back", "Back to the page before", FIND, True, "previous_page"),
        Action("manual.keys", "question_mark", "keys", "Every key of the screen below", APP),
        Action("manual.close", "escape,f1,q", "close", "Close the manual", APP),
    ),
    (*LIST, READ_ON),
    place="workbench.tui.manual",
)

CONFIRM = Table(
    "a question",
    (
        Action("confirm.yes", "y", "yes", "Do it", DECIDE),
        Action("confirm.no", "n,escape", "no", "Leave everything as it is", DECIDE),
    ),
    place="workbench.tui.widgets.dialog",
)

SAVE = Action("editor.save", "ctrl+s", "save", "Take the text as it stands", CHANGE)
OTHER = Action("editor.other", "ctrl+r", "stored text", "What is stored, or the restored draft", CHANGE, False)

ELSEWHERE = Action("editor.external", "ctrl+o", "$EDITOR", "The text in $EDITOR", CHANGE, False)

EDITOR = Table(
    "the editor",
    (SAVE, ELSEWHERE, OTHER, CANCEL),
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
    place="workbench.tui.widgets.dialog",
)

OPENED = Table(
    "an opened record",
    (
        Action("opened.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action("opened.undo", "u", "undo", "Undo your latest change", APP, False),
        Action("opened.on", "space", "read on", "One page further down in the text", MOVE, False, "read_on"),
        Action("opened.close", "escape", "back", "Back to where it was opened", APP, True, "cancel"),
    ),
    (*MOVES, *LINKS, *on_row()),
    place="workbench.tui.records.record",
)
"""A record or a document over the place where somebody came upon it."""

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
    place="workbench.tui.opening",
)

DIALOGS = (HELP, MANUAL, CONFIRM, EDITOR, PROMPT, CHOOSE, OPENED, WELCOME)
