"""The actions of every area, dialog and shared widget: bindings, footer, help, palette and keymap
come from them.
"""

# A row for each action, however wide.
# fmt: off

from dataclasses import replace

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MARK, MOVE, Action, Table

# What widgets share, and the dialogs that every area may open.


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


def on_record(area: str, shown: str = "", taken: str = "") -> tuple[Action, ...]:
    """Return what is done to the memory or bullet of the row under the cursor, as actions of an
    area or dialog.

    `shown` names those of its line of keys, `taken` the keys that mean something else there.
    """
    names, keys = shown.split(), taken.split()
    rows = (
        ("helpful", "plus", "helpful", "Vote helpful; again takes the vote back", DECIDE),
        ("harmful", "minus", "harmful", "Vote harmful; again takes the vote back", DECIDE),
        ("edit", "e", "edit", "Edit this memory or bullet here", CHANGE),
        ("external", "E", "edit in $EDITOR", "Edit it in $EDITOR", CHANGE),
        ("pin", "p", "pin", "Pin or unpin; pinned does not decay", CHANGE),
        ("forget", "d", "archive", "Archive it; can be undone", CHANGE),
        ("promote", "P", "promote", "Promote it to a file, previewed first", DECIDE),
        ("copy", "y", "copy", "Copy its text to the clipboard", CHANGE),
        ("history", "h", "history", "Show every change of it", FIND),
    )
    return tuple(
        Action(f"{area}.{name}", key, label, help, group, name in names, f"act('{name}')")
        for name, key, label, help, group in rows
        if key not in keys
    )


def on_row(taken: str = "") -> tuple[Action, ...]:
    """Return what every dialog that lists records does to the one of a row, with its `acts`
    (`tui.records.actions`).
    """
    return on_record("record", taken=taken)


SHOWN_ON_ROW = on_record("record", taken="E P y h")
"""Those that a dialog names in its line of keys, as far as there is room."""


LINKS = (
    Action("link.next", "tab", "next link", "To the next id or file in the text", MOVE, False, "next_link"),
    Action("link.previous", "shift+tab", "last link", "Back to the link before", MOVE, False, "previous_link"),
    Action("link.open", "enter", "open link", "Open what the link names, over this", MOVE, False, "open_link"),
)
"""The keys of a text that names records and files, while it has the focus."""


def _reading(place: str) -> tuple[Action, Action]:
    """Return the keys that scroll the text beside a list, while the list has the focus."""
    return (
        Action(f"{place}.read-on", "J", "read on", "Scroll the text beside the list", MOVE, False),
        Action(f"{place}.read-back", "K", "read back", "Scroll back", MOVE, False),
    )


READ_ON = Action("text.on", "space", "read on", "One page further down in the text", MOVE, False, "page_down")
"""The key that reads on in a text beside a list, where it means nothing else."""

ON_DIALOG = (
    Action("dialog.find", "slash", "find", "Find a row of the list by its words", FIND, False, "find_row"),
    Action("dialog.help", "question_mark", "help", "Show every key of this screen", APP),
    Action("dialog.manual", "f1", "manual", "Open the manual at the page of this area", APP),
)
"""What holds in every dialog, unless it has the key for something else; where one types, f1 only."""

def _close(place: str, help: str, keys: str = "escape,q") -> Action:
    return Action(f"{place}.close", keys, "close", help, APP, True, "cancel")


def _undo(place: str) -> Action:
    return Action(f"{place}.undo", "u", "undo", "Take back the latest change", APP)


def _pane(place: str, show: bool = True) -> Action:
    return Action(f"{place}.pane", "tab", "text", "To the text, and back", MOVE, show)


def _slides(place: str, less: str, more: str, what: str) -> tuple[Action, ...]:
    """Return the keys that move the one slider of a dialog, whatever has the focus there."""
    rows = (
        ("less", "left", less, f"Lower {what}"),
        ("more", "right", more, f"Raise {what}"),
        ("fine-less", "shift+left", f"{less}, fine", "Lower it a little"),
        ("fine-more", "shift+right", f"{more}, fine", "Raise it a little"),
    )
    return tuple(
        Action(f"{place}.{name}", key, label, help, CHANGE, "fine" not in name, f"slide('{name}')")
        for name, key, label, help in rows
    )


CANCEL = Action("dialog.cancel", "escape", "close", "Close without doing anything", APP)

HELP = Table(
    "the help",
    (
        Action("help.find", "slash", "find", "Filter by words", FIND),
        Action("help.symbols", "s", "symbols", "What every symbol means", FIND),
        Action("help.close", "escape,question_mark,q", "close", "Close the help", APP),
    ),
    place="workbench.tui.manual",
)

MANUAL = Table(
    "the manual",
    (
        Action("manual.find", "slash", "find", "Find words in all pages", FIND),
        Action("manual.contents", "c", "pages", "To the list of pages, or back", FIND),
        Action("manual.follow", "l", "links", "Choose a link of this page and follow it", FIND),
        Action("manual.previous", "backspace", "back", "Back to the page before", FIND, True, "previous_page"),
        Action("manual.keys", "question_mark", "keys", "Show every key of the screen below", APP),
        Action("manual.close", "escape,f1,q", "close", "Close the manual", APP),
    ),
    (*LIST, READ_ON),
    place="workbench.tui.manual",
)

CONFIRM = Table(
    "a question",
    (
        Action("confirm.yes", "y", "yes", "Do it", DECIDE),
        Action("confirm.no", "n,escape", "no", "Close without changing anything", DECIDE),
    ),
    place="workbench.tui.widgets.dialog",
)

SAVE = Action("editor.save", "ctrl+s", "save", "Accept the text", CHANGE)
OTHER = Action("editor.other", "ctrl+r", "stored text", "The stored text, or your draft", CHANGE, False)


EDITOR = Table(
    "the editor",
    (SAVE, Action("editor.external", "ctrl+o", "$EDITOR", "The text in $EDITOR", CHANGE, False), OTHER, CANCEL),
    place="workbench.tui.widgets.editor",
)

PROMPT = Table(
    "an input",
    (Action("prompt.take", "enter", "ok", "Accept the input", CHANGE), CANCEL),
    place="workbench.tui.widgets.dialog",
)

