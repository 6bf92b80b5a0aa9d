"""The tables of actions: global ones, those of shared widgets, and one table per area."""

from dataclasses import dataclass

from workbench.tui.app.actions import MOVE, Action
from workbench.tui.files import actions as files_actions
from workbench.tui.health import actions as health_actions
from workbench.tui.playbook import actions as playbook_actions
from workbench.tui.promotion import actions as promote_actions
from workbench.tui.reflection import actions as reflect_actions
from workbench.tui.review import actions as review_actions
from workbench.tui.tuning import actions as tune_actions

FIND, DECIDE, CHANGE, MARK, APP = "Find", "Decide", "Change", "Mark", "App"


@dataclass(frozen=True, slots=True)
class Area:
    """One of the app's areas: its tab, and the actions its screen implements itself."""

    id: str
    title: str
    key: str
    actions: tuple[Action, ...]


GLOBAL = (
    Action("app.stream", "1", "Stream", "Go to the Stream", APP, False, "area('stream')"),
    Action("app.review", "2", "Review", "Go to Review", APP, False, "area('review')"),
    Action("app.playbook", "3", "Playbook", "Go to the Playbook", APP, False, "area('playbook')"),
    Action("app.tune", "4", "Tune", "Go to Tune", APP, False, "area('tune')"),
    Action("app.health", "6", "Health", "Go to Health", APP, False, "area('health')"),
    Action("app.import", "F", "import a file", "Take a file into the store", APP, False, "take_in"),
    Action("app.reflect", "R", "reflect", "Propose what memories say together", APP, False),
    Action("app.undo", "u,ctrl+z", "undo", "Take back your latest change", APP),
    Action("app.redo", "U", "redo", "Do again what you took back", APP, False),
    Action("app.all-history", "H", "all history", "Show what everybody did, agents too", APP, False),
    Action("app.stores", "ctrl+o", "stores", "Open another store", APP, False),
    Action("app.palette", "ctrl+p", "palette", "Find any action by name", APP, False, "command_palette"),
    Action("app.back", "escape", "back", "Close what is open, or go back", APP, False),
    Action("app.help", "question_mark", "help", "Show every key of this area", APP),
    Action("app.quit", "q", "quit", "Quit; asks only when something is unsaved", APP, False),
)

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

