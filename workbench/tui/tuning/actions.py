"""The tables of actions of Tune and its dialogs."""

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import CANCEL, LIST, MOVES, SLIDER, on_row

TUNE = Table(
    "Tune",
    (
        Action("tune.query", "slash", "query", "Write the query that is ranked", FIND),
        Action("tune.next-pane", "tab", "next pane", "Next pane: sliders, ranking, explanation", MOVE, True, "pane(1)"),
        Action("tune.queries", "f", "queries", "Choose one of the saved queries", FIND),
        Action("tune.judge", "J", "judge", "Grade what could answer this query", DECIDE),
        Action("tune.last-pane", "shift+tab", "last pane", "Back to the pane before", MOVE, False, "pane(-1)"),
        Action(
            "tune.previous-flip",
            "left_square_bracket",
            "flip before",
            "Just below the last swap of two rows",
            FIND,
            run="jump(-1)",
        ),
        Action(
            "tune.next-flip",
            "right_square_bracket",
            "flip after",
            "Just beyond the next swap of two rows",
            FIND,
            run="jump(1)",
        ),
        Action("tune.auto", "A", "auto-tune", "Find the weights that suit the judgments", CHANGE),
        Action("tune.better", "B", "better 1 or 2", "Say which of two is better, and learn", DECIDE),
        Action("tune.metrics", "m", "metrics", "How good the ranking is, query by query", FIND),
        Action("tune.save", "s", "save", "Save these settings as a profile", CHANGE),
        Action("tune.load", "l", "load", "Load a profile", CHANGE),
        Action("tune.use", "a", "use for agents", "Use this profile for agents, too", CHANGE),
        Action("tune.why", "w", "why not", "Find a memory and see why it ranks low", FIND),
        Action(
            "tune.bounds",
            "M",
            "min and max",
            "What set the ends of each factor's scale",
            FIND,
            False,
            "do('why.turn_bounds')",
        ),
        Action(
            "tune.earlier",
            "comma",
            "earlier",
            "Rank as if it were 5 days earlier",
            CHANGE,
            run="do('sliders.time.action_less')",
        ),
        Action(
            "tune.later",
            "full_stop",
            "later",
            "Rank as if it were 5 days later",
            CHANGE,
            run="do('sliders.time.action_more')",
        ),
        Action("tune.options", "o", "options", "Recency mode, pinned, 0 to 1, candidates", CHANGE),
        Action("tune.candidates", "C", "candidates", "Which memories take part: a filter", CHANGE, False),
        Action("tune.compare", "c", "compare", "Compare this ranking with another one", FIND),
        Action("tune.snapshot", "n", "snapshot", "Keep these settings as a snapshot", CHANGE),
        Action("tune.library", "N", "snapshots", "Snapshots and profiles: compare, go back", FIND),
        Action("tune.duplicates", "D", "duplicates", "Which pairs would merge at a threshold", FIND),
        Action("tune.save-query", "S", "save query", "Save this query for measurements", CHANGE),
        Action("tune.export-queries", "X", "export queries", "Write queries, judgments or a run", CHANGE, False),
        Action("tune.import-queries", "I", "import queries", "Read judged queries from a file", CHANGE, False),
        Action("tune.revert", "r", "revert", "Reset everything to the saved profile", CHANGE, False),
        Action(
            "tune.helpful", "plus", "helpful", "Vote this row's memory helpful, or not", DECIDE, False, "act('helpful')"
        ),
        Action(
            "tune.harmful",
            "minus",
            "harmful",
            "Vote this row's memory harmful, or not",
            DECIDE,
            False,
            "act('harmful')",
        ),
        Action("tune.edit", "e", "edit", "Edit this row's memory here", CHANGE, False, "act('edit')"),
        Action(
            "tune.external",
            "E",
            "edit in $EDITOR",
            "Edit this row's memory in $EDITOR",
            CHANGE,
            False,
            "act('external')",
        ),
        Action("tune.pin", "p", "pin", "Pin or unpin this row's memory", CHANGE, False, "act('pin')"),
        Action("tune.forget", "d", "archive", "Archive this row's memory", CHANGE, False, "act('forget')"),
        Action(
            "tune.promote", "P", "promote", "Promote it to a file, previewed first", DECIDE, False, "act('promote')"
        ),
        Action("tune.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False, "act('copy')"),
        Action("tune.history", "h", "history", "Show every change of this memory", FIND, False, "act('history')"),
    ),
    (*SLIDER, *LIST),
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
        Action("judge.read-on", "J", "read on", "Scroll the memory", MOVE, False),
        Action("judge.read-back", "K", "read back", "Scroll back", MOVE, False),
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
        Action(
            "better.unsure",
            "space",
            "can't tell",
            "Can't tell: ask another pair",
            DECIDE,
            True,
            "answer('?')",
        ),
        Action("better.undo", "u", "undo", "Undo the last answer", APP),
        Action("better.apply", "enter", "apply", "Set the sliders as the answers suggest", CHANGE),
        Action("better.read-on", "J", "read on", "Scroll both memories", MOVE, False),
        Action("better.read-back", "K", "read back", "Scroll back", MOVE, False),
        CANCEL,
    ),
    place="workbench.tui.tuning.judging",
)

AUTO = Table(
    "auto-tune",
    (
        Action("auto.apply", "enter", "as proposed", "Put the sliders there, or keep yours", CHANGE),
        Action("auto.anyway", "a", "try it anyway", "Take the best setting that was tried", CHANGE),
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
        Action("compare.close", "escape", "close", "Close the comparison", APP, True, "cancel"),
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
        Action("library.read-on", "J", "read on", "Scroll the details", MOVE, False),
        Action("library.read-back", "K", "read back", "Scroll back", MOVE, False),
        Action("library.close", "escape", "close", "Close the list", APP, True, "cancel"),
    ),
    MOVES,
    place="workbench.tui.tuning.profiles",
)

DUPLICATES = Table(
    "duplicates",
    (
    Action("duplicates.less", "left", "lower", "Lower the threshold", CHANGE, True, "slide('less')"),
    Action("duplicates.more", "right", "higher", "Raise the threshold", CHANGE, True, "slide('more')"),
    Action("duplicates.reset", "backspace", "reset", "Back to the threshold in use", CHANGE, True, "slide('reset')"),
    Action("duplicates.save", "s", "save", "Flag duplicates above this threshold", CHANGE, True, "save('flag')"),
    Action("duplicates.review", "S", "save for review", "List pairs above it for review", CHANGE, True,
           "save('review')"),
    Action("duplicates.close", "escape", "close", "Close the preview", APP, True, "cancel"),
),
    (*LIST, *on_row()),
    place="workbench.tui.duplicates.dialog",
)  # fmt: skip

DIALOGS = (JUDGE, METRICS, BETTER, AUTO, COMPARE, LIBRARY, DUPLICATES)