CHOOSE = Table(
    "a choice",
    (
        Action("choose.up", "up,ctrl+p", "up", "One choice up", MOVE, False),
        Action("choose.down", "down,ctrl+n", "down", "One choice down", MOVE, False),
        Action("choose.take", "enter", "choose", "Choose the row under the cursor", DECIDE),
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
        Action("opened.close", "escape", "back", "Go back", APP, True, "cancel"),
    ),
    (*MOVES, *LINKS, *on_row()),
    place="workbench.tui.records.record",
)
"""A record or a document over the place where somebody came upon it."""

WELCOME = Table(
    "the first card",
    (
        *(
            Action(f"welcome.{name}", key, label, help, DECIDE, False, f"choose('{name}')")
            for name, key, label, help in (
                ("demo", "1", "demo", "Try a temporary copy of the demo store"),
                ("project", "2", "here", "Make a store for this folder"),
                ("import", "3", "import", "Import a file; the row names the store"),
                ("agent", "4", "agent", "Connect an agent to this store"),
                ("empty", "5", "empty", "Open your global store, empty as it is"),
            )
        ),
        Action("welcome.leave", "escape,q", "leave", "Leave; nothing is written", APP),
    ),
    LIST,
    place="workbench.tui.opening",
)


SETTINGS = Table(
    "the settings",
    (
        Action("settings.change", "enter", "change", "Change this value in the file", CHANGE),
        Action("settings.reset", "backspace", "default", "Back to the default value", CHANGE),
        Action("settings.undo", "u", "undo", "Undo the last change made here", APP),
        _close("settings", "Close the settings"),
    ),
    MOVES,
    place="workbench.tui.settings",
)


# The form of a record.


FORM = Table(
    "the form",
    (
        SAVE,
        Action("form.part", "tab", "next field", "To the next field; shift+tab back", MOVE, run="do('focus_next')"),
        Action("form.external", "ctrl+o", "$EDITOR", "Edit all fields in $EDITOR, as one text", CHANGE),
        OTHER,
        Action("form.up", "up", "field above", "To the field above", MOVE, False, run="do('focus_previous')"),
        Action("form.down", "down", "field below", "To the field below", MOVE, False),
        CANCEL,
    ),
    place="workbench.tui.forms",
)


def _beside_text(area: str) -> tuple[Action, ...]:
    """Return the keys of an area whose list has a text beside it, for the one that has the focus."""
    return (
        Action(f"{area}.mark", "space", "mark", "Mark or unmark this row", MARK, run="do('rows.action_mark_one')"),
        Action(f"{area}.next-pane", "tab", "next pane", "To the text and its links, then back", MOVE, False, "turn(1)"),
        Action(f"{area}.last-pane", "shift+tab", "pane before", "Back to the pane before", MOVE, False, "turn(-1)"),
    )


# The Stream.


