"""The exit codes of every command, and what they mean: one table for the commands, the help and the tests."""

from collections.abc import Mapping

DONE, FOUND, PROBLEM, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 70, 130, 141

MEANINGS: Mapping[int, str] = {
    DONE: "it is done, and nothing is wrong",
    FOUND: "it is done, and found something for you: "
    "doctor, lint, watch, export, scan, check, trust, purge, tune --save",
    PROBLEM: "it could not be done, and nothing was changed; one sentence on stderr says why",
    UNEXPECTED: "something unexpected went wrong; what was stored is safe",
    INTERRUPTED: "you stopped it; what was done before is kept",
    BROKEN_PIPE: "whoever read its output went away",
}


def told() -> str:
    """Return the table as it stands in the help."""
    return "\n".join(["exit codes:", *(f"  {code:<4}{meaning}" for code, meaning in MEANINGS.items())])
