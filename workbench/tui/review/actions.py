"""The tables of actions of Review and its dialogs."""

from dataclasses import replace

from workbench.tui.app.actions import APP, CHANGE, DECIDE, FIND, MOVE, Action, Table
from workbench.tui.widgets.actions import CANCEL, LINKS, LIST, MARKS, MOVES, on_row

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
        Action(
            "review.keep-old",
            "o",
            "keep old",
            "Keep the old one of two, archive the new",
            DECIDE,
            False,
            "decide('keep_old')",
        ),
        Action(
            "review.reason",
            "w",
            "why rejected",
            "Say why the last one was rejected",
            DECIDE,
            False,
            "do('deciding.reason')",
        ),
        Action("review.later", "space", "later", "Put it off for a week", DECIDE, True, "decide('later')"),
        Action("review.edit", "e", "edit", "Edit the text, without deciding", CHANGE, True, "do('changes.edit')"),
        Action(
            "review.external",
            "E",
            "edit in $EDITOR",
            "Edit in $EDITOR; it still waits",
            CHANGE,
            False,
            "do('changes.edit_externally')",
        ),
        Action(
            "review.merge", "m", "merge", "Merge into a similar memory, after y", DECIDE, True, "do('changes.merge')"
        ),
        Action("review.split", "S", "split", "Split it: each part is a candidate", DECIDE, True, "do('changes.split')"),
        Action(
            "review.refine", "r", "refine", "Refine the words, round by round", CHANGE, True, "do('changes.refine')"
        ),
        Action(
            "review.impact", "i", "impact", "How approving changes saved queries", FIND, True, "do('changes.impact')"
        ),
        Action("review.unfold", "z", "open", "Show a text that is folded as unsafe", FIND, False),
        Action(
            "review.promote",
            "P",
            "promote",
            "Promote it to a file, previewed first",
            DECIDE,
            True,
            "do('changes.promote')",
        ),
        Action("review.search", "slash", "filter", "Filter what is listed", FIND),
        Action("review.next", "n", "next listed", "To the next that is listed", FIND, False, "go_round(1)"),
        Action("review.previous", "N", "previous listed", "To the one listed before", FIND, False, "go_round(-1)"),
        Action("review.copy", "y", "copy", "Copy the text to the clipboard", CHANGE, False, "do('changes.copy')"),
        Action(
            "review.history",
            "h",
            "history",
            "Show every change of this candidate",
            FIND,
            False,
            "do('changes.history')",
        ),
        Action("review.evidence", "tab", "evidence", "To the evidence, and back to the queue", MOVE),
        Action("review.read-on", "J", "read on", "Scroll the candidate, then its evidence", MOVE, False, "read(1)"),
        Action("review.read-back", "K", "read back", "Scroll back", MOVE, False, "read(-1)"),
        Action("review.look", "D", "refresh", "Find duplicates and suggestions again", FIND, False),
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
        Action("merge.text", "t", "other text", "The memory's own text, or the candidate's", CHANGE),
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
        Action("refine.ask", "c", "Claude", "Let Claude write the next rounds", CHANGE),
        Action("refine.preview", "v", "what is sent", "Show what would leave this machine", FIND),
        Action("refine.leave", "escape", "leave", "Close; new rounds take esc twice", APP),
    ),
    MOVES,
    place="workbench.tui.review.dialogs",
)

IMPACT = Table(
    "the impact",
    (Action("impact.close", "escape,i,q", "close", "Close the preview", APP, True, "cancel"),),
    MOVES,
    place="workbench.tui.review.drawing",
)

DIALOGS = (REASONS, MERGE, GROUP, REFINE, IMPACT)