STREAM = (
    Action("stream.search", "slash", "search", "Filter or search the memories", FIND),
    Action("stream.helpful", "plus", "helpful", "Vote helpful; again takes the vote back", DECIDE),
    Action("stream.harmful", "minus", "harmful", "Vote harmful; again takes the vote back", DECIDE),
    Action("stream.edit", "e", "edit", "Edit this memory here", CHANGE),
    Action("stream.external", "E", "edit in $EDITOR", "Edit this memory in $EDITOR", CHANGE, False),
    Action("stream.pin", "p", "pin", "Pin or unpin; pinned does not decay", CHANGE),
    Action("stream.forget", "d", "forget", "Forget it, after y; can be undone", CHANGE),
    Action("stream.views", "f", "views", "Filters and saved views", FIND),
    Action("stream.next", "n", "next match", "To the next match", FIND, False),
    Action("stream.previous", "N", "previous match", "To the previous match", FIND, False),
    Action("stream.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False),
    Action("stream.history", "h", "history", "Show every change of this memory", FIND),
    Action("stream.unfold", "o", "open", "Show a text that is folded as unsafe", FIND, False),
    Action("stream.allow", "exclamation_mark", "allow", "Let a flagged text out; again holds it", DECIDE, False),
    Action("stream.promote", "P", "promote", "Put it where agents read it, seen first", DECIDE, False),
    Action("stream.apply", "semicolon", "apply to marked", "Do the next action to all marked rows", MARK, False),
)

REVIEW = (
    Action("review.approve", "a", "approve", "Approve, and go to the next", DECIDE),
    Action("review.reject", "x", "reject", "Reject, go to the next; 1 to 5 say why", DECIDE),
    Action("review.later", "space", "later", "Put it off for a week", DECIDE),
    Action("review.edit", "e", "edit", "Edit the text; saving it approves it", DECIDE),
    Action("review.external", "E", "edit in $EDITOR", "Edit in $EDITOR; saving approves", DECIDE, False),
    Action("review.merge", "m", "merge", "Merge into a like memory, after y", DECIDE),
    Action("review.split", "S", "split", "Split it: each part is a candidate", DECIDE),
    Action("review.refine", "r", "refine", "Refine the words, round by round", CHANGE),
    Action("review.impact", "i", "impact", "What approving does to saved queries", FIND),
    Action("review.unfold", "o", "open", "Show a text that is folded as unsafe", FIND, False),
    Action("review.promote", "P", "promote", "Put it where agents read it, seen first", DECIDE),
    Action("review.search", "slash", "filter", "Filter what is listed", FIND),
    Action("review.next", "n", "next listed", "To the next that is listed", FIND, False),
    Action("review.previous", "N", "previous listed", "To the one listed before", FIND, False),
    Action("review.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False),
    Action("review.history", "h", "history", "Show every change of this candidate", FIND, False),
    Action("review.read-on", "J", "read on", "Scroll the candidate, then its evidence", MOVE, False),
    Action("review.read-back", "K", "read back", "Scroll back", MOVE, False),
    Action("review.apply", "semicolon", "apply to marked", "Do the next action to all marked rows", MARK, False),
)

REASONS = (
    Action("reason.wrong", "1", "wrong", "It is not true", DECIDE, True, "reason(0)"),
    Action("reason.general", "2", "too general", "True of anything, so of no use", DECIDE, True, "reason(1)"),
    Action("reason.duplicate", "3", "duplicate", "Something else says it already", DECIDE, True, "reason(2)"),
    Action("reason.outdated", "4", "outdated", "It was true once", DECIDE, True, "reason(3)"),
    Action("reason.words", "5", "in words", "Say why in your own words", DECIDE, True, "reason_in_words"),
)
"""Why something was just rejected: these keys hold until the next action, and the area keys rest."""

PLAYBOOK = (
    Action("playbook.helpful", "plus", "helpful", "Vote helpful; again takes the vote back", DECIDE),
    Action("playbook.harmful", "minus", "harmful", "Vote harmful; again takes the vote back", DECIDE),
    Action("playbook.edit", "e", "edit", "Edit this bullet here", CHANGE),
    Action("playbook.external", "E", "edit in $EDITOR", "Edit this bullet in $EDITOR", CHANGE, False),
    Action("playbook.add", "o", "add", "Add a bullet to this section", CHANGE),
    Action("playbook.duplicates", "equals_sign", "duplicates", "Bullets that say the same: merge, keep", FIND),
    Action("playbook.budget", "B", "budget", "Token budget: the cut, and what fits", FIND),
    Action("playbook.export", "X", "export", "Write the playbook to a file, seen before", CHANGE),
    Action("playbook.search", "slash", "filter", "Filter by words, is: and section:", FIND),
    Action("playbook.deprecate", "D", "deprecate", "Deprecate, with a reason; again restores", CHANGE),
    Action("playbook.delete", "d", "delete", "Delete it, after y; can be undone", CHANGE),
    Action("playbook.move", "M", "move", "Move to the end of another section", CHANGE),
    Action("playbook.section", "O", "add section", "Add a section, or begin a playbook", CHANGE, False),
    Action("playbook.lower", "J", "reorder down", "Move the bullet one place down", CHANGE, False),
    Action("playbook.higher", "K", "reorder up", "Move the bullet one place up", CHANGE, False),
    Action("playbook.pin", "p", "pin", "Pin or unpin this bullet", CHANGE),
    Action("playbook.avoid", "W", "warn of it", "Turn a harmful rule into a warning", CHANGE, False),
    Action("playbook.split", "S", "split", "Take the latest merge of it apart", CHANGE, False),
    Action("playbook.agent-view", "V", "agent's view", "The text that an agent is given; copy it", FIND, False),
    Action("playbook.suggestions", "I", "suggestions", "Card by card: a file, pasted, or Claude's", CHANGE, False),
    Action("playbook.books", "b", "playbooks", "Choose another playbook of this store", FIND),
    Action("playbook.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False),
    Action("playbook.history", "h", "history", "Show every change of this bullet", FIND),
    Action("playbook.apply", "semicolon", "apply to marked", "Do the next action to all marked rows", MARK, False),
)

TUNE = (
    Action("tune.query", "slash", "query", "Write the query that is ranked", FIND),
    Action("tune.next-pane", "tab", "next pane", "From sliders to ranking to explanation", MOVE, True, "pane(1)"),
    Action("tune.queries", "f", "queries", "Choose one of the saved queries", FIND),
    Action("tune.judge", "J", "judge", "Grade what could answer this query", DECIDE),
    Action("tune.last-pane", "shift+tab", "last pane", "Back to the pane before", MOVE, False, "pane(-1)"),
    Action("tune.previous-flip", "left_square_bracket", "flip before", "Just below the last swap of two rows", FIND),
    Action("tune.next-flip", "right_square_bracket", "flip after", "Just beyond the next swap of two rows", FIND),
    Action("tune.auto", "A", "auto-tune", "Find the weights that suit the judgments", CHANGE),
    Action("tune.better", "B", "better 1 or 2", "Say which of two is better, and learn", DECIDE),
    Action("tune.metrics", "m", "metrics", "How good the ranking is, query by query", FIND),
    Action("tune.save", "s", "save", "Save these settings as a profile", CHANGE),
    Action("tune.load", "l", "load", "Load a profile", CHANGE),
    Action("tune.why", "w", "why not", "Find any memory and see why it is so low", FIND),
    Action("tune.earlier", "comma", "earlier", "Rank as if it were 5 days earlier", CHANGE),
    Action("tune.later", "full_stop", "later", "Rank as if it were 5 days later", CHANGE),
    Action("tune.options", "o", "options", "Recency mode, pinned, 0 to 1, candidates", CHANGE),
    Action("tune.candidates", "C", "candidates", "Which memories take part: a filter", CHANGE, False),
    Action("tune.compare", "c", "compare", "This ranking beside another one", FIND),
    Action("tune.snapshot", "n", "snapshot", "Keep these settings as a snapshot", CHANGE),
    Action("tune.library", "N", "snapshots", "Snapshots and profiles: compare, go back", FIND),
    Action("tune.duplicates", "D", "duplicates", "Which pairs would merge at a threshold", FIND),
    Action("tune.save-query", "S", "save query", "Save this query, to measure by it", CHANGE),
    Action("tune.export-queries", "X", "export queries", "Write queries, judgments or a run", CHANGE, False),
    Action("tune.import-queries", "I", "import queries", "Read judged queries from a file", CHANGE, False),
    Action("tune.revert", "r", "revert", "Put everything back to the saved profile", CHANGE, False),
    Action("tune.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False),
    Action("tune.history", "h", "history", "Show every change of this memory", FIND, False),
)

CANCEL = Action("dialog.cancel", "escape", "close", "Close without doing anything", APP)

_OPEN_SECRETS = Action("history.unfold", "o", "show secrets", "Show the secrets that are masked", FIND)
HISTORY = (Action("history.undo", "u", "take back", "Take back this change, after y", DECIDE), _OPEN_SECRETS, CANCEL)
RECORD_THEN = (_OPEN_SECRETS, CANCEL)

HELP = (Action("help.close", "escape,question_mark,q", "close", "Close the help", APP),)

CONFIRM = (
    Action("confirm.yes", "y", "yes", "Do it", DECIDE),
    Action("confirm.no", "n,escape", "no", "Leave everything as it is", DECIDE),
)

EDITOR = (
    Action("editor.save", "ctrl+s", "save", "Take the text as it stands", CHANGE),
    Action("editor.other", "ctrl+r", "stored text", "What is stored, or the restored draft", CHANGE, False),
    CANCEL,
)

EXPORT = (
    Action("export.write", "ctrl+s", "write", "Write the file as shown", CHANGE),
    Action("export.format", "ctrl+o", "format", "Choose another format", CHANGE),
    Action("export.dialect", "ctrl+n", "next dialect", "As it is, with counts, or bare", CHANGE),
    Action("export.copy", "ctrl+y", "copy", "Copy the text to the clipboard", CHANGE),
    Action("export.replace", "ctrl+r", "take mine", "Replace what the file holds, after y", DECIDE, False),
    Action("export.allow", "ctrl+l", "allow flagged", "Let flagged text out, and say why", DECIDE, False),
    Action("export.view", "ctrl+t", "changes / whole", "Show what changes, or the whole file", FIND),
    Action("export.budget", "ctrl+g", "within budget", "Cut where the token budget ends, or whole", CHANGE),
    Action("export.unfold", "o", "show secrets", "Show the masked secrets, from the text", FIND, False),
    CANCEL,
)

PROMPT = (Action("prompt.take", "enter", "ok", "Take what is written", CHANGE), CANCEL)

CHOOSE = (
    Action("choose.up", "up,ctrl+p", "up", "One choice up", MOVE, False),
    Action("choose.down", "down,ctrl+n", "down", "One choice down", MOVE, False),
    Action("choose.take", "enter", "choose", "Take the choice under the cursor", DECIDE),
    CANCEL,
)

JUDGE = (
    Action("judge.no", "0", "no", "It does not answer the query", DECIDE, True, "grade(0)"),
    Action("judge.weak", "1", "weak", "It helps a little", DECIDE, True, "grade(1)"),
    Action("judge.good", "2", "good", "It answers the query", DECIDE, True, "grade(2)"),
    Action("judge.essential", "3", "essential", "The answer needs it", DECIDE, True, "grade(3)"),
    Action("judge.unsure", "space", "can't tell", "Leave it unjudged, go to the next", DECIDE),
    Action("judge.undo", "u", "undo", "Take the last grade back", APP),
    Action("judge.read-on", "J", "read on", "Scroll the memory", MOVE, False),
    Action("judge.read-back", "K", "read back", "Scroll back", MOVE, False),
    CANCEL,
)
"""Judge mode takes the digits: the area keys rest until esc."""

BETTER = (
    Action("better.a", "a", "first", "The first one answers better", DECIDE, True, "answer('a')"),
    Action("better.b", "b", "second", "The second one answers better", DECIDE, True, "answer('b')"),
    Action("better.same", "equals_sign", "same", "Both answer equally well", DECIDE, True, "answer('=')"),
    Action(
        "better.unsure", "question_mark,space", "unsure", "Can't tell: ask another pair", DECIDE, True, "answer('?')"
    ),
    Action("better.undo", "u", "undo", "Take the last answer back", APP),
    Action("better.apply", "enter", "apply", "Put the sliders where the answers lead", CHANGE),
    Action("better.read-on", "J", "read on", "Scroll both memories", MOVE, False),
    Action("better.read-back", "K", "read back", "Scroll back", MOVE, False),
    CANCEL,
)

AUTO = (Action("auto.apply", "enter", "apply to the sliders", "Put the sliders where it says", CHANGE), CANCEL)

METRICS = (Action("metrics.look", "enter", "rank it", "Rank this query, to see why", FIND), CANCEL)

HEALTH = health_actions.HEALTH

AREAS = (
    Area("stream", "Stream", "1", STREAM),
    Area("review", "Review", "2", REVIEW),
    Area("playbook", "Playbook", "3", PLAYBOOK),
    Area("tune", "Tune", "4", TUNE),
    Area("health", "Health", "6", HEALTH),
)

_SHARED = {"stream": (*LIST, *MARKS), "review": (*LIST, *MARKS), "playbook": (*LIST, *MARKS), "tune": LIST}
_SHARED["health"] = LIST


def scope(area_id: str) -> tuple[Action, ...]:
    """Return every action that has a key while an area is open: its own, its widgets' and the global ones."""
    area = next(a for a in AREAS if a.id == area_id)
    own = (*area.actions, *SLIDER) if area_id == "tune" else area.actions
    return (*own, *_SHARED[area_id], *GLOBAL)


def scopes() -> dict[str, tuple[Action, ...]]:
    """Return the sets of actions within which a key must be unique, by title."""
    elsewhere = tuple(a for a in GLOBAL if not a.run.startswith("area("))
    rejected = (*REASONS, *REVIEW, *LIST, *MARKS, *elsewhere)
    dialogs = {"the help": HELP, "a question": CONFIRM, "the editor": EDITOR, "an input": PROMPT, "a choice": CHOOSE}
    dialogs["the export"] = (*EXPORT, *LIST)
    dialogs["the history"] = (*HISTORY, *LIST)
    dialogs["a record as it was"] = RECORD_THEN
    dialogs |= {"judging": (*JUDGE, *LIST), "the metrics": (*METRICS, *LIST[:-1])}
    dialogs["what is proposed"] = (*health_actions.PROPOSED, *LIST)
    dialogs |= {"better 1 or 2": BETTER, "auto-tune": AUTO, "duplicates": (*tune_actions.DUPLICATES, *LIST)}
    dialogs |= {"a comparison": (*tune_actions.COMPARE, *LIST), "the profiles": (*tune_actions.LIBRARY, *LIST[:-1])}
    dialogs |= {"queries out": (*tune_actions.QUERIES_OUT, *LIST), "queries in": (*tune_actions.QUERIES_IN, *LIST)}
    dialogs |= {"merging": (*review_actions.MERGE, *LIST[:-1]), "a group": (*review_actions.GROUP, *LIST[:-1])}
    dialogs |= {"refining": (*review_actions.REFINE, *LIST[:-1]), "the impact": (*review_actions.IMPACT, *LIST[:-1])}
    dialogs |= {"promoting": (*promote_actions.PROMOTE, *LIST[:-1])}
    dialogs |= reflect_actions.TABLES | {"a backup": health_actions.BACKUP}
    dialogs |= {name: (*table, *LIST[:-1]) for name, table in playbook_actions.LISTS.items()}
    dialogs |= {name: (*table, *LIST[:-1]) for name, table in files_actions.LISTS.items()} | files_actions.TABLES
    dialogs |= playbook_actions.TABLES
    return {**{a.title: scope(a.id) for a in AREAS}, "a rejection": rejected, **dialogs}


def every_action() -> tuple[Action, ...]:
    """Return all actions of the app, each once."""
    dialogs = (
        HISTORY,
        HELP,
        CONFIRM,
        EDITOR,
        EXPORT,
        PROMPT,
        CHOOSE,
        JUDGE,
        BETTER,
        AUTO,
        METRICS,
        *tune_actions.DIALOGS,
        *reflect_actions.TABLES.values(),
        *playbook_actions.LISTS.values(),
        *playbook_actions.TABLES.values(),
        review_actions.MERGE,
        review_actions.GROUP,
        review_actions.REFINE,
        review_actions.IMPACT,
        promote_actions.PROMOTE,
        health_actions.PROPOSED,
        health_actions.BACKUP,
        *files_actions.LISTS.values(),
        *files_actions.TABLES.values(),
    )
    tables = (GLOBAL, LIST, MARKS, SLIDER, STREAM, REVIEW, REASONS, PLAYBOOK, TUNE, HEALTH, *dialogs)
    return tuple(dict.fromkeys(action for table in tables for action in table))
