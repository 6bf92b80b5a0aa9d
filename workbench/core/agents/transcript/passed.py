"""What is passed over in agents' sessions, in words: said by the command and in the app."""

from collections.abc import Mapping

from workbench.core.agents.transcript.lessons import Reason

PASSED: Mapping[Reason, str] = {
    "assertion": "tests that were red while they were written",
    "own-work": "errors in what was just being written",
    "own-tool": "refusals of the agent's own tools",
    "cancelled": "cancelled calls",
    "turned-down": "calls that a person turned down",
    "reader-limit": "files too long to be read at once",
    "looked-only": "looks at what is not there",
    "said-nothing": "failures without a word",
    "went-away": "failures that went away by themselves",
    "not-resolved": "failures that nobody resolved",
    "no-correction": "prompts that ask for something",
    "small-talk": "prompts that say too little",
    "told-already": "things that were told already",
    "known": "things that the store has",
    "passing": "points of summaries on work that is over",
    "unreadable-line": "lines that cannot be read",
}
"""Each reason, as what was passed over for it."""
