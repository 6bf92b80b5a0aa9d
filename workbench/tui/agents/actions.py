"""The tables of actions of Agents, its context and its dialogs."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import CANCEL, LINKS, LIST, MOVES

AGENTS = Table(
    "Agents",
    (
        Action("agents.judge", "J", "judge in Tune", "Ask this question in Tune, to judge it", FIND),
        Action("agents.context", "c", "context", "Preview what agents get for a task", FIND),
        Action(
            "agents.documents",
            "D",
            "documents",
            "What agents keep in documents, by section",
            FIND,
            True,
            "open('documents:DocumentsDialog')",
        ),
        Action(
            "agents.episodes",
            "L",
            "episodes",
            "What agents did, from task to outcome",
            FIND,
            True,
            "open('experience:EpisodesDialog')",
        ),
        Action(
            "agents.patterns",
            "K",
            "patterns",
            "What agents learned, with its evidence",
            FIND,
            True,
            "open('experience:PatternsDialog')",
        ),
        Action(
            "agents.plans",
            "T",
            "plans",
            "Goals in steps, and what to do next",
            FIND,
            True,
            "open('planning:PlansDialog')",
        ),
        Action(
            "agents.working",
            "W",
            "working memory",
            "What agents keep in mind, by session",
            FIND,
            False,
            "open('planning:WorkingDialog')",
        ),
        Action("agents.find", "slash", "find", "Find a row of the list by its words", FIND, False, "find_row"),
        Action("agents.agent", "f", "agent", "Show only what one agent did", FIND),
        Action("agents.next-pane", "tab", "next pane", "From sessions to what was done, to a text", MOVE),
        Action("agents.last-pane", "shift+tab", "last pane", "Back to the pane before", MOVE, False),
        Action(
            "agents.helpful",
            "plus",
            "helpful",
            "Vote helpful; again takes the vote back",
            DECIDE,
            True,
            "act('helpful')",
        ),
        Action(
            "agents.harmful",
            "minus",
            "harmful",
            "Vote harmful; again takes the vote back",
            DECIDE,
            True,
            "act('harmful')",
        ),
        Action("agents.edit", "e", "edit", "Edit this memory here", CHANGE, True, "act('edit')"),
        Action(
            "agents.external", "E", "edit in $EDITOR", "Edit this memory in $EDITOR", CHANGE, False, "act('external')"
        ),
        Action("agents.pin", "p", "pin", "Pin or unpin; pinned does not decay", CHANGE, True, "act('pin')"),
        Action("agents.forget", "d", "archive", "Archive it; can be undone", CHANGE, True, "act('forget')"),
        Action("agents.copy", "y", "copy", "Copy the text, or the question", CHANGE, False),
        Action("agents.history", "h", "history", "Show every change of this memory", FIND, False, "act('history')"),
        Action("agents.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action(
            "agents.promote", "P", "promote", "Promote it to a file, previewed first", DECIDE, False, "act('promote')"
        ),
    ),
    (*LIST, *LINKS),
)

CONTEXT = Table(
    "a context",
    (
        Action("context.less", "left", "fewer tokens", "A smaller budget, of all or a layer", CHANGE),
        Action("context.more", "right", "more tokens", "A larger budget, of all or a layer", CHANGE),
        Action("context.reset", "backspace", "as set", "The budgets as they are set", CHANGE, False),
        Action("context.layers", "tab", "layers", "From the text to the layers, and back", MOVE),
        Action("context.profile", "r,p", "rank under", "Rank under another profile", FIND),
        Action("context.task", "slash", "task", "Write another task", FIND),
        Action("context.copy", "y", "copy", "Copy what is served, as Markdown", CHANGE),
        Action("context.copy-json", "Y", "copy JSON", "Copy it as JSON, with what is left out", CHANGE),
        Action("context.export", "X", "export", "Write it to a file, JSON or Markdown", CHANGE),
        CANCEL,
    ),
    MOVES,
    place="workbench.tui.agents.context",
)

DOCUMENTS = Table(
    "documents",
    (
        Action("documents.edit", "e", "edit", "Edit it here; every other byte stays", CHANGE),
        Action("documents.external", "E", "edit in $EDITOR", "Edit this document in $EDITOR", CHANGE, False),
        Action("documents.trust", "t", "trust", "Trust this folder for agents, once seen", DECIDE),
        Action("documents.follow", "F", "follow", "Look through another folder from now on", FIND),
        Action("documents.recall", "slash", "recall", "Find what documents and messages say", FIND),
        Action("documents.undo", "u", "undo", "Take the latest change back", CHANGE, False),
        Action("documents.pane", "tab", "text", "To the text, and back", MOVE),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.documents",
)

PATTERNS = Table(
    "patterns",
    (
        Action("patterns.pane", "tab", "text", "To the text, and back", MOVE),
        Action("patterns.approve", "a", "approve", "Take it into use, or back into use", DECIDE),
        Action("patterns.deprecate", "D", "deprecate", "Deprecate, with a reason; again restores", DECIDE),
        Action("patterns.weigh", "w", "weigh", "Validate it against its applications", DECIDE),
        Action("patterns.edit", "e", "edit", "Edit what it says, as JSON", CHANGE),
        Action("patterns.task", "t", "for a task", "List those in use that fit a task", FIND),
        Action("patterns.add", "n", "new", "Write a new pattern", CHANGE, False),
        Action("patterns.apply", "A", "applied", "Record how applying it went", CHANGE, False),
        Action("patterns.refine", "R", "refine", "Edit one under review; evidence restarts", DECIDE, False),
        Action("patterns.merge", "m", "merge", "Merge it with another of its category", DECIDE),
        Action("patterns.supersede", "s", "supersede", "Deprecate it in favour of another", DECIDE, False),
        Action("patterns.relate", "r", "relate", "Relate it to another, or take that back", DECIDE, False),
        Action("patterns.prune", "x", "prune", "Deprecate those worth little, shown first", DECIDE, False),
        Action("patterns.copy", "y", "copy", "Copy it as JSON", CHANGE, False),
        Action("patterns.undo", "u", "undo", "Take back the latest change", APP),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.experience",
)

EPISODES = Table(
    "episodes",
    (
        Action("episodes.note", "n", "note", "Note something on this episode", CHANGE),
        Action("episodes.tag", "t", "tags", "Write the tags of this episode", CHANGE),
        Action("episodes.approve", "a", "approve", "Approve this episode, or withdraw it", CHANGE),
        Action("episodes.delete", "d", "delete", "Delete, or bring back within 30 days", CHANGE),
        Action("episodes.undo", "u", "undo", "Take back the last change made here", CHANGE),
        Action("episodes.search", "f", "search", "Find by words, domain:, outcome:, since:", FIND),
        Action("episodes.strategy", "s", "strategy", "By which of the five strategies to find", FIND),
        Action("episodes.compare", "c", "compare", "Compare two: once on each of them", FIND),
        Action("episodes.archive", "A", "archive", "Archive, or bring back", CHANGE, False),
        Action("episodes.consolidate", "C", "consolidate", "Put those under one that say the same", CHANGE, False),
        Action("episodes.erase", "X", "erase", "Erase it for good, 30 days after deletion", CHANGE, False),
        Action("episodes.add", "i", "add", "Add episodes of a file or folder", CHANGE, False),
        Action("episodes.trace", "o", "trace", "Open an old episode's trace, or close it", FIND),
        Action("episodes.pane", "tab", "text", "To the text, and back", MOVE),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.experience",
)

PLANS = Table(
    "plans",
    (
        Action("plans.pane", "tab", "text", "To the text, and back", MOVE, False),
        Action("plans.new", "n", "new", "Make a plan of a goal and its duration", CHANGE),
        Action("plans.add", "a", "add", "Add a step behind this one", CHANGE),
        Action("plans.below", "A", "add below", "Add a step below this one", CHANGE, False),
        Action("plans.edit", "e", "edit", "Change the text and the duration", CHANGE),
        Action("plans.done", "x", "done", "Mark it done, or open again", CHANGE, True, "mark('done')"),
        Action("plans.skip", "s", "skip", "Mark it skipped, or open again", CHANGE, False, "mark('skipped')"),
        Action("plans.up", "K", "move up", "Move the step up", CHANGE, False, "move(-1)"),
        Action("plans.down", "J", "move down", "Move the step down", CHANGE, False, "move(1)"),
        Action("plans.delete", "d", "delete", "Delete the step, or archive the plan", CHANGE),
        Action("plans.decide", "w", "what next", "Propose what to do next, with the reasons", FIND),
        Action("plans.copy", "y", "copy", "Copy the plan as a check list", CHANGE, False),
        Action("plans.undo", "u", "undo", "Take back the latest change", APP),
        CANCEL,
    ),
    MOVES,
    place="workbench.tui.agents.planning",
)

WORKING = Table(
    "working memory",
    (
        Action("working.pin", "p", "pin", "Keep it from being pruned, or no longer", CHANGE),
        Action("working.drop", "d", "drop", "Remove this variable", CHANGE),
        Action("working.correct", "e", "correct", "Give this variable another value", CHANGE),
        Action("working.operate", "o", "operate", "Set, prune, roll back, clear and the like", CHANGE),
        Action("working.undo", "u", "undo", "Take back the latest change", CHANGE),
        Action("working.pane", "tab", "text", "To the text, and back", MOVE),
        CANCEL,
    ),
    (*LIST, *LINKS),
    place="workbench.tui.agents.planning",
)

LESSONS = Table(
    "what sessions teach",
    (
        Action("lessons.take", "ctrl+s", "store", "Store what is listed, as one change", CHANGE),
        Action("lessons.again", "ctrl+r", "from the start", "Read the sessions from their beginning", FIND),
        Action("lessons.pane", "tab", "text", "To the text, and back", MOVE),
        Action("lessons.close", "escape,q", "close", "Stop reading, or close", APP),
    ),
    LIST,
    place="workbench.tui.agents.browse",
)

DIALOGS = (CONTEXT, DOCUMENTS, EPISODES, LESSONS, PATTERNS, PLANS, WORKING)
