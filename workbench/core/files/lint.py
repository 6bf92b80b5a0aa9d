"""One thing that is wrong with a file, and how it could be put right."""

from dataclasses import dataclass
from typing import Literal, get_args

from workbench.core.files.textedit import Edit, applied

Rule = Literal[
    "duplicate-id", "duplicate-text", "wrong-slug", "orphan-line", "text-above", "deep-heading", "loose-bullet",
    "bad-counts", "no-others", "over-cap", "broken-link", "unindexed", "dangling-reference", "unreadable",
]  # fmt: skip
RULES: tuple[Rule, ...] = get_args(Rule)

COMPARED = 100
"""Records with one text that another one with it is compared with at most; they may all be about other things."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What a person can let happen: said in a few words, as edits of the file and as other files to write.

    `beside` are pairs of a file's name, relative to the one looked at, and its whole text.
    """

    label: str
    edits: tuple[Edit, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()

    def applied(self, text: str) -> str:
        """Return the file's text with the edits made."""
        return applied(text, list(self.edits))


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing that is wrong: where (`line` counts from 1), by which rule, and in one sentence.

    `kind` is what findings of one rule share that are of several kinds.
    """

    file: str
    line: int
    rule: Rule
    message: str
    fix: Fix | None = None
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"