STREAM = Table(
    "Stream",
    (
        Action("stream.search", "slash", "search", "Filter or search the memories", FIND),
        *on_record("stream", "helpful harmful edit pin forget", taken="E h"),
        Action("stream.external", "E", "edit in $EDITOR", "Edit all fields in $EDITOR, as one text", CHANGE, False),
        Action("stream.new", "o", "new", "Write a new memory", CHANGE, False),
        Action("stream.begin", "I", "begin", "Import files, connect, or try the demo", FIND, False),
        Action("stream.confirm", "a", "confirm", "Confirm a signal: you approve of it",
               DECIDE, False, run="do('changes.confirm')"),
        *_beside_text("stream"),
        Action("stream.views", "f", "views", "Saved views; the first row saves this one", FIND),
        Action("stream.sort", "s", "sort", "Sort by time, importance, votes, score …", FIND),
        Action("stream.dates", "W", "dates in full", "Dates in full, or how long ago", FIND, False),
        Action("stream.next", "n", "next match", "To the next match", FIND, False, "match(1)"),
        Action("stream.previous", "N", "previous match", "To the previous match", FIND, False, "match(-1)"),
        Action("stream.near", "right_square_bracket", "by meaning", "To the semantic matches; again back", FIND, False),
        Action("stream.newest", "full_stop", "to the new", "To the newest memory that arrived", FIND, False),
        Action("stream.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action("stream.allow", "exclamation_mark", "allow", "Allow export of a flagged text, or hold", DECIDE, False),
        *on_record("stream", "history")[-1:],
        Action("stream.replace", "r", "replace everywhere", "Find and replace", CHANGE, False),
    ),
    (*LIST, *MARKS, *LINKS, READ_ON),
)

HISTORY = Table(
    "the history",
    (
        Action("history.undo", "u", "take back", "Undo this change", DECIDE),
        Action("history.find", "slash", "find", "Filter changes by words", FIND),
        Action("history.store-then", "t", "store then", "The whole store as of that change", FIND),
        Action("history.undo-agent", "A", "all by agent", "Take back all its agent did since a time", DECIDE),
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
        Action("replace.word", "w", "whole words", "Match whole words only", FIND, False),
        Action("replace.case", "i", "any case", "Ignore case", FIND, False),
        Action("replace.names", "t", "names too", "Include tags and section titles", FIND, False),
        Action("replace.part", "tab", "next part", "To the next line, or the places", MOVE, False, "next_part"),
        CANCEL,
    ),
    (*LIST, *on_row()),
    place="workbench.tui.stream.replacing",
)


# Review.


EVIDENCE = tuple(
    replace(
        action,
        id=action.id.replace("record.", "evidence."),
        label=f"{action.label} (evidence)",
        tooltip=f"In the evidence: {action.label}",
    )
    for action in on_row()
)
"""What is done to the memory or bullet under the cursor of the evidence; it decides nothing."""

REVIEW = Table(
    "Review",
    (
        Action("review.approve", "a", "approve", "Approve, and go to the next", DECIDE, True, "decide('approve')"),
        Action("review.reject", "x", "reject", "Reject, and go to the next", DECIDE, True, "decide('reject')"),
        Action("review.keep-old", "o", "keep old", "Keep the old one of two, archive the new",
               DECIDE, False, "decide('keep_old')"),
        Action("review.reason", "w", "why rejected", "Add a reason to the last rejection",
               DECIDE, True, "do('deciding.reason')"),
        Action("review.later", "space", "later", "Put it off for a week", DECIDE, True, "decide('later')"),
        Action("review.edit", "e", "edit", "Edit the text, without deciding", CHANGE, True, "do('changes.edit')"),
        Action("review.external", "E", "edit in $EDITOR", "Edit in $EDITOR, without deciding",
               CHANGE, False, "do('changes.edit_externally')"),
        Action("review.merge", "m", "merge", "Merge into a similar memory",
               DECIDE, True, "do('changes.merge')"),
        Action("review.split", "S", "split", "Split it: each part is a candidate", DECIDE, True, "do('changes.split')"),
        Action("review.refine", "r", "refine", "Refine the text, round by round",
               CHANGE, True, "do('changes.refine')"),
        Action("review.impact", "i", "impact", "How approving changes saved queries",
               FIND, True, "do('changes.impact')"),
        Action("review.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action("review.promote", "P", "promote", "Promote it to a file, previewed first",
               DECIDE, True, "do('changes.promote')"),
        Action("review.search", "slash", "filter", "Filter what is listed", FIND),
        Action("review.next", "n", "next listed", "To the next row", FIND, False, "go_round(1)"),
        Action("review.previous", "N", "previous listed", "To the previous row", FIND, False, "go_round(-1)"),
        Action("review.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False, "do('changes.copy')"),
        Action("review.history", "h", "history", "Show every change of this candidate",
               FIND, False, "do('changes.history')"),
        Action("review.evidence", "tab", "evidence", "To the evidence, and back to the queue", MOVE),
        Action("review.read-on", "J", "read on", "Scroll the candidate, then its evidence", MOVE, False, "read(1)"),
        Action("review.read-back", "K", "read back", "Scroll back", MOVE, False, "read(-1)"),
        Action("review.look", "f", "find again", "Find duplicates and suggestions again", FIND, False),
    ),
    (*LIST, *MARKS, *LINKS, *EVIDENCE),
)

REASONS = Table(
    "the reasons",
    (
        Action("reason.wrong", "1", "wrong", "Not true", DECIDE, True, "reason(0)"),
        Action("reason.general", "2", "too general", "Too general to be useful", DECIDE, True, "reason(1)"),
        Action("reason.duplicate", "3", "duplicate", "Already stored", DECIDE, True, "reason(2)"),
        Action("reason.outdated", "4", "outdated", "No longer true", DECIDE, True, "reason(3)"),
        Action("reason.words", "5", "in words", "Say why in your own words", DECIDE, True, "reason(4)"),
        CANCEL,
    ),
    LIST,
    place="workbench.tui.review.dialogs",
)

MERGE = Table(
    "merging",
    (
        Action("merge.yes", "y,enter", "merge", "Merge into the memory under the cursor", DECIDE),
        Action("merge.text", "t", "other text", "Keep the memory's or the candidate's text", CHANGE),
        Action("merge.edit", "e", "edit", "Write the merged text", CHANGE),
        Action("merge.search", "slash", "find another", "Search all memories", FIND),
        Action("merge.read-on", "J", "read on", "Scroll the texts", MOVE),
        Action("merge.read-back", "K", "read back", "Scroll back", MOVE, False),
        Action("merge.no", "escape,n", "leave both", "Close without merging", APP),
    ),
    (*MOVES, *on_row("e E y")),
    place="workbench.tui.review.dialogs",
)
"""While the search has the focus, its letters are letters; enter goes to what it found."""

GROUP = Table(
    "a group",
    (
        Action("group.yes", "y", "decide", "Decide all, after reading to the end", DECIDE),
        Action("group.on", "space", "read on", "Scroll half a page down", MOVE, True, "read_on"),
        Action("group.no", "escape,n", "leave them", "Close without deciding", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.review.dialogs",
)

REFINE = Table(
    "refining",
    (
        Action("refine.take", "enter", "take it", "Use the text of this round", DECIDE),
        Action("refine.write", "e", "write", "Write the next round, from this one", CHANGE),
        Action("refine.ask", "c", "Claude", "Ask Claude for the next rounds", CHANGE),
        Action("refine.preview", "v", "what is sent", "Show what would be sent", FIND),
        Action("refine.leave", "escape", "leave", "Close; new rounds take esc twice", APP),
    ),
    MOVES,
    place="workbench.tui.review.dialogs",
)

IMPACT = Table(
    "the impact",
    (_close("impact", "Close the preview", "escape,i,q"),),
    MOVES,
    place="workbench.tui.review.drawing",
)


# The Playbook.


PLAYBOOK = Table(
    "Playbook",
    (
        *on_record("playbook", "helpful harmful edit", taken="p d P y h"),
        Action("playbook.add", "o", "add", "Add a bullet to this section", CHANGE),
        Action("playbook.duplicates", "equals_sign", "duplicates", "Find duplicate bullets: merge or keep", FIND),
        Action("playbook.budget", "B", "budget", "Token budget: what it keeps", FIND),
        Action("playbook.export", "X", "export", "Export the playbook, previewed first", CHANGE),
        Action("playbook.search", "slash", "filter", "Filter by words, is: and section:", FIND),
        Action("playbook.deprecate", "D", "deprecate", "Deprecate, with a reason; again restores", CHANGE),
        Action("playbook.delete", "d", "delete", "Delete it; several after y; can be undone",
               CHANGE, run="act('forget')"),
        *_beside_text("playbook"),
        Action("playbook.move", "M", "move", "Move to the end of another section", CHANGE),
        Action("playbook.section", "O", "add section", "Add a section, or begin a playbook", CHANGE, False),
        Action("playbook.lower", "},shift+down", "reorder down", "Move the bullet one place down",
               CHANGE, False, run="shift(1)"),
        Action("playbook.higher", "{,shift+up", "reorder up", "Move the bullet one place up",
               CHANGE, False, run="shift(-1)"),
        Action("playbook.avoid", "W", "warn of it", "Turn a harmful rule into a warning", CHANGE, False),
        Action("playbook.split", "S", "split", "Split the latest merge", CHANGE, False),
        Action("playbook.agent-view", "V", "agent's view", "Preview the text agents are served", FIND, False),
        Action("playbook.suggestions", "I", "suggestions", "Suggestions: a file, pasted, or Claude's", CHANGE, False),
        Action("playbook.books", "b", "playbooks", "Choose another playbook of this store", FIND),
        *on_record("playbook", "pin history", taken="plus minus e E d P"),
    ),
    (*LIST, *MARKS, *LINKS, READ_ON),
)

BULLET_DUPLICATES = Table(
    "duplicates in a playbook",
    (
        Action("twins.merge", "m", "merge", "Make one of them, with the text shown", DECIDE),
        Action("twins.keep", "x", "keep all", "Keep all, until one of the texts changes", DECIDE),
        Action("twins.all", "A", "all equal", "Merge all groups of equal texts at once", DECIDE),
        Action("twins.next", "space", "other text", "Keep the next one's text and id", CHANGE),
        Action("twins.edit", "e", "edit", "Write the merged text, then merge", CHANGE),
        *_slides("twins", "lower", "higher", "the threshold"),
        Action("twins.ask", "c", "Claude", "Ask Claude for one text for all", CHANGE),
        Action("twins.reset", "backspace", "usual", "Back to the threshold in use", CHANGE, False, "slide('reset')"),
        Action("twins.preview", "V", "what is sent", "Show what would be sent", FIND, False),
        _undo("twins"),
        *_reading("twins"),
        Action("twins.close", "escape,q", "close", "Close the duplicates", APP),
    ),
    (*MOVES, *on_row("e")),
    place="workbench.tui.duplicates",
)

BUDGET = Table(
    "the budget",
    (
        Action("budget.type", "enter", "type", "Type the number of tokens", CHANGE, run="do('slider.action_type')"),
        *_slides("budget", "less", "more", "the budget"),
        Action("budget.save", "s", "set budget", "Set it; the list marks what is out", CHANGE),
        Action("budget.apply", "D", "deprecate the rest", "Deprecate what does not fit, after y", DECIDE),
        Action("budget.drop", "n", "no budget", "Remove the budget", CHANGE),
        _close("budget", "Close without a change"),
    ),
    (*MOVES, *on_row()),
    place="workbench.tui.playbook.budget",
)

AGENT_VIEW = Table(
    "what the agent sees",
    (
        Action("prompt-view.counts", "c", "counts", "Show or hide the vote counts", FIND),
        Action("prompt-view.cut", "b", "whole / budget", "All of it, or what fits the budget", FIND),
        Action("prompt-view.copy", "y", "copy", "Copy the text to the clipboard", CHANGE),
        _close("prompt-view", "Close the preview"),
    ),
    MOVES,
    place="workbench.tui.playbook.budget",
)

CARDS = Table(
    "suggestions",
    (
        Action("cards.accept", "a", "accept", "Accept it, and go to the next", DECIDE, run="decide('accept')"),
        Action("cards.skip", "x", "skip", "Skip it, and go to the next", DECIDE, run="decide('skip')"),
        Action("cards.edit", "e", "edit", "Edit its text; saving accepts it", DECIDE),
        Action("cards.all", "A", "accept all", "Accept all undecided suggestions", DECIDE),
        Action("cards.clear", "space", "undecided", "Take the decision back", DECIDE, False),
        Action("cards.apply", "ctrl+s", "apply", "Apply what is accepted, as one action", CHANGE),
        Action("cards.later", "L", "rest to Review", "Apply; undecided ones go to Review", CHANGE),
        *_reading("cards"),
        Action("cards.close", "escape,q", "close", "Close; decisions take esc twice", APP),
    ),
    (*MOVES, *on_row("e")),
    place="workbench.tui.playbook.curation",
)

SOURCE = Table(
    "where suggestions come from",
    (Action("source.ask", "ctrl+l", "ask Claude", "Ask Claude for suggestions (Curator)", CHANGE),),
    PROMPT.own,
    place="workbench.tui.playbook.curation",
)
"""Where suggestions come from; the keys of an input hold as well."""

ASK = Table(
    "asking the Curator",
    (
        Action("ask.start", "enter", "ask", "Send the request to Claude", DECIDE),
        Action("ask.preview", "v", "what is sent", "Show exactly what would be sent", FIND),
        Action("ask.lessons", "c", "which memories", "Send new, latest or marked memories", CHANGE),
        Action("ask.run", "r", "a run", "Learn from an agent run in a file", CHANGE),
        Action("ask.unread", "o", "unread replies", "Show unreadable replies", FIND, False),
        Action("ask.leave", "escape,q", "close", "Close without asking", APP, True, "cancel"),
    ),
    place="workbench.tui.playbook.curation",
)


# Tune.


TUNE = Table(
    "Tune",
    (
        Action("tune.query", "slash", "query", "Write the query that is ranked", FIND),
        Action("tune.next-pane", "tab", "next pane", "Next pane: sliders, ranking, explanation", MOVE, True, "pane(1)"),
        Action("tune.queries", "f", "queries", "Choose one of the saved queries", FIND),
        Action("tune.judge", "v", "judge", "Grade what could answer this query", DECIDE),
        Action("tune.last-pane", "shift+tab", "last pane", "Back to the pane before", MOVE, False, "pane(-1)"),
        Action("tune.previous-flip", "left_square_bracket", "flip before", "Just below the last swap of two rows",
               FIND, run="jump(-1)"),
        Action("tune.next-flip", "right_square_bracket", "flip after", "Just beyond the next swap of two rows",
               FIND, run="jump(1)"),
        Action("tune.auto", "A", "auto-tune", "Find weights that fit the judgments", CHANGE),
        Action("tune.better", "B", "better 1 or 2", "Compare pairs of results, learn weights", DECIDE),
        Action("tune.metrics", "m", "metrics", "Show the metrics, query by query", FIND),
        Action("tune.save", "s", "save", "Save these settings as a profile", CHANGE),
        Action("tune.load", "l", "load", "Load a profile", CHANGE),
        Action("tune.use", "a", "use for agents", "Use this profile for agents, too", CHANGE),
        Action("tune.mark", "t", "mark", "Mark two rows to compare them", MARK, False),
        Action("tune.why", "w", "why", "Why it ranks low; marked: why above", FIND),
        Action("tune.bounds", "M", "min and max", "Show the scale of each factor",
               FIND, False, "do('why.turn_bounds')"),
        Action("tune.advanced", "z", "advanced", "Show or hide the other sliders",
               FIND, run="do('sliders.turn_advanced')"),
        Action("tune.earlier", "comma", "earlier", "Rank as if it were 5 days earlier",
               CHANGE, run="do('sliders.time.action_less')"),
        Action("tune.later", "full_stop", "later", "Rank as if it were 5 days later",
               CHANGE, run="do('sliders.time.action_more')"),
        Action("tune.options", "o", "options", "Recency mode, pinned, 0 to 1, candidates", CHANGE),
        Action("tune.candidates", "C", "candidates", "Which memories take part: a filter", CHANGE, False),
        Action("tune.compare", "c", "compare", "Compare this ranking with another one", FIND),
        Action("tune.snapshot", "n", "snapshot", "Keep these settings as a snapshot", CHANGE),
        Action("tune.library", "N", "snapshots", "Snapshots and profiles: compare, go back", FIND),
        Action("tune.duplicates", "D", "duplicates", "Which groups would merge at a threshold", FIND),
        Action("tune.save-query", "Q", "save query", "Save this query for measurements", CHANGE),
        Action("tune.export-queries", "X", "export queries", "Write queries, judgments or a run", CHANGE, False),
        Action("tune.import-queries", "I", "import queries", "Read judged queries from a file", CHANGE, False),
        Action("tune.revert", "r", "revert", "Reset everything to the saved profile", CHANGE, False),
        *on_record("tune"),
    ),
    (*SLIDER, *LIST),
)

DIFFERENCE = Table(
    "why one is above the other",
    (
        Action("difference.swap", "enter", "swap them", "Move the weight so that they swap", CHANGE),
        _close("difference", "Close without a change"),
    ),
    MOVES,
    place="workbench.tui.tuning.why",
)

JUDGE = Table(
    "judging",
    (
        Action("judge.no", "0", "no", "It does not answer the query", DECIDE, True, "grade(0)"),
        Action("judge.weak", "1", "weak", "It helps a little", DECIDE, True, "grade(1)"),
        Action("judge.good", "2", "good", "It answers the query", DECIDE, True, "grade(2)"),
        Action("judge.essential", "3", "essential", "The answer needs it", DECIDE, True, "grade(3)"),
        Action("judge.unsure", "space", "can't tell", "Leave it unjudged, go to the next", DECIDE),
        Action("judge.undo", "u", "undo", "Undo the last grade", APP),
        *_reading("judge"),
        CANCEL,
    ),
    (*LIST, *on_row()),
    place="workbench.tui.tuning.judging",
)
"""Judge mode takes the digits: the area keys rest until esc."""

BETTER = Table(
    "better 1 or 2",
    (
        Action("better.a", "a", "first", "The first one answers better", DECIDE, True, "answer('a')"),
        Action("better.b", "b", "second", "The second one answers better", DECIDE, True, "answer('b')"),
        Action("better.same", "equals_sign", "same", "Both answer equally well", DECIDE, True, "answer('=')"),
        Action("better.unsure", "space", "can't tell", "Can't tell: ask another pair", DECIDE, True, "answer('?')"),
        Action("better.undo", "u", "undo", "Undo the last answer", APP),
        Action("better.apply", "enter", "apply", "Set the sliders as the answers suggest", CHANGE),
        *_reading("better"),
        CANCEL,
    ),
    place="workbench.tui.tuning.judging",
)

AUTO = Table(
    "auto-tune",
    (
        Action("auto.apply", "enter", "as proposed", "Put the sliders there, or keep yours", CHANGE),
        Action("auto.anyway", "a", "try it anyway", "Apply the best setting that was tried", CHANGE),
        CANCEL,
    ),
    place="workbench.tui.tuning.judging",
)

METRICS = Table(
    "the metrics",
    (Action("metrics.look", "enter", "rank it", "Rank this query, to see why", FIND), CANCEL),
    MOVES,
    place="workbench.tui.tuning.judging",
)

COMPARE = Table(
    "a comparison",
    (
        Action("compare.left", "c", "another left", "Put another ranking on the left", FIND, run="dismiss('left')"),
        Action("compare.right", "C", "another right", "Put another ranking on the right", FIND, run="dismiss('right')"),
        Action("compare.swap", "x", "swap", "Swap the two sides", FIND),
        _close("compare", "Close the comparison", "escape"),
    ),
    LIST,
    place="workbench.tui.tuning.profiles",
)

LIBRARY = Table(
    "the profiles",
    (
        Action("library.use", "enter", "to the sliders", "Set the sliders to these settings", CHANGE),
        Action("library.agents", "a", "use for agents", "Use this profile for agents, too", CHANGE),
        Action("library.compare", "c", "compare", "Both rankings, with the one under ◆", FIND),
        Action("library.mark", "t,space", "mark", "Compare everything with this one (◆)", FIND),
        Action("library.save", "s", "save", "Save these settings as a profile", CHANGE),
        Action("library.name", "e", "name", "Rename this snapshot", CHANGE),
        Action("library.drop", "d", "drop", "Delete this snapshot, after y", CHANGE),
        Action("library.copy", "y", "copy", "Copy the settings as a profile's file", CHANGE),
        *_reading("library"),
        _close("library", "Close the list", "escape"),
    ),
    MOVES,
    place="workbench.tui.tuning.profiles",
)

MEMORY_DUPLICATES = Table(
    "duplicates",
    (
    *_slides("duplicates", "lower", "higher", "the threshold")[:2],
    Action("duplicates.reset", "backspace", "reset", "Back to the threshold in use", CHANGE, True, "slide('reset')"),
    Action("duplicates.save", "s", "save", "Flag duplicates above this threshold", CHANGE, True, "save('flag')"),
    Action("duplicates.review", "r", "save for review", "List pairs above it for review", CHANGE, True,
           "save('review')"),
    _close("duplicates", "Close the preview", "escape"),
),
    (*LIST, *on_row()),
    place="workbench.tui.duplicates",
)  # fmt: skip


# Agents.


AGENTS = Table(
    "Agents",
    (
        Action("agents.connect", "C", "connect", "Connect an agent (hooks, MCP), or undo that", FIND, False),
        Action("agents.judge", "v", "judge in Tune", "Ask this question in Tune, to judge it", FIND),
        Action("agents.bad", "0", "judge it bad", "Judge it as no answer to this question", DECIDE),
        Action("agents.context", "c", "context", "Preview what agents get for a task",
               FIND, run="do('preview.box.focus')"),
        Action("agents.documents", "o", "documents", "Show documents that agents keep",
               FIND, True, "open('documents:DocumentsDialog')"),
        Action("agents.episodes", "L", "episodes", "Show episodes: tasks and outcomes",
               FIND, True, "open('experience:EpisodesDialog')"),
        Action("agents.patterns", "l", "patterns", "Show patterns with their evidence",
               FIND, True, "open('experience:PatternsDialog')"),
        Action("agents.plans", "T", "plans", "Show plans and next steps",
               FIND, True, "open('planning:PlansDialog')"),
        Action("agents.working", "W", "working memory", "Show working memory by session",
               FIND, False, "open('planning:WorkingDialog')"),
        Action("agents.find", "slash", "find", "Find a row of the list by its words", FIND, False, "find_row"),
        Action("agents.agent", "f", "agent", "Show only what one agent did", FIND),
        Action("agents.next-pane", "tab", "next pane", "From sessions to what was done, to a text",
               MOVE, run="turn(1)"),
        Action("agents.last-pane", "shift+tab", "last pane", "Back to the pane before", MOVE, False, "turn(-1)"),
        *on_record("agents", "helpful harmful edit pin forget", taken="y"),
        Action("agents.copy", "y", "copy", "Copy the text, or the question", CHANGE, False),
        Action("agents.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
    ),
    (*LIST, *LINKS),
)

CONNECT = Table(
    "connecting an agent",
    (
        Action("connect.write", "enter", "connect", "Write the hooks into the agent's settings", CHANGE),
        Action("connect.changes", "v", "changes", "Show what changes in the file", FIND),
        Action("connect.undo", "u", "take back", "Take the hooks out; the file is as before", CHANGE),
        Action("connect.copy", "y", "copy command", "Copy the command that adds its tools", FIND),
        _close("connect", "Close"),
    ),
    place="workbench.tui.agents.connect",
)

_PREVIEW = "screen.do('preview.{}')"

CONTEXT = Table(
    "a context",
    (
        Action("context.less", "left", "fewer tokens", "A smaller budget, of all or a layer",
               CHANGE, run=_PREVIEW.format("less")),
        Action("context.more", "right", "more tokens", "A larger budget, of all or a layer",
               CHANGE, run=_PREVIEW.format("more")),
        Action("context.reset", "backspace", "as set", "The budgets as they are set",
               CHANGE, False, _PREVIEW.format("reset")),
        Action("context.layers", "tab", "layers", "From the text to the layers, and back",
               MOVE, run=_PREVIEW.format("rows.focus")),
        Action("context.profile", "r,p", "rank under", "Rank under another profile",
               FIND, run=_PREVIEW.format("profile")),
        Action("context.task", "slash", "task", "Write another task", FIND, run=_PREVIEW.format("box.focus")),
        Action("context.copy", "y", "copy", "Copy what is served, as Markdown", CHANGE, run=_PREVIEW.format("copy")),
        Action("context.copy-json", "Y", "copy JSON", "Copy it as JSON, with what is left out",
               CHANGE, run=_PREVIEW.format("copy_json")),
        Action("context.export", "X", "export", "Write it to a file, JSON or Markdown",
               CHANGE, run=_PREVIEW.format("export")),
        CANCEL,
    ),
    MOVES,
    place="workbench.tui.agents.context",
)

DOCUMENTS = Table(
    "documents",
    (
        Action("documents.edit", "e", "edit", "Edit it here", CHANGE),
        Action("documents.external", "E", "edit in $EDITOR", "Edit this document in $EDITOR", CHANGE, False),
        Action("documents.trust", "t", "trust", "Review and trust this folder", DECIDE),
        Action("documents.follow", "F", "follow", "Follow another folder", FIND),
        Action("documents.recall", "slash", "recall", "Search documents and messages", FIND),
        Action("documents.undo", "u", "undo", "Take the latest change back", CHANGE, False),
        _pane("documents"),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.documents",
)

PATTERNS = Table(
    "patterns",
    (
        _pane("patterns"),
        Action("patterns.approve", "a", "approve", "Take it into use", DECIDE),
        Action("patterns.deprecate", "D", "deprecate", "Deprecate, with a reason; again restores", DECIDE),
        Action("patterns.weigh", "w", "weigh", "Validate it against its applications", DECIDE),
        Action("patterns.edit", "e", "edit", "Edit the pattern as JSON", CHANGE),
        Action("patterns.task", "t", "for a task", "List those in use that fit a task", FIND),
        Action("patterns.add", "n", "new", "Write a new pattern", CHANGE, False),
        Action("patterns.apply", "A", "applied", "Record an application and its outcome", CHANGE, False),
        Action("patterns.refine", "R", "refine", "Refine it; its evidence restarts", DECIDE, False),
        Action("patterns.merge", "m", "merge", "Merge it with another of its category", DECIDE),
        Action("patterns.supersede", "s", "supersede", "Deprecate it in favour of another", DECIDE, False),
        Action("patterns.relate", "r", "relate", "Relate it to another, or take that back", DECIDE, False),
        Action("patterns.prune", "x", "prune", "Deprecate weak patterns, after a preview", DECIDE, False),
        Action("patterns.copy", "y", "copy", "Copy it as JSON", CHANGE, False),
        _undo("patterns"),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.experience",
)

EPISODES = Table(
    "episodes",
    (
        Action("episodes.note", "n", "note", "Add a note to this episode", CHANGE),
        Action("episodes.tag", "t", "tags", "Edit the tags of this episode", CHANGE),
        Action("episodes.approve", "a", "approve", "Approve this episode, or withdraw it", CHANGE),
        Action("episodes.delete", "d", "delete", "Delete, or bring back within 30 days", CHANGE),
        Action("episodes.undo", "u", "undo", "Undo the last change made here", CHANGE),
        Action("episodes.search", "f", "search", "Find by words, domain:, outcome:, since:", FIND),
        Action("episodes.strategy", "s", "strategy", "Choose the search strategy", FIND),
        Action("episodes.compare", "c", "compare", "Compare two: press on each", FIND),
        Action("episodes.archive", "A", "archive", "Archive, or bring back", CHANGE, False),
        Action("episodes.consolidate", "C", "consolidate", "Group similar episodes", CHANGE, False),
        Action("episodes.erase", "X", "erase", "Erase it for good, 30 days after deletion", CHANGE, False),
        Action("episodes.add", "i", "add", "Add episodes of a file or folder", CHANGE, False),
        Action("episodes.trace", "o", "trace", "Show or fold the trace of an old episode", FIND),
        _pane("episodes"),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.experience",
)

PLANS = Table(
    "plans",
    (
        _pane("plans", False),
        Action("plans.new", "n", "new", "Create a plan from a goal and a duration", CHANGE),
        Action("plans.add", "a", "add", "Add a step after this one", CHANGE),
        Action("plans.below", "A", "add below", "Add a step below this one", CHANGE, False),
        Action("plans.edit", "e", "edit", "Change the text and the duration", CHANGE),
        Action("plans.done", "x", "done", "Mark it done, or reopen it", CHANGE, True, "mark('done')"),
        Action("plans.skip", "s", "skip", "Mark it skipped, or reopen it", CHANGE, False, "mark('skipped')"),
        Action("plans.up", "{,shift+up", "move up", "Move the step up", CHANGE, False, "move(-1)"),
        Action("plans.down", "},shift+down", "move down", "Move the step down", CHANGE, False, "move(1)"),
        Action("plans.delete", "d", "delete", "Delete the step, or archive the plan", CHANGE),
        Action("plans.decide", "w", "what next", "Propose what to do next, with the reasons", FIND),
        Action("plans.copy", "y", "copy", "Copy the plan as a check list", CHANGE, False),
        _undo("plans"),
        CANCEL,
    ),
    MOVES,
    place="workbench.tui.agents.planning",
)

WORKING = Table(
    "working memory",
    (
        Action("working.pin", "p", "pin", "Pin or unpin this variable", CHANGE),
        Action("working.drop", "d", "drop", "Remove this variable", CHANGE),
        Action("working.correct", "e", "correct", "Change the value of this variable", CHANGE),
        Action("working.operate", "o", "operate", "Set, prune, roll back, clear …", CHANGE),
        _undo("working"),
        _pane("working"),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.planning",
)

LESSONS = Table(
    "what sessions teach",
    (
        Action("lessons.take", "ctrl+s", "store", "Store the listed lessons, as one change", CHANGE),
        Action("lessons.again", "ctrl+r", "from the start", "Read the sessions from the start", FIND),
        _pane("lessons"),
        Action("lessons.close", "escape,q", "close", "Stop reading, or close", APP),
    ),
    LIST,
    place="workbench.tui.agents.browse",
)


# Health.


HEALTH = Table(
    "Health",
    (
        Action("health.apply", "a", "apply", "Send these proposals to Review", DECIDE, run="verb('apply')"),
        Action("health.compare", "D", "duplicates", "Compare every memory with every other",
               FIND, run="verb('compare', 'duplicates')"),
        Action("health.still-true", "s", "still true?", "Check names in memories against the code",
               FIND, run="verb('still_true', 'still-true')"),
        Action("health.prune", "p", "prune all", "Archive all suggested, after a preview",
               DECIDE, run="verb('prune', 'upkeep')"),
        Action("health.merge", "m", "merge", "Merge this group; undo separates it", DECIDE, run="verb('merge')"),
        Action("health.refuse", "x", "keep both", "Keep both, or dismiss an edit",
               DECIDE, run="verb('refuse')"),
        Action("health.next-section", "tab", "next part", "To the next section", MOVE, run="jump(1)"),
        Action("health.last-section", "shift+tab", "last part", "To the previous section", MOVE, False, run="jump(-1)"),
        Action("health.find", "slash", "find", "Find a row of the list by its words", FIND, False, "find_row"),
        Action("health.check", "r", "check again", "Check everything again", FIND),
        Action("health.compact", "c", "compact", "Compress closed journal files",
               CHANGE, False, run="verb('compact', 'store')"),
        Action("health.backup", "b", "back up", "Back up the store to one file",
               CHANGE, False, run="verb('backup', 'store')"),
        Action("health.take-back", "t", "take back", "Take back the change under the cursor",
               DECIDE, False, run="verb('take_back')"),
        Action("health.add-file", "A", "add a file", "Check a file for problems",
               FIND, False, run="verb('add_file', 'files')"),
        Action("health.write-back", "w", "write back", "Write changed notes back to their folder",
               CHANGE, False, run="verb('write_back', 'files')"),
        Action("health.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        *_reading("health"),
    ),
    (*LIST, *LINKS, *on_row("p")),
)

BACKUP = Table(
    "a backup",
    (
        Action("backup.write", "ctrl+s", "write", "Write the backup", CHANGE),
        Action("backup.leave", "escape", "close", "Stop writing, or close", APP),
    ),
    place="workbench.tui.health.store",
)

PROPOSED = Table(
    "what is proposed",
    (
        Action("proposed.yes", "y", "do it", "Do it", DECIDE),
        *_reading("proposed"),
        Action("proposed.no", "escape,n", "close", "Close without changing anything", APP),
    ),
    (*LIST, *on_row("y")),
    place="workbench.tui.health.upkeep",
)
"""A list of what is proposed, to be looked through before it is accepted as a whole."""


# Files: findings, the whole file, importing, exporting.


FINDINGS = Table(
    "the findings in a file",
    (
        Action("findings.fix", "f", "fix", "Change the file as shown", CHANGE),
        Action("findings.fix-rule", "F", "all alike", "Show all fixes of this rule", CHANGE),
        Action("findings.yes", "y", "make them", "Change the file as shown", CHANGE, False),
        Action("findings.undo", "u", "take back", "Take back the fix made last here", APP),
        Action("findings.whole", "v", "whole file", "Show the whole file and what is loaded", FIND),
        Action("findings.external", "E", "$EDITOR", "Edit the file in $EDITOR", CHANGE),
        *_reading("findings"),
        Action("findings.close", "escape,q", "close", "Back, or close", APP),
    ),
    MOVES,
    place="workbench.tui.files.section",
)

WHOLE = Table(
    "a whole file",
    (
        Action("whole.cut", "c", "to the cut", "To the first line that is not loaded", FIND),
        _close("whole", "Close the file", "escape,v,q"),
    ),
    MOVES,
    place="workbench.tui.files.section",
)

IMPORT = Table(
    "importing",
    (
        Action("import.take", "ctrl+s", "import", "Import what is listed", CHANGE),
        Action("import.format", "ctrl+t", "format", "Read the file as another format", CHANGE),
        Action("import.steps", "ctrl+n", "steps", "Set the time and length of steps", CHANGE, False),
        Action("import.theirs", "ctrl+r", "theirs", "Take the file's version of what differs", DECIDE),
        Action("import.as-new", "ctrl+g", "as new", "Count memories towards a reflection", DECIDE, False),
        Action("import.statements", "ctrl+o", "statements", "Statements of instructions, closed issues", DECIDE, False),
        Action("import.mark", "space", "mark", "Mark it: only marked records are imported", DECIDE, False),
        Action("import.undo", "ctrl+z", "undo", "Take the last import back", APP, False),
        Action("import.documents", "ctrl+l", "documents", "Follow this folder as documents", FIND, False),
        Action("import.sessions", "ctrl+y", "sessions", "Learn from agent sessions here", FIND, False),
        Action("import.complete", "tab", "complete", "Complete the name, or back to it", FIND),
        Action("import.down", "down", "down", "From the name to the list", MOVE, False),
        Action("import.leave", "escape", "close", "Stop, or close", APP),
    ),
    place="workbench.tui.files.imports",
)

BEGIN = Table(
    "beginning",
    (_close("begin", "Close"),),
    LIST,
    place="workbench.tui.opening",
)

EXPORT = Table(
    "the export",
    (
        Action("export.write", "ctrl+s", "write", "Write the file as shown", CHANGE),
        Action("export.format", "ctrl+o", "format", "Choose another format", CHANGE),
        Action("export.dialect", "ctrl+n", "next variant", "With or without counts", CHANGE),
        Action("export.copy", "ctrl+y", "copy", "Copy the text to the clipboard", CHANGE),
        Action("export.replace", "ctrl+r", "take mine", "Replace the file, after y", DECIDE, False),
        Action("export.allow", "ctrl+l", "allow flagged", "Allow flagged text, with a reason", DECIDE, False),
        Action("export.view", "ctrl+t", "changes / whole", "Show what changes, or the whole file", FIND),
        Action("export.budget", "ctrl+g", "within budget", "Only what fits the budget, or everything", CHANGE),
        Action("export.unfold", "o", "show secrets", "Show the masked secrets, from the text", FIND, False),
        CANCEL,
    ),
    LIST,
    place="workbench.tui.files.exports",
)


# Promoting.


PROMOTE = Table(
    "promoting",
    (
        Action("promote.write", "enter", "promote", "Write the file", CHANGE),
        Action("promote.fields", "tab", "fields and text", "To the fields, the text and back",
               MOVE, True, "app.focus_next"),
        Action("promote.leave", "escape", "close", "Close without doing anything", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.promotion",
)

COPIES = Table(
    "the copies of a correction",
    (
        Action("copies.update", "y", "update them too", "Save it with the copies, as one action",
               DECIDE, True, "answer(True)"),
        Action("copies.leave", "n", "only this", "Save it; the copies stay as they are", DECIDE, True, "answer(False)"),
        Action("copies.back", "escape", "go on editing", "Back to the text; nothing is saved", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.promotion",
)


# Reflecting, and what Claude is asked.


REFLECT = Table(
    "reflecting",
    (
        Action("reflect.start", "enter", "start", "Start the reflection", DECIDE),
        Action("reflect.look-for", "f,slash", "focus", "Set a topic to focus on", CHANGE),
        Action("reflect.reflector", "c", "reflector", "Switch between Claude and this machine", CHANGE),
        Action("reflect.preview", "v", "what is sent", "Show exactly what would be sent", FIND),
        Action("reflect.unread", "o", "unread replies", "Show unreadable replies", FIND, False),
        Action("reflect.leave", "escape", "close", "Close without reflecting", APP),
    ),
    place="workbench.tui.reflection",
)
"""While the focus is written, letters are letters; enter or esc ends it."""

RUNNING = Table(
    "a reflection in the making",
    (Action("reflecting.stop", "escape", "stop", "Stop and keep what was found", APP),),
    place="workbench.tui.reflection",
)

REFLECTED = Table(
    "what a reflection found",
    (
        Action("reflected.review", "enter,2", "to Review", "Go to Review and decide", DECIDE),
        Action("reflected.again", "r", "ask again", "Ask again for the unreadable part", CHANGE, run="reply('again')"),
        Action("reflected.edit", "e", "edit the reply", "Edit the reply into candidates", CHANGE, run="reply('edit')"),
        Action("reflected.let-go", "x", "let go", "Discard the reply (can be undone)", CHANGE, run="reply('dismiss')"),
        Action("reflected.leave", "escape", "close", "Close", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.reflection",
)

SENT = Table(
    "what is sent",
    (
        Action("sent.on", "space", "read on", "Half a page down", MOVE, True, "read_on"),
        _close("sent", "Close the preview", "escape,v,q"),
    ),
    MOVES,
    place="workbench.tui.reflection",
)


DIALOGS = (
    HELP,
    MANUAL,
    CONFIRM,
    EDITOR,
    PROMPT,
    CHOOSE,
    OPENED,
    WELCOME,
    SETTINGS,
    FORM,
    HISTORY,
    REPLACE,
    REASONS,
    MERGE,
    GROUP,
    REFINE,
    IMPACT,
    BULLET_DUPLICATES,
    BUDGET,
    AGENT_VIEW,
    CARDS,
    SOURCE,
    ASK,
    DIFFERENCE,
    JUDGE,
    METRICS,
    BETTER,
    AUTO,
    COMPARE,
    LIBRARY,
    MEMORY_DUPLICATES,
    CONNECT,
    CONTEXT,
    DOCUMENTS,
    EPISODES,
    LESSONS,
    PATTERNS,
    PLANS,
    WORKING,
    PROPOSED,
    BACKUP,
    FINDINGS,
    WHOLE,
    IMPORT,
    BEGIN,
    EXPORT,
    PROMOTE,
    COPIES,
    REFLECT,
    RUNNING,
    REFLECTED,
    SENT,
)
